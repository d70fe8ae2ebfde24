#include "search/solver.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <unordered_map>

#include "search/cg_ilao_star.hpp"
#include "search/ilao_star.hpp"
#include "search/lrtdp.hpp"
#include "search/ssipp.hpp"
#include "search/value_iteration.hpp"

namespace asnets {

namespace {

constexpr double kRounding = 1e-9;

}  // namespace

Solver::Solver(const Task& task, const SuccessorGenerator& generator, const SolverSettings& settings)
    : task_(task),
      generator_(generator),
      epsilon_(settings.epsilon),
      heuristic_(make_heuristic(settings.heuristic, task)),
      graph_(task, generator, *heuristic_, settings.penalty, statistics_),
      random_(settings.seed, 0) {}

Status Solver::solve(StateId state, const SearchLimits& limits, const Poll& poll) {
  if (is_solved(state)) return Status::kConverged;
  Budget budget(limits, statistics_, poll);
  Status status = Status::kConverged;
  try {
    do {
      search(state, budget);
    } while (!heuristic_->is_admissible() && is_solved(state) && reopen_stale(state, budget));
  } catch (const SearchStopped& stopped) {
    status = stopped.status;
  }
  budget.record();
  return status;
}

std::pair<SearchGraph::Backup, double> Solver::update(StateId state) {
  const SearchGraph::Backup backup = graph_.evaluate(state);
  const double residual = std::abs(backup.value - graph_.value(state));
  graph_.set_value(state, backup.value);
  return {backup, residual};
}

StateId Solver::sample(const SearchGraph::Backup& backup) {
  double draw = random_.uniform();
  std::size_t i = 0;
  for (; i + 1 < backup.size() && draw >= backup.distribution->probabilities[i]; ++i) {
    draw -= backup.distribution->probabilities[i];
  }
  return backup.successors[i];
}

ActionId Solver::greedy_action(StateId state) {
  if (graph_.is_terminal(state)) return -1;
  ensure_expanded(state);
  return policy_choice(state).action;
}

SearchGraph::Backup Solver::policy_choice(StateId state) {
  if (!is_solved(state)) return best_choice(state);
  SearchGraph::Backup closest{graph_.penalty()};
  double distance = std::abs(graph_.penalty() - graph_.value(state));  // Of giving up.
  SearchGraph::Choices all = graph_.choices(state);
  for (SearchGraph::Choice choice; all.next(choice);) {
    const StateId* const end = choice.successors + choice.size();
    if (!std::all_of(choice.successors, end, [&](StateId successor) { return is_solved(successor); })) continue;
    const double q = graph_.q_value(choice);
    if (std::abs(q - graph_.value(state)) >= distance) continue;
    distance = std::abs(q - graph_.value(state));
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
      const SearchGraph::Backup backup = policy_choice(state);
      const double best = graph_.evaluate(state).value;
      if (std::abs(best - graph_.value(state)) > epsilon_ * (1 + kRounding)) {
        stale = true;
        graph_.set_value(state, best);
      }
      for (std::size_t s = 0; s < backup.size(); ++s) {
        if (graph_.is_marked(backup.successors[s], SearchGraph::kVisited)) continue;
        graph_.mark(backup.successors[s], SearchGraph::kVisited);
        states.push_back(backup.successors[s]);
      }
    }
  } catch (...) {
    forget();
    throw;
  }
  forget();
  if (!stale) return false;
  // Policies of other solved states may lead here as well.
  for (StateId state = 0; state < graph_.size(); ++state) graph_.unmark(state, SearchGraph::kSolved);
  on_reopened();
  return true;
}

std::vector<StateId> Solver::collect_envelope(StateId state, std::uint8_t mark) {
  if (graph_.is_marked(state, mark)) return {};
  std::vector<StateId> states{state};
  graph_.mark(state, mark);
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (graph_.is_terminal(states[i])) continue;
    ensure_expanded(states[i]);
    const SearchGraph::Backup backup = policy_choice(states[i]);
    for (std::size_t s = 0; s < backup.size(); ++s) {
      if (graph_.is_marked(backup.successors[s], mark)) continue;
      graph_.mark(backup.successors[s], mark);
      states.push_back(backup.successors[s]);
    }
  }
  return states;
}

std::vector<StateId> Solver::envelope(StateId state) {
  const std::vector<StateId> states = collect_envelope(state, SearchGraph::kVisited);
  for (const StateId each : states) graph_.unmark(each, SearchGraph::kVisited);
  return states;
}

std::vector<StateId> Solver::new_envelope(StateId state) { return collect_envelope(state, SearchGraph::kGiven); }

Solver::QValues Solver::q_values(StateId state, const SearchLimits& limits, const Poll& poll) {
  QValues result;
  if (graph_.is_goal(state)) return result;
  ActionList applicable;
  std::vector<std::int32_t> stack;
  generator_.applicable(graph_.table().state(state), applicable, stack);
  result.actions.assign(applicable.actions().begin(), applicable.actions().end());
  std::sort(result.actions.begin(), result.actions.end());
  ensure_expanded(state);
  result.status = solve(state, limits, poll);
  SearchGraph::Choices all = graph_.choices(state);
  for (SearchGraph::Choice choice; all.next(choice);) {
    for (std::size_t s = 0; s < choice.size() && result.status == Status::kConverged; ++s) {
      result.status = solve(choice.successors[s], limits, poll);
    }
  }
  const double value = graph_.value(state);
  std::unordered_map<ActionId, double> changing;
  all = graph_.choices(state);
  for (SearchGraph::Choice choice; all.next(choice);) {
    // Undo the repetition: Q(s, a) = P(stay) V(s) + P(leave) Q of leaving.
    const double leaves = 1 / choice.distribution->repetitions;
    changing[choice.action] = (1 - leaves) * value + leaves * graph_.q_value(choice);
  }
  for (const ActionId action : result.actions) {
    const auto found = changing.find(action);
    result.values.push_back(found == changing.end() ? task_.cost(action) + value : found->second);
  }
  return result;
}

Episode Solver::run_episode(RandomStream random, std::int64_t max_steps, const Poll& poll) {
  class SolverPolicy final : public Policy {
   public:
    SolverPolicy(Solver& solver, const Poll& stop) : solver_(solver), poll_(stop) {}
    ActionId choose(const Word* state, RandomStream&) override {
      return solver_.policy_action(solver_.graph_.add(state), poll_);
    }

   private:
    Solver& solver_;
    const Poll& poll_;
  };
  SolverPolicy policy(*this, poll);
  Sampler sampler(task_);
  std::vector<Word> state;
  try {
    return asnets::run_episode(
        task_, policy, sampler, random, max_steps, state, [](const std::vector<Word>&, ActionId) {}, poll);
  } catch (const SearchStopped&) {
    Episode interrupted;
    interrupted.ending = Ending::kInterrupted;
    return interrupted;
  }
}

std::unique_ptr<Solver> make_solver(const std::string& name, const Task& task, const SuccessorGenerator& generator,
                                    const SolverSettings& settings) {
  if (name == "vi") return std::make_unique<ValueIteration>(task, generator, settings);
  if (name == "lrtdp") return std::make_unique<Lrtdp>(task, generator, settings);
  if (name == "ilao") return std::make_unique<IlaoStar>(task, generator, settings);
  if (name == "cgilao") return std::make_unique<CgIlaoStar>(task, generator, settings);
  if (name == "ssipp") return std::make_unique<Ssipp>(task, generator, settings);
  throw std::invalid_argument("unknown planner: " + name);
}

}  // namespace asnets
