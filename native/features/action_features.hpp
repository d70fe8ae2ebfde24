// Several action features of a task, their values next to each other.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "features/action_feature.hpp"
#include "features/registry.hpp"
#include "task.hpp"

namespace asnets {

// Holds scratch space: one for each thread.
class ActionFeatures {
 public:
  // Throws std::invalid_argument for unknown names.
  ActionFeatures(const std::vector<std::string>& names, const Task& task);

  std::size_t width() const { return defaults_.size(); }
  // Of actions that `evaluate` does not name.
  const std::vector<float>& defaults() const { return defaults_; }
  // As ActionFeature::evaluate, with the values of all features.
  void evaluate(const Word* state, const ActionFeature::Set& set);

 private:
  struct Part {
    std::unique_ptr<ActionFeature> feature;
    std::size_t first;  // Of its values.
    std::size_t width;
  };

  std::vector<Part> parts_;
  std::vector<float> defaults_;
  std::vector<float> values_;            // Of all actions that any feature names; `width` each.
  std::vector<std::int32_t> positions_;  // Of each action among them, or -1.
  std::vector<ActionId> named_;
};

}  // namespace asnets
