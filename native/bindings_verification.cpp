#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "bindings_types.hpp"
#include "verification/explorer.hpp"

namespace asnets {

namespace {

const char* exploration_name(Exploration status) {
  constexpr const char* kNames[] = {"complete", "states", "time", "memory", "interrupted"};
  return kNames[static_cast<int>(status)];
}

struct PyExplicitModel {
  const PyTask& task;
  std::unique_ptr<ExplicitModel> model;
};

// A numpy array that shows a vector of the model, which it keeps alive.
template <typename T>
auto shown(const std::vector<T> ExplicitModel::* member) {
  return [member](nb::handle self) {
    const std::vector<T>& values = (*nb::cast<const PyExplicitModel&>(self).model).*member;
    return nb::ndarray<const T, nb::numpy>(values.data(), {values.size()}, self);
  };
}

// Signals, and now and then how far an exploration is to a Python function.
class Poll {
 public:
  explicit Poll(const nb::object& callback) : callback_(callback), last_(Clock::now()) {}

  bool operator()(std::size_t states, std::size_t frontier) {
    if (callback_.is_none() || Clock::now() - last_ < std::chrono::milliseconds(100)) return poll_signals();
    last_ = Clock::now();
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) return true;
    try {
      callback_(states, frontier);
    } catch (nb::python_error& error) {
      error.restore();
      return true;
    }
    return false;
  }

 private:
  using Clock = std::chrono::steady_clock;

  const nb::object& callback_;
  Clock::time_point last_;
};

// Asks a Python function for the distributions of states.
void ask(const nb::object& function, const Task& task, const std::vector<const Word*>& states,
         std::vector<ActionDistribution>& distributions) {
  nb::gil_scoped_acquire gil;
  nb::list asked;
  for (const Word* const state : states) asked.append(to_numpy(true_propositions(task, state)));
  const auto given = nb::cast<std::vector<std::pair<IntArray, DoubleArray>>>(function(asked));
  if (given.size() != states.size()) throw nb::value_error("expected a distribution for each state");
  distributions.clear();
  for (std::size_t i = 0; i < states.size(); ++i) {
    const auto& [actions, probabilities] = given[i];
    if (actions.size() != probabilities.size()) throw nb::value_error("actions and probabilities do not match");
    distributions.push_back(
        {{view(actions).begin(), view(actions).end()}, {view(probabilities).begin(), view(probabilities).end()}});
    check_distribution(task, distributions.back(), states[i]);
  }
}

std::unique_ptr<PyExplicitModel> checked(const PyTask& task, std::unique_ptr<ExplicitModel> model) {
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return std::make_unique<PyExplicitModel>(PyExplicitModel{task, std::move(model)});
}

}  // namespace

