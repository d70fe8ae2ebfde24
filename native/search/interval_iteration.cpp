#include "search/interval_iteration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "assert.hpp"

namespace asnets {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::size_t kGainSweeps = 20000;

// The model with zero-cost end components as single nodes.
struct Quotient {
  SparseModel model;
  std::vector<std::size_t> origin;  // Of each choice: that of the model.
  std::vector<std::uint32_t> owner;  // Of each choice: its state in the model.
  std::vector<std::uint32_t> node;  // Of each state.
  std::vector<std::vector<std::uint32_t>> members;
};

class Iteration {
 public:
  Iteration(IntervalProblem& problem, const Tick& tick) : problem_(problem), model_(*problem.model), tick_(tick) {}

  void run() {
    make_quotient();
    lower_.assign(quotient_.model.size(), 0);
    upper_.assign(quotient_.model.size(), 0);
    for (std::size_t i = 0; i < quotient_.model.cost.size(); ++i) has_negative_ |= quotient_.model.cost[i] < 0;
    if (has_negative_) refuse_earning_components();
    const Components components = strong_components(quotient_.model, {}, tick_);
    std::vector<std::vector<std::uint32_t>> nodes(components.count);
    for (std::uint32_t node = 0; node < quotient_.model.size(); ++node) nodes[components.of[node]].push_back(node);
    // How many components with cycles there are on a way: each may add to the width.
    std::vector<std::size_t> depth(components.count, 0);
    std::size_t deepest = 1;
    for (std::uint32_t c = 0; c < components.count; ++c) {
      for_transitions(nodes[c], [&](std::uint32_t successor) { depth[c] = std::max(depth[c], depth[components.of[successor]]); });
      depth[c] += nodes[c].size() > 1 ? 1 : 0;
      deepest = std::max(deepest, depth[c]);
    }
    slack_ = problem_.epsilon / (2 * static_cast<double>(deepest));
    for (std::uint32_t c = 0; c < components.count; ++c) {
      if (nodes[c].size() == 1) {
        solve_single(nodes[c].front());
      } else {
        solve_component(nodes[c], c, components.of);
      }
    }
    write_back();
  }

 private:
  bool is_allowed(std::size_t choice) const { return problem_.allowed.empty() || problem_.allowed[choice]; }
  double cost(std::size_t choice) const { return problem_.ignores_costs ? 0 : model_.cost[choice]; }
  bool is_fixed_node(std::uint32_t node) const { return problem_.fixed[quotient_.members[node].front()]; }

  template <typename Visit>
  void for_transitions(const std::vector<std::uint32_t>& nodes, Visit&& visit) const {
    const SparseModel& q = quotient_.model;
    for (const std::uint32_t node : nodes) {
      const std::size_t end = q.first_transition[q.first_choice[node + 1]];
      for (std::size_t t = q.first_transition[q.first_choice[node]]; t < end; ++t) visit(q.successors[t]);
    }
  }

  void make_quotient() {
    const std::size_t n = model_.size();
    std::vector<bool> free(model_.num_choices());
    for (std::size_t state = 0; state < n; ++state) {
      for (std::size_t c = model_.first_choice[state]; c < model_.first_choice[state + 1]; ++c) {
        free[c] = !problem_.fixed[state] && is_allowed(c) && cost(c) == 0;
      }
    }
    free_ = end_components(model_, std::move(free), tick_);
    quotient_.node.assign(n, 0);
    std::vector<std::uint32_t> node_of(free_.count, kNoComponent);
    for (std::uint32_t state = 0; state < n; ++state) {
      const std::uint32_t component = free_.of[state];
      if (component != kNoComponent && node_of[component] != kNoComponent) {
        quotient_.node[state] = node_of[component];
        quotient_.members[node_of[component]].push_back(state);
        continue;
      }
      quotient_.node[state] = static_cast<std::uint32_t>(quotient_.members.size());
      if (component != kNoComponent) node_of[component] = quotient_.node[state];
      quotient_.members.push_back({state});
    }
    std::unordered_map<std::uint32_t, double> sums;
    std::vector<std::uint32_t> order;
    for (std::uint32_t node = 0; node < quotient_.members.size(); ++node) {
      for (const std::uint32_t state : quotient_.members[node]) {
        if (problem_.fixed[state]) continue;
        for (std::size_t c = model_.first_choice[state]; c < model_.first_choice[state + 1]; ++c) {
          if (!is_allowed(c)) continue;
          tick_();
          sums.clear();
          order.clear();
          bool stays = false;
          for (std::size_t t = model_.first_transition[c]; t < model_.first_transition[c + 1]; ++t) {
            const std::uint32_t successor = quotient_.node[model_.successors[t]];
            if (successor == node) {
              stays = true;
              continue;
            }
            const auto [entry, is_new] = sums.try_emplace(successor, 0.0);
            entry->second += model_.probabilities[t];
            if (is_new) order.push_back(successor);
          }
          if (order.empty()) {
            if (cost(c) < 0) throw UnboundedValue{state, c, true};
            continue;
          }
          double leaves = 0;
          for (const std::uint32_t successor : order) leaves += sums[successor];
          for (const std::uint32_t successor : order) {
            quotient_.model.add_transition(successor, stays ? sums[successor] / leaves : sums[successor]);
          }
          quotient_.model.end_choice(stays ? cost(c) / leaves : cost(c));
          cost_error_ = std::max(cost_error_, problem_.cost_error * (1 + kInputRounding) / (stays ? leaves : 1));
          quotient_.origin.push_back(c);
          quotient_.owner.push_back(state);
        }
      }
      quotient_.model.end_state();
    }
  }

