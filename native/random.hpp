// Counter-based random numbers: Philox4x32-10 [salmon2011parallel].
//
// A stream is named by (seed, stream) and numbers are a function of that name and their position, so that results do
// not depend on which thread draws them or in what order episodes run.
#pragma once

#include <array>
#include <cstdint>

namespace asnets {

// Ten rounds of the Philox bijection on a 128-bit counter under a 64-bit key.
inline std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                               std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint64_t stream)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}, stream_(stream) {}

  // Another stream, named by this one and a number, whatever was drawn from this one.
  RandomStream split(std::uint64_t number) const {
    const auto words = philox4x32({static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32),
                                   static_cast<std::uint32_t>(stream_), static_cast<std::uint32_t>(stream_ >> 32)},
                                  {~key_[1], key_[0]});
    return RandomStream(words[0] | std::uint64_t{words[1]} << 32, words[2] | std::uint64_t{words[3]} << 32);
  }

  std::uint64_t bits() {
    if (used_ == 2) {
      const auto words = philox4x32({static_cast<std::uint32_t>(position_), static_cast<std::uint32_t>(position_ >> 32),
                                     static_cast<std::uint32_t>(stream_), static_cast<std::uint32_t>(stream_ >> 32)},
                                    key_);
      buffer_ = {words[0] | std::uint64_t{words[1]} << 32, words[2] | std::uint64_t{words[3]} << 32};
      ++position_;
      used_ = 0;
    }
    return buffer_[used_++];
  }

  // How many numbers were drawn so far.
  std::uint64_t num_drawn() const { return 2 * position_ + used_ - 2; }

  // Uniform in [0, 1), on the grid of 2^-53.
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

  // Uniform in {0, …, bound - 1}, without bias [lemire2019fast].
  std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    Wide product = Wide{bits()} * bound;
    if (static_cast<std::uint64_t>(product) < bound) {
      const std::uint64_t threshold = (0 - bound) % bound;
      while (static_cast<std::uint64_t>(product) < threshold) product = Wide{bits()} * bound;
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

 private:
  std::array<std::uint32_t, 2> key_;
  std::uint64_t stream_;
  std::uint64_t position_ = 0;
  std::array<std::uint64_t, 2> buffer_{};
  unsigned used_ = 2;
};

}  // namespace asnets
