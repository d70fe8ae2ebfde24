#include "heuristics/lm_cut.hpp"

#include <algorithm>

#include "heuristics/relaxation_heuristics.hpp"
#include "tolerances.hpp"

namespace asnets {

namespace {

template <typename Cost>
constexpr Cost kUnreached = std::numeric_limits<Cost>::max() / 4;

}  // namespace

template <typename Cost>
LandmarkCut<Cost>::LandmarkCut(const Task& task) : relaxed_(task, OperatorForm::kJoint) {
  for (std::size_t op = 0; op < relaxed_.num_operators(); ++op) {
    const auto id = static_cast<OperatorId>(op);
    base_costs_.push_back(static_cast<Cost>(relaxed_.cost(id)));
    num_preconditions_.push_back(static_cast<std::int32_t>(relaxed_.preconditions(id).size()));
  }
  supporter_.resize(relaxed_.num_operators());
  supporter_cost_.resize(relaxed_.num_operators());
  for (auto* marks : {&true_, &goal_zone_, &before_, &cut_off_, &seen_}) marks->assign(relaxed_.num_facts(), 0);
  enters_goal_zone_.assign(relaxed_.num_operators(), 0);
  came_from_.resize(relaxed_.num_facts());
}

template <typename Cost>
inline void LandmarkCut<Cost>::reach(FactId fact, Cost cost) {
  const auto index = static_cast<std::size_t>(fact);
  if (cost >= fact_cost_[index]) return;
  fact_cost_[index] = cost;
  queue_.push(cost, fact);
}

// h_max of all facts, with supporters; whether the goal is reached.
template <typename Cost>
bool LandmarkCut<Cost>::explore(const Word* state) {
  cost_ = base_costs_;
  missing_ = num_preconditions_;
  fact_cost_.assign(relaxed_.num_facts(), kUnreached<Cost>);
  std::fill(supporter_.begin(), supporter_.end(), -1);
  queue_.clear();
  ++state_mark_;
  relaxed_.for_each_true(state, [&](FactId fact) {
    true_[static_cast<std::size_t>(fact)] = state_mark_;
    reach(fact, 0);
  });
  while (!queue_.empty()) {
    const auto [cost, fact] = queue_.pop();
    if (cost > fact_cost_[static_cast<std::size_t>(fact)]) continue;
    for (const OperatorId op : relaxed_.precondition_of(fact)) {
      const auto index = static_cast<std::size_t>(op);
      if (--missing_[index] > 0) continue;
      supporter_[index] = fact;
      supporter_cost_[index] = cost;
      const Cost total = cost + cost_[index];
      for (const FactId effect : relaxed_.effects(op)) reach(effect, total);
    }
  }
  return fact_cost_[static_cast<std::size_t>(relaxed_.goal())] < kUnreached<Cost>;
}

// Brings h_max and supporters up to date after the operators of the cut have become cheaper.
template <typename Cost>
void LandmarkCut<Cost>::explore_again() {
  queue_.clear();
  for (const OperatorId op : cut_) {
    const Cost total = supporter_cost_[static_cast<std::size_t>(op)] + cost_[static_cast<std::size_t>(op)];
    for (const FactId effect : relaxed_.effects(op)) reach(effect, total);
  }
  while (!queue_.empty()) {
    const auto [cost, fact] = queue_.pop();
    if (cost > fact_cost_[static_cast<std::size_t>(fact)]) continue;
    for (const OperatorId op : relaxed_.precondition_of(fact)) {
      const auto index = static_cast<std::size_t>(op);
      if (supporter_[index] != fact || supporter_cost_[index] <= cost) continue;
      const Cost before = supporter_cost_[index];
      update_supporter(op);
      if (supporter_cost_[index] == before) continue;
      const Cost total = supporter_cost_[index] + cost_[index];
      for (const FactId effect : relaxed_.effects(op)) reach(effect, total);
    }
  }
}

template <typename Cost>
inline void LandmarkCut<Cost>::update_supporter(OperatorId op) {
  const auto index = static_cast<std::size_t>(op);
  FactId best = supporter_[index];
  Cost best_cost = fact_cost_[static_cast<std::size_t>(best)];
  for (const FactId fact : relaxed_.preconditions(op)) {
    const Cost cost = fact_cost_[static_cast<std::size_t>(fact)];
    if (cost > best_cost) {
      best = fact;
      best_cost = cost;
    }
  }
  ASNETS_ASSERT(best_cost <= supporter_cost_[index]);
  supporter_[index] = best;
  supporter_cost_[index] = best_cost;
}

template <typename Cost>
inline void LandmarkCut<Cost>::take_off(OperatorId op, Cost cost) {
  const auto index = static_cast<std::size_t>(op);
  cost_[index] -= cost;
  ASNETS_ASSERT(cost_[index] >= 0);
  if constexpr (std::is_same_v<Cost, double>) {
    if (cost_[index] <= kUsedUp * base_costs_[index]) cost_[index] = 0;
  }
}

template <typename Cost>
void LandmarkCut<Cost>::find_cut() {
  ++round_;
  cut_.clear();
  // The goal zone: facts from which supporters lead to the goal at no cost. All operators into it are candidates.
  stack_.assign(1, relaxed_.goal());
  goal_zone_[static_cast<std::size_t>(relaxed_.goal())] = round_;
  while (!stack_.empty()) {
    const FactId fact = stack_.back();
    stack_.pop_back();
    for (const OperatorId op : relaxed_.effect_of(fact)) {
      const auto index = static_cast<std::size_t>(op);
      if (supporter_[index] < 0 || enters_goal_zone_[index] == round_) continue;
      enters_goal_zone_[index] = round_;
      const auto supporter = static_cast<std::size_t>(supporter_[index]);
      if (cost_[index] > 0) {
        cut_.push_back(op);
      } else if (goal_zone_[supporter] != round_) {
        goal_zone_[supporter] = round_;
        stack_.push_back(supporter_[index]);
      }
    }
  }
  std::erase_if(cut_, [&](OperatorId op) {
    const FactId supporter = supporter_[static_cast<std::size_t>(op)];
    return goal_zone_[static_cast<std::size_t>(supporter)] == round_ || !reaches_from_state(supporter);
  });
}

// Whether a fact outside the goal zone can be reached through supporters without entering the zone.
template <typename Cost>
bool LandmarkCut<Cost>::reaches_from_state(FactId root) {
  if (before_[static_cast<std::size_t>(root)] == round_) return true;
  if (cut_off_[static_cast<std::size_t>(root)] == round_) return false;
  ++query_;
  visited_.clear();
  stack_.assign(1, root);
  seen_[static_cast<std::size_t>(root)] = query_;
  came_from_[static_cast<std::size_t>(root)] = -1;
  while (!stack_.empty()) {
    const FactId fact = stack_.back();
    stack_.pop_back();
    visited_.push_back(fact);
    if (true_[static_cast<std::size_t>(fact)] == state_mark_ || before_[static_cast<std::size_t>(fact)] == round_) {
      for (FactId f = fact; f >= 0; f = came_from_[static_cast<std::size_t>(f)]) {
        before_[static_cast<std::size_t>(f)] = round_;
      }
      return true;
    }
    // The cheapest supporter goes on top of the stack: following these mostly leads straight to the state.
    const std::size_t bottom = stack_.size();
    for (const OperatorId op : relaxed_.effect_of(fact)) {
      const auto index = static_cast<std::size_t>(op);
      if (supporter_[index] < 0 || enters_goal_zone_[index] == round_) continue;
      const auto supporter = static_cast<std::size_t>(supporter_[index]);
      if (seen_[supporter] == query_ || cut_off_[supporter] == round_ || goal_zone_[supporter] == round_) continue;
      seen_[supporter] = query_;
      came_from_[supporter] = fact;
      stack_.push_back(supporter_[index]);
      if (stack_.size() > bottom + 1 && fact_cost_[static_cast<std::size_t>(stack_[stack_.size() - 2])] <
                                            fact_cost_[supporter]) {
        std::swap(stack_[stack_.size() - 2], stack_.back());
      }
    }
  }
  for (const FactId fact : visited_) cut_off_[static_cast<std::size_t>(fact)] = round_;
  return false;
}

template class LandmarkCut<std::int32_t>;
template class LandmarkCut<double>;

namespace {

template <typename Cost>
class CutFinder final : public LandmarkFinder {
 public:
  explicit CutFinder(const Task& task) : landmarks_(task) {}

