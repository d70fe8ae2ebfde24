// Bit mixing for hash tables.
#pragma once

#include <cstdint>

namespace asnets {

// The finaliser of SplitMix64 [steele2014splittable]: a bijection with full avalanche.
inline std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace asnets
