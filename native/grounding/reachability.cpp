#include "grounding/reachability.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "assert.hpp"

namespace asnets {

namespace {

constexpr std::size_t kPulsesBetweenLooks = std::size_t{1} << 10;  // At the clock.
constexpr std::chrono::milliseconds kPollInterval{10};

}  // namespace

// --- Building the program ---

std::size_t Reachability::add_type(std::span<const std::int32_t> members) {
  Type type{{members.begin(), members.end()}, std::vector<bool>(num_objects_, false)};
  for (const std::int32_t member : members) type.contains.at(static_cast<std::size_t>(member)) = true;
  types_.push_back(std::move(type));
  return types_.size() - 1;
}

std::size_t Reachability::add_relation(std::size_t arity, std::span<const std::int32_t> facts, std::size_t count,
                                       std::size_t max_tuples) {
  RelationData relation{Relation(arity), 0, max_tuples, false, {}, Relation(arity), {}, {}};
  if (facts.size() != arity * count) throw std::invalid_argument("facts do not fit the arity");
  // A nullary tuple has no values, but an address is needed all the same.
  const std::int32_t nothing = 0;
  for (std::size_t i = 0; i < count; ++i) relation.tuples.insert(arity == 0 ? &nothing : facts.data() + i * arity);
  relation.num_initial = relation.tuples.size();
  relations_.push_back(std::move(relation));
  return relations_.size() - 1;
}

std::size_t Reachability::add_atom(std::size_t relation, std::vector<Term> terms) {
  formulas_.push_back({Kind::kAtom, relation, 0, std::move(terms), {}, {}, {}, {}, {}, {}, {}});
  return formulas_.size() - 1;
}

std::size_t Reachability::add_negated_atom(std::size_t relation, std::size_t deleted, std::vector<Term> terms) {
  formulas_.push_back({Kind::kNegatedAtom, relation, deleted, std::move(terms), {}, {}, {}, {}, {}, {}, {}});
  return formulas_.size() - 1;
}

std::size_t Reachability::add_equality(Term left, Term right, bool equal) {
  formulas_.push_back({equal ? Kind::kEqual : Kind::kNotEqual, 0, 0, {left, right}, {}, {}, {}, {}, {}, {}, {}});
  return formulas_.size() - 1;
}

std::size_t Reachability::add_connective(bool conjunction, std::vector<std::size_t> children) {
  formulas_.push_back({conjunction ? Kind::kAnd : Kind::kOr, 0, 0, {}, std::move(children), {}, {}, {}, {}, {}, {}});
  return formulas_.size() - 1;
}

std::size_t Reachability::add_quantifier(bool universal, std::vector<std::int32_t> variables,
                                         std::vector<std::size_t> types, std::size_t body, std::vector<Guard> guards,
                                         std::vector<std::size_t> constraints) {
  formulas_.push_back({universal ? Kind::kForall : Kind::kExists, 0, 0, {}, {body}, std::move(variables),
                       std::move(types), std::move(guards), std::move(constraints), {}, {}});
  return formulas_.size() - 1;
}

std::size_t Reachability::add_rule(Rule rule) {
  for (const Atom& head : rule.heads) relations_.at(head.relation).dynamic = true;
  rules_.push_back(std::move(rule));
  return rules_.size() - 1;
}

// --- Planning joins ---

std::size_t Reachability::index_for(std::size_t relation, std::vector<std::uint32_t> columns) {
  auto& indices = relations_[relation].indices;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i].columns() == columns) return i;
  }
  indices.emplace_back(relations_[relation].tuples, std::move(columns));
  return indices.size() - 1;
}

