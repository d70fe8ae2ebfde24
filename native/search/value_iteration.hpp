// Value iteration over all states reachable from a state: slow, simple, the oracle for the other planners.
//
// Gauss-Seidel sweeps in reverse order of discovery until no value moves by more than ε. States from which no goal can
// be reached are found first, by the graph alone, and get the penalty.
#pragma once

#include "search/solver.hpp"

namespace asnets {

class ValueIteration final : public Solver {
 public:
  using Solver::Solver;

 protected:
  void search(StateId state, Budget& budget) override;
};

}  // namespace asnets
