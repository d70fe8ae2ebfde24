// Shared by the binding files; the only headers that know Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <vector>

namespace asnets {

namespace nb = nanobind;

template <typename T>
using InArray = nb::ndarray<const T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using OutArray = nb::ndarray<T, nb::numpy>;

// A numpy array that owns what was in the vector; needs the GIL.
template <typename T>
OutArray<T> to_numpy(std::vector<T> values) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return OutArray<T>(owned->data(), {owned->size()}, owner);
}

// What work gives that neither needs nor waits for the interpreter's lock.
template <typename Work>
auto without_gil(Work&& work) {
  nb::gil_scoped_release release;
  return work();
}

// Whether a signal asks to stop, for callers with the interpreter's lock. The pending exception stays set; the binding raises
// it when the work has stopped. Until then no handler of another signal may run, which would raise over it.
inline bool is_signalled() { return PyErr_Occurred() != nullptr || PyErr_CheckSignals() != 0; }

void bind_environments(nb::module_& module);
void bind_grounding(nb::module_& module);
void bind_guarded_policy(nb::module_& module);
void bind_heuristics(nb::module_& module);
void bind_network(nb::module_& module);
void bind_network_policy(nb::module_& module);
void bind_online(nb::module_& module);
void bind_paths(nb::module_& module);
void bind_planning(nb::module_& module);
void bind_policy(nb::module_& module);
void bind_simulation(nb::module_& module);
void bind_verification(nb::module_& module);

}  // namespace asnets
