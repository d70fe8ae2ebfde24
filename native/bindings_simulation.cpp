#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "bindings_types.hpp"

namespace asnets {

namespace {

std::unique_ptr<PyTask> make_task(IntArray proposition_predicate, const std::vector<IntArray>& lists,
                                  DoubleArray factor_probability, IntArray block_guard, IntArray action_precondition,
                                  IntArray action_block, DoubleArray action_cost, std::int32_t goal,
                                  IntArray initial, DoubleArray block_cost) {
  if (lists.size() != 14) throw std::invalid_argument("expected seven pairs of offsets and values");
  const auto list = [&](std::size_t i) { return Lists{view(lists[2 * i]), view(lists[2 * i + 1])}; };
  TaskArrays arrays;
  arrays.num_propositions = static_cast<std::int32_t>(proposition_predicate.size());
  arrays.proposition_predicate = view(proposition_predicate);
  arrays.condition_literals = list(0);
  arrays.condition_clauses = list(1);
  arrays.clause_conditions = list(2);
  arrays.block_literals = list(3);
  arrays.block_children = list(4);
  arrays.block_factors = list(5);
  arrays.factor_blocks = list(6);
  arrays.factor_probability = view(factor_probability);
  arrays.block_guard = view(block_guard);
  arrays.action_precondition = view(action_precondition);
  arrays.action_block = view(action_block);
  arrays.action_cost = view(action_cost);
  arrays.goal = goal;
  arrays.block_cost = view(block_cost);
  arrays.initial = view(initial);
  std::vector<IntArray> ints(lists);
  ints.insert(ints.end(), {proposition_predicate, block_guard, action_precondition, action_block, initial});
  return std::make_unique<PyTask>(std::move(ints), std::vector<DoubleArray>{factor_probability, action_cost, block_cost},
                                  arrays);
}

template <typename Number>
std::vector<double> for_each_action(const Task& task, Number&& number) {
  std::vector<double> result;
  result.reserve(task.num_actions());
  for (std::size_t a = 0; a < task.num_actions(); ++a) result.push_back(number(static_cast<ActionId>(a)));
  return result;
}

class PySimulator {
 private:
  static constexpr std::size_t kMaxSuccessors = std::size_t{1} << 20;

  template <typename Work>
  auto locked(const IntArray& state, Work&& work) {
    std::vector<Word> words = pack_state(task_.task, state);
    return interruptible([&] {
      const std::lock_guard lock(mutex_);
      return work(words);
    });
  }

 public:
  explicit PySimulator(const PyTask& task) : task_(task), expander_(task.task, kMaxSuccessors), sampler_(task.task) {}

  bool is_goal(const IntArray& state) const { return task_.task.is_goal(pack_state(task_.task, state).data()); }

  bool is_dead_end(const IntArray& state) {
    return locked(state, [&](const std::vector<Word>& words) {
      if (detector_ == nullptr) detector_ = task_.detectors(true)();
      return detector_->is_dead_end(words.data());
    });
  }

  auto applicable(const IntArray& state) {
    return to_numpy(locked(state, [&](const std::vector<Word>& words) {
      task_.generator.applicable(words.data(), actions_, stack_);
      std::vector<ActionId> result(actions_.actions().begin(), actions_.actions().end());
      std::sort(result.begin(), result.end());
      return result;
    }));
  }

  nb::list successors(const IntArray& state, ActionId action) {
    std::vector<std::pair<double, std::vector<std::int32_t>>> found;
    locked(state, [&](const std::vector<Word>& words) {
      check_applicable(task_.task, words.data(), action);
      expander_.expand(words.data(), action);
      for (std::size_t i = 0; i < expander_.count(); ++i) {
        found.emplace_back(expander_.probability(i), true_propositions(task_.task, expander_.successor(i)));
      }
    });
    nb::list result;
    for (auto& [probability, successor] : found) {
      result.append(nb::make_tuple(probability, to_numpy(std::move(successor))));
    }
    return result;
  }

  auto sample(const IntArray& state, ActionId action, RandomStream& random) {
    return to_numpy(locked(state, [&](std::vector<Word>& words) {
      check_applicable(task_.task, words.data(), action);
      sampler_.step(words.data(), action, random);
      return true_propositions(task_.task, words.data());
    }));
  }

