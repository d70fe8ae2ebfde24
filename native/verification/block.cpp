#include "verification/block.hpp"

#include <algorithm>

#include "interruption.hpp"

namespace asnets {

namespace {

constexpr std::size_t kMaxSuccessors = std::size_t{1} << 20;

}  // namespace

BlockExpander::BlockExpander(const Task& task, const SuccessorGenerator& generator,
                             const std::vector<FlatAction>& flat)
    : task_(task), generator_(generator), flat_(flat), expander_(task, kMaxSuccessors) {}

void BlockExpander::expand_actions(StateBlock& block) {
  distribution_.probabilities.assign(1, 1.0);
  for (std::size_t i = 0; i < block.ids.size(); ++i) {
    interruption_tick();
    const Word* const state = block.states.data() + i * task_.num_words();
    generator_.applicable(state, actions_, stack_);
    sorted_.assign(actions_.actions().begin(), actions_.actions().end());
    std::sort(sorted_.begin(), sorted_.end());
    for (const ActionId action : sorted_) {
      distribution_.actions.assign(1, action);
      add_choice(block, state, distribution_);
    }
    block.choices_end.push_back(block.choices.size());
  }
}

void BlockExpander::expand_policy(StateBlock& block, Policy& policy) {
  for (std::size_t i = 0; i < block.ids.size(); ++i) {
    interruption_tick();
    const Word* const state = block.states.data() + i * task_.num_words();
    policy.distribution(state, distribution_);
    add_choice(block, state, distribution_);
    block.choices_end.push_back(block.choices.size());
  }
}

void BlockExpander::expand_distributions(StateBlock& block) {
  for (std::size_t i = 0; i < block.ids.size(); ++i) {
    interruption_tick();
    add_choice(block, block.states.data() + i * task_.num_words(), block.distributions[i]);
    block.choices_end.push_back(block.choices.size());
  }
}

void BlockExpander::add_choice(StateBlock& block, const Word* state, const ActionDistribution& distribution) {
  double total = 0;
  std::size_t possible = 0;
  for (const double probability : distribution.probabilities) {
    total += probability;
    possible += probability > 0;
  }
  if (possible == 0) return;
  StateBlock::Choice choice{-1, 0, false, 0, 0};
  double first_cost = 0;
  std::uint32_t cost_roundings = 0;
  bool is_first = true;
  roundings_ = 0;
  for (std::size_t a = 0; a < distribution.actions.size(); ++a) {
    if (!(distribution.probabilities[a] > 0)) continue;
    const ActionId action = distribution.actions[a];
    const double share = possible == 1 ? 1 : distribution.probabilities[a] / total;
    const double cost = task_.cost(action, state);
    if (is_first) first_cost = cost;
    cost_roundings = std::max(cost_roundings, task_.cost_roundings(action));
    choice.is_mixed |= cost != first_cost;
    is_first = false;
    choice.cost += share * cost;
    if (possible == 1) choice.action = action;
    add_outcomes(block, state, action, share);
  }
  if (!choice.is_mixed) choice.cost = first_cost;
  // Shares: the sum, the division and the product with an outcome or a cost; costs were rounded too, and their sum is.
  const std::uint32_t roundings = std::max(roundings_, cost_roundings);
  choice.roundings = possible == 1 ? roundings : roundings + 2 * static_cast<std::uint32_t>(possible) + 2;
  choice.end = block.outcomes.size();
  block.choices.push_back(choice);
}

void BlockExpander::add_outcomes(StateBlock& block, const Word* state, ActionId action, double share) {
  const std::size_t words = task_.num_words();
  const double cost = task_.cost(action, state);
  const auto add = [&](const Word* successor, double probability) {
    block.outcomes.push_back({hash_words(successor, words), probability, cost});
  };
  const FlatAction& flat = flat_[static_cast<std::size_t>(action)];
  if (!flat.changes.empty()) {
    for (std::size_t o = 0; o < flat.changes.size(); ++o) {
      block.successors.insert(block.successors.end(), state, state + words);
      Word* const successor = block.successors.data() + block.successors.size() - words;
      apply_changes(flat.changes[o], successor);
      add(successor, share * flat.probabilities[o]);
    }
    roundings_ = std::max(roundings_, flat.roundings);
    return;
  }
  expander_.expand(state, action);
  for (std::size_t o = 0; o < expander_.count(); ++o) {
    block.successors.insert(block.successors.end(), expander_.successor(o), expander_.successor(o) + words);
    add(expander_.successor(o), share * expander_.probability(o));
  }
  roundings_ = std::max(roundings_, expander_.roundings());
}

}  // namespace asnets