  // End components of the quotient with a choice that earns something.
  void refuse_earning_components() {
    const SparseModel& q = quotient_.model;
    all_ = end_components(q, std::vector<bool>(q.num_choices(), true), tick_);
    std::vector<std::vector<std::uint32_t>> nodes(all_.count);
    for (std::uint32_t node = 0; node < q.size(); ++node) {
      if (all_.of[node] != kNoComponent) nodes[all_.of[node]].push_back(node);
    }
    for (const std::vector<std::uint32_t>& component : nodes) {
      std::size_t earning = kNoChoice;
      bool pays = false;
      for (const std::uint32_t node : component) {
        for (std::size_t c = q.first_choice[node]; c < q.first_choice[node + 1]; ++c) {
          if (!all_.inner[c]) continue;
          if (q.cost[c] < 0 && (earning == kNoChoice || q.cost[c] < q.cost[earning])) earning = c;
          pays |= q.cost[c] > 0;
        }
      }
      if (earning == kNoChoice) continue;
      throw UnboundedValue{quotient_.owner[earning], quotient_.origin[earning], !pays || loses_on_average(component)};
    }
  }

  // Whether the least mean cost of a step is certainly negative: it is at most the greatest increase of a backup, whatever
  // the values are. Half of each step is a rest, so that periods do not matter.
  bool loses_on_average(const std::vector<std::uint32_t>& component) {
    const SparseModel& q = quotient_.model;
    std::unordered_map<std::uint32_t, double> value;
    std::unordered_map<std::uint32_t, double> next;
    for (const std::uint32_t node : component) value[node] = 0;
    for (std::size_t sweep = 0; sweep < kGainSweeps; ++sweep) {
      double greatest = -kInfinite;
      double least = kInfinite;
      double scale = 0;
      for (const std::uint32_t node : component) {
        tick_();
        double best = kInfinite;
        for (std::size_t c = q.first_choice[node]; c < q.first_choice[node + 1]; ++c) {
          if (!all_.inner[c]) continue;
          double sum = q.cost[c];
          for (std::size_t t = q.first_transition[c]; t < q.first_transition[c + 1]; ++t) {
            sum += q.probabilities[t] * value[q.successors[t]];
          }
          best = std::min(best, sum);
        }
        greatest = std::max(greatest, best - value[node]);
        least = std::min(least, best - value[node]);
        scale = std::max(scale, std::abs(best) + std::abs(value[node]));
        next[node] = (best + value[node]) / 2;
      }
      if (greatest < -1e-9 * std::max(1.0, scale)) return true;
      if (least > 1e-9 * std::max(1.0, scale)) return false;
      value.swap(next);
    }
    return false;
  }

  struct Bounds {
    double lower;
    double upper;
  };

  Bounds bounds_of(std::size_t choice) const {
    const SparseModel& q = quotient_.model;
    double lower = q.cost[choice];
    double upper = q.cost[choice];
    double size_lower = std::abs(lower);
    double size_upper = size_lower;
    for (std::size_t t = q.first_transition[choice]; t < q.first_transition[choice + 1]; ++t) {
      const double a = q.probabilities[t] * lower_[q.successors[t]];
      const double b = q.probabilities[t] * upper_[q.successors[t]];
      lower += a;
      upper += b;
      size_lower += std::abs(a);
      size_upper += std::abs(b);
    }
    const std::size_t origin = quotient_.origin[choice];
    const double error = rounding_of(model_.first_transition[origin + 1] - model_.first_transition[origin]);
    return {lower - error * size_lower - cost_error_, upper + error * size_upper + cost_error_};
  }

  Bounds backup(std::uint32_t node) {
    ++problem_.backups;
    const SparseModel& q = quotient_.model;
    Bounds best{problem_.give_up, problem_.give_up};
    for (std::size_t c = q.first_choice[node]; c < q.first_choice[node + 1]; ++c) {
      const Bounds found = bounds_of(c);
      best.lower = std::min(best.lower, found.lower);
      best.upper = std::min(best.upper, found.upper);
    }
    return best;
  }

