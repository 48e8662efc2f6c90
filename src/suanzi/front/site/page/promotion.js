const P = DATA.promotion, engine = promoter(P);
const RULES = Object.fromEntries(P.rules.map(one => [one.name, one]));
const SHORT = name => name.replace("bfloat", "bf").replace("complex", "c").replace("float8_", "").replace("float", "f").replace("uint", "u").replace("int", "i");

const promotionPart = {
  operands: () => state.x.split(",").map(one => (engine.typed(one) ? one : "int32")),
  reference: () => (state.ref in RULES ? state.ref : "torch"),
  chosen: () => (state.rules === "all" ? P.rules.map(one => one.name) : state.rules.split(",").filter(one => one in RULES)),
  operator: () => engine.operator(state.op) ?? engine.operator("add"),

  setUp() {
    $("question").addEventListener("submit", event => event.preventDefault());
    $("operator").addEventListener("change", event => change({ op: event.target.value }));
    $("reference").addEventListener("change", event => change({ ref: event.target.value }));
    $("shape").addEventListener("change", event => change({ shape: event.target.value }));
    $("tables").addEventListener("toggle", () => {
      if ($("tables").open !== Boolean(state.tables)) change({ tables: $("tables").open ? "open" : "" });
    });
    $("all-rules").addEventListener("click", () => change({ rules: "all" }));
    $("no-rules").addEventListener("click", () => change({ rules: "" }));
    $("rules").addEventListener("change", () => {
      const names = [...$("rules").querySelectorAll("input:checked")].map(one => one.value);
      change({ rules: names.length === P.rules.length ? "all" : names.join(",") });
    });
  },

  render() {
    this.renderControls();
    this.renderAnswers();
    $("tables").open = Boolean(state.tables);
    if (state.tables) this.renderTables();
  },

  renderControls() {
    const names = this.operands();
    const focused = document.activeElement?.dataset?.operand;
    $("operands").replaceChildren(...names.map((name, i) => el("span", { class: "operand" },
      this.operandSelect(name, i),
      names.length > 1 ? el("button", { type: "button", class: "quiet", "aria-label": t("remove_operand", i + 1), title: t("remove_operand", i + 1),
        onclick: () => { change({ x: names.filter((_, j) => j !== i).join(",") }); $("operands").querySelector("select").focus(); } }, "×") : null)),
      el("button", { type: "button", id: "add-operand", onclick: () => {
        change({ x: [...names, "float32"].join(",") });
        $("operands").querySelector(`[data-operand="${names.length}"]`).focus();
      } }, `+ ${t("add_operand")}`));
    if (focused !== undefined) $("operands").querySelector(`[data-operand="${focused}"]`)?.focus();
    const op = this.operator(), title = group => t(`class_${group.title.replace(" ", "_")}`);
    options($("operator"), [
      { label: t("classes"), options: P.operators.slice(0, -1).map(one => [one.title, title(one)]) },
      ...P.operators.filter(one => one.names.length).map(one => ({
        label: title(one), options: one.names.map(([name, symbol]) => [name, symbol ? `${name}  ${symbol}` : name]) })),
    ], op.name || op.of);
    options($("reference"), P.rules.map(one => [one.name, `${one.name} (${one.title})`]), this.reference());
    const chosen = new Set(this.chosen());
    if ($("rules").childElementCount !== P.rules.length) {
      $("rules").replaceChildren(...P.rules.map(one => el("label", { class: "check", title: one.source },
        el("input", { type: "checkbox", value: one.name }), el("b", {}, one.name), ` ${one.title} `, el("span", { class: "n" }, one.version))));
    }
    for (const box of $("rules").querySelectorAll("input")) box.checked = chosen.has(box.value);
    $("chosen-count").textContent = `${chosen.size} / ${P.rules.length}`;
    $("shape").value = ["tensor", "zero", "number"].includes(state.shape) ? state.shape : "tensor";
  },

  operandSelect(name, i) {
    const select = el("select", { "data-operand": i, "aria-label": t("operand", i + 1) });
    const dtypes = P.dtypes.map(([one]) => one);
    options(select, [
      { label: t("tensors"), options: dtypes.map(one => [one, one]) },
      { label: t("zero_dims"), options: dtypes.map(one => [`0d:${one}`, `0-d ${one}`]) },
      { label: t("numbers"), options: [...["bool", "int", "float", "complex"].map(one => [`py:${one}`, t("any_number", one)]),
        ...P.numbers.map(one => [one.text, one.shown])] },
    ], name);
    select.addEventListener("change", () => change({ x: this.operands().map((one, j) => (j === i ? select.value : one)).join(",") }));
    return select;
  },

  ask: (names, rules, op, like = null) => engine.explain(names.map(engine.typed), rules, op, like),

  renderAnswers() {
    const names = this.operands(), op = this.operator(), reference = this.reference();
    const chosen = this.chosen(), wanted = this.ask(names, RULES[reference], op);
    const found = chosen.map(one => this.ask(names, RULES[one], op, RULES[reference]));
    const different = one => one.known && wanted.known && one.dtype !== wanted.dtype;
    $("answers-count").textContent = chosen.length
      ? t("answers_count", found.filter(different).length, found.length, reference, found.filter(one => one.known && one.dtype === null).length)
      : t("no_rules");
    const row = one => {
      const tone = !one.known ? "dim" : one.dtype === null ? "bad" : one.exact ? "good" : "warn";
      const dtype = !one.known ? t("unknown") : one.dtype === null ? t("refused")
        : one.output === one.dtype ? one.dtype : t("computed_in", one.output, one.dtype);
      const lost = !one.known || one.dtype === null ? ["–"] : one.lost.length
        ? one.lost.map(({ operand, text }) => el("div", {}, operand === "number" ? tr(text) : t("in_dtype", operand, tr(text))))
        : [one.exact ? t("nothing") : t("depends")];
      const cells = [
        el("th", { scope: "row", "data-rules": one.rules.name }, one.rules.name, el("span", { class: "n version" }, ` ${one.rules.version}`)),
        el("td", { "data-name": t("dtype"), class: "answer" }, chip(dtype, tone), different(one) ? el("span", { class: "differs" }, ` ≠ ${t("differs")}`) : null),
        el("td", { "data-name": t("lost"), class: "lost" }, lost),
        el("td", { "data-name": t("why") }, ...(one.known ? [...one.steps.map(text => {
          const at = text.indexOf(": ");
          return el("div", {}, el("span", { class: "layer" }, tr(text.slice(0, at))), " ", tr(text.slice(at + 2)));
        }), el("details", {}, el("summary", { class: "why" }, t("source")), el("span", { class: "why" }, one.source))] : [t("unknown_why")])),
        el("td", { "data-name": t("fix") }, ...(one.known && one.fixes.length ? one.fixes.map((fix, i) => el("div", { class: "fix" },
          i ? el("span", { class: "layer" }, t("or")) : null, i ? " " : null, tr(fix.text), fix.code ? el("div", {}, code(fix.code)) : null)) : ["–"])),
      ];
      return el("tr", { class: different(one) ? "different" : "" }, cells);
    };
    const head = ["rules", "dtype", "lost", "why", "fix"].map(key => el("th", { scope: "col" }, t(key)));
    $("answers").replaceChildren(...(found.length ? [el("table", { class: "cards" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, found.map(row)))] : []));
  },

  // ---- whole tables

  columns() {
    const dtypes = P.dtypes.map(([one]) => one), shape = $("shape").value;
    if (shape === "number") return ["bool", "int", "float", "complex"].map(one => [`py:${one}`, one]);
    return dtypes.map(one => [shape === "zero" ? `0d:${one}` : one, SHORT(one)]);
  },

  renderTables() {
    const reference = this.reference(), op = this.operator();
    const names = [reference, ...this.chosen().filter(one => one !== reference)];
    $("tables-lead").textContent = t("tables_lead", reference);
    $("cell-reason").textContent = "";
    const rows = P.dtypes.map(([one]) => one), columns = this.columns();
    const ask = (rules, a, b) => engine.answer([engine.typed(a), engine.typed(b)], rules, op);
    const has = (rules, text) => { const o = engine.typed(text); return o.role === "number" || rules.dtypes.includes(o.dtype); };
    const wanted = new Map();
    for (const a of rows) for (const [b] of columns) wanted.set(`${a} ${b}`, ask(RULES[reference], a, b));
    $("whole").replaceChildren(...names.map(name => {
      const rules = RULES[name];
      const both = text => has(rules, text) && has(RULES[reference], text);
      let compared = 0, differing = 0;
      const cells = (a, b) => {
        const found = ask(rules, a, b), there = wanted.get(`${a} ${b}`);
        let mark = "";
        if (!both(a) || !both(b) || !found.known || !there.known) mark = "not_compared";
        else if (found.dtype === null && there.dtype === null) mark = "both_refused";
        else if (found.dtype === null) mark = "only_refused";
        else if (there.dtype === null) mark = "only_accepted";
        else if (found.dtype !== there.dtype) mark = "other_dtype";
        if (mark !== "not_compared") { compared += 1; differing += mark !== "" && mark !== "both_refused"; }
        const outside = !has(rules, a) || !has(rules, b) || !found.known;
        const text = outside ? "" : found.dtype === null ? "✗" : SHORT(engine.name(found.dtype));
        return el("td", { class: mark, "data-a": a, "data-b": b }, text);
      };
      const body = rows.filter(a => has(rules, a) || has(RULES[reference], a)).map(a => el("tr", {}, el("th", { scope: "row" }, SHORT(a)),
        columns.filter(([b]) => has(rules, b) || has(RULES[reference], b)).map(([b]) => cells(a, b))));
      const heads = columns.filter(([b]) => has(rules, b) || has(RULES[reference], b)).map(([, text]) => el("th", { scope: "col" }, text));
      const title = name === reference ? t("reference_mark") : t("table_count", differing, compared);
      const table = el("table", { class: "grid", "data-rules": name }, el("thead", {}, el("tr", {}, el("td", { class: "corner" }), heads)), el("tbody", {}, body));
      table.addEventListener("click", event => {
        const cell = event.target.closest("td[data-a]");
        if (!cell) return;
        const found = this.ask([cell.dataset.a, cell.dataset.b], rules, op);
        const said = found.known ? `${found.dtype ?? t("refused")} — ${found.steps.map(one => tr(one.slice(one.indexOf(": ") + 2))).join("; ")}` : t("unknown_why");
        $("cell-reason").textContent = `${name}: ${engine.show(engine.typed(cell.dataset.a))}, ${engine.show(engine.typed(cell.dataset.b))} → ${said}`;
      });
      return el("figure", {}, el("figcaption", {}, el("b", {}, name), ` ${rules.title} `, el("span", { class: "n" }, title)), scroll(name, table));
    }));
  },
};
