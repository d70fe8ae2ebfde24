// Bringing a layer up to date; see layer.hpp.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "network/layer.hpp"

namespace asnets {

namespace {

bool same(const float* a, const float* b, std::size_t count) { return std::memcmp(a, b, count * sizeof(float)) == 0; }

}  // namespace

void LayerEvaluator::change_inputs(LayerValues& values, const Word* state, const FeatureRows& features) {
  for (std::size_t w = 0; w < values.state.size(); ++w) {
    for (Word bits = values.state[w] ^ state[w]; bits != 0; bits &= bits - 1) {
      const std::int32_t node = structure_.node_of(64 * w + static_cast<std::size_t>(std::countr_zero(bits)));
      if (node >= 0) change_truth(values, static_cast<std::size_t>(node));
    }
    values.state[w] = state[w];
  }
  change_features(values, features);
}

void LayerEvaluator::change_truth(LayerValues& values, std::size_t node) {
  values.node_codes[node] ^= 1;
  const std::int32_t difference = (values.node_codes[node] & 1) != 0 ? 1 : -1;
  const auto& predicate = structure_.predicates()[structure_.predicate_of(node)];
  const std::size_t within = node - predicate.first_node;
  for (const std::size_t k : predicate.slots) {
    const auto& slot = structure_.slots()[k];
    if (!slot.is_set) {
      for (const std::int32_t action : slot.readers[within]) dirty_actions_.insert(static_cast<std::size_t>(action));
      continue;
    }
    for (const std::int32_t number : slot.sets_of[within]) {
      const std::size_t set = slot.first_set + static_cast<std::size_t>(number);
      values.num_true[set] += difference;
      const std::uint8_t code = set_code(set, values.num_true[set]);
      if (code == values.set_codes[set]) continue;
      values.set_codes[set] = code;
      change_set(set);
    }
  }
}

// Both lists of actions are ascending.
void LayerEvaluator::change_features(LayerValues& values, const FeatureRows& features) {
  const std::size_t width = weights_.shape().default_values.size();
  auto old = values.named_actions.begin();
  const auto forget_up_to = [&](ActionId bound) {
    for (; old != values.named_actions.end() && *old < bound; ++old) {
      values.is_named[static_cast<std::size_t>(*old)] = 0;
      dirty_actions_.insert(static_cast<std::size_t>(*old));
    }
  };
  for (std::size_t row = 0; row < features.actions.size(); ++row) {
    forget_up_to(features.actions[row]);
    if (old != values.named_actions.end() && *old == features.actions[row]) ++old;
    const auto action = static_cast<std::size_t>(features.actions[row]);
    const float* const next = features.values + row * width;
    float* const current = values.action_features.data() + action * width;
    if (values.is_named[action] != 0 && same(current, next, width)) continue;
    values.is_named[action] = 1;
    std::copy_n(next, width, current);
    dirty_actions_.insert(action);
  }
  forget_up_to(std::numeric_limits<ActionId>::max());
  values.named_actions.assign(features.actions.begin(), features.actions.end());
}

void LayerEvaluator::change_node(std::size_t node) {
  const auto& predicate = structure_.predicates()[structure_.predicate_of(node)];
  for (const std::size_t k : predicate.slots) {
    const auto& slot = structure_.slots()[k];
    if (slot.is_set) continue;
    for (const std::int32_t action : slot.readers[node - predicate.first_node]) {
      dirty_actions_.insert(static_cast<std::size_t>(action));
    }
  }
  if (weights_.shape().skip) dirty_nodes_.insert(node);
}

void LayerEvaluator::change_set(std::size_t set) {
  const auto& slot = structure_.slots()[structure_.slot_of_set(set)];
  for (const std::int32_t action : slot.readers[set - slot.first_set]) {
    dirty_actions_.insert(static_cast<std::size_t>(action));
  }
}

// A member of a row has changed. The row is brought up to date, now if that is possible without looking at the other
// members, else in finish_trees.
void LayerEvaluator::replace(LayerValues& values, std::size_t tree, std::size_t list, std::size_t row,
                             const float* from, const float* to) {
  std::uint32_t& touch = touches_[tree][row];
  if (touch != 0 && touched_[touch - 1].rescan) return;
  float* const current = values.extremes[tree].data() + row * stride_;
  if (touch == 0) std::copy_n(current, stride_, result_.data());
  const Effect effect = replace_member(current, from, to, stride_, trees_[tree].minimum);
  if (effect == Effect::kNone) return;
  if (touch == 0) {
    touched_.push_back({tree, list, row, false});
    touched_values_.insert(touched_values_.end(), result_.begin(), result_.end());
    touch = static_cast<std::uint32_t>(touched_.size());
  }
  if (effect == Effect::kUnknown) touched_[touch - 1].rescan = true;
}

// Calls report(tree, list) for each list whose extreme elements have changed.
template <typename Report>
void LayerEvaluator::finish_trees(LayerValues& values, Report&& report) {
  // Rows above are touched only by rows that are listed before them, so that they are complete when it is their turn.
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    const Touched each = touched_[i];
    if (each.rescan) compute_row(values, each.tree, each.list, each.row);
    const float* const current = values.extremes[each.tree].data() + each.row * stride_;
    const float* const old = touched_values_.data() + i * stride_;
    if (same(current, old, stride_)) continue;
    if (each.row == trees_[each.tree].layout->root(each.list)) {
      report(each.tree, each.list);
    } else {
      replace(values, each.tree, each.list, trees_[each.tree].layout->block(each.list, each.row).parent, old, current);
    }
  }
  for (const Touched& each : touched_) touches_[each.tree][each.row] = 0;
  touched_.clear();
  touched_values_.clear();
}

