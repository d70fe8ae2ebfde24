#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "bindings_types.hpp"

namespace asnets {

namespace {

std::unique_ptr<PyTask> make_task(IntArray proposition_predicate, const std::vector<IntArray>& lists,
                                  DoubleArray factor_probability, IntArray block_guard, IntArray action_precondition,
                                  IntArray action_block, DoubleArray action_cost, std::int32_t goal,
                                  IntArray initial) {
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
  arrays.initial = view(initial);
  std::vector<IntArray> ints(lists);
  ints.insert(ints.end(), {proposition_predicate, block_guard, action_precondition, action_block, initial});
  return std::make_unique<PyTask>(std::move(ints), std::vector<DoubleArray>{factor_probability, action_cost}, arrays);
}

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
           nb::arg("goal"), nb::arg("initial"),
           "Takes the arrays of a GroundTask without copying them: the predicate of each proposition; `lists` holds pairs of offsets and values: literals "
           "and clauses of conditions, conditions of clauses, literals, children and factors of blocks, outcomes of "
           "factors.")
      .def_prop_ro("num_propositions", [](const PyTask& self) { return self.task.num_propositions(); })
      .def_prop_ro("num_actions", [](const PyTask& self) { return self.task.num_actions(); });

  nb::class_<RandomStream>(module, "RandomStream", "The counter-based random numbers of one (seed, stream).")
      .def(nb::init<std::uint64_t, std::uint64_t>(), nb::arg("seed"), nb::arg("stream"))
      .def("bits", &RandomStream::bits, "64 random bits.")
      .def("uniform", &RandomStream::uniform, "A number in [0, 1).")
      .def("below", &RandomStream::below, nb::arg("bound"), "A number in {0, …, bound - 1}.");

  module.def(
      "philox4x32",
      [](std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) { return philox4x32(counter, key); },
      nb::arg("counter"), nb::arg("key"), "Philox4x32-10, for checking against its published test vectors.");

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
