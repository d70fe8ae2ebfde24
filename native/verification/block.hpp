// Blocks of states with their transitions, as words: what threads work out before states are numbered.
#pragma once

#include <cstdint>
#include <exception>
#include <vector>

#include "flat_actions.hpp"
#include "policy/policy.hpp"
#include "simulator.hpp"
#include "state_table.hpp"
#include "successor_generator.hpp"
#include "task.hpp"

namespace asnets {

struct StateBlock {
  // An outcome of a choice: a successor, in `successors`, which other outcomes may have too.
  struct Outcome {
    std::uint64_t hash;
    double probability;
    double cost;
  };
  struct Choice {
    ActionId action;
    double cost;
    bool is_mixed;  // Whether outcomes differ in cost.
    std::uint32_t roundings;
    std::size_t end;  // Of its outcomes.
  };

  void clear() {
    ids.clear();
    states.clear();
    clear_results();
  }
  void clear_results() {
    choices.clear();
    outcomes.clear();
    successors.clear();
    choices_end.clear();
    failure = nullptr;
    is_done = false;
  }

  std::vector<StateId> ids;
  std::vector<Word> states;
  std::vector<ActionDistribution> distributions;  // Of each state, if the policy was asked from outside.

  std::vector<std::size_t> choices_end;  // Of each state.
  std::vector<Choice> choices;
  std::vector<Outcome> outcomes;
  std::vector<Word> successors;
  std::exception_ptr failure;
  bool is_done = false;
};

// Fills blocks in. Holds scratch space: one for each thread.
class BlockExpander {
 public:
  BlockExpander(const Task& task, const SuccessorGenerator& generator, const std::vector<FlatAction>& flat);

  // A choice for each applicable action, ascending.
  void expand_actions(StateBlock& block);
  // One choice for each state where the policy has any.
  void expand_policy(StateBlock& block, Policy& policy);
  void expand_distributions(StateBlock& block);

 private:
  void add_choice(StateBlock& block, const Word* state, const ActionDistribution& distribution);
  void add_outcomes(StateBlock& block, const Word* state, ActionId action, double share);

  const Task& task_;
  const SuccessorGenerator& generator_;
  const std::vector<FlatAction>& flat_;
  Expander expander_;
  ActionDistribution distribution_;
  ActionList actions_;
  std::vector<std::int32_t> stack_;
  std::vector<ActionId> sorted_;
  std::uint32_t roundings_ = 0;
};

}  // namespace asnets
