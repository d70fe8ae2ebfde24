#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <utility>
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
  PyTablePolicy(const PyTask& of, const InArray<Word>& states, const IntArray& actions) : PyPolicy{of, {}} {
    if (states.size() != actions.size() * of.task.num_words()) throw nb::value_error("states and actions do not match");
    const auto table = interruptible([&] {
      return std::make_shared<const PolicyTable>(of.task, std::span(states.data(), states.size()), view(actions));
    });
    make = [table] { return std::make_unique<TablePolicy>(*table); };
  }
};

struct PyEpisodeBatch {
  PyEpisodeBatch(const PyTask& of, std::uint64_t seed, std::uint64_t first, std::size_t count, std::int64_t max_steps,
                 bool detect_dead_ends)
      : task(of), batch(interruptible([&] {
          return EpisodeBatch(of.task, of.generator, of.detectors(detect_dead_ends), {seed, first, count}, max_steps);
        })) {}

  nb::list states() const {
    nb::list result;
    for (const std::size_t episode : batch.waiting()) {
      result.append(to_numpy(true_propositions(task.task, batch.state(episode).data())));
    }
    return result;
  }
  auto step(const std::vector<std::pair<IntArray, DoubleArray>>& given, bool sampled) {
    std::vector<ActionDistribution> distributions;
    for (const auto& [actions, probabilities] : given) {
      if (actions.size() != probabilities.size()) throw nb::value_error("actions and probabilities do not match");
      distributions.push_back({{view(actions).begin(), view(actions).end()},
                               {view(probabilities).begin(), view(probabilities).end()}});
    }
    return to_numpy(interruptible([&] { return batch.step(distributions, sampled); }));
  }

  const PyTask& task;
  EpisodeBatch batch;
};

}  // namespace

