#include "network/layer.hpp"

#include <algorithm>

namespace asnets {

LayerEvaluator::LayerEvaluator(const NetworkStructure& structure, const NetworkWeights& weights)
    : structure_(structure),
      weights_(weights),
      stride_(weights.stride()),
      dirty_actions_(structure.num_actions()),
      dirty_nodes_(structure.num_nodes()),
      result_(stride_),
      own_(stride_),
      base_(stride_) {
  for (const auto& pool : structure.pools()) trees_.push_back({&pool.members, false, 0});
  first_tree_.resize(structure.slots().size());
  set_goal_codes_.resize(structure.num_sets());
  std::size_t most_rows = 2;
  for (const auto& schema : structure.schemas()) most_rows = std::max(most_rows, schema.num_inputs + 2);
  for (const auto& predicate : structure.predicates()) most_rows = std::max(most_rows, predicate.num_pools + 1);
  rows_.resize(most_rows);
  for (std::size_t k = 0; k < structure.slots().size(); ++k) {
    const auto& slot = structure.slots()[k];
    if (!slot.is_set) continue;
    first_tree_[k] = trees_.size();
    trees_.push_back({&slot.sets, false, k});
    trees_.push_back({&slot.sets, true, k});
    for (std::size_t i = 0; i < slot.num_items; ++i) {
      bool some = false;
      bool all = !slot.sets.lists()[i].empty();
      for (const std::int32_t node : slot.sets.lists()[i]) {
        const bool goal = (structure.constant_codes()[static_cast<std::size_t>(node)] & 2) != 0;
        some |= goal;
        all &= goal;
      }
      set_goal_codes_[slot.first_set + i] = static_cast<std::uint8_t>((some ? 4 : 0) + (all ? 8 : 0));
    }
  }
  for (const Tree& tree : trees_) touches_.emplace_back(tree.layout->num_rows(), 0);
}

std::size_t LayerEvaluator::bytes(std::size_t layer) const {
  std::size_t rows = structure_.num_actions() + structure_.num_nodes();
  for (const Tree& tree : trees_) rows += tree.layout->num_rows();
  if (weights_.is_followed(layer)) rows += structure_.num_items();
  return rows * stride_ * sizeof(float);
}

void LayerEvaluator::prepare(LayerValues& values, std::size_t layer) const {
  values.actions.resize(structure_.num_actions() * stride_);
  values.nodes.resize(structure_.num_nodes() * stride_);
  values.extremes.resize(trees_.size());
  for (std::size_t t = 0; t < trees_.size(); ++t) values.extremes[t].resize(trees_[t].layout->num_rows() * stride_);
  if (weights_.is_followed(layer)) values.products.resize(structure_.num_items() * stride_);
}

std::uint8_t LayerEvaluator::set_code(std::size_t set, std::int32_t num_true) const {
  const auto& slot = structure_.slots()[structure_.slot_of_set(set)];
  const std::size_t size = slot.sets.lists()[set - slot.first_set].size();
  const bool all = size > 0 && static_cast<std::size_t>(num_true) == size;
  return static_cast<std::uint8_t>((num_true > 0 ? 1 : 0) + (all ? 2 : 0) + set_goal_codes_[set]);
}

void LayerEvaluator::set_inputs(LayerValues& values, const Word* state, const FeatureRows& features) const {
  const std::size_t num_propositions = structure_.num_propositions();
  values.state.assign(state, state + (num_propositions + 63) / 64);
  const std::size_t width = weights_.shape().default_values.size();
  values.named_actions.assign(features.actions.begin(), features.actions.end());
  values.is_named.assign(structure_.num_actions(), 0);
  values.action_features.resize(structure_.num_actions() * width);
  for (std::size_t row = 0; row < features.actions.size(); ++row) {
    const auto action = static_cast<std::size_t>(features.actions[row]);
    values.is_named[action] = 1;
    std::copy_n(features.values + row * width, width, values.action_features.data() + action * width);
  }
  values.node_codes = structure_.constant_codes();
  for (std::size_t p = 0; p < num_propositions; ++p) {
    if (structure_.node_of(p) >= 0 && test_bit(state, p)) {
      values.node_codes[static_cast<std::size_t>(structure_.node_of(p))] |= 1;
    }
  }
  values.num_true.assign(structure_.num_sets(), 0);
  values.set_codes.resize(structure_.num_sets());
  for (std::size_t set = 0; set < structure_.num_sets(); ++set) {
    const auto& slot = structure_.slots()[structure_.slot_of_set(set)];
    for (const std::int32_t node : slot.sets.lists()[set - slot.first_set]) {
      values.num_true[set] += values.node_codes[static_cast<std::size_t>(node)] & 1;
    }
    values.set_codes[set] = set_code(set, values.num_true[set]);
  }
}

const float* LayerEvaluator::base(const LayerValues& values, std::size_t layer, std::size_t schema,
                                  std::size_t action) {
  if (values.is_named[action] == 0) return weights_.default_base(layer, schema);
  const auto& module = weights_.features(layer, schema);
  const std::size_t width = weights_.shape().default_values.size();
  add_columns(base_.data(), module.bias.data(), module.columns.data(), values.action_features.data() + action * width,
              width, stride_);
  return base_.data();
}

void LayerEvaluator::compute_action(const LayerValues& values, const LayerValues* before, std::size_t layer,
                                    std::size_t action, float* out) {
  const std::size_t s = structure_.schema_of(action);
  const auto& schema = structure_.schemas()[s];
  const std::size_t within = action - schema.first_action;
  const auto* const slots = structure_.slots().data() + schema.first_slot;
  if (layer == 1) {
    rows_[0] = base(values, layer, s, action);
    for (std::size_t k = 0; k < schema.num_slots; ++k) {
      const auto item = static_cast<std::size_t>(slots[k].index[within]);
      rows_[k + 1] = weights_.contribution(layer, schema.first_slot + k, code_of(values, slots[k], item));
    }
  } else {
    const auto& module = weights_.action(layer, s);
    rows_[0] = weights_.reads_inputs(layer) ? base(values, layer, s, action) : module.bias.data();
    if (weights_.shape().skip) {
      const float* const input = before->actions.data() + action * stride_;
      multiply(own_.data(), rows_[0],
               module.columns.data() + schema.num_inputs * weights_.hidden() * stride_, &input, 1, weights_.hidden(),
               stride_, Function::kIdentity);
      rows_[0] = own_.data();
    }
    for (std::size_t k = 0; k < schema.num_slots; ++k) {
      const auto item = static_cast<std::size_t>(slots[k].index[within]);
      rows_[k + 1] = before->products.data() + (slots[k].first_item + item) * stride_;
    }
  }
  sum_rows(out, rows_.data(), schema.num_slots + 1, stride_, weights_.shape().function);
}

void LayerEvaluator::compute_node(const LayerValues& values, const LayerValues* before, std::size_t layer,
                                  std::size_t node, float* out) {
  const std::size_t p = structure_.predicate_of(node);
  const auto& predicate = structure_.predicates()[p];
  const auto& module = weights_.proposition(layer, p);
  std::size_t count = 0;
  for (std::size_t t = predicate.first_pool; t < predicate.first_pool + predicate.num_pools; ++t) {
    rows_[count++] = values.extremes[t].data() + trees_[t].layout->root(node - predicate.first_node) * stride_;
  }
  if (weights_.shape().skip && layer > 1) rows_[count++] = before->nodes.data() + node * stride_;
  const std::uint8_t code = weights_.reads_inputs(layer) ? values.node_codes[node] : std::uint8_t{0};
  multiply(out, weights_.node_start(layer, p, code), module.columns.data(), rows_.data(), count, weights_.hidden(),
           stride_, weights_.shape().function);
}

void LayerEvaluator::compute_products(LayerValues& values, std::size_t layer, std::size_t k, std::size_t item) const {
  const auto& slot = structure_.slots()[k];
  const auto& module = weights_.action(layer + 1, slot.schema);
  const float* inputs[2];
  std::size_t count = 0;
  if (slot.is_set) {
    inputs[count++] = set_value(values, slot.first_set + item, false);
    inputs[count++] = set_value(values, slot.first_set + item, true);
  } else {
    inputs[count++] = values.nodes.data() + (structure_.predicates()[slot.predicate].first_node + item) * stride_;
  }
  // What the next layer recalls of the item is added here, once for all that read it.
  const bool recalls = weights_.reads_inputs(layer + 1);
  const float* const start = recalls ? weights_.contribution(layer + 1, k, code_of(values, slot, item)) : nullptr;
  multiply(values.products.data() + (slot.first_item + item) * stride_, start,
           module.columns.data() + slot.first_input * weights_.hidden() * stride_, inputs, count, weights_.hidden(),
           stride_, Function::kIdentity);
}

const float* LayerEvaluator::set_value(const LayerValues& values, std::size_t set, bool minimum) const {
  const std::size_t k = structure_.slot_of_set(set);
  const std::size_t tree = first_tree_[k] + (minimum ? 1 : 0);
  return values.extremes[tree].data() + trees_[tree].layout->root(set - structure_.slots()[k].first_set) * stride_;
}

void LayerEvaluator::compute_row(LayerValues& values, std::size_t tree, std::size_t list, std::size_t row) const {
  const PoolLayout::Block block = trees_[tree].layout->block(list, row);
  float* const rows = values.extremes[tree].data();
  if (block.num_children == 0) {
    std::fill_n(rows + row * stride_, stride_, 0.0f);
  } else if (!block.members.empty()) {
    extreme(rows + row * stride_, members_of(values, tree).data(), block.members.data(), block.members.size(), stride_,
            trees_[tree].minimum);
  } else {
    extreme(rows + row * stride_, rows + block.first_child * stride_, nullptr, block.num_children, stride_,
            trees_[tree].minimum);
  }
}

void LayerEvaluator::compute_tree(LayerValues& values, std::size_t tree) const {
  const PoolLayout& layout = *trees_[tree].layout;
  const float* const members = members_of(values, tree).data();
  float* const rows = values.extremes[tree].data();
  for (std::size_t list = 0; list < layout.lists().size(); ++list) {
    const auto numbers = layout.lists()[list];
    const std::size_t first = layout.first_row(list);
    if (numbers.size() == 1) {  // As for most atoms that never change.
      std::copy_n(members + static_cast<std::size_t>(numbers[0]) * stride_, stride_, rows + first * stride_);
    } else if (!numbers.empty() && numbers.size() <= PoolLayout::kBlock) {
      extreme(rows + first * stride_, members, numbers.data(), numbers.size(), stride_, trees_[tree].minimum);
    } else {
      for (std::size_t row = first; row <= layout.root(list); ++row) compute_row(values, tree, list, row);
    }
  }
}

void LayerEvaluator::compute(LayerValues& values, const LayerValues* before, std::size_t layer) {
  for (std::size_t a = 0; a < structure_.num_actions(); ++a) {
    compute_action(values, before, layer, a, values.actions.data() + a * stride_);
  }
  for (std::size_t t = 0; t < structure_.pools().size(); ++t) compute_tree(values, t);
  for (std::size_t node = 0; node < structure_.num_nodes(); ++node) {
    compute_node(values, before, layer, node, values.nodes.data() + node * stride_);
  }
  for (std::size_t t = structure_.pools().size(); t < trees_.size(); ++t) compute_tree(values, t);
  if (weights_.is_followed(layer)) {
    for (std::size_t k = 0; k < structure_.slots().size(); ++k) {
      for (std::size_t i = 0; i < structure_.slots()[k].num_items; ++i) compute_products(values, layer, k, i);
    }
  }
  num_computed_ += static_cast<std::int64_t>(structure_.num_actions() + structure_.num_nodes());
}

float LayerEvaluator::logit(const LayerValues& before, std::size_t action) const {
  const std::size_t s = structure_.schema_of(action);
  const auto& schema = structure_.schemas()[s];
  const auto& module = weights_.last(s);
  const float* column = module.columns.data();
  float sum = module.bias[0];
  const auto add = [&](const float* input) {
    sum += dot(column, input, stride_);
    column += stride_;
  };
  for (std::size_t k = schema.first_slot; k < schema.first_slot + schema.num_slots; ++k) {
    const auto& slot = structure_.slots()[k];
    const auto item = static_cast<std::size_t>(slot.index[action - schema.first_action]);
    if (slot.is_set) {
      add(set_value(before, slot.first_set + item, false));
      add(set_value(before, slot.first_set + item, true));
    } else {
      add(before.nodes.data() + (structure_.predicates()[slot.predicate].first_node + item) * stride_);
    }
  }
  if (weights_.shape().skip) add(before.actions.data() + action * stride_);
  return sum;
}

}  // namespace asnets
