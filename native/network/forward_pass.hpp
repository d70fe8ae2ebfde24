// The forward pass for one state after the other, starting from remembered states.
//
// Some items are read by a large share of all actions: a hand that is empty or not, a tyre that is flat or not, or, in
// deeper layers, the hidden vector of such a proposition. Where such a shared item changes, nearly everything that
// follows changes, and mostly changes back soon. So the values of a layer are kept once for each combination of values
// of its shared items that was met, as snapshots: children of the snapshot of the layer before that they read. A step
// goes down from the first layer; on each it takes the snapshot with the very values (bit for bit) of the shared items
// and brings it up to date where anything else has changed since it was last used. Where there is none, the snapshot
// that differs in the least-read items is copied and brought up to date, or, if that is most of it, a new one computed.
// Snapshots that were not used for the longest time give way.
//
// The results have the same bits as those of a full pass (see layer.hpp), so they do not depend on what is remembered.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "network/layer.hpp"

namespace asnets {

// Holds what it remembers: one for each thread.
class ForwardPass {
 public:
  // Both must outlive this. If not incremental, every state is computed from scratch. Snapshots take about so many
  // bytes at most; one for each layer there must be.
  ForwardPass(const NetworkStructure& structure, const NetworkWeights& weights, bool incremental,
              std::size_t max_bytes);

  // Computes all hidden layers.
  void evaluate(const Word* state, const FeatureRows& features);
  // The output for an action in the state that was evaluated last. Only those that are asked for are computed.
  float logit(ActionId action) const { return evaluator_.logit(last_->values, static_cast<std::size_t>(action)); }

  std::size_t modules_per_pass() const {
    return weights_.shape().layers * (structure_.num_actions() + structure_.num_nodes());
  }
  // Modules of hidden layers computed so far, and how many passes had to compute some layer as a whole.
  std::int64_t num_computed() const { return evaluator_.num_computed(); }
  std::int64_t num_full() const { return num_full_; }

 private:
  using Key = std::vector<std::uint32_t>;

  struct Snapshot {
    Snapshot* parent = nullptr;
    std::vector<std::unique_ptr<Snapshot>> children;
    std::size_t layer = 0;
    Key key;             // The shared items' values that it was computed for.
    Changes pending;     // What has changed in the layer before since then.
    bool valid = false;  // Whether it holds anything to start from.
    std::uint64_t last_used = 0;
    LayerValues values;
  };
  struct SharedItem {
    bool is_set;
    std::size_t number;  // Of the node or set.
    std::size_t num_readers;
  };

  static constexpr std::size_t kMaxChildren = 32;
  static constexpr std::size_t kMaxShared = 16;
  // An item is shared if at least one of so many actions reads it.
  static constexpr std::size_t kShare = 8;

  void find_shared();
  void read_key(const Snapshot& parent, const Word* state);
  Snapshot& select(Snapshot& parent);
  Snapshot& add_child(Snapshot& parent);
  Snapshot* least_recent(Snapshot& top, const Snapshot* keep);
  void remove(Snapshot& snapshot);
  void recycle(std::unique_ptr<Snapshot> snapshot);
  void mark_changes(Snapshot& snapshot);

  const NetworkStructure& structure_;
  const NetworkWeights& weights_;
  const bool incremental_;
  const std::size_t max_bytes_;
  LayerEvaluator evaluator_;
  std::vector<SharedItem> shared_;
  std::vector<std::uint8_t> is_shared_node_;
  std::vector<std::uint8_t> is_shared_set_;
  Snapshot root_;
  Snapshot* last_ = nullptr;
  std::vector<std::unique_ptr<Snapshot>> spare_;  // One for each layer, for its memory.
  Key key_;
  std::vector<std::size_t> key_ends_;  // Of the shared items within a key.
  Changes changes_;
  std::size_t bytes_ = 0;
  std::uint64_t time_ = 0;
  std::int64_t num_full_ = 0;
};

}  // namespace asnets
