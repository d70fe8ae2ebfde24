#include "verification/chain_solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>

#include "assert.hpp"
#include "interruption.hpp"

namespace asnets {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

enum Quantity : std::size_t {
  kGoalProbability,
  kDeadEnds,
  kLoops,
  kGivesUps,
  kValue,
  kCost,
  kSteps,
  kSuccess,
  kVariance
};
constexpr std::size_t kNumQuantities = 9;

class Solver {
 public:
  Solver(const ModelView& model, const ChainOptions& options, const Classify& classify,
         const DirectSolverFactory& outside)
      : model_(model), options_(options), classify_(classify), outside_(outside), components_(model) {}

  ChainSolution run() {
    find_flags();
    prepare();
    components_.for_each([&](std::span<const StateId> component) {
      interruption_tick();
      solve(component);
    });
    return result();
  }

 private:
  enum Flag : std::uint8_t { kReachesGoal = 1, kReachesUnexplored = 2, kReachesFailure = 4 };

  bool is_sink(StateId s) const { return flags_[s] == kReachesFailure; }
  // Reaches the goal with probability 1.
  bool is_sure(StateId s) const { return flags_[s] == kReachesGoal; }

  // --- What follows from the graph alone ---

  void find_flags() {
    flags_.assign(model_.num_states(), 0);
    failures_.assign(model_.num_states(), static_cast<std::uint8_t>(Failure::kNone));
    components_.for_each([&](std::span<const StateId> component) {
      interruption_tick();
      std::uint8_t flags = 0;
      bool is_bottom = true;
      for (const StateId s : component) {
        if (model_.kind(s) == StateKind::kGoal) flags |= kReachesGoal;
        if (model_.kind(s) == StateKind::kUnexplored) flags |= kReachesUnexplored;
        if (!model_.has_choice(s)) continue;
        for (std::uint64_t t = model_.first(s); t < model_.last(s); ++t) {
          if (components_.are_together(model_.successors[t], s)) continue;
          is_bottom = false;
          flags |= flags_[model_.successors[t]];
        }
      }
      if (is_bottom && flags == 0) {
        flags = kReachesFailure;
        const Failure failure = classify_(component, !model_.has_choice(component.front()));
        ++num_failures_[static_cast<std::size_t>(failure) - 1];
        for (const StateId s : component) failures_[s] = static_cast<std::uint8_t>(failure);
      }
      for (const StateId s : component) flags_[s] = flags;
      all_flags_ |= flags;
    });
  }

  // Which quantities are stored.
  void prepare() {
    is_partial_ = all_flags_ & kReachesUnexplored;
    // What steps cost that were not explored is not known.
    is_unit_ = !is_partial_ &&
               std::all_of(model_.choice_cost.begin(), model_.choice_cost.end(), [](double c) { return c == 1; });
    const bool all_sure = all_flags_ == kReachesGoal;
    store(kCost);
    if (!is_unit_) store(kSteps);
    if (!is_partial_) store(kVariance);
    if (!all_sure) store_failures();
    for (std::size_t flags = 0; flags < quantities_.size(); ++flags) {
      quantities_[flags] = quantities_of(static_cast<std::uint8_t>(flags));
    }
  }

  void store(Quantity quantity) { stored_[quantity].resize(model_.num_states()); }

  void store_failures() {
    for (const Quantity quantity : {kGoalProbability, kValue, kSuccess}) store(quantity);
    const auto kinds = static_cast<std::size_t>(
        std::count_if(num_failures_.begin(), num_failures_.end(), [](std::size_t n) { return n > 0; }));
    for (std::size_t f = 0; f < kNumFailures; ++f) {
      // One kind alone is all that is not the goal.
      if (num_failures_[f] > 0 && (kinds > 1 || is_partial_)) store(static_cast<Quantity>(kDeadEnds + f));
    }
  }

  bool is_stored(Quantity quantity) const { return !stored_[quantity].empty(); }

  Bounds get(Quantity quantity, StateId s) const {
    if (quantity >= kDeadEnds && quantity <= kGivesUps) {
      return flags_[s] == kReachesGoal ? Bounds{0, 0} : stored_[quantity][s];
    }
    if (is_sink(s)) return quantity == kValue ? Bounds{options_.penalty, options_.penalty} : Bounds{0, 0};
    if (quantity == kSteps && is_unit_) return stored_[kCost][s];
    if (is_sure(s)) {
      if (quantity == kGoalProbability) return {1, 1};
      if (quantity == kValue || quantity == kSuccess) return stored_[kCost][s];
    }
    return stored_[quantity][s];
  }
  void set(Quantity quantity, StateId s, const Bounds& bounds) { stored_[quantity][s] = clamped(quantity, bounds); }

