// Evidence that one of two costs is lower on average, from pairs of them, at any moment.
//
// What it computes: the capital of gamblers who bet on each pair that the first cost is higher than the second: if d is the
// difference over the most that it can be, so that it is between -1 and 1, the gambler of stake λ multiplies what he has by
// 1 + λ d. The evidence is their mean [waudbysmith2024estimating; "betting"].
// What it guarantees: if the first cost is not higher on average, whatever the costs' distribution, the probability that
// the evidence ever reaches 1 / α is at most α (Ville's inequality): one may look after every pair. Pairs may come from
// different states, if the first is not higher on average in any of them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace asnets {

class Evidence {
 public:
  // Costs above `most` count as that.
  explicit Evidence(double most) : most_(most) {}

  void add(double first, double second) {
    const double difference = (std::min(first, most_) - std::min(second, most_)) / most_;
    for (std::size_t i = 0; i < kStakes.size(); ++i) logs_[i] += std::log1p(kStakes[i] * difference);
  }
  // Makes what there is so far count less: a power below 1 of such evidence is evidence as well.
  void fade(double power) {
    for (double& log : logs_) log *= power;
  }
  // Of the first being higher; 1 before there are pairs.
  double value() const {
    double sum = 0;
    for (const double log : logs_) sum += std::exp(std::min(log, kMostLog));
    return sum / static_cast<double>(kStakes.size());
  }

 private:
  static constexpr std::array<double, 8> kStakes{0.02, 0.06, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95};
  static constexpr double kMostLog = 700;  // exp of it is finite.

  double most_;
  std::array<double, kStakes.size()> logs_{};
};

}  // namespace asnets
