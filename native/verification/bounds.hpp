// Numbers that lie between two bounds, and what rounding leaves of them: every result is rounded outward.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>

#include "verification/certified_system.hpp"

namespace asnets {

struct Bounds {
  double lower = 0;
  double upper = 0;
};

inline constexpr double kLeastDouble = std::numeric_limits<double>::min();  // That has all its digits.
inline constexpr double kTwoRoundings = 0x1p-52;                           // Twice the error of one.

inline Bounds widened(Bounds bounds, double error) { return {bounds.lower - error, bounds.upper + error}; }

// A bound of a sum of products p x, each p with a relative error. All terms are of one kind of bound.
class SumBound {
 public:
  void add(double probability, double x) {
    ++terms_;
    if (x == 0) return;
    if (std::isinf(x)) {
      infinite_ = x;
      return;
    }
    const double product = probability * x;
    sum_ += product;
    size_ += std::abs(product);
    is_zero_ = false;
  }
  double below(double relative_error) const { return infinite_ != 0 ? infinite_ : sum_ - slack(relative_error); }
  double above(double relative_error) const { return infinite_ != 0 ? infinite_ : sum_ + slack(relative_error); }

 private:
  double slack(double relative_error) const {
    return is_zero_ ? 0 : sum_error(terms_, relative_error) * size_ + kLeastDouble;
  }

  double sum_ = 0;
  double size_ = 0;
  double infinite_ = 0;
  std::size_t terms_ = 0;
  bool is_zero_ = true;
};

// Both bounds of a sum of products of probabilities and numbers that lie between bounds.
struct SumBounds {
  SumBound lower;
  SumBound upper;
  void add(double probability, const Bounds& x) {
    lower.add(probability, x.lower);
    upper.add(probability, x.upper);
  }
  Bounds value(double relative_error) const { return {lower.below(relative_error), upper.above(relative_error)}; }
};

inline Bounds sum(const Bounds& a, const Bounds& b) {
  const auto add = [](double x, double y, double direction) {
    if (x == 0 || y == 0) return x + y;
    const double result = x + y;
    return std::isfinite(result) ? result + direction * kTwoRoundings * std::abs(result) : result;
  };
  return {add(a.lower, b.lower, -1), add(a.upper, b.upper, 1)};
}

// Of numbers that are not of opposite infinite signs.
inline Bounds product(const Bounds& a, const Bounds& b) {
  const auto times = [](double x, double y) { return x == 0 || y == 0 ? 0.0 : x * y; };
  const double corners[] = {times(a.lower, b.lower), times(a.lower, b.upper), times(a.upper, b.lower),
                            times(a.upper, b.upper)};
  const auto [least, most] = std::minmax_element(std::begin(corners), std::end(corners));
  const auto slack = [](double x) { return x == 0 || std::isinf(x) ? 0 : kTwoRoundings * std::abs(x) + kLeastDouble; };
  return {*least - slack(*least), *most + slack(*most)};
}

inline Bounds square(const Bounds& x) {
  if (!std::isfinite(x.lower) || !std::isfinite(x.upper)) return {0, std::numeric_limits<double>::infinity()};
  const Bounds result = product(x, x);
  const double nearest = x.lower > 0 ? x.lower : x.upper < 0 ? x.upper : 0;
  return {nearest == 0 ? 0 : nearest * nearest * (1 - 2 * kTwoRoundings), std::max(0.0, result.upper)};
}

// x / divisor, where the divisor has a relative error.
inline Bounds divided(const Bounds& x, double divisor, double relative_error) {
  if (divisor == 1 && relative_error == 0) return x;
  const auto divide = [&](double value, double direction) {
    const double result = value / divisor;
    return std::isfinite(result) && result != 0
               ? result + direction * ((1.01 * relative_error + 2 * kTwoRoundings) * std::abs(result) + kLeastDouble)
               : result;
  };
  return {divide(x.lower, -1), divide(x.upper, 1)};
}

}  // namespace asnets
