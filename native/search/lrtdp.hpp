// Labelled RTDP [bonet2003labeled].
//
// What it computes: trials that follow the greedy policy and back up what they meet; after a trial, states whose greedy
// graph is ε-consistent are labelled solved, from the end of the trial backwards, and later trials stop there.
// What it guarantees: with an admissible heuristic, the value of a solved state is optimal up to the error that residuals
// of ε allow.
// How it differs: a trial also stops at a state whose value its backup does not move by more than ε: what is wrong below
// it is found and mended by the check. Trials then do not wander through regions that are settled but not yet labelled,
// which expands far fewer states where many actions lead nowhere new. Dead ends and the penalty are those of
// SearchGraph; a check that meets a new state expands it and fails if its value moves, so that dead ends found in a check
// are backed up into their parents. Long trials, and many that expand nothing, look for traps (closed sets of states without a
// goal, which the heuristic does not see) instead of counting up to the penalty.
#pragma once

#include <vector>

#include "search/solver.hpp"

namespace asnets {

class Lrtdp : public Solver {
 public:
  using Solver::Solver;

 protected:
  void search(StateId state, Budget& budget) override { label(state, budget); }
  // Runs trials until the state is solved. States marked kBorder count as solved.
  void label(StateId state, Budget& budget);
  // Called before each trial.
  virtual void count_trial(Budget& budget) { budget.start_trial(); }

 private:
  bool is_settled(StateId state) const { return is_labelled(state) || graph_.is_marked(state, SearchGraph::kBorder); }
  void run_trial(StateId state, Budget& budget);
  bool check_solved(StateId state, Budget& budget);
  // The states that the greedy policy visits, as far as they are expanded and not settled.
  std::vector<StateId> greedy_states(StateId root, Budget& budget);

  std::vector<StateId> trial_;
  std::vector<StateId> open_;
  std::vector<StateId> closed_;
};

}  // namespace asnets