  Bounds clamped(Quantity quantity, Bounds bounds) const {
    const double least_value = options_.least_cost + std::min(0.0, options_.penalty);
    const double least = quantity == kCost || quantity == kSuccess ? options_.least_cost
                         : quantity == kValue                      ? least_value
                                                                   : 0.0;
    const double most = quantity <= kGivesUps ? 1 : kInf;
    const auto clamp = [&](double x, double if_unknown) {
      return std::isnan(x) ? if_unknown : std::clamp(x, least, most);
    };
    // What is larger than all doubles is still finite.
    constexpr double kLargest = std::numeric_limits<double>::max();
    return {std::min(clamp(bounds.lower, least), kLargest), std::max(clamp(bounds.upper, most), -kLargest)};
  }

  // --- Components ---

  void solve(std::span<const StateId> component) {
    const StateId first = component.front();
    if (model_.kind(first) == StateKind::kUnexplored) {
      set_unexplored(first);
      return;
    }
    if (is_sink(first) && failures_[first] != static_cast<std::uint8_t>(Failure::kNone)) {
      for (std::size_t f = 0; f < kNumFailures; ++f) {
        const auto quantity = static_cast<Quantity>(kDeadEnds + f);
        const double x = failures_[first] == f + 1 ? 1 : 0;
        if (!is_stored(quantity)) continue;
        for (const StateId s : component) stored_[quantity][s] = {x, x};
      }
      return;
    }
    if (!model_.has_choice(first)) return;  // A goal: all is 0, but for what `get` knows.
    for (const Quantity quantity : quantities_[flags_[first]]) {
      rows_.clear();
      for (const StateId s : component) rows_.push_back(right_side(quantity, s));
      if (component.size() == 1) {
        set(quantity, first, closed_form(first, rows_.front()));
      } else {
        solve_system(quantity, component);
      }
      // Where the goal may be out of reach, so that the run may have ended already.
      if (flags_[first] & kReachesGoal) continue;
      for (const StateId s : component) include_sink(quantity, s);
    }
    system_.reset();
  }

  // What has to be solved for in states of these flags, in an order in which each can be computed.
  std::vector<Quantity> quantities_of(std::uint8_t flags) const {
    std::vector<Quantity> result;
    const bool sure = flags == kReachesGoal;
    for (const Quantity quantity : {kDeadEnds, kLoops, kGivesUps}) {
      if (is_stored(quantity) && !sure) result.push_back(quantity);
    }
    if (flags == kReachesFailure) return result;
    if (!sure) result.push_back(kGoalProbability);
    result.push_back(kCost);
    if (!sure) result.push_back(kValue);
    if (!is_unit_) result.push_back(kSteps);
    if (!sure) result.push_back(kSuccess);
    if (!is_partial_) result.push_back(kVariance);
    return result;
  }

  void set_unexplored(StateId s) {
    const auto given = [&](std::span<const double> values) { return values[values.size() == 1 ? 0 : s]; };
    const Bounds value{given(options_.unexplored_lower), given(options_.unexplored_upper)};
    const double penalty = options_.penalty;
    for (std::size_t q = 0; q < kNumQuantities; ++q) {
      if (!is_stored(static_cast<Quantity>(q))) continue;
      Bounds bounds{-kInf, kInf};
      if (q <= kGivesUps) bounds = {0, 1};
      if (q == kValue) bounds = value;
      // w = V - D (1 - g).
      if (q == kCost) bounds = sum(value, {-std::max(0.0, penalty), -std::min(0.0, penalty)});
      set(static_cast<Quantity>(q), s, bounds);
    }
  }

  void include_sink(Quantity quantity, StateId s) {
    if (quantity != kValue && quantity != kCost && quantity != kSteps) return;
    Bounds& bounds = stored_[quantity][s];
    const double at_sink = quantity == kValue ? options_.penalty : 0;
    bounds.lower = std::min(bounds.lower, at_sink);
    bounds.upper = std::max(bounds.upper, at_sink);
  }

  Bounds cost_bounds(double cost) const {
    const double error =
        options_.cost_error > 0 ? options_.cost_error : 1.001 * options_.relative_error * std::abs(cost);
    return widened({cost, cost}, error + kTwoRoundings * std::abs(cost));
  }

