#include "online/planner_search.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "interruption.hpp"
#include "online/tree_report.hpp"

namespace asnets {

PlannerSearch::PlannerSearch(const Task& task, const SuccessorGenerator& generator, PolicyFactory policy,
                             DetectorFactory detector, const PlannerSearchOptions& options)
    : task_(task),
      generator_(generator),
      planner_(find_planner(options.planner)),
      options_(options),
      most_cost_(kMostCost * options.solver.penalty),
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
  policy_runs_ = policy_failures_ = compared_policy_failures_ = compared_plan_failures_ = 0;
  probe_.reset();
}

void PlannerSearch::make_solver(const Word* state) {
  SolverConfig config = options_.solver;
  config.seed = random_.split(2 * step_ + 1).bits();
  tree_ = nullptr;
  if (options_.planner == "puct") {
    has_rollout_leaves_ = rollouts_ != nullptr && options_.leaves != Leaves::kHeuristic;
    if (has_rollout_leaves_ && options_.leaves == Leaves::kAuto) has_rollout_leaves_ = reaches_goals(state);
    auto tree = std::make_unique<Puct>(
        task_, generator_, config,
        PuctOptions{nullptr, has_rollout_leaves_ ? rollouts_.get() : nullptr});
    tree_ = tree.get();
    solver_ = std::move(tree);
  } else {
    config.keeps_upper = true;
    solver_ = planner_.make(task_, generator_, config);
  }
}

bool PlannerSearch::reaches_goals(const Word* state) {
  const StepClock clock(options_.budget, kFirstShare);
  const RandomStream stream = random_.split(2 * step_ + 1).split(1);
  jobs_.clear();
  for (std::size_t i = 0; i < kFirstRollouts; ++i) jobs_.push_back({state, -1, stream.split(i)});
  const std::vector<Rollout>& results = rollouts_->run(jobs_, clock.deadline());
  const auto goals = std::count_if(results.begin(), results.end(), [](const Rollout& r) { return r.reaches_goal; });
  return static_cast<double>(goals) >= kMostGoals * static_cast<double>(results.size());
}

void PlannerSearch::decide(const Word* state, std::span<const ActionId> allowed, ActionId preferred,
                           Decision& decision) {
  StepClock clock(options_.budget, 1);
  if (solver_ == nullptr || solver_->graph().size() > kMostStates) make_solver(state);
  const bool has_choice = preferred >= 0 && rollouts_ != nullptr;
  of_step_ = random_.split(2 * step_);
  of_policy_.clear();
  decision.rollouts = 0;
  if (has_choice) ask_policy(state, preferred, clock, decision);
  const StateId id = solver_->graph().add(state);
  // Where the policy is known to fail, nearly all is the search's.
  if (tree_ != nullptr) tree_->set_prior(has_choice && !policy_fails() ? &rollouts_->policy() : nullptr);
  search(id, has_choice ? share_of_search(clock) : 1, decision);
  clock.spend(decision.simulations);
  // Who decides alone knows one step at least, however little time there was.
  if (!has_choice && !solver_->graph().is_terminal(id) && !solver_->graph().is_expanded(id)) solver_->graph().expand(id);
  report(id, allowed, decision);
  ++step_;
  decision.decider = is_optimal(id, decision.search_action) ? Decider::kPlanner : Decider::kSearch;
  decision.reason = Reason::kAlone;
  decision.action = decision.search_action;
  if (!has_choice) return;
  if (decision.search_action < 0) {
    decision.action = preferred;
    decision.decider = Decider::kPolicy;
    // In a dead end one action is as good as any.
    decision.reason = solver_->graph().is_terminal(id) ? Reason::kProved : Reason::kNoBudget;
  } else if (decision.search_action == preferred) {
    decision.decider = Decider::kPolicy;
    decision.reason = Reason::kAgreed;
  } else {
    guard(id, state, preferred, clock, decision);
  }
}

