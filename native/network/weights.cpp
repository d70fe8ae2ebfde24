#include "network/weights.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace asnets {

namespace {

void require(bool condition) {
  if (!condition) throw std::invalid_argument("the weights do not fit the structure of the network");
}

void check(const ModuleArrays& module, std::size_t outputs, std::size_t inputs) {
  require(module.bias.size() == outputs && module.weight.size() == outputs * inputs);
}

NetworkWeights::Module by_columns(const ModuleArrays& module, std::size_t inputs, std::size_t stride) {
  const std::size_t outputs = module.bias.size();
  NetworkWeights::Module result{std::vector<float>(inputs * stride), std::vector<float>(stride)};
  std::copy(module.bias.begin(), module.bias.end(), result.bias.begin());
  for (std::size_t i = 0; i < inputs; ++i) {
    for (std::size_t o = 0; o < outputs; ++o) result.columns[i * stride + o] = module.weight[o * inputs + i];
  }
  return result;
}

// For each code of as many bits as there are columns, the sum of the columns whose bits are set.
std::vector<float> sums_of_columns(const NetworkWeights::Module& module, const std::vector<std::size_t>& columns,
                                   std::size_t stride) {
  std::vector<float> result((std::size_t{1} << columns.size()) * stride);
  for (std::size_t code = 0; code < std::size_t{1} << columns.size(); ++code) {
    float* const row = result.data() + code * stride;
    for (std::size_t bit = 0; bit < columns.size(); ++bit) {
      if ((code >> bit & 1) == 0) continue;
      for (std::size_t o = 0; o < stride; ++o) row[o] += module.columns[columns[bit] * stride + o];
    }
  }
  return result;
}

}  // namespace

NetworkWeights::NetworkWeights(const NetworkStructure& structure, const NetworkShape& shape,
                               const std::vector<std::vector<ModuleArrays>>& actions,
                               const std::vector<std::vector<ModuleArrays>>& propositions)
    : shape_(shape), stride_(padded(shape.hidden)) {
  require(shape.layers >= 1 && shape.hidden >= 1 && (!shape.recurrent || shape.layers == 2));
  require(actions.size() == shape.layers + 1 && propositions.size() == shape.layers);
  for (const auto& layer : actions) require(layer.size() == structure.schemas().size());
  for (const auto& layer : propositions) require(layer.size() == structure.predicates().size());
  for (std::size_t s = 0; s < structure.schemas().size(); ++s) {
    check(actions.front()[s], shape_.hidden, num_inputs(structure.schemas()[s]));
  }
  read_inputs(first_, structure, actions.front());
  read_hidden_layers(structure, actions, propositions);
  read_last_layer(structure, actions.back());
}

// The inputs have the last columns of modules whose sizes have been checked.
void NetworkWeights::read_inputs(InputWeights& result, const NetworkStructure& structure,
                                 const std::vector<ModuleArrays>& modules) {
  const std::size_t width = shape_.default_values.size();
  result.contributions.resize(structure.slots().size());
  for (std::size_t s = 0; s < structure.schemas().size(); ++s) {
    const auto& schema = structure.schemas()[s];
    const std::size_t read = schema.num_inputs;
    const std::size_t columns_of_all = modules[s].weight.size() / shape_.hidden;
    const std::size_t first = columns_of_all - num_inputs(schema);
    Module module = by_columns(modules[s], columns_of_all, stride_);
    std::size_t input = first + width;
    for (std::size_t k = schema.first_slot; k < schema.first_slot + schema.num_slots; ++k) {
      const std::size_t inputs = structure.slots()[k].is_set ? 2 : 1;
      std::vector<std::size_t> columns;
      for (const std::size_t begin : {input, input + read}) {
        for (std::size_t i = 0; i < inputs; ++i) columns.push_back(begin + i);
      }
      result.contributions[k] = sums_of_columns(module, columns, stride_);
      input += inputs;
    }
    const auto begin = module.columns.begin() + static_cast<std::ptrdiff_t>(first * stride_);
    module.columns = {begin, begin + static_cast<std::ptrdiff_t>(width * stride_)};
    std::vector<float>& base = result.default_bases.emplace_back(stride_);
    add_columns(base.data(), module.bias.data(), module.columns.data(), shape_.default_values.data(), width, stride_);
    result.features.push_back(std::move(module));
  }
}

void NetworkWeights::read_hidden_layers(const NetworkStructure& structure, const Layers& actions,
                                        const Layers& propositions) {
  const auto& schemas = structure.schemas();
  const auto& predicates = structure.predicates();
  for (std::size_t layer = 2; layer <= shape_.layers; ++layer) {
    auto& modules = actions_.emplace_back();
    for (std::size_t s = 0; s < schemas.size(); ++s) {
      const std::size_t hidden = shape_.hidden * (schemas[s].num_inputs + (shape_.skip ? 1 : 0));
      const std::size_t inputs = hidden + (shape_.recurrent ? num_inputs(schemas[s]) : 0);
      check(actions[layer - 1][s], shape_.hidden, inputs);
      modules.push_back(by_columns(actions[layer - 1][s], inputs, stride_));
      modules.back().columns.resize(hidden * stride_);
    }
    if (shape_.recurrent) read_inputs(recalled_, structure, actions[layer - 1]);
  }
  for (std::size_t layer = 1; layer <= shape_.layers; ++layer) {
    auto& modules = propositions_.emplace_back();
    const bool recalls = shape_.recurrent && layer > 1;
    for (std::size_t p = 0; p < predicates.size(); ++p) {
      const std::size_t hidden = shape_.hidden * (predicates[p].num_pools + (shape_.skip && layer > 1 ? 1 : 0));
      const std::size_t inputs = hidden + (recalls ? 2 : 0);
      check(propositions[layer - 1][p], shape_.hidden, inputs);
      Module& module = modules.emplace_back(by_columns(propositions[layer - 1][p], inputs, stride_));
      if (!recalls) continue;
      std::vector<float>& starts = recalled_nodes_.emplace_back(sums_of_columns(module, {hidden, hidden + 1}, stride_));
      for (std::size_t i = 0; i < starts.size(); ++i) starts[i] += module.bias[i % stride_];
      module.columns.resize(hidden * stride_);
    }
  }
}

void NetworkWeights::read_last_layer(const NetworkStructure& structure, const std::vector<ModuleArrays>& modules) {
  for (std::size_t s = 0; s < structure.schemas().size(); ++s) {
    const std::size_t vectors = structure.schemas()[s].num_inputs + (shape_.skip ? 1 : 0);
    check(modules[s], 1, shape_.hidden * vectors);
    Module& module = last_.emplace_back();
    module.bias = {modules[s].bias[0]};
    module.columns.assign(vectors * stride_, 0.0f);
    for (std::size_t v = 0; v < vectors; ++v) {
      std::copy_n(modules[s].weight.data() + v * shape_.hidden, shape_.hidden, module.columns.data() + v * stride_);
    }
  }
}

}  // namespace asnets