  // What a state has without those of its component: b in x = b + sum over its component of p x.
  Bounds right_side(Quantity quantity, StateId s) const {
    const double error = options_.relative_error;
    SumBounds outside;
    for (std::uint64_t t = model_.first(s); t < model_.last(s); ++t) {
      const StateId successor = model_.successors[t];
      if (!components_.are_together(s, successor)) outside.add(model_.probabilities[t], get(quantity, successor));
    }
    const Bounds rest = outside.value(error);
    switch (quantity) {
      case kValue:
      case kCost:
        return sum(rest, cost_bounds(model_.choice_cost[model_.first_choice[s]]));
      case kSteps:
        return sum(rest, {1, 1});
      case kSuccess: {
        SumBounds immediate;
        for_each_step(s, [&](StateId successor, double probability, double cost) {
          immediate.add(probability, product(cost_bounds(cost), get(kGoalProbability, successor)));
        });
        return sum(rest, immediate.value(error));
      }
      case kVariance: {
        SumBounds immediate;
        const Bounds here = get(kValue, s);
        for_each_step(s, [&](StateId successor, double probability, double cost) {
          Bounds difference = cost_bounds(cost);
          if (successor != s) {
            const Bounds there = get(kValue, successor);
            difference = sum(difference, sum(there, {-here.upper, -here.lower}));
          }
          immediate.add(probability, square(difference));
        });
        return sum(rest, immediate.value(error));
      }
      default:
        return rest;
    }
  }

  // Steps with the cost that they have: those of the choice, or joint outcomes where they differ in cost.
  template <typename Visit>
  void for_each_step(StateId s, Visit&& visit) const {
    const std::uint64_t choice = model_.first_choice[s];
    if (model_.first_joint.empty()) {
      for (std::uint64_t t = model_.first(s); t < model_.last(s); ++t) {
        visit(model_.successors[t], model_.probabilities[t], model_.choice_cost[choice]);
      }
      return;
    }
    for (std::uint64_t t = model_.first_joint[choice]; t < model_.first_joint[choice + 1]; ++t) {
      visit(model_.joint_successors[t], model_.joint_probabilities[t], model_.joint_costs[t]);
    }
  }

  // The probability of leaving a state, and its relative error; 1 and 0 if it is left at once.
  std::pair<double, double> leaving(StateId s) const {
    double leaves = 0;
    bool stays = false;
    for (std::uint64_t t = model_.first(s); t < model_.last(s); ++t) {
      if (model_.successors[t] == s) {
        stays = true;
      } else {
        leaves += model_.probabilities[t];
      }
    }
    if (!stays) return {1, 0};
    return {leaves, sum_error(model_.last(s) - model_.first(s), options_.relative_error)};
  }

  Bounds closed_form(StateId s, const Bounds& right) const {
    const auto [leaves, error] = leaving(s);
    return divided(right, leaves, error);
  }

  // --- Components of several states ---

  void build_system(std::span<const StateId> component) {
    if (local_.empty()) local_.resize(model_.num_states());
    for (std::size_t i = 0; i < component.size(); ++i) local_[component[i]] = static_cast<std::uint32_t>(i);
    SparseMatrix q;
    double error = 0;
    for (const StateId s : component) {
      interruption_tick();
      const auto [leaves, leaving_error] = leaving(s);
      double exit = 0;
      for (std::uint64_t t = model_.first(s); t < model_.last(s); ++t) {
        const StateId successor = model_.successors[t];
        if (!components_.are_together(s, successor)) {
          exit += model_.probabilities[t];
        } else if (successor != s) {
          q.columns.push_back(local_[successor]);
          q.values.push_back(model_.probabilities[t] / leaves);
        }
      }
      error = std::max(error, sum_error(model_.last(s) - model_.first(s), leaving_error));
      q.end_row(exit / leaves);
    }
    const double entries = 1.01 * (error + options_.relative_error) + 2 * kTwoRoundings;
    system_ = std::make_unique<CertifiedSystem>(std::move(q), entries, outside_);
    is_certified_ = true;
  }

