#include "online/planner_search.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "interruption.hpp"

namespace asnets {

// What the table says, as a policy.
class PlannerSearch::PlanPolicy final : public Policy {
 public:
  // Outside a tree with rollouts at its leaves, `beyond` acts, if it is not null.
  PlanPolicy(Solver& solver, Puct* tree, Policy* beyond) : solver_(solver), tree_(tree), beyond_(beyond) {}

  ActionId choose(const Word* state, RandomStream& random) override {
    const StateId id = solver_.graph().add(state);
    if (beyond_ != nullptr && tree_->choice_nodes(id).empty() && !solver_.graph().is_terminal(id)) {
      return beyond_->choose(state, random);
    }
    return solver_.greedy_action(id);
  }
  void distribution(const Word* state, ActionDistribution& result) override {
    RandomStream unused(0, 0);
    result.clear();
    if (const ActionId action = choose(state, unused); action >= 0) result.add(action, 1);
  }

 private:
  Solver& solver_;
  Puct* tree_;
  Policy* beyond_;
};

PlannerSearch::PlannerSearch(const Task& task, const SuccessorGenerator& generator, PolicyFactory policy,
                             DetectorFactory detector, const PlannerSearchOptions& options)
    : task_(task),
      generator_(generator),
      planner_(find_planner(options.planner)),
      options_(options),
      most_cost_(kMostCost * options.solver.penalty),
      detector_(detector ? detector() : nullptr),
      plan_is_better_(most_cost_),
      policy_is_better_(most_cost_) {
  if (policy) {
    rollouts_ = std::make_unique<Rollouts>(task, std::move(policy), std::move(detector),
                                           RolloutOptions{options.max_steps, options.solver.penalty}, options.threads);
  }
}

void PlannerSearch::begin(const RandomStream& of_episode) {
  random_ = of_episode;
  step_ = 0;
  solver_.reset();
  plan_is_better_ = policy_is_better_ = Evidence(most_cost_);
}

void PlannerSearch::make_solver(const Word* state) {
  plan_runner_.reset();
  plan_.reset();
  SolverConfig config = options_.solver;
  config.seed = random_.split(2 * step_ + 1).bits();
  tree_ = nullptr;
  if (options_.planner == "puct") {
    has_rollout_leaves_ = rollouts_ != nullptr && options_.leaves != Leaves::kHeuristic;
    if (has_rollout_leaves_ && options_.leaves == Leaves::kAuto) {
      jobs_.clear();
      const RandomStream stream = random_.split(2 * step_ + 1).split(1);
      for (std::size_t i = 0; i < kPairs; ++i) jobs_.push_back({state, -1, stream.split(i)});
      const std::vector<Rollout>& results = rollouts_->run(jobs_, nullptr);
      has_rollout_leaves_ = std::any_of(results.begin(), results.end(), [](const Rollout& r) { return r.reaches_goal; });
    }
    auto tree = std::make_unique<Puct>(
        task_, generator_, config,
        PuctOptions{rollouts_ ? &rollouts_->policy() : nullptr, has_rollout_leaves_ ? rollouts_.get() : nullptr});
    tree_ = tree.get();
    solver_ = std::move(tree);
  } else {
    solver_ = planner_.make(task_, generator_, config);
  }
  plan_ = std::make_unique<PlanPolicy>(*solver_, tree_, tree_ && has_rollout_leaves_ ? &rollouts_->policy() : nullptr);
  plan_runner_ = std::make_unique<RolloutRunner>(task_, *plan_, detector_.get(),
                                                 RolloutOptions{options_.max_steps, options_.solver.penalty});
}

void PlannerSearch::decide(const Word* state, std::span<const ActionId> allowed, ActionId preferred,
                           Decision& decision) {
  StepClock clock(options_.budget, 1);
  if (solver_ == nullptr || solver_->graph().size() > kMostStates) make_solver(state);
  const StateId id = solver_->graph().add(state);
  search(id, preferred < 0 || rollouts_ == nullptr ? 1 : kSearchShare, decision);
  report(id, allowed, decision);
  ++step_;
  const bool is_solved = planner_.is_optimal && solver_->is_solved(id);
  decision.decider = is_solved ? Decider::kPlanner : Decider::kSearch;
  decision.reason = Reason::kAlone;
  decision.action = decision.search_action;
  if (preferred < 0 || rollouts_ == nullptr) return;
  if (decision.search_action < 0) {
    decision.action = preferred;
    decision.decider = Decider::kPolicy;
    decision.reason = Reason::kNoBudget;
  } else if (decision.search_action == preferred) {
    decision.decider = Decider::kPolicy;
    decision.reason = Reason::kAgreed;
  } else {
    clock.spend(decision.simulations);
    guard(id, state, preferred, clock, decision);
  }
}

void PlannerSearch::search(StateId state, double share, Decision& decision) {
  SearchLimits limits;
  limits.seconds = share * options_.budget.seconds;
  limits.trials = options_.budget.count == 0 ? 0 : std::max<std::size_t>(1, StepClock(options_.budget, share).allows(options_.budget.count));
  const std::size_t trials = solver_->statistics().trials;
  // The solver has a scope of its own, within which nobody looks at ours.
  InterruptionScope* const outer = InterruptionScope::current();
  solver_->solve(state, limits, [outer] {
    if (outer != nullptr) outer->point();
    return false;
  });
  decision.simulations = solver_->statistics().trials - trials;
}

void PlannerSearch::report(StateId state, std::span<const ActionId> allowed, Decision& decision) {
  decision.actions.clear();
  decision.search_action = -1;
  SearchGraph& graph = solver_->graph();
  if (graph.is_terminal(state) || !graph.is_expanded(state)) return;
  std::unordered_map<ActionId, ActionReport> known;
  const std::span<const Puct::ChoiceNode> nodes = tree_ ? tree_->choice_nodes(state) : std::span<const Puct::ChoiceNode>{};
  const ActionId best = solver_->greedy_action(state);
  SearchGraph::Choices all = graph.choices(state);
  std::size_t number = 0;
  for (SearchGraph::Choice choice; all.next(choice); ++number) {
    ActionReport& report = known[choice.action];
    report.value = tree_ && !nodes.empty() ? tree_->q_value(state, number, choice) : graph.q_value(choice);
    if (nodes.empty()) continue;
    report.prior = nodes[number].prior;
    report.visits = nodes[number].visits;
  }
  for (const ActionId action : allowed) {
    const auto found = known.find(action);
    if (found == known.end()) continue;  // It changes nothing.
    decision.actions.push_back(found->second);
    decision.actions.back().action = action;
  }
  // The planner's own choice comes first, if it is allowed.
  std::stable_sort(decision.actions.begin(), decision.actions.end(), [&](const ActionReport& a, const ActionReport& b) {
    if ((a.action == best) != (b.action == best)) return a.action == best;
    return a.value < b.value;
  });
  if (decision.actions.empty()) return;
  decision.search_action = decision.actions.front().action;
  decision.value = graph.value(state);
}

bool PlannerSearch::is_as_good(StateId state, ActionId action) const {
  const SearchGraph& graph = solver_->graph();
  SearchGraph::Choices all = graph.choices(state);
  for (SearchGraph::Choice choice; all.next(choice);) {
    if (choice.action != action) continue;
    // Of states that are not solved, values are lower bounds only.
    const bool is_known = std::all_of(choice.successors, choice.successors + choice.size(),
                                      [&](StateId successor) { return solver_->is_solved(successor); });
    return is_known && graph.q_value(choice) <= graph.value(state) + options_.solver.epsilon;
  }
  return false;
}

void PlannerSearch::guard(StateId state, const Word* words, ActionId preferred, StepClock& clock, Decision& decision) {
  const auto take_policy = [&](Reason reason) {
    decision.action = preferred;
    decision.decider = Decider::kPolicy;
    decision.reason = reason;
  };
  const bool is_solved = solver_->is_solved(state);
  if (is_solved && solver_->finds_optimum()) {
    decision.reason = Reason::kProved;
    if (is_as_good(state, preferred)) take_policy(Reason::kProved);
    return;
  }
  plan_is_better_.fade(kFading);
  policy_is_better_.fade(kFading);
  const RandomStream of_step = random_.split(2 * step_);
  std::size_t pairs = 0;
  std::size_t policy_goals = 0;
  const double needed = 1 / options_.error_rate;
  for (std::size_t next = 0;;) {
    const std::size_t count = clock.allows(2 * kPairs) / 2;
    if (count == 0) break;
    jobs_.clear();
    for (std::size_t i = 0; i < count; ++i) jobs_.push_back({words, preferred, of_step.split(next + i)});
    const std::vector<Rollout>& of_policy = rollouts_->run(jobs_, clock.deadline());
    clock.spend(2 * count);
    for (std::size_t i = 0; i < count; ++i) {
      if (!of_policy[i].has_ended) continue;
      // A table that is solved knows what its policy is worth.
      const Rollout of_plan = is_solved ? Rollout{decision.value, true, true}
                                        : plan_runner_->run(words, decision.search_action, of_step.split(next + i),
                                                            clock.deadline());
      if (!of_plan.has_ended) continue;
      ++pairs;
      decision.rollouts += is_solved ? 1 : 2;
      policy_goals += of_policy[i].reaches_goal;
      if (!of_policy[i].reaches_goal && !of_plan.reaches_goal) continue;
      plan_is_better_.add(of_policy[i].cost, of_plan.cost);
      policy_is_better_.add(of_plan.cost, of_policy[i].cost);
    }
    next += count;
    if (plan_is_better_.value() >= needed || policy_is_better_.value() >= needed) break;
  }
  // A policy that never fails is left only for what is proved or tested to be better; one that does fail, for what looks
  // better.
  const double for_plan = plan_is_better_.value();
  const double for_policy = policy_is_better_.value();
  if (pairs == 0) {
    take_policy(Reason::kNoBudget);
  } else if (for_plan >= needed && for_plan > for_policy) {
    decision.reason = Reason::kTested;
  } else if (policy_goals < pairs && for_policy < kTrusted) {
    decision.reason = Reason::kPolicyFails;
  } else {
    take_policy(Reason::kNotBetter);
  }
}

}  // namespace asnets