double PlannerSearch::share_of_search(const StepClock& clock) const {
  const double share = policy_fails() ? 1 - 2 * kFailingShare : kSearchShare;
  if (clock.deadline() == nullptr) return share;
  // A little there is always: a search without any time would be one without a limit.
  return std::max(kLeastShare, std::min(share, kMostOfRest * clock.left() / options_.budget.seconds));
}

void PlannerSearch::search(StateId state, double share, Decision& decision) {
  SearchLimits limits;
  limits.seconds = share * options_.budget.seconds;
  limits.memory = options_.memory;
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
  // Those of the state itself: it may be in a trap that another state represents.
  SearchGraph::Choices all = graph.own_choices(state);
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

void PlannerSearch::describe(const Word* state, Decision& decision) {
  const ActionId always[] = {decision.action, decision.policy_action};
  describe_tree(solver_->graph(), tree_, solver_->graph().add(state), always, decision.tree);
}

bool PlannerSearch::is_optimal(StateId state, ActionId action) {
  return action >= 0 && solver_->finds_optimum() && solver_->is_solved(state) && action == solver_->greedy_action(state);
}

bool PlannerSearch::is_as_good(StateId state, ActionId action) const {
  const SearchGraph& graph = solver_->graph();
  SearchGraph::Choices all = graph.own_choices(state);
  for (SearchGraph::Choice choice; all.next(choice);) {
    if (choice.action != action) continue;
    // To go on within a trap costs nothing, and may be done for ever.
    const bool stays = graph.is_trap(graph.representative(state)) &&
                       std::all_of(choice.successors, choice.successors + choice.size(), [&](StateId successor) {
                         return graph.representative(successor) == graph.representative(state);
                       });
    if (stays) return false;
    // Of states that are not solved, values are lower bounds only.
    const bool is_known = std::all_of(choice.successors, choice.successors + choice.size(),
                                      [&](StateId successor) { return solver_->is_solved(successor); });
    return is_known && graph.q_value(choice) <= graph.value(state) + options_.solver.epsilon;
  }
  return false;
}

bool PlannerSearch::is_proved_better(StateId state, ActionId better, ActionId than) {
  if (!solver_->graph().keeps_upper()) return false;
  const Solver::ActionBounds bounds = solver_->action_bounds(state);
  double upper = kInfinity;
  double lower = 0;
  for (std::size_t i = 0; i < bounds.actions.size(); ++i) {
    if (bounds.actions[i] == better) upper = bounds.upper[i];
    if (bounds.actions[i] == than) lower = bounds.lower[i];
  }
  return upper < lower;
}

void PlannerSearch::ask_policy(const Word* state, ActionId preferred, StepClock& clock, Decision& decision) {
  plan_is_better_.fade(kFading);
  policy_is_better_.fade(kFading);
  policy_runs_ *= kFading;
  policy_failures_ *= kFading;
  compared_policy_failures_ *= kFading;
  compared_plan_failures_ *= kFading;
  StepClock first(options_.budget, policy_fails() ? kFailingShare : policy_runs_ == 0 ? kFirstShare : kRolloutShare);
  if (!run_policy(state, preferred, first, decision) && policy_runs_ < 1 && !policy_fails()) {
    // There is no time for a whole rollout: one goes on from step to step.
    if (probe_ == nullptr) {
      probe_ = rollouts_->make_runner();
      probe_->start(state, preferred, nullptr, of_step_);
      probe_seconds_ = 0;
    }
    const Rollout rollout = probe_->go_on(first.deadline());
    probe_seconds_ += options_.budget.seconds - clock.left();
    if (rollout.has_ended) {
      count_policy(rollout);
      rollout_seconds_ = probe_seconds_;
      probe_.reset();
      ++decision.rollouts;
    }
  }
  clock.spend(first.spent());
}

void PlannerSearch::count_policy(const Rollout& rollout) {
  policy_runs_ += 1;
  policy_failures_ += !rollout.reaches_goal;
}

bool PlannerSearch::run_policy(const Word* state, ActionId preferred, StepClock& clock, Decision& decision) {
  const bool has_clock = clock.deadline() != nullptr;
  if (has_clock && !(rollout_seconds_ > 0 && rollout_seconds_ < clock.left())) return false;
  const double fitting = has_clock ? clock.left() / rollout_seconds_ : kInfinity;
  const std::size_t count = clock.allows(std::min(kPairs, static_cast<std::size_t>(std::min(fitting, 1e6))));
  jobs_.clear();
  for (std::size_t i = 0; i < count; ++i) jobs_.push_back({state, preferred, of_step_.split(of_policy_.size() + i)});
  clock.spend(count);
  decision.rollouts += count;
  const double before = clock.left();
  const std::vector<Rollout>& results = rollouts_->run(jobs_, clock.deadline());
  if (has_clock && count > 0) rollout_seconds_ = (before - clock.left()) / static_cast<double>(count);
  for (const Rollout& rollout : results) {
    if (!rollout.has_ended) return false;
    of_policy_.push_back(rollout);
    count_policy(rollout);
  }
  return count > 0;
}

bool PlannerSearch::compare(const Word* state, std::size_t first, StepClock& clock, Decision& decision) {
  const std::size_t count = clock.allows(of_policy_.size() - first);
  jobs_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    jobs_.push_back({state, decision.search_action, of_step_.split(first + i), &plan_});
  }
  clock.spend(count);
  decision.rollouts += count;
  const std::vector<Rollout>& of_proposal = rollouts_->run(jobs_, clock.deadline());
  for (std::size_t i = 0; i < count; ++i) {
    if (!of_proposal[i].has_ended) return false;
    const Rollout& of_policy = of_policy_[first + i];
    compared_policy_failures_ += !of_policy.reaches_goal;
    compared_plan_failures_ += !of_proposal[i].reaches_goal;
    // Where neither reaches the goal, what was paid on the way says nothing.
    if (!of_policy.reaches_goal && !of_proposal[i].reaches_goal) continue;
    plan_is_better_.add(of_policy.cost, of_proposal[i].cost);
    policy_is_better_.add(of_proposal[i].cost, of_policy.cost);
  }
  return count > 0;
}