void bind_policy(nb::module_& module) {
  nb::class_<PyPolicy>(module, "Policy", "What chooses actions in a task; safe to use from several threads.")
      .def(
          "distribution",
          [](const PyPolicy& self, const IntArray& propositions) {
            const std::vector<Word> state = pack_state(self.task.task, propositions);
            ActionDistribution result;
            interruptible([&] { self.make()->distribution(state.data(), result); });
            return nb::make_tuple(to_numpy(std::move(result.actions)), to_numpy(std::move(result.probabilities)));
          },
          nb::sig("def distribution(self, propositions: numpy.typing.NDArray[numpy.int32]) -> "
                  "tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.float64]]"),
          nb::arg("propositions"),
          "The actions that it may choose in the state in which exactly these are true, and how probable each is.\n\n"
          "Raises ValueError if it has memory.")
      .def_ro("has_memory", &PyPolicy::has_memory,
              "Whether what it does depends on the run so far, and not on the state alone.");
  nb::class_<PyRandomPolicy, PyPolicy>(module, "RandomPolicy", "Every applicable action with equal probability.")
      .def(nb::init<const PyTask&>(), nb::arg("task"), nb::keep_alive<1, 2>());
  nb::class_<PyTablePolicy, PyPolicy>(module, "TablePolicy", "An action for each of a set of states.")
      .def(nb::init<const PyTask&, InArray<Word>, IntArray>(), nb::arg("task"), nb::arg("states"), nb::arg("actions"),
           nb::keep_alive<1, 2>(),
           "Takes packed states, one after the other, and an action for each; -1 to give up. Raises ValueError if a "
           "state occurs twice or an action is not applicable.");
  nb::class_<PyEpisodeBatch>(module, "EpisodeBatch",
                             "Episodes side by side, for policies that are asked from Python.\n\n"
                             "For one thread.")
      .def(nb::init<const PyTask&, std::uint64_t, std::uint64_t, std::size_t, std::int64_t, bool>(), nb::arg("task"),
           nb::arg("seed"), nb::arg("first"), nb::arg("count"), nb::arg("max_steps"), nb::arg("detect_dead_ends"),
           nb::keep_alive<1, 2>())
      .def("states", &PyEpisodeBatch::states,
           nb::sig("def states(self) -> list[numpy.typing.NDArray[numpy.int32]]"),
           "The states of the episodes that wait for an action, as true propositions.")
      .def(
          "state",
          [](const PyEpisodeBatch& self, std::size_t episode) {
            if (episode >= self.batch.size()) throw nb::index_error("no such episode");
            return to_numpy(true_propositions(self.task.task, self.batch.state(episode).data()));
          },
          nb::arg("episode"), nb::sig("def state(self, episode: int) -> numpy.typing.NDArray[numpy.int32]"),
          "The state of the episode of this position, whether it waits or has ended.")
      .def("step", &PyEpisodeBatch::step, nb::arg("distributions"), nb::arg("sampled"),
           nb::sig("def step(self, distributions: collections.abc.Sequence[tuple[numpy.typing.NDArray[numpy.int32], "
                   "numpy.typing.NDArray[numpy.float64]]], sampled: bool) -> numpy.typing.NDArray[numpy.int32]"),
           "One step of each of them, by its distribution over actions; returns the actions, -1 where it is empty. A "
           "policy that is not sampled takes a random number only where several actions are possible. Raises ValueError "
           "if one is no distribution over applicable actions.")
      .def("results", [](const PyEpisodeBatch& self) { return episodes_to_python(self.batch.episodes()); },
           nb::sig("def results(self) -> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64], "
                   "numpy.typing.NDArray[numpy.int8]]"),
           "As of `run_episodes`; those that have not ended are marked as stopped.");

  module.def(
      "run_episodes",
      [](const PyPolicy& policy, std::uint64_t seed, std::uint64_t first, std::size_t count, std::int64_t max_steps,
         unsigned threads, bool detect_dead_ends, const Deadline* deadline, std::size_t memory) {
        const std::vector<Episode> episodes = without_gil([&] {
          return run_episodes(policy.task.task, policy.make, policy.task.detectors(detect_dead_ends),
                              {seed, first, count}, max_steps, threads, poll_signals_and(deadline, memory));
        });
        if (PyErr_Occurred() != nullptr) throw nb::python_error();
        return episodes_to_python(episodes);
      },
      nb::sig("def run_episodes(policy: Policy, seed: int, first: int, count: int, max_steps: int, threads: int, "
              "detect_dead_ends: bool = False, deadline: Deadline | None = None, memory: int = 0) -> "
              "tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64], "
              "numpy.typing.NDArray[numpy.int8]]"),
      nb::arg("policy"), nb::arg("seed"), nb::arg("first"), nb::arg("count"), nb::arg("max_steps"), nb::arg("threads"),
      nb::arg("detect_dead_ends") = false, nb::arg("deadline") = nb::none(), nb::arg("memory") = 0,
      "Steps, cost and ending (0 goal, 1 dead end, 2 step limit, 3 stopped by a limit, 4 loop, 5 gave up) of episodes. They "
      "are stopped by the deadline, or where the process has so many bytes of resident memory; 0: none.");
  module.def(
      "last_states",
      [](const PyPolicy& policy, std::uint64_t seed, std::uint64_t first, std::size_t count, std::int64_t max_steps,
         unsigned threads, const Deadline* deadline) {
        const std::vector<Episode> episodes = without_gil([&] {
          return run_episodes(policy.task.task, policy.make, {}, {seed, first, count}, max_steps, threads,
                              poll_signals_and(deadline));
        });
        if (PyErr_Occurred() != nullptr) throw nb::python_error();
        std::vector<std::uint64_t> hashes;
        for (const Episode& episode : episodes) {
          if (episode.ending != Ending::kInterrupted) hashes.push_back(episode.last_state);
        }
        return to_numpy(std::move(hashes));
      },
      nb::sig("def last_states(policy: Policy, seed: int, first: int, count: int, max_steps: int, threads: int, "
              "deadline: Deadline | None = None) -> numpy.typing.NDArray[numpy.uint64]"),
      nb::arg("policy"), nb::arg("seed"), nb::arg("first"), nb::arg("count"), nb::arg("max_steps"), nb::arg("threads"),
      nb::arg("deadline") = nb::none(),
      "A hash of the state in which each of these episodes ends; without those that the deadline stopped.");
  module.def("resident_memory", &resident_memory, "The resident memory of the process, in bytes.");

  module.def(
      "trace_episode",
      [](const PyPolicy& policy, std::uint64_t seed, std::uint64_t episode, std::int64_t max_steps,
         bool detect_dead_ends, const Deadline* deadline) {
        const Task& task = policy.task.task;
        Trace trace = without_gil([&] {
          return trace_episode(task, policy.make, policy.task.detectors(detect_dead_ends), seed, episode, max_steps,
                               poll_signals_and(deadline));
        });
        if (PyErr_Occurred() != nullptr) throw nb::python_error();
        nb::list states;
        const std::size_t words = task.num_words();
        for (std::size_t begin = 0; begin < trace.states.size(); begin += words) {
          states.append(to_numpy(true_propositions(task, trace.states.data() + begin)));
        }
        nb::list decisions;
        for (const Decision& decision : trace.decisions) decisions.append(decision_to_python(decision));
        return nb::make_tuple(states, to_numpy(std::move(trace.actions)), episodes_to_python({trace.episode}), decisions);
      },
      nb::sig("def trace_episode(policy: Policy, seed: int, episode: int, max_steps: int, "
              "detect_dead_ends: bool = False, deadline: Deadline | None = None) -> "
              "tuple[list[numpy.typing.NDArray[numpy.int32]], numpy.typing.NDArray[numpy.int32], "
              "tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64], "
              "numpy.typing.NDArray[numpy.int8]], list[dict[str, typing.Any]]]"),
      nb::arg("policy"), nb::arg("seed"), nb::arg("episode"), nb::arg("max_steps"),
      nb::arg("detect_dead_ends") = false, nb::arg("deadline") = nb::none(),
      "The states (as true propositions), actions and result of one episode; and of a policy that tells, how each action "
      "was decided.");
}

}  // namespace asnets
