#include "policy/guarded_policy.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "policy/draw.hpp"
#include "tolerances.hpp"

namespace asnets {

namespace {

// The streams that are split off that of an episode.
enum Stream : std::uint64_t { kShieldStream = 1, kLoopStream, kSearchStream, kLoopSearchStream };

}  // namespace

OnLoop find_on_loop(const std::string& name) {
  for (std::uint8_t i = 0; i < std::size(kOnLoopNames); ++i) {
    if (name == kOnLoopNames[i]) return static_cast<OnLoop>(i);
  }
  throw std::invalid_argument("unknown rule for loops: " + name);
}

void GuardStatistics::add(const GuardStatistics& other) {
  episodes += other.episodes;
  steps += other.steps;
  for (std::size_t d = 0; d < kNumDeciders; ++d) {
    for (std::size_t r = 0; r < kNumReasons; ++r) decided[d][r] += other.decided[d][r];
  }
  rollouts += other.rollouts;
  simulations += other.simulations;
  excluded_actions += other.excluded_actions;
  excluded_steps += other.excluded_steps;
  loops += other.loops;
  loops_left += other.loops_left;
  loop_episodes += other.loop_episodes;
}

GuardedPolicy::GuardedPolicy(const Task& task, const SuccessorGenerator& generator, GuardParts parts,
                             std::shared_ptr<GuardTotal> total)
    : generator_(generator), parts_(std::move(parts)), total_(std::move(total)) {
  if (!parts_.base && !parts_.search) throw std::invalid_argument("expected a policy, a search or both");
  if ((parts_.on_loop == OnLoop::kSearch) != (parts_.loop_search != nullptr)) {
    throw std::invalid_argument("expected a search for loops where the rule is search, and only there");
  }
  if (parts_.on_loop != OnLoop::kNone) {
    memory_.emplace(task, [this](const Word* state, std::vector<ActionId>& actions) {
      shielded_distribution(state, drawn_);
      actions = drawn_.actions;
    });
  }
}

void GuardedPolicy::begin(const RandomStream& of_episode) {
  if (parts_.base) parts_.base->begin(of_episode);
  if (parts_.search) parts_.search->begin(of_episode.split(kSearchStream));
  if (parts_.loop_search) parts_.loop_search->begin(of_episode.split(kLoopSearchStream));
  shield_random_ = of_episode.split(kShieldStream);
  loop_random_ = of_episode.split(kLoopStream);
  if (memory_) memory_->begin();
  ++statistics_.episodes;
  has_looped_ = false;
}

void GuardedPolicy::find_applicable(const Word* state) {
  generator_.applicable(state, applicable_, stack_);
  actions_.assign(applicable_.actions().begin(), applicable_.actions().end());
  std::sort(actions_.begin(), actions_.end());
}

void GuardedPolicy::find_allowed(const Word* state) {
  excluded_.clear();
  if (parts_.shield && actions_.size() > 1) excluded_ = parts_.shield->excluded(state);
  allowed_.clear();
  std::set_difference(actions_.begin(), actions_.end(), excluded_.begin(), excluded_.end(), std::back_inserter(allowed_));
  ASNETS_ASSERT(!allowed_.empty() || actions_.empty());
}

bool GuardedPolicy::is_allowed(ActionId action) const {
  return std::binary_search(allowed_.begin(), allowed_.end(), action);
}

void GuardedPolicy::rank(const Word* state, ActionId preferred) {
  scratch_.clear();
  if (parts_.base) parts_.base->preferences(state, scratch_);
  ranking_.clear();
  double total = 0;
  for (std::size_t i = 0; i < scratch_.actions.size(); ++i) {
    if (!is_allowed(scratch_.actions[i])) continue;
    ranking_.add(scratch_.actions[i], scratch_.probabilities[i]);
    total += scratch_.probabilities[i];
  }
  if (total == 0) {
    ranking_.actions = allowed_;
    const auto first = std::find(ranking_.actions.begin(), ranking_.actions.end(), preferred);
    if (first != ranking_.actions.end()) std::rotate(ranking_.actions.begin(), first, first + 1);
    ranking_.probabilities.assign(allowed_.size(), 1.0 / static_cast<double>(allowed_.size()));
    return;
  }
  std::vector<std::size_t> order(ranking_.actions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double first = ranking_.probabilities[a];
    const double second = ranking_.probabilities[b];
    return first > second || (first == second && ranking_.actions[a] < ranking_.actions[b]);
  });
  scratch_.clear();
  for (const std::size_t i : order) scratch_.add(ranking_.actions[i], ranking_.probabilities[i] / total);
  std::swap(ranking_, scratch_);
}

void GuardedPolicy::replacement(const Word* state, ActionDistribution& result) {
  rank(state, -1);
  result = ranking_;
  if (parts_.sampled) return;
  const double least = ranking_.probabilities.front() * (1 - static_cast<double>(kEqualLogits));
  const auto end = std::find_if(ranking_.probabilities.begin(), ranking_.probabilities.end(), [&](double p) { return p < least; });
  const auto best = static_cast<std::size_t>(end - ranking_.probabilities.begin());
  result.actions.resize(best);
  result.probabilities.assign(best, 1.0 / static_cast<double>(best));
}

