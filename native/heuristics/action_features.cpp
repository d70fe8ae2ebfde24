#include "heuristics/action_features.hpp"

#include <stdexcept>

#include "heuristics/lm_cut.hpp"
#include "heuristics/relaxation_heuristics.hpp"

namespace asnets {

namespace {

constexpr std::uint8_t kSole = 1;
constexpr std::uint8_t kOneOfSeveral = 2;
constexpr std::uint8_t kInNone = 4;
constexpr FeatureCode kLandmarks{3, kInNone};
constexpr FeatureCode kRelaxedPlan{1, 0};
constexpr std::size_t kMaxBits = 8;

class LandmarkFeatures final : public ActionFeatures {
 public:
  explicit LandmarkFeatures(const Task& task) : finder_(make_landmark_finder(task)), codes_(task.num_actions(), 0) {}

  std::size_t bits() const override { return kLandmarks.bits; }
  std::uint8_t usual_code() const override { return kLandmarks.usual; }
  void evaluate(const Word* state, const Set& set) override {
    // What an evaluation that was interrupted has left.
    for (const ActionId action : found_) codes_[static_cast<std::size_t>(action)] = 0;
    found_.clear();
    finder_->find(state, [&](std::span<const ActionId> actions, double) {
      for (const ActionId action : actions) {
        std::uint8_t& code = codes_[static_cast<std::size_t>(action)];
        if (code == 0) found_.push_back(action);
        code = static_cast<std::uint8_t>(code | (actions.size() == 1 ? kSole : kOneOfSeveral));
      }
    });
    for (const ActionId action : found_) set(action, codes_[static_cast<std::size_t>(action)]);
  }

 private:
  std::unique_ptr<LandmarkFinder> finder_;
  std::vector<std::uint8_t> codes_;
  std::vector<ActionId> found_;
};

class RelaxedPlanFeatures final : public ActionFeatures {
 public:
  explicit RelaxedPlanFeatures(const Task& task) : finder_(make_relaxed_plan_finder(task)) {}

  std::size_t bits() const override { return kRelaxedPlan.bits; }
  std::uint8_t usual_code() const override { return kRelaxedPlan.usual; }
  void evaluate(const Word* state, const Set& set) override {
    for (const ActionId action : finder_->find(state)) set(action, 1);
  }

 private:
  std::unique_ptr<RelaxedPlanFinder> finder_;
};

class SeveralFeatures final : public ActionFeatures {
 public:
  SeveralFeatures(std::vector<std::unique_ptr<ActionFeatures>> parts, const Task& task)
      : parts_(std::move(parts)), codes_(task.num_actions(), 0), is_found_(task.num_actions(), 0) {
    for (const auto& part : parts_) {
      usual_ = static_cast<std::uint8_t>(usual_ | part->usual_code() << bits_);
      bits_ += part->bits();
    }
  }

  std::size_t bits() const override { return bits_; }
  std::uint8_t usual_code() const override { return usual_; }
  void evaluate(const Word* state, const Set& set) override {
    // What an evaluation that was interrupted has left.
    for (const ActionId action : found_) is_found_[static_cast<std::size_t>(action)] = 0;
    found_.clear();
    std::size_t shift = 0;
    for (const auto& part : parts_) {
      const auto mask = static_cast<std::uint8_t>(((1u << part->bits()) - 1) << shift);
      part->evaluate(state, [&](ActionId action, std::uint8_t code) {
        const auto index = static_cast<std::size_t>(action);
        if (is_found_[index] == 0) {
          is_found_[index] = 1;
          found_.push_back(action);
          codes_[index] = usual_;
        }
        codes_[index] = static_cast<std::uint8_t>((codes_[index] & ~mask) | code << shift);
      });
      shift += part->bits();
    }
    for (const ActionId action : found_) set(action, codes_[static_cast<std::size_t>(action)]);
  }

 private:
  std::vector<std::unique_ptr<ActionFeatures>> parts_;
  std::size_t bits_ = 0;
  std::uint8_t usual_ = 0;
  std::vector<std::uint8_t> codes_;
  std::vector<std::uint8_t> is_found_;
  std::vector<ActionId> found_;
};

}  // namespace

FeatureCode feature_code(const std::vector<std::string>& names) {
  FeatureCode result;
  for (const std::string& name : names) {
    if (name != "landmarks" && name != "relaxed-plan") throw std::invalid_argument("unknown action features: " + name);
    const FeatureCode part = name == "landmarks" ? kLandmarks : kRelaxedPlan;
    result.usual = static_cast<std::uint8_t>(result.usual | part.usual << result.bits);
    result.bits += part.bits;
    if (result.bits > kMaxBits) throw std::invalid_argument("too many action features");
  }
  return result;
}

std::unique_ptr<ActionFeatures> make_action_features(const std::vector<std::string>& names, const Task& task) {
  feature_code(names);
  std::vector<std::unique_ptr<ActionFeatures>> parts;
  for (const std::string& name : names) {
    if (name == "landmarks") {
      parts.push_back(std::make_unique<LandmarkFeatures>(task));
    } else {
      parts.push_back(std::make_unique<RelaxedPlanFeatures>(task));
    }
  }
  if (parts.size() == 1) return std::move(parts.front());
  return std::make_unique<SeveralFeatures>(std::move(parts), task);
}

}  // namespace asnets
