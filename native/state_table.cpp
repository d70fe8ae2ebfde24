#include "state_table.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>

#include "hash.hpp"

namespace asnets {

std::uint64_t hash_words(const Word* words, std::size_t count) {
  std::uint64_t hash = count;
  for (std::size_t i = 0; i < count; ++i) hash = mix64(hash ^ words[i]);
  return hash;
}

StateTable::StateTable(std::size_t num_words) : num_words_(num_words) {
  // Chunks of about 64 KiB.
  chunk_bits_ = static_cast<unsigned>(std::bit_width(std::max<std::size_t>(1, 8192 / num_words)) - 1);
  chunk_mask_ = (std::size_t{1} << chunk_bits_) - 1;
}

StateId StateTable::intern(const Word* words) { return intern(words, hash_words(words, num_words_)); }

StateId StateTable::intern(const Word* words, std::uint64_t hash) {
  ASNETS_ASSERT(hash == hash_words(words, num_words_));
  if ((size_ + 1) * 2 > slots_.size()) grow();
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    if (std::equal(words, words + num_words_, state(slots_[slot] - 1))) return slots_[slot] - 1;
  }
  if (size_ == std::numeric_limits<StateId>::max() - 1) throw std::length_error("more than 2^32 states");
  const auto id = static_cast<StateId>(size_);
  if ((id >> chunk_bits_) == chunks_.size()) {
    chunks_.emplace_back(new Word[(chunk_mask_ + 1) * num_words_]);  // Not initialised.
  }
  std::copy(words, words + num_words_, chunks_[id >> chunk_bits_].get() + (id & chunk_mask_) * num_words_);
  slots_[slot] = id + 1;
  ++size_;
  return id;
}

std::optional<StateId> StateTable::find(const Word* words) const {
  if (slots_.empty()) return std::nullopt;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash_words(words, num_words_) & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
    if (std::equal(words, words + num_words_, state(slots_[slot] - 1))) return slots_[slot] - 1;
  }
  return std::nullopt;
}

void StateTable::grow() {
  std::vector<StateId> bigger(std::bit_ceil(std::max<std::size_t>(16, (size_ + 1) * 2)), 0);
  const std::size_t mask = bigger.size() - 1;
  for (StateId id = 0; id < size_; ++id) {
    std::size_t slot = hash_words(state(id), num_words_) & mask;
    while (bigger[slot] != 0) slot = (slot + 1) & mask;
    bigger[slot] = id + 1;
  }
  slots_ = std::move(bigger);
}

std::size_t StateTable::memory() const {
  return chunks_.size() * (chunk_mask_ + 1) * num_words_ * sizeof(Word) + slots_.size() * sizeof(StateId);
}

}  // namespace asnets
