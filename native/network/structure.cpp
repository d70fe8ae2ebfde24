#include "network/structure.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace asnets {

namespace {

void require(bool condition) {
  if (!condition) throw std::invalid_argument("the structure of the network is inconsistent");
}

std::size_t checked(std::int32_t index, std::size_t bound) {
  require(index >= 0 && static_cast<std::size_t>(index) < bound);
  return static_cast<std::size_t>(index);
}

// A copy with `shift` added to all values.
NumberLists checked(const Lists& lists, std::size_t num_lists, std::size_t bound, std::size_t shift) {
  require(lists.offsets.size() == num_lists + 1 && lists.offsets.front() == 0);
  require(static_cast<std::size_t>(lists.offsets.back()) == lists.values.size());
  require(std::is_sorted(lists.offsets.begin(), lists.offsets.end()));
  NumberLists result;
  result.offsets.assign(lists.offsets.begin(), lists.offsets.end());
  result.values.reserve(lists.values.size());
  for (const std::int32_t value : lists.values) {
    result.values.push_back(static_cast<std::int32_t>(checked(value, bound) + shift));
  }
  return result;
}

}  // namespace

NumberLists inverse(const NumberLists& lists, std::size_t num_values) {
  NumberLists result;
  result.offsets.assign(num_values + 1, 0);
  for (const std::int32_t value : lists.values) ++result.offsets[static_cast<std::size_t>(value) + 1];
  for (std::size_t v = 0; v < num_values; ++v) result.offsets[v + 1] += result.offsets[v];
  result.values.resize(lists.values.size());
  std::vector<std::int32_t> next = result.offsets;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    for (const std::int32_t value : lists[i]) {
      result.values[static_cast<std::size_t>(next[static_cast<std::size_t>(value)]++)] = static_cast<std::int32_t>(i);
    }
  }
  return result;
}

PoolLayout::PoolLayout(NumberLists lists) : lists_(std::move(lists)) {
  first_row_.reserve(lists_.size() + 1);
  for (std::size_t i = 0; i < lists_.size(); ++i) {
    std::size_t rows = 1;
    for (std::size_t count = lists_[i].size(); count > kBlock;) {
      count = (count + kBlock - 1) / kBlock;
      rows += count;
    }
    first_row_.push_back(first_row_.back() + rows);
  }
}

std::size_t PoolLayout::row_of(std::size_t list, std::int32_t member) const {
  const auto members = lists_[list];
  if (members.size() <= kBlock) return first_row_[list];
  const auto place = std::lower_bound(members.begin(), members.end(), member) - members.begin();
  return first_row_[list] + static_cast<std::size_t>(place) / kBlock;
}

PoolLayout::Block PoolLayout::block(std::size_t list, std::size_t row) const {
  const auto members = lists_[list];
  // The rows of one height after the other, from the blocks of members up.
  std::size_t children = members.size();
  std::size_t first_child = 0;
  std::size_t first = first_row_[list];
  for (bool lowest = true;; lowest = false) {
    const std::size_t count = std::max<std::size_t>(1, (children + kBlock - 1) / kBlock);
    if (row < first + count) {
      const std::size_t place = row - first;
      const std::size_t size = std::min(kBlock, children - place * kBlock);
      const std::size_t parent = count == 1 ? row : first + count + place / kBlock;
      if (lowest) return {members.subspan(place * kBlock, size), 0, size, parent};
      return {{}, first_child + place * kBlock, size, parent};
    }
    first_child = first;
    first += count;
    children = count;
  }
}

NetworkStructure::NetworkStructure(const StructureArrays& arrays) {
  action_schema_.assign(arrays.num_actions, -1);
  node_of_proposition_.assign(arrays.num_propositions, -1);
  require(arrays.truth.size() == arrays.in_goal.size() && arrays.num_propositions <= arrays.truth.size());
  for (const PredicateArrays& part : arrays.predicates) {
    predicates_.push_back({node_predicate_.size(), part.atoms.size(), 0, 0, {}});
    for (const std::int32_t each : part.atoms) {
      const std::size_t atom = checked(each, arrays.truth.size());
      const bool constant = atom >= arrays.num_propositions;
      if (!constant) node_of_proposition_[atom] = static_cast<std::int32_t>(node_predicate_.size());
      proposition_of_node_.push_back(constant ? -1 : each);
      const unsigned truth = constant && arrays.truth[atom] != 0 ? 1 : 0;
      constant_codes_.push_back(static_cast<std::uint8_t>(truth + (arrays.in_goal[atom] != 0 ? 2 : 0)));
      node_predicate_.push_back(static_cast<std::int32_t>(predicates_.size() - 1));
    }
  }
  for (std::size_t s = 0; s < arrays.schemas.size(); ++s) add_schema(arrays.schemas[s], s);
  require(std::find(action_schema_.begin(), action_schema_.end(), -1) == action_schema_.end());
  for (std::size_t p = 0; p < predicates_.size(); ++p) {
    predicates_[p].first_pool = pools_.size();
    predicates_[p].num_pools = arrays.predicates[p].pools.size();
    for (const PoolArrays& pool : arrays.predicates[p].pools) add_pool(pool, p);
  }
}