  void solve_system(Quantity quantity, std::span<const StateId> component) {
    if (system_ == nullptr) build_system(component);
    std::vector<double> lower;
    std::vector<double> upper;
    bool is_bounded_below = true;
    bool is_bounded_above = true;
    for (std::size_t i = 0; i < component.size(); ++i) {
      const Bounds right = closed_form(component[i], rows_[i]);
      lower.push_back(right.lower);
      upper.push_back(right.upper);
      is_bounded_below &= std::isfinite(right.lower);
      is_bounded_above &= std::isfinite(right.upper);
    }
    // From each state of a component, all of it is reached.
    const bool is_below_certified = !is_bounded_below || system_->bound_below(lower);
    const bool is_above_certified = !is_bounded_above || system_->bound_above(upper);
    if (!is_bounded_below || !is_below_certified) std::fill(lower.begin(), lower.end(), -kInf);
    if (!is_bounded_above || !is_above_certified) std::fill(upper.begin(), upper.end(), kInf);
    if (!is_below_certified || !is_above_certified) num_uncertified_ += std::exchange(is_certified_, false);
    for (std::size_t i = 0; i < component.size(); ++i) set(quantity, component[i], {lower[i], upper[i]});
  }

  // --- What comes of it ---

  ChainSolution result() {
    ChainSolution solution;
    ChainNumbers& initial = solution.initial;
    initial.goal_probability = get(kGoalProbability, 0);
    initial.value = get(kValue, 0);
    initial.cost_to_end = get(kCost, 0);
    initial.steps = get(kSteps, 0);
    initial.cost_of_success = get(kSuccess, 0);
    initial.variance = is_partial_ ? Bounds{0, kInf} : get(kVariance, 0);
    find_failures(initial);
    solution.num_components = components_.size();
    solution.largest_component = components_.largest();
    solution.num_uncertified = num_uncertified_;
    solution.failures = std::move(failures_);
    for (std::size_t i = 0; i < model_.num_states(); ++i) {
      const auto s = static_cast<StateId>(i);
      if (is_stored(kGoalProbability)) stored_[kGoalProbability][s] = get(kGoalProbability, s);
      if (is_stored(kValue)) stored_[kValue][s] = get(kValue, s);
    }
    solution.values = std::move(is_stored(kValue) ? stored_[kValue] : stored_[kCost]);
    solution.goal_probabilities = std::move(stored_[kGoalProbability]);
    for (std::uint8_t& flags : flags_) flags = flags == kReachesFailure;
    solution.lost = std::move(flags_);
    return solution;
  }

  void find_failures(ChainNumbers& initial) const {
    // 1 - x, rounded up and down.
    const auto rest_above = [](double x) { return x >= 1 ? 0.0 : std::min(1.0, 1 - x + kTwoRoundings); };
    const auto rest_below = [](double x) { return x <= 0 ? 1.0 : std::max(0.0, 1 - x - kTwoRoundings); };
    double certain = initial.goal_probability.lower;
    for (std::size_t f = 0; f < kNumFailures; ++f) {
      const auto quantity = static_cast<Quantity>(kDeadEnds + f);
      if (is_stored(quantity)) {
        initial.failures[f] = get(quantity, 0);
        certain += initial.failures[f].lower;
      } else if (num_failures_[f] > 0) {
        initial.failures[f] = {rest_below(initial.goal_probability.upper),
                               rest_above(initial.goal_probability.lower)};
      }
    }
    if (!is_partial_) return;
    for (std::size_t f = 0; f < kNumFailures; ++f) {
      if (num_failures_[f] == 0) initial.failures[f] = {0, rest_above(certain - 4 * kTwoRoundings)};
    }
  }

  const ModelView& model_;
  const ChainOptions& options_;
  const Classify& classify_;
  const DirectSolverFactory& outside_;
  ChainComponents components_;
  std::vector<std::uint8_t> flags_;
  std::vector<std::uint8_t> failures_;
  std::uint8_t all_flags_ = 0;
  std::array<std::size_t, kNumFailures> num_failures_{};
  bool is_partial_ = false;
  bool is_unit_ = false;
  std::array<std::vector<Bounds>, kNumQuantities> stored_;
  std::array<std::vector<Quantity>, 8> quantities_;  // Of each combination of flags.
  std::vector<Bounds> rows_;
  std::vector<std::uint32_t> local_;  // Of a state, its place in the component that is solved.
  std::unique_ptr<CertifiedSystem> system_;
  bool is_certified_ = true;  // All bounds that the system has given.
  std::size_t num_uncertified_ = 0;
};

}  // namespace

ChainSolution solve_chain(const ModelView& model, const ChainOptions& options, const Classify& classify,
                          const DirectSolverFactory& outside) {
  return Solver(model, options, classify, outside).run();
}

}  // namespace asnets