  void solve_single(std::uint32_t node) {
    tick_();
    if (is_fixed_node(node)) {
      lower_[node] = problem_.lower[quotient_.members[node].front()];
      upper_[node] = problem_.upper[quotient_.members[node].front()];
      return;
    }
    const Bounds found = backup(node);
    lower_[node] = found.lower;
    upper_[node] = found.upper;
  }

  void solve_component(const std::vector<std::uint32_t>& nodes, std::uint32_t component,
                       const std::vector<std::uint32_t>& of) {
    double outside = 0;
    for_transitions(nodes, [&](std::uint32_t successor) {
      if (of[successor] != component) outside = std::max(outside, upper_[successor] - lower_[successor]);
    });
    start_below(nodes, component, of);
    start_above(nodes, component, of);
    const double target = outside + slack_;
    for (bool moves = true; moves;) {
      moves = false;
      double widest = 0;
      for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
        tick_();
        const Bounds found = backup(*node);
        moves |= found.lower > lower_[*node] || found.upper < upper_[*node];
        lower_[*node] = std::max(lower_[*node], found.lower);
        upper_[*node] = std::min(upper_[*node], found.upper);
        widest = std::max(widest, upper_[*node] - lower_[*node]);
      }
      if (widest <= target) break;
    }
  }

  // Every run from here ends by giving up or outside, or goes on for ever at a cost without bound.
  void start_below(const std::vector<std::uint32_t>& nodes, std::uint32_t component, const std::vector<std::uint32_t>& of) {
    const SparseModel& q = quotient_.model;
    double least = problem_.give_up;
    bool earns_within = false;
    double earned = 0;  // By a choice that leaves for certain: once.
    for (const std::uint32_t node : nodes) {
      for (std::size_t c = q.first_choice[node]; c < q.first_choice[node + 1]; ++c) {
        bool stays = false;
        for (std::size_t t = q.first_transition[c]; t < q.first_transition[c + 1]; ++t) {
          if (of[q.successors[t]] == component) {
            stays = true;
          } else {
            least = std::min(least, lower_[q.successors[t]]);
          }
        }
        if (q.cost[c] >= 0) continue;
        if (stays) {
          earns_within = true;
        } else {
          earned = std::max(earned, -q.cost[c]);
        }
      }
    }
    least -= earned * (1 + kInputRounding);
    if (earns_within) least -= most_earned(nodes, component, of);
    for (const std::uint32_t node : nodes) lower_[node] = std::min(least, problem_.give_up);
  }

  // A bound on what can be earned within a component: what a visit earns, times how often a node can be visited, which is
  // at most 1 / (the probability of never coming back, whatever is done). End components that earn nothing count as one
  // node; none of the others is left.
  double most_earned(const std::vector<std::uint32_t>& nodes, std::uint32_t component,
                     const std::vector<std::uint32_t>& of) {
    const SparseModel& q = quotient_.model;
    const auto group = [&](std::uint32_t node) {
      return all_.of[node] == kNoComponent ? static_cast<std::size_t>(node) : q.size() + all_.of[node];
    };
    std::unordered_map<std::size_t, std::vector<std::uint32_t>> groups;
    for (const std::uint32_t node : nodes) groups[group(node)].push_back(node);
    std::unordered_map<std::size_t, double> escape;
    double total = 0;
    for (bool grows = true; grows && escape.size() < groups.size();) {
      grows = false;
      for (const auto& [name, members] : groups) {
        if (escape.contains(name)) continue;
        tick_();
        double least = 1;
        double earned = 0;
        for (const std::uint32_t node : members) {
          for (std::size_t c = q.first_choice[node]; c < q.first_choice[node + 1]; ++c) {
            double away = 0;
            bool leaves = false;
            for (std::size_t t = q.first_transition[c]; t < q.first_transition[c + 1]; ++t) {
              const std::uint32_t successor = q.successors[t];
              leaves |= of[successor] != component || group(successor) != name;
              if (of[successor] != component) {
                away += q.probabilities[t];
              } else if (const auto known = escape.find(group(successor)); known != escape.end()) {
                away += q.probabilities[t] * known->second;
              }
            }
            if (!leaves) continue;
            least = std::min(least, away);
            earned = std::max(earned, -q.cost[c]);
          }
        }
        if (least <= 0) continue;
        escape[name] = least * (1 - 1e-9);
        total += earned / escape[name];
        grows = true;
      }
    }
    ASNETS_ASSERT(escape.size() == groups.size());
    return total * (1 + 1e-9);
  }

