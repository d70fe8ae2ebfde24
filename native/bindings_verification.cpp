#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings_types.hpp"
#include "search/budget.hpp"
#include "verification/chain_solver.hpp"
#include "verification/explorer.hpp"
#include "verification/failures.hpp"

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
    if (is_signalled()) return true;
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

// Thrown where a limit ends the solving of a chain.
struct SolvingStopped {
  const char* limit;
};

using CountArray = InArray<std::uint64_t>;
using StateArray = InArray<StateId>;

struct ChainArrays {
  ChainArrays(const InArray<std::uint8_t>& kinds, const CountArray& first_choice, const DoubleArray& choice_cost,
              const CountArray& first_transition, const StateArray& successors, const DoubleArray& probabilities,
              std::uint32_t roundings)
      : arrays{kinds, first_choice, choice_cost, first_transition, successors, probabilities} {
    model.kinds = view(kinds);
    model.first_choice = view(first_choice);
    model.choice_cost = view(choice_cost);
    model.first_transition = view(first_transition);
    model.successors = view(successors);
    model.probabilities = view(probabilities);
    model.roundings = roundings;
  }
  void set_joint(const CountArray& first, const StateArray& successors, const DoubleArray& probabilities,
                 const DoubleArray& costs) {
    model.first_joint = view(first);
    model.joint_successors = view(successors);
    model.joint_probabilities = view(probabilities);
    model.joint_costs = view(costs);
    joint = {first, successors, probabilities, costs};
  }

  std::tuple<InArray<std::uint8_t>, CountArray, DoubleArray, CountArray, StateArray, DoubleArray> arrays;
  std::tuple<CountArray, StateArray, DoubleArray, DoubleArray> joint;
  ModelView model;
};

// A Python function that factorises I - Q: given Q by rows, it returns what solves for a vector, or None.
DirectSolverFactory outside_solver(const nb::object& factorise) {
  if (factorise.is_none()) return {};
  return [&factorise](const SparseMatrix& q) -> DirectSolver {
    nb::gil_scoped_acquire gil;
    nb::object solve = factorise(to_numpy(q.first), to_numpy(q.columns), to_numpy(q.values));
    if (solve.is_none()) return {};
    // Python's objects come and go with the interpreter's lock only.
    std::shared_ptr<nb::object> kept(new nb::object(std::move(solve)), [](nb::object* object) {
      nb::gil_scoped_acquire inner;
      delete object;
    });
    return [kept](std::span<const double> b) {
      nb::gil_scoped_acquire inner;
      const auto x = nb::cast<DoubleArray>((*kept)(to_numpy(std::vector<double>(b.begin(), b.end()))));
      if (x.size() != b.size()) throw nb::value_error("a solution of another size");
      return std::vector<double>(x.data(), x.data() + x.size());
    };
  };
}

OutArray<double> bounds_to_numpy(std::vector<Bounds> bounds) {
  static_assert(sizeof(Bounds) == 2 * sizeof(double));
  auto* owned = new std::vector<Bounds>(std::move(bounds));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<Bounds>*>(p); });
  return OutArray<double>(reinterpret_cast<double*>(owned->data()), {owned->size(), 2}, owner);
}

nb::tuple to_tuple(const Bounds& bounds) { return nb::make_tuple(bounds.lower, bounds.upper); }

