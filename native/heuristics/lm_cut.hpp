// LM-cut: disjunctive action landmarks and the heuristic that sums their costs [helmert2009landmarks].
//
// What it computes: repeatedly, under the current costs, h_max with one dearest precondition (supporter) for each
// operator; the facts from which the goal can be reached at no cost through supporters (goal zone); and the operators
// that lead into it from what is reachable outside: a cut. Every relaxed plan uses one of them. The least cost among
// them counts towards the estimate and is taken off all of them, until the goal costs nothing.
// What it guarantees: admissible for the SSP with the fixed penalty, also with conditional effects and independent
// factors, since operators stand for whole applications of an action (joint form of RelaxedTask: conditional effects
// are compiled into one operator for each subset of guarded parts, and where that is too many the cost of an action is
// shared over its parts; [roger2014optimal] discusses these and the tighter context splitting, which we do not use).
// Infinite exactly where the relaxed goal is unreachable. At least h_max where no cost is shared.
// How it differs from the original: cuts are handed to a callback, so that value and landmarks come from one routine.
// Instead of walking forward through all that is reachable, only the supporters of operators that enter the goal zone are
// looked at, backwards until a fact of the state is met; the cuts are the same.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "assert.hpp"
#include "heuristics/heuristic.hpp"
#include "heuristics/queue.hpp"
#include "heuristics/relaxed_task.hpp"
#include "interruption.hpp"

namespace asnets {

template <typename Cost>
class LandmarkCut {
 public:
  explicit LandmarkCut(const Task& task);

  // Calls `visit(operators, cost)` for each cut. Returns false if the relaxed goal is unreachable.
  template <typename Visit>
  bool for_each_cut(const Word* state, Visit&& visit) {
    if (!explore(state)) return false;
    while (fact_cost_[static_cast<std::size_t>(relaxed_.goal())] > 0) {
      interruption_point();
      find_cut();
      // What costs nothing costs exactly 0, so that a goal that costs something lies behind operators that do.
      ASNETS_ASSERT(!cut_.empty());
      Cost least = cost_[static_cast<std::size_t>(cut_[0])];
      for (const OperatorId op : cut_) least = std::min(least, cost_[static_cast<std::size_t>(op)]);
      ASNETS_ASSERT(least > 0);
      visit(cut_, least);
      for (const OperatorId op : cut_) take_off(op, least);
      explore_again();
    }
    return true;
  }

  const RelaxedTask& relaxed() const { return relaxed_; }

 private:
  using Queue = std::conditional_t<std::is_same_v<Cost, double>, HeapQueue<double>, BucketQueue>;
  bool explore(const Word* state);
  void explore_again();
  void find_cut();
  bool reaches_from_state(FactId fact);
  void reach(FactId fact, Cost cost);
  void update_supporter(OperatorId op);
  void take_off(OperatorId op, Cost cost);

  RelaxedTask relaxed_;
  std::vector<Cost> base_costs_;
  std::vector<std::int32_t> num_preconditions_;

  Queue queue_;
  std::vector<Cost> cost_;
  std::vector<std::int32_t> missing_;
  std::vector<FactId> supporter_;
  std::vector<Cost> supporter_cost_;
  std::vector<Cost> fact_cost_;
  // Marks that hold if they are those of the current state, round (cut) or query.
  std::vector<std::uint32_t> true_;
  std::vector<std::uint32_t> goal_zone_;
  std::vector<std::uint32_t> enters_goal_zone_;  // Of operators.
  std::vector<std::uint32_t> before_;            // Facts that can be reached without entering the goal zone.
  std::vector<std::uint32_t> cut_off_;           // Facts that cannot.
  std::vector<std::uint32_t> seen_;
  std::uint32_t state_mark_ = 0;
  std::uint32_t round_ = 0;
  std::uint32_t query_ = 0;
  std::vector<FactId> stack_;
  std::vector<FactId> visited_;
  std::vector<FactId> came_from_;  // For each fact seen in a query, the one that it leads to.
  std::vector<OperatorId> cut_;
};

template <typename Cost>
class LmCutHeuristic final : public Heuristic {
 public:
  explicit LmCutHeuristic(const Task& task) : landmarks_(task) {}

  double evaluate(const Word* state) override {
    double total = 0;
    const bool reachable =
        landmarks_.for_each_cut(state, [&](const std::vector<OperatorId>&, Cost cost) { total += static_cast<double>(cost); });
    return reachable ? total : kInfinity;
  }

 private:
  LandmarkCut<Cost> landmarks_;
};
std::unique_ptr<Heuristic> make_lm_cut(const Task& task);

// The cuts of a state as sets of actions.
struct Landmarks {
  bool reachable = true;
  double value = 0;
  std::vector<std::vector<ActionId>> cuts;  // Each ascending, without repetition.
  std::vector<double> costs;
};
Landmarks find_landmarks(const Task& task, const Word* state);

// The cuts of one state after the other. Holds scratch space: one for each thread.
class LandmarkFinder {
 public:
  // The actions of a cut, ascending and without repetition, and its cost.
  using Visit = std::function<void(std::span<const ActionId>, double)>;

  virtual ~LandmarkFinder() = default;
  // Returns false, without a visit, if the relaxed goal is unreachable.
  virtual bool find(const Word* state, const Visit& visit) = 0;
};
std::unique_ptr<LandmarkFinder> make_landmark_finder(const Task& task);

}  // namespace asnets
