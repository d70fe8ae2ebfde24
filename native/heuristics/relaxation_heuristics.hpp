// h_max, h_add and h_ff: costs of reaching the goal when nothing is ever deleted.
//
// What they compute: h_max and h_add [bonet2001planning, section 4] take the cost of a set of facts to be the maximum or
// the sum over its members; h_ff [hoffmann2001ff] is the cost of a relaxed plan read off from the best supporters of
// h_add [keyder2008heuristics], each action counted once.
// What they guarantee: on the all-outcomes determinisation, h_max is admissible for the SSP: in the best case every
// outcome is the wanted one. h_add and h_ff are not. All are infinite exactly where the relaxed goal is unreachable.
// How: one Dijkstra-like pass over facts, stopped when the goal is settled.
#pragma once

#include <memory>
#include <type_traits>
#include <vector>

#include "heuristics/heuristic.hpp"
#include "heuristics/queue.hpp"
#include "heuristics/relaxed_task.hpp"

namespace asnets {

enum class Relaxation { kMax, kAdd, kFf };

template <typename Cost>
class RelaxationHeuristic final : public Heuristic {
 public:
  RelaxationHeuristic(const Task& task, Relaxation kind, OperatorForm form = OperatorForm::kMerged);
  double evaluate(const Word* state) override;
  // Of the last state with a finite value: the actions of the relaxed plan; for kFf only.
  const std::vector<ActionId>& relaxed_plan() const { return plan_; }

 private:
  using Queue = std::conditional_t<std::is_same_v<Cost, double>, HeapQueue<double>, BucketQueue>;

  void reach(FactId fact, Cost cost, OperatorId supporter);
  double relaxed_plan_cost();

  const Relaxation kind_;
  RelaxedTask relaxed_;
  std::vector<Cost> base_costs_;
  std::vector<std::int32_t> num_preconditions_;

  Queue queue_;
  std::vector<Cost> fact_cost_;
  std::vector<OperatorId> supporter_;
  std::vector<Cost> operator_cost_;
  std::vector<std::int32_t> missing_;
  std::vector<FactId> stack_;
  std::vector<ActionId> plan_;
  std::vector<std::uint32_t> fact_mark_;
  std::vector<std::uint32_t> action_mark_;
  std::uint32_t mark_ = 0;
};

std::unique_ptr<Heuristic> make_hmax(const Task& task);
std::unique_ptr<Heuristic> make_hadd(const Task& task);
std::unique_ptr<Heuristic> make_hff(const Task& task);

// How improbable it is that each outcome that is needed comes at the first try, in bits: h_add where an operator costs
// -log2 of the probability of its effects. No estimate of costs; 0 at goals, and infinite where the others are.
std::unique_ptr<Heuristic> make_improbability(const Task& task);

// The actions of the relaxed plan of h_ff; none where the relaxed goal is unreachable or holds. Holds scratch space: one
// for each thread.
class RelaxedPlanFinder {
 public:
  virtual ~RelaxedPlanFinder() = default;
  // Each action once; valid until the next call.
  virtual const std::vector<ActionId>& find(const Word* state) = 0;
};
std::unique_ptr<RelaxedPlanFinder> make_relaxed_plan_finder(const Task& task);

// Whether all costs are whole and small enough to be counted in 32 bits.
bool has_whole_costs(const RelaxedTask& relaxed);

}  // namespace asnets
