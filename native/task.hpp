// A ground SSP: propositions, actions, conditions and factored effects in flat arrays.
//
// Conditions are conjunctions of literals and clauses; a clause is a disjunction of conditions. Effects are trees of
// blocks. A block applies if its guard holds in the state before the action; it then changes its literals, applies its
// children and draws one outcome (another block) from each of its factors, independently. Nothing is multiplied out.
//
// A literal is 2 * proposition for "true" and 2 * proposition + 1 for "false"; in effects, add and delete. Over a whole
// action, deletes come before adds.
//
// What a step costs: the action's own cost, and that of each block that applies. The drawn outcomes do not count but by
// their probabilities, so that a cost is a number of the state and the action.
#pragma once

#include <algorithm>
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
  std::span<const double> block_cost;          // What a block adds where it applies; empty if no block costs anything.
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
  bool always_holds(std::int32_t condition) const {
    return arrays_.condition_literals[condition].empty() && arrays_.condition_clauses[condition].empty();
  }
  bool is_goal(const Word* state) const { return condition_holds(arrays_.goal, state); }
  bool is_applicable(ActionId action, const Word* state) const {
    return condition_holds(arrays_.action_precondition[static_cast<std::size_t>(action)], state);
  }

  // The expected cost of taking the action in the state; negative where it earns something.
  double cost(ActionId action, const Word* state) const {
    const ActionCost& known = costs_[static_cast<std::size_t>(action)];
    return known.least == known.greatest ? known.least : cost_in_state(action, state);
  }
  // Bounds of it over all states: each guard on its own is taken to hold or not, whichever gives less (or more). Rounding
  // does not break them.
  double min_cost(ActionId action) const { return costs_[static_cast<std::size_t>(action)].least; }
  double max_cost(ActionId action) const { return costs_[static_cast<std::size_t>(action)].greatest; }
  // Whether the cost is the same number in all states: then it is min_cost.
  bool has_constant_cost(ActionId action) const { return min_cost(action) == max_cost(action); }
  // How often, at most, a number was rounded between the costs of the domain and that of the action in a state; and the
  // sum of the absolute values of its parts, at most, of which the error is a share.
  std::uint32_t cost_roundings(ActionId action) const { return costs_[static_cast<std::size_t>(action)].roundings; }
  double cost_size(ActionId action) const { return costs_[static_cast<std::size_t>(action)].size; }
  // How far a cost may be from the exact one where parts of both signs were added up; 0 where all have one sign, as the
  // error is a share of the cost then.
  double cost_error(ActionId action) const {
    return has_negative_parts_ ? 1.01 * 0x1p-53 * cost_roundings(action) * cost_size(action) : 0;
  }
  double largest_cost_error() const {
    double error = 0;
    for (std::size_t a = 0; a < num_actions(); ++a) error = std::max(error, cost_error(static_cast<ActionId>(a)));
    return error;
  }
  // Whether the bounds of some action allow such a cost.
  bool has_negative_costs() const { return has_negative_costs_; }
  bool has_zero_costs() const { return has_zero_costs_; }

 private:
  struct ActionCost {
    double least;
    double greatest;
    double size;  // Of the parts together, by absolute value.
    std::uint32_t roundings;
  };

  void validate() const;
  bool clauses_hold(std::int32_t condition, const Word* state) const;
  void find_costs();
  double cost_in_state(ActionId action, const Word* state) const;
  double block_cost_in_state(std::int32_t block, const Word* state) const;

  TaskArrays arrays_;
  std::size_t num_words_;
  std::vector<Word> initial_;
  std::vector<ActionCost> costs_;
  std::vector<bool> has_cost_;  // Of each block: whether it or a part of it costs something.
  bool has_negative_parts_ = false;
  bool has_negative_costs_ = false;
  bool has_zero_costs_ = false;
};

}  // namespace asnets
