// Tasks and states as Python sees them; shared by the binding files.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "bindings.hpp"
#include "deadline.hpp"
#include "heuristics/dead_end_detector.hpp"
#include "heuristics/relaxed_task.hpp"
#include "interruption.hpp"
#include "policy/decision.hpp"
#include "policy/episodes.hpp"
#include "random.hpp"
#include "search/budget.hpp"
#include "simulator.hpp"
#include "state_table.hpp"
#include "successor_generator.hpp"
#include "task.hpp"

namespace asnets {

using IntArray = InArray<std::int32_t>;
using DoubleArray = InArray<double>;

template <typename T>
std::span<const T> view(const InArray<T>& array) {
  return {array.data(), array.size()};
}

// A task with its successor generator; the numpy arrays it reads are kept alive, not copied. Immutable: may be used from
// any thread at any time.
struct PyTask {
  PyTask(std::vector<IntArray> kept_ints, std::vector<DoubleArray> kept_doubles, const TaskArrays& arrays)
      : ints(std::move(kept_ints)), doubles(std::move(kept_doubles)), task(arrays), generator(task) {}

  // The relaxation that dead ends are found by; made when it is first asked for.
  std::shared_ptr<const RelaxedTask> relaxed() const {
    const std::lock_guard lock(relaxed_mutex);  // Not std::call_once, which not all systems let exceptions leave.
    if (relaxed_task == nullptr) relaxed_task = std::make_shared<RelaxedTask>(task, OperatorForm::kMerged);
    return relaxed_task;
  }
  DetectorFactory detectors(bool wanted) const {
    if (!wanted) return {};
    return [this] { return std::make_unique<DeadEndDetector>([this] { return relaxed(); }); };
  }

  std::vector<IntArray> ints;
  std::vector<DoubleArray> doubles;
  Task task;
  SuccessorGenerator generator;
  mutable std::mutex relaxed_mutex;
  mutable std::shared_ptr<const RelaxedTask> relaxed_task;
};

// The packed state in which exactly these propositions are true.
inline std::vector<Word> pack_state(const Task& task, const IntArray& propositions) {
  std::vector<Word> state(task.num_words(), 0);
  for (const std::int32_t proposition : view(propositions)) {
    if (proposition < 0 || static_cast<std::size_t>(proposition) >= task.num_propositions()) {
      throw nb::index_error("no such proposition");
    }
    set_bit(state.data(), static_cast<std::size_t>(proposition));
  }
  return state;
}

// The true propositions of a packed state, ascending.
inline std::vector<std::int32_t> true_propositions(const Task& task, const Word* state) {
  std::vector<std::int32_t> result;
  for (std::size_t p = 0; p < task.num_propositions(); ++p) {
    if (test_bit(state, p)) result.push_back(static_cast<std::int32_t>(p));
  }
  return result;
}

inline void check_action(const Task& task, ActionId action) {
  if (action < 0 || static_cast<std::size_t>(action) >= task.num_actions()) throw nb::index_error("no such action");
}

inline void check_applicable(const Task& task, const Word* state, ActionId action) {
  check_action(task, action);
  if (!task.is_applicable(action, state)) throw nb::value_error("the action is not applicable in the state");
}

// Whether a signal asks to stop, as `is_signalled`, for callers without the interpreter's lock.
inline bool poll_signals() {
  nb::gil_scoped_acquire gil;
  return is_signalled();
}

// The same, with a deadline, which may be null, and a limit on the resident memory of the process; 0: none.
inline auto poll_signals_and(const Deadline* deadline, std::size_t memory = 0) {
  return [deadline, memory] {
    return (deadline != nullptr && deadline->has_passed()) || (memory != 0 && resident_memory() >= memory) || poll_signals();
  };
}

// Does work without the interpreter's lock; signals raise their exception where the work meets an interruption point.
template <typename Work>
auto interruptible(Work&& work) {
  nb::gil_scoped_release release;
  const InterruptionScope scope([] {
    nb::gil_scoped_acquire gil;
    if (is_signalled()) throw nb::python_error();
  });
  return work();
}

// Interned states behind a lock, so that Python threads may share one table. No call needs the interpreter's lock, and
// bindings let go of it before they call.
class PyStates {
 public:
  PyStates(const PyTask& task, std::size_t max_successors)
      : task_(task), table_(task.task.num_words()), expander_(task.task, max_successors), sampler_(task.task) {}

