// The action and proposition modules of one hidden layer for one state: computed as a whole, or brought up to date.
//
// A module is always computed as a whole from its inputs, by the same routine, so that both ways give the same bits.
// What is brought up to date: the modules that read something that changed; where the result has the same bits as
// before, nothing that reads it is looked at.
// The last action layer has one output and is computed for single actions, since only the applicable ones are needed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "network/structure.hpp"
#include "network/weights.hpp"
#include "task.hpp"

namespace asnets {

// The actions of a state whose features have other than the default values, ascending, and these values: for each action
// a row as long as the features are wide.
struct FeatureRows {
  std::span<const ActionId> actions;
  const float* values = nullptr;
};

// A set of numbers below a bound that can be listed, and emptied in time that depends on its size only.
class NumberSet {
 public:
  explicit NumberSet(std::size_t bound = 0) : marks_(bound, 0) {}

  void insert(std::size_t number) {
    if (marks_[number] != 0) return;
    marks_[number] = 1;
    numbers_.push_back(static_cast<std::int32_t>(number));
  }
  void insert(const NumberSet& others) {
    for (const std::int32_t number : others.numbers_) insert(static_cast<std::size_t>(number));
  }
  void clear() {
    for (const std::int32_t number : numbers_) marks_[static_cast<std::size_t>(number)] = 0;
    numbers_.clear();
  }
  const std::vector<std::int32_t>& numbers() const { return numbers_; }
  std::size_t size() const { return numbers_.size(); }

 private:
  std::vector<std::uint8_t> marks_;
  std::vector<std::int32_t> numbers_;
};

// What has changed in a layer. Actions are of interest to the next layer with skip connections only.
struct Changes {
  Changes() = default;
  Changes(const NetworkStructure& structure, bool skip)
      : nodes(structure.num_nodes()), sets(structure.num_sets()), actions(skip ? structure.num_actions() : 0) {}

  void clear() {
    nodes.clear();
    sets.clear();
    actions.clear();
  }

  NumberSet nodes;
  NumberSet sets;
  NumberSet actions;
};

// What the modules of a layer read and gave. Matrices have `stride` columns.
struct LayerValues {
  // Of layers that read the inputs: what these are.
  std::vector<Word> state;
  std::vector<ActionId> named_actions;  // Of the `FeatureRows`.
  std::vector<std::uint8_t> is_named;   // For each action; others have the default values.
  std::vector<float> action_features;   // For each action a row, which holds its values if it is named.
  std::vector<std::uint8_t> node_codes;
  std::vector<std::uint8_t> set_codes;
  std::vector<std::int32_t> num_true;  // In each set.

  std::vector<float> actions;                // The hidden vectors φ.
  std::vector<float> nodes;                  // The hidden vectors ψ.
  std::vector<std::vector<float>> extremes;  // The rows of each tree of `LayerEvaluator`.
  std::vector<float> products;               // What each item adds to its readers in the next layer.
};

// Holds scratch space: one for each thread.
class LayerEvaluator {
 public:
  LayerEvaluator(const NetworkStructure& structure, const NetworkWeights& weights);

  // About the size of the values of a layer.
  std::size_t bytes(std::size_t layer) const;
  // Makes room for the values of a layer.
  void prepare(LayerValues& values, std::size_t layer) const;

  // Sets what layers read of the inputs, without computing their modules.
  void set_inputs(LayerValues& values, const Word* state, const FeatureRows& features) const;
  // All modules of a layer, from those of the one before; that is null for the first.
  void compute(LayerValues& values, const LayerValues* before, std::size_t layer);

  // Bringing up to date: first these say what changed among the inputs …
  void change_inputs(LayerValues& values, const Word* state, const FeatureRows& features);
  void change_node(std::size_t node);
  void change_set(std::size_t set);
  void change_action(std::size_t action) { dirty_actions_.insert(action); }
  // … then this computes what has to be and adds to `changes` what is different then. If that is more than half of the
  // actions, it computes everything, leaves `changes` alone and returns true.
  bool update(LayerValues& values, const LayerValues* before, std::size_t layer, Changes& changes);

