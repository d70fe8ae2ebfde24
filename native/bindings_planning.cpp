#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>

#include "bindings_types.hpp"
#include "heuristics/heuristic.hpp"
#include "heuristics/lm_cut.hpp"

namespace asnets {

namespace {

// One heuristic behind a lock: it holds scratch space.
class PyHeuristic {
 public:
  PyHeuristic(const PyTask& task, const std::string& name) : task_(task), heuristic_(make_heuristic(name, task.task)) {}

  std::vector<double> evaluate(PyStates& states, std::span<const StateId> ids) {
    if (&states.task() != &task_) throw nb::value_error("the states belong to another task");
    const std::lock_guard lock(mutex_);
    std::vector<double> values;
    values.reserve(ids.size());
    for (const StateId id : ids) values.push_back(heuristic_->evaluate(states.words(id)));
    return values;
  }

 private:
  const PyTask& task_;
  std::mutex mutex_;
  std::unique_ptr<Heuristic> heuristic_;
};

}  // namespace

void bind_planning(nb::module_& module) {
  nb::class_<PyHeuristic>(module, "Heuristic", "A heuristic of a task, by name: zero, hmax, hadd, hff, lmcut.")
      .def(nb::init<const PyTask&, const std::string&>(), nb::arg("task"), nb::arg("name"), nb::keep_alive<1, 2>())
      .def(
          "evaluate",
          [](PyHeuristic& self, PyStates& states, InArray<StateId> ids) {
            std::vector<double> values;
            {
              nb::gil_scoped_release release;
              values = self.evaluate(states, {ids.data(), ids.size()});
            }
            return to_numpy(std::move(values));
          },
          nb::arg("states"), nb::arg("ids"), "The values of states; infinite at recognised dead ends.");

  module.def(
      "find_landmarks",
      [](PyStates& states, StateId state) {
        const Landmarks landmarks = find_landmarks(states.task().task, states.words(state));
        return nb::make_tuple(landmarks.reachable ? landmarks.value : kInfinity, landmarks.cuts, landmarks.costs);
      },
      nb::sig("def find_landmarks(states: States, state: int) -> tuple[float, list[list[int]], list[float]]"),
      nb::arg("states"), nb::arg("state"),
      "The LM-cut value of a state, its cuts as lists of actions, and their costs.");
}

}  // namespace asnets