void PlannerSearch::guard(StateId state, const Word* words, ActionId preferred, StepClock& clock, Decision& decision) {
  const auto take_policy = [&](Reason reason) {
    decision.action = preferred;
    decision.decider = Decider::kPolicy;
    decision.reason = reason;
  };
  if (is_optimal(state, decision.search_action)) {
    decision.reason = Reason::kProved;
    if (is_as_good(state, preferred)) take_policy(Reason::kProved);
    return;
  }
  if (is_proved_better(state, decision.search_action, preferred)) {
    decision.decider = Decider::kPlanner;
    decision.reason = Reason::kProved;
    return;
  }
  plan_.begin(*solver_);
  const double needed = 1 / options_.error_rate;
  const auto is_decided = [&] {
    return plan_is_better_.value() >= needed || policy_is_better_.value() >= std::max(needed, kTrusted);
  };
  for (std::size_t compared = 0; !is_decided();) {
    if (compared == of_policy_.size() && !run_policy(words, preferred, clock, decision)) break;
    const std::size_t next = of_policy_.size();
    if (!compare(words, compared, clock, decision)) break;
    compared = next;
  }
  const double for_plan = plan_is_better_.value();
  const double for_policy = policy_is_better_.value();
  if (for_plan >= needed && for_plan > for_policy) {
    decision.reason = Reason::kTested;
  } else if ((policy_fails() || plans_fail_no_more()) && for_policy < kTrusted) {
    decision.reason = Reason::kPolicyFails;
  } else {
    take_policy(policy_runs_ == 0 ? Reason::kNoBudget : Reason::kNotBetter);
  }
}

}  // namespace asnets
