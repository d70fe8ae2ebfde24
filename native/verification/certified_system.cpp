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

std::vector<double> CertifiedSystem::solve(const std::vector<double>& b) {
  std::vector<double> x = b;
  if (dense_.empty() && !direct_) {
    if (iterate(x, b, was_direct_tried_ ? kMaxSweeps : kFewSweeps)) return x;
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

// Gauss-Seidel. Rows stand in the order in which components list states, mostly later ones first, so that a sweep carries
// values a long way. Returns whether residuals have come down to what rounding leaves.
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

bool CertifiedSystem::bound_below(std::vector<double>& b) {
  const std::size_t n = q_.size();
  const std::vector<double> z = solve(b);
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
  for (double& value : b) value = -value;
  if (!bound_below(b)) return false;
  for (double& value : b) value = -value;
  return true;
}

}  // namespace asnets
