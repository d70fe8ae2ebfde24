// The policy of a network: greedy or sampled.
//
// The results depend on the state and the random stream only, not on what was evaluated before: incremental evaluation
// gives the same bits as evaluation from scratch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "network/forward_pass.hpp"
#include "policy/landmark_codes.hpp"
#include "policy/policy.hpp"
#include "successor_generator.hpp"

namespace asnets {

struct NetworkStatistics {
  std::int64_t steps = 0;
  double feature_seconds = 0;  // LM-cut.
  double network_seconds = 0;
  std::int64_t modules_recomputed = 0;
  std::int64_t modules_total = 0;  // If every step had computed every module; of the last layer, applicable actions.
  std::int64_t full_passes = 0;    // Steps in which some layer was computed as a whole.
};

class NetworkPolicy final : public Policy {
 public:
  NetworkPolicy(const Task& task, const SuccessorGenerator& generator,
                std::shared_ptr<const NetworkStructure> structure, std::shared_ptr<const NetworkWeights> weights,
                bool sampled, bool incremental);

  // Greedy: the most probable action, of several the one with the lowest number. Draws one number if sampled.
  ActionId choose(const Word* state, RandomStream& random) override;

  // The applicable actions, ascending, and their probabilities; valid until the next call.
  void evaluate(const Word* state);
  const std::vector<ActionId>& actions() const { return actions_; }
  const std::vector<double>& probabilities() const { return probabilities_; }

  // The outputs of the network for all actions.
  std::vector<float> logits(const Word* state);

  // What has been counted since the last call.
  NetworkStatistics take_statistics();

 private:
  void run_network(const Word* state);

  const SuccessorGenerator& generator_;
  std::shared_ptr<const NetworkStructure> structure_;
  std::shared_ptr<const NetworkWeights> weights_;
  bool sampled_;
  ForwardPass pass_;
  std::optional<LandmarkCodes> landmarks_;
  ActionList applicable_;
  std::vector<std::int32_t> stack_;
  std::vector<ActionId> actions_;
  std::vector<float> logits_;
  std::vector<double> probabilities_;
  NetworkStatistics statistics_;
};

// Lends policies to threads. What they remember is of use to whoever comes next; what they counted is added up.
class NetworkPolicyPool {
 public:
  using Make = std::function<std::unique_ptr<NetworkPolicy>()>;

  explicit NetworkPolicyPool(Make make) : make_(std::move(make)) {}

  // The policy comes back when the loan ends.
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
  class Loan;

  std::unique_ptr<NetworkPolicy> take();
  void give_back(std::unique_ptr<NetworkPolicy> policy);

  Make make_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<NetworkPolicy>> idle_;
  NetworkStatistics statistics_;
};

}  // namespace asnets