  // The output of the last layer.
  float logit(const LayerValues& before, std::size_t action) const;

  // The largest (smallest) elements of a set.
  const float* set_value(const LayerValues& values, std::size_t set, bool minimum) const;

  // How many modules have been computed so far.
  std::int64_t num_computed() const { return num_computed_; }

 private:
  struct Tree {
    const PoolLayout* layout;
    bool minimum;
    std::size_t slot;  // Of sets.
  };
  struct Touched {
    std::size_t tree;
    std::size_t list;
    std::size_t row;
    bool rescan;
  };

  std::uint8_t set_code(std::size_t set, std::int32_t num_true) const;
  // What an action reads of the inputs apart from its slots, with the bias; valid until the next call.
  const float* base(const LayerValues& values, std::size_t layer, std::size_t schema, std::size_t action);
  // The code of what a slot reads of the inputs.
  std::uint8_t code_of(const LayerValues& values, const NetworkStructure::Slot& slot, std::size_t item) const {
    return slot.is_set ? values.set_codes[slot.first_set + item]
                       : values.node_codes[structure_.predicates()[slot.predicate].first_node + item];
  }
  void compute_action(const LayerValues& values, const LayerValues* before, std::size_t layer, std::size_t action,
                      float* out);
  void compute_node(const LayerValues& values, const LayerValues* before, std::size_t layer, std::size_t node,
                    float* out);
  void compute_products(LayerValues& values, std::size_t layer, std::size_t slot, std::size_t item) const;
  void compute_row(LayerValues& values, std::size_t tree, std::size_t list, std::size_t row) const;
  void compute_tree(LayerValues& values, std::size_t tree) const;
  const std::vector<float>& members_of(const LayerValues& values, std::size_t tree) const {
    return tree < structure_.pools().size() ? values.actions : values.nodes;
  }
  void replace(LayerValues& values, std::size_t tree, std::size_t list, std::size_t row, const float* from,
               const float* to);
  template <typename Report>
  void finish_trees(LayerValues& values, Report&& report);
  // The parts of change_inputs and of update; each adds what it changes to what the next one looks at.
  void change_truth(LayerValues& values, std::size_t node);
  void change_features(LayerValues& values, const FeatureRows& features);
  void update_actions(LayerValues& values, const LayerValues* before, std::size_t layer);
  void update_pools(LayerValues& values);
  void update_nodes(LayerValues& values, const LayerValues* before, std::size_t layer, Changes& changes);
  void replace_in_sets(LayerValues& values, std::size_t slot, std::size_t node, const float* from, const float* to);
  void replace_in_pools(LayerValues& values, std::size_t action, const float* from, const float* to);
  void forget_dirty() {
    dirty_actions_.clear();
    dirty_nodes_.clear();
  }

  const NetworkStructure& structure_;
  const NetworkWeights& weights_;
  const std::size_t stride_;
  std::vector<Tree> trees_;              // Of the pools, then for each set slot maximum and minimum.
  std::vector<std::size_t> first_tree_;  // For each slot that has sets.
  std::vector<std::uint8_t> set_goal_codes_;

  NumberSet dirty_actions_;
  NumberSet dirty_nodes_;
  std::vector<std::int32_t> changed_actions_;
  std::vector<float> old_values_;
  std::vector<float> result_;
  std::vector<float> own_;
  std::vector<float> base_;
  std::vector<const float*> rows_;
  std::vector<Touched> touched_;
  std::vector<float> touched_values_;                // Before they were touched.
  std::vector<std::vector<std::uint32_t>> touches_;  // For each row of each tree, its place in touched_, from 1.
  std::int64_t num_computed_ = 0;
};

}  // namespace asnets
