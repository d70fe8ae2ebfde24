// Linear systems x = b + Q x of substochastic matrices, with bounds that hold.
//
// What it computes: for the exact matrix Q*, of which Q is known up to a relative error of each entry, and any b* >= b,
// a vector that is nowhere above the solution x*; bounds from above are those of -b, negated.
// What it guarantees: for any vector z with residual r = b - (I - Q*) z, and any v > 0 with (I - Q*) v >= max(0, -r)
// and > 0, we have x* >= z - v. For such a v makes I - Q* an M-matrix, so that its inverse exists and has no negative
// entry, and (I - Q*)(x* - z + v) >= r + (I - Q*) v >= 0. Neither z nor v has to be exact: both may come from any
// solver, and are checked in floating point, with all that rounding may have done. A sum of m products that are rounded
// one by one differs from the exact one by at most (m + 1) 2^-53 of the sum of absolute values, to first order
// [higham2002accuracy, section 3.1]. So that this is little also where states are left only after very many steps, I -
// Q* is never applied as such: with e_i the probability of leaving the component from i, which is known as well as the
// entries of Q, rows of Q* and e* sum to 1, and
//   ((I - Q*) z)_i = e*_i z_i + sum_j q*_ij (z_i - z_j).
//
// Small matrices are eliminated state by state, which adds, multiplies and divides positive numbers only and so loses
// no accuracy [grassmann1985regenerative]. Larger ones are iterated upon, by Gauss-Seidel where that converges soon,
// else by conjugate gradients, or given to a sparse solver outside. Solutions are refined by their residuals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace asnets {

// Rounded outward: how far a sum of so many products, whose factors have this relative error, may be from the exact
// one, relative to the sum of absolute values.
inline double sum_error(std::size_t terms, double relative_error) {
  return 1.001 * relative_error + static_cast<double>(terms + 8) * 0x1p-52;
}

// A square matrix by rows, with zeros on the diagonal, and what is left of each row.
struct SparseMatrix {
  std::vector<std::uint64_t> first{0};
  std::vector<std::uint32_t> columns;
  std::vector<double> values;
  std::vector<double> exits;

  std::size_t size() const { return exits.size(); }
  void end_row(double exit) {
    first.push_back(columns.size());
    exits.push_back(exit);
  }
};

// Solves (I - Q) x = b approximately, for one Q.
using DirectSolver = std::function<std::vector<double>(std::span<const double> b)>;
// Empty where it cannot be done.
using DirectSolverFactory = std::function<DirectSolver(const SparseMatrix& q)>;

class CertifiedSystem {
 public:
  // `relative_error` is that of each entry and exit. Has interruption points.
  CertifiedSystem(SparseMatrix q, double relative_error, const DirectSolverFactory& outside);

  // Replaces b by a lower bound of the solution; false if none could be certified.
  bool bound_below(std::vector<double>& b);
  bool bound_above(std::vector<double>& b);

 private:
  void eliminate();
  void solve_by_elimination(std::vector<double>& x) const;
  // From a guess, if it is not empty.
  std::vector<double> solve(const std::vector<double>& b, std::vector<double> guess = {});
  bool iterate(std::vector<double>& x, const std::vector<double>& b, std::size_t sweeps);
  void precondition(const std::vector<double>& b, std::vector<double>& x) const;
  void apply(const std::vector<double>& x, std::vector<double>& result) const;
  bool solve_by_gradients(const std::vector<double>& r0, std::vector<double>& d) const;
  bool refine_by_gradients(std::vector<double>& x, const std::vector<double>& b) const;
  bool use_direct();
  // b - (I - Q) x, and how far each may be from that of the exact matrix.
  void residuals(const std::vector<double>& x, const std::vector<double>& b, std::vector<double>& values,
                 std::vector<double>& errors) const;

  SparseMatrix q_;
  double relative_error_;
  const DirectSolverFactory& outside_;
  bool was_direct_tried_ = false;
  std::vector<double> dense_;   // What elimination leaves, if it is small.
  std::vector<double> pivots_;  // The probabilities of leaving a state for those that are not yet eliminated.
  DirectSolver direct_;
  std::vector<double> last_;  // What the last bound from below stands on.
};

}  // namespace asnets
