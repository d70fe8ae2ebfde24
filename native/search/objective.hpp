// What a planner optimises.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace asnets {

enum class Objective : std::uint8_t {
  kPenalty,        // The least expected cost, where giving up costs a fixed penalty [kolobov2012theory, "fSSPUDE"].
  kMaxprob,        // The greatest probability of reaching a goal; inside, the least one of failing.
  kLexicographic,  // Of the policies of kMaxprob, the least expected cost [trevizan2017efficient, "MCMP"].
};

inline constexpr const char* kObjectiveNames[] = {"penalty", "maxprob", "lexicographic"};

inline Objective find_objective(const std::string& name) {
  for (std::uint8_t i = 0; i < 3; ++i) {
    if (name == kObjectiveNames[i]) return static_cast<Objective>(i);
  }
  throw std::invalid_argument("unknown objective: " + name);
}

}  // namespace asnets