  void start_above(const std::vector<std::uint32_t>& nodes, std::uint32_t component, const std::vector<std::uint32_t>& of) {
    if (problem_.give_up < kInfinite) {
      for (const std::uint32_t node : nodes) upper_[node] = problem_.give_up;
      return;
    }
    // A policy that gets nearer to the outside with some probability at each step.
    const SparseModel& q = quotient_.model;
    double most = -kInfinite;
    std::unordered_map<std::uint32_t, double> escape;
    double total = 0;
    for (bool grows = true; grows;) {
      grows = false;
      for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
        if (escape.contains(*node)) continue;
        tick_();
        double best = 0;
        double pays = 0;
        for (std::size_t c = q.first_choice[*node]; c < q.first_choice[*node + 1]; ++c) {
          double away = 0;
          for (std::size_t t = q.first_transition[c]; t < q.first_transition[c + 1]; ++t) {
            const std::uint32_t successor = q.successors[t];
            if (of[successor] != component) {
              most = std::max(most, upper_[successor]);
              away += q.probabilities[t];
            } else if (const auto known = escape.find(successor); known != escape.end()) {
              away += q.probabilities[t] * known->second;
            }
          }
          if (away <= best) continue;
          best = away;
          pays = std::max(0.0, q.cost[c]);
        }
        if (best <= 0) continue;
        escape[*node] = best * (1 - 1e-9);
        total += pays / escape[*node];
        grows = true;
      }
    }
    const double start = escape.size() == nodes.size() ? std::max(most, 0.0) + total * (1 + 1e-9) : kInfinite;
    for (const std::uint32_t node : nodes) upper_[node] = start;
  }

  void write_back() {
    const SparseModel& q = quotient_.model;
    problem_.choice.assign(model_.size(), kNoChoice);
    for (std::uint32_t node = 0; node < q.size(); ++node) {
      tick_();
      const std::vector<std::uint32_t>& members = quotient_.members[node];
      if (is_fixed_node(node)) continue;
      std::size_t best = kNoChoice;
      double least = problem_.give_up;
      for (std::size_t c = q.first_choice[node]; c < q.first_choice[node + 1]; ++c) {
        const double found = bounds_of(c).upper;
        if (found >= least) continue;
        least = found;
        best = c;
      }
      for (const std::uint32_t state : members) {
        problem_.lower[state] = lower_[node];
        problem_.upper[state] = upper_[node];
      }
      if (best == kNoChoice) continue;
      if (members.size() > 1) {
        const std::vector<std::size_t> routes = routes_to(model_, members, free_.inner, quotient_.owner[best]);
        for (std::size_t i = 0; i < members.size(); ++i) problem_.choice[members[i]] = routes[i];
      }
      problem_.choice[quotient_.owner[best]] = quotient_.origin[best];
    }
  }

  IntervalProblem& problem_;
  const SparseModel& model_;
  const Tick& tick_;
  EndComponents free_;
  EndComponents all_;  // Of the quotient, if something earns.
  Quotient quotient_;
  bool has_negative_ = false;
  double cost_error_ = 0;
  double slack_ = 0;
  std::vector<double> lower_;
  std::vector<double> upper_;
};

}  // namespace

void solve_intervals(IntervalProblem& problem, const Tick& tick) { Iteration(problem, tick).run(); }

std::vector<std::size_t> routes_to(const SparseModel& model, const std::vector<std::uint32_t>& members,
                                   const std::vector<bool>& inner, std::uint32_t target) {
  struct Edge {
    std::uint32_t source;
    std::size_t choice;
  };
  std::unordered_map<std::uint32_t, std::uint32_t> position;
  for (std::uint32_t i = 0; i < members.size(); ++i) position[members[i]] = i;
  std::vector<std::vector<Edge>> into(members.size());
  for (std::uint32_t i = 0; i < members.size(); ++i) {
    for (std::size_t c = model.first_choice[members[i]]; c < model.first_choice[members[i] + 1]; ++c) {
      if (!inner[c]) continue;
      for (std::size_t t = model.first_transition[c]; t < model.first_transition[c + 1]; ++t) {
        into[position.at(model.successors[t])].push_back({i, c});
      }
    }
  }
  std::vector<std::size_t> routes(members.size(), kNoChoice);
  std::vector<bool> reached(members.size(), false);
  std::vector<std::uint32_t> queue{position.at(target)};
  reached[queue.front()] = true;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const Edge& edge : into[queue[i]]) {
      if (reached[edge.source]) continue;
      reached[edge.source] = true;
      routes[edge.source] = edge.choice;
      queue.push_back(edge.source);
    }
  }
  ASNETS_ASSERT(queue.size() == members.size());
  return routes;
}

}  // namespace asnets
