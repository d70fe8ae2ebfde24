#include "bindings.hpp"

NB_MODULE(_native, module) {
  module.doc() = "The compiled core of asnets.";
  asnets::bind_grounding(module);
  asnets::bind_simulation(module);
  asnets::bind_policy(module);
  asnets::bind_environments(module);
  asnets::bind_heuristics(module);
  asnets::bind_planning(module);
  asnets::bind_network(module);
  asnets::bind_network_policy(module);
  asnets::bind_guarded_policy(module);
  asnets::bind_online(module);
  asnets::bind_verification(module);
  asnets::bind_paths(module);
}
