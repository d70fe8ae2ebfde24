// The forward pass of a recurrent network for one state: layer after layer, for as long as the caller wants.
//
// Every layer is computed as a whole. Snapshots of layers, as forward_pass.hpp has them, would take memory for each layer
// of a depth that has no bound, and from one layer to the next nearly all vectors change, if only in their last bits.
// Two layers are held at a time, however deep the pass goes.
#pragma once

#include <cstdint>

#include "network/layer.hpp"

namespace asnets {

// Holds what it computes: one for each thread.
class RecurrentPass {
 public:
  // Both must outlive this.
  RecurrentPass(const NetworkStructure& structure, const NetworkWeights& weights);

  // Computes the first layer of a state.
  void begin(const Word* state, const FeatureRows& features);
  // Computes the next one.
  void deepen();
  // How many layers have been computed.
  std::size_t depth() const { return depth_; }
  // The output for an action if this layer is the last.
  float logit(ActionId action) const { return evaluator_.logit(last_, static_cast<std::size_t>(action)); }

  // Modules computed so far, in all passes.
  std::int64_t num_computed() const { return evaluator_.num_computed(); }

 private:
  LayerEvaluator evaluator_;
  LayerValues last_;
  LayerValues spare_;
  std::size_t depth_ = 0;
};

}  // namespace asnets