// How many tuples a step over this atom is expected to give: for relations that never change from their sizes, for
// others from the sizes of the types of the variables still free.
double Reachability::estimate(const std::vector<std::size_t>& types, const Atom& atom,
                              const std::vector<bool>& bound) const {
  const RelationData& relation = relations_[atom.relation];
  double by_types = 1;
  double by_size = static_cast<double>(relation.tuples.size());
  for (const Term term : atom.terms) {
    if (term >= 0 && !bound[static_cast<std::size_t>(term)]) {
      by_types *= static_cast<double>(types_[types[static_cast<std::size_t>(term)]].members.size());
    } else if (num_objects_ > 0) {
      by_size /= static_cast<double>(num_objects_);
    }
  }
  return relation.dynamic ? by_types : std::min(by_types, by_size);
}

namespace {

void bind_terms(const std::vector<Term>& terms, std::vector<bool>& bound, std::vector<std::int32_t>& binds) {
  for (const Term term : terms) {
    if (term >= 0 && !bound[static_cast<std::size_t>(term)]) {
      bound[static_cast<std::size_t>(term)] = true;
      binds.push_back(term);
    }
  }
}

}  // namespace

// The constraints that are bound and have not been tested.
std::vector<std::size_t> Reachability::ready_constraints(const std::vector<std::size_t>& constraints,
                                                         const std::vector<bool>& bound,
                                                         std::vector<bool>& tested) const {
  std::vector<std::size_t> ready;
  for (std::size_t c = 0; c < constraints.size(); ++c) {
    const auto& terms = formulas_[constraints[c]].terms;
    const bool all_bound = std::all_of(terms.begin(), terms.end(), [&](Term term) {
      return term < 0 || bound[static_cast<std::size_t>(term)];
    });
    if (!tested[c] && all_bound) {
      tested[c] = true;
      ready.push_back(constraints[c]);
    }
  }
  return ready;
}

Reachability::Plan Reachability::make_plan(std::size_t rule_index, std::size_t trigger) {
  const Rule& rule = rules_[rule_index];
  const std::vector<std::size_t>& types = slot_types_[rule_index];
  Plan plan{rule_index, trigger, {}, {}, {}};
  std::vector<bool> bound(types.size(), false);
  std::vector<bool> used(rule.body.size(), false);
  std::vector<bool> tested(rule.constraints.size(), false);
  if (trigger != Relation::npos) {
    used[trigger] = true;
    bind_terms(rule.body[trigger].terms, bound, plan.trigger_binds);
  }
  plan.trigger_constraints = ready_constraints(rule.constraints, bound, tested);
  std::vector<std::int32_t> variables(rule.types.size());
  std::iota(variables.begin(), variables.end(), 0);
  plan.steps = make_steps({rule.body, rule.constraints, types}, std::move(bound), std::move(used), std::move(tested),
                          variables);
  return plan;
}

std::vector<Reachability::Step> Reachability::make_steps(const Join& join, std::vector<bool> bound,
                                                         std::vector<bool> used, std::vector<bool> tested,
                                                         const std::vector<std::int32_t>& variables) {
  std::vector<Step> steps;
  for (;;) {
    std::size_t best = Relation::npos;
    double best_estimate = std::numeric_limits<double>::infinity();
    for (std::size_t a = 0; a < join.body.size(); ++a) {
      if (used[a]) continue;
      const double expected = estimate(join.types, join.body[a], bound);
      if (expected < best_estimate) {
        best = a;
        best_estimate = expected;
      }
    }
    if (best == Relation::npos) break;
    const Atom& atom = join.body[best];
    std::vector<std::uint32_t> columns;
    for (std::size_t c = 0; c < atom.terms.size(); ++c) {
      if (atom.terms[c] < 0 || bound[static_cast<std::size_t>(atom.terms[c])]) {
        columns.push_back(static_cast<std::uint32_t>(c));
      }
    }
    Step step{true, best, 0, columns.size() == atom.terms.size(), 0, {}, {}};
    if (!step.lookup) step.index = index_for(atom.relation, std::move(columns));
    used[best] = true;
    bind_terms(atom.terms, bound, step.binds);
    step.constraints = ready_constraints(join.constraints, bound, tested);
    steps.push_back(std::move(step));
  }
  // What no atom binds runs over its type, small types first.
  std::vector<std::int32_t> free;
  for (const std::int32_t v : variables) {
    if (!bound[static_cast<std::size_t>(v)]) free.push_back(v);
  }
  std::stable_sort(free.begin(), free.end(), [&](std::int32_t a, std::int32_t b) {
    return types_[join.types[static_cast<std::size_t>(a)]].members.size() <
           types_[join.types[static_cast<std::size_t>(b)]].members.size();
  });
  for (const std::int32_t variable : free) {
    bound[static_cast<std::size_t>(variable)] = true;
    Step step{false, 0, 0, false, variable, {variable}, {}};
    step.constraints = ready_constraints(join.constraints, bound, tested);
    steps.push_back(std::move(step));
  }
  ASNETS_ASSERT(std::all_of(variables.begin(), variables.end(),
                            [&](std::int32_t variable) { return bound[static_cast<std::size_t>(variable)]; }));
  return steps;
}

