// Which state is explored next. All orders depend on the model alone, so that the same states have the same numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "interruption.hpp"
#include "verification/explicit_model.hpp"
#include "verification/model_builder.hpp"

namespace asnets {

class Frontier {
 public:
  virtual ~Frontier() = default;
  // False if there is none until all that were taken have been added, or at all.
  virtual bool take(StateId& state) = 0;
  virtual void added(StateId state) = 0;
  // To be called when all that were taken have been added.
  virtual void refill() {}
  virtual std::size_t size() const = 0;
};

class BreadthFirst final : public Frontier {
 public:
  explicit BreadthFirst(const ExplicitModel& model) : model_(model) {}
  bool take(StateId& state) override {
    while (next_ < model_.num_states() && model_.kind(next_) == StateKind::kGoal) ++next_;
    if (next_ == model_.num_states()) return false;
    state = next_++;
    return true;
  }
  void added(StateId) override {}
  std::size_t size() const override { return model_.num_states() - next_; }

 private:
  const ExplicitModel& model_;
  StateId next_ = 0;
};

// Probability flows from the initial state along transitions; what lies in states that have not been explored is what
// they are chosen by. What comes back to explored states flows on, a few steps in each round.
class LikeliestFirst final : public Frontier {
 public:
  LikeliestFirst(const ExplicitModel& model, const ModelBuilder& builder) : model_(model), builder_(builder) {
    grow();
    if (!open_.empty()) mass_[0] = 1;
    refill();
  }

  bool take(StateId& state) override {
    if (next_ == round_.size()) return false;
    state = round_[next_++];
    return true;
  }
  void added(StateId state) override {
    grow();
    is_explored_[state] = true;
    ++explored_;
    flow(state);
  }
  void refill() override {
    for (int sweep = 0; sweep < kSweeps && !again_.empty(); ++sweep) {
      sweep_.swap(again_);
      again_.clear();
      for (const StateId state : sweep_) {
        interruption_tick();
        flow(state);
      }
    }
    std::erase_if(open_, [&](StateId state) { return is_explored_[state]; });
    const std::size_t count = std::min(open_.size(), std::max(kLeastRound, explored_ / kRoundShare));
    const auto middle = open_.begin() + static_cast<std::ptrdiff_t>(count);
    std::nth_element(open_.begin(), middle == open_.end() ? open_.end() : middle, open_.end(),
                     [&](StateId a, StateId b) { return mass_[a] > mass_[b] || (mass_[a] == mass_[b] && a < b); });
    round_.assign(open_.begin(), middle);
    std::sort(round_.begin(), round_.end());  // States that were met together are alike, which policies make use of.
    next_ = 0;
  }
  std::size_t size() const override { return open_.size() - next_; }

 private:
  static constexpr int kSweeps = 4;
  static constexpr std::size_t kLeastRound = 64;
  static constexpr std::size_t kRoundShare = 8;

  void grow() {
    for (std::size_t state = mass_.size(); state < model_.num_states(); ++state) {
      if (model_.kinds[state] == static_cast<std::uint8_t>(StateKind::kUnexplored)) {
        open_.push_back(static_cast<StateId>(state));
      }
    }
    mass_.resize(model_.num_states(), 0);
    is_explored_.resize(model_.num_states(), false);
  }
  void flow(StateId state) {
    if (model_.kind(state) != StateKind::kInner) return;
    const double mass = std::exchange(mass_[state], 0);
    const std::size_t choice = builder_.row(state).first;
    for (std::uint64_t t = model_.first_transition[choice]; t < model_.first_transition[choice + 1]; ++t) {
      const StateId successor = model_.successors[t];
      if (is_explored_[successor] && mass_[successor] == 0 && model_.kind(successor) == StateKind::kInner) {
        again_.push_back(successor);
      }
      mass_[successor] += mass * model_.probabilities[t];
    }
  }

  const ExplicitModel& model_;
  const ModelBuilder& builder_;
  std::vector<double> mass_;
  std::vector<bool> is_explored_;
  std::size_t explored_ = 0;
  std::vector<StateId> open_;
  std::vector<StateId> round_;
  std::size_t next_ = 0;
  std::vector<StateId> again_;
  std::vector<StateId> sweep_;
};

}  // namespace asnets
