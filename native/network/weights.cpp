#include "network/weights.hpp"

#include <algorithm>
#include <stdexcept>

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
                                   const float* start, std::size_t stride) {
  std::vector<float> result((std::size_t{1} << columns.size()) * stride);
  for (std::size_t code = 0; code < std::size_t{1} << columns.size(); ++code) {
    float* const row = result.data() + code * stride;
    if (start != nullptr) std::copy_n(start, stride, row);
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
  require(shape.layers >= 1 && shape.hidden >= 1);
  require(actions.size() == shape.layers + 1 && propositions.size() == shape.layers);
  const auto& schemas = structure.schemas();
  const auto& predicates = structure.predicates();
  for (const auto& layer : actions) require(layer.size() == schemas.size());
  for (const auto& layer : propositions) require(layer.size() == predicates.size());

  const std::size_t bits = shape.feature_code.bits;
  contributions_.resize(structure.slots().size());
  for (std::size_t s = 0; s < schemas.size(); ++s) {
    const std::size_t read = schemas[s].num_inputs;
    check(actions[0][s], shape.hidden, bits + 2 * read);
    const Module module = by_columns(actions[0][s], bits + 2 * read, stride_);
    std::vector<std::size_t> columns;
    for (std::size_t i = 0; i < bits; ++i) columns.push_back(i);
    bases_.push_back(sums_of_columns(module, columns, module.bias.data(), stride_));
    std::size_t input = bits;
    for (std::size_t k = schemas[s].first_slot; k < schemas[s].first_slot + schemas[s].num_slots; ++k) {
      if (structure.slots()[k].is_set) {
        columns = {input, input + 1, input + read, input + read + 1};
        input += 2;
      } else {
        columns = {input, input + read};
        ++input;
      }
      contributions_[k] = sums_of_columns(module, columns, nullptr, stride_);
    }
  }
  for (std::size_t layer = 2; layer <= shape.layers; ++layer) {
    auto& modules = actions_.emplace_back();
    for (std::size_t s = 0; s < schemas.size(); ++s) {
      const std::size_t inputs = shape.hidden * (schemas[s].num_inputs + (shape.skip ? 1 : 0));
      check(actions[layer - 1][s], shape.hidden, inputs);
      modules.push_back(by_columns(actions[layer - 1][s], inputs, stride_));
    }
  }
  for (std::size_t layer = 1; layer <= shape.layers; ++layer) {
    auto& modules = propositions_.emplace_back();
    for (std::size_t p = 0; p < predicates.size(); ++p) {
      const std::size_t inputs = shape.hidden * (predicates[p].num_pools + (shape.skip && layer > 1 ? 1 : 0));
      check(propositions[layer - 1][p], shape.hidden, inputs);
      modules.push_back(by_columns(propositions[layer - 1][p], inputs, stride_));
    }
  }
  for (std::size_t s = 0; s < schemas.size(); ++s) {
    const std::size_t vectors = schemas[s].num_inputs + (shape.skip ? 1 : 0);
    const ModuleArrays& arrays = actions[shape.layers][s];
    check(arrays, 1, shape.hidden * vectors);
    Module& module = last_.emplace_back();
    module.bias = {arrays.bias[0]};
    module.columns.assign(vectors * stride_, 0.0f);
    for (std::size_t v = 0; v < vectors; ++v) {
      std::copy_n(arrays.weight.data() + v * shape.hidden, shape.hidden, module.columns.data() + v * stride_);
    }
  }
}

}  // namespace asnets
