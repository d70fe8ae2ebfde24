// A registry is one table of what there is of a kind, with one line for each: its name, what it guarantees, how to make it.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace asnets {

// Throws std::invalid_argument if there is none of that name; the message says of what kind.
template <typename Entry>
const Entry& find_entry(const std::vector<Entry>& registry, const std::string& name, const std::string& kind) {
  for (const Entry& entry : registry) {
    if (entry.name == name) return entry;
  }
  throw std::invalid_argument("unknown " + kind + ": " + name);
}

}  // namespace asnets
