// PUCT: Monte-Carlo tree search with priors [rosin2011multi; silver2017mastering], over the states of an SSP with their outcomes.
//
// What it computes: simulations from a state. Each goes down by the choice that minimises
//   Q(s, a) - C P(a | s) sqrt(N(s)) / (1 + N(s, a)),   C = V(s),
// where P is the policy's prior, mixed with the uniform distribution, or in states of few visits that alone; draws an
// outcome that is not decided yet; and ends at a state that is not in the tree, which is added. Dead ends (an infinite heuristic value) and goals are
// known when they are first seen, and their outcomes never simulated.
//  - With the heuristic at the leaves, values are Bellman backups over all outcomes along the way back [keller2013trial,
//    "UCT*"], beginning with heuristic values.
//  - With rollouts at the leaves, Q is the mean over the simulations through a choice: what was paid on the way and one
//    rollout of the policy from the leaf. Simulations are made in batches of kBatch, so that their rollouts can run on
//    several threads; a batch is the same on any number of them.
// What it guarantees: once few of the reachable states are missing, which is looked for after 2^k simulations, these are
// expanded too (simulations come to the worst of them after a time that is exponential in their depth), and values are
// backed up until they are ε-consistent: then they are optimal, whatever the heuristic, the policy and the rollouts said.
// How it differs: states that are met again are one node of a graph, not several of a tree. Costs must be above 0.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "online/rollouts.hpp"
#include "policy/policy.hpp"
#include "search/solver.hpp"

namespace asnets {

struct PuctOptions {
  Policy* prior = nullptr;       // Null: uniform.
  Rollouts* rollouts = nullptr;  // Null: the heuristic at the leaves.
};

class Puct final : public Solver {
 public:
  Puct(const Task& task, const SuccessorGenerator& generator, const SolverConfig& config,
       const PuctOptions& options = {});

  // For simulations from now on; null: uniform.
  void set_prior(Policy* prior) { options_.prior = prior; }

  // What is known of a choice of a state in the tree.
  struct ChoiceNode {
    ActionId action;
    double prior;
    std::uint32_t visits = 0;
    double total = 0;  // Over the simulations, where rollouts are at the leaves.
  };
  // Those of an expanded state, in the order of its choices; empty if it is not in the tree.
  std::span<const ChoiceNode> choice_nodes(StateId state) const;
  // Q of a choice, as the search sees it.
  double q_value(StateId state, std::size_t number, const SearchGraph::Choice& choice) const;

 protected:
  void search(StateId state, Budget& budget) override;
  SearchGraph::Backup best_choice(StateId state) override;

 private:
  struct Node {
    std::size_t first;  // Of its choices in choice_nodes_.
    std::size_t count;
    std::uint32_t visits = 0;
    bool has_prior = false;  // Of the policy.
  };
  struct Step {
    StateId state;
    std::size_t number;  // Of the choice.
    double cost;
  };
  struct Simulation {
    std::vector<Step> steps;
    StateId leaf;
    bool runs = false;  // A rollout from the leaf.
  };

  static constexpr std::size_t kBatch = 8;
  static constexpr std::size_t kMostSteps = 1024;
  static constexpr double kUniformShare = 0.5;  // Of the prior, so that every action is tried in the end.
  // Visits from which the policy is asked for the prior of a state: that may take longer than to add it to the tree.
  static constexpr std::uint32_t kPriorVisits = 16;
  // Simulations for each state that may be missing where the state space is closed.
  static constexpr std::size_t kTrialsToMissing = 16;
  static constexpr std::uint32_t kNoNode = static_cast<std::uint32_t>(-1);

  bool has_rollouts() const { return options_.rollouts != nullptr; }
  bool is_in_tree(StateId state) const { return state < node_of_.size() && node_of_[state] != kNoNode; }
  void run_batch(StateId root, Budget& budget);
  void count_visit(const Step& step, int change);
  void add_node(StateId state);
  void ask_prior(StateId state);
  void simulate(StateId root, Simulation& simulation, Budget& budget);
  std::size_t select(const Node& node, StateId state, SearchGraph::Choice& selected) const;
  // An outcome that is no goal and no dead end; false if there is none.
  bool draw_outcome(const SearchGraph::Choice& choice, StateId& outcome);
  void back_up(const Simulation& simulation, double cost);
  // All states that can be reached, if few of them are not expanded; expands these, if asked to.
  std::optional<std::vector<StateId>> reachable(StateId root, bool expands, Budget& budget);
  // Where all states that can be reached are in the tree, or few are missing, makes their values optimal and labels them.
  bool close(StateId root, Budget& budget);

  PuctOptions options_;
  std::vector<std::uint32_t> node_of_;  // Of each state.
  std::vector<Node> nodes_;
  std::vector<ChoiceNode> choice_nodes_;
  std::vector<Simulation> batch_;
  std::vector<Rollouts::Job> jobs_;
  ActionDistribution prior_;
  std::size_t next_close_ = 64;
  std::uint64_t num_rollouts_ = 0;
  RandomStream rollout_stream_;
};

}  // namespace asnets
