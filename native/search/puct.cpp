#include "search/puct.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace asnets {

Puct::Puct(const Task& task, const SuccessorGenerator& generator, const SolverConfig& config,
           const PuctOptions& options)
    : Solver(task, generator, config), options_(options), rollout_stream_(RandomStream(config.seed, 0).split(1)) {
  is_optimal_ = has_traps_ = false;
}

std::span<const Puct::ChoiceNode> Puct::choice_nodes(StateId state) const {
  if (!is_in_tree(state)) return {};
  const Node& node = nodes_[node_of_[state]];
  return {choice_nodes_.data() + node.first, node.count};
}

double Puct::q_value(StateId state, std::size_t number, const SearchGraph::Choice& choice) const {
  if (!has_rollouts()) return graph_.q_value(choice);
  const ChoiceNode& known = choice_nodes_[nodes_[node_of_[state]].first + number];
  return known.visits == 0 ? graph_.value(state) : known.total / known.visits;
}

void Puct::search(StateId root, Budget& budget) {
  batch_.resize(has_rollouts() ? kBatch : 1);
  while (!is_labelled(root)) {
    for (Simulation& simulation : batch_) simulation.steps.clear();
    try {
      run_batch(root, budget);
    } catch (...) {
      // Visits were counted on the way down.
      for (const Simulation& simulation : batch_) {
        for (const Step& step : simulation.steps) count_visit(step, -1);
      }
      throw;
    }
    if (statistics_.trials >= next_close_) {
      next_close_ *= 2;
      if (close(root, budget)) return;
    }
  }
}

void Puct::run_batch(StateId root, Budget& budget) {
  std::size_t count = 0;
  for (; count < batch_.size(); ++count) {
    try {
      budget.start_trial();
    } catch (const SearchStopped&) {
      if (count == 0) throw;
      break;  // What is left of the budget is a smaller batch.
    }
    simulate(root, batch_[count], budget);
  }
  jobs_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    if (!batch_[i].runs) continue;
    jobs_.push_back({graph_.table().state(batch_[i].leaf), -1, rollout_stream_.split(num_rollouts_++)});
  }
  const std::vector<Rollout>* results = jobs_.empty() ? nullptr : &options_.rollouts->run(jobs_, nullptr);
  for (std::size_t i = 0, job = 0; i < count; ++i) {
    back_up(batch_[i], batch_[i].runs ? (*results)[job++].cost : graph_.value(batch_[i].leaf));
  }
}

void Puct::count_visit(const Step& step, int change) {
  Node& node = nodes_[node_of_[step.state]];
  node.visits += static_cast<std::uint32_t>(change);
  choice_nodes_[node.first + step.number].visits += static_cast<std::uint32_t>(change);
}

void Puct::add_node(StateId state) {
  ensure_expanded(state);
  if (graph_.is_dead(state)) return;  // Without any action.
  Node node{choice_nodes_.size(), 0};
  SearchGraph::Choices all = graph_.choices(state);
  for (SearchGraph::Choice choice; all.next(choice); ++node.count) choice_nodes_.push_back({choice.action, 0});
  for (std::size_t i = 0; i < node.count; ++i) {
    choice_nodes_[node.first + i].prior = 1 / static_cast<double>(node.count);
  }
  node_of_.resize(graph_.size(), kNoNode);
  node_of_[state] = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(node);
}

void Puct::ask_prior(StateId state) {
  const Node& node = nodes_[node_of_[state]];
  options_.prior->preferences(graph_.table().state(state), prior_);
  std::unordered_map<ActionId, double> given;
  for (std::size_t i = 0; i < prior_.actions.size(); ++i) given[prior_.actions[i]] = prior_.probabilities[i];
  double total = 0;
  for (std::size_t i = 0; i < node.count; ++i) total += given[choice_nodes_[node.first + i].action];
  if (total == 0) return;
  for (std::size_t i = 0; i < node.count; ++i) {
    ChoiceNode& choice = choice_nodes_[node.first + i];
    choice.prior = (1 - kUniformShare) * given[choice.action] / total + kUniformShare * choice.prior;
  }
  nodes_[node_of_[state]].has_prior = true;
}

void Puct::simulate(StateId state, Simulation& simulation, Budget& budget) {
  simulation.steps.clear();
  simulation.runs = false;
  for (;;) {
    budget.tick();
    simulation.leaf = state;
    if (is_labelled(state)) return;
    if (!is_in_tree(state)) {
      add_node(state);
      simulation.runs = has_rollouts() && !graph_.is_dead(state);
      if (!simulation.runs && !graph_.is_dead(state)) update(state);
      return;
    }
    if (simulation.steps.size() == kMostSteps) {
      // So long a way is one in circles: perhaps there is no way out.
      if (!graph_.close_trap(state, simulation.steps.size(), budget)) simulation.runs = has_rollouts();
      return;
    }
    const bool asks = options_.prior != nullptr && nodes_[node_of_[state]].visits >= kPriorVisits;
    if (asks && !nodes_[node_of_[state]].has_prior) ask_prior(state);
    SearchGraph::Choice choice;
    const std::size_t number = select(nodes_[node_of_[state]], state, choice);
    simulation.steps.push_back({state, number, choice.distribution->cost});
    count_visit(simulation.steps.back(), 1);
    if (has_rollouts()) {
      // All outcomes count in a mean, those that are decided too.
      state = sample({0, choice.action, choice.distribution, choice.successors});
    } else if (!draw_outcome(choice, state)) {
      return;
    }
  }
}

