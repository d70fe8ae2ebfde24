// The policy of a network: greedy or sampled.
//
// The results depend on the state and the random stream only, not on what was evaluated before: incremental evaluation
// gives the same bits as evaluation from scratch.
//
// The depth of a recurrent network is fixed, or found in each state: layers are added until the choice has settled.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "network/forward_pass.hpp"
#include "network/recurrent_pass.hpp"
#include "policy/feature_cache.hpp"
#include "policy/policy.hpp"
#include "successor_generator.hpp"

namespace asnets {

struct NetworkStatistics {
  std::int64_t steps = 0;
  double feature_seconds = 0;
  double network_seconds = 0;
  std::int64_t modules_recomputed = 0;
  std::int64_t modules_total = 0;  // If every step had computed every module; of the last layer, applicable actions.
  std::int64_t full_passes = 0;    // Steps in which some layer was computed as a whole.
  std::int64_t layers = 0;         // Of recurrent networks, over all steps.
  std::int64_t unsettled = 0;      // Steps at whose greatest depth the choice had not settled.

  void add(const NetworkStatistics& other);
};

// Layers of a recurrent network: from `least` on, until the greedy choice has been the same for `patience` more layers, or
// there are `most` of them.
struct DepthRule {
  std::size_t least = 0;
  std::size_t patience = 0;
  std::size_t most = 0;
};

// Weights with the structure that they were made for.
struct Network {
  std::shared_ptr<const NetworkStructure> structure;
  std::shared_ptr<const NetworkWeights> weights;
};

struct NetworkPolicyOptions {
  bool sampled = false;
  bool incremental = true;
  std::size_t max_bytes = 0;  // For remembered values.
  DepthRule depth;            // Of a recurrent network.
};

class NetworkPolicy final : public Policy {
 public:
  NetworkPolicy(const Task& task, const SuccessorGenerator& generator, Network network,
                const NetworkPolicyOptions& options);

  // Of the same shape. Action features of states stay remembered.
  void set_network(Network network);
  const Network& network() const { return network_; }

  // Greedy: the most probable action; of several, within the accuracy of the network, one at random, so that nothing
  // depends on the order of actions. Draws one number if sampled, or if there are several.
  ActionId choose(const Word* state, RandomStream& random) override;
  void distribution(const Word* state, ActionDistribution& result) override;
  void preferences(const Word* state, ActionDistribution& result) override;

  // The applicable actions, ascending, and their probabilities; valid until the next call.
  void evaluate(const Word* state);
  const std::vector<ActionId>& actions() const { return actions_; }
  const std::vector<double>& probabilities() const { return probabilities_; }

  // The outputs of the network for all actions, at the depth at which the choice among the applicable ones is made.
  std::vector<float> logits(const Word* state);

  // What has been counted since the last call.
  NetworkStatistics take_statistics();

 private:
  void find_applicable(const Word* state);
  void run_network(const Word* state);
  void run_layers(const Word* state, const FeatureRows& features);
  void deepen_until_settled();
  void read_logits();
  // Of the state that was evaluated last, for each action whether its output is the largest, within the accuracy.
  void find_best();

  const Task& task_;
  const SuccessorGenerator& generator_;
  NetworkPolicyOptions options_;
  Network network_;
  std::optional<ForwardPass> pass_;           // One of the two, as the network is recurrent or not.
  std::optional<RecurrentPass> recurrent_;
  std::optional<FeatureCache> features_;
  ActionList applicable_;
  std::vector<std::int32_t> stack_;
  std::vector<ActionId> actions_;
  std::vector<float> logits_;
  std::vector<double> probabilities_;
  std::vector<std::size_t> best_;
  std::vector<std::size_t> choice_;       // The best actions of the layer before,
  std::vector<float> logits_before_;      // and the outputs there.
  NetworkStatistics statistics_;
};

// Lends policies to threads. What they remember is of use to whoever comes next; what they counted is added up.
class NetworkPolicyPool {
 public:
  NetworkPolicyPool(const Task& task, const SuccessorGenerator& generator, Network network,
                    const NetworkPolicyOptions& options)
      : task_(task), generator_(generator), options_(options), network_(std::move(network)) {}

  // For leases that begin from now on.
  void set_network(Network network);

  // The policy comes back when the lease ends.
  static std::unique_ptr<Policy> lend(const std::shared_ptr<NetworkPolicyPool>& pool);
  // As lend, to call more than `choose`.
  template <typename Use>
  void use(Use&& with) {
    std::unique_ptr<NetworkPolicy> policy = take();
    with(*policy);
    give_back(std::move(policy));
  }

  NetworkStatistics statistics();

 private:
  class Lease;

  std::unique_ptr<NetworkPolicy> take();
  void give_back(std::unique_ptr<NetworkPolicy> policy);

  const Task& task_;
  const SuccessorGenerator& generator_;
  const NetworkPolicyOptions options_;
  std::mutex mutex_;
  Network network_;
  std::vector<std::unique_ptr<NetworkPolicy>> idle_;
  NetworkStatistics statistics_;
};

}  // namespace asnets
