#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "bindings.hpp"
#include "grounding/list_table.hpp"
#include "grounding/reachability.hpp"

namespace asnets {

namespace {

using Terms = std::vector<Term>;
using AtomPair = std::pair<std::size_t, Terms>;

std::vector<Reachability::Atom> to_atoms(const std::vector<AtomPair>& pairs) {
  std::vector<Reachability::Atom> atoms;
  for (const auto& [relation, terms] : pairs) atoms.push_back({relation, terms});
  return atoms;
}

using GuardTuple = std::tuple<std::size_t, std::size_t, Terms>;

}  // namespace

void bind_grounding(nb::module_& module) {
  nb::class_<Reachability>(module, "Reachability",
                           "Relaxed reachability: a set of rules over relations, run to its fixpoint.\n\n"
                           "A term is a variable slot (>= 0) or an object (-1 - object).")
      .def(nb::init<std::size_t>(), nb::arg("num_objects"))
      .def(
          "add_type",
          [](Reachability& self, InArray<std::int32_t> members) { return self.add_type({members.data(), members.size()}); },
          nb::arg("members"))
      .def(
          "add_relation",
          [](Reachability& self, std::size_t arity, InArray<std::int32_t> facts, std::size_t count,
             std::size_t max_tuples) {
            return self.add_relation(arity, {facts.data(), facts.size()}, count, max_tuples);
          },
          nb::arg("arity"), nb::arg("facts"), nb::arg("count"), nb::arg("max_tuples"),
          "`facts` holds `count` tuples one after the other; rules may bring them to `max_tuples`.")
      .def("add_atom", &Reachability::add_atom, nb::arg("relation"), nb::arg("terms"))
      .def("add_negated_atom", &Reachability::add_negated_atom, nb::arg("relation"), nb::arg("deleted"),
           nb::arg("terms"))
      .def("add_equality", &Reachability::add_equality, nb::arg("left"), nb::arg("right"), nb::arg("equal"))
      .def("add_connective", &Reachability::add_connective, nb::arg("conjunction"), nb::arg("children"))
      .def(
          "add_quantifier",
          [](Reachability& self, bool universal, std::vector<std::int32_t> variables, std::vector<std::size_t> types,
             std::size_t body, const std::vector<GuardTuple>& guards, std::vector<std::size_t> constraints) {
            std::vector<Reachability::Guard> made;
            for (const auto& [relation, deleted, terms] : guards) made.push_back({{relation, terms}, deleted});
            return self.add_quantifier(universal, std::move(variables), std::move(types), body, std::move(made),
                                       std::move(constraints));
          },
          nb::arg("universal"), nb::arg("variables"), nb::arg("types"), nb::arg("body"), nb::arg("guards"),
          nb::arg("constraints"),
          "Guards, as (relation, relation of what can become false, terms), and constraints say which bindings matter.")
      .def(
          "add_rule",
          [](Reachability& self, std::vector<std::size_t> types, const std::vector<AtomPair>& body,
             std::vector<std::size_t> constraints, std::vector<std::size_t> filter, std::size_t num_slots,
             const std::vector<AtomPair>& heads) {
            return self.add_rule({std::move(types), to_atoms(body), std::move(constraints), std::move(filter),
                                  num_slots, to_atoms(heads)});
          },
          nb::arg("types"), nb::arg("body"), nb::arg("constraints"), nb::arg("filter"), nb::arg("num_slots"),
          nb::arg("heads"))
      .def(
          "run",
          [](Reachability& self, std::size_t max_steps, std::size_t max_waiting,
             const nb::typed<nb::callable, void(std::size_t)>& poll) -> std::pair<std::ptrdiff_t, std::ptrdiff_t> {
            const auto on_poll = [&](std::size_t rule) {
              nb::gil_scoped_acquire gil;
              if (is_signalled()) throw nb::python_error();
              poll(rule);
            };
            nb::gil_scoped_release release;
            try {
              self.run(max_steps, max_waiting, on_poll);
            } catch (const GroundingLimit& limit) {
              return {static_cast<std::ptrdiff_t>(limit.rule), limit.relation};
            }
            return {-1, -1};
          },
          nb::sig("def run(self, max_steps: int, max_waiting: int, poll: collections.abc.Callable[[int], object]) -> "
                  "tuple[int, int]"),
          nb::arg("max_steps"), nb::arg("max_waiting"), nb::arg("poll"),
          "Runs to the fixpoint; `poll` is called with the rule at hand every few milliseconds. Returns (-1, -1), or the "
          "rule that went over a limit and the relation that grew too large "
          "(-1: too many join steps, -2: too many bindings wait for a condition).")
      .def(
          "tuples",
          [](const Reachability& self, std::size_t relation) {
            return to_numpy(std::vector<std::int32_t>(self.relation(relation).data()));
          },
          nb::arg("relation"), "All tuples of a relation, one after the other, initial facts first.")
      .def(
          "size", [](const Reachability& self, std::size_t relation) { return self.relation(relation).size(); },
          nb::arg("relation"), "The number of tuples of a relation.");

  nb::class_<ListTable>(module, "ListTable", "Distinct lists of numbers, in the order of their first occurrence.")
      .def(nb::init<>())
      .def(
          "intern",
          [](ListTable& self, InArray<std::int32_t> offsets, InArray<std::int32_t> values) {
            std::vector<std::int32_t> numbers;
            {
              nb::gil_scoped_release release;
              for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
                const std::int32_t begin = offsets.data()[i], end = offsets.data()[i + 1];
                if (begin < 0 || end < begin || static_cast<std::size_t>(end) > values.size()) {
                  throw std::invalid_argument("offsets outside of the values");
                }
                numbers.push_back(self.intern({values.data() + begin, static_cast<std::size_t>(end - begin)}));
              }
            }
            return to_numpy(std::move(numbers));
          },
          nb::arg("offsets"), nb::arg("values"), "The numbers of lists, which are given one after the other.")
      .def_prop_ro("num_values", [](const ListTable& self) { return self.values().size(); })
      .def(
          "lists",
          [](const ListTable& self) {
            return std::pair{to_numpy(std::vector<std::int64_t>(self.offsets())),
                             to_numpy(std::vector<std::int32_t>(self.values()))};
          },
          nb::sig("def lists(self) -> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int32]]"),
          "All lists: offsets and values.");
}

}  // namespace asnets
