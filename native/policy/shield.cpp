#include "policy/shield.hpp"

namespace asnets {

void Shield::exclude(const Word* state, std::span<const ActionId> actions, std::vector<ActionId>& excluded) {
  const std::size_t before = excluded.size();
  for (const ActionId action : actions) {
    if (is_hopeless(state, action)) excluded.push_back(action);
  }
  if (excluded.size() - before == actions.size()) excluded.resize(before);
}

bool Shield::is_hopeless(const Word* state, ActionId action) {
  expander_.expand(state, action);
  for (std::size_t i = 0; i < expander_.count(); ++i) {
    if (!detector_.is_dead_end(expander_.successor(i))) return false;
  }
  return true;
}

}  // namespace asnets
