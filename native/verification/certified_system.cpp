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
constexpr int kRefinements = 4;
constexpr double kTiny = std::numeric_limits<double>::min();

}  // namespace

CertifiedSystem::CertifiedSystem(SparseMatrix q, double relative_error, const DirectSolverFactory& outside)
    : q_(std::move(q)), relative_error_(relative_error) {
  const std::vector<double> ones(q_.size(), 1.0);
  if (q_.size() <= kMaxDense) {
    factorise();
    y_ = solve(ones);
    is_certified_ = certify();
    return;
  }
  y_ = ones;
  if (!iterate(y_, ones, true, kFewSweeps)) {
    if (outside) direct_ = outside(q_);
    if (direct_) {
      y_ = solve(ones);
    } else {
      iterate(y_, ones, true, kMaxSweeps);
    }
  }
  is_certified_ = certify();
}

bool CertifiedSystem::certify() {
  std::vector<double> errors;
  std::vector<double> values;
  residuals(y_, std::vector<double>(q_.size(), 0.0), values, errors);
  t_.resize(q_.size());
  for (std::size_t i = 0; i < q_.size(); ++i) {
    t_[i] = -values[i] - errors[i];
    if (!(y_[i] > 0 && std::isfinite(y_[i]) && t_[i] > 0.25)) return false;
  }
  return true;
}

// (I - Q) = L U in place, rows by rows; pivots are positive in exact arithmetic.
void CertifiedSystem::factorise() {
  const std::size_t n = q_.size();
  dense_.assign(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    dense_[i * n + i] = 1;
    for (std::uint64_t t = q_.first[i]; t < q_.first[i + 1]; ++t) dense_[i * n + q_.columns[t]] -= q_.values[t];
  }
  for (std::size_t k = 0; k < n; ++k) {
    interruption_tick();
    const double* const pivot = dense_.data() + k * n;
    for (std::size_t i = k + 1; i < n; ++i) {
      double* const row = dense_.data() + i * n;
      if (row[k] == 0) continue;
      const double factor = row[k] / pivot[k];
      row[k] = factor;
      for (std::size_t j = k + 1; j < n; ++j) row[j] -= factor * pivot[j];
    }
  }
}

void CertifiedSystem::solve_densely(std::vector<double>& x) const {
  const std::size_t n = q_.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) x[i] -= dense_[i * n + j] * x[j];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; ++j) x[i] -= dense_[i * n + j] * x[j];
    x[i] /= dense_[i * n + i];
  }
}

std::vector<double> CertifiedSystem::solve(const std::vector<double>& b) {
  std::vector<double> x;
  if (dense_.empty() && !direct_) {
    x = last_.empty() ? b : last_;
    iterate(x, b, false, kMaxSweeps);
    last_ = x;
    return x;
  }
  const auto apply = [&](std::vector<double> right) {
    if (direct_) return direct_(right);
    solve_densely(right);
    return right;
  };
  x = apply(b);
  std::vector<double> values;
  std::vector<double> errors;
  for (int i = 0; i < kRefinements; ++i) {
    interruption_point();
    residuals(x, b, values, errors);
    bool is_exact = true;
    for (std::size_t s = 0; s < x.size(); ++s) is_exact &= std::abs(values[s]) <= errors[s];
    if (is_exact) break;
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
    double sum = 0;
    double size = 0;
    for (std::uint64_t t = q_.first[i]; t < q_.first[i + 1]; ++t) {
      const double product = q_.values[t] * x[q_.columns[t]];
      sum += product;
      size += std::abs(product);
    }
    values[i] = (b[i] - x[i]) + sum;
    errors[i] = sum_error(q_.first[i + 1] - q_.first[i] + 2, relative_error_) * (size + std::abs(b[i]) + std::abs(x[i])) +
                kTiny;
  }
}

// Gauss-Seidel. Rows stand in the order in which components list states, mostly later ones first, so that a sweep carries
// values a long way. Returns whether residuals have come down to what rounding leaves, or for the certificate to a half.
bool CertifiedSystem::iterate(std::vector<double>& x, const std::vector<double>& b, bool for_certificate,
                              std::size_t sweeps) {
  const double error = sum_error(4, relative_error_);
  for (std::size_t sweep = 0; sweep < sweeps; ++sweep) {
    // How much a sweep changes is more than the residual that it leaves behind, in the end.
    bool is_done = true;
    for (std::size_t i = 0; i < q_.size(); ++i) {
      interruption_tick();
      double next = b[i];
      for (std::uint64_t t = q_.first[i]; t < q_.first[i + 1]; ++t) next += q_.values[t] * x[q_.columns[t]];
      const double change = std::abs(next - x[i]);
      is_done &= for_certificate ? change <= 0.5 : change <= error * (std::abs(b[i]) + 2 * std::abs(next)) + kTiny;
      x[i] = next;
    }
    if (is_done) {
      if (!for_certificate) return true;
      if (certify()) return true;
    }
  }
  return false;
}

void CertifiedSystem::bound_below(std::vector<double>& b) {
  const std::vector<double> z = solve(b);
  std::vector<double> values;
  std::vector<double> errors;
  residuals(z, b, values, errors);
  double shift = 0;
  for (std::size_t i = 0; i < q_.size(); ++i) {
    shift = std::max(shift, (errors[i] - values[i]) / t_[i]);
    if (!std::isfinite(z[i])) shift = std::numeric_limits<double>::infinity();
  }
  shift *= 1 + 0x1p-50;
  for (std::size_t i = 0; i < q_.size(); ++i) {
    const double below = z[i] - shift * y_[i];
    b[i] = std::isfinite(below) ? below - 0x1p-50 * (std::abs(z[i]) + shift * y_[i])
                                : -std::numeric_limits<double>::infinity();
  }
}

void CertifiedSystem::bound_above(std::vector<double>& b) {
  const auto negate = [](std::vector<double>& values) {
    for (double& value : values) value = -value;
  };
  negate(b);
  negate(last_);
  bound_below(b);
  negate(b);
  negate(last_);
}

}  // namespace asnets
