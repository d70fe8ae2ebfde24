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
  find_costs();
}

// The sums are in the order of `block_cost_in_state`; as rounding keeps the order of numbers, the bounds hold exactly.
void Task::find_costs() {
  const std::size_t blocks = arrays_.block_cost.size();
  std::vector<ActionCost> bounds(blocks, {0, 0, 0, 0});
  has_cost_.assign(blocks, false);
  for (std::size_t b = blocks; b-- > 0;) {  // Parts come after what holds them.
    const auto block = static_cast<std::int32_t>(b);
    ActionCost bound{arrays_.block_cost[b], arrays_.block_cost[b], std::abs(arrays_.block_cost[b]), 1};
    bool has_cost = arrays_.block_cost[b] != 0;
    const auto add = [&](std::int32_t part, double probability) {
      const auto index = static_cast<std::size_t>(part);
      if (!has_cost_[index]) return;
      has_cost = true;
      bound.least += probability * bounds[index].least;
      bound.greatest += probability * bounds[index].greatest;
      bound.size += probability * bounds[index].size;
      bound.roundings += bounds[index].roundings + 3;  // Of the probability, the product and the sum.
    };
    for (const std::int32_t child : arrays_.block_children[block]) add(child, 1);
    for (const std::int32_t factor : arrays_.block_factors[block]) {
      const auto first = static_cast<std::size_t>(arrays_.factor_blocks.offsets[static_cast<std::size_t>(factor)]);
      const auto outcomes = arrays_.factor_blocks[factor];
      for (std::size_t o = 0; o < outcomes.size(); ++o) add(outcomes[o], arrays_.factor_probability[first + o]);
    }
    if (!always_holds(arrays_.block_guard[b])) {
      bound.least = std::min(bound.least, 0.0);
      bound.greatest = std::max(bound.greatest, 0.0);
    }
    bounds[b] = bound;
    has_cost_[b] = has_cost;
  }
  for (const auto parts : {arrays_.action_cost, arrays_.block_cost}) {
    has_negative_parts_ |= std::any_of(parts.begin(), parts.end(), [](double part) { return part < 0; });
  }
  costs_.reserve(num_actions());
  for (std::size_t a = 0; a < num_actions(); ++a) {
    ActionCost cost{arrays_.action_cost[a], arrays_.action_cost[a], std::abs(arrays_.action_cost[a]), 1};
    const auto block = static_cast<std::size_t>(arrays_.action_block[a]);
    if (block < blocks && has_cost_[block]) {
      cost.least += bounds[block].least;
      cost.greatest += bounds[block].greatest;
      cost.size += bounds[block].size;
      cost.roundings += bounds[block].roundings + 1;
    }
    if (!std::isfinite(cost.least) || !std::isfinite(cost.greatest)) {
      throw std::invalid_argument("task arrays: costs must be finite");
    }
    has_negative_costs_ = has_negative_costs_ || cost.least < 0;
    has_zero_costs_ = has_zero_costs_ || (cost.least <= 0 && cost.greatest >= 0);
    costs_.push_back(cost);
  }
}

double Task::cost_in_state(ActionId action, const Word* state) const {
  const auto index = static_cast<std::size_t>(action);
  return arrays_.action_cost[index] + block_cost_in_state(arrays_.action_block[index], state);
}

double Task::block_cost_in_state(std::int32_t block, const Word* state) const {
  const auto index = static_cast<std::size_t>(block);
  if (!has_cost_[index] || !condition_holds(arrays_.block_guard[index], state)) return 0;
  double cost = arrays_.block_cost[index];
  for (const std::int32_t child : arrays_.block_children[block]) cost += block_cost_in_state(child, state);
  for (const std::int32_t factor : arrays_.block_factors[block]) {
    const auto first = static_cast<std::size_t>(arrays_.factor_blocks.offsets[static_cast<std::size_t>(factor)]);
    const auto outcomes = arrays_.factor_blocks[factor];
    for (std::size_t o = 0; o < outcomes.size(); ++o) {
      cost += arrays_.factor_probability[first + o] * block_cost_in_state(outcomes[o], state);
    }
  }
  return cost;
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
  if ((!arrays_.block_cost.empty() && arrays_.block_cost.size() != blocks) ||
      arrays_.factor_probability.size() != arrays_.factor_blocks.values.size() ||
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
  for (const auto costs : {arrays_.action_cost, arrays_.block_cost}) {
    if (!std::all_of(costs.begin(), costs.end(), [](double cost) { return std::isfinite(cost); })) {
      throw std::invalid_argument("task arrays: costs must be finite");
    }
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
