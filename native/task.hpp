// A ground SSP: propositions, actions, conditions and factored effects in flat arrays.
//
// Conditions are conjunctions of literals and clauses; a clause is a disjunction of conditions. Effects are trees of
// blocks. A block applies if its guard holds in the state before the action; it then changes its literals, applies its
// children and draws one outcome (another block) from each of its factors, independently. Nothing is multiplied out.
//
// A literal is 2 * proposition for "true" and 2 * proposition + 1 for "false"; in effects, add and delete. Over a whole
// action, deletes come before adds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assert.hpp"

namespace asnets {

using Word = std::uint64_t;
using Literal = std::int32_t;
using ActionId = std::int32_t;

inline bool test_bit(const Word* words, std::size_t bit) { return (words[bit >> 6] >> (bit & 63)) & 1; }
inline void set_bit(Word* words, std::size_t bit) { words[bit >> 6] |= Word{1} << (bit & 63); }
inline void clear_bit(Word* words, std::size_t bit) { words[bit >> 6] &= ~(Word{1} << (bit & 63)); }
inline bool holds(const Word* state, Literal literal) {
  const auto index = static_cast<std::size_t>(literal);
  return test_bit(state, index >> 1) != static_cast<bool>(index & 1);
}

// Lists of numbers, one after the other: list i is values[offsets[i]], …, values[offsets[i + 1] - 1].
struct Lists {
  std::span<const std::int32_t> offsets;
  std::span<const std::int32_t> values;

  std::size_t size() const { return offsets.size() - 1; }
  std::span<const std::int32_t> operator[](std::int32_t index) const {
    const auto i = static_cast<std::size_t>(index);
    ASNETS_ASSERT(index >= 0 && i < size());
    const auto begin = static_cast<std::size_t>(offsets[i]);
    return values.subspan(begin, static_cast<std::size_t>(offsets[i + 1]) - begin);
  }
};

// The arrays of a task; whoever fills this in keeps them alive.
struct TaskArrays {
  std::int32_t num_propositions = 0;
  std::span<const std::int32_t> proposition_predicate;
  Lists condition_literals;
  Lists condition_clauses;
  Lists clause_conditions;
  std::span<const std::int32_t> block_guard;
  Lists block_literals;
  Lists block_children;
  Lists block_factors;
  Lists factor_blocks;                         // The outcomes of a factor.
  std::span<const double> factor_probability;  // Beside factor_blocks.values; each factor's sum to 1.
  std::span<const std::int32_t> action_precondition;
  std::span<const std::int32_t> action_block;
  std::span<const double> action_cost;
  std::int32_t goal = 0;
  std::span<const std::int32_t> initial;  // Propositions that are true.
};

class Task {
 public:
  // Throws std::invalid_argument if an index points outside its array.
  explicit Task(const TaskArrays& arrays);

  const TaskArrays& arrays() const { return arrays_; }
  std::size_t num_propositions() const { return static_cast<std::size_t>(arrays_.num_propositions); }
  std::size_t num_actions() const { return arrays_.action_block.size(); }
  std::size_t num_words() const { return num_words_; }
  const std::vector<Word>& initial_state() const { return initial_; }

  bool condition_holds(std::int32_t condition, const Word* state) const {
    for (const Literal literal : arrays_.condition_literals[condition]) {
      if (!holds(state, literal)) return false;
    }
    return clauses_hold(condition, state);
  }
  bool is_goal(const Word* state) const { return condition_holds(arrays_.goal, state); }
  bool is_applicable(ActionId action, const Word* state) const {
    return condition_holds(arrays_.action_precondition[static_cast<std::size_t>(action)], state);
  }
  double cost(ActionId action) const { return arrays_.action_cost[static_cast<std::size_t>(action)]; }

 private:
  void validate() const;
  bool clauses_hold(std::int32_t condition, const Word* state) const;

  TaskArrays arrays_;
  std::size_t num_words_;
  std::vector<Word> initial_;
};

}  // namespace asnets
