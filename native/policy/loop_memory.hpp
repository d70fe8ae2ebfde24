// Whether a run has come back to where it was without progress.
//
// What it computes: at each state of a run, whether the run goes in circles there, and how well it knows what actions lead to.
// Coming back alone says little: a block that falls brings a run back by chance. A run is in a loop if it
//   - stays among states that it knows: from here, the actions that it took last, and where it drew one those that it may draw,
//     lead to states that it has visited, whatever chance does, and never out of them. A policy that goes by the state alone does
//     not leave them any more; or
//   - has come back here so often that chance does not explain it. How improbable it is that no step since the last new state
//     led to another one is counted in bits; each return with something new in between adds `kBitsOfNews`, since going round
//     in ever new states is no progress either. With `kBits` of both, the run is in a loop; and with
//     `kReturnsWithoutChance` since the last new state, if chance could hardly have done anything.
// So a policy that waits for something which seldom happens is left to wait, and one that chance should have let go is not.
// An action that may leave the state as it is, and has, is tried again: that does not count as coming back. Nor does it where
// the policy drew an action on the way: it wanders, as policies do that know of several actions alike, and where draws may lead
// somewhere new it gets on in time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulator.hpp"
#include "state_table.hpp"
#include "task.hpp"

namespace asnets {

// For one thread. A step takes microseconds; successors are worked out only where a run comes back.
class LoopMemory {
 public:
  // Fills in the actions that the policy may draw in a state.
  using Draws = std::function<void(const Word* state, std::vector<ActionId>& actions)>;

  LoopMemory(const Task& task, Draws draws)
      : task_(task), find_draws_(std::move(draws)), table_(task.num_words()), expander_(task, kMaxSuccessors) {}

  // A run begins.
  void begin() {
    table_ = StateTable(task_.num_words());
    visits_.clear();
    draws_ = 0;
    bits_ = 0;
    news_ = 0;
  }

  // The run is in this state, and is going to act. Returns whether it is in a loop.
  bool visit(const Word* state) {
    const StateId before = current_;
    current_ = known(state);
    Visits& visits = visits_[current_];
    const bool has_drawn = std::exchange(visits.draws, draws_) != draws_;
    if (++visits.count == 1) {
      ++news_;
      bits_ = 0;
    }
    const bool has_news = std::exchange(visits.news, news_) != news_;
    if (visits.count == 1) return false;
    if (has_news) visits.returns = 0;
    if (current_ != before && !has_drawn) {
      visits.returns_with_news += has_news;
      ++visits.returns;
    }
    if (visits.returns > 0 && bits_ + visits.returns_with_news * kBitsOfNews >= kBits) return true;
    if (visits.returns >= kReturnsWithoutChance && bits_ < visits.returns * kHardlyAnyBits) return true;
    if (visits.count < visits.next_look) return false;
    has_met_draws_ = false;
    const bool stays = stays_among_known();
    // A policy that wanders comes back often: twice as often before the next look.
    if (has_met_draws_ && !stays) visits_[current_].next_look = 2 * visits_[current_].count;
    return stays;
  }

  // How well the run knows what an action leads to from there: how often it has taken it there, and visited the state that
  // it may lead to; of several, the least. So the other actions come first, and those that may lead to something new; but
  // none is left out for ever, since it may be the only way, which chance has not let pass so far.
  std::size_t familiarity(ActionId action) {
    const Visits& here = visits_[current_];
    const auto taken = here.taken.find(action);
    const std::size_t tries = taken == here.taken.end() ? 0 : taken->second;
    try {
      expander_.expand(table_.state(current_), action);
    } catch (const TooManySuccessors&) {
      return tries;
    }
    std::size_t least = here.count;
    for (std::size_t i = 0; i < expander_.count(); ++i) {
      const std::optional<StateId> id = table_.find(expander_.successor(i));
      least = std::min(least, id ? visits_[*id].count : 0);
    }
    return tries + least;
  }

  // What it does there, and whether that was drawn among several actions.
  void act(ActionId action, bool is_drawn) {
    Visits& visits = visits_[current_];
    const bool was_drawn = std::exchange(visits.is_drawn, is_drawn);
    draws_ += is_drawn;
    ++visits.taken[action];
    if (visits.count > 1) bits_ += bits_of_staying(action);
    const bool is_as_before = is_drawn ? was_drawn : !was_drawn && visits.action == action;
    if (!is_as_before) visits.successors.clear();
    visits.action = action;
  }

