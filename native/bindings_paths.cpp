#include <nanobind/stl/optional.h>

#include <optional>
#include <span>
#include <vector>

#include "bindings_types.hpp"
#include "verification/paths.hpp"

namespace asnets {

void bind_paths(nb::module_& module) {
  module.def(
      "find_path",
      [](const InArray<std::uint64_t>& first_choice, const InArray<std::uint64_t>& first_transition,
         const InArray<std::uint32_t>& successors, const InArray<double>& probabilities, std::uint32_t start,
         const InArray<std::uint8_t>& targets, bool shortest,
         const Deadline* deadline) -> std::optional<OutArray<std::uint32_t>> {
        ModelView model;
        model.first_choice = view(first_choice);
        model.first_transition = view(first_transition);
        model.successors = view(successors);
        model.probabilities = view(probabilities);
        const std::size_t num_states = targets.size();
        if (model.first_choice.size() != num_states + 1 || start >= num_states || model.first_transition.empty() ||
            model.first_choice.back() + 1 != model.first_transition.size() ||
            model.first_transition.back() != model.successors.size() ||
            model.successors.size() != model.probabilities.size()) {
          throw nb::value_error("the arrays do not make a model");
        }
        for (const std::uint32_t successor : model.successors) {
          if (successor >= num_states) throw nb::value_error("a successor is no state");
        }
        std::vector<StateId> path;
        try {
          nb::gil_scoped_release release;
          const InterruptionScope scope([deadline] {
            if (deadline != nullptr && deadline->has_passed()) throw Interrupted();
            nb::gil_scoped_acquire gil;
            if (is_signalled()) throw nb::python_error();
          });
          path = find_path(model, start, view(targets), shortest);
        } catch (const Interrupted&) {
          return std::nullopt;
        }
        return to_numpy(std::move(path));
      },
      nb::arg("first_choice"), nb::arg("first_transition"), nb::arg("successors"), nb::arg("probabilities"),
      nb::arg("start"), nb::arg("targets"), nb::arg("shortest"), nb::arg("deadline").none(),
      nb::sig("def find_path(first_choice: numpy.typing.NDArray[numpy.uint64], first_transition: "
              "numpy.typing.NDArray[numpy.uint64], successors: numpy.typing.NDArray[numpy.uint32], probabilities: "
              "numpy.typing.NDArray[numpy.float64], start: int, targets: numpy.typing.NDArray[numpy.uint8], shortest: "
              "bool, deadline: Deadline | None) -> numpy.typing.NDArray[numpy.uint32] | None"),
      "The states of the likeliest or the shortest path to a target; empty if there is none, None after the deadline.");
}

}  // namespace asnets
