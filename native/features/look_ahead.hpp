// Features of what lies ahead: how an estimate of the way to the goal changes with each applicable action.
//
// What they compute: the estimate after each outcome of an action, compared with that of the state and with the other
// actions. An estimate sees the whole way to the goal, however few layers the network has; that distances help where no
// fixed depth is enough is shown in [sharma2023symnet] for distances in a graph of the domain.
// Why they mean the same on problems of any size: they are differences, which one action changes by little, not totals;
// in units that do not grow; and squashed, x / (1 + |x|), into [-1, 1], where 1 also stands for infinite.
// What has the default values, 0: actions that are not applicable or have more than kMaxOutcomes outcomes; and all
// actions of states from which the relaxed goal is out of reach.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "features/action_feature.hpp"
#include "heuristics/heuristic.hpp"
#include "simulator.hpp"
#include "state_table.hpp"

namespace asnets {

class LookAheadFeature : public ActionFeature {
 public:
  static constexpr std::size_t kMaxOutcomes = 64;

  LookAheadFeature(const Task& task, std::unique_ptr<Heuristic> estimate)
      : task_(task), estimate_(std::move(estimate)), expander_(task, kMaxOutcomes) {}

  void evaluate(const Word* state, const Set& set) final;

 protected:
  struct Outcome {
    double probability;
    double estimate;  // Of the way from there; may be infinite.
  };
  struct Look {
    ActionId action;
    double way;  // In units: of the way to the goal that begins with the action; may be infinite.
    double change;
    double third;
  };

  // The way and the other values of an action, `estimate` being that of the state.
  virtual Look look(ActionId action, const Word* state, double estimate, std::span<const Outcome> outcomes) const = 0;
  static double squashed(double value);

  const Task& task_;

 private:
  static constexpr std::size_t kMaxTableBytes = std::size_t{16} << 20;

  double estimate_of(const Word* state);

  std::unique_ptr<Heuristic> estimate_;
  Expander expander_;
  // Estimates are remembered: many states come again as successors of others.
  std::unique_ptr<StateTable> table_;
  std::vector<double> estimates_;
  std::vector<Outcome> outcomes_;
  std::vector<Look> looks_;
};

// Of the cost of h_add, in units of the mean cost of actions that cost something. The values of an action: how much more
// than the estimate it costs to take it and go on from its best outcome; the same on average, each outcome squashed by
// itself; and how much more it costs than the best action, on average over outcomes that are no dead ends.
class DistanceFeature final : public LookAheadFeature {
 public:
  explicit DistanceFeature(const Task& task);

 private:
  Look look(ActionId action, const Word* state, double estimate, std::span<const Outcome> outcomes) const override;

  double unit_ = 1;
};

// Of the improbability of the goal, in bits. The values of an action: how much more improbable than estimated the goal
// becomes by it, -log2 sum_s' P(s' | s, a) 2^-estimate(s'); with which probability the relaxed goal is out of reach after
// it; and how much more improbable the goal is than with the best action.
class RiskFeature final : public LookAheadFeature {
 public:
  explicit RiskFeature(const Task& task);

 private:
  Look look(ActionId action, const Word* state, double estimate, std::span<const Outcome> outcomes) const override;
};

}  // namespace asnets