ActionId GuardedPolicy::choose(const Word* state, RandomStream& random) {
  decision_ = {};
  asked_ = nullptr;
  const bool is_loop = memory_ && memory_->visit(state);
  find_applicable(state);
  if (actions_.empty()) return -1;
  const auto num_drawn = [&] { return random.num_drawn() + shield_random_.num_drawn(); };
  const std::uint64_t num_before = num_drawn();
  decision_.policy_action = parts_.base ? parts_.base->choose(state, random) : -1;
  if (decision_.policy_action < 0 && !parts_.search) return -1;
  find_allowed(state);
  ActionId preferred = decision_.policy_action;
  if (preferred >= 0 && !is_allowed(preferred)) {
    replacement(state, scratch_);
    preferred = draw_action(scratch_.actions, scratch_.probabilities, parts_.sampled, shield_random_);
  }
  const bool is_drawn = num_drawn() != num_before;
  decide(state, preferred, is_loop);
  if (memory_) memory_->act(decision_.action, is_drawn && decision_.action == preferred);
  count(is_loop);
  return decision_.action;
}

void GuardedPolicy::decide(const Word* state, ActionId preferred, bool is_loop) {
  const ActionId policy_action = decision_.policy_action;
  const bool has_choice = allowed_.size() > 1;
  StepSearch* const search = is_loop && parts_.loop_search ? parts_.loop_search.get() : parts_.search.get();
  asked_ = has_choice ? search : nullptr;
  if (asked_ != nullptr) {
    asked_->decide(state, allowed_, preferred, decision_);
  } else {
    decision_.action = preferred >= 0 ? preferred : allowed_.front();
    decision_.decider = preferred >= 0 ? Decider::kPolicy : Decider::kSearch;
  }
  // What a search knows to be better is done, however often the run comes back: chance may be against it.
  const bool is_known = decision_.reason == Reason::kTested || decision_.reason == Reason::kProved;
  if (is_loop && has_choice && !is_known) {
    leave_loop(state, preferred);
  } else if (policy_action >= 0 && decision_.action == preferred && preferred != policy_action) {
    decision_.reason = Reason::kExcluded;
  }
  decision_.policy_action = policy_action;
  decision_.num_excluded = excluded_.size();
  for (const ActionId action : excluded_) {
    ActionReport& report = decision_.actions.emplace_back();
    report.action = action;
    report.is_excluded = true;
  }
}

void GuardedPolicy::leave_loop(const Word* state, ActionId preferred) {
  decision_.reason = Reason::kLoop;
  if (parts_.on_loop == OnLoop::kSearch) return;
  rank(state, preferred);
  if (parts_.on_loop == OnLoop::kSample) {
    decision_.decider = Decider::kDraw;
    decision_.action = ranking_.actions[draw_position(ranking_.probabilities, loop_random_)];
    return;
  }
  decision_.decider = Decider::kNextChoice;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const ActionId action : ranking_.actions) {
    const std::size_t familiarity = memory_->familiarity(action);
    if (familiarity >= least) continue;
    least = familiarity;
    decision_.action = action;
    if (least == 0) break;
  }
}

void GuardedPolicy::count(bool is_loop) {
  ++statistics_.steps;
  ++statistics_.decided[static_cast<std::size_t>(decision_.decider)][static_cast<std::size_t>(decision_.reason)];
  statistics_.rollouts += static_cast<std::int64_t>(decision_.rollouts);
  statistics_.simulations += static_cast<std::int64_t>(decision_.simulations);
  statistics_.excluded_actions += static_cast<std::int64_t>(decision_.num_excluded);
  statistics_.excluded_steps += decision_.num_excluded > 0;
  if (!is_loop) return;
  ++statistics_.loops;
  statistics_.loops_left += decision_.action != decision_.policy_action;
  statistics_.loop_episodes += !std::exchange(has_looped_, true);
}

void GuardedPolicy::distribution(const Word* state, ActionDistribution& result) {
  if (parts_.search || parts_.on_loop != OnLoop::kNone) {
    throw std::invalid_argument("what the policy does depends on the run, not on the state alone");
  }
  shielded_distribution(state, result);
}

void GuardedPolicy::shielded_distribution(const Word* state, ActionDistribution& result) {
  ActionDistribution given;
  parts_.base->distribution(state, given);
  result.clear();
  find_applicable(state);
  find_allowed(state);
  double excluded = 0;
  for (std::size_t i = 0; i < given.actions.size(); ++i) {
    if (is_allowed(given.actions[i])) {
      result.add(given.actions[i], given.probabilities[i]);
    } else {
      excluded += given.probabilities[i];
    }
  }
  if (excluded == 0) return;
  replacement(state, given);
  for (std::size_t i = 0; i < given.actions.size(); ++i) {
    const auto known = std::find(result.actions.begin(), result.actions.end(), given.actions[i]);
    if (known == result.actions.end()) {
      result.add(given.actions[i], excluded * given.probabilities[i]);
    } else {
      result.probabilities[static_cast<std::size_t>(known - result.actions.begin())] += excluded * given.probabilities[i];
    }
  }
}

void GuardedPolicy::preferences(const Word* state, ActionDistribution& result) {
  result.clear();
  if (parts_.base) parts_.base->preferences(state, result);
}

}  // namespace asnets