nb::dict to_dict(ChainSolution solution) {
  const ChainNumbers& initial = solution.initial;
  nb::dict result;
  result["goal_probability"] = to_tuple(initial.goal_probability);
  result["dead_end_probability"] = to_tuple(initial.failures[0]);
  result["loop_probability"] = to_tuple(initial.failures[1]);
  result["gives_up_probability"] = to_tuple(initial.failures[2]);
  result["value"] = to_tuple(initial.value);
  result["cost_to_end"] = to_tuple(initial.cost_to_end);
  result["steps"] = to_tuple(initial.steps);
  result["cost_of_success"] = to_tuple(initial.cost_of_success);
  result["variance"] = to_tuple(initial.variance);
  result["components"] = solution.num_components;
  result["largest_component"] = solution.largest_component;
  result["uncertified"] = solution.num_uncertified;
  result["failures"] = to_numpy(std::move(solution.failures));
  result["lost"] = to_numpy(std::move(solution.lost));
  result["goal_probabilities"] = bounds_to_numpy(std::move(solution.goal_probabilities));
  result["values"] = bounds_to_numpy(std::move(solution.values));
  return result;
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
                   "The parts of an action's cost together, by absolute value: the greatest.")
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
            self.model->states.make_index();
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
              "collections.abc.Sequence[tuple[numpy.typing.NDArray[numpy.int32], "
              "numpy.typing.NDArray[numpy.float64]]]], "
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

  nb::class_<ChainArrays>(module, "ChainArrays", "The arrays of a chain; they are kept alive, not copied or checked.")
      .def(nb::init<InArray<std::uint8_t>, CountArray, DoubleArray, CountArray, StateArray, DoubleArray,
                    std::uint32_t>(),
           nb::arg("kinds"), nb::arg("first_choice"), nb::arg("choice_cost"), nb::arg("first_transition"),
           nb::arg("successors"), nb::arg("probabilities"), nb::arg("roundings"))
      .def("set_joint", &ChainArrays::set_joint, nb::arg("first"), nb::arg("successors"), nb::arg("probabilities"),
           nb::arg("costs"), "Where steps of a choice differ in cost.");
  module.def(
      "solve_chain",
      [](const ChainArrays& chain, const PyExplicitModel* model, double penalty, double cost_error, double least_cost,
         const DoubleArray& lower, const DoubleArray& upper, const nb::object& factorise, std::size_t look_states,
         std::size_t all_look_states, std::size_t memory, const Deadline* deadline) -> nb::object {
        ChainOptions options;
        options.penalty = penalty;
        options.relative_error = 1.001 * 0x1p-53 * static_cast<double>(chain.model.roundings);
        options.cost_error = cost_error;
        options.least_cost = least_cost;
        options.unexplored_lower = view(lower);
        options.unexplored_upper = view(upper);
        const DirectSolverFactory outside = outside_solver(factorise);
        try {
          ChainSolution solution = without_gil([&] {
            const InterruptionScope scope([&] {
              if (deadline != nullptr && deadline->has_passed()) throw SolvingStopped{"time"};
              if (memory > 0 && resident_memory() >= memory) throw SolvingStopped{"memory"};
              nb::gil_scoped_acquire gil;
              if (PyErr_CheckSignals() != 0) throw nb::python_error();
            });
            if (model == nullptr) {
              return solve_chain(chain.model, options,
                                 [](std::span<const StateId>, bool is_stopped) {
                                   return is_stopped ? Failure::kDeadEnd : Failure::kLoop;
                                 },
                                 outside);
            }
            const PyTask& task = model->task;
            FailureClassifier classifier(task.task, task.generator, DeadEndDetector([&] { return task.relaxed(); }),
                                         model->model->states, {look_states, all_look_states});
            return solve_chain(chain.model, options,
                               [&](std::span<const StateId> component, bool is_stopped) {
                                 return classifier.classify(component, is_stopped);
                               },
                               outside);
          });
          return to_dict(std::move(solution));
        } catch (const SolvingStopped& stopped) {
          return nb::str(stopped.limit);
        }
      },
      nb::sig("def solve_chain(chain: ChainArrays, model: ExplicitModel | None, penalty: float, cost_error: float, "
              "least_cost: float, lower: numpy.typing.NDArray[numpy.float64], "
              "upper: numpy.typing.NDArray[numpy.float64], "
              "factorise: collections.abc.Callable[[numpy.typing.NDArray[numpy.uint64], "
              "numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.float64]], object] | None, "
              "look_states: int, all_look_states: int, memory: int, deadline: Deadline | None) -> "
              "dict[str, typing.Any] | str"),
      nb::arg("chain"), nb::arg("model").none(), nb::arg("penalty"), nb::arg("cost_error"), nb::arg("least_cost"),
      nb::arg("lower"), nb::arg("upper"), nb::arg("factorise").none(), nb::arg("look_states"),
      nb::arg("all_look_states"), nb::arg("memory"), nb::arg("deadline").none(),
      "The numbers of a chain with their bounds, of the initial state and of all; the limit that ended it if one did. "
      "Without `model`, states without a choice are dead ends and other bottom components are loops.");
}

}  // namespace asnets
