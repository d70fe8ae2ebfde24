// Where runs of a policy end that do not reach the goal.
//
// What it computes: for each bottom component of a chain (one that is never left) without goal, whether it is a dead
// end, a loop, or a state where the policy gives up.
// What it guarantees: a dead end is proved: the goal is out of reach there for every policy, since no action is
// applicable, since not even the relaxation reaches it from one of the states (all of which reach each other), or since
// all states that any actions lead to were looked at, and no goal is among them. The others may be dead ends too, where
// that would have taken more than the states that a look may meet.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heuristics/dead_end_detector.hpp"
#include "simulator.hpp"
#include "state_table.hpp"
#include "successor_generator.hpp"
#include "task.hpp"

namespace asnets {

enum class Failure : std::uint8_t { kNone, kDeadEnd, kLoop, kGivesUp };
inline constexpr std::size_t kNumFailures = 3;

struct LookLimits {
  std::size_t each = 10'000;  // States that the look from one component may meet.
  std::size_t all = 1'000'000;
};

class FailureClassifier {
 public:
  FailureClassifier(const Task& task, const SuccessorGenerator& generator, DeadEndDetector detector,
                    const StateTable& states, const LookLimits& limits);

  // Of a bottom component without goal; `is_stopped` if it is a state without a choice. Has interruption points.
  Failure classify(std::span<const StateId> component, bool is_stopped);

 private:
  bool is_dead(std::span<const StateId> component);
  bool look(const Word* from);

  const Task& task_;
  const SuccessorGenerator& generator_;
  DeadEndDetector detector_;
  const StateTable& states_;
  const LookLimits limits_;
  Expander expander_;
  StateTable dead_;  // All that looks have found.
  std::size_t left_;
  ActionList actions_;
  std::vector<std::int32_t> stack_;
};

}  // namespace asnets
