#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "bindings_types.hpp"
#include "features/action_features.hpp"
#include "features/registry.hpp"
#include "heuristics/lm_cut.hpp"
#include "heuristics/registry.hpp"
#include "heuristics/relaxed_depth.hpp"

namespace asnets {

namespace {

// One heuristic behind a lock: it holds scratch space.
class PyHeuristic {
 public:
  PyHeuristic(const PyTask& task, const std::string& name)
      : task_(task), heuristic_(interruptible([&] { return find_heuristic(name).make(task.task); })) {}

  std::vector<double> evaluate(PyStates& states, std::span<const StateId> ids) {
    if (&states.task() != &task_) throw nb::value_error("the states belong to another task");
    const std::lock_guard lock(mutex_);
    std::vector<double> values;
    values.reserve(ids.size());
    for (const StateId id : ids) {
      interruption_point();
      values.push_back(heuristic_->evaluate(states.words(id)));
    }
    return values;
  }

 private:
  const PyTask& task_;
  std::mutex mutex_;
  std::unique_ptr<Heuristic> heuristic_;
};

// Action features behind a lock.
class PyActionFeatures {
 public:
  PyActionFeatures(const PyTask& task, const std::vector<std::string>& names)
      : task_(task), features_(interruptible([&] { return std::make_unique<ActionFeatures>(names, task.task); })) {}

  // The values of all actions, a row each.
  std::vector<float> evaluate(const IntArray& propositions) {
    const std::vector<Word> state = pack_state(task_.task, propositions);
    const std::size_t width = features_->width();
    std::vector<float> result(width * task_.task.num_actions());
    interruptible([&] {
      const std::lock_guard lock(mutex_);
      for (auto row = result.begin(); row != result.end(); row += static_cast<std::ptrdiff_t>(width)) {
        std::copy(features_->defaults().begin(), features_->defaults().end(), row);
      }
      features_->evaluate(state.data(), [&](ActionId action, const float* values) {
        std::copy_n(values, width, result.data() + width * static_cast<std::size_t>(action));
      });
    });
    return result;
  }

 private:
  const PyTask& task_;
  std::mutex mutex_;
  std::unique_ptr<ActionFeatures> features_;
};

}  // namespace

void bind_heuristics(nb::module_& module) {
  nb::class_<PyHeuristic>(module, "Heuristic", "A heuristic of a task, by its name in `heuristics`.\n\n"
                          "May be used from several threads at once; they wait for each other.")
      .def(nb::init<const PyTask&, const std::string&>(), nb::arg("task"), nb::arg("name"), nb::keep_alive<1, 2>())
      .def(
          "evaluate",
          [](PyHeuristic& self, PyStates& states, InArray<StateId> ids) {
            return to_numpy(interruptible([&] { return self.evaluate(states, {ids.data(), ids.size()}); }));
          },
          nb::arg("states"), nb::arg("ids"), "The values of states; infinite at recognised dead ends.");

  nb::class_<PyActionFeatures>(module, "ActionFeatures",
                               "Features of the actions of a state, by their names in `action_features`.\n\n"
                               "May be used from several threads at once; they wait for each other.")
      .def(nb::init<const PyTask&, const std::vector<std::string>&>(), nb::arg("task"), nb::arg("names"),
           nb::keep_alive<1, 2>())
      .def(
          "evaluate",
          [](PyActionFeatures& self, IntArray propositions) { return to_numpy(self.evaluate(propositions)); },
          nb::arg("propositions"), "The values of the actions in a state, one action after the other.");

  module.def(
      "find_landmarks",
      [](PyStates& states, StateId state) {
        const Landmarks landmarks =
            interruptible([&] { return find_landmarks(states.task().task, states.words(state)); });
        return nb::make_tuple(landmarks.reachable ? landmarks.value : kInfinity, landmarks.cuts, landmarks.costs);
      },
      nb::sig("def find_landmarks(states: States, state: int) -> tuple[float, list[list[int]], list[float]]"),
      nb::arg("states"), nb::arg("state"),
      "The LM-cut value of a state, its cuts as lists of actions, and their costs.");
  module.def(
      "relaxed_depth",
      [](const PyTask& task) {
        return interruptible([&] { return relaxed_depth(*task.relaxed(), task.task.initial_state().data()); });
      },
      nb::arg("task"),
      "The number of rounds from the initial state on after which nothing new becomes true if nothing is deleted.");
  module.def(
      "heuristics",
      [] {
        nb::list result;
        for (const HeuristicEntry& entry : heuristics()) {
          result.append(nb::make_tuple(entry.name, entry.is_admissible, entry.is_safe, entry.description));
        }
        return result;
      },
      nb::sig("def heuristics() -> list[tuple[str, bool, bool, str]]"),
      "The heuristics: name, whether it is admissible, whether it is safe, description.");
  module.def(
      "action_features",
      [] {
        nb::list result;
        for (const ActionFeatureEntry& entry : action_features()) {
          result.append(nb::make_tuple(entry.name, entry.default_values.size(), entry.description, entry.is_binary));
        }
        return result;
      },
      nb::sig("def action_features() -> list[tuple[str, int, str, bool]]"),
      "The action features: name, number of values for each action, description, whether all values are 0 or 1.");
}

}  // namespace asnets
