#include "task.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "tolerances.hpp"

namespace asnets {

namespace {

void check_range(std::span<const std::int32_t> values, std::size_t end, const char* what) {
  for (const std::int32_t value : values) {
    if (value < 0 || static_cast<std::size_t>(value) >= end) {
      throw std::invalid_argument(std::string("task arrays: index out of range in ") + what);
    }
  }
}

void check_lists(const Lists& lists, std::size_t size, std::size_t end, const char* what) {
  bool fits = lists.offsets.size() == size + 1 && lists.offsets.front() == 0 &&
              static_cast<std::size_t>(lists.offsets.back()) == lists.values.size();
  for (std::size_t i = 0; fits && i < size; ++i) fits = lists.offsets[i] <= lists.offsets[i + 1];
  if (!fits) throw std::invalid_argument(std::string("task arrays: bad offsets in ") + what);
  check_range(lists.values, end, what);
}

// Parts of a tree come after what holds them: this rules out cycles.
void check_order(const Lists& lists, const char* what) {
  for (std::size_t i = 0; i < lists.size(); ++i) {
    for (const std::int32_t value : lists[static_cast<std::int32_t>(i)]) {
      if (static_cast<std::size_t>(value) <= i) {
        throw std::invalid_argument(std::string("task arrays: parts before their whole in ") + what);
      }
    }
  }
}

}  // namespace

Task::Task(const TaskArrays& arrays) : arrays_(arrays) {
  validate();
  num_words_ = std::max<std::size_t>(1, (num_propositions() + 63) / 64);
  initial_.assign(num_words_, 0);
  for (const std::int32_t proposition : arrays_.initial) set_bit(initial_.data(), static_cast<std::size_t>(proposition));
}

void Task::validate() const {
  if (arrays_.num_propositions < 0 || arrays_.condition_literals.offsets.empty() ||
      arrays_.clause_conditions.offsets.empty() || arrays_.factor_blocks.offsets.empty()) {
    throw std::invalid_argument("task arrays: empty offsets");
  }
  if (arrays_.proposition_predicate.size() != num_propositions()) {
    throw std::invalid_argument("task arrays: lengths differ");
  }
  check_range(arrays_.proposition_predicate, std::numeric_limits<std::int32_t>::max(), "predicates");
  const std::size_t literals = 2 * num_propositions();
  const std::size_t conditions = arrays_.condition_literals.size();
  const std::size_t clauses = arrays_.clause_conditions.size();
  const std::size_t blocks = arrays_.block_guard.size();
  const std::size_t factors = arrays_.factor_blocks.size();
  check_lists(arrays_.condition_literals, conditions, literals, "conditions");
  check_lists(arrays_.condition_clauses, conditions, clauses, "conditions");
  check_lists(arrays_.clause_conditions, clauses, conditions, "clauses");
  check_range(arrays_.block_guard, conditions, "guards");
  check_lists(arrays_.block_literals, blocks, literals, "effects");
  check_lists(arrays_.block_children, blocks, blocks, "effects");
  check_lists(arrays_.block_factors, blocks, factors, "effects");
  check_lists(arrays_.factor_blocks, factors, blocks, "outcomes");
  check_order(arrays_.block_children, "effects");
  for (std::size_t f = 0; f < factors; ++f) {
    if (arrays_.factor_blocks[static_cast<std::int32_t>(f)].empty()) {
      throw std::invalid_argument("task arrays: a factor without outcomes");
    }
  }
  for (std::size_t b = 0; b < blocks; ++b) {
    for (const std::int32_t factor : arrays_.block_factors[static_cast<std::int32_t>(b)]) {
      for (const std::int32_t outcome : arrays_.factor_blocks[factor]) {
        if (static_cast<std::size_t>(outcome) <= b) {
          throw std::invalid_argument("task arrays: parts before their whole in outcomes");
        }
      }
    }
  }
  for (std::size_t c = 0; c < conditions; ++c) {
    for (const std::int32_t clause : arrays_.condition_clauses[static_cast<std::int32_t>(c)]) {
      for (const std::int32_t part : arrays_.clause_conditions[clause]) {
        if (static_cast<std::size_t>(part) <= c) {
          throw std::invalid_argument("task arrays: parts before their whole in clauses");
        }
      }
    }
  }
  const std::size_t actions = arrays_.action_block.size();
  if (arrays_.factor_probability.size() != arrays_.factor_blocks.values.size() ||
      arrays_.action_precondition.size() != actions || arrays_.action_cost.size() != actions) {
    throw std::invalid_argument("task arrays: lengths differ");
  }
  for (std::size_t f = 0; f < factors; ++f) {
    const auto begin = arrays_.factor_probability.begin() + arrays_.factor_blocks.offsets[f];
    const auto end = arrays_.factor_probability.begin() + arrays_.factor_blocks.offsets[f + 1];
    const bool is_share = std::all_of(begin, end, [](double p) { return p >= 0 && p <= 1; });
    if (!is_share || std::abs(std::accumulate(begin, end, 0.0) - 1) > kProbabilitySum) {
      throw std::invalid_argument("task arrays: the probabilities of a factor are not a distribution");
    }
  }
  if (!std::all_of(arrays_.action_cost.begin(), arrays_.action_cost.end(),
                   [](double cost) { return cost >= 0 && std::isfinite(cost); })) {
    throw std::invalid_argument("task arrays: costs must be finite and not negative");
  }
  check_range(arrays_.action_precondition, conditions, "preconditions");
  check_range(arrays_.action_block, blocks, "actions");
  check_range(arrays_.initial, num_propositions(), "the initial state");
  if (arrays_.goal < 0 || static_cast<std::size_t>(arrays_.goal) >= conditions) {
    throw std::invalid_argument("task arrays: index out of range in the goal");
  }
}

bool Task::clauses_hold(std::int32_t condition, const Word* state) const {
  for (const std::int32_t clause : arrays_.condition_clauses[condition]) {
    const auto parts = arrays_.clause_conditions[clause];
    if (std::none_of(parts.begin(), parts.end(), [&](std::int32_t part) { return condition_holds(part, state); })) {
      return false;
    }
  }
  return true;
}

}  // namespace asnets
