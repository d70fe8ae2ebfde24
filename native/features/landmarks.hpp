// Features of LM-cut's landmarks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "features/action_feature.hpp"
#include "heuristics/lm_cut.hpp"

namespace asnets {

// The only action of some landmark, one of several of some landmark, in none [toyer2018action, "Heuristic features for
// expressiveness"].
class LandmarkFeature final : public ActionFeature {
 public:
  explicit LandmarkFeature(const Task& task) : finder_(make_landmark_finder(task)), kinds_(task.num_actions(), 0) {}

  void evaluate(const Word* state, const Set& set) override {
    // What an evaluation that was interrupted has left.
    for (const ActionId action : members_) kinds_[static_cast<std::size_t>(action)] = 0;
    members_.clear();
    finder_->find(state, [&](std::span<const ActionId> actions, double) {
      for (const ActionId action : actions) {
        std::uint8_t& kinds = kinds_[static_cast<std::size_t>(action)];
        if (kinds == 0) members_.push_back(action);
        kinds = static_cast<std::uint8_t>(kinds | (actions.size() == 1 ? 1 : 2));
      }
    });
    static constexpr float kValues[][3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
    for (const ActionId action : members_) set(action, kValues[kinds_[static_cast<std::size_t>(action)]]);
  }

 private:
  std::unique_ptr<LandmarkFinder> finder_;
  std::vector<std::uint8_t> kinds_;  // Of the landmarks that an action is in: 1 alone, 2 with others, 3 both.
  std::vector<ActionId> members_;
};

// The share of LM-cut's value that comes from landmarks with the action.
class LandmarkShareFeature final : public ActionFeature {
 public:
  explicit LandmarkShareFeature(const Task& task) : finder_(make_landmark_finder(task)), costs_(task.num_actions(), 0) {}

  void evaluate(const Word* state, const Set& set) override {
    // What an evaluation that was interrupted has left.
    for (const ActionId action : members_) costs_[static_cast<std::size_t>(action)] = 0;
    members_.clear();
    double value = 0;
    finder_->find(state, [&](std::span<const ActionId> actions, double cost) {
      value += cost;
      for (const ActionId action : actions) {
        double& total = costs_[static_cast<std::size_t>(action)];
        if (total == 0) members_.push_back(action);
        total += cost;
      }
    });
    for (const ActionId action : members_) {
      const auto share = static_cast<float>(costs_[static_cast<std::size_t>(action)] / value);
      set(action, &share);
    }
  }

 private:
  std::unique_ptr<LandmarkFinder> finder_;
  std::vector<double> costs_;  // Of the landmarks that an action is in.
  std::vector<ActionId> members_;
};

}  // namespace asnets
