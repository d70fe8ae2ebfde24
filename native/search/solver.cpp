#include "search/solver.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "assert.hpp"
#include "heuristics/registry.hpp"
#include "tolerances.hpp"

namespace asnets {

namespace {

// Where penalties are so much larger than costs, the rounding of backups may come to something.
constexpr double kLargePenalty = 1e4;

double least_cost(const Task& task, Objective objective) {
  double least = kInfinity;
  for (std::size_t a = 0; a < task.num_actions(); ++a) least = std::min(least, task.min_cost(static_cast<ActionId>(a)));
  return objective == Objective::kMaxprob ? 0 : least == kInfinity ? 1 : std::max(0.0, least);
}

bool keeps_upper(const Task& task, const SolverConfig& config) {
  const bool earns = config.objective == Objective::kPenalty && task.has_negative_costs();
  return config.keeps_upper && config.objective != Objective::kLexicographic && !earns;
}

}  // namespace

Solver::Solver(const Task& task, const SuccessorGenerator& generator, const SolverConfig& config)
    : task_(task),
      generator_(generator),
      objective_(config.objective),
      target_(config.epsilon),
      epsilon_(config.epsilon),
      // To tell dead ends is all that is asked of it where costs do not count; all heuristics can.
      is_admissible_(config.objective == Objective::kMaxprob || find_heuristic(config.heuristic).is_admissible),
      has_traps_(config.objective == Objective::kMaxprob || task.has_zero_costs()),
      least_cost_(least_cost(task, config.objective)),
      rounds_down_((has_traps_ && is_admissible_) || config.penalty > kLargePenalty * least_cost_),
      heuristic_(find_heuristic(config.heuristic).make(task)),
      graph_(task, generator, *heuristic_, config.objective, config.penalty, rounds_down_,
             keeps_upper(task, config), statistics_),
      random_(config.seed, 0) {}

template <typename Work>
Status Solver::within(const SearchLimits& limits, const Poll& poll, Work&& work) {
  Budget budget(limits, statistics_, poll);
  struct Lent {
    SearchGraph& graph;
    ~Lent() { graph.set_budget(nullptr); }
  } lent{graph_};
  graph_.set_budget(&budget);
  Status status = Status::kConverged;
  try {
    work(budget);
  } catch (const SearchStopped& stopped) {
    status = stopped.status;
  }
  budget.record();
  return status;
}

Status Solver::solve(StateId state, const SearchLimits& limits, const Poll& poll) {
  if (is_solved(state)) return Status::kConverged;
  return within(limits, poll, [&](Budget& budget) { settle(state, budget); });
}

Status Solver::solve_with_bounds(StateId state, const SearchLimits& limits, const Poll& poll, ValueBounds& bounds) {
  const Status status = within(limits, poll, [&](Budget& budget) {
    settle(state, budget);
    certify(state, budget);
  });
  bounds = status == Status::kConverged ? bounds_ : known_bounds(state);
  return status;
}

void Solver::settle(StateId given, Budget& budget) {
  while (!is_solved(given)) {
    const StateId state = graph_.representative(given);
    if (!is_labelled(state)) search(state, budget);
    if (!is_labelled(state)) return;
    if (has_traps_ && eliminate_traps(state, budget)) continue;
    if (!is_admissible_ && reopen_stale(state, budget)) continue;
    return;
  }
}

void Solver::forget_labels() {
  for (StateId state = 0; state < graph_.size(); ++state) graph_.unmark(state, SearchGraph::kSolved);
  fixed_.clear();
  on_reopened();
}

std::pair<SearchGraph::Backup, double> Solver::update(StateId state) {
  const SearchGraph::Backup backup = graph_.evaluate(state);
  const double value = updated(state, backup);
  const double residual = std::abs(value - graph_.value(state));
  graph_.set_value(state, value);
  return {backup, residual};
}

StateId Solver::sample(const SearchGraph::Backup& backup) {
  double draw = random_.uniform();
  std::size_t i = 0;
  for (; i + 1 < backup.size() && draw >= backup.distribution->probabilities[i]; ++i) {
    draw -= backup.distribution->probabilities[i];
  }
  return graph_.successor(backup, i);
}

ActionId Solver::greedy_action(StateId state) {
  if (graph_.is_terminal(state)) return -1;
  ensure_expanded(state);
  return policy_choice(state).action;
}

SearchGraph::Backup Solver::policy_choice(StateId state) {
  const StateId representative = graph_.representative(state);
  const SearchGraph::Backup choice = representative_choice(representative);
  if (choice.action < 0 || !graph_.is_trap(representative)) return choice;
  return graph_.within_trap(state, choice);
}

SearchGraph::Backup Solver::representative_choice(StateId state) {
  if (!is_labelled(state)) return best_choice(state);
  if (has_traps_) {
    if (const auto found = fixed_.find(state); found != fixed_.end()) {
      if (found->second == nullptr) return {graph_.penalty()};
      const SearchGraph::Choice choice = graph_.choice_at(found->second);
      return {graph_.q_value(choice), choice.action, choice.distribution, choice.successors};
    }
  }
  double hope = 0;
  SearchGraph::Backup closest{graph_.penalty()};
  double distance = std::abs(graph_.penalty() - graph_.value(state));  // Of giving up.
  SearchGraph::Choices all = graph_.choices(state);
  for (SearchGraph::Choice choice; all.next(choice);) {
    const StateId* const end = choice.successors + choice.size();
    if (!std::all_of(choice.successors, end, [&](StateId successor) { return is_labelled(graph_.representative(successor)); })) continue;
    const double q = graph_.q_value(choice);
    const double found = std::abs(q - graph_.value(state));
    if (found > distance || (found == distance && (closest.action < 0 || graph_.promise(choice) >= hope))) continue;
    distance = found;
    hope = graph_.promise(choice);
    closest = {q, choice.action, choice.distribution, choice.successors};
  }
  return closest;
}

bool Solver::reopen_stale(StateId root, Budget& budget) {
  std::vector<StateId> states{root};
  bool stale = false;
  graph_.mark(root, SearchGraph::kVisited);
  const auto forget = [&] {
    for (const StateId state : states) graph_.unmark(state, SearchGraph::kVisited);
  };
  try {
    for (std::size_t i = 0; i < states.size(); ++i) {
      budget.tick();
      const StateId state = states[i];
      if (graph_.is_terminal(state)) continue;
      const SearchGraph::Backup backup = representative_choice(state);
      const double best = graph_.evaluate(state).value;
      if (std::abs(best - graph_.value(state)) > epsilon_ * (1 + kResidualRounding)) {
        stale = true;
        graph_.set_value(state, best);
      }
      for (std::size_t s = 0; s < backup.size(); ++s) {
        const StateId successor = graph_.successor(backup, s);
        if (graph_.is_marked(successor, SearchGraph::kVisited)) continue;
        graph_.mark(successor, SearchGraph::kVisited);
        states.push_back(successor);
      }
    }
  } catch (...) {
    forget();
    graph_.unmark(root, SearchGraph::kSolved);  // Or nobody would look again.
    throw;
  }
  forget();
  if (!stale) return false;
  forget_labels();  // Policies of other solved states may lead here as well.
  return true;
}

std::vector<StateId> Solver::collect_envelope(StateId state, std::uint8_t mark, Budget& budget) {
  if (graph_.is_marked(state, mark)) return {};
  std::vector<StateId> states{state};
  graph_.mark(state, mark);
  try {
    for (std::size_t i = 0; i < states.size(); ++i) {
      budget.tick();
      if (graph_.is_terminal(states[i])) continue;
      ensure_expanded(states[i]);
      const SearchGraph::Backup backup = policy_choice(states[i]);
      for (std::size_t s = 0; s < backup.size(); ++s) {
        if (graph_.is_marked(backup.successors[s], mark)) continue;
        graph_.mark(backup.successors[s], mark);
        states.push_back(backup.successors[s]);
      }
    }
  } catch (...) {
    for (const StateId marked : states) graph_.unmark(marked, mark);
    throw;
  }
  return states;
}

Solver::Envelope Solver::envelope(StateId state, const SearchLimits& limits, const Poll& poll) {
  Envelope envelope;
  envelope.status = within(limits, poll, [&](Budget& budget) {
    envelope.states = collect_envelope(state, SearchGraph::kVisited, budget);
    for (const StateId visited : envelope.states) graph_.unmark(visited, SearchGraph::kVisited);
  });
  return envelope;
}

Solver::Envelope Solver::new_envelope(StateId state, const SearchLimits& limits, const Poll& poll) {
  Envelope envelope;
  envelope.status = within(limits, poll, [&](Budget& budget) {
    envelope.states = collect_envelope(state, SearchGraph::kGiven, budget);
  });
  return envelope;
}

std::vector<ActionId> Solver::applicable_actions(StateId state) const {
  ActionList applicable;
  std::vector<std::int32_t> stack;
  generator_.applicable(graph_.table().state(state), applicable, stack);
  std::vector<ActionId> actions(applicable.actions().begin(), applicable.actions().end());
  std::sort(actions.begin(), actions.end());
  return actions;
}

Solver::QValues Solver::q_values(StateId state, const SearchLimits& limits, const Poll& poll) {
  QValues result;
  if (graph_.is_goal(state)) return result;
  result.actions = applicable_actions(state);
  result.status = within(limits, poll, [&](Budget& budget) {
    ensure_expanded(state);
    settle(state, budget);
    SearchGraph::Choices all = graph_.own_choices(state);
    for (SearchGraph::Choice choice; all.next(choice);) {
      for (std::size_t s = 0; s < choice.size(); ++s) {
        budget.tick();
        settle(choice.successors[s], budget);
      }
    }
  });
  if (!graph_.is_expanded(state)) {
    result.actions.clear();  // Nothing is known about them.
    return result;
  }
  const double value = graph_.value(state);
  std::unordered_map<ActionId, double> changing;
  SearchGraph::Choices all = graph_.own_choices(state);
  for (SearchGraph::Choice choice; all.next(choice);) {
    // Undo the repetition: Q(s, a) = P(stay) V(s) + P(leave) Q of leaving.
    const double leaves = 1 / choice.distribution->repetitions;
    changing[choice.action] =
        is_allowed(state, choice) ? (1 - leaves) * value + leaves * graph_.q_value(choice) : kInfinity;
  }
  const auto stay_cost = [&](ActionId action) {
    return objective_ == Objective::kMaxprob ? 0 : task_.cost(action, graph_.table().state(state));
  };
  for (const ActionId action : result.actions) {
    const auto found = changing.find(action);
    result.values.push_back(found == changing.end() ? stay_cost(action) + value : found->second);
  }
  return result;
}

Episode Solver::run_episode(RandomStream random, std::int64_t max_steps, DeadEndDetector* detector,
                            const Poll& poll) {
  class SolverPolicy final : public Policy {
   public:
    SolverPolicy(Solver& solver, Budget& budget) : solver_(solver), budget_(budget) {}
    ActionId choose(const Word* state, RandomStream&) override {
      return solver_.policy_action(solver_.graph_.add(state), budget_);
    }
    void distribution(const Word* state, ActionDistribution& result) override {
      result.clear();
      const ActionId action = solver_.policy_action(solver_.graph_.add(state), budget_);
      if (action >= 0) result.add(action, 1);
    }

   private:
    Solver& solver_;
    Budget& budget_;
  };
  EpisodeRun run(task_, random, max_steps);
  const Status status = within({}, poll, [&](Budget& budget) {
    SolverPolicy policy(*this, budget);
    Sampler sampler(task_);
    asnets::run_episode(run, policy, sampler, detector, [](const std::vector<Word>&, ActionId) {});
  });
  Episode episode = run.result();
  if (status != Status::kConverged) episode.ending = Ending::kInterrupted;
  return episode;
}

}  // namespace asnets
