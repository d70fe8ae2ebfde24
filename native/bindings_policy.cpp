#include <nanobind/stl/vector.h>

#include <chrono>
#include <memory>
#include <vector>

#include "bindings_types.hpp"
#include "policy/random_policy.hpp"
#include "policy/table_policy.hpp"
#include "search/budget.hpp"

namespace asnets {

namespace {

struct PyRandomPolicy : PyPolicy {
  explicit PyRandomPolicy(const PyTask& of)
      : PyPolicy{of, [&of] { return std::make_unique<RandomPolicy>(of.generator); }} {}
};

struct PyTablePolicy : PyPolicy {
  PyTablePolicy(const PyTask& of, InArray<Word> states, IntArray actions) : PyPolicy{of, {}} {
    if (states.size() != actions.size() * of.task.num_words()) throw nb::value_error("states and actions do not match");
    const auto table = std::make_shared<const PolicyTable>(of.task, std::span(states.data(), states.size()), view(actions));
    make = [table] { return std::make_unique<TablePolicy>(*table); };
  }
};

}  // namespace

void bind_policy(nb::module_& module) {
  nb::class_<PyPolicy>(module, "Policy", "What chooses actions in a task; safe to use from several threads.");
  nb::class_<PyRandomPolicy, PyPolicy>(module, "RandomPolicy", "Every applicable action with equal probability.")
      .def(nb::init<const PyTask&>(), nb::arg("task"), nb::keep_alive<1, 2>());
  nb::class_<PyTablePolicy, PyPolicy>(module, "TablePolicy", "An action for each of a set of states.")
      .def(nb::init<const PyTask&, InArray<Word>, IntArray>(), nb::arg("task"), nb::arg("states"), nb::arg("actions"),
           nb::keep_alive<1, 2>(),
           "Takes packed states, one after the other, and an action for each; -1 to give up. Raises ValueError if a "
           "state occurs twice or an action is not applicable.");

  module.def(
      "run_episodes",
      [](const PyPolicy& policy, std::uint64_t seed, std::uint64_t first, std::size_t count, std::int64_t max_steps,
         unsigned threads, double seconds) {
        std::vector<Episode> episodes;
        const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
        const auto poll = [&] { return (seconds > 0 && std::chrono::steady_clock::now() >= end) || poll_signals(); };
        {
          nb::gil_scoped_release release;
          episodes = run_episodes(policy.task.task, policy.make, seed, first, count, max_steps, threads, poll);
        }
        if (PyErr_Occurred() != nullptr) throw nb::python_error();
        return episodes_to_python(episodes);
      },
      nb::sig("def run_episodes(policy: Policy, seed: int, first: int, count: int, max_steps: int, threads: int, "
              "seconds: float = 0.0) -> "
              "tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64], "
              "numpy.typing.NDArray[numpy.int8]]"),
      nb::arg("policy"), nb::arg("seed"), nb::arg("first"), nb::arg("count"), nb::arg("max_steps"), nb::arg("threads"),
      nb::arg("seconds") = 0.0,
      "Steps, cost and ending (0 goal, 1 dead end, 2 step limit, 3 stopped by the time limit) of episodes.");
  module.def("resident_memory", &resident_memory, "The resident memory of the process, in bytes.");

  module.def(
      "trace_episode",
      [](const PyPolicy& policy, std::uint64_t seed, std::uint64_t episode, std::int64_t max_steps) {
        Trace trace;
        const Task& task = policy.task.task;
        {
          nb::gil_scoped_release release;
          trace = trace_episode(task, *policy.make(), seed, episode, max_steps, poll_signals);
        }
        if (PyErr_Occurred() != nullptr) throw nb::python_error();
        nb::list states;
        const std::size_t words = task.num_words();
        for (std::size_t begin = 0; begin < trace.states.size(); begin += words) {
          states.append(to_numpy(true_propositions(task, trace.states.data() + begin)));
        }
        return nb::make_tuple(states, to_numpy(std::move(trace.actions)), episodes_to_python({trace.episode}));
      },
      nb::sig("def trace_episode(policy: Policy, seed: int, episode: int, max_steps: int) -> "
              "tuple[list[numpy.typing.NDArray[numpy.int32]], numpy.typing.NDArray[numpy.int32], "
              "tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64], "
              "numpy.typing.NDArray[numpy.int8]]]"),
      nb::arg("policy"), nb::arg("seed"), nb::arg("episode"), nb::arg("max_steps"),
      "The states (as true propositions), actions and result of one episode.");
}

}  // namespace asnets
