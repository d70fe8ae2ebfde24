#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "bindings.hpp"
#include "build.hpp"
#include "network/kernels.hpp"

namespace asnets {

namespace {

template <typename T>
using Matrix = nb::ndarray<T, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Ints = InArray<std::int32_t>;

Indices view(const Ints& array) { return {array.data(), array.size()}; }

// The kernels trust their arguments. What is cheap to check is checked here: shapes that do not fit would mean reading
// outside of the matrices. Indices come from asnets.network.structure.
template <typename T>
Blocks<T> blocks(const Matrix<T>& matrix, const Ints& starts) {
  const Indices rows = view(starts);
  if (rows.empty() || rows.front() != 0 || static_cast<std::size_t>(rows.back()) != matrix.shape(0)) {
    throw std::invalid_argument("the blocks do not cover the matrix");
  }
  return {matrix.data(), rows};
}

void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

template <typename T>
void bind_kernels(nb::module_& module) {
  module.def(
      "gather_add",
      [](Matrix<T> out, Ints out_starts, Matrix<const T> source, Ints source_starts, Ints index) {
        require(out.shape(1) == source.shape(1), "the widths differ");
        require(index.size() + 1 == out_starts.size(), "one index for each node is needed");
        const auto target = blocks(out, out_starts);
        const auto from = blocks(source, source_starts);
        nb::gil_scoped_release release;
        gather_add<T>(target, from, view(index), out.shape(1));
      },
      nb::arg("out").noconvert(), nb::arg("out_starts"), nb::arg("source").noconvert(), nb::arg("source_starts"),
      nb::arg("index"), "Adds to the rows of each node those of the node `index` of the source.");
  module.def(
      "scatter_add",
      [](Matrix<T> source, Ints source_starts, Matrix<const T> out, Ints out_starts, Ints index) {
        require(out.shape(1) == source.shape(1), "the widths differ");
        require(index.size() + 1 == out_starts.size(), "one index for each node is needed");
        const auto target = blocks(source, source_starts);
        const auto from = blocks(out, out_starts);
        nb::gil_scoped_release release;
        scatter_add<T>(target, from, view(index), out.shape(1));
      },
      nb::arg("source").noconvert(), nb::arg("source_starts"), nb::arg("out").noconvert(), nb::arg("out_starts"),
      nb::arg("index"), "Adds the rows of each node to those of the node `index` of the source.");
  module.def(
      "pool",
      [](Matrix<T> out, Matrix<std::int32_t> chosen, Ints out_starts, Matrix<const T> source, Ints source_starts,
         Ints offsets, Ints members, bool minimum) {
        require(out.shape(1) == source.shape(1), "the widths differ");
        require(out.shape(0) == chosen.shape(0) && out.shape(1) == chosen.shape(1), "the shapes differ");
        require(offsets.size() == out_starts.size(), "one list for each node is needed");
        const auto target = blocks(out, out_starts);
        const auto from = blocks(source, source_starts);
        nb::gil_scoped_release release;
        pool<T>(target, chosen.data(), from, view(offsets), view(members), out.shape(1), minimum);
      },
      nb::arg("out").noconvert(), nb::arg("chosen").noconvert(), nb::arg("out_starts"), nb::arg("source").noconvert(),
      nb::arg("source_starts"), nb::arg("offsets"), nb::arg("members"), nb::arg("minimum"),
      "The elementwise maximum or minimum over the members of each node's list, and which member it is from.");
  module.def(
      "pool_backward",
      [](Matrix<T> source, Matrix<const std::int32_t> chosen, Matrix<const T> out, Ints out_starts) {
        require(out.shape(1) == source.shape(1), "the widths differ");
        require(out.shape(0) == chosen.shape(0) && out.shape(1) == chosen.shape(1), "the shapes differ");
        const auto from = blocks(out, out_starts);
        nb::gil_scoped_release release;
        pool_backward<T>(source.data(), chosen.data(), from, out.shape(1));
      },
      nb::arg("source").noconvert(), nb::arg("chosen").noconvert(), nb::arg("out").noconvert(), nb::arg("out_starts"),
      "Adds the gradient of each pooled element to the element that was chosen.");
}

}  // namespace

void bind_network(nb::module_& module) {
  bind_kernels<float>(module);
  bind_kernels<double>(module);
  module.def(
      "build_info", [] { return nb::make_tuple(compiler(), kernel_variant(), processor_features()); },
      nb::sig("def build_info() -> tuple[str, str, list[str]]"),
      "The compiler, the variant of the kernels that runs here, and what the processor can do.");
}

}  // namespace asnets
