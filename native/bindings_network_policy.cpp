#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "bindings_types.hpp"
#include "features/registry.hpp"
#include "network/structure.hpp"
#include "network/weights.hpp"
#include "policy/network_policy.hpp"
#include "tolerances.hpp"

namespace asnets {

namespace {

using FloatMatrix = nb::ndarray<const float, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using FloatArray = InArray<float>;
using PyPool = std::tuple<std::int32_t, std::int32_t, IntArray, IntArray>;
using PyPredicate = std::tuple<IntArray, std::vector<PyPool>>;
using PySlot = std::tuple<std::int32_t, IntArray, std::optional<std::tuple<IntArray, IntArray>>>;
using PySchema = std::tuple<std::int32_t, std::int32_t, std::vector<PySlot>>;
using PyDepthRule = std::tuple<std::size_t, std::size_t, std::size_t>;
using PyModules = std::vector<std::vector<std::tuple<FloatMatrix, FloatArray>>>;

std::shared_ptr<NetworkStructure> make_structure(std::size_t num_propositions, std::size_t num_actions,
                                                 const std::vector<PyPredicate>& predicates,
                                                 const std::vector<PySchema>& schemas,
                                                 const InArray<std::uint8_t>& truth,
                                                 const InArray<std::uint8_t>& in_goal) {
  StructureArrays arrays;
  arrays.num_propositions = num_propositions;
  arrays.num_actions = num_actions;
  arrays.truth = {truth.data(), truth.size()};
  arrays.in_goal = {in_goal.data(), in_goal.size()};
  for (const auto& [atoms, pools] : predicates) {
    PredicateArrays& predicate = arrays.predicates.emplace_back();
    predicate.atoms = view(atoms);
    for (const auto& [schema, slot, offsets, values] : pools) {
      predicate.pools.push_back({schema, slot, {view(offsets), view(values)}});
    }
  }
  for (const auto& [first, count, slots] : schemas) {
    SchemaArrays& schema = arrays.schemas.emplace_back();
    schema.first_action = first;
    schema.num_actions = count;
    for (const auto& [predicate, index, sets] : slots) {
      SlotArrays& slot = schema.slots.emplace_back();
      slot.predicate = predicate;
      slot.index = view(index);
      slot.is_set = sets.has_value();
      if (sets) slot.sets = {view(std::get<0>(*sets)), view(std::get<1>(*sets))};
    }
  }
  nb::gil_scoped_release release;
  return std::make_shared<NetworkStructure>(arrays);
}

std::vector<std::vector<ModuleArrays>> modules_of(const PyModules& layers) {
  std::vector<std::vector<ModuleArrays>> result;
  for (const auto& layer : layers) {
    auto& modules = result.emplace_back();
    for (const auto& [weight, bias] : layer) {
      modules.push_back({{weight.data(), weight.size()}, {bias.data(), bias.size()}});
    }
  }
  return result;
}

Function function_of(const std::string& name) {
  static const std::map<std::string, Function> functions{
      {"elu", Function::kElu}, {"relu", Function::kRelu}, {"tanh", Function::kTanh}, {"sigmoid", Function::kSigmoid}};
  const auto found = functions.find(name);
  if (found == functions.end()) throw std::invalid_argument("unknown nonlinearity: " + name);
  return found->second;
}

struct PyNetworkPolicy : PyPolicy {
  PyNetworkPolicy(const PyTask& of, const Network& network, bool sampled, bool incremental, std::size_t max_bytes,
                  const PyDepthRule& depth)
      : PyPolicy{of, {}} {
    check(network);
    const DepthRule rule{std::get<0>(depth), std::get<1>(depth), std::get<2>(depth)};
    if (network.weights->shape().recurrent && (rule.least < 1 || rule.most < rule.least)) {
      throw std::invalid_argument("a recurrent network needs a depth");
    }
    pool = std::make_shared<NetworkPolicyPool>(of.task, of.generator, network,
                                               NetworkPolicyOptions{sampled, incremental, max_bytes, rule});
    make = [pool = pool] { return NetworkPolicyPool::lend(pool); };
  }

  void set_weights(const Network& network) {
    check(network);
    pool->set_network(network);
  }

  void check(const Network& network) const {
    if (network.structure->num_actions() != task.task.num_actions() ||
        network.structure->num_propositions() != task.task.num_propositions()) {
      throw std::invalid_argument("the structure of the network is that of another task");
    }
  }

