// The delete-relaxed all-outcomes determinisation of a task, shared by the heuristics.
//
// Facts are the literals that some condition reads, of both polarities, so that negative conditions need no special
// care. A clause of a condition becomes a fact of its own that operators of cost 0 achieve, one for each disjunct; the
// goal becomes one fact in the same way. Fact 0 always holds and stands in for an empty precondition.
//
// Three forms of the operators:
//  - merged: one operator for each guarded part of an action with all that it may add. Exact for heuristics that look
//    at each effect on its own (h_max, h_add, h_ff).
//  - joint: one operator for each way in which one application of an action can turn out: a subset of its guarded parts
//    and one outcome of each factor. Two effects of one application are then paid for once, as LM-cut needs. Where
//    there are more than kMaxJoint ways, the merged operators share the cost of the action evenly instead, which is
//    weaker and still admissible.
//  - improbable: as merged, with one operator for each probability with which something is added, given the guards, and no
//    goal that nothing achieves again is lost by the same application, as far as that is unguarded. It costs how improbable
//    that is, -log2 of the probability in whole numbers of 1 / kBit [jimenez2006planning], so that a sum of costs stands
//    for a product of probabilities.
//
// Else an operator costs the least that its action can cost in any state, and nothing where that is negative.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "task.hpp"

namespace asnets {

using FactId = std::int32_t;
using OperatorId = std::int32_t;

// Lists of numbers that own their memory.
class OwnedLists {
 public:
  void push_list(const std::vector<std::int32_t>& list) {
    values_.insert(values_.end(), list.begin(), list.end());
    offsets_.push_back(static_cast<std::int32_t>(values_.size()));
  }
  std::size_t size() const { return offsets_.size() - 1; }
  std::span<const std::int32_t> operator[](std::int32_t index) const {
    const auto i = static_cast<std::size_t>(index);
    ASNETS_ASSERT(index >= 0 && i < size());
    return {values_.data() + offsets_[i], values_.data() + offsets_[i + 1]};
  }
  // For each value, the lists that hold it.
  OwnedLists inverse(std::size_t num_values) const;

 private:
  std::vector<std::int32_t> offsets_{0};
  std::vector<std::int32_t> values_;
};

enum class OperatorForm { kMerged, kJoint, kImprobable };

class RelaxedTask {
 public:
  RelaxedTask(const Task& task, OperatorForm form);

  static constexpr std::size_t kMaxJoint = 64;
  static constexpr FactId kTrue = 0;
  static constexpr double kBit = 64;
  // -log2 of a probability above 0 in units of 1 / kBit, rounded; at most kMaxImprobability.
  static double improbability(double probability);
  static constexpr double kMaxImprobability = 10000;

  std::size_t num_facts() const { return num_facts_; }
  std::size_t num_operators() const { return costs_.size(); }
  FactId goal() const { return goal_; }
  std::span<const FactId> preconditions(OperatorId op) const { return preconditions_[op]; }
  std::span<const FactId> effects(OperatorId op) const { return effects_[op]; }
  std::span<const OperatorId> precondition_of(FactId fact) const { return precondition_of_[fact]; }
  std::span<const OperatorId> effect_of(FactId fact) const { return effect_of_[fact]; }
  double cost(OperatorId op) const { return costs_[static_cast<std::size_t>(op)]; }
  // The action that an operator belongs to; -1 for those of clauses and the goal.
  ActionId action(OperatorId op) const { return actions_[static_cast<std::size_t>(op)]; }

  // Calls `visit(fact)` for each fact that holds in a state, kTrue first.
  template <typename Visit>
  void for_each_true(const Word* state, Visit&& visit) const {
    visit(kTrue);
    for (std::size_t i = 0; i < literals_.size(); ++i) {
      if (holds(state, literals_[i])) visit(static_cast<FactId>(i + 1));
    }
  }

 private:
  struct Way {
    std::vector<FactId> preconditions;
    std::vector<FactId> effects;
  };

  // What a block may add without a further guard, all of it as long as nothing is lost for good.
  struct Chances {
    double safe = 1;                   // That nothing is lost for good.
    std::map<FactId, double> missing;  // The same, and the fact is not added; in the order of facts.
    std::vector<std::pair<std::int32_t, double>> guarded;  // The same, and the guarded block is come to.

    double missing_of(FactId fact) const;
    void scale(double share);
    void join(const Chances& other);  // What happens independently beside it.
  };

  void number_facts();
  void condition_facts(std::int32_t condition, std::vector<FactId>& facts) const;
  void add_operator(Way way, double cost, ActionId action);
  void merged_ways(std::int32_t block, Way way, std::vector<Way>& ways) const;
  bool joint_ways(std::int32_t block, std::vector<Way>& ways) const;
  void find_final_losses();
  void add_improbable(std::int32_t block, const Way& way, double probability, ActionId action);
  void collect_chances(std::int32_t block, Chances& chances) const;
  void collect(std::int32_t block, std::vector<FactId>& effects, std::vector<std::int32_t>& guarded) const;

  const Task& task_;
  std::size_t num_facts_ = 0;
  FactId goal_ = 0;
  std::vector<Literal> literals_;          // Of facts 1, 2, …
  std::vector<FactId> fact_of_literal_;    // -1 for literals that no condition reads.
  std::vector<FactId> fact_of_clause_;
  std::vector<bool> final_loss_;  // Of literals; for improbable operators only.
  OwnedLists preconditions_;
  OwnedLists effects_;
  OwnedLists precondition_of_;
  OwnedLists effect_of_;
  std::vector<double> costs_;
  std::vector<ActionId> actions_;
};

}  // namespace asnets
