// Distinct lists of numbers, numbered in the order of their first occurrence: what is equal is kept once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace asnets {

class ListTable {
 public:
  // The number of a list.
  std::int32_t intern(std::span<const std::int32_t> list);

  std::size_t size() const { return offsets_.size() - 1; }
  // List i is values()[offsets()[i]], …, values()[offsets()[i + 1] - 1].
  const std::vector<std::int64_t>& offsets() const { return offsets_; }
  const std::vector<std::int32_t>& values() const { return values_; }

 private:
  std::span<const std::int32_t> list(std::size_t index) const;
  void grow();

  std::vector<std::int64_t> offsets_{0};
  std::vector<std::int32_t> values_;
  std::vector<std::uint32_t> slots_;  // Number + 1, 0 for empty; the size is a power of two.
};

}  // namespace asnets
