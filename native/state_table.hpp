// Interned states: every distinct state is stored once, packed, and named by a small number.
//
// States live in chunks, so that they are never moved and a pointer to one stays valid. Not safe for use from several
// threads at once; give each thread its own table or a lock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "task.hpp"

namespace asnets {

using StateId = std::uint32_t;

class StateTable {
 public:
  explicit StateTable(std::size_t num_words);

  // The id of a state, new or known.
  StateId intern(const Word* state);
  // The same, where `hash_words` of the state is known.
  StateId intern(const Word* state, std::uint64_t hash);
  std::optional<StateId> find(const Word* state) const;
  const Word* state(StateId id) const {
    ASNETS_ASSERT(id < size_);
    return chunks_[id >> chunk_bits_].get() + (id & chunk_mask_) * num_words_;
  }
  std::size_t size() const { return size_; }
  std::size_t memory() const;
  // What `find` and `intern` look states up by: a third of the memory, and of no use once all states are there. `intern`
  // makes it again; before `find`, it has to be made.
  void drop_index() { slots_ = {}; }
  void make_index() {
    if (slots_.empty()) grow();
  }

 private:
  void grow();

  std::size_t num_words_;
  unsigned chunk_bits_;
  std::size_t chunk_mask_;
  std::size_t size_ = 0;
  std::vector<std::unique_ptr<Word[]>> chunks_;
  std::vector<StateId> slots_;  // Id + 1, 0 for empty; the size is a power of two; none without the index.
};

std::uint64_t hash_words(const Word* words, std::size_t count);

}  // namespace asnets
