// Relaxed reachability by semi-naive evaluation of Datalog-like rules.
//
// What it computes: the least set of tuples closed under rules `heads <- body atoms, constraints, filter`, where a
// filter is a monotone formula over facts that can become true and facts that can become false. The instances of an
// action schema are the tuples of a relation of their own, so that grounding is one fixpoint.
// Where it comes from: the Datalog view of grounding [helmert2009concise, section 6]; joins are done one tuple at a
// time over hash indices, in an order chosen per rule and trigger by estimated selectivity.
// What it adds: filters that fail now but may hold later are kept with the facts they wait for, so that negative,
// disjunctive and quantified conditions are exact with respect to the relaxation and are not tested again in vain.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace asnets {

// A term is a variable slot (>= 0) or an object (-1 - object).
using Term = std::int32_t;

struct GroundingLimit : std::runtime_error {
  GroundingLimit(std::size_t rule_index, const std::string& what)
      : std::runtime_error(what), rule(rule_index) {}
  std::size_t rule;
};

// A growing set of tuples of one arity.
class Relation {
 public:
  explicit Relation(std::size_t arity) : arity_(arity) {}

  // The index of a tuple, or npos.
  std::size_t find(const std::int32_t* tuple) const;
  // Inserts a tuple; returns whether it is new.
  bool insert(const std::int32_t* tuple);

  std::size_t arity() const { return arity_; }
  std::size_t size() const { return size_; }
  const std::int32_t* tuple(std::size_t index) const { return data_.data() + index * arity_; }
  const std::vector<std::int32_t>& data() const { return data_; }

  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

 private:
  void grow();

  std::size_t arity_;
  std::size_t size_ = 0;
  std::vector<std::int32_t> data_;
  std::vector<std::uint32_t> slots_;  // Tuple index + 1, 0 for empty; the size is a power of two.
};

class Reachability {
 public:
  explicit Reachability(std::size_t num_objects) : num_objects_(num_objects) {}

  // --- The program. All methods return the index of what they add. ---

  std::size_t add_type(std::span<const std::int32_t> members);
  // `facts` holds the initial tuples one after the other.
  std::size_t add_relation(std::size_t arity, std::span<const std::int32_t> facts, std::size_t count);

  // Formulas. A negative literal holds if its atom is not among the initial facts of `relation` or is in `deleted`.
  std::size_t add_atom(std::size_t relation, std::vector<Term> terms);
  std::size_t add_negated_atom(std::size_t relation, std::size_t deleted, std::vector<Term> terms);
  std::size_t add_equality(Term left, Term right, bool equal);
  std::size_t add_connective(bool conjunction, std::vector<std::size_t> children);
  std::size_t add_quantifier(bool universal, std::vector<std::int32_t> variables, std::vector<std::size_t> types,
                             std::size_t body);

  struct Atom {
    std::size_t relation;
    std::vector<Term> terms;
  };
  struct Rule {
    std::vector<std::size_t> types;  // Of each variable.
    std::vector<Atom> body;
    std::vector<std::size_t> constraints;  // Equalities, tested as soon as they are bound.
    std::vector<std::size_t> filter;       // Formulas that must all hold.
    std::size_t num_slots = 0;             // Variables including those bound by quantifiers.
    std::vector<Atom> heads;
    std::size_t max_tuples = 0;  // Limit on the tuples of the first head.
  };
  std::size_t add_rule(Rule rule);

  // Runs to the fixpoint. `poll` is called now and then and may throw to stop.
  void run(std::size_t max_steps, const std::function<void()>& poll);

  const Relation& relation(std::size_t index) const { return relations_[index].tuples; }

 private:
  enum class Kind : std::uint8_t { kAtom, kNegatedAtom, kEqual, kNotEqual, kAnd, kOr, kForall, kExists };
  struct Formula {
    Kind kind;
    std::size_t relation = 0;
    std::size_t deleted = 0;
    std::vector<Term> terms;
    std::vector<std::size_t> children;
    std::vector<std::int32_t> variables;
    std::vector<std::size_t> types;
  };
  enum class Truth : std::uint8_t { kTrue, kNotYet, kNever };

  struct Type {
    std::vector<std::int32_t> members;
    std::vector<bool> contains;
  };

  // Tuples of a relation by the values of some columns, as chains through `next`.
  struct Index {
    std::vector<std::uint32_t> columns;
    std::vector<std::uint32_t> slots;  // First tuple of a chain + 1.
    std::vector<std::uint32_t> next;   // Next tuple of the chain + 1, for each tuple.
    std::size_t keys = 0;
  };
  struct RelationData {
    Relation tuples;
    std::size_t num_initial = 0;
    bool dynamic = false;
    std::vector<Index> indices;
    Relation watched;  // Tuples that some pending binding waits for.
    std::vector<std::vector<std::uint32_t>> watchers;
    std::vector<std::size_t> triggers;  // Plans of the rules that read the relation.
  };

  struct Step {
    bool is_atom;
    std::size_t atom = 0;      // Body atom.
    std::size_t index = 0;     // Index of its relation, where some columns are free.
    bool lookup = false;       // All columns bound: a mere look-up.
    std::int32_t variable = 0;  // For a step over the members of a type.
    std::vector<std::int32_t> binds;           // Variables bound by this step.
    std::vector<std::size_t> constraints;      // Constraints that are bound from here on.
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

  void insert(std::size_t relation, const std::int32_t* tuple);
  static void index_tuple(const Relation& tuples, Index& index, std::size_t tuple);
  static std::size_t lookup(const Relation& tuples, const Index& index, const std::int32_t* key);
  std::size_t index_for(std::size_t relation, std::vector<std::uint32_t> columns);

  Plan make_plan(std::size_t rule, std::size_t trigger);
  double estimate(const Rule& rule, const Atom& atom, const std::vector<bool>& bound) const;
  bool bind_tuple(const Rule& rule, const Atom& atom, const std::int32_t* tuple,
                  const std::vector<std::int32_t>& binds);
  bool constraints_hold(const std::vector<std::size_t>& constraints) const;
  void start(const Plan& plan, const std::int32_t* tuple);
  void join(const Plan& plan);
  void complete(std::size_t rule);
  void fire(std::size_t rule);

  Truth evaluate(std::size_t formula);
  Truth evaluate_quantifier(const Formula& formula);
  void wait(std::size_t rule);
  void wake(std::size_t relation, const std::int32_t* tuple);
  void tick(std::size_t rule);

  std::size_t num_objects_;
  std::vector<Type> types_;
  std::vector<RelationData> relations_;
  std::vector<Formula> formulas_;
  std::vector<Rule> rules_;
  std::vector<Plan> plans_;
  std::vector<Pending> pending_;
  std::vector<std::pair<std::size_t, std::size_t>> queue_;  // (relation, tuple)
  std::vector<std::int32_t> env_;
  std::vector<Watch> watches_;
  std::vector<std::int32_t> scratch_;
  std::size_t steps_ = 0;
  std::size_t max_steps_ = 0;
  const std::function<void()>* poll_ = nullptr;
};

}  // namespace asnets