  StateId initial() {
    const std::lock_guard lock(mutex_);
    return table_.intern(task_.task.initial_state().data());
  }

  StateId intern(const std::vector<Word>& state) {
    const std::lock_guard lock(mutex_);
    return table_.intern(state.data());
  }

  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return table_.size();
  }

  std::vector<std::int32_t> propositions(StateId id) {
    const std::lock_guard lock(mutex_);
    return true_propositions(task_.task, at(id));
  }

  bool is_goal(StateId id) {
    const std::lock_guard lock(mutex_);
    return task_.task.is_goal(at(id));
  }

  double cost(StateId id, ActionId action) {
    const std::lock_guard lock(mutex_);
    check_action(task_.task, action);
    return task_.task.cost(action, at(id));
  }

  std::vector<ActionId> applicable(StateId id) {
    const std::lock_guard lock(mutex_);
    task_.generator.applicable(at(id), actions_, stack_);
    std::vector<ActionId> result(actions_.actions().begin(), actions_.actions().end());
    std::sort(result.begin(), result.end());
    return result;
  }

  void successors(StateId id, ActionId action, std::vector<StateId>& states, std::vector<double>& probabilities) {
    const std::lock_guard lock(mutex_);
    expander_.expand(at(id, action), action);
    for (std::size_t i = 0; i < expander_.count(); ++i) {
      states.push_back(table_.intern(expander_.successor(i)));
      probabilities.push_back(expander_.probability(i));
    }
  }

  // The packed words of a state; they never move.
  const Word* words(StateId id) {
    const std::lock_guard lock(mutex_);
    return at(id);
  }
  const PyTask& task() const { return task_; }

  StateId sample(StateId id, ActionId action, RandomStream& random) {
    const std::lock_guard lock(mutex_);
    const Word* words = at(id, action);
    std::vector<Word> state(words, words + task_.task.num_words());
    sampler_.step(state.data(), action, random);
    return table_.intern(state.data());
  }

 private:
  const Word* at(StateId id) const {
    if (id >= table_.size()) throw nb::index_error("no such state");
    return table_.state(id);
  }
  const Word* at(StateId id, ActionId action) const {
    const Word* state = at(id);
    check_applicable(task_.task, state, action);
    return state;
  }

  const PyTask& task_;
  std::mutex mutex_;
  StateTable table_;
  Expander expander_;
  Sampler sampler_;
  ActionList actions_;
  std::vector<std::int32_t> stack_;
};

// A policy of a task; makes one for each thread.
struct PyPolicy {
  const PyTask& task;
  PolicyFactory make;
  bool has_memory = false;  // What it does depends on the run so far, not on the state alone.
};

// What looks ahead before each step of a run in a task; makes one for each thread.
struct PyStepSearch {
  const PyTask& task;
  std::function<std::unique_ptr<StepSearch>()> make;
};

nb::dict decision_to_python(const Decision& decision);

inline nb::tuple episodes_to_python(const std::vector<Episode>& episodes) {
  std::vector<std::int64_t> steps;
  std::vector<double> costs;
  std::vector<std::int8_t> endings;
  for (const Episode& episode : episodes) {
    steps.push_back(episode.steps);
    costs.push_back(episode.cost);
    endings.push_back(static_cast<std::int8_t>(episode.ending));
  }
  return nb::make_tuple(to_numpy(std::move(steps)), to_numpy(std::move(costs)), to_numpy(std::move(endings)));
}

}  // namespace asnets
