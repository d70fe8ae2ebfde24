// The heuristic that knows nothing: 0 everywhere, which is admissible.
#pragma once

#include <memory>

#include "heuristics/heuristic.hpp"

namespace asnets {

class ZeroHeuristic final : public Heuristic {
 public:
  double evaluate(const Word*) override { return 0; }
};

inline std::unique_ptr<Heuristic> make_zero(const Task&) { return std::make_unique<ZeroHeuristic>(); }

}  // namespace asnets
