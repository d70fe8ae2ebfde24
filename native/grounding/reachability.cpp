#include "grounding/reachability.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace asnets {

namespace {

constexpr std::size_t kPollInterval = std::size_t{1} << 18;

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
  formulas_.push_back({Kind::kAtom, relation, 0, std::move(terms), {}, {}, {}});
  return formulas_.size() - 1;
}

std::size_t Reachability::add_negated_atom(std::size_t relation, std::size_t deleted, std::vector<Term> terms) {
  formulas_.push_back({Kind::kNegatedAtom, relation, deleted, std::move(terms), {}, {}, {}});
  return formulas_.size() - 1;
}

std::size_t Reachability::add_equality(Term left, Term right, bool equal) {
  formulas_.push_back({equal ? Kind::kEqual : Kind::kNotEqual, 0, 0, {left, right}, {}, {}, {}});
  return formulas_.size() - 1;
}

std::size_t Reachability::add_connective(bool conjunction, std::vector<std::size_t> children) {
  formulas_.push_back({conjunction ? Kind::kAnd : Kind::kOr, 0, 0, {}, std::move(children), {}, {}});
  return formulas_.size() - 1;
}

std::size_t Reachability::add_quantifier(bool universal, std::vector<std::int32_t> variables,
                                         std::vector<std::size_t> types, std::size_t body) {
  formulas_.push_back(
      {universal ? Kind::kForall : Kind::kExists, 0, 0, {}, {body}, std::move(variables), std::move(types)});
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
double Reachability::estimate(const Rule& rule, const Atom& atom, const std::vector<bool>& bound) const {
  const RelationData& relation = relations_[atom.relation];
  double by_types = 1;
  double by_size = static_cast<double>(relation.tuples.size());
  for (const Term term : atom.terms) {
    if (term >= 0 && !bound[static_cast<std::size_t>(term)]) {
      by_types *= static_cast<double>(types_[rule.types[static_cast<std::size_t>(term)]].members.size());
    } else if (num_objects_ > 0) {
      by_size /= static_cast<double>(num_objects_);
    }
  }
  return relation.dynamic ? by_types : std::min(by_types, by_size);
}

Reachability::Plan Reachability::make_plan(std::size_t rule_index, std::size_t trigger) {
  const Rule& rule = rules_[rule_index];
  Plan plan{rule_index, trigger, {}, {}, {}};
  std::vector<bool> bound(rule.types.size(), false);
  std::vector<bool> used(rule.body.size(), false);
  std::vector<bool> tested(rule.constraints.size(), false);

  const auto bind = [&](const Atom& atom, std::vector<std::int32_t>& binds) {
    for (const Term term : atom.terms) {
      if (term >= 0 && !bound[static_cast<std::size_t>(term)]) {
        bound[static_cast<std::size_t>(term)] = true;
        binds.push_back(term);
      }
    }
  };
  const auto ready_constraints = [&] {
    std::vector<std::size_t> ready;
    for (std::size_t c = 0; c < rule.constraints.size(); ++c) {
      const auto& terms = formulas_[rule.constraints[c]].terms;
      const bool all_bound = std::all_of(terms.begin(), terms.end(), [&](Term term) {
        return term < 0 || bound[static_cast<std::size_t>(term)];
      });
      if (!tested[c] && all_bound) {
        tested[c] = true;
        ready.push_back(rule.constraints[c]);
      }
    }
    return ready;
  };

  if (trigger != Relation::npos) {
    used[trigger] = true;
    bind(rule.body[trigger], plan.trigger_binds);
  }
  plan.trigger_constraints = ready_constraints();
  for (;;) {
    std::size_t best = Relation::npos;
    double best_estimate = std::numeric_limits<double>::infinity();
    for (std::size_t a = 0; a < rule.body.size(); ++a) {
      if (used[a]) continue;
      const double expected = estimate(rule, rule.body[a], bound);
      if (expected < best_estimate) {
        best = a;
        best_estimate = expected;
      }
    }
    if (best == Relation::npos) break;
    const Atom& atom = rule.body[best];
    std::vector<std::uint32_t> columns;
    for (std::size_t c = 0; c < atom.terms.size(); ++c) {
      if (atom.terms[c] < 0 || bound[static_cast<std::size_t>(atom.terms[c])]) {
        columns.push_back(static_cast<std::uint32_t>(c));
      }
    }
    Step step{true, best, 0, columns.size() == atom.terms.size(), 0, {}, {}};
    if (!step.lookup) step.index = index_for(atom.relation, std::move(columns));
    used[best] = true;
    bind(atom, step.binds);
    step.constraints = ready_constraints();
    plan.steps.push_back(std::move(step));
  }
  // What no atom binds runs over its type, small types first.
  std::vector<std::int32_t> free;
  for (std::size_t v = 0; v < bound.size(); ++v) {
    if (!bound[v]) free.push_back(static_cast<std::int32_t>(v));
  }
  std::stable_sort(free.begin(), free.end(), [&](std::int32_t a, std::int32_t b) {
    return types_[rule.types[static_cast<std::size_t>(a)]].members.size() <
           types_[rule.types[static_cast<std::size_t>(b)]].members.size();
  });
  for (const std::int32_t variable : free) {
    bound[static_cast<std::size_t>(variable)] = true;
    Step step{false, 0, 0, false, variable, {variable}, {}};
    step.constraints = ready_constraints();
    plan.steps.push_back(std::move(step));
  }
  return plan;
}

// --- Running ---

void Reachability::run(std::size_t max_steps, std::size_t max_waiting, const std::function<void()>& poll) {
  max_steps_ = max_steps;
  max_waiting_ = max_waiting;
  poll_ = &poll;
  std::size_t slots = 1;
  for (const Rule& rule : rules_) slots = std::max({slots, rule.num_slots, rule.types.size()});
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
  if (++steps_ % kPollInterval == 0) (*poll_)();
  if (steps_ > max_steps_) throw GroundingLimit(rule, -1);
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

bool Reachability::bind_tuple(const Rule& rule, const Atom& atom, const std::int32_t* tuple,
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
    if (term >= 0 &&
        !types_[rule.types[static_cast<std::size_t>(term)]].contains[static_cast<std::size_t>(tuple[c])]) {
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
  if (tuple != nullptr && !bind_tuple(rule, rule.body[plan.trigger], tuple, plan.trigger_binds)) return;
  if (constraints_hold(plan.trigger_constraints)) join(plan);
}

// Backtracking over the steps of a plan, without recursion since a body may be long.
void Reachability::join(const Plan& plan) {
  const Rule& rule = rules_[plan.rule];
  const std::size_t depth_end = plan.steps.size();
  std::vector<std::size_t> cursors(depth_end + 1, 0);
  std::vector<std::int32_t> key;

  const auto open = [&](std::size_t depth) {
    const Step& step = plan.steps[depth];
    cursors[depth] = 0;
    if (!step.is_atom) return;
    const Atom& atom = rule.body[step.atom];
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
    const Step& step = plan.steps[depth];
    if (!step.is_atom) {
      const auto variable = static_cast<std::size_t>(step.variable);
      const auto& members = types_[rule.types[variable]].members;
      while (cursors[depth] < members.size()) {
        tick(plan.rule);
        env_[variable] = members[cursors[depth]++];
        if (constraints_hold(step.constraints)) return true;
      }
      return false;
    }
    if (step.lookup) return std::exchange(cursors[depth], 0) == 1;
    const Atom& atom = rule.body[step.atom];
    while (cursors[depth] != 0) {
      tick(plan.rule);
      const RelationData& relation = relations_[atom.relation];
      const std::size_t tuple = cursors[depth] - 1;
      cursors[depth] = relation.indices[step.index].next(tuple);
      if (bind_tuple(rule, atom, relation.tuples.tuple(tuple), step.binds) && constraints_hold(step.constraints)) {
        return true;
      }
    }
    return false;
  };

  if (depth_end == 0) return complete(plan.rule);
  std::size_t depth = 0;
  open(0);
  for (;;) {
    if (!advance(depth)) {
      if (depth == 0) return;
      --depth;
    } else if (depth + 1 == depth_end) {
      complete(plan.rule);
    } else {
      open(++depth);
    }
  }
}

void Reachability::complete(std::size_t rule_index) {
  completing_ = rule_index;
  for (const std::size_t formula : rules_[rule_index].filter) {
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

void Reachability::fire(std::size_t rule_index) {
  const Rule& rule = rules_[rule_index];
  for (const Atom& head : rule.heads) {
    scratch_.clear();
    instantiate(head.terms, scratch_);
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
  const std::size_t count = formula.variables.size();
  const std::size_t mark = watches_.size();
  Truth result = universal ? Truth::kTrue : Truth::kNever;
  for (const std::size_t type : formula.types) {
    if (types_[type].members.empty()) return result;
  }
  std::vector<std::size_t> odometer(count, 0);
  for (;;) {
    tick(completing_);
    for (std::size_t i = 0; i < count; ++i) {
      env_[static_cast<std::size_t>(formula.variables[i])] = types_[formula.types[i]].members[odometer[i]];
    }
    const Truth truth = evaluate(formula.children[0]);
    if (universal && truth != Truth::kTrue) return truth;
    if (!universal && truth == Truth::kTrue) {
      watches_.resize(mark);
      return truth;
    }
    if (!universal && truth == Truth::kNotYet) result = truth;
    std::size_t i = count;
    while (i > 0 && ++odometer[i - 1] == types_[formula.types[i - 1]].members.size()) odometer[--i] = 0;
    if (i == 0) return result;
  }
}

void Reachability::wait(std::size_t rule) {
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
