#include "network/forward_pass.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace asnets {

ForwardPass::ForwardPass(const NetworkStructure& structure, const NetworkWeights& weights, bool incremental,
                         std::size_t max_bytes)
    : structure_(structure),
      weights_(weights),
      incremental_(incremental),
      max_bytes_(max_bytes),
      evaluator_(structure, weights),
      spare_(weights.shape().layers),
      changes_(structure, weights.shape().skip) {
  if (incremental) find_shared();
}

void ForwardPass::find_shared() {
  const auto add = [&](const SharedItem& item) {
    if (item.num_readers > 0 && kShare * item.num_readers >= structure_.num_actions()) shared_.push_back(item);
  };
  for (std::size_t node = 0; node < structure_.num_nodes(); ++node) {
    const auto& predicate = structure_.predicates()[structure_.predicate_of(node)];
    std::size_t num_readers = 0;
    for (const std::size_t k : predicate.slots) {
      const auto& slot = structure_.slots()[k];
      if (!slot.is_set) num_readers += slot.readers[node - predicate.first_node].size();
    }
    add({false, node, num_readers});
  }
  for (std::size_t set = 0; set < structure_.num_sets(); ++set) {
    const auto& slot = structure_.slots()[structure_.slot_of_set(set)];
    add({true, set, slot.readers[set - slot.first_set].size()});
  }
  std::stable_sort(shared_.begin(), shared_.end(),
                   [](const SharedItem& a, const SharedItem& b) { return a.num_readers > b.num_readers; });
  if (shared_.size() > kMaxShared) shared_.resize(kMaxShared);
  is_shared_node_.resize(structure_.num_nodes());
  is_shared_set_.resize(structure_.num_sets());
  for (const SharedItem& item : shared_) (item.is_set ? is_shared_set_ : is_shared_node_)[item.number] = 1;
}

void ForwardPass::evaluate(const Word* state, const FeatureRows& features) {
  ++time_;
  bool full = false;
  Snapshot* parent = &root_;
  for (std::size_t layer = 1; layer <= weights_.shape().layers; ++layer) {
    read_key(*parent, state);
    Snapshot& snapshot = select(*parent);
    snapshot.last_used = time_;
    const LayerValues* const before = layer == 1 ? nullptr : &parent->values;
    bool computed = !snapshot.valid;
    changes_.clear();
    if (!snapshot.valid) {
      if (layer == 1) evaluator_.set_inputs(snapshot.values, state, features);
      evaluator_.compute(snapshot.values, before, layer);
    } else {
      if (layer == 1) {
        evaluator_.change_inputs(snapshot.values, state, features);
      } else {
        mark_changes(snapshot);
      }
      computed = evaluator_.update(snapshot.values, before, layer, changes_);
    }
    snapshot.valid = incremental_;
    snapshot.key = key_;
    snapshot.pending.clear();
    full |= computed;
    for (const auto& child : snapshot.children) {
      if (computed) {
        child->valid = false;
      } else if (child->valid) {
        child->pending.nodes.insert(changes_.nodes);
        child->pending.sets.insert(changes_.sets);
        child->pending.actions.insert(changes_.actions);
      }
    }
    parent = &snapshot;
  }
  last_ = parent;
  if (full) ++num_full_;
}

// The values of the shared items that the layer after `parent` reads.
void ForwardPass::read_key(const Snapshot& parent, const Word* state) {
  key_.clear();
  key_ends_.clear();
  const auto holds_at = [&](std::size_t node) {
    const std::int32_t proposition = structure_.proposition_of(node);
    return proposition >= 0 && test_bit(state, static_cast<std::size_t>(proposition));
  };
  const auto append = [&](const float* vector) {
    for (std::size_t i = 0; i < weights_.stride(); ++i) key_.push_back(std::bit_cast<std::uint32_t>(vector[i]));
  };
  for (const SharedItem& item : shared_) {
    if (&parent == &root_) {
      if (item.is_set) {
        const auto& slot = structure_.slots()[structure_.slot_of_set(item.number)];
        bool some = false;
        bool all = true;
        for (const std::int32_t node : slot.sets.lists()[item.number - slot.first_set]) {
          // Constant members do not matter: only what can change has to be told apart.
          if (structure_.proposition_of(static_cast<std::size_t>(node)) < 0) continue;
          const bool truth = holds_at(static_cast<std::size_t>(node));
          some |= truth;
          all &= truth;
        }
        key_.push_back((some ? 1 : 0) + (all ? 2 : 0));
      } else {
        key_.push_back(holds_at(item.number) ? 1 : 0);
      }
    } else if (item.is_set) {
      append(evaluator_.set_value(parent.values, item.number, false));
      append(evaluator_.set_value(parent.values, item.number, true));
    } else {
      append(parent.values.nodes.data() + item.number * weights_.stride());
    }
    key_ends_.push_back(key_.size());
  }
}

