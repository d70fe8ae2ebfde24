#include "heuristics/relaxed_task.hpp"

#include <algorithm>
#include <cmath>

#include "interruption.hpp"

namespace asnets {

namespace {

void sort_unique(std::vector<std::int32_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

bool is_subset(const std::vector<std::int32_t>& small, const std::vector<std::int32_t>& large) {
  return std::includes(large.begin(), large.end(), small.begin(), small.end());
}

}  // namespace

OwnedLists OwnedLists::inverse(std::size_t num_values) const {
  OwnedLists result;
  result.offsets_.assign(num_values + 1, 0);
  for (const std::int32_t value : values_) ++result.offsets_[static_cast<std::size_t>(value) + 1];
  for (std::size_t i = 0; i < num_values; ++i) result.offsets_[i + 1] += result.offsets_[i];
  result.values_.resize(values_.size());
  std::vector<std::int32_t> next(result.offsets_.begin(), result.offsets_.end() - 1);
  for (std::size_t i = 0; i < size(); ++i) {
    for (const std::int32_t value : (*this)[static_cast<std::int32_t>(i)]) {
      result.values_[static_cast<std::size_t>(next[static_cast<std::size_t>(value)]++)] = static_cast<std::int32_t>(i);
    }
  }
  return result;
}

RelaxedTask::RelaxedTask(const Task& task, OperatorForm form) : task_(task) {
  const TaskArrays& arrays = task.arrays();
  number_facts();
  if (form == OperatorForm::kImprobable) find_final_losses();
  for (std::size_t a = 0; a < task.num_actions(); ++a) {
    interruption_tick();
    const auto action = static_cast<ActionId>(a);
    Way start;
    condition_facts(arrays.action_precondition[a], start.preconditions);
    if (form == OperatorForm::kImprobable) {
      add_improbable(arrays.action_block[a], start, 1, action);
      continue;
    }
    std::vector<Way> ways{start};
    double cost = std::max(0.0, task.min_cost(action));
    if (form == OperatorForm::kMerged || !joint_ways(arrays.action_block[a], ways)) {
      ways.clear();
      merged_ways(arrays.action_block[a], start, ways);
      std::erase_if(ways, [](const Way& way) { return way.effects.empty(); });
      if (form == OperatorForm::kJoint) cost /= static_cast<double>(std::max<std::size_t>(1, ways.size()));
    }
    for (Way& way : ways) add_operator(std::move(way), cost, action);
  }
  for (std::size_t c = 0; c < arrays.clause_conditions.size(); ++c) {
    if (fact_of_clause_[c] < 0) continue;
    for (const std::int32_t condition : arrays.clause_conditions[static_cast<std::int32_t>(c)]) {
      Way way{{}, {fact_of_clause_[c]}};
      condition_facts(condition, way.preconditions);
      add_operator(std::move(way), 0, -1);
    }
  }
  Way finish{{}, {goal_}};
  condition_facts(arrays.goal, finish.preconditions);
  add_operator(std::move(finish), 0, -1);
  precondition_of_ = preconditions_.inverse(num_facts_);
  effect_of_ = effects_.inverse(num_facts_);
}

// Facts: the constant true, the literals that are read, the clauses that are read, the goal.
void RelaxedTask::number_facts() {
  const TaskArrays& arrays = task_.arrays();
  std::vector<bool> read(arrays.condition_literals.size(), false);
  std::vector<bool> clause_read(arrays.clause_conditions.size(), false);
  for (const std::int32_t c : arrays.action_precondition) read[static_cast<std::size_t>(c)] = true;
  for (const std::int32_t c : arrays.block_guard) read[static_cast<std::size_t>(c)] = true;
  read[static_cast<std::size_t>(arrays.goal)] = true;
  std::vector<bool> literal_read(2 * task_.num_propositions(), false);
  // Parts of a condition have larger numbers than it, so that one pass reaches all.
  for (std::size_t c = 0; c < read.size(); ++c) {
    if (!read[c]) continue;
    const auto condition = static_cast<std::int32_t>(c);
    for (const Literal literal : arrays.condition_literals[condition]) {
      literal_read[static_cast<std::size_t>(literal)] = true;
    }
    for (const std::int32_t clause : arrays.condition_clauses[condition]) {
      clause_read[static_cast<std::size_t>(clause)] = true;
      for (const std::int32_t part : arrays.clause_conditions[clause]) read[static_cast<std::size_t>(part)] = true;
    }
  }
  num_facts_ = 1;
  fact_of_literal_.assign(literal_read.size(), -1);
  for (std::size_t l = 0; l < literal_read.size(); ++l) {
    if (!literal_read[l]) continue;
    fact_of_literal_[l] = static_cast<FactId>(num_facts_++);
    literals_.push_back(static_cast<Literal>(l));
  }
  fact_of_clause_.assign(clause_read.size(), -1);
  for (std::size_t c = 0; c < clause_read.size(); ++c) {
    if (clause_read[c]) fact_of_clause_[c] = static_cast<FactId>(num_facts_++);
  }
  goal_ = static_cast<FactId>(num_facts_++);
}

void RelaxedTask::condition_facts(std::int32_t condition, std::vector<FactId>& facts) const {
  for (const Literal literal : task_.arrays().condition_literals[condition]) {
    facts.push_back(fact_of_literal_[static_cast<std::size_t>(literal)]);
  }
  for (const std::int32_t clause : task_.arrays().condition_clauses[condition]) {
    facts.push_back(fact_of_clause_[static_cast<std::size_t>(clause)]);
  }
  sort_unique(facts);
}

void RelaxedTask::add_operator(Way way, double cost, ActionId action) {
  // What is required is there already and need not be added.
  std::erase_if(way.effects, [&](FactId fact) {
    return std::binary_search(way.preconditions.begin(), way.preconditions.end(), fact);
  });
  if (way.effects.empty()) return;
  if (way.preconditions.empty()) way.preconditions.push_back(kTrue);
  ASNETS_ASSERT(std::is_sorted(way.preconditions.begin(), way.preconditions.end()));
  ASNETS_ASSERT(way.preconditions.front() >= 0 && way.effects.front() >= 0);
  preconditions_.push_list(way.preconditions);
  effects_.push_list(way.effects);
  costs_.push_back(cost);
  actions_.push_back(action);
}

// The facts that a block may add without a further guard, and the guarded blocks below it.
void RelaxedTask::collect(std::int32_t block, std::vector<FactId>& effects, std::vector<std::int32_t>& guarded) const {
  const TaskArrays& arrays = task_.arrays();
  for (const Literal literal : arrays.block_literals[block]) {
    const FactId fact = fact_of_literal_[static_cast<std::size_t>(literal)];
    if (fact >= 0) effects.push_back(fact);
  }
  const auto below = [&](std::int32_t child) {
    if (task_.always_holds(arrays.block_guard[static_cast<std::size_t>(child)])) {
      collect(child, effects, guarded);
    } else {
      guarded.push_back(child);
    }
  };
  for (const std::int32_t child : arrays.block_children[block]) below(child);
  for (const std::int32_t factor : arrays.block_factors[block]) {
    for (const std::int32_t outcome : arrays.factor_blocks[factor]) below(outcome);
  }
}

void RelaxedTask::merged_ways(std::int32_t block, Way way, std::vector<Way>& ways) const {
  std::vector<std::int32_t> guarded;
  way.effects.clear();
  collect(block, way.effects, guarded);
  sort_unique(way.effects);
  ways.push_back(way);
  for (const std::int32_t child : guarded) {
    Way inner{way.preconditions, {}};
    condition_facts(task_.arrays().block_guard[static_cast<std::size_t>(child)], inner.preconditions);
    merged_ways(child, std::move(inner), ways);
  }
}

double RelaxedTask::improbability(double probability) {
  return std::clamp(std::round(-kBit * std::log2(probability)), 0.0, kMaxImprobability);
}

// Goals that no action achieves must not be lost: the literals that would do that.
void RelaxedTask::find_final_losses() {
  const TaskArrays& arrays = task_.arrays();
  final_loss_.assign(2 * task_.num_propositions(), false);
  for (const Literal goal : arrays.condition_literals[arrays.goal]) {
    final_loss_[static_cast<std::size_t>(goal ^ 1)] = true;
  }
  for (const Literal literal : arrays.block_literals.values) final_loss_[static_cast<std::size_t>(literal ^ 1)] = false;
}

// `probability` is that of coming to the block, as far as it does not depend on guards, with nothing lost for good.
void RelaxedTask::add_improbable(std::int32_t block, const Way& way, double probability, ActionId action) {
  Chances chances;
  collect_chances(block, chances);
  std::map<double, Way> by_cost;
  for (const auto& [fact, missing] : chances.missing) {
    const double cost = improbability(probability * (chances.safe - missing));
    by_cost.try_emplace(cost, Way{way.preconditions, {}}).first->second.effects.push_back(fact);
  }
  for (auto& [cost, effects] : by_cost) add_operator(std::move(effects), cost, action);
  for (const auto& [child, share] : chances.guarded) {
    Way inner{way.preconditions, {}};
    condition_facts(task_.arrays().block_guard[static_cast<std::size_t>(child)], inner.preconditions);
    add_improbable(child, inner, probability * share, action);
  }
}

// Adds what a block does on its own and, independently, each of its factors.
void RelaxedTask::collect_chances(std::int32_t block, Chances& chances) const {
  const TaskArrays& arrays = task_.arrays();
  const auto below = [&](std::int32_t child, Chances& result) {
    if (task_.always_holds(arrays.block_guard[static_cast<std::size_t>(child)])) {
      collect_chances(child, result);
    } else {
      result.guarded.emplace_back(child, result.safe);
    }
  };
  for (const Literal literal : arrays.block_literals[block]) {
    const FactId fact = fact_of_literal_[static_cast<std::size_t>(literal)];
    if (fact >= 0) chances.missing[fact] = 0;
    if (final_loss_[static_cast<std::size_t>(literal)]) chances.scale(0);
  }
  for (const std::int32_t child : arrays.block_children[block]) below(child, chances);
  for (const std::int32_t factor : arrays.block_factors[block]) {
    const auto begin = static_cast<std::size_t>(arrays.factor_blocks.offsets[static_cast<std::size_t>(factor)]);
    const auto outcomes = arrays.factor_blocks[factor];
    std::vector<Chances> parts(outcomes.size());
    Chances drawn{0, {}, {}};  // Of the factor: its outcomes, weighted.
    for (std::size_t o = 0; o < outcomes.size(); ++o) {
      below(outcomes[o], parts[o]);
      parts[o].scale(arrays.factor_probability[begin + o]);
      drawn.safe += parts[o].safe;
      for (const auto& [fact, missing] : parts[o].missing) drawn.missing[fact] = 0;
      drawn.guarded.insert(drawn.guarded.end(), parts[o].guarded.begin(), parts[o].guarded.end());
    }
    for (auto& [fact, missing] : drawn.missing) {
      for (const Chances& part : parts) missing += part.missing_of(fact);
    }
    chances.join(drawn);
  }
}

double RelaxedTask::Chances::missing_of(FactId fact) const {
  const auto known = missing.find(fact);
  return known == missing.end() ? safe : known->second;
}

void RelaxedTask::Chances::scale(double share) {
  safe *= share;
  for (auto& [fact, value] : missing) value *= share;
  for (auto& [child, value] : guarded) value *= share;
}

void RelaxedTask::Chances::join(const Chances& other) {
  for (const auto& [fact, value] : other.missing) missing.try_emplace(fact, safe);
  for (auto& [fact, value] : missing) value *= other.missing_of(fact);
  for (auto& [child, value] : guarded) value *= other.safe;
  for (const auto& [child, value] : other.guarded) guarded.emplace_back(child, value * safe);
  safe *= other.safe;
}

// Extends each way by each way in which the block can turn out; false if there are too many.
bool RelaxedTask::joint_ways(std::int32_t block, std::vector<Way>& ways) const {
  const TaskArrays& arrays = task_.arrays();
  const auto prune = [](std::vector<Way>& all) {
    for (Way& way : all) sort_unique(way.effects);
    // A way that asks for no less and gives no more than another is not needed.
    std::vector<Way> kept;
    for (std::size_t i = 0; i < all.size(); ++i) {
      bool dominated = false;
      for (std::size_t j = 0; j < all.size() && !dominated; ++j) {
        dominated = i != j && is_subset(all[j].preconditions, all[i].preconditions) &&
                    is_subset(all[i].effects, all[j].effects) &&
                    (j < i || all[j].preconditions.size() != all[i].preconditions.size() ||
                     all[j].effects.size() != all[i].effects.size());
      }
      if (!dominated) kept.push_back(all[i]);
    }
    all = std::move(kept);
  };
  std::vector<FactId> added;
  for (const Literal literal : arrays.block_literals[block]) {
    const FactId fact = fact_of_literal_[static_cast<std::size_t>(literal)];
    if (fact >= 0) added.push_back(fact);
  }
  for (Way& way : ways) way.effects.insert(way.effects.end(), added.begin(), added.end());
  for (const std::int32_t child : arrays.block_children[block]) {
    std::vector<Way> with = ways;
    for (Way& way : with) condition_facts(arrays.block_guard[static_cast<std::size_t>(child)], way.preconditions);
    if (!joint_ways(child, with)) return false;
    ways.insert(ways.end(), with.begin(), with.end());
    prune(ways);
    if (ways.size() > kMaxJoint) return false;
  }
  for (const std::int32_t factor : arrays.block_factors[block]) {
    std::vector<Way> all;
    for (const std::int32_t outcome : arrays.factor_blocks[factor]) {
      std::vector<Way> branch = ways;
      if (!joint_ways(outcome, branch)) return false;
      all.insert(all.end(), branch.begin(), branch.end());
      if (all.size() > 4 * kMaxJoint) return false;
    }
    prune(all);
    if (all.size() > kMaxJoint) return false;
    ways = std::move(all);
  }
  return true;
}

}  // namespace asnets
