// What is certain about the runs of a chain: probabilities and expectations with bounds that hold.
//
// A run ends at a goal, or at the first state from which the goal is reached with probability 0 (a sink), where it pays
// a penalty D. For each state s with successors s', of probability p and cost c of the step:
//   goal probability g = sum p g',            1 at goals, 0 at sinks
//   failures         f = sum p f',            1 in the bottom components of a kind of failure
//   value            V = sum p (c + V'),      0 at goals, D at sinks
//   cost to the end  w = sum p (c + w'),      0 at goals and sinks
//   steps            n = 1 + sum p n',        0 at goals and sinks
//   cost of success  G = sum p (c g' + G'),   0 at goals and sinks: the expected cost of runs that reach the goal
//   variance         S = sum p (S' + (c + V' - V)^2), 0 at goals and sinks: that of the cost with the penalty
// The last is the law of total variance, without the cancellation of E[X^2] - E[X]^2.
//
// What it guarantees: bounds of the exact rational model, of which the doubles are roundings (explicit_model.hpp),
// however ill-conditioned it is. Components are solved after those that they lead to. A component of one state is
// solved in closed form, by the probability of leaving it, which is a sum and not 1 - p; larger ones by a
// CertifiedSystem. Each quantity is carried as two bounds, and a bound is solved for by itself, so that widths add up
// along a run and do not multiply. What holds with certainty (a goal that cannot be missed) is 0 or 1 exactly.
//
// In a partial chain, anything may happen from states that were not explored on: the goal is reached with a probability
// from 0 to 1, and costs lie between what the caller knows.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "verification/bounds.hpp"
#include "verification/certified_system.hpp"
#include "verification/components.hpp"
#include "verification/failures.hpp"

namespace asnets {

struct ChainOptions {
  double penalty = 0;
  double relative_error = 0;  // Of each probability, and of each cost if `cost_error` is 0.
  double cost_error = 0;      // Of each cost, absolute: where costs of both signs were added.
  // Of the value, and of the cost to the end, of states that were not explored; each or all.
  std::span<const double> unexplored_lower;
  std::span<const double> unexplored_upper;
  double least_cost = 0;  // To the end, from any state: 0 if no cost is negative, else -inf.
};

struct ChainNumbers {
  Bounds goal_probability;
  std::array<Bounds, kNumFailures> failures;  // In the order of `Failure`.
  Bounds value;
  Bounds cost_to_end;
  Bounds steps;
  Bounds cost_of_success;
  Bounds variance;
};

struct ChainSolution {
  ChainNumbers initial;
  std::vector<Bounds> goal_probabilities;  // Of each state; empty if it is 1 for all.
  std::vector<Bounds> values;              // Of each state.
  std::vector<std::uint8_t> failures;      // A `Failure` for each state; none but in bottom components.
  std::vector<std::uint8_t> lost;          // For each state, whether neither a goal nor what is unexplored is in reach.
  std::size_t num_components = 0;
  std::size_t largest_component = 0;
  std::size_t num_uncertified = 0;  // Components without a certificate: their bounds say next to nothing.
};

// Given a bottom component without goal, and whether it is a state without a choice.
using Classify = std::function<Failure(std::span<const StateId> component, bool is_stopped)>;

// Has interruption points.
ChainSolution solve_chain(const ModelView& model, const ChainOptions& options, const Classify& classify,
                          const DirectSolverFactory& outside);

}  // namespace asnets