// The types of the variables that the quantifiers of a formula bind.
void Reachability::set_types(std::size_t formula_index, std::vector<std::size_t>& types) const {
  const Formula& formula = formulas_[formula_index];
  for (std::size_t i = 0; i < formula.variables.size(); ++i) {
    types.at(static_cast<std::size_t>(formula.variables[i])) = formula.types[i];
  }
  for (const std::size_t child : formula.children) set_types(child, types);
}

void Reachability::plan_quantifiers(std::size_t formula_index, const std::vector<std::size_t>& types,
                                    std::vector<bool> bound) {
  Formula& formula = formulas_[formula_index];
  if (formula.kind == Kind::kForall || formula.kind == Kind::kExists) {
    for (const Guard& guard : formula.guards) {
      if (!relations_[guard.atom.relation].dynamic && !relations_[guard.deleted].dynamic) {
        formula.body.push_back(guard.atom);
      }
    }
    formula.steps = make_steps({formula.body, formula.constraints, types}, bound,
                               std::vector<bool>(formula.body.size(), false),
                               std::vector<bool>(formula.constraints.size(), false), formula.variables);
    for (const std::int32_t variable : formula.variables) bound[static_cast<std::size_t>(variable)] = true;
  }
  for (const std::size_t child : formula.children) plan_quantifiers(child, types, bound);
}

// --- Running ---

void Reachability::run(std::size_t max_steps, std::size_t max_waiting, const Poll& poll) {
  max_steps_ = max_steps;
  max_waiting_ = max_waiting;
  poll_ = &poll;
  last_poll_ = std::chrono::steady_clock::now();
  std::size_t slots = 1;
  for (const Rule& rule : rules_) {
    std::vector<std::size_t>& types = slot_types_.emplace_back(rule.types);
    types.resize(std::max(rule.num_slots, rule.types.size()), 0);
    for (const std::size_t formula : rule.filter) set_types(formula, types);
    std::vector<bool> bound(types.size(), false);
    std::fill_n(bound.begin(), rule.types.size(), true);
    for (const std::size_t formula : rule.filter) plan_quantifiers(formula, types, bound);
    slots = std::max(slots, types.size());
  }
  env_.assign(slots, 0);

  // Tuples that never change need not trigger anything: rules that read only those are evaluated once.
  std::vector<std::size_t> initial_plans;
  for (std::size_t r = 0; r < rules_.size(); ++r) {
    bool triggered = false;
    for (std::size_t a = 0; a < rules_[r].body.size(); ++a) {
      RelationData& relation = relations_[rules_[r].body[a].relation];
      if (!relation.dynamic) continue;
      triggered = true;
      plans_.push_back(make_plan(r, a));
      relation.triggers.push_back(plans_.size() - 1);
    }
    if (!triggered) {
      plans_.push_back(make_plan(r, Relation::npos));
      initial_plans.push_back(plans_.size() - 1);
    }
  }
  for (std::size_t r = 0; r < relations_.size(); ++r) {
    if (!relations_[r].dynamic) continue;
    for (std::size_t t = 0; t < relations_[r].tuples.size(); ++t) queue_.emplace_back(r, t);
  }
  for (const std::size_t plan : initial_plans) start(plans_[plan], nullptr);
  std::vector<std::int32_t> tuple;
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const auto [relation, index] = queue_[head];
    const std::size_t arity = relations_[relation].tuples.arity();
    // A copy, since relations grow while their tuples are joined.
    const std::int32_t* data = relations_[relation].tuples.tuple(index);
    tuple.assign(data, data + arity);
    tuple.push_back(0);
    if (relations_[relation].watched.size() > 0) wake(relation, tuple.data());
    for (const std::size_t plan : relations_[relation].triggers) start(plans_[plan], tuple.data());
  }
  poll_ = nullptr;
}

