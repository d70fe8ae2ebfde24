#include "online/tree_report.hpp"

#include <algorithm>
#include <vector>

namespace asnets {

namespace {

constexpr std::size_t kLevels = 2;
constexpr std::size_t kMostActions[kLevels] = {4, 2};
constexpr std::size_t kMostOutcomes = 3;

// Of a choice, beside what is told.
struct Known {
  ActionReport report;
  SearchGraph::Choice choice;
};

class TreeReport {
 public:
  TreeReport(const SearchGraph& graph, const Puct* tree, std::span<const ActionId> always)
      : graph_(graph), tree_(tree), always_(always) {}

  void fill_in(StateId state, std::size_t level, TreeOutcome& result) const {
    result.value = graph_.value(state);
    result.is_goal = graph_.is_goal(state);
    result.is_dead_end = graph_.is_dead(state);
    if (graph_.is_terminal(state) || !graph_.is_expanded(state)) return;
    std::vector<Known> all = choices(state);
    result.num_actions = all.size();
    for (const Known& known : all) result.visits += known.report.visits;
    if (level == kLevels) return;
    std::stable_sort(all.begin(), all.end(), [](const Known& a, const Known& b) {
      return a.report.visits > b.report.visits || (a.report.visits == b.report.visits && a.report.value < b.report.value);
    });
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool is_asked = level == 0 && std::find(always_.begin(), always_.end(), all[i].report.action) != always_.end();
      if (i >= kMostActions[level] && !is_asked) continue;
      TreeAction& action = result.actions.emplace_back();
      action.report = all[i].report;
      add_outcomes(state, all[i].choice, level, action);
    }
  }

 private:
  std::vector<Known> choices(StateId state) const {
    const std::span<const Puct::ChoiceNode> nodes = tree_ ? tree_->choice_nodes(state) : std::span<const Puct::ChoiceNode>{};
    std::vector<Known> result;
    SearchGraph::Choices all = graph_.own_choices(state);
    for (SearchGraph::Choice choice; all.next(choice);) {
      const std::size_t number = result.size();
      Known& known = result.emplace_back();
      known.choice = choice;
      known.report.action = choice.action;
      known.report.value = nodes.empty() ? graph_.q_value(choice) : tree_->q_value(state, number, choice);
      if (nodes.empty()) continue;
      known.report.prior = nodes[number].prior;
      known.report.visits = nodes[number].visits;
    }
    return result;
  }

  void add_outcomes(StateId state, const SearchGraph::Choice& choice, std::size_t level, TreeAction& action) const {
    action.num_outcomes = choice.size();
    std::vector<std::size_t> order(choice.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const std::vector<double>& probabilities = choice.distribution->probabilities;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return probabilities[a] > probabilities[b]; });
    order.resize(std::min(order.size(), kMostOutcomes));
    for (const std::size_t i : order) {
      TreeOutcome& outcome = action.outcomes.emplace_back();
      outcome.probability = probabilities[i];
      find_changes(state, choice.successors[i], outcome);
      fill_in(choice.successors[i], level + 1, outcome);
    }
  }

  void find_changes(StateId before, StateId after, TreeOutcome& outcome) const {
    const Word* const from = graph_.table().state(before);
    const Word* const to = graph_.table().state(after);
    for (std::size_t p = 0; p < graph_.task().num_propositions(); ++p) {
      const bool was = test_bit(from, p);
      if (was != test_bit(to, p)) (was ? outcome.deleted : outcome.added).push_back(static_cast<std::int32_t>(p));
    }
  }

  const SearchGraph& graph_;
  const Puct* tree_;
  std::span<const ActionId> always_;
};

}  // namespace

void describe_tree(const SearchGraph& graph, const Puct* tree, StateId state, std::span<const ActionId> always, TreeOutcome& result) {
  result = {};
  TreeReport(graph, tree, always).fill_in(state, 0, result);
}

}  // namespace asnets
