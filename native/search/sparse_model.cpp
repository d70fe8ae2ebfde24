#include "search/sparse_model.hpp"

#include <algorithm>
#include <utility>

namespace asnets {

namespace {

constexpr std::uint32_t kUnseen = static_cast<std::uint32_t>(-1);

}  // namespace

// Tarjan's algorithm without recursion.
Components strong_components(const SparseModel& model, const std::vector<bool>& allowed, const Tick& tick) {
  struct Frame {
    std::uint32_t state;
    std::size_t choice;
    std::size_t transition;
  };
  const std::size_t n = model.size();
  Components result;
  result.of.assign(n, kUnseen);
  std::vector<std::uint32_t> index(n, kUnseen);
  std::vector<std::uint32_t> low(n, 0);
  std::vector<std::uint32_t> waiting;
  std::vector<Frame> stack;
  std::uint32_t next = 0;
  const auto enter = [&](std::uint32_t state) {
    index[state] = low[state] = next++;
    waiting.push_back(state);
    const std::size_t choice = model.first_choice[state];
    stack.push_back({state, choice, choice < model.num_choices() ? model.first_transition[choice] : 0});
  };
  for (std::uint32_t root = 0; root < n; ++root) {
    if (index[root] != kUnseen) continue;
    enter(root);
    while (!stack.empty()) {
      tick();
      Frame& frame = stack.back();
      const std::uint32_t state = frame.state;
      if (frame.choice == model.first_choice[state + 1]) {
        if (low[state] == index[state]) {
          for (std::uint32_t member = kUnseen; member != state;) {
            member = waiting.back();
            waiting.pop_back();
            result.of[member] = result.count;
          }
          ++result.count;
        }
        stack.pop_back();
        if (!stack.empty()) low[stack.back().state] = std::min(low[stack.back().state], low[state]);
        continue;
      }
      const bool skipped = !allowed.empty() && !allowed[frame.choice];
      if (skipped || frame.transition == model.first_transition[frame.choice + 1]) {
        ++frame.choice;
        frame.transition = frame.choice < model.num_choices() ? model.first_transition[frame.choice] : 0;
        continue;
      }
      const std::uint32_t successor = model.successors[frame.transition++];
      if (index[successor] == kUnseen) {
        enter(successor);
      } else if (result.of[successor] == kUnseen) {
        low[state] = std::min(low[state], index[successor]);
      }
    }
  }
  return result;
}

EndComponents end_components(const SparseModel& model, std::vector<bool> allowed, const Tick& tick) {
  const std::size_t n = model.size();
  EndComponents result;
  Components components;
  for (bool changed = true; changed;) {
    changed = false;
    components = strong_components(model, allowed, tick);
    for (std::size_t state = 0; state < n; ++state) {
      for (std::size_t choice = model.first_choice[state]; choice < model.first_choice[state + 1]; ++choice) {
        if (!allowed[choice]) continue;
        tick();
        for (std::size_t t = model.first_transition[choice]; t < model.first_transition[choice + 1]; ++t) {
          if (components.of[model.successors[t]] == components.of[state]) continue;
          allowed[choice] = false;
          changed = true;
          break;
        }
      }
    }
  }
  // What is left of a component without a choice is a state that every choice leaves.
  std::vector<std::uint32_t> number(components.count, kNoComponent);
  result.of.assign(n, kNoComponent);
  for (std::size_t state = 0; state < n; ++state) {
    for (std::size_t choice = model.first_choice[state]; choice < model.first_choice[state + 1]; ++choice) {
      if (allowed[choice] && number[components.of[state]] == kNoComponent) {
        number[components.of[state]] = result.count++;
      }
    }
  }
  for (std::size_t state = 0; state < n; ++state) result.of[state] = number[components.of[state]];
  result.inner = std::move(allowed);
  return result;
}

Reaching reaching(const SparseModel& model, const std::vector<bool>& targets, const std::vector<bool>& allowed,
                  const Tick& tick) {
  const std::size_t n = model.size();
  // Transitions by their ends: offsets, then choices; and the state of each choice.
  std::vector<std::size_t> first(n + 1, 0);
  for (const std::uint32_t successor : model.successors) ++first[successor + 1];
  for (std::size_t state = 0; state < n; ++state) first[state + 1] += first[state];
  std::vector<std::size_t> into(model.successors.size());
  std::vector<std::size_t> next(first.begin(), first.end() - 1);
  std::vector<std::uint32_t> source(model.num_choices());
  for (std::uint32_t state = 0; state < n; ++state) {
    for (std::size_t c = model.first_choice[state]; c < model.first_choice[state + 1]; ++c) {
      tick();
      source[c] = state;
      for (std::size_t t = model.first_transition[c]; t < model.first_transition[c + 1]; ++t) {
        into[next[model.successors[t]]++] = c;
      }
    }
  }
  Reaching result{targets, std::vector<std::size_t>(n, static_cast<std::size_t>(-1))};
  std::vector<std::uint32_t> queue;
  for (std::uint32_t state = 0; state < n; ++state) {
    if (targets[state]) queue.push_back(state);
  }
  for (std::size_t i = 0; i < queue.size(); ++i) {
    tick();
    for (std::size_t t = first[queue[i]]; t < first[queue[i] + 1]; ++t) {
      const std::size_t choice = into[t];
      if (result.states[source[choice]] || (!allowed.empty() && !allowed[choice])) continue;
      result.states[source[choice]] = true;
      result.ways[source[choice]] = choice;
      queue.push_back(source[choice]);
    }
  }
  return result;
}

Reaching reaching_for_certain(const SparseModel& model, const std::vector<bool>& targets, const Tick& tick) {
  std::vector<bool> allowed(model.num_choices(), true);
  for (;;) {
    Reaching result = reaching(model, targets, allowed, tick);
    bool changed = false;
    for (std::size_t c = 0; c < model.num_choices(); ++c) {
      if (!allowed[c]) continue;
      tick();
      for (std::size_t t = model.first_transition[c]; t < model.first_transition[c + 1]; ++t) {
        if (result.states[model.successors[t]]) continue;
        allowed[c] = false;
        changed = true;
        break;
      }
    }
    if (!changed) return result;
  }
}

}  // namespace asnets
