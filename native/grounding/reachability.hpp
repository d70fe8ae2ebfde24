// Relaxed reachability by semi-naive evaluation of Datalog-like rules.
//
// What it computes: the least set of tuples closed under rules `heads <- body atoms, constraints, filter`, where a
// filter is a monotone formula over facts that can become true and facts that can become false. The instances of an
// action schema are the tuples of a relation of their own, so that grounding is one fixpoint.
// Where it comes from: the Datalog view of grounding [helmert2009concise, section 6]; joins are done one tuple at a
// time over hash indices, in an order chosen per rule and trigger by estimated selectivity.
// What it adds: filters that fail now but may hold later are kept with the facts they wait for, so that negative,
// disjunctive and quantified conditions are exact with respect to the relaxation and are not tested again in vain.
// Quantified variables are joined too, over the facts that never change among those that a quantifier asks for.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <vector>

#include "grounding/relation.hpp"

namespace asnets {

// A term is a variable slot (>= 0) or an object (-1 - object).
using Term = std::int32_t;

// A relation, or the number of join steps or of waiting bindings, went over its limit while a rule was evaluated.
struct GroundingLimit : std::runtime_error {
  GroundingLimit(std::size_t rule_index, std::ptrdiff_t relation_index)
      : std::runtime_error("grounding limit"), rule(rule_index), relation(relation_index) {}
  std::size_t rule;
  std::ptrdiff_t relation;  // -1 for join steps, -2 for waiting bindings.
};

class Reachability {
 public:
  explicit Reachability(std::size_t num_objects) : num_objects_(num_objects) {}

  // --- The program. All methods return the index of what they add. ---

  std::size_t add_type(std::span<const std::int32_t> members);
  // `facts` holds the initial tuples one after the other; rules may bring them to `max_tuples`.
  std::size_t add_relation(std::size_t arity, std::span<const std::int32_t> facts, std::size_t count,
                           std::size_t max_tuples);

  // Formulas. A negative literal holds if its atom is not among the initial facts of `relation` or is in `deleted`.
  std::size_t add_atom(std::size_t relation, std::vector<Term> terms);
  std::size_t add_negated_atom(std::size_t relation, std::size_t deleted, std::vector<Term> terms);
  std::size_t add_equality(Term left, Term right, bool equal);
  std::size_t add_connective(bool conjunction, std::vector<std::size_t> children);
  struct Atom {
    std::size_t relation;
    std::vector<Term> terms;
  };
  // What every binding satisfies that matters to a quantifier: one that can make the body of an existential one true, or
  // that of a universal one false. Equalities are constraints. Guards whose facts may change are not used.
  struct Guard {
    Atom atom;
    std::size_t deleted;  // Where facts of the relation that can become false are kept.
  };
  std::size_t add_quantifier(bool universal, std::vector<std::int32_t> variables, std::vector<std::size_t> types,
                             std::size_t body, std::vector<Guard> guards, std::vector<std::size_t> constraints);

  struct Rule {
    std::vector<std::size_t> types;  // Of each variable.
    std::vector<Atom> body;
    std::vector<std::size_t> constraints;  // Equalities, tested as soon as they are bound.
    std::vector<std::size_t> filter;       // Formulas that must all hold.
    std::size_t num_slots = 0;             // Variables including those bound by quantifiers.
    std::vector<Atom> heads;
  };
  std::size_t add_rule(Rule rule);

  // Runs to the fixpoint. `poll` is called with the rule at hand every few milliseconds and may throw to stop. Throws
  // GroundingLimit.
  using Poll = std::function<void(std::size_t)>;
  void run(std::size_t max_steps, std::size_t max_waiting, const Poll& poll);

  const Relation& relation(std::size_t index) const { return relations_[index].tuples; }

 private:
  struct Step {
    bool is_atom;
    std::size_t atom = 0;      // Of the body.
    std::size_t index = 0;     // Index of its relation, where some columns are free.
    bool lookup = false;       // All columns bound: a mere look-up.
    std::int32_t variable = 0;  // For a step over the members of a type.
    std::vector<std::int32_t> binds;           // Variables bound by this step.
    std::vector<std::size_t> constraints;      // Constraints that are bound from here on.
  };

  enum class Kind : std::uint8_t { kAtom, kNegatedAtom, kEqual, kNotEqual, kAnd, kOr, kForall, kExists };
  struct Formula {
    Kind kind;
    std::size_t relation = 0;
    std::size_t deleted = 0;
    std::vector<Term> terms;
    std::vector<std::size_t> children;
    std::vector<std::int32_t> variables;
    std::vector<std::size_t> types;
    std::vector<Guard> guards;
    std::vector<std::size_t> constraints;
    std::vector<Atom> body;   // The guards that never change, and how to join them: made when the program runs.
    std::vector<Step> steps;
  };
  enum class Truth : std::uint8_t { kTrue, kNotYet, kNever };

