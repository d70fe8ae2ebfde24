#include "heuristics/relaxation_heuristics.hpp"

#include <algorithm>
#include <cmath>

namespace asnets {

bool has_whole_costs(const RelaxedTask& relaxed) {
  for (std::size_t op = 0; op < relaxed.num_operators(); ++op) {
    const double cost = relaxed.cost(static_cast<OperatorId>(op));
    if (cost != std::floor(cost) || cost > 10000) return false;
  }
  return true;
}

template <typename Cost>
RelaxationHeuristic<Cost>::RelaxationHeuristic(const Task& task, Relaxation kind, OperatorForm form)
    : kind_(kind), relaxed_(task, form) {
  for (std::size_t op = 0; op < relaxed_.num_operators(); ++op) {
    const auto id = static_cast<OperatorId>(op);
    base_costs_.push_back(static_cast<Cost>(relaxed_.cost(id)));
    num_preconditions_.push_back(static_cast<std::int32_t>(relaxed_.preconditions(id).size()));
  }
  supporter_.resize(relaxed_.num_facts());
  fact_mark_.assign(relaxed_.num_facts(), 0);
  action_mark_.assign(task.num_actions(), 0);
}

template <typename Cost>
inline void RelaxationHeuristic<Cost>::reach(FactId fact, Cost cost, OperatorId supporter) {
  const auto index = static_cast<std::size_t>(fact);
  if (cost >= fact_cost_[index]) return;
  fact_cost_[index] = cost;
  supporter_[index] = supporter;
  queue_.push(cost, fact);
}

template <typename Cost>
double RelaxationHeuristic<Cost>::evaluate(const Word* state) {
  // Sums can exceed 32 bits only where they are far beyond any use; they are capped here.
  constexpr Cost kUnreached = std::numeric_limits<Cost>::max() / 2;
  plan_.clear();
  const bool maximum = kind_ == Relaxation::kMax;
  fact_cost_.assign(relaxed_.num_facts(), kUnreached);
  operator_cost_ = base_costs_;
  missing_ = num_preconditions_;
  queue_.clear();
  relaxed_.for_each_true(state, [&](FactId fact) { reach(fact, 0, -1); });
  while (!queue_.empty()) {
    const auto [cost, fact] = queue_.pop();
    if (cost > fact_cost_[static_cast<std::size_t>(fact)]) continue;
    if (fact == relaxed_.goal()) {
      return kind_ == Relaxation::kFf ? relaxed_plan_cost() : static_cast<double>(cost);
    }
    for (const OperatorId op : relaxed_.precondition_of(fact)) {
      const auto index = static_cast<std::size_t>(op);
      if (!maximum) operator_cost_[index] = std::min<Cost>(operator_cost_[index] + cost, kUnreached - 1);
      if (--missing_[index] > 0) continue;
      // Facts are settled in the order of their costs: the last precondition is the dearest.
      const Cost total = maximum ? operator_cost_[index] + cost : operator_cost_[index];
      for (const FactId effect : relaxed_.effects(op)) reach(effect, total, op);
    }
  }
  return kInfinity;
}

template <typename Cost>
double RelaxationHeuristic<Cost>::relaxed_plan_cost() {
  ++mark_;
  double total = 0;
  stack_.assign(1, relaxed_.goal());
  while (!stack_.empty()) {
    const auto fact = static_cast<std::size_t>(stack_.back());
    stack_.pop_back();
    if (fact_mark_[fact] == mark_ || supporter_[fact] < 0) continue;
    fact_mark_[fact] = mark_;
    const OperatorId op = supporter_[fact];
    const ActionId action = relaxed_.action(op);
    if (action >= 0 && action_mark_[static_cast<std::size_t>(action)] != mark_) {
      action_mark_[static_cast<std::size_t>(action)] = mark_;
      total += relaxed_.cost(op);
      plan_.push_back(action);
    }
    const auto preconditions = relaxed_.preconditions(op);
    stack_.insert(stack_.end(), preconditions.begin(), preconditions.end());
  }
  return total;
}

namespace {

template <typename Cost>
class RelaxedPlanFinderOf final : public RelaxedPlanFinder {
 public:
  explicit RelaxedPlanFinderOf(const Task& task) : heuristic_(task, Relaxation::kFf) {}
  const std::vector<ActionId>& find(const Word* state) override {
    heuristic_.evaluate(state);
    return heuristic_.relaxed_plan();
  }

 private:
  RelaxationHeuristic<Cost> heuristic_;
};

class Improbability final : public Heuristic {
 public:
  explicit Improbability(const Task& task) : heuristic_(task, Relaxation::kAdd, OperatorForm::kImprobable) {}
  double evaluate(const Word* state) override { return heuristic_.evaluate(state) / RelaxedTask::kBit; }

 private:
  RelaxationHeuristic<std::int32_t> heuristic_;
};

// With costs of the type that the task allows.
template <typename Interface, template <typename> class Kind, typename... Arguments>
std::unique_ptr<Interface> with_costs(const Task& task, Arguments... arguments) {
  if (has_whole_costs(RelaxedTask(task, OperatorForm::kMerged))) {
    return std::make_unique<Kind<std::int32_t>>(task, arguments...);
  }
  return std::make_unique<Kind<double>>(task, arguments...);
}

}  // namespace

std::unique_ptr<Heuristic> make_hmax(const Task& task) {
  return with_costs<Heuristic, RelaxationHeuristic>(task, Relaxation::kMax);
}

std::unique_ptr<Heuristic> make_hadd(const Task& task) {
  return with_costs<Heuristic, RelaxationHeuristic>(task, Relaxation::kAdd);
}

std::unique_ptr<Heuristic> make_hff(const Task& task) {
  return with_costs<Heuristic, RelaxationHeuristic>(task, Relaxation::kFf);
}

std::unique_ptr<Heuristic> make_improbability(const Task& task) { return std::make_unique<Improbability>(task); }

std::unique_ptr<RelaxedPlanFinder> make_relaxed_plan_finder(const Task& task) {
  return with_costs<RelaxedPlanFinder, RelaxedPlanFinderOf>(task);
}

template class RelaxationHeuristic<std::int32_t>;
template class RelaxationHeuristic<double>;

}  // namespace asnets