void bind_verification(nb::module_& module) {
  // The stub says the type of the elements.
  const auto signature = [](const char* name, const char* type) {
    return std::string("def ") + name + "(self) -> numpy.typing.NDArray[numpy." + type + "]";
  };
  nb::class_<PyExplicitModel>(module, "ExplicitModel", "An MDP or a chain, state by state; see explicit_model.hpp.")
      .def_prop_ro("num_states", [](const PyExplicitModel& self) { return self.model->num_states(); })
      .def_prop_ro("status", [](const PyExplicitModel& self) { return exploration_name(self.model->status); },
                   "complete, or why it is not: states, time, memory, interrupted.")
      .def_prop_ro("roundings", [](const PyExplicitModel& self) { return self.model->roundings; },
                   "How often each probability and cost was rounded, at most.")
      .def_prop_ro("largest_cost", [](const PyExplicitModel& self) { return self.model->largest_cost; },
                   "The absolute value of an action's cost.")
      .def_prop_ro("has_negative_cost", [](const PyExplicitModel& self) { return self.model->has_negative_cost; })
      .def_prop_ro("kinds", shown(&ExplicitModel::kinds),
                   nb::sig(signature("kinds", "uint8").c_str()))
      .def_prop_ro("first_choice", shown(&ExplicitModel::first_choice),
                   nb::sig(signature("first_choice", "uint64").c_str()))
      .def_prop_ro("choice_action", shown(&ExplicitModel::choice_action),
                   nb::sig(signature("choice_action", "int32").c_str()))
      .def_prop_ro("choice_cost", shown(&ExplicitModel::choice_cost),
                   nb::sig(signature("choice_cost", "float64").c_str()))
      .def_prop_ro("first_transition", shown(&ExplicitModel::first_transition),
                   nb::sig(signature("first_transition", "uint64").c_str()))
      .def_prop_ro("successors", shown(&ExplicitModel::successors),
                   nb::sig(signature("successors", "uint32").c_str()))
      .def_prop_ro("probabilities", shown(&ExplicitModel::probabilities),
                   nb::sig(signature("probabilities", "float64").c_str()))
      .def_prop_ro("first_joint", shown(&ExplicitModel::first_joint),
                   nb::sig(signature("first_joint", "uint64").c_str()))
      .def_prop_ro("joint_successors", shown(&ExplicitModel::joint_successors),
                   nb::sig(signature("joint_successors", "uint32").c_str()))
      .def_prop_ro("joint_probabilities", shown(&ExplicitModel::joint_probabilities),
                   nb::sig(signature("joint_probabilities", "float64").c_str()))
      .def_prop_ro("joint_costs", shown(&ExplicitModel::joint_costs),
                   nb::sig(signature("joint_costs", "float64").c_str()))
      .def(
          "propositions",
          [](const PyExplicitModel& self, StateId state) {
            if (state >= self.model->num_states()) throw nb::index_error("no such state");
            return to_numpy(true_propositions(self.task.task, self.model->states.state(state)));
          },
          nb::arg("state"), nb::sig("def propositions(self, state: int) -> numpy.typing.NDArray[numpy.int32]"),
          "The true propositions, ascending.")
      .def(
          "find",
          [](const PyExplicitModel& self, const IntArray& propositions) -> std::int64_t {
            const auto id = self.model->states.find(pack_state(self.task.task, propositions).data());
            return id ? static_cast<std::int64_t>(*id) : -1;
          },
          nb::arg("propositions"), "The state in which exactly these are true; -1 if the model does not have it.");

  module.def(
      "explore_chain",
      [](const PyPolicy& policy, std::size_t max_states, std::size_t memory, unsigned threads, bool likeliest_first,
         const nb::object& progress, const Deadline* deadline) {
        Poll poll(progress);
        return checked(policy.task, without_gil([&] {
          return explore_chain(policy.task.task, policy.task.generator, policy.make,
                               {max_states, memory, deadline, threads, likeliest_first}, std::ref(poll));
        }));
      },
      nb::sig("def explore_chain(policy: Policy, max_states: int, memory: int, threads: int, likeliest_first: bool, "
              "progress: collections.abc.Callable[[int, int], object] | None = None, "
              "deadline: Deadline | None = None) -> ExplicitModel"),
      nb::arg("policy"), nb::arg("max_states"), nb::arg("memory"), nb::arg("threads"), nb::arg("likeliest_first"),
      nb::arg("progress") = nb::none(), nb::arg("deadline") = nb::none(), nb::keep_alive<0, 1>(),
      "The chain of a policy. A limit of 0 is none; memory is in bytes. `progress` is called with the states that were "
      "met and those left to explore, a few times a second.");
  module.def(
      "explore_asked_chain",
      [](const PyTask& task, const nb::object& distributions, std::size_t max_states, std::size_t memory,
         bool likeliest_first, const nb::object& progress, const Deadline* deadline) {
        Poll poll(progress);
        return checked(task, without_gil([&] {
          return explore_chain(
              task.task, task.generator,
              PolicyOutside([&](const std::vector<const Word*>& states, std::vector<ActionDistribution>& answers) {
                ask(distributions, task.task, states, answers);
              }),
              {max_states, memory, deadline, 1, likeliest_first}, std::ref(poll));
        }));
      },
      nb::sig("def explore_asked_chain(task: Task, distributions: "
              "collections.abc.Callable[[list[numpy.typing.NDArray[numpy.int32]]], "
              "collections.abc.Sequence[tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.float64]]]], "
              "max_states: int, memory: int, likeliest_first: bool, "
              "progress: collections.abc.Callable[[int, int], object] | None = None, "
              "deadline: Deadline | None = None) -> ExplicitModel"),
      nb::arg("task"), nb::arg("distributions"), nb::arg("max_states"), nb::arg("memory"), nb::arg("likeliest_first"),
      nb::arg("progress") = nb::none(), nb::arg("deadline") = nb::none(), nb::keep_alive<0, 1>(),
      "The same, of a policy that is asked. Raises ValueError if it gives no distribution over applicable actions.");
  module.def(
      "explore_mdp",
      [](const PyTask& task, std::size_t max_states, std::size_t memory, unsigned threads, const nb::object& progress,
         const Deadline* deadline) {
        Poll poll(progress);
        return checked(task, without_gil([&] {
          return explore_mdp(task.task, task.generator, {max_states, memory, deadline, threads, false},
                             std::ref(poll));
        }));
      },
      nb::sig("def explore_mdp(task: Task, max_states: int, memory: int, threads: int, "
              "progress: collections.abc.Callable[[int, int], object] | None = None, "
              "deadline: Deadline | None = None) -> ExplicitModel"),
      nb::arg("task"), nb::arg("max_states"), nb::arg("memory"), nb::arg("threads"), nb::arg("progress") = nb::none(),
      nb::arg("deadline") = nb::none(), nb::keep_alive<0, 1>(), "The MDP of all applicable actions.");
}

}  // namespace asnets
