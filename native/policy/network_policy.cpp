#include "policy/network_policy.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "assert.hpp"
#include "interruption.hpp"
#include "policy/draw.hpp"
#include "tolerances.hpp"

namespace asnets {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

NetworkPolicy::NetworkPolicy(const Task& task, const SuccessorGenerator& generator, Network network,
                             const NetworkPolicyOptions& options)
    : task_(task), generator_(generator), options_(options) {
  set_network(std::move(network));
}

void NetworkPolicy::set_network(Network network) {
  // What reads the old network goes first.
  pass_.reset();
  recurrent_.reset();
  network_ = std::move(network);
  if (network_.weights->shape().recurrent) {
    recurrent_.emplace(*network_.structure, *network_.weights);
  } else {
    pass_.emplace(*network_.structure, *network_.weights, options_.incremental, options_.max_bytes);
  }
  const std::vector<std::string>& features = network_.weights->shape().features;
  if (!features.empty() && !features_) features_.emplace(task_, features);
}

void NetworkPolicy::run_network(const Word* state) {
  auto start = Clock::now();
  FeatureRows features;
  if (features_) {
    features = features_->of(state);
    statistics_.feature_seconds += seconds_since(start);
    start = Clock::now();
  }
  if (recurrent_) {
    run_layers(state, features);
  } else {
    const std::int64_t computed = pass_->num_computed();
    const std::int64_t full = pass_->num_full();
    pass_->evaluate(state, features);
    read_logits();
    statistics_.modules_recomputed += pass_->num_computed() - computed;
    statistics_.modules_total += static_cast<std::int64_t>(pass_->modules_per_pass());
    statistics_.full_passes += pass_->num_full() - full;
  }
  statistics_.network_seconds += seconds_since(start);
  ++statistics_.steps;
}

void NetworkPolicy::read_logits() {
  logits_.clear();
  for (const ActionId action : actions_) logits_.push_back(recurrent_ ? recurrent_->logit(action) : pass_->logit(action));
  statistics_.modules_recomputed += static_cast<std::int64_t>(actions_.size());
  statistics_.modules_total += static_cast<std::int64_t>(actions_.size());
}

void NetworkPolicy::run_layers(const Word* state, const FeatureRows& features) {
  const DepthRule& rule = options_.depth;
  const std::int64_t computed = recurrent_->num_computed();
  recurrent_->begin(state, features);
  while (recurrent_->depth() < rule.least) {
    interruption_point();
    recurrent_->deepen();
  }
  read_logits();
  if (rule.most > rule.least && !actions_.empty()) deepen_until_settled();
  statistics_.modules_recomputed += recurrent_->num_computed() - computed;
  statistics_.modules_total += recurrent_->num_computed() - computed;
  statistics_.layers += static_cast<std::int64_t>(recurrent_->depth());
  ++statistics_.full_passes;
}

void NetworkPolicy::deepen_until_settled() {
  const DepthRule& rule = options_.depth;
  find_best();
  choice_ = best_;
  std::size_t unchanged = 0;
  while (unchanged < rule.patience) {
    bool is_over = recurrent_->depth() == rule.most;
    if (!is_over) {
      interruption_point();
      recurrent_->deepen();
      logits_before_.swap(logits_);
      read_logits();
      // Vectors that grow without end say nothing any more: what they said last counts.
      is_over = !std::all_of(logits_.begin(), logits_.end(), [](float logit) { return std::isfinite(logit); });
      if (is_over) logits_.swap(logits_before_);
    }
    if (is_over) {
      ++statistics_.unsettled;
      return;
    }
    find_best();
    unchanged = best_ == choice_ ? unchanged + 1 : 0;
    choice_ = best_;
  }
}

void NetworkPolicy::find_applicable(const Word* state) {
  generator_.applicable(state, applicable_, stack_);
  actions_.assign(applicable_.actions().begin(), applicable_.actions().end());
  std::sort(actions_.begin(), actions_.end());
}

void NetworkPolicy::evaluate(const Word* state) {
  find_applicable(state);
  probabilities_.clear();
  if (actions_.empty()) return;
  interruption_point();
  run_network(state);
  const float highest = *std::max_element(logits_.begin(), logits_.end());
  double total = 0;
  for (const float logit : logits_) {
    probabilities_.push_back(std::exp(static_cast<double>(logit) - static_cast<double>(highest)));
    total += probabilities_.back();
  }
  for (double& probability : probabilities_) probability /= total;
}

void NetworkPolicy::find_best() {
  const auto first = std::max_element(logits_.begin(), logits_.end());
  const float least = *first - kEqualLogits * std::max(1.0F, std::abs(*first));
  best_.clear();
  for (std::size_t i = 0; i < logits_.size(); ++i) {
    if (logits_[i] >= least) best_.push_back(i);
  }
  if (best_.empty()) best_.push_back(static_cast<std::size_t>(first - logits_.begin()));  // The logits are infinite.
}

ActionId NetworkPolicy::choose(const Word* state, RandomStream& random) {
  evaluate(state);
  if (actions_.empty()) return -1;
  if (options_.sampled) return actions_[draw_position(probabilities_, random)];
  find_best();
  return actions_[best_[best_.size() == 1 ? 0 : random.below(best_.size())]];
}

void NetworkPolicy::distribution(const Word* state, ActionDistribution& result) {
  evaluate(state);
  result.clear();
  if (options_.sampled) {
    result.actions = actions_;
    result.probabilities = probabilities_;
  } else if (!actions_.empty()) {
    find_best();
    for (const std::size_t i : best_) result.add(actions_[i], 1.0 / static_cast<double>(best_.size()));
  }
}

void NetworkPolicy::preferences(const Word* state, ActionDistribution& result) {
  evaluate(state);
  result.actions = actions_;
  result.probabilities = probabilities_;
}

std::vector<float> NetworkPolicy::logits(const Word* state) {
  const auto take_all = [&] {
    actions_.resize(network_.structure->num_actions());
    for (std::size_t a = 0; a < actions_.size(); ++a) actions_[a] = static_cast<ActionId>(a);
  };
  if (recurrent_) {
    find_applicable(state);
    run_network(state);
    take_all();
    read_logits();
  } else {
    take_all();
    run_network(state);
  }
  return logits_;
}

void NetworkStatistics::add(const NetworkStatistics& other) {
  steps += other.steps;
  feature_seconds += other.feature_seconds;
  network_seconds += other.network_seconds;
  modules_recomputed += other.modules_recomputed;
  modules_total += other.modules_total;
  full_passes += other.full_passes;
  layers += other.layers;
  unsettled += other.unsettled;
}

NetworkStatistics NetworkPolicy::take_statistics() { return std::exchange(statistics_, {}); }

class NetworkPolicyPool::Lease final : public Policy {
 public:
  explicit Lease(const std::shared_ptr<NetworkPolicyPool>& pool) : pool_(pool), policy_(pool->take()) {}
  ~Lease() override { pool_->give_back(std::move(policy_)); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ActionId choose(const Word* state, RandomStream& random) override { return policy_->choose(state, random); }
  void distribution(const Word* state, ActionDistribution& result) override { policy_->distribution(state, result); }
  void preferences(const Word* state, ActionDistribution& result) override { policy_->preferences(state, result); }

 private:
  std::shared_ptr<NetworkPolicyPool> pool_;
  std::unique_ptr<NetworkPolicy> policy_;
};

std::unique_ptr<Policy> NetworkPolicyPool::lend(const std::shared_ptr<NetworkPolicyPool>& pool) {
  return std::make_unique<Lease>(pool);
}

std::unique_ptr<NetworkPolicy> NetworkPolicyPool::take() {
  std::unique_ptr<NetworkPolicy> policy;
  Network network;
  {
    const std::lock_guard lock(mutex_);
    network = network_;
    if (!idle_.empty()) {
      policy = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (policy == nullptr) return std::make_unique<NetworkPolicy>(task_, generator_, std::move(network), options_);
  if (policy->network().weights != network.weights) policy->set_network(std::move(network));
  return policy;
}

void NetworkPolicyPool::set_network(Network network) {
  const std::lock_guard lock(mutex_);
  network_ = std::move(network);
}

void NetworkPolicyPool::give_back(std::unique_ptr<NetworkPolicy> policy) {
  const NetworkStatistics counted = policy->take_statistics();
  const std::lock_guard lock(mutex_);
  statistics_.add(counted);
  idle_.push_back(std::move(policy));
}

NetworkStatistics NetworkPolicyPool::statistics() {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

}  // namespace asnets