  std::shared_ptr<NetworkPolicyPool> pool;
};

}  // namespace

void bind_network_policy(nb::module_& module) {
  module.attr("EQUAL_LOGITS") = kEqualLogits;

  nb::class_<NetworkStructure>(module, "NetworkStructure", "How the modules of a task are connected.")
      .def(nb::new_(&make_structure), nb::arg("num_propositions"), nb::arg("num_actions"), nb::arg("predicates"),
           nb::arg("schemas"), nb::arg("truth"), nb::arg("in_goal"),
           "Predicates are (atoms, pools), a pool is (schema, slot or -1, offsets, values); schemas are (first action, "
           "number of actions, slots), a slot is (predicate, index, None or (offsets, values) of its sets). Truth and "
           "goal flags are for all atoms.")
      .def_prop_ro("num_nodes", &NetworkStructure::num_nodes);

  nb::class_<Network>(module, "NetworkWeights", "The weights of a network, for one structure.")
      .def(
          "__init__",
          [](Network* self, std::shared_ptr<NetworkStructure> structure, std::size_t layers, std::size_t hidden,
             const std::string& nonlinearity, bool skip, bool recurrent, const std::vector<std::string>& features,
             const PyModules& actions, const PyModules& propositions) {
            const NetworkShape shape{layers,    hidden,   function_of(nonlinearity), skip,
                                     recurrent, features, default_values(features)};
            auto weights = std::make_shared<const NetworkWeights>(*structure, shape, modules_of(actions),
                                                                  modules_of(propositions));
            new (self) Network{std::move(structure), std::move(weights)};
          },
          nb::arg("structure"), nb::arg("layers"), nb::arg("hidden"), nb::arg("nonlinearity"), nb::arg("skip"),
          nb::arg("recurrent"), nb::arg("features"), nb::arg("actions"), nb::arg("propositions"),
          "The modules are pairs of weight and bias, by layer and then by schema or predicate. Recurrent networks have "
          "two layers, the second of which follows itself, and the last one.");

  nb::class_<PyNetworkPolicy, PyPolicy>(module, "NetworkPolicy",
                                        "The policy of a network: greedy or sampled.\n\n"
                                        "All methods may be called at any time from any thread.")
      .def(nb::init<const PyTask&, const Network&, bool, bool, std::size_t, const PyDepthRule&>(), nb::arg("task"),
           nb::arg("weights"), nb::arg("sampled"), nb::arg("incremental"), nb::arg("memory"),
           nb::arg("depth") = PyDepthRule{0, 0, 0}, nb::keep_alive<1, 2>(),
           "Each thread remembers values of modules for incremental evaluation in about so many bytes. The depth of a "
           "recurrent network is its least number of layers, for how many more the choice has to stay as it is, and the "
           "greatest number.")
      .def("set_weights", &PyNetworkPolicy::set_weights, nb::arg("weights"), nb::call_guard<nb::gil_scoped_release>(),
           "Goes on with other weights; those of episodes that run stay. Action features of states stay remembered.")
      .def(
          "probabilities",
          [](PyNetworkPolicy& self, IntArray propositions) {
            const std::vector<Word> state = pack_state(self.task.task, propositions);
            std::vector<ActionId> actions;
            std::vector<double> probabilities;
            interruptible([&] {
              self.pool->use([&](NetworkPolicy& policy) {
                policy.evaluate(state.data());
                actions = policy.actions();
                probabilities = policy.probabilities();
              });
            });
            return nb::make_tuple(to_numpy(std::move(actions)), to_numpy(std::move(probabilities)));
          },
          nb::sig("def probabilities(self, propositions: numpy.typing.NDArray[numpy.int32]) -> "
                  "tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.float64]]"),
          nb::arg("propositions"), "The applicable actions, ascending, and their probabilities.")
      .def(
          "logits",
          [](PyNetworkPolicy& self, IntArray propositions) {
            const std::vector<Word> state = pack_state(self.task.task, propositions);
            std::vector<float> logits;
            interruptible([&] { self.pool->use([&](NetworkPolicy& policy) { logits = policy.logits(state.data()); }); });
            return to_numpy(std::move(logits));
          },
          nb::sig("def logits(self, propositions: numpy.typing.NDArray[numpy.int32]) -> "
                  "numpy.typing.NDArray[numpy.float32]"),
          nb::arg("propositions"), "The outputs of the network for all actions.")
      .def(
          "statistics",
          [](PyNetworkPolicy& self) {
            const NetworkStatistics statistics = without_gil([&] { return self.pool->statistics(); });
            nb::dict result;
            result["steps"] = statistics.steps;
            result["feature_seconds"] = statistics.feature_seconds;
            result["network_seconds"] = statistics.network_seconds;
            result["modules_recomputed"] = statistics.modules_recomputed;
            result["modules_total"] = statistics.modules_total;
            result["full_passes"] = statistics.full_passes;
            result["layers"] = statistics.layers;
            result["unsettled"] = statistics.unsettled;
            return result;
          },
          nb::sig("def statistics(self) -> dict[str, float]"),
          "What all episodes and calls so far took; of episodes that run, nothing yet.");
}

}  // namespace asnets
