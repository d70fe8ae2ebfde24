// ILAO* [hansen2001lao]: depth-first passes over the greedy policy's graph.
//
// What it computes: each pass walks the states that the greedy policy reaches, expands those that have not been, and
// backs all of them up after their successors. When a pass expands nothing, moves no value by more than ε and no greedy choice
// leads out of what it walked, the policy is ε-consistent.
// What it guarantees: with an admissible heuristic, the value is optimal up to the error that residuals of ε allow.
// How it differs: dead ends and the penalty are those of SearchGraph. Every so many passes without expansion, states from
// which the greedy policy cannot reach a goal are checked for being traps.
#pragma once

#include <vector>

#include "search/solver.hpp"

namespace asnets {

class IlaoStar : public Solver {
 public:
  using Solver::Solver;

 protected:
  void search(StateId state, Budget& budget) override;

  // What a variant may do besides another best_choice: what follows the expansion of a state, a change of its value and
  // a pass (whether that has changed anything), and whether a policy that has converged is accepted.
  virtual void on_expanded(StateId) {}
  virtual void on_changed(StateId, double /*before*/, double /*after*/) {}
  virtual bool after_pass(Budget&) { return false; }
  virtual bool accept(Budget&) { return true; }

 private:
  struct Frame {
    StateId state;
    std::size_t next;  // Successor to visit.
    SearchGraph::Backup greedy;
  };
  struct Pass {
    std::size_t expanded = 0;
    double residual = 0;
    bool changed = false;  // A greedy choice is not the one that was followed, and leads to states that were not visited.
  };

  Pass run_pass(StateId state, Budget& budget);
  // Whether a new greedy choice leads out of the states of the pass, which are marked. Where it does not, it is as consistent as
  // the old one. Two choices of a cycle without cost may take turns for ever, since backups are rounded.
  bool leads_elsewhere(Budget& budget);

  std::vector<Frame> stack_;
  std::vector<StateId> order_;    // The states of the last pass, each after its successors.
  std::vector<StateId> changed_;  // Those whose greedy choice is not the one that was followed.
};

}  // namespace asnets
