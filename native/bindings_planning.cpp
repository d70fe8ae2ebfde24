#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>

#include "bindings_types.hpp"
#include "search/registry.hpp"
#include "search/solver.hpp"

namespace asnets {

namespace {

const char* status_name(Status status) {
  constexpr const char* kNames[] = {"converged",   "time",      "memory", "expansions", "trials",
                                    "interrupted", "precision", "work"};
  return kNames[static_cast<int>(status)];
}

nb::tuple envelope_to_python(Solver::Envelope envelope) {
  return nb::make_tuple(to_numpy(std::move(envelope.states)), status_name(envelope.status));
}

// A solver behind two locks, so that a table can be read while it is searched. Nothing here holds the interpreter's lock
// while it waits for one of them.
//  - Work (searching, adding states, running episodes, walking envelopes) is done by one thread at a time.
//  - The table is held by whoever works, who lets go of it several times a second for those who read.
// From `progress`, which is called by the thread that works, the table may be read; work is refused.
class PySolver {
 public:
  PySolver(const PyTask& task, const std::string& planner, const std::string& heuristic, double epsilon, double penalty,
           std::uint64_t seed, std::size_t depth, const std::string& objective, bool anytime,
           const PyPolicy* policy)
      : task_(task) {
    interruptible([&] {
      solver_ = find_planner(planner).make(task.task, task.generator,
                                           {heuristic, epsilon, penalty, seed, depth, find_objective(objective), anytime,
                                            policy == nullptr ? PolicyFactory{} : policy->make});
      initial_ = solver_->graph().add(task.task.initial_state().data());
    });
  }

  StateId initial() const { return initial_; }
  const PyTask& task() const { return task_; }

  // Work that takes a while: `function(solver, poll)`; `poll` is to be called now and then. Waits for other work.
  template <typename Function>
  auto work(StateId state, const nb::object& progress, Function&& function) {
    if (worker_.load() == std::this_thread::get_id()) {
      throw std::runtime_error("the solver is at work: its progress function may read its table, not work with it");
    }
    auto result = without_gil([&] {
      const std::lock_guard working(work_);
      const WorkerName name(worker_);
      std::unique_lock table(table_);
      check(state);
      Poll poll(*this, table, state, progress);
      // For work that has no budget, such as adding a state.
      const InterruptionScope scope([&] {
        if (!poll()) return;
        nb::gil_scoped_acquire gil;
        throw nb::python_error();
      });
      return function(*solver_, Solver::Poll(std::ref(poll)));
    });
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    return result;
  }

  // A look into the table, also while another thread works.
  template <typename Function>
  auto read(StateId state, Function&& function) {
    return without_gil([&] {
      ++readers_;
      const std::lock_guard table(table_);
      --readers_;
      check(state);
      return function(*solver_);
    });
  }

 private:
  struct WorkerName {
    explicit WorkerName(std::atomic<std::thread::id>& of) : worker(of) { worker = std::this_thread::get_id(); }
    ~WorkerName() { worker = std::thread::id(); }
    std::atomic<std::thread::id>& worker;
  };

  // Signals, and now and then the current figures of a search to a Python function, with the table free to be read.
  class Poll {
   public:
    Poll(PySolver& solver, std::unique_lock<std::mutex>& table, StateId state, const nb::object& callback)
        : solver_(solver), table_(table), state_(state), callback_(callback), last_(Clock::now()) {}

    bool operator()() {
      const double value = solver_.solver_->graph().value(state_);
      const Statistics statistics = solver_.solver_->statistics();
      table_.unlock();
      const bool stop = ask(value, statistics);
      solver_.let_read();
      table_.lock();
      return stop;
    }

   private:
    using Clock = std::chrono::steady_clock;

    bool ask(double value, const Statistics& statistics) {
      if (callback_.is_none() || Clock::now() - last_ < std::chrono::milliseconds(100)) return poll_signals();
      last_ = Clock::now();
      nb::gil_scoped_acquire gil;
      if (is_signalled()) return true;
      try {
        callback_(value, statistics.expanded, statistics.seconds, resident_memory());
      } catch (nb::python_error& error) {
        error.restore();
        return true;
      }
      return false;
    }