  struct Type {
    std::vector<std::int32_t> members;
    std::vector<bool> contains;
  };

  struct RelationData {
    Relation tuples;
    std::size_t num_initial = 0;
    std::size_t max_tuples = 0;
    bool dynamic = false;
    std::vector<Index> indices;
    Relation watched;  // Tuples that some pending binding waits for.
    std::vector<std::vector<std::uint32_t>> watchers;
    std::vector<std::size_t> triggers;  // Plans of the rules that read the relation.
  };

  struct Plan {
    std::size_t rule;
    std::size_t trigger;  // Body atom, or npos for the initial evaluation.
    std::vector<std::int32_t> trigger_binds;
    std::vector<std::size_t> trigger_constraints;
    std::vector<Step> steps;
  };
  struct Pending {
    std::size_t rule;
    std::vector<std::int32_t> values;
  };
  struct Watch {
    std::size_t relation;
    std::vector<std::int32_t> tuple;
  };

  std::int32_t value(Term term) const { return term >= 0 ? env_[static_cast<std::size_t>(term)] : -1 - term; }
  void instantiate(const std::vector<Term>& terms, std::vector<std::int32_t>& out) const;

  bool insert(std::size_t relation, const std::int32_t* tuple);
  std::size_t index_for(std::size_t relation, std::vector<std::uint32_t> columns);

  // What is joined: atoms, constraints, and the variables to bind; the types of all variables of the rule.
  struct Join {
    const std::vector<Atom>& body;
    const std::vector<std::size_t>& constraints;
    const std::vector<std::size_t>& types;
  };
  void set_types(std::size_t formula, std::vector<std::size_t>& types) const;
  void plan_quantifiers(std::size_t formula, const std::vector<std::size_t>& types, std::vector<bool> bound);
  Plan make_plan(std::size_t rule, std::size_t trigger);
  std::vector<Step> make_steps(const Join& join, std::vector<bool> bound, std::vector<bool> used,
                               std::vector<bool> tested, const std::vector<std::int32_t>& variables);
  std::vector<std::size_t> ready_constraints(const std::vector<std::size_t>& constraints,
                                             const std::vector<bool>& bound, std::vector<bool>& tested) const;
  double estimate(const std::vector<std::size_t>& types, const Atom& atom, const std::vector<bool>& bound) const;
  bool bind_tuple(const std::vector<std::size_t>& types, const Atom& atom, const std::int32_t* tuple,
                  const std::vector<std::int32_t>& binds);
  bool constraints_hold(const std::vector<std::size_t>& constraints) const;
  void start(const Plan& plan, const std::int32_t* tuple);
  // Calls `found` for every binding until it returns true.
  template <typename Found>
  void walk(std::size_t rule, const std::vector<Step>& steps, const std::vector<Atom>& body,
            const std::vector<std::size_t>& types, Found&& found);
  void complete(std::size_t rule);
  bool all_known(const std::vector<Atom>& heads);
  void fire(std::size_t rule);

  Truth evaluate(std::size_t formula);
  Truth evaluate_quantifier(const Formula& formula);
  void wait(std::size_t rule);
  void wake(std::size_t relation, const std::int32_t* tuple);
  void tick(std::size_t rule);
  void pulse(std::size_t rule);

  std::size_t num_objects_;
  std::vector<Type> types_;
  std::vector<RelationData> relations_;
  std::vector<Formula> formulas_;
  std::vector<Rule> rules_;
  std::vector<std::vector<std::size_t>> slot_types_;  // Of all variables of each rule, bound ones included.
  std::vector<Plan> plans_;
  std::vector<Pending> pending_;
  std::vector<std::pair<std::size_t, std::size_t>> queue_;  // (relation, tuple)
  std::vector<std::int32_t> env_;
  std::vector<Watch> watches_;
  std::vector<std::int32_t> scratch_;
  std::size_t completing_ = 0;  // The rule whose filter is being evaluated.
  std::size_t steps_ = 0;
  std::size_t max_steps_ = 0;
  std::size_t max_waiting_ = 0;
  std::size_t num_waiting_ = 0;  // Entries of all lists of watchers.
  std::size_t pulses_ = 0;
  std::chrono::steady_clock::time_point last_poll_;
  const Poll* poll_ = nullptr;
};

}  // namespace asnets