 private:
  struct Visits {
    std::size_t count = 0;              // 0 for states that are only known as successors.
    std::unordered_map<ActionId, std::size_t> taken;  // How often.
    ActionId action = -1;               // The last one.
    std::vector<StateId> successors;    // Of that action, or of all that it was drawn from, where they were asked for.
    std::int64_t returns = 0;           // Since the last new state.
    std::int64_t returns_with_news = 0;
    std::size_t news = 0;               // States that the run had visited before the last visit.
    bool is_drawn = false;              // The last action.
    std::size_t draws = 0;              // Of the run, before the last visit.
    std::size_t look = 0;               // The last look at the states around that came by.
    std::size_t next_look = 0;          // None from here before so many visits.
  };

  static constexpr std::int64_t kBit = 1024;
  // A block that falls with a probability of 1/4 does so five times in a row once in a thousand times. What disturbs whom:
  // docs/policy-and-search.md has the figures.
  static constexpr std::int64_t kBits = 10 * kBit;
  // So 32 returns, each with something new on the way, are too many. Fewer disturb policies that wait in many states; more let
  // policies that go in circles through many states, which chance makes, go round for longer.
  static constexpr std::int64_t kBitsOfNews = kBits / 32;
  // A hundredth of a bit for each return: chance that leads somewhere new in one of a hundred and fifty is not waited for.
  static constexpr std::int64_t kHardlyAnyBits = kBit / 100;
  static constexpr std::int64_t kReturnsWithoutChance = 32;
  static constexpr double kMostBits = 64;  // Of one step.
  static constexpr std::size_t kMaxSuccessors = 256;  // Actions with more can be trusted to lead somewhere new.

  StateId known(const Word* state) {
    const StateId id = table_.intern(state);
    if (id >= visits_.size()) visits_.resize(id + 1);
    return id;
  }

  // How improbable it is that an action leads to a state that the run has visited; a whole number, since the last bits of the
  // logarithm are not the same in all libraries.
  std::int64_t bits_of_staying(ActionId action) {
    double known = 0;
    try {
      expander_.expand(table_.state(current_), action);
    } catch (const TooManySuccessors&) {
      return kBit;
    }
    for (std::size_t i = 0; i < expander_.count(); ++i) {
      const std::optional<StateId> id = table_.find(expander_.successor(i));
      if (id && visits_[*id].count > 0) known += expander_.probability(i);
    }
    return std::llround(std::clamp(-std::log2(known), 0.0, kMostBits) * kBit);
  }

  bool stays_among_known() {
    ++look_;
    open_.assign(1, current_);
    visits_[current_].look = look_;
    while (!open_.empty()) {
      const StateId state = open_.back();
      open_.pop_back();
      has_met_draws_ |= visits_[state].is_drawn;
      if (visits_[state].successors.empty() && !find_successors(state)) return false;
      for (const StateId successor : visits_[state].successors) {
        Visits& visits = visits_[successor];
        if (visits.count == 0) return false;
        if (visits.look == look_) continue;
        visits.look = look_;
        open_.push_back(successor);
      }
    }
    return true;
  }

  bool find_successors(StateId state) {
    if (visits_[state].is_drawn) {
      find_draws_(table_.state(state), drawn_);
    } else {
      drawn_.assign(1, visits_[state].action);
    }
    std::vector<StateId> successors;
    for (const ActionId action : drawn_) {
      try {
        expander_.expand(table_.state(state), action);
      } catch (const TooManySuccessors&) {
        return false;
      }
      for (std::size_t i = 0; i < expander_.count(); ++i) successors.push_back(known(expander_.successor(i)));
    }
    visits_[state].successors = std::move(successors);
    return true;
  }

  const Task& task_;
  Draws find_draws_;
  StateTable table_;
  Expander expander_;
  std::vector<Visits> visits_;
  std::vector<StateId> open_;
  std::vector<ActionId> drawn_;
  std::size_t look_ = 0;
  bool has_met_draws_ = false;  // In the last look.
  std::size_t draws_ = 0;
  std::int64_t bits_ = 0;  // Of the steps since the last new state: how improbable it was that none led to another one.
  std::size_t news_ = 0;   // How many states were visited.
  StateId current_ = 0;
};

}  // namespace asnets
