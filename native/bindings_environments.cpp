#include <nanobind/stl/string.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bindings_types.hpp"
#include "policy/environments.hpp"

namespace asnets {

namespace {

template <typename T>
using Rows = nb::ndarray<T, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Column = nb::ndarray<T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

class PyEnvironments {
 public:
  PyEnvironments(const PyTask& of, std::size_t count, std::int64_t max_steps, bool detect_dead_ends, bool is_strict,
                 unsigned threads)
      : environments_(interruptible([&] {
          return Environments(of.task, of.generator, of.detectors(detect_dead_ends), count, max_steps, is_strict,
                              threads);
        })) {}

  void start(const Column<const std::int64_t>& copies, const Column<const std::uint64_t>& seeds) {
    if (copies.size() != seeds.size()) throw nb::value_error("expected a seed for each copy");
    const auto numbers = checked(copies);
    locked([&] {
      for (std::size_t i = 0; i < numbers.size(); ++i) environments_.start(numbers[i], seeds.data()[i], 0);
    });
  }
  void start_next(const Column<const std::int64_t>& copies) {
    const auto numbers = checked(copies);
    locked([&] {
      for (const std::size_t copy : numbers) environments_.start_next(copy);
    });
  }
  void look(const Rows<std::int8_t>& bits, const Rows<std::int8_t>& masks) {
    const Environments::Views views = seen(bits, masks);
    locked([&] { environments_.look(views); });
  }
  void step(const IntArray& actions, const Column<double>& costs, const Column<std::int8_t>& endings,
            const Column<std::int8_t>& inapplicable, const Rows<std::int8_t>& bits, const Rows<std::int8_t>& masks) {
    const std::size_t count = environments_.size();
    if (costs.size() != count || endings.size() != count || inapplicable.size() != count) {
      throw nb::value_error("expected a place for each copy");
    }
    const Environments::Results results{
        {costs.data(), count}, {endings.data(), count}, {inapplicable.data(), count}};
    const Environments::Views views = seen(bits, masks);
    locked([&] { environments_.step(view(actions), results, views); });
  }
  auto streams() {
    std::vector<std::uint64_t> result;
    locked([&] {
      for (std::size_t i = 0; i < environments_.size(); ++i) {
        result.insert(result.end(), {environments_.seed(i), environments_.episode(i)});
      }
    });
    return to_numpy(std::move(result));
  }
  std::size_t size() const { return environments_.size(); }

 private:
  // Nothing here is an interruption point: a step is taken as a whole.
  template <typename Work>
  void locked(Work&& work) {
    nb::gil_scoped_release release;
    const std::lock_guard lock(mutex_);
    work();
  }
  std::vector<std::size_t> checked(const Column<const std::int64_t>& copies) const {
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < copies.size(); ++i) {
      const std::int64_t copy = copies.data()[i];
      if (copy < 0 || static_cast<std::size_t>(copy) >= environments_.size()) throw nb::index_error("no such copy");
      result.push_back(static_cast<std::size_t>(copy));
    }
    return result;
  }
  Environments::Views seen(const Rows<std::int8_t>& bits, const Rows<std::int8_t>& masks) const {
    const Task& task = environments_.task();
    if (bits.shape(0) != environments_.size() || bits.shape(1) != task.num_propositions() ||
        masks.shape(0) != environments_.size() || masks.shape(1) != task.num_actions()) {
      throw nb::value_error("expected a row for each copy");
    }
    return {{bits.data(), bits.size()}, {masks.data(), masks.size()}};
  }

  std::mutex mutex_;
  Environments environments_;
};

}  // namespace

void bind_environments(nb::module_& module) {
  // Its arguments are a message and the number of the copy.
  const nb::exception<WrongAction> wrong_action(module, "WrongAction", PyExc_ValueError);
  nb::register_exception_translator(
      [](const std::exception_ptr& pointer, void* type) {
        try {
          std::rethrow_exception(pointer);
        } catch (const WrongAction& error) {
          PyErr_SetObject(static_cast<PyObject*>(type), nb::make_tuple(std::string(error.what()), error.copy).ptr());
        }
      },
      wrong_action.ptr());

  nb::class_<PyEnvironments>(module, "Environments",
                             "Copies of a task side by side, for actions that are chosen outside.\n\n"
                             "All methods may be called from several threads at once; they wait for each other. Arrays "
                             "that are filled in must not be touched meanwhile.")
      .def(nb::init<const PyTask&, std::size_t, std::int64_t, bool, bool, unsigned>(), nb::arg("task"),
           nb::arg("count"), nb::arg("max_steps"), nb::arg("detect_dead_ends"), nb::arg("is_strict"),
           nb::arg("threads"), nb::keep_alive<1, 2>(),
           "Results do not depend on the number of threads. Unless it is strict, an action that is not applicable "
           "costs what it costs and changes nothing.")
      .def("__len__", &PyEnvironments::size)
      .def("start", &PyEnvironments::start, nb::arg("copies"), nb::arg("seeds"),
           nb::sig("def start(self, copies: numpy.typing.NDArray[numpy.int64], seeds: "
                   "numpy.typing.NDArray[numpy.uint64]) -> None"),
           "Some copies begin the first episode of a seed.")
      .def("start_next", &PyEnvironments::start_next, nb::arg("copies"),
           nb::sig("def start_next(self, copies: numpy.typing.NDArray[numpy.int64]) -> None"),
           "Some copies begin the next episode of the seed that they have.")
      .def("look", &PyEnvironments::look, nb::arg("bits").noconvert(), nb::arg("masks").noconvert(),
           nb::sig("def look(self, bits: numpy.typing.NDArray[numpy.int8], masks: numpy.typing.NDArray[numpy.int8]) -> "
                   "None"),
           "Fills in a row for each copy: propositions, 1 where true, and actions, 1 where applicable.")
      .def("step", &PyEnvironments::step, nb::arg("actions"), nb::arg("costs").noconvert(),
           nb::arg("endings").noconvert(), nb::arg("inapplicable").noconvert(), nb::arg("bits").noconvert(),
           nb::arg("masks").noconvert(),
           nb::sig("def step(self, actions: numpy.typing.NDArray[numpy.int32], costs: "
                   "numpy.typing.NDArray[numpy.float64], endings: numpy.typing.NDArray[numpy.int8], inapplicable: "
                   "numpy.typing.NDArray[numpy.int8], bits: numpy.typing.NDArray[numpy.int8], masks: "
                   "numpy.typing.NDArray[numpy.int8]) -> None"),
           "One step of all copies; those whose episode has ended begin the next one instead. Fills in what it cost, "
           "how the episode ended (0 goal, 1 dead end, 2 step limit, -1 where it goes on), 1 where the action was not "
           "applicable, and what `look` does. Raises WrongAction, and changes nothing, where there is no such action, "
           "or a strict one is not applicable.")
      .def("streams", &PyEnvironments::streams,
           nb::sig("def streams(self) -> numpy.typing.NDArray[numpy.uint64]"),
           "Seed and number of the episode of each copy, one after the other.");
}

}  // namespace asnets
