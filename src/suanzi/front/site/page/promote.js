// Operands to an answer, from the tables of the engine, layer by layer in its order.
// An operand is {role: "tensor" | "zero" | "number", dtype, kind, number}; dtypes are indices.
function promoter(data) {
  const { dtypes, losses, numbers, reasons } = data;
  const name = d => dtypes[d][0], kindOf = d => dtypes[d][1], bits = d => dtypes[d][2];
  const KINDS = ["bool", "int", "float", "complex"];
  const rank = kind => KINDS.indexOf(kind === "uint" ? "int" : kind);
  const contains = (outer, inner) => losses[inner][outer] === null;
  const layerNames = Object.keys(data.layers);
  const classes = Object.fromEntries(data.operators.map(group => [group.title, group]));
  const boolean = dtypes.findIndex(([one]) => one === "bool");
  const float64 = dtypes.findIndex(([one]) => one === "float64");
  const complex128 = dtypes.findIndex(([one]) => one === "complex128");
  class Refused extends Error {}

  const show = o =>
    o.role === "number" ? (o.number === undefined ? `a Python ${o.kind}` : numbers[o.number].shown)
      : (o.role === "zero" ? "0-d " : "") + name(o.dtype);
  const key = o => `${o.role}/${o.dtype}/${o.kind}/${o.number}`;
  const distinct = operands => [...new Map(operands.map(o => [key(o), o])).values()];
  const sorted = ds => [...new Set(ds)].sort((a, b) => a - b);
  const pairsOf = list => list.flatMap((a, i) => list.slice(i + 1).map(b => [a, b]));

  const scopes = new Map();
  function scopeOf(rules, op) {
    const found = rules.by_operator[op.name] ?? rules.by_operator[op.of], id = `${rules.name} ${found}`;
    if (!scopes.has(id)) scopes.set(id, readScope(rules, found));
    return scopes.get(id);
  }
  function readScope(rules, found) {
    const [pairs, gate, zero, number, last, of, first] = rules.scopes[found];
    const table = i => (i < 0 ? null : rules.tables[i]);
    const place = new Map(rules.dtypes.map((d, i) => [d, i]));
    return { pairs: table(pairs), gate: table(gate), zero: table(zero), number: table(number),
             last: table(last), of, first, place, width: rules.dtypes.length };
  }

  function reason(text, rules, op, parts) {
    return text.replace(/\{(op|[abcABC])\}/g, (_, mark) => {
      if (mark === "op") return op.name || op.of;
      const d = parts[mark.toLowerCase().charCodeAt(0) - 97];
      return mark < "a" ? rules.names[d] : name(d);
    });
  }

  function answer(operands, rules, op) {
    const scope = scopeOf(rules, op), steps = [];
    const take = (layer, dtype, text) => {
      steps.push({ layer, dtype, text });
      if (dtype === null) throw new Refused();
      return dtype;
    };
    const cell = (layer, table, at, parts) => {
      const dtype = table[2 * at] ? table[2 * at] - 1 : null;
      return take(layer, dtype, reason(reasons[table[2 * at + 1]], rules, op, [...parts, dtype]));
    };
    const at = (a, b) => scope.place.get(a) * scope.width + scope.place.get(b);
    const pairDtype = (a, b) => scope.pairs[2 * at(a, b)] - 1;
    const absorbs = (outer, inner) => outer === inner || pairDtype(outer, inner) === outer;

    function leastAbove(ds) {
      const names = ds.map(name).join(", ");
      const common = rules.dtypes.filter(d => ds.every(x => absorbs(d, x)));
      const least = common.find(d => common.every(x => absorbs(x, d)));
      if (least !== undefined) return take("SEVERAL", least, `${name(least)} is the least dtype that absorbs ${names}`);
      const closure = new Set(ds);
      for (;;) {
        const more = pairsOf([...closure]).map(([a, b]) => pairDtype(a, b)).filter(d => d >= 0 && !closure.has(d));
        if (!more.length) break;
        more.forEach(d => closure.add(d));
      }
      const top = [...closure].find(d => [...closure].every(x => absorbs(d, x)));
      if (top !== undefined) return take("SEVERAL", top, `${name(top)} absorbs ${names} and the answers of their pairs`);
      return take("SEVERAL", null, `no one dtype absorbs ${names}`);
    }

    function joinDtypes(ds, gated) {
      if (ds.length < 2) {
        if (!ds.length) return null;
        const [d] = ds, known = rules.dtypes.includes(d);
        return take("EQUAL", d, `${name(d)} needs no promotion${known ? "" : `, though ${rules.title} has no rule for it`}`);
      }
      let found = null;
      for (const [a, b] of pairsOf(ds)) {
        if (gated && scope.gate && scope.gate[2 * at(a, b) + 1] >= 0) cell("GATE", scope.gate, at(a, b), [a, b]);
        found = cell(rules.layer, scope.pairs, at(a, b), [a, b]);
      }
      return ds.length === 2 ? found : leastAbove(ds);
    }

    function join(list) {
      const of = role => sorted(list.filter(o => o.role === role).map(o => o.dtype));
      const tensors = of("tensor"), zeros = of("zero"), given = list.filter(o => o.role === "number");
      const all = sorted([...tensors, ...zeros]);
      const unknown = all.find(d => !rules.dtypes.includes(d));
      if (unknown !== undefined && all.length > 1) take("UNKNOWN", null, `${rules.title} has no rule for ${name(unknown)}`);
      if (scope.first && list[0].role !== "number") return take("GATE", list[0].dtype, "the result has the dtype of the first operand");
      if (needsNoCommon(list)) return take("EXACT", boolean, "compared exactly, value by value; nothing is converted");
      if (rules.join && (given.length || all.length > 1)) {
        const [dtype, text] = joinAll(list);
        return take("RULE", dtype, text);
      }
      if (all.length > 1 && rules.unknown.includes(op.name)) return unanswered();
      const joined = joinTensors(tensors, zeros, all);
      return given.length ? joinNumbers(joined, given) : joined;
    }

    function unanswered() { const error = new Error("not known"); error.unknown = true; throw error; }

    function joinTensors(tensors, zeros, all) {
      if (!scope.zero) return joinDtypes(all, true);
      const dim = joinDtypes(tensors, true), zero = joinDtypes(zeros, false);
      if (dim === null || zero === null || dim === zero) return dim ?? zero;
      return cell("ZERO_DIM", scope.zero, at(dim, zero), [dim, zero]);
    }

    function joinNumbers(joined, given) {
      const kind = KINDS[Math.max(...given.map(o => rank(o.kind)))];
      if (joined === null) {
        const alone = rules.alone[kind] ?? null;
        return take("NUMBER", alone, `a Python ${kind} on its own is ${alone === null ? "refused" : name(alone)}`);
      }
      const found = cell("NUMBER", scope.number, joined * 4 + KINDS.indexOf(kind), [joined]);
      if (rules.checked && rules.dtypes.includes(joined) && ["int", "uint"].includes(kindOf(found))) {
        for (const o of given) {
          if (o.number !== undefined && numbers[o.number].held.length && !numbers[o.number].held[found]) {
            take("NUMBER", null, `${name(found)} does not hold ${show(o)}`);
          }
        }
      }
      return found;
    }

    // The smallest dtype that holds every value, as suanzi.promote.lossless has it.
    function joinAll(list) {
      const some = list.filter(o => o.role !== "number").map(o => o.dtype), values = [];
      for (const o of list.filter(one => one.role === "number")) {
        if (o.number !== undefined) { values.push(o); continue; }
        if (o.kind === "int") return [null, "no dtype holds every Python int; where its value is known, one may"];
        some.push({ bool: boolean, float: float64, complex: complex128 }[o.kind]);
      }
      const lost = (o, d) => numbers[o.number].losses[d] !== null;
      if (!some.length) {
        const kind = KINDS[Math.max(...list.map(o => rank(o.kind)))];
        const alone = rules.alone[kind];
        if (values.every(o => !lost(o, alone))) some.push(alone);
      }
      const names = [...new Set(some)].map(d => `every ${name(d)}`).concat(values.map(show)).join(" and ");
      const ranks = [...some.map(d => rank(kindOf(d))), ...values.map(o => rank(o.kind))];
      const least = Math.max(0, ...ranks);
      const fitting = dtypes.map((_, d) => d).filter(d =>
        rank(kindOf(d)) >= least && some.every(x => contains(d, x)) && values.every(o => !lost(o, d)));
      const order = d => some.length ? [bits(d), rank(kindOf(d)), -dtypes[d][3]] : [rank(kindOf(d)), bits(d), -dtypes[d][3]];
      const found = best(fitting, order);
      return found === null ? [null, `no dtype holds ${names}`] : [found, `the smallest dtype that holds ${names}`];
    }

    function needsNoCommon(list) {
      if (rules.exact === "never" || !classes[scope.of].bool) return false;
      const kinds = list.map(o => (o.role === "number" ? o.kind : kindOf(o.dtype)));
      if (rules.join && kinds.every(k => k !== "complex")) return joinAll(list)[0] === null;
      if (scope.of !== "comparison" || !kinds.every(k => ["bool", "int", "uint"].includes(k))) return false;
      const tried = answer(list, rules, { name: "", of: "any" }).dtype;
      return tried === null || kindOf(tried) === "float";
    }

    function finish(d) {
      if (!scope.last || scope.last[3 * d + 1] < 0) return d;
      const [dtype, why, layer] = scope.last.slice(3 * d, 3 * d + 3);
      const found = dtype ? dtype - 1 : null;
      return take(layerNames[layer], found, reason(reasons[why], rules, op, [d, found]));
    }

    function prepared() {
      const list = operands.map(o => {
        if (o.role === "number" || !(o.dtype in rules.made)) return o;
        const made = rules.made[o.dtype];
        take("MADE", made, `${rules.title} has no ${name(o.dtype)} and makes ${name(made)} of it`);
        return { role: o.role, dtype: made };
      });
      if (!rules.zero) return list;
      return list.map(o => {
        if (o.role !== "number") return o;
        const constant = rules.alone[o.kind] ?? null;
        take("NUMBER", constant, `a Python ${o.kind} is ${constant === null ? "refused" : `a 0-d ${name(constant)}`}`);
        return { role: "zero", dtype: constant };
      });
    }

    let dtype = null, known = true;
    try { dtype = finish(join(prepared())); } catch (error) {
      if (error.unknown) known = false;
      else if (!(error instanceof Refused)) throw error;
    }
    return { operands, rules, op, dtype, steps, known, of: scope.of };
  }

  // The first of a list whose order, a list of numbers, is the least; null of an empty one.
  function best(list, order) {
    let found = null, least = null;
    for (const one of list) {
      const its = order(one);
      const i = least === null ? 0 : its.findIndex((x, j) => x !== least[j]);
      if (least === null || (i >= 0 && its[i] < least[i])) { found = one; least = its; }
    }
    return found;
  }

  function decisions(found) {
    const some = found.steps.filter(step => step.layer !== "EQUAL");
    return some.length ? some : found.steps.slice(-1);
  }

  function output(found) {
    if (found.dtype === null) return null;
    if (classes[found.of].bool) return boolean;
    if (found.op.name !== "abs" || kindOf(found.dtype) !== "complex") return found.dtype;
    return dtypes.findIndex(([one]) => one === `float${bits(found.dtype) / 2}`);
  }

  function source(found) {
    const { rules } = found, layer = decisions(found).at(-1).layer;
    if (layer in data.ours) return `suanzi: ${data.ours[layer]}`;
    if (layer === "FLOAT" && !("float" in rules.sources)) return `T/AI 131.1-2025: floating-point only; the default float of ${rules.title}`;
    return `${rules.title} (${rules.version}): ${rules.sources[data.sources[layer] ?? ""] ?? rules.source}`;
  }

  // What an operand loses on its way through dtypes: {source, magnitude, pairs, kept}; null: nothing.
  function lossOf(o, path) {
    if (o.role === "number") {
      if (o.number === undefined) return null;
      const lost = path.map(d => numbers[o.number].losses[d]).find(one => one !== null);
      return lost ? { source: null, magnitude: lost[0], pairs: lost[1], kept: "" } : null;
    }
    const lost = path.map(d => losses[o.dtype][d]).filter(one => one !== null);
    const least = best(lost, one => [one[0]]);
    return least && { source: o.dtype, magnitude: least[0], pairs: least[1], kept: least[2] };
  }

  const words = lost => {
    const [a, b, c, d] = lost.pairs;
    return `${a} becomes ${b}` + (c === undefined ? "" : `, ${c} becomes ${d}`);
  };

  function lossesOf(found) {
    if (found.dtype === null || decisions(found).at(-1).layer === "EXACT") return [];
    return distinct(found.operands).map(o => lossOf(o, [found.dtype])).filter(one => one !== null);
  }

  // True: nothing is lost; false: something is; null: it depends on the values.
  function exact(found) {
    if (found.dtype === null || lossesOf(found).length) return false;
    if (decisions(found).at(-1).layer === "EXACT") return true;
    return found.operands.some(o => o.role === "number" && o.number === undefined && o.kind !== "bool") ? null : true;
  }

  function fix(found) {
    const lost = lossesOf(found), { rules } = found;
    if (!found.known || (found.dtype !== null && !lost.length)) return null;
    const tensors = distinct(found.operands.filter(o => o.role !== "number"));
    const given = tensors.length ? distinct(found.operands.filter(o => o.number !== undefined)) : [];
    const losing = new Set(lost.map(one => one.source));
    const least = Math.min(8, ...tensors.map(o => bits(o.dtype)));
    const isComplex = o => (o.role === "number" ? o.number !== undefined && o.kind === "complex" : kindOf(o.dtype) === "complex");
    const toComplex = found.operands.some(isComplex);
    const targets = rules.dtypes.filter(d => bits(d) >= least && !rules.no_casts.includes(d) && (toComplex || kindOf(d) !== "complex"));
    const options = [];
    for (const group of [...[...tensors, ...given].map(o => [o]), tensors]) {
      for (const target of targets) {
        const cast = group.filter(o => o.dtype !== target), casts = new Set(cast.map(key));
        if (!cast.length) continue;
        const result = answer(found.operands.map(o => casts.has(key(o))
          ? { role: o.role === "number" ? "zero" : o.role, dtype: target } : o), rules, found.op).dtype;
        if (result === null) continue;
        const still = distinct(found.operands).map(o => lossOf(o, casts.has(key(o)) ? [target, result] : [result])).filter(one => one !== null);
        const order = [
          -Math.min(Infinity, ...still.map(one => one.magnitude)), cast[0].role === "number" ? 1 : 0,
          cast.some(o => losing.has(o.role === "number" ? null : o.dtype)) ? 0 : 1,
          rank(kindOf(result)), bits(result), cast.length, target === result ? 0 : 1, bits(target),
        ];
        options.push({ order, cast, casts, target, result, still });
      }
    }
    const chosen = best(options, one => one.order);
    const now = lost.length ? -Math.min(...lost.map(one => one.magnitude)) : -1;
    if (chosen !== null && chosen.order[0] < now) return inWords(found, chosen);
    return lost.length ? staySmall(lost) : null;
  }

  function inWords(found, { cast, casts, target, result, still }) {
    const [first] = cast, times = found.operands.filter(o => casts.has(key(o))).length;
    let who = `the ${show(first)} operand${times > 1 ? "s" : ""}`;
    if (cast.length > 1) {
      who = found.operands.length === 2 ? "both operands" : "all operands";
      if (distinct(found.operands).length > cast.length) who = `the ${cast.map(show).join(" and ")} operands`;
    }
    let text = first.role !== "number" ? `cast ${who} to ${name(target)}` : `give ${show(first)} as a tensor of ${name(target)}`;
    if (result !== target) text += `, and the result is ${name(result)}`;
    if (still.length) text += `, though ${words(still[0])}`;
    const names = times === 1 ? ["x"] : [...Array(times).keys()].map(i => `x${i + 1}`);
    const code = names.map(x => found.rules.casts[target].replaceAll("{x}", x)).join("; ");
    return { text, code: first.role === "number" ? "" : code };
  }

  function staySmall(lost) {
    if (lost.some(one => one.source === null || !one.kept)) return null;
    const bounds = lost.map(one => `${name(one.source)} stays within ${kindOf(one.source) === "uint" ? "" : "±"}${one.kept}`);
    return { text: `no cast makes it exact: no dtype here holds every value; nothing is lost while ${bounds.join(" and ")}`, code: "" };
  }

  // The cast after which a rule set gives the dtype of another one; null where it does, or none helps.
  function fixKeeping(found, like) {
    const wanted = answer(found.operands, like, found.op), { rules } = found, target = wanted.dtype;
    if (!wanted.known || target === null || found.dtype === target || decisions(wanted).at(-1).layer === "EXACT") return null;
    if (!rules.dtypes.includes(target) || rules.no_casts.includes(target)) return null;
    for (const cast of choices(distinct(found.operands))) {
      const casts = new Set(cast.map(key));
      const operands = found.operands.map(o => casts.has(key(o)) ? { role: o.role === "number" ? "zero" : o.role, dtype: target } : o);
      if (answer(operands, rules, found.op).dtype === target) return keepingInWords(found, wanted, cast, casts);
    }
    return null;
  }

  // Which operands to cast, what is cheapest and least in the way first.
  function choices(kinds) {
    const sizes = kinds.length <= 4 ? kinds.map((_, i) => i + 1) : [1, kinds.length];
    const some = sizes.flatMap(size => combinations(kinds, size));
    const of = (choice, role) => choice.filter(o => o.role === role).length;
    const order = choice => [of(choice, "number"), of(choice, "tensor"), choice.length];
    return some.map((choice, i) => [order(choice), i, choice]).sort(([a, i], [b, j]) => {
      const at = a.findIndex((x, k) => x !== b[k]);
      return at < 0 ? i - j : a[at] - b[at];
    }).map(([, , choice]) => choice);
  }
  const combinations = (list, size) => size === 0 ? [[]]
    : list.flatMap((one, i) => combinations(list.slice(i + 1), size - 1).map(rest => [one, ...rest]));

  function keepingInWords(found, wanted, cast, casts) {
    const target = name(wanted.dtype), tensors = found.operands.filter(o => casts.has(key(o)) && o.role !== "number");
    const parts = [];
    if (tensors.length) {
      const all = tensors.length === found.operands.length && tensors.length > 1;
      const who = all ? (tensors.length === 2 ? "both operands" : "all operands")
        : `the ${distinct(tensors).map(show).join(" and ")} operand${tensors.length > 1 ? "s" : ""}`;
      parts.push(`cast ${who} to ${target}`);
    }
    const given = cast.filter(o => o.role === "number");
    if (given.length) parts.push(`give ${given.map(show).join(" and ")} as ${given.length === 1 ? "a tensor" : "tensors"} of ${target}`);
    let text = `${parts.join(" and ")}: ${target}, as in ${wanted.rules.name}`;
    const sources = new Set(cast.map(o => (o.role === "number" ? null : o.dtype)));
    const lost = lossesOf(wanted).filter(one => sources.has(one.source));
    if (lost.length) text += `; ${words(lost[0])} there, too`;
    const names = tensors.length === 1 ? ["x"] : tensors.map((_, i) => `x${i + 1}`);
    return { text, code: names.map(x => found.rules.casts[wanted.dtype].replaceAll("{x}", x)).join("; ") };
  }

  // An operand as it is typed, as in suanzi.promote.operands; null if it is none.
  function typed(text) {
    const number = numbers.findIndex(one => one.text === text.toLowerCase());
    if (number >= 0) return { role: "number", kind: numbers[number].kind, number };
    if (text.startsWith("py:")) return KINDS.includes(text.slice(3)) ? { role: "number", kind: text.slice(3) } : null;
    const zero = text.startsWith("0d:"), dtype = dtypes.findIndex(([one]) => one === (zero ? text.slice(3) : text));
    return dtype < 0 ? null : { role: zero ? "zero" : "tensor", dtype };
  }

  // An operator as it is typed: its name, or a class.
  function operator(text) {
    if (text in classes && text !== "of models") return { name: "", of: text };
    for (const group of data.operators) {
      if (group.names.some(([one]) => one === text)) return { name: text, of: group.title === "of models" ? "arithmetic" : group.title };
    }
    return null;
  }

  // What keeps the dtype of `like` first, then what loses no values, or least.
  function fixes(found, like) {
    const keeps = like === null ? null : fixKeeping(found, like);
    const lossless = fix(found), same = keeps && lossless && keeps.code === lossless.code && keeps.code !== "";
    return [keeps, same ? null : lossless].filter(one => one !== null);
  }

  function explain(operands, rules, op, like = null) {
    const found = answer(operands, rules, op);
    if (!found.known) return { known: false, rules };
    const last = decisions(found).at(-1), out = output(found);
    return {
      known: true, rules, dtype: found.dtype === null ? null : name(found.dtype),
      output: out === null ? null : name(out), layer: data.layers[last.layer], reason: last.text,
      steps: [...new Set(decisions(found).map(step => `${data.layers[step.layer]}: ${step.text}`))],
      source: source(found), exact: exact(found), fixes: fixes(found, like),
      lost: lossesOf(found).map(one => ({ operand: one.source === null ? "number" : name(one.source), text: words(one) })),
    };
  }

  return { answer, explain, typed, operator, show, name, contains, kindOf };
}
