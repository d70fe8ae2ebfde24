#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "bindings_types.hpp"
#include "heuristics/action_features.hpp"
#include "heuristics/heuristic.hpp"
#include "heuristics/lm_cut.hpp"
#include "search/solver.hpp"

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

  bool is_admissible() const { return heuristic_->is_admissible(); }

 private:
  const PyTask& task_;
  std::mutex mutex_;
  std::unique_ptr<Heuristic> heuristic_;
};

// Action features behind a lock.
class PyActionFeatures {
 public:
  PyActionFeatures(const PyTask& task, const std::vector<std::string>& names)
      : task_(task), features_(make_action_features(names, task.task)) {}

  // The bits of all actions, a byte each.
  std::vector<std::uint8_t> evaluate(const IntArray& propositions) {
    const std::vector<Word> state = pack_state(task_.task, propositions);
    const std::size_t bits = features_->bits();
    std::vector<std::uint8_t> result(bits * task_.task.num_actions());
    const auto set = [&](ActionId action, std::uint8_t code) {
      for (std::size_t b = 0; b < bits; ++b) {
        result[bits * static_cast<std::size_t>(action) + b] = static_cast<std::uint8_t>(code >> b & 1);
      }
    };
    nb::gil_scoped_release release;
    const std::lock_guard lock(mutex_);
    for (std::size_t a = 0; a < task_.task.num_actions(); ++a) set(static_cast<ActionId>(a), features_->usual_code());
    features_->evaluate(state.data(), set);
    return result;
  }

 private:
  const PyTask& task_;
  std::mutex mutex_;
  std::unique_ptr<ActionFeatures> features_;
};

constexpr const char* kStatusNames[] = {"converged", "time", "memory", "expansions", "trials", "interrupted"};

// A solver behind a lock. A call answers Ctrl-C by the status "interrupted"; the exception is raised by the binding.
class PySolver {
 public:
  PySolver(const PyTask& task, const std::string& planner, const std::string& heuristic, double epsilon, double penalty,
           std::uint64_t seed, std::size_t depth)
      : task_(task),
        solver_(make_solver(planner, task.task, task.generator, {heuristic, epsilon, penalty, seed, depth})) {}

  StateId initial() {
    const std::lock_guard lock(mutex_);
    return solver_->graph().add(task_.task.initial_state().data());
  }
  StateId add(IntArray propositions) {
    const std::vector<Word> state = pack_state(task_.task, propositions);
    const std::lock_guard lock(mutex_);
    return solver_->graph().add(state.data());
  }
  template <typename Function>
  auto locked(StateId state, Function&& function) {
    const std::lock_guard lock(mutex_);
    if (state >= solver_->graph().size()) throw nb::index_error("no such state");
    return function(*solver_);
  }
  Statistics statistics() {
    const std::lock_guard lock(mutex_);
    return solver_->statistics();
  }
  const PyTask& task() const { return task_; }

 private:
  const PyTask& task_;
  std::mutex mutex_;
  std::unique_ptr<Solver> solver_;
};

// Signals, and now and then the current figures of a search to a Python function.
class ProgressPoll {
 public:
  ProgressPoll(Solver& solver, StateId state, const nb::object& callback)
      : solver_(solver), state_(state), callback_(callback), last_(Clock::now()) {}