 private:
  const PyTask& task_;
  std::mutex mutex_;
  Expander expander_;
  Sampler sampler_;
  std::unique_ptr<DeadEndDetector> detector_;
  ActionList actions_;
  std::vector<std::int32_t> stack_;
};

}  // namespace

void bind_simulation(nb::module_& module) {
  nb::class_<Deadline>(module, "Deadline", "When work has to end; safe to share between threads.")
      .def(nb::init<double, const Deadline*>(), nb::arg("seconds"), nb::arg("within") = nb::none(),
           nb::keep_alive<1, 3>(), "So many seconds from now; infinite for none. Passes with `within` at the latest.")
      .def("elapsed", &Deadline::elapsed, "Seconds since it was made.")
      .def("has_passed", &Deadline::has_passed)
      .def("cancel", &Deadline::cancel, "Lets it pass now; calls that were given it end, on whatever thread.");

  // Its arguments are a message and the number of the action.
  const nb::exception<TooManySuccessors> too_many(module, "TooManySuccessors", PyExc_OverflowError);
  nb::register_exception_translator(
      [](const std::exception_ptr& pointer, void* type) {
        try {
          std::rethrow_exception(pointer);
        } catch (const TooManySuccessors& error) {
          const std::string message = "action " + std::to_string(error.action) + " has too many successors";
          PyErr_SetObject(static_cast<PyObject*>(type), nb::make_tuple(message, error.action).ptr());
        }
      },
      too_many.ptr());

  nb::class_<PyTask>(module, "Task", nb::is_weak_referenceable(),
                     "A ground task in the compiled core; safe to use from several threads.")
      .def(nb::new_(&make_task), nb::arg("proposition_predicate"), nb::arg("lists"), nb::arg("factor_probability"),
           nb::arg("block_guard"), nb::arg("action_precondition"), nb::arg("action_block"), nb::arg("action_cost"),
           nb::arg("goal"), nb::arg("initial"), nb::arg("block_cost"),
           "Takes the arrays of a GroundTask without copying them: the predicate of each proposition; `lists` holds pairs of offsets and values: literals "
           "and clauses of conditions, conditions of clauses, literals, children and factors of blocks, outcomes of "
           "factors. `block_cost` may be empty: no block costs anything then.")
      .def_prop_ro("num_propositions", [](const PyTask& self) { return self.task.num_propositions(); })
      .def_prop_ro("num_actions", [](const PyTask& self) { return self.task.num_actions(); })
      .def(
          "cost",
          [](const PyTask& self, ActionId action, const IntArray& state) {
            check_action(self.task, action);
            return self.task.cost(action, pack_state(self.task, state).data());
          },
          nb::arg("action"), nb::arg("state"), "The expected cost of taking an action in a state, applicable or not.")
      .def(
          "costs",
          [](const PyTask& self, const IntArray& state) {
            const std::vector<Word> words = pack_state(self.task, state);
            return to_numpy(
                for_each_action(self.task, [&](ActionId action) { return self.task.cost(action, words.data()); }));
          },
          nb::arg("state"), "The expected cost of taking each action in a state, applicable or not.")
      .def(
          "min_costs",
          [](const PyTask& self) {
            return to_numpy(for_each_action(self.task, [&](ActionId action) { return self.task.min_cost(action); }));
          },
          "The least that each action can cost in any state: a lower bound, exact where it costs the same in all.")
      .def(
          "max_costs",
          [](const PyTask& self) {
            return to_numpy(for_each_action(self.task, [&](ActionId action) { return self.task.max_cost(action); }));
          },
          "The most that each action can cost in any state: an upper bound, as `min_costs`.")
      .def_prop_ro(
          "has_negative_costs", [](const PyTask& self) { return self.task.has_negative_costs(); },
          "Whether some action may cost less than nothing in some state, as far as `min_costs` tells.")
      .def_prop_ro(
          "has_zero_costs", [](const PyTask& self) { return self.task.has_zero_costs(); },
          "Whether some action may cost nothing in some state, as far as `min_costs` and `max_costs` tell.");

  nb::class_<RandomStream>(module, "RandomStream", "The counter-based random numbers of one (seed, stream).")
      .def(nb::init<std::uint64_t, std::uint64_t>(), nb::arg("seed"), nb::arg("stream"))
      .def("__copy__", [](const RandomStream& self) { return self; }, "At the same position.")
      .def("__getstate__",
           [](const RandomStream& self) { return nb::bytes(reinterpret_cast<const char*>(&self), sizeof self); })
      .def("__setstate__",
           [](RandomStream& self, const nb::bytes& state) {
             static_assert(std::is_trivially_copyable_v<RandomStream>);
             if (state.size() != sizeof(RandomStream)) throw nb::value_error("not the state of a random stream");
             new (&self) RandomStream(0, 0);
             std::memcpy(static_cast<void*>(&self), state.c_str(), sizeof self);
           })
      .def("bits", &RandomStream::bits, "64 random bits.")
      .def("uniform", &RandomStream::uniform, "A number in [0, 1).")
      .def("below", &RandomStream::below, nb::arg("bound"), "A number in {0, …, bound - 1}.");

  module.def(
      "philox4x32",
      [](std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) { return philox4x32(counter, key); },
      nb::arg("counter"), nb::arg("key"), "Philox4x32-10, for checking against its published test vectors.");

  nb::class_<PySimulator>(module, "Simulator",
                          "Actions and successors of states, which are given by their true propositions.\n\n"
                          "All methods may be called from several threads at once; they wait for each other.")
      .def(nb::init<const PyTask&>(), nb::arg("task"), nb::keep_alive<1, 2>())
      .def("is_goal", &PySimulator::is_goal, nb::arg("state"))
      .def("is_dead_end", &PySimulator::is_dead_end, nb::arg("state"),
           "Whether the goal cannot be reached even in the relaxation.")
      .def("applicable", &PySimulator::applicable, nb::arg("state"),
           nb::sig("def applicable(self, state: numpy.typing.NDArray[numpy.int32]) -> "
                   "numpy.typing.NDArray[numpy.int32]"),
           "The applicable actions, ascending.")
      .def("successors", &PySimulator::successors, nb::arg("state"), nb::arg("action"),
           nb::sig("def successors(self, state: numpy.typing.NDArray[numpy.int32], action: int) -> "
                   "list[tuple[float, numpy.typing.NDArray[numpy.int32]]]"),
           "All successors with their probabilities, equal ones merged. Raises TooManySuccessors if there are too many.")
      .def("sample", &PySimulator::sample, nb::arg("state"), nb::arg("action"), nb::arg("random"),
           nb::sig("def sample(self, state: numpy.typing.NDArray[numpy.int32], action: int, random: RandomStream) -> "
                   "numpy.typing.NDArray[numpy.int32]"),
           "One successor, drawn at random.");

  nb::class_<PyStates>(module, "States",
                       "Interned states of a task, named by small numbers.\n\n"
                       "All methods may be called from several threads at once; they wait for each other.")
      .def(nb::init<const PyTask&, std::size_t>(), nb::arg("task"), nb::arg("max_successors") = std::size_t{1} << 20,
           nb::keep_alive<1, 2>())
      .def("initial", &PyStates::initial, nb::call_guard<nb::gil_scoped_release>(), "The initial state.")
      .def(
          "intern",
          [](PyStates& self, const IntArray& propositions) {
            const std::vector<Word> state = pack_state(self.task().task, propositions);
            nb::gil_scoped_release release;
            return self.intern(state);
          },
          nb::arg("propositions"), "The state in which exactly these are true.")
      .def("__len__", &PyStates::size, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "propositions",
          [](PyStates& self, StateId state) { return to_numpy(without_gil([&] { return self.propositions(state); })); },
          nb::arg("state"), "The true propositions, ascending.")
      .def("is_goal", &PyStates::is_goal, nb::arg("state"), nb::call_guard<nb::gil_scoped_release>())
      .def("cost", &PyStates::cost, nb::arg("state"), nb::arg("action"), nb::call_guard<nb::gil_scoped_release>(),
           "The expected cost of taking an action in a state, applicable or not.")
      .def(
          "applicable",
          [](PyStates& self, StateId state) { return to_numpy(without_gil([&] { return self.applicable(state); })); },
          nb::arg("state"), "The applicable actions, ascending.")
      .def(
          "successors",
          [](PyStates& self, StateId state, ActionId action) {
            std::vector<StateId> states;
            std::vector<double> probabilities;
            interruptible([&] { self.successors(state, action, states, probabilities); });
            return nb::make_tuple(to_numpy(std::move(states)), to_numpy(std::move(probabilities)));
          },
          nb::sig("def successors(self, state: int, action: int) -> tuple[numpy.typing.NDArray[numpy.uint32], "
                  "numpy.typing.NDArray[numpy.float64]]"),
          nb::arg("state"), nb::arg("action"),
          "All successors with their probabilities, equal ones merged. Raises TooManySuccessors if there are more than "
          "`max_successors`.")
      .def("sample", &PyStates::sample, nb::arg("state"), nb::arg("action"), nb::arg("random"),
           nb::call_guard<nb::gil_scoped_release>(), "One successor, drawn at random.");
}

}  // namespace asnets
