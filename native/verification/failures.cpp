#include "verification/failures.hpp"

#include <algorithm>
#include <utility>

#include "interruption.hpp"

namespace asnets {

namespace {

constexpr std::size_t kMaxSuccessors = std::size_t{1} << 20;
// States of a component that the relaxation is asked about.
constexpr std::size_t kMaxRelaxed = 16;

}  // namespace

FailureClassifier::FailureClassifier(const Task& task, const SuccessorGenerator& generator, DeadEndDetector detector,
                                     const StateTable& states, const LookLimits& limits)
    : task_(task),
      generator_(generator),
      detector_(std::move(detector)),
      states_(states),
      limits_(limits),
      expander_(task, kMaxSuccessors),
      dead_(task.num_words()),
      left_(limits.all) {}

Failure FailureClassifier::classify(std::span<const StateId> component, bool is_stopped) {
  if (is_dead(component)) return Failure::kDeadEnd;
  return is_stopped ? Failure::kGivesUp : Failure::kLoop;
}

bool FailureClassifier::is_dead(std::span<const StateId> component) {
  const Word* const first = states_.state(component.front());
  generator_.applicable(first, actions_, stack_);
  if (actions_.empty()) return true;
  for (std::size_t i = 0; i < std::min(component.size(), kMaxRelaxed); ++i) {
    interruption_point();
    if (detector_.is_dead_end(states_.state(component[i]))) return true;
  }
  try {
    return look(first);
  } catch (const TooManySuccessors&) {
    return false;  // More than a look may meet.
  }
}

// Whether no goal is among the states that can be reached.
bool FailureClassifier::look(const Word* from) {
  StateTable met(task_.num_words());
  met.intern(from);
  for (std::size_t next = 0; next < met.size(); ++next) {
    interruption_tick();
    const Word* const state = met.state(static_cast<StateId>(next));
    if (task_.is_goal(state)) return false;
    if (dead_.find(state)) continue;
    if (met.size() > limits_.each || left_ == 0) return false;
    --left_;
    generator_.applicable(state, actions_, stack_);
    for (const ActionId action : actions_.actions()) {
      expander_.expand(state, action);
      for (std::size_t o = 0; o < expander_.count(); ++o) met.intern(expander_.successor(o));
    }
  }
  for (std::size_t i = 0; i < met.size(); ++i) dead_.intern(met.state(static_cast<StateId>(i)));
  return true;
}

}  // namespace asnets
