// What chooses actions.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "random.hpp"
#include "task.hpp"

namespace asnets {

struct Decision;

// The actions that a policy may choose in a state, in an order of its own, and how probable each is; none where it gives
// up.
struct ActionDistribution {
  std::vector<ActionId> actions;
  std::vector<double> probabilities;

  void clear() {
    actions.clear();
    probabilities.clear();
  }
  void add(ActionId action, double probability) {
    actions.push_back(action);
    probabilities.push_back(probability);
  }
};

// Holds scratch space: one for each thread.
class Policy {
 public:
  virtual ~Policy() = default;
  // Before the first step of an episode, with its random stream: a policy with memory forgets what it remembers of the
  // episode before.
  virtual void begin(const RandomStream& /*of_episode*/) {}
  // The action to take in a state that is no goal; negative to give up, as where no action is applicable.
  virtual ActionId choose(const Word* state, RandomStream& random) = 0;
  // What `choose` draws from.
  virtual void distribution(const Word* state, ActionDistribution& result) = 0;
  // How it weighs all applicable actions: of a network the softmax, also where it takes the likeliest one. Empty where it
  // has nothing to say of the actions that it does not choose.
  virtual void preferences(const Word* /*state*/, ActionDistribution& result) { result.clear(); }
  // By whom and why the last action was chosen; null where there is one that chooses.
  virtual const Decision* decision() const { return nullptr; }
  // Fills in the tree of a copy of that decision, for those who want to see it; the state is the one it was made in.
  virtual void describe(const Word* /*state*/, Decision& /*decision*/) {}
};

// Throws std::invalid_argument if it is no distribution over actions that are applicable in the state.
void check_distribution(const Task& task, const ActionDistribution& distribution, const Word* state);

using PolicyFactory = std::function<std::unique_ptr<Policy>()>;

}  // namespace asnets
