#include "flat_actions.hpp"

#include <algorithm>
#include <utility>

#include "interruption.hpp"

namespace asnets {

namespace {

constexpr std::size_t kMaxFlatOutcomes = 16;

struct Part {
  double probability;
  std::uint32_t roundings;
  std::vector<Literal> changes;
};

class Flattener {
 public:
  explicit Flattener(const TaskArrays& arrays) : arrays_(arrays) {}

  FlatAction flatten(std::int32_t block) {
    flat_ = true;
    std::vector<Part> parts{{1.0, 0, {}}};
    extend(block, parts);
    FlatAction result;
    if (!flat_) return result;
    for (Part& part : parts) {
      // Deletes first, so that adds win.
      std::stable_partition(part.changes.begin(), part.changes.end(), [](Literal l) { return l % 2 == 1; });
      result.changes.push_back(std::move(part.changes));
      result.probabilities.push_back(part.probability);
      result.roundings = std::max(result.roundings, part.roundings);
    }
    return result;
  }

 private:
  // Extends all parts by a block; children are guarded, which is not flat.
  void extend(std::int32_t block, std::vector<Part>& all) {
    if (!arrays_.block_children[block].empty()) flat_ = false;
    for (Part& part : all) {
      const auto literals = arrays_.block_literals[block];
      part.changes.insert(part.changes.end(), literals.begin(), literals.end());
    }
    for (const std::int32_t factor : arrays_.block_factors[block]) {
      std::vector<Part> next;
      const auto first = static_cast<std::size_t>(arrays_.factor_blocks.offsets[static_cast<std::size_t>(factor)]);
      const auto outcomes = arrays_.factor_blocks[factor];
      for (std::size_t o = 0; o < outcomes.size() && flat_; ++o) {
        std::vector<Part> branch = all;
        for (Part& part : branch) {
          part.probability *= arrays_.factor_probability[first + o];
          part.roundings += 2;
        }
        extend(outcomes[o], branch);
        next.insert(next.end(), branch.begin(), branch.end());
        if (next.size() > kMaxFlatOutcomes) flat_ = false;
      }
      if (!flat_) return;
      all = std::move(next);
    }
  }

  const TaskArrays& arrays_;
  bool flat_ = true;
};

}  // namespace

std::vector<FlatAction> flatten_actions(const Task& task) {
  Flattener flattener(task.arrays());
  std::vector<FlatAction> result;
  result.reserve(task.num_actions());
  for (const std::int32_t block : task.arrays().action_block) {
    interruption_tick();
    result.push_back(flattener.flatten(block));
  }
  return result;
}

}  // namespace asnets