  bool find(const Word* state, const Visit& visit) override {
    return landmarks_.for_each_cut(state, [&](const std::vector<OperatorId>& operators, Cost cost) {
      actions_.clear();
      for (const OperatorId op : operators) actions_.push_back(landmarks_.relaxed().action(op));
      std::sort(actions_.begin(), actions_.end());
      actions_.erase(std::unique(actions_.begin(), actions_.end()), actions_.end());
      visit(actions_, static_cast<double>(cost));
    });
  }

 private:
  LandmarkCut<Cost> landmarks_;
  std::vector<ActionId> actions_;
};

bool has_whole_joint_costs(const Task& task) { return has_whole_costs(RelaxedTask(task, OperatorForm::kJoint)); }

}  // namespace

std::unique_ptr<LandmarkFinder> make_landmark_finder(const Task& task) {
  if (has_whole_joint_costs(task)) return std::make_unique<CutFinder<std::int32_t>>(task);
  return std::make_unique<CutFinder<double>>(task);
}

Landmarks find_landmarks(const Task& task, const Word* state) {
  Landmarks landmarks;
  landmarks.reachable = make_landmark_finder(task)->find(state, [&](std::span<const ActionId> actions, double cost) {
    landmarks.value += cost;
    landmarks.cuts.emplace_back(actions.begin(), actions.end());
    landmarks.costs.push_back(cost);
  });
  return landmarks;
}

std::unique_ptr<Heuristic> make_lm_cut(const Task& task) {
  if (has_whole_joint_costs(task)) return std::make_unique<LmCutHeuristic<std::int32_t>>(task);
  return std::make_unique<LmCutHeuristic<double>>(task);
}

}  // namespace asnets
