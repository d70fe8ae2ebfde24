// Interval iteration over a whole model: bounds that hold, from below and from above.
//
// What it computes: for each state, numbers lower <= V* <= upper, where V* is the least expected cost until a state with a
// given value; giving up at any state may be offered at a fixed cost. Zero-cost end components are collapsed into one
// state with the choices that leave it, since going round in them is free: without that, values between the truth and any
// starting point from above would be fixpoints too. What is left is solved component after component, those that are led to
// first; within one, values from below and from above are backed up until they meet [haddad2018interval;
// baier2017ensuring], every backup rounded outward.
// Where they start: from above at the cost of giving up, or at what a policy that certainly leaves the component can cost
// at most; from below at the least that may follow, less what can be earned within: rewards times a bound on how often a
// state can be visited, from the probability of never coming back [baier2017ensuring].
// What it guarantees: the bounds hold for the exact rational model, if probabilities and costs are those, rounded with a
// relative error of at most kInputRounding; the choices that it gives cost at most `upper`. Where an end component earns
// something on average, V* is minus infinity: that is thrown. An end component with choices of both signs that does not is
// not handled, and thrown as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/sparse_model.hpp"

namespace asnets {

// Relative error of a sum of products with n terms of one sign, with the errors of its numbers: products of probabilities
// of factors, sums over equal successors and normalisation have each cost a few roundings.
inline constexpr double kUnitRoundoff = 0x1p-53;
inline constexpr double kInputRounding = 128 * kUnitRoundoff;
inline double rounding_of(std::size_t terms) { return kInputRounding + 4 * static_cast<double>(terms) * kUnitRoundoff; }

inline constexpr std::size_t kNoChoice = static_cast<std::size_t>(-1);

struct IntervalProblem {
  const SparseModel* model;
  std::vector<bool> allowed;  // Choices; empty for all of them.
  std::vector<bool> fixed;    // States whose value is given in `lower` and `upper`; their choices do not count.
  std::vector<double> lower;  // Of fixed states; results for the others.
  std::vector<double> upper;
  std::vector<std::size_t> choice;  // Result: what to do in each state, to go on for ever included; kNoChoice to give up.
  double give_up;                   // What it costs; infinity if it is not offered.
  double epsilon;                   // Asked of upper - lower.
  bool ignores_costs = false;       // They count as 0.
  std::size_t backups = 0;          // Result: how many it took.
  double cost_error = 0;            // Of each cost, absolute, besides kInputRounding.
};

// An end component in which costs add up to less than nothing, so that no bound can be given.
struct UnboundedValue {
  std::uint32_t state;
  std::size_t choice;
  bool is_certain;  // Or else it has choices of both signs.
};

void solve_intervals(IntervalProblem& problem, const Tick& tick);

// Choices by which every member of an end component goes to `target`, itself a member, with probability 1, or kNoChoice
// there. `inner` says which choices of the members stay.
std::vector<std::size_t> routes_to(const SparseModel& model, const std::vector<std::uint32_t>& members,
                                   const std::vector<bool>& inner, std::uint32_t target);

}  // namespace asnets
