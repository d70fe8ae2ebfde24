#include "verification/certified_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "interruption.hpp"

namespace asnets {

namespace {

constexpr std::size_t kMaxDense = 200;
// Sweeps after which a direct solver is tried, and those after which iteration is given up.
constexpr std::size_t kFewSweeps = 100;
constexpr std::size_t kMaxSweeps = 1'000'000;
constexpr std::size_t kSweepsBetweenLooks = 10;
constexpr int kRefinements = 5;
// Of conjugate gradients: steps for one correction, the share of the residual that it may leave, and corrections.
constexpr int kGradientSteps = 3000;
constexpr double kGradientShare = 1e-6;
constexpr int kGradientRounds = 12;
constexpr int kAttempts = 4;
constexpr double kTiny = std::numeric_limits<double>::min();

// Whether residuals of x are no more than rounding leaves: what was computed, and x itself.
bool is_rounding(const std::vector<double>& values, const std::vector<double>& errors, const std::vector<double>& x) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(std::abs(values[i]) <= errors[i] + 0x1p-51 * std::abs(x[i]))) return false;
  }
  return true;
}

}  // namespace

CertifiedSystem::CertifiedSystem(SparseMatrix q, double relative_error, const DirectSolverFactory& outside)
    : q_(std::move(q)), relative_error_(relative_error), outside_(outside) {
  if (q_.size() <= kMaxDense) eliminate();
}

// State after state: whoever would go to it goes where it would go on to.
void CertifiedSystem::eliminate() {
  const std::size_t n = q_.size();
  dense_.assign(n * n, 0.0);
  pivots_.assign(n, 0.0);
  std::vector<double> exits = q_.exits;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::uint64_t t = q_.first[i]; t < q_.first[i + 1]; ++t) dense_[i * n + q_.columns[t]] = q_.values[t];
  }
  for (std::size_t k = 0; k < n; ++k) {
    interruption_tick();
    const double* const from = dense_.data() + k * n;
    double leaves = exits[k];
    for (std::size_t j = k + 1; j < n; ++j) leaves += from[j];
    pivots_[k] = leaves;
    for (std::size_t i = k + 1; i < n; ++i) {
      double* const row = dense_.data() + i * n;
      if (row[k] == 0) continue;
      row[k] /= leaves;
      for (std::size_t j = k + 1; j < n; ++j) row[j] += row[k] * from[j];  // What comes back to i itself is not read.
      exits[i] += row[k] * exits[k];
    }
  }
}

void CertifiedSystem::solve_by_elimination(std::vector<double>& x) const {
  const std::size_t n = q_.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) x[i] += dense_[i * n + j] * x[j];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; ++j) x[i] += dense_[i * n + j] * x[j];
    x[i] /= pivots_[i];
  }
}

bool CertifiedSystem::use_direct() {
  if (!std::exchange(was_direct_tried_, true) && outside_) direct_ = outside_(q_);
  return static_cast<bool>(direct_);
}

std::vector<double> CertifiedSystem::solve(const std::vector<double>& b, std::vector<double> guess) {
  std::vector<double> x = guess.empty() ? b : std::move(guess);
  if (dense_.empty() && !direct_) {
    if (iterate(x, b, kFewSweeps) || refine_by_gradients(x, b)) return x;
    if (!use_direct()) {
      iterate(x, b, kMaxSweeps);
      return x;
    }
  }
  const auto apply = [&](std::vector<double> right) {
    if (direct_) return direct_(right);
    solve_by_elimination(right);
    return right;
  };
  x = apply(b);
  std::vector<double> values;
  std::vector<double> errors;
  for (int i = 0; i < kRefinements; ++i) {
    interruption_point();
    residuals(x, b, values, errors);
    if (is_rounding(values, errors, x)) break;
    const std::vector<double> correction = apply(values);
    for (std::size_t s = 0; s < x.size(); ++s) x[s] += correction[s];
  }
  return x;
}

void CertifiedSystem::residuals(const std::vector<double>& x, const std::vector<double>& b,
                                std::vector<double>& values, std::vector<double>& errors) const {
  values.resize(q_.size());
  errors.resize(q_.size());
  for (std::size_t i = 0; i < q_.size(); ++i) {
    interruption_tick();
    const double exit = q_.exits[i] * x[i];
    double sum = 0;
    double size = std::abs(b[i]) + std::abs(exit);
    for (std::uint64_t t = q_.first[i]; t < q_.first[i + 1]; ++t) {
      const double product = q_.values[t] * (x[q_.columns[t]] - x[i]);
      sum += product;
      size += std::abs(product);
    }
    values[i] = (b[i] - exit) + sum;
    errors[i] = sum_error(q_.first[i + 1] - q_.first[i] + 4, relative_error_) * size + kTiny;
  }
}

// Gauss-Seidel. Rows stand in the order in which components list states, mostly later ones first, so that a sweep
// carries values a long way. Returns whether residuals have come down to what rounding leaves.
bool CertifiedSystem::iterate(std::vector<double>& x, const std::vector<double>& b, std::size_t sweeps) {
  std::vector<double> values;
  std::vector<double> errors;
  for (std::size_t sweep = 1; sweep <= sweeps; ++sweep) {
    for (std::size_t i = 0; i < q_.size(); ++i) {
      interruption_tick();
      double next = b[i];
      for (std::uint64_t t = q_.first[i]; t < q_.first[i + 1]; ++t) next += q_.values[t] * x[q_.columns[t]];
      x[i] = next;
    }
    if (sweep % kSweepsBetweenLooks != 0) continue;
    residuals(x, b, values, errors);
    if (is_rounding(values, errors, x)) return true;
  }
  return false;
}