void Reachability::tick(std::size_t rule) {
  pulse(rule);
  if (++steps_ > max_steps_) throw GroundingLimit(rule, -1);
}

void Reachability::pulse(std::size_t rule) {
  if (++pulses_ % kPulsesBetweenLooks != 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_poll_ < kPollInterval) return;
  last_poll_ = now;
  (*poll_)(rule);
}

// Returns false if the relation has no room left.
bool Reachability::insert(std::size_t relation, const std::int32_t* tuple) {
  RelationData& data = relations_[relation];
  if (!data.tuples.insert(tuple)) return true;
  const std::size_t index = data.tuples.size() - 1;
  for (Index& columns : data.indices) columns.add(data.tuples, index);
  queue_.emplace_back(relation, index);
  return data.tuples.size() <= data.max_tuples;
}

bool Reachability::bind_tuple(const std::vector<std::size_t>& types, const Atom& atom, const std::int32_t* tuple,
                              const std::vector<std::int32_t>& binds) {
  for (std::size_t c = 0; c < atom.terms.size(); ++c) {
    const Term term = atom.terms[c];
    if (term >= 0 && std::find(binds.begin(), binds.end(), term) != binds.end()) {
      env_[static_cast<std::size_t>(term)] = tuple[c];
    }
  }
  for (std::size_t c = 0; c < atom.terms.size(); ++c) {
    const Term term = atom.terms[c];
    if (value(term) != tuple[c]) return false;  // A constant, a bound variable, or one that occurs twice.
    if (term >= 0 && !types_[types[static_cast<std::size_t>(term)]].contains[static_cast<std::size_t>(tuple[c])]) {
      return false;
    }
  }
  return true;
}

bool Reachability::constraints_hold(const std::vector<std::size_t>& constraints) const {
  return std::all_of(constraints.begin(), constraints.end(), [&](std::size_t constraint) {
    const Formula& formula = formulas_[constraint];
    return (value(formula.terms[0]) == value(formula.terms[1])) == (formula.kind == Kind::kEqual);
  });
}

void Reachability::start(const Plan& plan, const std::int32_t* tuple) {
  tick(plan.rule);
  const Rule& rule = rules_[plan.rule];
  const std::vector<std::size_t>& types = slot_types_[plan.rule];
  if (tuple != nullptr && !bind_tuple(types, rule.body[plan.trigger], tuple, plan.trigger_binds)) return;
  if (!constraints_hold(plan.trigger_constraints)) return;
  walk(plan.rule, plan.steps, rule.body, types, [&] {
    complete(plan.rule);
    return false;
  });
}

