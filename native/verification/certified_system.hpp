// Linear systems x = b + Q x of substochastic matrices, with bounds that hold.
//
// What it computes: for the exact matrix Q*, of which Q is known up to a relative error of each entry, and any b* >= b, a
// vector that is nowhere above the solution x*; bounds from above are those of -b, negated.
// What it guarantees: let y > 0 with t = (I - Q*) y > 0. Then I - Q* is an M-matrix: its inverse exists and has no
// negative entry. For any vector z, with r = b - (I - Q*) z, we have (I - Q*)(x* - z) >= r, and so
//   x* >= z - max(0, max_i(-r_i / t_i)) y.
// Neither y nor z has to be exact, so both may come from any solver. t and r are bounded from below in floating point: a
// sum of m products that are rounded one by one differs from the exact one by at most (m + 1) 2^-53 of the sum of
// absolute values, to first order [higham2002accuracy, section 3.1], and the error of Q adds its share of that.
//
// Small matrices are factorised without pivoting, which is stable for M-matrices; larger ones are iterated upon
// (Gauss-Seidel) where that converges soon, else given to a sparse solver outside; solutions are refined by their
// residuals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace asnets {

// Rounded outward: how far a sum of so many products, whose factors have this relative error, may be from the exact one,
// relative to the sum of absolute values.
inline double sum_error(std::size_t terms, double relative_error) {
  return 1.001 * relative_error + static_cast<double>(terms + 8) * 0x1p-52;
}

// A square matrix by rows, with zeros on the diagonal.
struct SparseMatrix {
  std::vector<std::uint64_t> first{0};
  std::vector<std::uint32_t> columns;
  std::vector<double> values;

  std::size_t size() const { return first.size() - 1; }
  void end_row() { first.push_back(columns.size()); }
};

// Solves (I - Q) x = b approximately, for one Q.
using DirectSolver = std::function<std::vector<double>(std::span<const double> b)>;
// Empty where it cannot be done.
using DirectSolverFactory = std::function<DirectSolver(const SparseMatrix& q)>;

class CertifiedSystem {
 public:
  // `relative_error` is that of each entry. Has interruption points.
  CertifiedSystem(SparseMatrix q, double relative_error, const DirectSolverFactory& outside);

  // Whether y was found; else there are no bounds.
  bool is_certified() const { return is_certified_; }
  // Replaces b by a lower bound of the solution.
  void bound_below(std::vector<double>& b);
  void bound_above(std::vector<double>& b);

 private:
  void factorise();
  std::vector<double> solve(const std::vector<double>& b);
  void solve_densely(std::vector<double>& x) const;
  bool iterate(std::vector<double>& x, const std::vector<double>& b, bool for_certificate, std::size_t sweeps);
  bool certify();
  // b - (I - Q) x, and how far each may be from that of the exact matrix.
  void residuals(const std::vector<double>& x, const std::vector<double>& b, std::vector<double>& values,
                 std::vector<double>& errors) const;

  SparseMatrix q_;
  double relative_error_;
  bool is_certified_ = false;
  std::vector<double> dense_;  // The factors, if it is small.
  DirectSolver direct_;
  std::vector<double> y_;
  std::vector<double> t_;     // Lower bounds of (I - Q*) y.
  std::vector<double> last_;  // The last solution, to start from.
};

}  // namespace asnets