std::size_t Puct::select(const Node& node, StateId state, SearchGraph::Choice& selected) const {
  const double exploration = graph_.value(state) * std::sqrt(static_cast<double>(node.visits) + 1);
  SearchGraph::Choices all = graph_.choices(state);
  std::size_t best = 0;
  double least = kInfinity;
  std::size_t number = 0;
  for (SearchGraph::Choice choice; all.next(choice); ++number) {
    const ChoiceNode& known = choice_nodes_[node.first + number];
    // Cut before anything else: certain dead ends.
    const bool is_dead = std::all_of(choice.successors, choice.successors + choice.size(),
                                     [&](StateId successor) { return graph_.is_dead(successor); });
    double score = q_value(state, number, choice);
    score = is_dead ? graph_.penalty() + score : score - exploration * known.prior / (1 + known.visits);
    if (score >= least && number > 0) continue;
    least = score;
    best = number;
    selected = choice;
  }
  return best;
}

bool Puct::draw_outcome(const SearchGraph::Choice& choice, StateId& outcome) {
  double total = 0;
  for (std::size_t i = 0; i < choice.size(); ++i) {
    if (!is_labelled(choice.successors[i])) total += choice.distribution->probabilities[i];
  }
  if (total == 0) return false;
  double draw = random_.uniform() * total;
  for (std::size_t i = 0; i < choice.size(); ++i) {
    if (is_labelled(choice.successors[i])) continue;
    outcome = choice.successors[i];
    draw -= choice.distribution->probabilities[i];
    if (draw < 0) break;
  }
  return true;
}

void Puct::back_up(const Simulation& simulation, double cost) {
  if (simulation.runs && nodes_[node_of_[simulation.leaf]].visits == 0) {
    graph_.set_value(simulation.leaf, std::min(cost, graph_.penalty()));
  }
  for (std::size_t i = simulation.steps.size(); i-- > 0;) {
    const Step& step = simulation.steps[i];
    if (!has_rollouts()) {
      update(step.state);
      continue;
    }
    cost += step.cost;
    choice_nodes_[nodes_[node_of_[step.state]].first + step.number].total += cost;
    graph_.set_value(step.state, std::min(best_choice(step.state).value, graph_.penalty()));
  }
}

SearchGraph::Backup Puct::best_choice(StateId state) {
  if (!has_rollouts() || !is_in_tree(state) || nodes_[node_of_[state]].visits == 0 || is_labelled(state)) {
    return graph_.evaluate(state);
  }
  // The choice that was tried most often; of several, the one with the lower mean.
  SearchGraph::Backup best{kInfinity};
  std::uint32_t most = 0;
  SearchGraph::Choices all = graph_.choices(state);
  std::size_t number = 0;
  for (SearchGraph::Choice choice; all.next(choice); ++number) {
    const ChoiceNode& known = choice_nodes_[nodes_[node_of_[state]].first + number];
    if (known.visits == 0 || known.visits < most) continue;
    const double mean = known.total / known.visits;
    if (known.visits == most && mean >= best.value) continue;
    most = known.visits;
    best = {mean, choice.action, choice.distribution, choice.successors};
  }
  return best;
}

std::optional<std::vector<StateId>> Puct::reachable(StateId root, bool expands, Budget& budget) {
  std::vector<StateId> states{root};
  std::vector<bool> is_seen(graph_.size(), false);
  is_seen[root] = true;
  std::size_t missing = 0;
  for (std::size_t i = 0; i < states.size(); ++i) {
    budget.tick();
    if (is_labelled(states[i])) continue;
    if (!graph_.is_expanded(states[i])) {
      if (++missing > statistics_.trials / kTrialsToMissing) return std::nullopt;
      if (!expands) continue;
      graph_.expand(states[i]);
      is_seen.resize(graph_.size(), false);
      if (is_labelled(states[i])) continue;
    }
    SearchGraph::Choices all = graph_.choices(states[i]);
    for (SearchGraph::Choice choice; all.next(choice);) {
      for (std::size_t s = 0; s < choice.size(); ++s) {
        const StateId successor = choice.successors[s];
        if (is_seen[successor]) continue;
        is_seen[successor] = true;
        states.push_back(successor);
      }
    }
  }
  return states;
}

bool Puct::close(StateId root, Budget& budget) {
  // Looks first, so that where too many are missing, none of them is expanded in vain.
  if (!reachable(root, false, budget)) return false;
  const std::optional<std::vector<StateId>> found = reachable(root, true, budget);
  if (!found) return false;
  const std::vector<StateId>& states = *found;
  // From which of them a goal can be reached, to a fixpoint; the others are dead ends.
  std::vector<bool> reaches(graph_.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = states.size(); i-- > 0;) {
      budget.tick();
      const StateId state = states[i];
      if (reaches[state] || graph_.is_dead(state)) continue;
      reaches[state] = is_labelled(state);
      if (!reaches[state]) {
        SearchGraph::Choices all = graph_.choices(state);
        for (SearchGraph::Choice choice; !reaches[state] && all.next(choice);) {
          for (std::size_t s = 0; s < choice.size() && !reaches[state]; ++s) reaches[state] = reaches[choice.successors[s]];
        }
      }
      changed |= reaches[state];
    }
  }
  for (const StateId state : states) {
    if (!reaches[state] && !graph_.is_dead(state)) graph_.mark_dead(state);
  }
  for (double residual = kInfinity; residual > epsilon_;) {
    residual = 0;
    for (std::size_t i = states.size(); i-- > 0;) {
      budget.tick();
      if (!is_labelled(states[i])) residual = std::max(residual, update(states[i]).second);
    }
  }
  for (const StateId state : states) {
    if (!graph_.is_terminal(state)) graph_.mark(state, SearchGraph::kSolved);
  }
  return true;
}

}  // namespace asnets
