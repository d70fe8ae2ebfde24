#include "verification/components.hpp"

#include <algorithm>

#include "interruption.hpp"

namespace asnets {

ChainComponents::ChainComponents(const ModelView& model) : num_states_(model.num_states()), size_(num_states_) {
  for (std::size_t i = 0; i < num_states_; ++i) {
    interruption_tick();
    const auto state = static_cast<StateId>(i);
    // Successors are ascending.
    if (model.has_choice(state) && model.successors[model.first(state)] < state) {
      find(model);
      return;
    }
  }
}

void ChainComponents::find(const ModelView& model) {
  struct Frame {
    StateId state;
    bool is_root;
    std::uint64_t next;
    std::uint64_t end;
  };
  const auto frame_of = [&](StateId state) -> Frame {
    if (!model.has_choice(state)) return {state, true, 0, 0};
    return {state, true, model.first(state), model.last(state)};
  };
  const auto count = static_cast<std::uint32_t>(num_states_);
  number_.assign(num_states_, 0);  // 0: not seen; while in work, a number that grows; then the component's, from above.
  order_.reserve(num_states_);
  is_last_.assign(num_states_, false);
  std::vector<Frame> frames;
  std::vector<StateId> waiting;
  std::uint32_t index = 1;
  std::uint32_t component = count;
  size_ = 0;
  for (StateId root = 0; root < count; ++root) {
    if (number_[root] != 0) continue;
    number_[root] = index++;
    frames.push_back(frame_of(root));
    while (!frames.empty()) {
      interruption_tick();
      Frame& frame = frames.back();
      if (frame.next < frame.end) {
        const StateId successor = model.successors[frame.next];
        if (number_[successor] == 0) {
          number_[successor] = index++;
          frames.push_back(frame_of(successor));  // Comes back to this transition.
          continue;
        }
        ++frame.next;
        if (number_[successor] < number_[frame.state]) {
          number_[frame.state] = number_[successor];
          frame.is_root = false;
        }
        continue;
      }
      const StateId state = frame.state;
      const bool is_root = frame.is_root;
      frames.pop_back();
      if (!is_root) {
        waiting.push_back(state);
        continue;
      }
      const std::size_t begin = order_.size();
      --index;
      while (!waiting.empty() && number_[state] <= number_[waiting.back()]) {
        order_.push_back(waiting.back());
        number_[waiting.back()] = component;
        waiting.pop_back();
        --index;
      }
      number_[state] = component--;
      order_.push_back(state);
      is_last_[order_.size() - 1] = true;
      ++size_;
      largest_ = std::max(largest_, order_.size() - begin);
    }
  }
}

}  // namespace asnets