    PySolver& solver_;
    std::unique_lock<std::mutex>& table_;
    StateId state_;
    const nb::object& callback_;
    Clock::time_point last_;
  };

  // Those who wait to read come first, but not for ever.
  void let_read() const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(10);
    while (readers_ > 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  }

  void check(StateId state) const {
    if (state >= solver_->graph().size()) throw nb::index_error("no such state");
  }

  const PyTask& task_;
  std::mutex work_;
  std::mutex table_;
  std::atomic<int> readers_{0};
  std::atomic<std::thread::id> worker_{};
  std::unique_ptr<Solver> solver_;
  StateId initial_ = 0;
};

}  // namespace

void bind_planning(nb::module_& module) {
  // Its arguments are a message, the true propositions, the number of the action, and whether it is certain.
  const nb::exception<UnboundedCost> unbounded(module, "UnboundedCost", PyExc_ArithmeticError);
  nb::register_exception_translator(
      [](const std::exception_ptr& pointer, void* type) {
        try {
          std::rethrow_exception(pointer);
        } catch (const UnboundedCost& error) {
          nb::list state;
          for (std::size_t bit = 0; bit < 64 * error.state.size(); ++bit) {
            if (test_bit(error.state.data(), bit)) state.append(bit);
          }
          PyErr_SetObject(static_cast<PyObject*>(type),
                          nb::make_tuple(error.what(), state, error.action, error.is_certain).ptr());
        }
      },
      unbounded.ptr());

  nb::class_<PySolver>(module, "Solver",
                       "A planner with its table of values; states are numbered by the solver.\n\n"
                       "While one thread works (add, solve, q_values, bounds, action_bounds, greedy_action, run_episodes, the envelopes, "
                       "take_back, tighten and policy_table), others that want to work wait for it, and any thread may read: initial, is_solved, "
                       "is_dead, value, propositions, statistics. A progress function may read too; if it tries to work, "
                       "RuntimeError is raised.")
      .def(nb::init<const PyTask&, const std::string&, const std::string&, double, double, std::uint64_t,
                    std::size_t, const std::string&, bool, const PyPolicy*>(),
           nb::arg("task"), nb::arg("planner"), nb::arg("heuristic"), nb::arg("epsilon"), nb::arg("penalty"),
           nb::arg("seed"), nb::arg("depth"), nb::arg("objective") = "penalty",
           nb::arg("anytime") = false, nb::arg("policy").none() = nb::none(), nb::keep_alive<1, 2>(),
           nb::keep_alive<1, 11>())
      .def("initial", &PySolver::initial, "The initial state.")
      .def(
          "add",
          [](PySolver& self, const IntArray& propositions) {
            const std::vector<Word> state = pack_state(self.task().task, propositions);
            return self.work(self.initial(), nb::none(),
                             [&](Solver& solver, const Solver::Poll&) { return solver.graph().add(state.data()); });
          },
          nb::arg("propositions"), "The state in which exactly these are true.")
      .def(
          "solve",
          [](PySolver& self, StateId state, double seconds, std::size_t memory, std::size_t expansions,
             std::size_t trials, double cpu_seconds, const nb::object& progress, const Deadline* deadline, std::size_t work) {
            return status_name(self.work(state, progress, [&](Solver& solver, const Solver::Poll& poll) {
              return solver.solve(state, {seconds, memory, expansions, trials, cpu_seconds, deadline, work}, poll);
            }));
          },
          nb::sig("def solve(self, state: int, seconds: float = 0.0, memory: int = 0, expansions: int = 0, "
                  "trials: int = 0, cpu_seconds: float = 0.0, "
                  "progress: collections.abc.Callable[[float, int, float, int], object] | None = None, "
                  "deadline: Deadline | None = None, work: int = 0) -> str"),
          nb::arg("state"), nb::arg("seconds") = 0.0, nb::arg("memory") = 0, nb::arg("expansions") = 0,
          nb::arg("trials") = 0, nb::arg("cpu_seconds") = 0.0, nb::arg("progress") = nb::none(),
          nb::arg("deadline") = nb::none(), nb::arg("work") = 0,
          "Searches; returns the status. A limit of 0 is none; memory is in bytes. `progress` is called with value, "
          "expanded states, seconds and memory a few times a second.")
      .def(
          "solve_with_bounds",
          [](PySolver& self, StateId state, double seconds, std::size_t memory, std::size_t expansions,
             std::size_t trials, double cpu_seconds, const nb::object& progress, const Deadline* deadline, std::size_t work) {
            ValueBounds bounds{0, 0};
            const char* status = status_name(self.work(state, progress, [&](Solver& solver, const Solver::Poll& poll) {
              return solver.solve_with_bounds(state, {seconds, memory, expansions, trials, cpu_seconds, deadline, work}, poll,
                                              bounds);
            }));
            return nb::make_tuple(status, bounds.lower, bounds.upper, bounds.goal_lower, bounds.goal_upper);
          },
          nb::sig("def solve_with_bounds(self, state: int, seconds: float = 0.0, memory: int = 0, expansions: int = 0, "
                  "trials: int = 0, cpu_seconds: float = 0.0, "
                  "progress: collections.abc.Callable[[float, int, float, int], object] | None = None, "
                  "deadline: Deadline | None = None, work: int = 0) -> tuple[str, float, float, float, float]"),
          nb::arg("state"), nb::arg("seconds") = 0.0, nb::arg("memory") = 0, nb::arg("expansions") = 0,
          nb::arg("trials") = 0, nb::arg("cpu_seconds") = 0.0, nb::arg("progress") = nb::none(),
          nb::arg("deadline") = nb::none(), nb::arg("work") = 0,
          "As solve, until the value is known up to epsilon: the status, bounds of the value (of the probability of "
          "failing under maxprob), and of the greatest probability of reaching a goal (under lexicographic).")
      .def(
          "run_episodes",
          [](PySolver& self, std::uint64_t seed, std::uint64_t first, std::size_t count, std::int64_t max_steps,
             bool detect_dead_ends, const Deadline* deadline) {
            return episodes_to_python(
                self.work(self.initial(), nb::none(), [&](Solver& solver, const Solver::Poll& poll) {
                  const DetectorFactory make_detector = self.task().detectors(detect_dead_ends);
                  const auto detector = make_detector ? make_detector() : nullptr;
                  std::vector<Episode> episodes(count);
                  for (std::size_t i = 0; i < count; ++i) {
                    episodes[i] = solver.run_episode(RandomStream(seed, first + i), max_steps, detector.get(), [&] {
                      return poll() || (deadline != nullptr && deadline->has_passed());
                    });
                    if (episodes[i].ending == Ending::kInterrupted) break;
                  }
                  return episodes;
                }));
          },
          nb::sig("def run_episodes(self, seed: int, first: int, count: int, max_steps: int, "
                  "detect_dead_ends: bool = False, deadline: Deadline | None = None) -> "
                  "tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64], "
                  "numpy.typing.NDArray[numpy.int8]]"),
          nb::arg("seed"), nb::arg("first"), nb::arg("count"), nb::arg("max_steps"),
          nb::arg("detect_dead_ends") = false, nb::arg("deadline") = nb::none(),
          "Steps, cost and ending of episodes under the greedy policy, which may give up. Those that the "
          "deadline stops are marked so.")
      .def(
          "is_solved",
          [](PySolver& self, StateId state) {
            return self.read(state, [&](Solver& solver) { return solver.is_solved(state); });
          },
          nb::arg("state"))
      .def(
          "values",
          [](PySolver& self) {
            return to_numpy(self.work(self.initial(), nb::none(), [&](Solver& solver, const Solver::Poll&) {
              std::vector<double> values(solver.graph().size());
              for (std::size_t i = 0; i < values.size(); ++i) values[i] = solver.graph().value(static_cast<StateId>(i));
              return values;
            }));
          },
          nb::sig("def values(self) -> numpy.typing.NDArray[numpy.float64]"), "The values that the table holds, of all states.")
      .def(
          "is_dead",
          [](PySolver& self, StateId state) {
            return self.read(state, [&](Solver& solver) { return solver.graph().is_dead(state); });
          },
          nb::arg("state"))
      .def(
          "value",
          [](PySolver& self, StateId state) {
            return self.read(state, [&](Solver& solver) { return solver.graph().value(state); });
          },
          nb::arg("state"), "The value that the table holds.")
      .def(
          "bounds",
          [](PySolver& self, StateId state) {
            const ValueBounds bounds = self.work(
                state, nb::none(), [&](Solver& solver, const Solver::Poll&) { return solver.known_bounds(state); });
            return nb::make_tuple(bounds.lower, bounds.upper);
          },
          nb::sig("def bounds(self, state: int) -> tuple[float, float]"), nb::arg("state"),
          "Sound bounds of the value, as far as they are known.")
      .def(
          "action_bounds",
          [](PySolver& self, StateId state) {
            Solver::ActionBounds found = self.work(
                state, nb::none(), [&](Solver& solver, const Solver::Poll&) { return solver.action_bounds(state); });
            return nb::make_tuple(to_numpy(std::move(found.actions)), to_numpy(std::move(found.lower)),
                                  to_numpy(std::move(found.upper)));
          },
          nb::sig("def action_bounds(self, state: int) -> tuple[numpy.typing.NDArray[numpy.int32], "
                  "numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]"),
          nb::arg("state"), "The applicable actions with sound bounds of their Q values, as far as they are known.")
      .def(
          "greedy_action",
          [](PySolver& self, StateId state) {
            return self.work(state, nb::none(),
                             [&](Solver& solver, const Solver::Poll&) { return solver.greedy_action(state); });
          },
          nb::arg("state"), "The greedy action; -1 at goals, dead ends and where giving up is best.")
      .def(
          "propositions",
          [](PySolver& self, StateId state) {
            return to_numpy(self.read(state, [&](Solver& solver) {
              return true_propositions(self.task().task, solver.graph().table().state(state));
            }));
          },
          nb::arg("state"), "The true propositions, ascending.")
      .def(
          "envelope",
          [](PySolver& self, StateId state, double seconds, std::size_t expansions, const Deadline* deadline) {
            return envelope_to_python(self.work(state, nb::none(), [&](Solver& solver, const Solver::Poll& poll) {
              return solver.envelope(state, {seconds, 0, expansions, 0, 0, deadline}, poll);
            }));
          },
          nb::sig("def envelope(self, state: int, seconds: float = 0.0, expansions: int = 0, "
                  "deadline: Deadline | None = None) -> tuple[numpy.typing.NDArray[numpy.uint32], str]"),
          nb::arg("state"), nb::arg("seconds") = 0.0, nb::arg("expansions") = 0, nb::arg("deadline") = nb::none(),
          "The states that the policy from a state can visit, that state first, and the status.")
      .def(
          "new_envelope",
          [](PySolver& self, StateId state, double seconds, std::size_t expansions, const Deadline* deadline) {
            return envelope_to_python(self.work(state, nb::none(), [&](Solver& solver, const Solver::Poll& poll) {
              return solver.new_envelope(state, {seconds, 0, expansions, 0, 0, deadline}, poll);
            }));
          },
          nb::sig("def new_envelope(self, state: int, seconds: float = 0.0, expansions: int = 0, "
                  "deadline: Deadline | None = None) -> tuple[numpy.typing.NDArray[numpy.uint32], str]"),
          nb::arg("state"), nb::arg("seconds") = 0.0, nb::arg("expansions") = 0, nb::arg("deadline") = nb::none(),
          "Of the envelope, the states that no earlier call of this function has given, and the status.")
      .def(
          "take_back",
          [](PySolver& self, const InArray<StateId>& states) {
            self.work(self.initial(), nb::none(), [&](Solver& solver, const Solver::Poll&) {
              const std::span<const StateId> given(states.data(), states.size());
              for (const StateId state : given) {
                if (state >= solver.graph().size()) throw nb::index_error("no such state");
              }
              solver.take_back(given);
              return given.size();
            });
          },
          nb::sig("def take_back(self, states: numpy.typing.NDArray[numpy.uint32]) -> None"), nb::arg("states"),
          "Takes back states that `new_envelope` has given, so that it gives them again.")
      .def(
          "policy_table",
          [](PySolver& self, StateId state, bool is_greedy, const Deadline* deadline) {
            std::vector<Word> words;
            Solver::PolicyTable found = self.work(state, nb::none(), [&](Solver& solver, const Solver::Poll& poll) {
              const SearchLimits limits{0, 0, 0, 0, 0, deadline};
              Solver::PolicyTable table =
                  is_greedy ? solver.greedy_policy(state, limits, poll) : solver.known_policy(state, limits, poll);
              for (const StateId visited : table.states) {
                interruption_tick();
                const Word* const first = solver.graph().table().state(visited);
                words.insert(words.end(), first, first + self.task().task.num_words());
              }
              return table;
            });
            return nb::make_tuple(to_numpy(std::move(words)), to_numpy(std::move(found.actions)),
                                  to_numpy(std::move(found.values)), found.bound, status_name(found.status));
          },
          nb::sig("def policy_table(self, state: int, is_greedy: bool, deadline: Deadline | None = None) -> "
                  "tuple[numpy.typing.NDArray[numpy.uint64], "
                  "numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.float64], float, str]"),
          nb::arg("state"), nb::arg("is_greedy"), nb::arg("deadline") = nb::none(),
          "The packed states (one after the other), actions and values of a policy from a state, what it costs at most (infinite "
          "if that is not known), and the status: the greedy policy of a solved state, whose bounds are those of the search, "
          "or the best one that is known for certain, of solvers that keep values from above.")
      .def(
          "tighten",
          [](PySolver& self, const Deadline* deadline, std::size_t work) {
            return status_name(self.work(self.initial(), nb::none(), [&](Solver& solver, const Solver::Poll& poll) {
              return solver.tighten({0, 0, 0, 0, 0, deadline, work}, poll);
            }));
          },
          nb::sig("def tighten(self, deadline: Deadline | None = None, work: int = 0) -> str"),
          nb::arg("deadline") = nb::none(), nb::arg("work") = 0,
          "Backs up the values from above of all states until they stay; returns the status.")
      .def(
          "q_values",
          [](PySolver& self, StateId state, double seconds, std::size_t memory, std::size_t expansions,
             std::size_t trials, double cpu_seconds, const Deadline* deadline, std::size_t work) {
            Solver::QValues result = self.work(state, nb::none(), [&](Solver& solver, const Solver::Poll& poll) {
              return solver.q_values(state, {seconds, memory, expansions, trials, cpu_seconds, deadline, work}, poll);
            });
            return nb::make_tuple(to_numpy(std::move(result.actions)), to_numpy(std::move(result.values)),
                                  status_name(result.status));
          },
          nb::sig("def q_values(self, state: int, seconds: float = 0.0, memory: int = 0, expansions: int = 0, "
                  "trials: int = 0, cpu_seconds: float = 0.0, deadline: Deadline | None = None, work: int = 0) -> "
                  "tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.float64], str]"),
          nb::arg("state"), nb::arg("seconds") = 0.0, nb::arg("memory") = 0, nb::arg("expansions") = 0,
          nb::arg("trials") = 0, nb::arg("cpu_seconds") = 0.0, nb::arg("deadline") = nb::none(),
          nb::arg("work") = 0,
          "The applicable actions, their Q values after solving all successors, and the status.")
      .def(
          "statistics",
          [](PySolver& self) {
            const Statistics statistics =
                self.read(self.initial(), [](Solver& solver) { return solver.statistics(); });
            nb::dict result;
            result["expanded"] = statistics.expanded;
            result["evaluated"] = statistics.evaluated;
            result["backups"] = statistics.backups;
            result["trials"] = statistics.trials;
            result["work"] = statistics.work;
            result["seconds"] = statistics.seconds;
            result["peak_memory"] = statistics.peak_memory;
            return result;
          },
          nb::sig("def statistics(self) -> dict[str, float]"));

  module.def(
      "planners",
      [] {
        nb::list result;
        for (const PlannerEntry& entry : planners()) {
          nb::list objectives;
          for (const Objective objective : entry.objectives) {
            objectives.append(kObjectiveNames[static_cast<std::size_t>(objective)]);
          }
          result.append(nb::make_tuple(entry.name, entry.is_optimal, entry.takes_rewards, entry.description,
                                       nb::tuple(objectives), entry.takes_zero_costs, entry.starts_from_policy));
        }
        return result;
      },
      nb::sig("def planners() -> list[tuple[str, bool, bool, str, tuple[str, ...], bool, bool]]"),
      "The planners: name, whether it is optimal under an admissible heuristic, whether costs may be negative, description, "
      "objectives, whether costs may be 0, whether it can start from a policy.");
}

}  // namespace asnets
