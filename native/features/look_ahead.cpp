#include "features/look_ahead.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "heuristics/relaxation_heuristics.hpp"
#include "interruption.hpp"

namespace asnets {

double LookAheadFeature::squashed(double value) { return std::isinf(value) ? 1 : value / (1 + std::abs(value)); }

double LookAheadFeature::estimate_of(const Word* state) {
  if (table_ == nullptr || table_->memory() > kMaxTableBytes) {
    table_ = std::make_unique<StateTable>(task_.num_words());
    estimates_.clear();
  }
  if (const std::optional<StateId> known = table_->find(state)) return estimates_[*known];
  estimates_.push_back(estimate_->evaluate(state));
  table_->intern(state);
  return estimates_.back();
}

void LookAheadFeature::evaluate(const Word* state, const Set& set) {
  const double estimate = estimate_of(state);
  if (estimate == kInfinity) return;
  looks_.clear();
  double best = kInfinity;
  for (std::size_t a = 0; a < task_.num_actions(); ++a) {
    const auto action = static_cast<ActionId>(a);
    if (!task_.is_applicable(action, state)) continue;
    interruption_point();
    try {
      expander_.expand(state, action);
    } catch (const TooManySuccessors&) {
      continue;
    }
    outcomes_.clear();
    for (std::size_t i = 0; i < expander_.count(); ++i) {
      outcomes_.push_back({expander_.probability(i), estimate_of(expander_.successor(i))});
    }
    looks_.push_back(look(action, state, estimate, outcomes_));
    best = std::min(best, looks_.back().way);
  }
  for (const Look& look : looks_) {
    const double behind = look.way == best ? 0 : squashed(look.way - best);
    const std::array<float, 3> values{static_cast<float>(look.change), static_cast<float>(look.third),
                                      static_cast<float>(behind)};
    set(look.action, values.data());
  }
}

DistanceFeature::DistanceFeature(const Task& task) : LookAheadFeature(task, make_hadd(task)) {
  double total = 0;
  std::size_t count = 0;
  for (std::size_t a = 0; a < task.num_actions(); ++a) {
    const double cost = task.min_cost(static_cast<ActionId>(a));
    if (cost <= 0) continue;
    total += cost;
    ++count;
  }
  if (count > 0) unit_ = total / static_cast<double>(count);
}

LookAheadFeature::Look DistanceFeature::look(ActionId action, const Word* state, double estimate,
                                             std::span<const Outcome> outcomes) const {
  const double cost = task_.cost(action, state);
  double least = kInfinity;
  double mean = 0;
  double way = 0;
  double alive = 0;
  for (const Outcome& outcome : outcomes) {
    const double change = (cost + outcome.estimate - estimate) / unit_;
    least = std::min(least, change);
    mean += outcome.probability * squashed(change);
    if (outcome.estimate == kInfinity) continue;
    alive += outcome.probability;
    way += outcome.probability * outcome.estimate;
  }
  return {action, alive > 0 ? (cost + way / alive) / unit_ : kInfinity, squashed(least), mean};
}

RiskFeature::RiskFeature(const Task& task) : LookAheadFeature(task, make_improbability(task)) {}

LookAheadFeature::Look RiskFeature::look(ActionId action, const Word*, double estimate,
                                         std::span<const Outcome> outcomes) const {
  double least = kInfinity;
  double sealed = 0;
  for (const Outcome& outcome : outcomes) {
    least = std::min(least, outcome.estimate);
    if (outcome.estimate == kInfinity) sealed += outcome.probability;
  }
  if (least == kInfinity) return {action, kInfinity, 1, sealed};
  double sum = 0;  // Of what would be too small without the factor 2^least.
  for (const Outcome& outcome : outcomes) sum += outcome.probability * std::exp2(least - outcome.estimate);
  // Rounded, since the last bits of the logarithm are not the same in all libraries.
  const double way = std::round((least - std::log2(sum)) * 0x1p20) * 0x1p-20;
  return {action, way, squashed(way - estimate), sealed};
}

}  // namespace asnets
