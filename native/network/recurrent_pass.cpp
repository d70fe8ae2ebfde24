#include "network/recurrent_pass.hpp"

#include <utility>

namespace asnets {

RecurrentPass::RecurrentPass(const NetworkStructure& structure, const NetworkWeights& weights)
    : evaluator_(structure, weights) {
  evaluator_.prepare(last_, 1);
  evaluator_.prepare(spare_, 1);
}

void RecurrentPass::begin(const Word* state, const FeatureRows& features) {
  // Each layer reads the inputs from its own values.
  evaluator_.set_inputs(last_, state, features);
  evaluator_.set_inputs(spare_, state, features);
  evaluator_.compute(last_, nullptr, 1);
  depth_ = 1;
}

void RecurrentPass::deepen() {
  evaluator_.compute(spare_, &last_, 2);
  std::swap(last_, spare_);
  ++depth_;
}

}  // namespace asnets