bool LayerEvaluator::update(LayerValues& values, const LayerValues* before, std::size_t layer, Changes& changes) {
  if (2 * dirty_actions_.size() > structure_.num_actions()) {
    forget_dirty();
    compute(values, before, layer);
    return true;
  }
  update_actions(values, before, layer);
  update_pools(values);
  if (weights_.shape().skip) {
    for (const std::int32_t action : changed_actions_) changes.actions.insert(static_cast<std::size_t>(action));
  }
  update_nodes(values, before, layer, changes);
  finish_trees(values, [&](std::size_t tree, std::size_t list) {
    changes.sets.insert(structure_.slots()[trees_[tree].slot].first_set + list);
  });
  if (weights_.is_followed(layer)) {
    for (const std::int32_t number : changes.sets.numbers()) {
      const auto set = static_cast<std::size_t>(number);
      const std::size_t k = structure_.slot_of_set(set);
      compute_products(values, layer, k, set - structure_.slots()[k].first_set);
    }
  }
  forget_dirty();
  return false;
}

// Computes the dirty actions; those with another result are listed with what they were.
void LayerEvaluator::update_actions(LayerValues& values, const LayerValues* before, std::size_t layer) {
  num_computed_ += static_cast<std::int64_t>(dirty_actions_.size());
  changed_actions_.clear();
  old_values_.clear();
  for (const std::int32_t action : dirty_actions_.numbers()) {
    float* const current = values.actions.data() + static_cast<std::size_t>(action) * stride_;
    compute_action(values, before, layer, static_cast<std::size_t>(action), result_.data());
    if (same(current, result_.data(), stride_)) continue;
    old_values_.insert(old_values_.end(), current, current + stride_);
    std::copy_n(result_.data(), stride_, current);
    changed_actions_.push_back(action);
  }
}

// Nodes whose pools have changed become dirty.
void LayerEvaluator::update_pools(LayerValues& values) {
  for (std::size_t i = 0; i < changed_actions_.size(); ++i) {
    const auto action = static_cast<std::size_t>(changed_actions_[i]);
    replace_in_pools(values, action, old_values_.data() + i * stride_, values.actions.data() + action * stride_);
  }
  finish_trees(values, [&](std::size_t tree, std::size_t list) {
    dirty_nodes_.insert(structure_.predicates()[structure_.pools()[tree].predicate].first_node + list);
  });
}

void LayerEvaluator::replace_in_pools(LayerValues& values, std::size_t action, const float* from, const float* to) {
  const auto& schema = structure_.schemas()[structure_.schema_of(action)];
  const std::size_t within = action - schema.first_action;
  for (std::size_t k = schema.first_slot; k < schema.first_slot + schema.num_slots; ++k) {
    const auto& slot = structure_.slots()[k];
    const auto item = static_cast<std::size_t>(slot.index[within]);
    for (std::size_t n = 0; n < slot.pools.size(); ++n) {
      const std::size_t tree = slot.pools[n];
      if (!slot.is_set) {
        replace(values, tree, item, slot.pool_rows[n][within], from, to);
        continue;
      }
      const std::size_t first_node = structure_.predicates()[slot.predicate].first_node;
      for (const std::int32_t node : slot.sets.lists()[item]) {
        const std::size_t list = static_cast<std::size_t>(node) - first_node;
        const auto row = trees_[tree].layout->row_of(list, static_cast<std::int32_t>(action));
        replace(values, tree, list, row, from, to);
      }
    }
  }
}

// Computes the dirty nodes and, for those with another result, what reads them: products, and the trees of sets.
void LayerEvaluator::update_nodes(LayerValues& values, const LayerValues* before, std::size_t layer, Changes& changes) {
  const bool has_products = weights_.is_followed(layer);
  num_computed_ += static_cast<std::int64_t>(dirty_nodes_.size());
  for (const std::int32_t number : dirty_nodes_.numbers()) {
    const auto node = static_cast<std::size_t>(number);
    float* const current = values.nodes.data() + node * stride_;
    compute_node(values, before, layer, node, own_.data());
    if (same(current, own_.data(), stride_)) continue;
    std::swap_ranges(current, current + stride_, own_.data());
    changes.nodes.insert(node);
    const auto& predicate = structure_.predicates()[structure_.predicate_of(node)];
    for (const std::size_t k : predicate.slots) {
      if (structure_.slots()[k].is_set) {
        replace_in_sets(values, k, node, own_.data(), current);
      } else if (has_products) {
        compute_products(values, layer, k, node - predicate.first_node);
      }
    }
  }
}

void LayerEvaluator::replace_in_sets(LayerValues& values, std::size_t k, std::size_t node, const float* from,
                                     const float* to) {
  const auto& slot = structure_.slots()[k];
  for (const std::int32_t set : slot.sets_of[node - structure_.predicates()[slot.predicate].first_node]) {
    const auto list = static_cast<std::size_t>(set);
    const std::size_t row = slot.sets.row_of(list, static_cast<std::int32_t>(node));
    for (const std::size_t tree : {first_tree_[k], first_tree_[k] + 1}) replace(values, tree, list, row, from, to);
  }
}

}  // namespace asnets
