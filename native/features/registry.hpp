// The action features by name. A new one is a class in a file of its own and a line in registry.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "features/action_feature.hpp"
#include "task.hpp"

namespace asnets {

struct ActionFeatureEntry {
  std::string name;
  std::vector<float> default_values;  // As many as the feature is wide.
  bool is_binary;                     // Whether all values are 0 or 1.
  std::string description;
  std::unique_ptr<ActionFeature> (*make)(const Task& task);
};

const std::vector<ActionFeatureEntry>& action_features();
// Throws std::invalid_argument for other names.
const ActionFeatureEntry& find_action_feature(const std::string& name);
// The default values of several features, one after the other.
std::vector<float> default_values(const std::vector<std::string>& names);

}  // namespace asnets
