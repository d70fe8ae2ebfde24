// Sets of tuples and indices over their columns, the tables behind the joins of grounding.
#pragma once

#include <cstdint>
#include <vector>

namespace asnets {

// A growing set of tuples of one arity.
class Relation {
 public:
  explicit Relation(std::size_t arity) : arity_(arity) {}

  // The index of a tuple, or npos.
  std::size_t find(const std::int32_t* tuple) const;
  // Inserts a tuple; returns whether it is new.
  bool insert(const std::int32_t* tuple);

  std::size_t arity() const { return arity_; }
  std::size_t size() const { return size_; }
  const std::int32_t* tuple(std::size_t index) const { return data_.data() + index * arity_; }
  const std::vector<std::int32_t>& data() const { return data_; }

  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

 private:
  void grow();

  std::size_t arity_;
  std::size_t size_ = 0;
  std::vector<std::int32_t> data_;
  std::vector<std::uint32_t> slots_;  // Tuple index + 1, 0 for empty; the size is a power of two.
};

// The tuples of a relation by the values of some columns, as chains. Follows the relation as it grows: `add` is to be
// called for each new tuple, in order.
class Index {
 public:
  Index(const Relation& tuples, std::vector<std::uint32_t> columns);

  const std::vector<std::uint32_t>& columns() const { return columns_; }
  void add(const Relation& tuples, std::size_t tuple);
  // The first tuple with these values in the columns, and the next one after a tuple: index + 1, or 0 for none.
  std::size_t first(const Relation& tuples, const std::int32_t* key) const;
  std::size_t next(std::size_t tuple) const { return next_[tuple]; }

 private:
  std::uint64_t hash_of(const std::int32_t* tuple) const;
  bool same_key(const std::int32_t* a, const std::int32_t* b) const;
  void grow(const Relation& tuples);

  std::vector<std::uint32_t> columns_;
  std::vector<std::uint32_t> slots_;  // First tuple of a chain + 1; the size is a power of two.
  std::vector<std::uint32_t> next_;
  std::size_t num_keys_ = 0;
};

}  // namespace asnets
