// The weights of a network in the order in which the forward pass for one state reads them.
//
// Layers, modules and the columns of weights are those of asnets.network.network. Here a weight is stored by columns,
// each padded to a multiple of kLanes (see vectors.hpp). What slots give the first layer are bits, so that what a slot
// adds to an action is looked up by its code instead of computed:
//   a node: v + 2g;  a set: max v + 2 min v + 4 max g + 8 min g.
// The layers of a recurrent network from the second on read these inputs as well, by weights of their own; there are two
// hidden layers then, the second of which follows itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "network/structure.hpp"
#include "network/vectors.hpp"

namespace asnets {

struct NetworkShape {
  std::size_t layers = 0;
  std::size_t hidden = 0;
  Function function = Function::kElu;
  bool skip = false;
  bool recurrent = false;
  std::vector<std::string> features;   // Action features by name; see features/registry.hpp.
  std::vector<float> default_values;  // Theirs.
};

// A weight (outputs × inputs, row after row) with its bias.
struct ModuleArrays {
  std::span<const float> weight;
  std::span<const float> bias;
};

// Immutable once made: threads share it.
class NetworkWeights {
 public:
  struct Module {
    std::vector<float> columns;
    std::vector<float> bias;
  };

  // The modules are by layer and then by schema or predicate. Throws std::invalid_argument if a shape does not fit.
  NetworkWeights(const NetworkStructure& structure, const NetworkShape& shape,
                 const std::vector<std::vector<ModuleArrays>>& actions,
                 const std::vector<std::vector<ModuleArrays>>& propositions);

  const NetworkShape& shape() const { return shape_; }
  std::size_t hidden() const { return shape_.hidden; }
  std::size_t stride() const { return stride_; }

  // Whether a hidden layer comes after this one.
  bool is_followed(std::size_t layer) const { return shape_.recurrent || layer < shape_.layers; }
  // Whether a layer reads the inputs.
  bool reads_inputs(std::size_t layer) const { return shape_.recurrent || layer == 1; }

  // Of layers that read the inputs: a column for each value of the action features, and the bias.
  const Module& features(std::size_t layer, std::size_t schema) const { return inputs(layer).features[schema]; }
  // What these come to for the default values of the features.
  const float* default_base(std::size_t layer, std::size_t schema) const {
    return inputs(layer).default_bases[schema].data();
  }
  // What a slot adds there.
  const float* contribution(std::size_t layer, std::size_t slot, std::uint8_t code) const {
    return inputs(layer).contributions[slot].data() + code * stride_;
  }
  // Of layers 2 … n, over the vectors of the slots and, with skip connections, that of the action itself.
  const Module& action(std::size_t layer, std::size_t schema) const {
    return actions_[std::min(layer, shape_.layers) - 2][schema];
  }
  // Of layers 1 … n.
  const Module& proposition(std::size_t layer, std::size_t predicate) const {
    return propositions_[layer - 1][predicate];
  }
  // The bias of a node of this code; it contains what the layer reads of the inputs.
  const float* node_start(std::size_t layer, std::size_t predicate, std::uint8_t code) const {
    if (layer == 1 || !shape_.recurrent) return proposition(layer, predicate).bias.data();
    return recalled_nodes_[predicate].data() + code * stride_;
  }
  // Of layer n + 1: one vector for each input, and the bias as one number.
  const Module& last(std::size_t schema) const { return last_[schema]; }

 private:
  using Layers = std::vector<std::vector<ModuleArrays>>;
  struct InputWeights {
    std::vector<Module> features;
    std::vector<std::vector<float>> default_bases;
    std::vector<std::vector<float>> contributions;
  };

  const InputWeights& inputs(std::size_t layer) const { return layer == 1 ? first_ : recalled_; }
  std::size_t num_inputs(const NetworkStructure::Schema& schema) const {
    return shape_.default_values.size() + 2 * schema.num_inputs;
  }
  void read_inputs(InputWeights& result, const NetworkStructure& structure, const std::vector<ModuleArrays>& modules);
  void read_hidden_layers(const NetworkStructure& structure, const Layers& actions, const Layers& propositions);
  void read_last_layer(const NetworkStructure& structure, const std::vector<ModuleArrays>& modules);

  NetworkShape shape_;
  std::size_t stride_;
  InputWeights first_;
  InputWeights recalled_;
  std::vector<std::vector<float>> recalled_nodes_;
  std::vector<std::vector<Module>> actions_;
  std::vector<std::vector<Module>> propositions_;
  std::vector<Module> last_;
};

}  // namespace asnets