// Says to the evaluator what has changed in the layer before.
void ForwardPass::mark_changes(Snapshot& snapshot) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < shared_.size(); begin = key_ends_[i++]) {
    if (std::equal(key_.begin() + static_cast<std::ptrdiff_t>(begin),
                   key_.begin() + static_cast<std::ptrdiff_t>(key_ends_[i]),
                   snapshot.key.begin() + static_cast<std::ptrdiff_t>(begin))) {
      continue;
    }
    if (shared_[i].is_set) {
      evaluator_.change_set(shared_[i].number);
    } else {
      evaluator_.change_node(shared_[i].number);
    }
  }
  // Shared items may have changed and changed back; the key says what they were.
  for (const std::int32_t node : snapshot.pending.nodes.numbers()) {
    if (is_shared_node_[static_cast<std::size_t>(node)] == 0) evaluator_.change_node(static_cast<std::size_t>(node));
  }
  for (const std::int32_t set : snapshot.pending.sets.numbers()) {
    if (is_shared_set_[static_cast<std::size_t>(set)] == 0) evaluator_.change_set(static_cast<std::size_t>(set));
  }
  for (const std::int32_t action : snapshot.pending.actions.numbers()) {
    evaluator_.change_action(static_cast<std::size_t>(action));
  }
}

// The snapshot to bring up to date: one with the wanted key, or one that is given up for it.
ForwardPass::Snapshot& ForwardPass::select(Snapshot& parent) {
  Snapshot* nearest = nullptr;
  std::size_t least = 0;
  for (const auto& child : parent.children) {
    if (child->key == key_) return *child;
    if (!child->valid) continue;
    std::size_t work = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < shared_.size(); begin = key_ends_[i++]) {
      if (!std::equal(key_.begin() + static_cast<std::ptrdiff_t>(begin),
                      key_.begin() + static_cast<std::ptrdiff_t>(key_ends_[i]),
                      child->key.begin() + static_cast<std::ptrdiff_t>(begin))) {
        work += shared_[i].num_readers;
      }
    }
    if (nearest == nullptr || work < least) {
      nearest = child.get();
      least = work;
    }
  }
  const std::size_t layer = parent.layer + 1;
  if (parent.children.size() == kMaxChildren) {
    const auto goes_before = [&](const auto& a, const auto& b) {
      return a.get() != nearest && (b.get() == nearest || a->last_used < b->last_used);
    };
    remove(**std::min_element(parent.children.begin(), parent.children.end(), goes_before));
  }
  while (bytes_ + evaluator_.bytes(layer) > max_bytes_) {
    Snapshot* const oldest = least_recent(root_, nearest);
    // Too large to keep two of them.
    if (oldest == nullptr && nearest != nullptr) return *nearest;
    if (oldest == nullptr) break;
    remove(*oldest);
  }
  Snapshot& snapshot = add_child(parent);
  // Where most of it has to be computed anyway, copying would be wasted.
  if (nearest != nullptr && 2 * least <= structure_.num_actions()) {
    snapshot.values = nearest->values;
    snapshot.pending = nearest->pending;
    snapshot.key = nearest->key;
    snapshot.valid = true;
  }
  return snapshot;
}

ForwardPass::Snapshot& ForwardPass::add_child(Snapshot& parent) {
  const std::size_t layer = parent.layer + 1;
  std::unique_ptr<Snapshot> snapshot = std::move(spare_[layer - 1]);
  if (snapshot == nullptr) {
    snapshot = std::make_unique<Snapshot>();
    snapshot->layer = layer;
    if (layer > 1) snapshot->pending = Changes(structure_, weights_.shape().skip);
    evaluator_.prepare(snapshot->values, layer);
  }
  snapshot->parent = &parent;
  snapshot->valid = false;
  snapshot->pending.clear();
  bytes_ += evaluator_.bytes(layer);
  parent.children.push_back(std::move(snapshot));
  return *parent.children.back();
}

// Of the snapshots below `top` that nothing reads, the one that was not used for the longest time; none that is in use
// now, nor `keep`.
ForwardPass::Snapshot* ForwardPass::least_recent(Snapshot& top, const Snapshot* keep) {
  Snapshot* oldest = nullptr;
  for (const auto& child : top.children) {
    Snapshot* candidate = least_recent(*child, keep);
    if (candidate == nullptr && child->last_used < time_ && child.get() != keep) candidate = child.get();
    if (candidate != nullptr && (oldest == nullptr || candidate->last_used < oldest->last_used)) oldest = candidate;
  }
  return oldest;
}

void ForwardPass::remove(Snapshot& snapshot) {
  auto& siblings = snapshot.parent->children;
  const auto place =
      std::find_if(siblings.begin(), siblings.end(), [&](const auto& each) { return each.get() == &snapshot; });
  std::unique_ptr<Snapshot> removed = std::move(*place);
  siblings.erase(place);
  recycle(std::move(removed));
}

void ForwardPass::recycle(std::unique_ptr<Snapshot> snapshot) {
  for (auto& child : snapshot->children) recycle(std::move(child));
  snapshot->children.clear();
  bytes_ -= evaluator_.bytes(snapshot->layer);
  spare_[snapshot->layer - 1] = std::move(snapshot);
}

}  // namespace asnets
