#include "search/graph.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>

#include "interruption.hpp"

namespace asnets {

namespace {

constexpr std::size_t kMaxSuccessors = std::size_t{1} << 20;
constexpr std::size_t kChunk = std::size_t{1} << 16;
constexpr std::uint32_t kNoDistribution = static_cast<std::uint32_t>(-1);

}  // namespace

SearchGraph::SearchGraph(const Task& task, const SuccessorGenerator& generator, Heuristic& heuristic,
                         Objective objective, double penalty, bool rounds_down, bool keeps_upper,
                         Statistics& statistics)
    : task_(task),
      generator_(generator),
      heuristic_(heuristic),
      ignores_costs_(objective == Objective::kMaxprob),
      rounds_down_(rounds_down),
      penalty_(ignores_costs_ ? 1 : objective == Objective::kLexicographic ? kInfinity : penalty),
      dead_value_(objective == Objective::kLexicographic ? 0 : penalty_),
      statistics_(statistics),
      is_plain_(!rounds_down),
      table_(task.num_words()),
      keeps_upper_(keeps_upper),
      cost_error_(ignores_costs_ ? 0 : task.largest_cost_error()),
      flat_(flatten_actions(task)),
      expander_(task, kMaxSuccessors),
      scratch_(task.num_words()) {
  for (std::size_t a = 0; a < task_.num_actions(); ++a) {
    const auto action = static_cast<ActionId>(a);
    const bool is_plain = !flat_[a].changes.empty() && (ignores_costs_ || task_.has_constant_cost(action));
    const double cost = ignores_costs_ ? 0 : task_.min_cost(action);
    plain_distribution_.push_back(is_plain ? distribution_id(flat_[a].probabilities, 1, cost) : kNoDistribution);
  }
}

std::uint32_t SearchGraph::distribution_id(const std::vector<double>& probabilities, double repetitions,
                                           double cost) {
  std::string key(reinterpret_cast<const char*>(probabilities.data()), probabilities.size() * sizeof(double));
  key.append(reinterpret_cast<const char*>(&repetitions), sizeof(double));
  key.append(reinterpret_cast<const char*>(&cost), sizeof(double));
  const auto [entry, is_new] = distribution_ids_.try_emplace(key, static_cast<std::uint32_t>(distributions_.size()));
  if (is_new) distributions_.push_back({probabilities, repetitions, cost});
  return entry->second;
}

StateId SearchGraph::add(const Word* state) {
  if (const std::optional<StateId> known = table_.find(state)) return *known;
  // A state is added once its value is known: the heuristic may be interrupted.
  double value = 0;
  double promise = 0;
  std::uint8_t flags = 0;
  if (task_.is_goal(state)) {
    flags = kGoal;
  } else {
    interruption_point();
    value = heuristic_.evaluate(state);
    ASNETS_ASSERT(value >= 0);
    count_evaluation();
    ++statistics_.evaluated;
    if (value == kInfinity) {
      value = dead_value_;
      flags = kDead;
    } else {
      promise = value;
      value = ignores_costs_ ? 0 : std::min(value, std::nextafter(penalty_, 0));
    }
  }
  const StateId id = table_.intern(state);
  ASNETS_ASSERT(id == values_.size());
  values_.push_back(value);
  flags_.push_back(flags);
  records_.push_back(nullptr);
  if (ignores_costs_) promises_.push_back(promise);
  if (keeps_upper_) {
    uppers_.push_back(flags & kGoal ? 0 : penalty_);
    upper_choices_.push_back(nullptr);
  }
  return id;
}

void SearchGraph::mark_dead(StateId state) {
  flags_[state] |= kDead;
  values_[state] = dead_value_;
}

std::uint32_t* SearchGraph::allocate(std::size_t size) {
  if (size > chunk_left_) {
    chunk_left_ = std::max(size, kChunk);
    chunks_.emplace_back(new std::uint32_t[chunk_left_]);  // Not initialised.
    chunk_next_ = chunks_.back().get();
  }
  std::uint32_t* const result = chunk_next_;
  chunk_next_ += size;
  chunk_left_ -= size;
  return result;
}

// Fills in successors_ and probabilities_.
void SearchGraph::successors_of(StateId state, ActionId action) {
  successors_.clear();
  const FlatAction& flat = flat_[static_cast<std::size_t>(action)];
  if (!flat.changes.empty()) {
    probabilities_ = flat.probabilities;
    for (const std::vector<Literal>& changes : flat.changes) {
      const Word* words = table_.state(state);
      std::copy(words, words + task_.num_words(), scratch_.begin());
      apply_changes(changes, scratch_.data());
      successors_.push_back(add(scratch_.data()));
    }
    return;
  }
  expander_.expand(table_.state(state), action);
  probabilities_.clear();
  for (std::size_t i = 0; i < expander_.count(); ++i) {
    successors_.push_back(add(expander_.successor(i)));
    probabilities_.push_back(expander_.probability(i));
  }
}

void SearchGraph::expand(StateId state) {
  if (budget_ != nullptr) budget_->start_expansion();
  generator_.applicable(table_.state(state), actions_, stack_);
  const std::vector<ActionId> actions = [&] {
    std::vector<ActionId> sorted(actions_.actions().begin(), actions_.actions().end());
    std::sort(sorted.begin(), sorted.end());  // So that ties are broken by the lowest action.
    return sorted;
  }();
  record_.assign(1, 0);
  for (const ActionId action : actions) {
    successors_of(state, action);
    // Usually all successors differ from each other and from the state.
    bool plain = plain_distribution_[static_cast<std::size_t>(action)] != kNoDistribution;
    for (std::size_t i = 0; i < successors_.size() && plain; ++i) {
      plain = successors_[i] != state &&
              std::find(successors_.begin(), successors_.begin() + static_cast<std::ptrdiff_t>(i), successors_[i]) ==
                  successors_.begin() + static_cast<std::ptrdiff_t>(i);
    }
    std::uint32_t distribution = plain_distribution_[static_cast<std::size_t>(action)];
    if (!plain) {
      double stays = 0;
      std::size_t kept = 0;
      places_.resize(size(), kNoPlace);
      for (std::size_t i = 0; i < successors_.size(); ++i) {
        if (successors_[i] == state) {
          stays += probabilities_[i];
          continue;
        }
        std::uint32_t& place = places_[successors_[i]];
        if (place != kNoPlace) {
          probabilities_[place] += probabilities_[i];
          continue;
        }
        place = static_cast<std::uint32_t>(kept);
        successors_[kept] = successors_[i];
        probabilities_[kept++] = probabilities_[i];
      }
      for (std::size_t i = 0; i < kept; ++i) places_[successors_[i]] = kNoPlace;
      const double cost = ignores_costs_ ? 0 : task_.cost(action, table_.state(state));
      if (kept == 0) {  // The state never changes.
        if (cost < 0) earning_loops_.push_back({state, action});
        continue;
      }
      successors_.resize(kept);
      probabilities_.resize(kept);
      double leaves = 0;
      for (const double probability : probabilities_) leaves += probability;
      if (stays > 0) {
        for (double& probability : probabilities_) probability /= leaves;
      }
      const double repetitions = stays > 0 ? 1 / leaves : 1;
      distribution = distribution_id(probabilities_, repetitions, cost * repetitions);
    }
    ASNETS_ASSERT(distributions_[distribution].probabilities.size() == successors_.size());
    most_successors_ = std::max(most_successors_, successors_.size());
    ++record_[0];
    record_.push_back(static_cast<std::uint32_t>(action));
    record_.push_back(distribution);
    record_.insert(record_.end(), successors_.begin(), successors_.end());
  }
  ++statistics_.expanded;
  statistics_.work += record_.size();
  std::uint32_t* const memory = allocate(record_.size());
  std::copy(record_.begin(), record_.end(), memory);
  records_[state] = memory;
  if (record_[0] == 0) mark_dead(state);
}

SearchGraph::Backup SearchGraph::evaluate(StateId state) {
  ++statistics_.backups;
  Backup best{penalty_};
  Choices all = choices(state);
  const std::uint32_t* const first = preferred(state);
  std::size_t looked_at = 1;
  if (!ignores_costs_) {
    for (Choice choice; all.next(choice);) {
      looked_at += choice.size();
      best.improve(q_value(choice), choice, first);
    }
    statistics_.work += looked_at;
    return best;
  }
  // Of equal ones, the most hopeful: otherwise a search goes round wherever it is free, which is everywhere.
  double hope = 0;
  for (Choice choice; all.next(choice);) {
    looked_at += choice.size();
    const double q = q_value(choice);
    if (q > best.value || q >= penalty_) continue;
    const double found = choice.entry() == first ? -1 : promise(choice);
    if (q == best.value && found >= hope) continue;
    best = {q, choice.action, choice.distribution, choice.successors};
    hope = found;
  }
  statistics_.work += looked_at;
  return best;
}

bool SearchGraph::close_trap(StateId root, std::size_t max_expansions, Budget& budget) {
  std::vector<StateId> seen;
  std::vector<bool> is_seen;
  const auto visit = [&](StateId state) {
    ASNETS_ASSERT(state == representative(state));
    if (state >= is_seen.size()) is_seen.resize(std::max<std::size_t>(state + 1, size()), false);
    if (is_seen[state]) return;
    is_seen[state] = true;
    seen.push_back(state);
  };
  visit(representative(root));
  for (std::size_t i = 0; i < seen.size(); ++i) {
    budget.tick();
    // A solved state that is worth less than giving up reaches a goal with some probability.
    if (is_goal(seen[i]) || (is_marked(seen[i], kSolved) && value(seen[i]) < penalty_)) return false;
    if (is_dead(seen[i])) continue;
    if (!is_expanded(seen[i])) {
      if (max_expansions == 0) return false;
      --max_expansions;
      expand(seen[i]);
    }
    Choices all = choices(seen[i]);
    for (Choice choice; all.next(choice);) {
      for (std::size_t s = 0; s < choice.size(); ++s) visit(successor(choice, s));
    }
  }
  for (const StateId state : seen) mark_dead(state);
  return true;
}

}  // namespace asnets