// Backtracking over steps, without recursion since a body may be long.
template <typename Found>
void Reachability::walk(std::size_t rule, const std::vector<Step>& steps, const std::vector<Atom>& body,
                        const std::vector<std::size_t>& types, Found&& found) {
  const std::size_t depth_end = steps.size();
  if (depth_end == 0) {
    found();
    return;
  }
  std::vector<std::size_t> cursors(depth_end, 0);
  std::vector<std::int32_t> key;

  const auto open = [&](std::size_t depth) {
    const Step& step = steps[depth];
    cursors[depth] = 0;
    if (!step.is_atom) return;
    const Atom& atom = body[step.atom];
    const RelationData& relation = relations_[atom.relation];
    key.clear();
    if (step.lookup) {
      instantiate(atom.terms, key);
      cursors[depth] = relation.tuples.find(key.data()) != Relation::npos ? 1 : 0;
    } else {
      for (const std::uint32_t c : relation.indices[step.index].columns()) key.push_back(value(atom.terms[c]));
      key.push_back(0);
      cursors[depth] = relation.indices[step.index].first(relation.tuples, key.data());
    }
  };
  // Binds the next candidate of a step; false when there is none.
  const auto advance = [&](std::size_t depth) {
    const Step& step = steps[depth];
    if (!step.is_atom) {
      const auto variable = static_cast<std::size_t>(step.variable);
      const auto& members = types_[types[variable]].members;
      while (cursors[depth] < members.size()) {
        tick(rule);
        env_[variable] = members[cursors[depth]++];
        if (constraints_hold(step.constraints)) return true;
      }
      return false;
    }
    if (step.lookup) return std::exchange(cursors[depth], 0) == 1 && constraints_hold(step.constraints);
    const Atom& atom = body[step.atom];
    while (cursors[depth] != 0) {
      tick(rule);
      const RelationData& relation = relations_[atom.relation];
      const std::size_t tuple = cursors[depth] - 1;
      cursors[depth] = relation.indices[step.index].next(tuple);
      if (bind_tuple(types, atom, relation.tuples.tuple(tuple), step.binds) && constraints_hold(step.constraints)) {
        return true;
      }
    }
    return false;
  };

  std::size_t depth = 0;
  open(0);
  for (;;) {
    if (!advance(depth)) {
      if (depth == 0) return;
      --depth;
    } else if (depth + 1 < depth_end) {
      open(++depth);
    } else if (found()) {
      return;
    }
  }
}

void Reachability::complete(std::size_t rule_index) {
  completing_ = rule_index;
  const Rule& rule = rules_[rule_index];
  // Many bindings give the same facts, and filters may take long.
  if (!rule.filter.empty() && all_known(rule.heads)) return;
  for (const std::size_t formula : rule.filter) {
    watches_.clear();
    switch (evaluate(formula)) {
      case Truth::kTrue:
        break;
      case Truth::kNotYet:
        wait(rule_index);
        return;
      case Truth::kNever:
        return;
    }
  }
  fire(rule_index);
}

bool Reachability::all_known(const std::vector<Atom>& heads) {
  return std::all_of(heads.begin(), heads.end(), [&](const Atom& head) {
    scratch_.clear();
    instantiate(head.terms, scratch_);
    return relations_[head.relation].tuples.find(scratch_.data()) != Relation::npos;
  });
}

void Reachability::fire(std::size_t rule_index) {
  const Rule& rule = rules_[rule_index];
  for (const Atom& head : rule.heads) {
    scratch_.clear();
    instantiate(head.terms, scratch_);
    ASNETS_ASSERT(std::all_of(scratch_.begin(), scratch_.end(), [](std::int32_t object) { return object >= 0; }));
    if (!insert(head.relation, scratch_.data())) {
      throw GroundingLimit(rule_index, static_cast<std::ptrdiff_t>(head.relation));
    }
  }
}

void Reachability::instantiate(const std::vector<Term>& terms, std::vector<std::int32_t>& out) const {
  for (const Term term : terms) out.push_back(value(term));
  out.push_back(0);  // So that a nullary tuple has an address.
}

// --- Filters ---