// Solves (I - L) x = b, with L what stands before the diagonal: Gauss-Seidel from 0.
void CertifiedSystem::precondition(const std::vector<double>& b, std::vector<double>& x) const {
  for (std::size_t i = 0; i < q_.size(); ++i) {
    double value = b[i];
    for (std::uint64_t t = q_.first[i]; t < q_.first[i + 1]; ++t) {
      if (q_.columns[t] < i) value += q_.values[t] * x[q_.columns[t]];
    }
    x[i] = value;
  }
}

// (I - Q) x.
void CertifiedSystem::apply(const std::vector<double>& x, std::vector<double>& result) const {
  for (std::size_t i = 0; i < q_.size(); ++i) {
    interruption_tick();
    double value = q_.exits[i] * x[i];
    for (std::uint64_t t = q_.first[i]; t < q_.first[i + 1]; ++t) value += q_.values[t] * (x[i] - x[q_.columns[t]]);
    result[i] = value;
  }
}

// The stabilised method of biconjugate gradients [vandervorst1992bicgstab] for (I - Q) d = r. Returns whether the
// residual has become a small part of what it was.
bool CertifiedSystem::solve_by_gradients(const std::vector<double>& r0, std::vector<double>& d) const {
  const std::size_t n = q_.size();
  const auto dot = [n](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
  };
  std::vector<double> r = r0;
  std::vector<double> p(n, 0.0);
  std::vector<double> v(n, 0.0);
  std::vector<double> y(n);
  std::vector<double> t(n);
  d.assign(n, 0.0);
  double rho = 1;
  double alpha = 1;
  double omega = 1;
  const double target = kGradientShare * kGradientShare * dot(r0, r0);
  for (int i = 0; i < kGradientSteps; ++i) {
    const double next = dot(r0, r);
    const double beta = next / rho * (alpha / omega);
    rho = next;
    for (std::size_t k = 0; k < n; ++k) p[k] = r[k] + beta * (p[k] - omega * v[k]);
    precondition(p, y);
    apply(y, v);
    alpha = rho / dot(r0, v);
    if (!std::isfinite(alpha)) return false;
    for (std::size_t k = 0; k < n; ++k) {
      d[k] += alpha * y[k];
      r[k] -= alpha * v[k];
    }
    precondition(r, y);
    apply(y, t);
    const double size = dot(t, t);
    omega = size > 0 ? dot(t, r) / size : 0;
    for (std::size_t k = 0; k < n; ++k) {
      d[k] += omega * y[k];
      r[k] -= omega * t[k];
    }
    if (dot(r, r) <= target) return true;
    if (omega == 0 || !std::isfinite(omega)) return false;
  }
  return false;
}

// Adds corrections to x until its residuals are what rounding leaves, as long as that gets nearer.
bool CertifiedSystem::refine_by_gradients(std::vector<double>& x, const std::vector<double>& b) const {
  std::vector<double> values;
  std::vector<double> errors;
  std::vector<double> correction;
  for (int i = 0; i < kGradientRounds; ++i) {
    residuals(x, b, values, errors);
    if (is_rounding(values, errors, x)) return true;
    if (!solve_by_gradients(values, correction)) return false;
    for (std::size_t s = 0; s < x.size(); ++s) x[s] += correction[s];
  }
  return false;
}

bool CertifiedSystem::bound_below(std::vector<double>& b) {
  const std::size_t n = q_.size();
  const std::vector<double> z = solve(b, std::exchange(last_, {}));
  last_ = z;
  std::vector<double> values;
  std::vector<double> errors;
  residuals(z, b, values, errors);
  std::vector<double> least(n);  // What (I - Q*) v has to be.
  for (std::size_t i = 0; i < n; ++i) least[i] = errors[i] + std::max(0.0, -values[i]);
  const std::vector<double> nothing(n, 0.0);
  std::vector<double> v = nothing;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    // With a margin for what rounding does to v, and to the check.
    std::vector<double> wanted(n);
    residuals(v, nothing, values, errors);
    for (std::size_t i = 0; i < n; ++i) wanted[i] = 2 * (least[i] + errors[i]) + 0x1p-50 * v[i];
    v = solve(wanted);
    residuals(v, nothing, values, errors);
    bool holds = true;
    for (std::size_t i = 0; i < n; ++i) {
      holds &= v[i] > 0 && std::isfinite(v[i]) && std::isfinite(z[i]) && -values[i] - errors[i] >= least[i];
    }
    if (!holds) continue;
    for (std::size_t i = 0; i < n; ++i) {
      b[i] = z[i] - v[i];
      b[i] -= 0x1p-52 * std::abs(b[i]);
    }
    return true;
  }
  return false;
}

bool CertifiedSystem::bound_above(std::vector<double>& b) {
  // The bound from below, if it came before, is near.
  for (std::vector<double>* const vector : {&b, &last_}) {
    for (double& value : *vector) value = -value;
  }
  const bool is_certified = bound_below(b);
  last_.clear();
  for (double& value : b) value = -value;
  return is_certified;
}

}  // namespace asnets
