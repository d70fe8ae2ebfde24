#include "grounding/list_table.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "assert.hpp"
#include "hash.hpp"

namespace asnets {

namespace {

std::uint64_t hash_list(std::span<const std::int32_t> list) {
  std::uint64_t hash = list.size();
  for (const std::int32_t value : list) hash = mix64(hash ^ static_cast<std::uint32_t>(value));
  return hash;
}

}  // namespace

std::span<const std::int32_t> ListTable::list(std::size_t index) const {
  const auto begin = static_cast<std::size_t>(offsets_[index]);
  return {values_.data() + begin, static_cast<std::size_t>(offsets_[index + 1]) - begin};
}

std::int32_t ListTable::intern(std::span<const std::int32_t> wanted) {
  if ((size() + 1) * 2 > slots_.size()) grow();
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash_list(wanted) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const std::span<const std::int32_t> other = list(slots_[slot] - 1);
    if (std::equal(other.begin(), other.end(), wanted.begin(), wanted.end())) {
      return static_cast<std::int32_t>(slots_[slot] - 1);
    }
  }
  if (size() >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw std::length_error("too many lists");
  }
  values_.insert(values_.end(), wanted.begin(), wanted.end());
  offsets_.push_back(static_cast<std::int64_t>(values_.size()));
  slots_[slot] = static_cast<std::uint32_t>(size());
  ASNETS_ASSERT(std::ranges::equal(list(size() - 1), wanted));
  return static_cast<std::int32_t>(size() - 1);
}

void ListTable::grow() {
  std::vector<std::uint32_t> bigger(std::max<std::size_t>(16, slots_.size() * 2), 0);
  const std::size_t mask = bigger.size() - 1;
  for (std::size_t index = 0; index < size(); ++index) {
    std::size_t slot = hash_list(list(index)) & mask;
    while (bigger[slot] != 0) slot = (slot + 1) & mask;
    bigger[slot] = static_cast<std::uint32_t>(index + 1);
  }
  slots_ = std::move(bigger);
}

}  // namespace asnets
