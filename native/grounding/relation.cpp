#include "grounding/relation.hpp"

#include <algorithm>
#include <utility>

#include "assert.hpp"
#include "hash.hpp"

namespace asnets {

namespace {

std::uint64_t hash_tuple(const std::int32_t* tuple, std::size_t arity) {
  std::uint64_t hash = arity;
  for (std::size_t i = 0; i < arity; ++i) hash = mix64(hash ^ static_cast<std::uint32_t>(tuple[i]));
  return hash;
}

}  // namespace

std::size_t Relation::find(const std::int32_t* tuple) const {
  if (slots_.empty()) return npos;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash_tuple(tuple, arity_) & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const std::size_t index = slots_[slot] - 1;
    if (std::equal(tuple, tuple + arity_, this->tuple(index))) return index;
  }
  return npos;
}

bool Relation::insert(const std::int32_t* tuple) {
  if ((size_ + 1) * 2 > slots_.size()) grow();
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash_tuple(tuple, arity_) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    if (std::equal(tuple, tuple + arity_, this->tuple(slots_[slot] - 1))) return false;
  }
  slots_[slot] = static_cast<std::uint32_t>(++size_);
  data_.insert(data_.end(), tuple, tuple + arity_);
  ASNETS_ASSERT(find(tuple) == size_ - 1);
  return true;
}

void Relation::grow() {
  std::vector<std::uint32_t> bigger(std::max<std::size_t>(16, slots_.size() * 2), 0);
  const std::size_t mask = bigger.size() - 1;
  for (std::size_t index = 0; index < size_; ++index) {
    std::size_t slot = hash_tuple(tuple(index), arity_) & mask;
    while (bigger[slot] != 0) slot = (slot + 1) & mask;
    bigger[slot] = static_cast<std::uint32_t>(index + 1);
  }
  slots_ = std::move(bigger);
}

Index::Index(const Relation& tuples, std::vector<std::uint32_t> columns) : columns_(std::move(columns)) {
  for (std::size_t tuple = 0; tuple < tuples.size(); ++tuple) add(tuples, tuple);
}

std::uint64_t Index::hash_of(const std::int32_t* tuple) const {
  std::uint64_t hash = columns_.size();
  for (const std::uint32_t column : columns_) hash = mix64(hash ^ static_cast<std::uint32_t>(tuple[column]));
  return hash;
}

bool Index::same_key(const std::int32_t* a, const std::int32_t* b) const {
  return std::all_of(columns_.begin(), columns_.end(), [&](std::uint32_t column) { return a[column] == b[column]; });
}

void Index::add(const Relation& tuples, std::size_t tuple) {
  if ((num_keys_ + 1) * 2 > slots_.size()) grow(tuples);
  const std::size_t mask = slots_.size() - 1;
  const std::int32_t* values = tuples.tuple(tuple);
  std::size_t slot = hash_of(values) & mask;
  while (slots_[slot] != 0 && !same_key(tuples.tuple(slots_[slot] - 1), values)) slot = (slot + 1) & mask;
  num_keys_ += slots_[slot] == 0;
  next_.push_back(slots_[slot]);
  slots_[slot] = static_cast<std::uint32_t>(tuple + 1);
}

void Index::grow(const Relation& tuples) {
  std::vector<std::uint32_t> bigger(std::max<std::size_t>(16, slots_.size() * 2), 0);
  const std::size_t mask = bigger.size() - 1;
  for (const std::uint32_t head : slots_) {
    if (head == 0) continue;
    std::size_t slot = hash_of(tuples.tuple(head - 1)) & mask;
    while (bigger[slot] != 0) slot = (slot + 1) & mask;
    bigger[slot] = head;
  }
  slots_ = std::move(bigger);
}

std::size_t Index::first(const Relation& tuples, const std::int32_t* key) const {
  if (slots_.empty()) return 0;
  std::uint64_t hash = columns_.size();
  for (std::size_t i = 0; i < columns_.size(); ++i) hash = mix64(hash ^ static_cast<std::uint32_t>(key[i]));
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const std::int32_t* tuple = tuples.tuple(slots_[slot] - 1);
    bool same = true;
    for (std::size_t i = 0; i < columns_.size() && same; ++i) same = tuple[columns_[i]] == key[i];
    if (same) return slots_[slot];
  }
  return 0;
}

}  // namespace asnets