Reachability::Truth Reachability::evaluate(std::size_t formula_index) {
  pulse(completing_);
  const Formula& formula = formulas_[formula_index];
  switch (formula.kind) {
    case Kind::kAtom: {
      std::vector<std::int32_t> tuple;
      instantiate(formula.terms, tuple);
      const RelationData& relation = relations_[formula.relation];
      if (relation.tuples.find(tuple.data()) != Relation::npos) return Truth::kTrue;
      if (!relation.dynamic) return Truth::kNever;
      watches_.push_back({formula.relation, std::move(tuple)});
      return Truth::kNotYet;
    }
    case Kind::kNegatedAtom: {
      std::vector<std::int32_t> tuple;
      instantiate(formula.terms, tuple);
      const RelationData& relation = relations_[formula.relation];
      const std::size_t index = relation.tuples.find(tuple.data());
      if (index == Relation::npos || index >= relation.num_initial) return Truth::kTrue;
      if (relations_[formula.deleted].tuples.find(tuple.data()) != Relation::npos) return Truth::kTrue;
      if (!relations_[formula.deleted].dynamic) return Truth::kNever;
      watches_.push_back({formula.deleted, std::move(tuple)});
      return Truth::kNotYet;
    }
    case Kind::kEqual:
      return value(formula.terms[0]) == value(formula.terms[1]) ? Truth::kTrue : Truth::kNever;
    case Kind::kNotEqual:
      return value(formula.terms[0]) != value(formula.terms[1]) ? Truth::kTrue : Truth::kNever;
    case Kind::kAnd:
      for (const std::size_t child : formula.children) {
        const Truth truth = evaluate(child);
        if (truth != Truth::kTrue) return truth;
      }
      return Truth::kTrue;
    case Kind::kOr: {
      const std::size_t mark = watches_.size();
      Truth result = Truth::kNever;
      for (const std::size_t child : formula.children) {
        const Truth truth = evaluate(child);
        if (truth == Truth::kTrue) {
          watches_.resize(mark);
          return truth;
        }
        if (truth == Truth::kNotYet) result = truth;
      }
      return result;
    }
    case Kind::kForall:
    case Kind::kExists:
      return evaluate_quantifier(formula);
  }
  return Truth::kNever;
}

Reachability::Truth Reachability::evaluate_quantifier(const Formula& formula) {
  const bool universal = formula.kind == Kind::kForall;
  const std::size_t mark = watches_.size();
  Truth result = universal ? Truth::kTrue : Truth::kNever;
  // Bindings that fail a guard cannot change the result.
  walk(completing_, formula.steps, formula.body, slot_types_[completing_], [&] {
    const Truth truth = evaluate(formula.children[0]);
    if (truth == (universal ? Truth::kTrue : Truth::kNever)) return false;
    result = truth;
    if (!universal && truth == Truth::kTrue) watches_.resize(mark);
    return universal || truth == Truth::kTrue;
  });
  ASNETS_ASSERT(result != Truth::kNotYet || watches_.size() > mark);
  return result;
}

void Reachability::wait(std::size_t rule) {
  ASNETS_ASSERT(!watches_.empty());
  const auto id = static_cast<std::uint32_t>(pending_.size());
  pending_.push_back(
      {rule, {env_.begin(), env_.begin() + static_cast<std::ptrdiff_t>(rules_[rule].types.size())}});
  num_waiting_ += watches_.size();
  if (num_waiting_ > max_waiting_) throw GroundingLimit(rule, -2);
  for (const Watch& watch : watches_) {
    RelationData& relation = relations_[watch.relation];
    if (relation.watched.insert(watch.tuple.data())) relation.watchers.emplace_back();
    relation.watchers[relation.watched.find(watch.tuple.data())].push_back(id);
  }
}

void Reachability::wake(std::size_t relation, const std::int32_t* tuple) {
  const std::size_t index = relations_[relation].watched.find(tuple);
  if (index == Relation::npos) return;
  const std::vector<std::uint32_t> waiting = std::exchange(relations_[relation].watchers[index], {});
  num_waiting_ -= waiting.size();
  for (const std::uint32_t id : waiting) {
    // Taken out: a binding that waits for several facts is looked at once for the first of them, and waits anew.
    const std::vector<std::int32_t> values = std::exchange(pending_[id].values, {});
    const std::size_t rule = pending_[id].rule;
    if (rule == Relation::npos) continue;
    pending_[id].rule = Relation::npos;
    std::copy(values.begin(), values.end(), env_.begin());
    complete(rule);
  }
}

}  // namespace asnets
