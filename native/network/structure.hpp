// Which propositions each action module of a task reads and which actions each proposition module pools, as
// asnets.network.structure finds them, and the same the other way round.
//
// Actions are numbered as in the task. Nodes (atoms that have modules) are numbered over all predicates, those of a
// predicate next to each other; sets of quantified slots are numbered over all slots. What an action reads by a slot
// is an item: a node, or a set.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "task.hpp"

namespace asnets {

// Lists of numbers that own their memory.
struct NumberLists {
  std::vector<std::int32_t> offsets{0};
  std::vector<std::int32_t> values;

  std::size_t size() const { return offsets.size() - 1; }
  std::span<const std::int32_t> operator[](std::size_t i) const {
    return {values.data() + offsets[i], values.data() + offsets[i + 1]};
  }
};

// For each value below the bound, the numbers of the lists that hold it, ascending.
NumberLists inverse(const NumberLists& lists, std::size_t num_values);

// Where the maxima of lists are kept: the maxima of blocks of kBlock members, of blocks of kBlock of these, and so on
// up to one. So a member that falls costs a look at a few blocks, not at the whole list.
class PoolLayout {
 public:
  static constexpr std::size_t kBlock = 32;

  PoolLayout() = default;
  explicit PoolLayout(NumberLists lists);

  const NumberLists& lists() const { return lists_; }
  std::size_t num_rows() const { return first_row_.back(); }
  std::size_t first_row(std::size_t list) const { return first_row_[list]; }
  // The row of the whole list.
  std::size_t root(std::size_t list) const { return first_row_[list + 1] - 1; }
  // The row of the block of a member; members are ascending.
  std::size_t row_of(std::size_t list, std::int32_t member) const;

  // What a row is the maximum of, and where it goes.
  struct Block {
    std::span<const std::int32_t> members;  // Empty if the children are rows.
    std::size_t first_child = 0;
    std::size_t num_children = 0;
    std::size_t parent = 0;  // Of the root: itself.
  };
  Block block(std::size_t list, std::size_t row) const;

 private:
  NumberLists lists_;
  std::vector<std::size_t> first_row_{0};
};

struct SlotArrays {
  std::int32_t predicate = 0;
  bool is_set = false;
  std::span<const std::int32_t> index;  // For each action, its node within the predicate, or its set.
  Lists sets;                           // Nodes within the predicate.
};
struct SchemaArrays {
  std::int32_t first_action = 0;
  std::int32_t num_actions = 0;
  std::vector<SlotArrays> slots;
};
struct PoolArrays {
  std::int32_t schema = 0;
  std::int32_t slot = -1;  // -1 for any.
  Lists members;           // Actions, counted within the schema.
};
struct PredicateArrays {
  std::span<const std::int32_t> atoms;
  std::vector<PoolArrays> pools;
};
struct StructureArrays {
  std::size_t num_propositions = 0;
  std::size_t num_actions = 0;
  std::vector<PredicateArrays> predicates;
  std::vector<SchemaArrays> schemas;
  std::span<const std::uint8_t> truth;  // Of all atoms; of propositions it does not matter.
  std::span<const std::uint8_t> in_goal;
};

// Immutable once made: threads share it.
class NetworkStructure {
 public:
  struct Slot {
    std::size_t schema = 0;
    std::size_t predicate = 0;
    bool is_set = false;
    std::size_t first_item = 0;       // Of all items of all slots.
    std::size_t num_items = 0;
    std::size_t first_set = 0;        // Of all sets of all slots.
    std::size_t first_input = 0;      // Of the inputs of the schema.
    std::vector<std::int32_t> index;  // For each action of the schema, the item within the slot.
    NumberLists readers;              // For each item, the actions.
    PoolLayout sets;                  // For each set, its nodes. Empty if the slot has none.
    NumberLists sets_of;              // For each node of the predicate, the sets.
    std::vector<std::size_t> pools;   // Those that the actions are members of because of this slot.
    // For each pool and action, the row of the action's block, so that it need not be looked for. Not for sets.
    std::vector<std::vector<std::uint32_t>> pool_rows;
  };
  struct Schema {
    std::size_t first_action = 0;
    std::size_t num_actions = 0;
    std::size_t first_slot = 0;
    std::size_t num_slots = 0;
    std::size_t num_inputs = 0;  // A set counts twice: its maximum and its minimum.
  };
  struct Pool {
    std::size_t predicate = 0;
    PoolLayout members;  // For each node of the predicate, actions.
  };
  struct Predicate {
    std::size_t first_node = 0;
    std::size_t num_nodes = 0;
    std::size_t first_pool = 0;
    std::size_t num_pools = 0;
    std::vector<std::size_t> slots;  // Those that read its nodes.
  };

  // Throws std::invalid_argument if an index points outside of its array.
  explicit NetworkStructure(const StructureArrays& arrays);

  std::size_t num_actions() const { return action_schema_.size(); }
  std::size_t num_nodes() const { return node_predicate_.size(); }
  std::size_t num_items() const { return num_items_; }
  std::size_t num_sets() const { return set_slot_.size(); }
  std::size_t num_propositions() const { return node_of_proposition_.size(); }
  const std::vector<Schema>& schemas() const { return schemas_; }
  const std::vector<Slot>& slots() const { return slots_; }
  const std::vector<Predicate>& predicates() const { return predicates_; }
  const std::vector<Pool>& pools() const { return pools_; }

  std::size_t schema_of(std::size_t action) const { return static_cast<std::size_t>(action_schema_[action]); }
  std::size_t predicate_of(std::size_t node) const { return static_cast<std::size_t>(node_predicate_[node]); }
  std::size_t slot_of_set(std::size_t set) const { return static_cast<std::size_t>(set_slot_[set]); }
  // -1 for propositions that no action reads.
  std::int32_t node_of(std::size_t proposition) const { return node_of_proposition_[proposition]; }
  // The proposition of a node; negative for constant ones.
  std::int32_t proposition_of(std::size_t node) const { return proposition_of_node_[node]; }
  // For each node, 1 if it is a true constant, plus 2 if it occurs in the goal.
  const std::vector<std::uint8_t>& constant_codes() const { return constant_codes_; }

 private:
  void add_schema(const SchemaArrays& arrays, std::size_t number);
  void add_pool(const PoolArrays& arrays, std::size_t predicate);

  std::vector<Schema> schemas_;
  std::vector<Slot> slots_;
  std::vector<Predicate> predicates_;
  std::vector<Pool> pools_;
  std::vector<std::int32_t> action_schema_;
  std::vector<std::int32_t> node_predicate_;
  std::vector<std::int32_t> set_slot_;
  std::vector<std::int32_t> node_of_proposition_;
  std::vector<std::int32_t> proposition_of_node_;
  std::vector<std::uint8_t> constant_codes_;
  std::size_t num_items_ = 0;
};

}  // namespace asnets