void NetworkStructure::add_schema(const SchemaArrays& arrays, std::size_t number) {
  require(arrays.first_action >= 0 && arrays.num_actions >= 0);
  Schema schema{static_cast<std::size_t>(arrays.first_action), static_cast<std::size_t>(arrays.num_actions),
                slots_.size(), arrays.slots.size(), 0};
  require(schema.first_action + schema.num_actions <= action_schema_.size());
  for (std::size_t a = 0; a < schema.num_actions; ++a) {
    require(action_schema_[schema.first_action + a] < 0);
    action_schema_[schema.first_action + a] = static_cast<std::int32_t>(number);
  }
  for (const SlotArrays& part : arrays.slots) {
    Slot slot;
    slot.schema = number;
    slot.predicate = checked(part.predicate, predicates_.size());
    slot.is_set = part.is_set;
    slot.first_item = num_items_;
    slot.first_set = set_slot_.size();
    slot.first_input = schema.num_inputs;
    Predicate& predicate = predicates_[slot.predicate];
    if (part.is_set) {
      require(!part.sets.offsets.empty());
      slot.num_items = part.sets.size();
      set_slot_.resize(set_slot_.size() + slot.num_items, static_cast<std::int32_t>(slots_.size()));
      const NumberLists within = checked(part.sets, slot.num_items, predicate.num_nodes, 0);
      slot.sets_of = inverse(within, predicate.num_nodes);
      NumberLists nodes = checked(part.sets, slot.num_items, predicate.num_nodes, predicate.first_node);
      for (std::size_t i = 0; i < slot.num_items; ++i) {
        std::sort(nodes.values.begin() + nodes.offsets[i], nodes.values.begin() + nodes.offsets[i + 1]);
      }
      slot.sets = PoolLayout(std::move(nodes));
    } else {
      slot.num_items = predicate.num_nodes;
    }
    require(part.index.size() == schema.num_actions);
    slot.index.assign(part.index.begin(), part.index.end());
    NumberLists items;
    items.offsets.resize(schema.num_actions + 1);
    for (std::size_t a = 0; a < schema.num_actions; ++a) {
      checked(slot.index[a], slot.num_items);
      items.offsets[a + 1] = static_cast<std::int32_t>(a + 1);
    }
    items.values = slot.index;
    slot.readers = inverse(items, slot.num_items);
    for (std::int32_t& action : slot.readers.values) action += arrays.first_action;
    num_items_ += slot.num_items;
    schema.num_inputs += part.is_set ? 2 : 1;
    predicate.slots.push_back(slots_.size());
    slots_.push_back(std::move(slot));
  }
  schemas_.push_back(schema);
}

void NetworkStructure::add_pool(const PoolArrays& arrays, std::size_t predicate) {
  const Schema& schema = schemas_[checked(arrays.schema, schemas_.size())];
  require(arrays.slot < 0 || static_cast<std::size_t>(arrays.slot) < schema.num_slots);
  NumberLists members =
      checked(arrays.members, predicates_[predicate].num_nodes, schema.num_actions, schema.first_action);
  for (std::size_t i = 0; i < members.size(); ++i) require(std::is_sorted(members[i].begin(), members[i].end()));
  const PoolLayout& layout = pools_.emplace_back(Pool{predicate, PoolLayout(std::move(members))}).members;
  for (std::size_t i = 0; i < schema.num_slots; ++i) {
    Slot& slot = slots_[schema.first_slot + i];
    if (slot.predicate != predicate || (arrays.slot >= 0 && static_cast<std::size_t>(arrays.slot) != i)) continue;
    slot.pools.push_back(pools_.size() - 1);
    auto& rows = slot.pool_rows.emplace_back();
    if (slot.is_set) continue;
    rows.reserve(schema.num_actions);
    for (std::size_t a = 0; a < schema.num_actions; ++a) {
      const auto action = static_cast<std::int32_t>(schema.first_action + a);
      rows.push_back(static_cast<std::uint32_t>(layout.row_of(static_cast<std::size_t>(slot.index[a]), action)));
    }
  }
}

}  // namespace asnets