  bool operator()() {
    if (callback_.is_none() || Clock::now() - last_ < std::chrono::milliseconds(100)) return poll_signals();
    last_ = Clock::now();
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) return true;
    try {
      const Statistics& statistics = solver_.statistics();
      callback_(solver_.graph().value(state_), statistics.expanded, statistics.seconds, resident_memory());
    } catch (nb::python_error& error) {
      error.restore();
      return true;
    }
    return false;
  }

 private:
  using Clock = std::chrono::steady_clock;

  Solver& solver_;
  StateId state_;
  const nb::object& callback_;
  Clock::time_point last_;
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
          nb::arg("states"), nb::arg("ids"), "The values of states; infinite at recognised dead ends.")
      .def_prop_ro("is_admissible", &PyHeuristic::is_admissible);

  nb::class_<PyActionFeatures>(module, "ActionFeatures", "What heuristics say about the actions of a state.")
      .def(nb::init<const PyTask&, const std::vector<std::string>&>(), nb::arg("task"), nb::arg("names"),
           nb::keep_alive<1, 2>())
      .def(
          "evaluate",
          [](PyActionFeatures& self, IntArray propositions) { return to_numpy(self.evaluate(propositions)); },
          nb::arg("propositions"), "The bits of each action in a state, a byte each.");

  nb::class_<PySolver>(module, "Solver", "A planner with its table of values; states are numbered by the solver.")
      .def(nb::init<const PyTask&, const std::string&, const std::string&, double, double, std::uint64_t,
                    std::size_t>(),
           nb::arg("task"), nb::arg("planner"), nb::arg("heuristic"), nb::arg("epsilon"), nb::arg("penalty"),
           nb::arg("seed"), nb::arg("depth"), nb::keep_alive<1, 2>())
      .def("initial", &PySolver::initial, "The initial state.")
      .def("add", &PySolver::add, nb::arg("propositions"), "The state in which exactly these are true.")
      .def(
          "solve",
          [](PySolver& self, StateId state, double seconds, std::size_t memory, std::size_t expansions,
             std::size_t trials, double cpu_seconds, const nb::object& progress) {
            Status status{};
            {
              nb::gil_scoped_release release;
              status = self.locked(state, [&](Solver& solver) {
                ProgressPoll poll(solver, state, progress);
                return solver.solve(state, {seconds, memory, expansions, trials, cpu_seconds}, std::ref(poll));
              });
            }
            if (PyErr_Occurred() != nullptr) throw nb::python_error();
            return kStatusNames[static_cast<int>(status)];
          },
          nb::sig("def solve(self, state: int, seconds: float = 0.0, memory: int = 0, expansions: int = 0, "
                  "trials: int = 0, cpu_seconds: float = 0.0, "
                  "progress: collections.abc.Callable[[float, int, float, int], object] | None = None) -> str"),
          nb::arg("state"), nb::arg("seconds") = 0.0, nb::arg("memory") = 0, nb::arg("expansions") = 0,
          nb::arg("trials") = 0, nb::arg("cpu_seconds") = 0.0, nb::arg("progress") = nb::none(),
          "Searches; returns the status. A limit of 0 is none; memory is in bytes. `progress` is called with value, "
          "expanded states, seconds and memory a few times a second.")
      .def(
          "run_episodes",
          [](PySolver& self, std::uint64_t seed, std::uint64_t first, std::size_t count, std::int64_t max_steps) {
            std::vector<Episode> episodes;
            {
              nb::gil_scoped_release release;
              self.locked(self.initial(), [&](Solver& solver) {
                for (std::size_t i = 0; i < count && (episodes.empty() || episodes.back().ending != Ending::kInterrupted);
                     ++i) {
                  episodes.push_back(solver.run_episode(RandomStream(seed, first + i), max_steps, poll_signals));
                }
                return true;
              });
            }
            if (PyErr_Occurred() != nullptr) throw nb::python_error();
            return episodes_to_python(episodes);
          },
          nb::sig("def run_episodes(self, seed: int, first: int, count: int, max_steps: int) -> "
                  "tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64], "
                  "numpy.typing.NDArray[numpy.int8]]"),
          nb::arg("seed"), nb::arg("first"), nb::arg("count"), nb::arg("max_steps"),
          "Steps, cost and ending of episodes under the greedy policy; giving up counts as a dead end.")
      .def(
          "is_solved",
          [](PySolver& self, StateId state) {
            return self.locked(state, [&](Solver& solver) { return solver.is_solved(state); });
          },
          nb::arg("state"))
      .def(
          "is_dead",
          [](PySolver& self, StateId state) {
            return self.locked(state, [&](Solver& solver) { return solver.graph().is_dead(state); });
          },
          nb::arg("state"))
      .def(
          "value",
          [](PySolver& self, StateId state) {
            return self.locked(state, [&](Solver& solver) { return solver.graph().value(state); });
          },
          nb::arg("state"), "The value that the table holds.")
      .def(
          "greedy_action",
          [](PySolver& self, StateId state) {
            return self.locked(state, [&](Solver& solver) { return solver.greedy_action(state); });
          },
          nb::arg("state"), "The greedy action; -1 at goals, dead ends and where giving up is best.")
      .def(
          "propositions",
          [](PySolver& self, StateId state) {
            return to_numpy(self.locked(state, [&](Solver& solver) {
              return true_propositions(self.task().task, solver.graph().table().state(state));
            }));
          },
          nb::arg("state"), "The true propositions, ascending.")
      .def(
          "envelope",
          [](PySolver& self, StateId state) {
            return to_numpy(self.locked(state, [&](Solver& solver) { return solver.envelope(state); }));
          },
          nb::arg("state"), "The states that the policy from a state can visit, that state first.")
      .def(
          "new_envelope",
          [](PySolver& self, StateId state) {
            return to_numpy(self.locked(state, [&](Solver& solver) { return solver.new_envelope(state); }));
          },
          nb::arg("state"), "Of the envelope, the states that no earlier call of this function has given.")
      .def(
          "policy_table",
          [](PySolver& self, StateId state) {
            std::vector<Word> words;
            std::vector<ActionId> actions;
            std::vector<double> values;
            {
              nb::gil_scoped_release release;
              self.locked(state, [&](Solver& solver) {
                const std::size_t num_words = self.task().task.num_words();
                for (const StateId each : solver.envelope(state)) {
                  const Word* const first = solver.graph().table().state(each);
                  words.insert(words.end(), first, first + num_words);
                  actions.push_back(solver.greedy_action(each));
                  values.push_back(solver.graph().value(each));
                }
                return true;
              });
            }
            return nb::make_tuple(to_numpy(std::move(words)), to_numpy(std::move(actions)), to_numpy(std::move(values)));
          },
          nb::sig("def policy_table(self, state: int) -> tuple[numpy.typing.NDArray[numpy.uint64], "
                  "numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.float64]]"),
          nb::arg("state"),
          "The packed states (one after the other), actions and values of the policy from a solved state.")
      .def(
          "q_values",
          [](PySolver& self, StateId state, double seconds, std::size_t expansions) {
            Solver::QValues result;
            {
              nb::gil_scoped_release release;
              result = self.locked(state, [&](Solver& solver) {
                return solver.q_values(state, {seconds, 0, expansions, 0}, poll_signals);
              });
            }
            if (PyErr_Occurred() != nullptr) throw nb::python_error();
            return nb::make_tuple(to_numpy(std::move(result.actions)), to_numpy(std::move(result.values)),
                                  kStatusNames[static_cast<int>(result.status)]);
          },
          nb::sig("def q_values(self, state: int, seconds: float = 0.0, expansions: int = 0) -> "
                  "tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.float64], str]"),
          nb::arg("state"), nb::arg("seconds") = 0.0, nb::arg("expansions") = 0,
          "The applicable actions, their Q values after solving all successors, and the status.")
      .def(
          "statistics",
          [](PySolver& self) {
            const Statistics statistics = self.statistics();
            nb::dict result;
            result["expanded"] = statistics.expanded;
            result["evaluated"] = statistics.evaluated;
            result["backups"] = statistics.backups;
            result["trials"] = statistics.trials;
            result["seconds"] = statistics.seconds;
            result["peak_memory"] = statistics.peak_memory;
            return result;
          },
          nb::sig("def statistics(self) -> dict[str, float]"));

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
