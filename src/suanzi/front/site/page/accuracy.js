const A = DATA.accuracy;
const ROWS = A.subjects.map((subject, i) => subject.rows.map(list => ({ ...Object.fromEntries(A.columns.map((name, j) => [name, list[j] ?? 0])), of: i }))).flat();
const MEASURES = {
  worst: row => row.worst, mean: row => row.mean, half: row => 100 * row.not_correctly_rounded / row.count,
  one: row => 100 * row.above_one / row.count, special: row => row.wrong_special, flushed: row => row.flushed,
  order: row => row.out_of_order, symmetry: row => row.asymmetric,
};
// What begins each colour: errors in ULP, shares in per cent, counts.
const STEPS = { worst: [0.5, 0.55, 1, 2, 4, 16], mean: [0.26, 0.3, 0.4, 0.5, 1, 4], half: [0, 0.1, 1, 5, 20, 50], one: [0, 0.1, 1, 5, 20, 50] };
const COUNTS = [0, 1, 10, 100, 1000, 10000];
const keyOf = i => A.subjects[i].key;
const titleOf = subject => `${subject.title} ${subject.version}${subject.on ? `, ${subject.on}` : ""}`;

const accuracyPart = {
  dtypes: [...new Set(ROWS.map(row => row.dtype))],
  dtype() { return this.dtypes.includes(state.dtype) ? state.dtype : this.dtypes.includes("float32") ? "float32" : this.dtypes[0]; },
  measure: () => (state.measure in MEASURES ? state.measure : "worst"),
  tone(value, measure) { return (STEPS[measure] ?? COUNTS).filter(step => value > step + 1e-9).length; },

  setUp() {
    $("atlas-form").addEventListener("submit", event => event.preventDefault());
    $("atlas-dtype").addEventListener("change", event => change({ dtype: event.target.value, show: "" }));
    $("atlas-measure").addEventListener("change", event => change({ measure: event.target.value, sort: "" }));
    $("atlas-find").addEventListener("input", event => change({ find: event.target.value.trim() }));
  },

  render() {
    if (!ROWS.length) { $("atlas").replaceChildren(el("p", { class: "why" }, t("no_atlas"))); return; }
    options($("atlas-dtype"), this.dtypes.map(one => [one, one]), this.dtype());
    options($("atlas-measure"), Object.keys(MEASURES).map(one => [one, t(`m_${one}`)]), this.measure());
    if ($("atlas-find").value.trim() !== state.find) $("atlas-find").value = state.find;
    this.renderLegend();
    this.renderTable();
    this.renderDetail();
  },

  renderLegend() {
    const steps = STEPS[this.measure()] ?? COUNTS;
    const word = i => (i === 0 ? `≤ ${steps[0]}` : i === steps.length ? `> ${steps.at(-1)}` : `≤ ${steps[i]}`);
    $("atlas-legend").replaceChildren(...[...steps, 0].map((_, i) => el("span", { class: `key heat h${i}` }, word(i))));
  },

  renderTable() {
    const dtype = this.dtype(), measure = this.measure(), value = MEASURES[measure];
    const rows = ROWS.filter(row => row.dtype === dtype);
    const subjects = A.subjects.map((_, i) => i).filter(i => rows.some(row => row.of === i && !row.missing));
    const at = new Map(rows.map(row => [`${row.function} ${row.of}`, row]));
    const names = [...new Set(rows.filter(row => !row.missing).map(row => row.function))].filter(name => name.includes(state.find.toLowerCase()));
    const [key, down] = [state.sort.replace(/^-/, ""), state.sort.startsWith("-")];
    if (key === "name") names.sort();
    else if (subjects.some(i => keyOf(i) === key)) {
      const of = name => { const row = at.get(`${name} ${subjects.find(i => keyOf(i) === key)}`); return row && !row.missing ? value(row) : -1; };
      names.sort((a, b) => of(a) - of(b));
    }
    if (down) names.reverse();
    const sorter = (name, text) => el("th", { scope: "col", "aria-sort": key === name ? (down ? "descending" : "ascending") : "none" },
      el("button", { type: "button", class: "sort", title: t("sort_by", text), "data-sort": name, onclick: () => {
        change({ sort: key === name && down ? name : key === name || name === "name" ? (key === name ? `-${name}` : name) : `-${name}` });
        $("atlas").querySelector(`[data-sort="${name}"]`)?.focus();
      } }, text, el("span", { "aria-hidden": "true" }, key === name ? (down ? " ▾" : " ▴") : "")));
    const cell = (name, i) => {
      const row = at.get(`${name} ${i}`);
      if (!row || row.missing) return el("td", { class: "n zero", title: row ? row.missing : t("not_measured") }, "–");
      const id = `${name},${dtype},${keyOf(i)}`, marks = [row.wrong_special ? "s" : "", row.flushed ? "f" : ""].join("");
      return el("td", { class: `n heat h${this.tone(value(row), measure)}` }, el("button", { type: "button", class: "cell", "data-show": id,
        "aria-expanded": String(state.show === id), "aria-label": t("errors_of", name, dtype, titleOf(A.subjects[i])) + `: ${this.number(value(row), measure)}`,
        onclick: () => { change({ show: state.show === id ? "" : id }); if (state.show) $("atlas-detail").focus(); } },
        this.number(value(row), measure), marks && measure === "worst" ? el("sup", {}, marks) : null));
    };
    const head = [sorter("name", t("function")), ...subjects.map(i => sorter(keyOf(i), titleOf(A.subjects[i])))];
    $("atlas").replaceChildren(scroll(t("accuracy"), el("table", { class: "atlas" }, el("thead", {}, el("tr", {}, head)),
      el("tbody", {}, names.map(name => el("tr", {}, el("th", { scope: "row" }, code(name)), subjects.map(i => cell(name, i))))))));
  },

  number: (value, measure) => (measure === "worst" && value > 0.5 && value < 0.501 ? String(Number(value.toPrecision(5))) : few(value)),

  renderDetail() {
    const [name, dtype, of] = state.show.split(",");
    const row = ROWS.find(one => one.function === name && one.dtype === dtype && keyOf(one.of) === of && !one.missing);
    const box = $("atlas-detail");
    box.hidden = !row;
    if (!row) { box.replaceChildren(); return; }
    const subject = A.subjects[row.of], fact = (key, ...shown) => el("div", {}, el("dt", {}, t(key)), el("dd", {}, ...shown));
    const title = t("errors_of", name, dtype, titleOf(subject));
    box.setAttribute("aria-label", title);
    const coverage = { all: "arguments_all", search: "arguments_search", pairs: "arguments_pairs", samples: "arguments_samples" }[row.arguments] ?? "arguments_search";
    const facts = [
      fact("m_worst", this.number(row.worst, "worst")), row.worst_at ? fact("worst_input", code(row.worst_at)) : null,
      row.worst_found ? fact("worst_result", code(row.worst_found)) : null, fact("m_mean", few(row.mean)),
      fact("m_half", few(MEASURES.half(row))), fact("m_one", few(MEASURES.one(row))), fact("arguments", t(coverage, row.count.toLocaleString("en"))),
      row.wrong_special ? fact("m_special", String(row.wrong_special), row.wrong_special_at ? ` (${t("special_at")} ${row.wrong_special_at})` : "") : null,
      row.flushed ? fact("m_flushed", String(row.flushed)) : null, row.out_of_order ? fact("m_order", String(row.out_of_order)) : null,
      row.asymmetric ? fact("m_symmetry", String(row.asymmetric)) : null, fact("machine", subject.machine), fact("measured_on", subject.measured),
    ];
    const peers = ROWS.filter(one => one.function === name && one.dtype === dtype && !one.missing);
    box.replaceChildren(el("div", { class: "detail-head" }, el("h3", {}, title), el("button", { type: "button", id: "close-detail", onclick: () => {
        const id = state.show; change({ show: "" }); $("atlas").querySelector(`[data-show="${id}"]`)?.focus(); } }, t("close"))),
      el("dl", { class: "facts" }, facts), program(`${subject.command} --op ${name} --dtype ${dtype}`),
      el("div", { class: "pictures" }, this.picture("histogram", this.histogram(row, subject.edges)),
        this.picture("curves", this.curves(peers, row.of), peers.map(one => titleOf(A.subjects[one.of]))), row.curve ? this.picture("by_length", this.lengths(row), [...new Set(row.curve.map(([, c]) => c))].map(c => `${t("condition")} ${few(c)}`)) : null));
  },

  picture: (key, drawing, names = []) => el("figure", {}, el("figcaption", {}, t(key)), drawing,
    names.length ? el("p", { class: "legend" }, names.map((one, i) => el("span", { class: `key line c${i % 8}` }, one))) : null),

  frame(title, children, width = 420, height = 210) {
    return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title, class: "chart" }, svg("title", {}, title), children);
  },

  // Bars on a logarithmic axis of counts, an empty one where there is none.
  histogram(row, edges) {
    const counts = [...edges, 0].map((_, i) => (row.histogram ? row.histogram[i] ?? 0 : 0)), total = counts.reduce((a, b) => a + b, 0) || 1;
    const top = Math.log10(total + 1), left = 44, width = 420 - left - 6, step = width / counts.length, height = 150, base = 160;
    const word = i => (i === 0 ? `≤ ${edges[0]}` : i === counts.length - 1 ? `> ${edges.at(-1)}` : `${edges[i - 1]} – ${edges[i]}`);
    const ticks = [];
    for (let power = 0; power <= top; power += Math.max(1, Math.round(top / 4))) {
      const y = base - height * Math.log10(10 ** power + 1) / top;
      ticks.push(svg("line", { x1: left, x2: 414, y1: y, y2: y, class: "rule" }), svg("text", { x: left - 4, y: y + 4, class: "end" }, power ? `10${"⁰¹²³⁴⁵⁶⁷⁸⁹"[power] ?? `^${power}`}` : "1"));
    }
    const bars = counts.map((n, i) => {
      const tall = n ? Math.max(1.5, height * Math.log10(n + 1) / top) : 0;
      return svg("rect", { x: left + i * step + 1, y: base - tall, width: step - 2, height: tall, class: `bar-${this.tone(i ? edges[i - 1] + 1e-6 : 0, "worst")}` }, svg("title", {}, `${word(i)}: ${n.toLocaleString("en")}`));
    });
    const labels = edges.map((edge, i) => (i % 2 ? [] : svg("text", { x: left + (i + 1) * step, y: base + 14, class: "middle" }, String(edge))));
    return this.frame(t("histogram"), [...ticks, ...bars, svg("line", { x1: left, x2: 414, y1: base, y2: base, class: "axis" }), ...labels.flat(), svg("text", { x: 229, y: 200, class: "middle" }, t("ulp"))]);
  },

  // Of every backend, which share of results is off by more, over the edges of the histogram.
  curves(peers, chosen) {
    const left = 44, width = 420 - left - 22, base = 160, height = 150, lowest = -6;
    const edges = A.subjects[chosen].edges, x = i => left + width * i / (edges.length - 1);
    const y = share => base - height * (1 - Math.max(lowest, Math.log10(share)) / lowest);
    const ticks = [0, -2, -4, -6].map(power => [svg("line", { x1: left, x2: left + width, y1: y(10 ** power), y2: y(10 ** power), class: "rule" }),
      svg("text", { x: left - 4, y: y(10 ** power) + 4, class: "end" }, ["100 %", "", "1 %", "", "0.01 %", "", "1 ppm"][-power])]);
    const lines = peers.map((row, i) => {
      const counts = edges.map((_, j) => (row.histogram ? row.histogram.slice(j + 1).reduce((a, b) => a + b, 0) : 0));
      const points = counts.map((n, j) => [x(j), n ? y(n / row.count) : null]);
      const drawn = points.filter(([, at]) => at !== null).map(([a, b]) => `${a.toFixed(1)},${b.toFixed(1)}`);
      if (!drawn.length) return svg("circle", { cx: x(0), cy: base, r: 3.5, class: `line c${i % 8}` }, svg("title", {}, titleOf(A.subjects[row.of])));
      const end = points.findIndex(([, at]) => at === null);
      if (end > 0) drawn.push(`${x(end).toFixed(1)},${base}`);
      return svg("polyline", { points: drawn.join(" "), class: `line c${i % 8}${row.of === chosen ? " chosen" : ""}` }, svg("title", {}, titleOf(A.subjects[row.of])));
    });
    const labels = edges.map((edge, i) => (i % 2 ? [] : svg("text", { x: x(i), y: base + 14, class: "middle" }, String(edge))));
    return this.frame(t("curves"), [...ticks.flat(), svg("line", { x1: left, x2: left + width, y1: base, y2: base, class: "axis" }), ...lines, ...labels.flat(), svg("text", { x: 229, y: 200, class: "middle" }, t("ulp"))]);
  },

  // The worst error against the length, a line for each condition.
  lengths(row) {
    const left = 44, width = 360, base = 160, height = 150;
    const xs = [...new Set(row.curve.map(([n]) => n))].sort((a, b) => a - b), conditions = [...new Set(row.curve.map(([, c]) => c))];
    const logs = row.curve.map(([, , e]) => Math.log10(Math.max(e, 1e-3))), low = Math.floor(Math.min(...logs)), high = Math.ceil(Math.max(...logs, low + 1));
    const x = n => left + width * xs.indexOf(n) / Math.max(1, xs.length - 1), y = e => base - height * (Math.log10(Math.max(e, 1e-3)) - low) / (high - low);
    const ticks = [...Array(high - low + 1).keys()].map(i => [svg("line", { x1: left, x2: left + width, y1: y(10 ** (low + i)), y2: y(10 ** (low + i)), class: "rule" }), svg("text", { x: left - 4, y: y(10 ** (low + i)) + 4, class: "end" }, few(10 ** (low + i)))]);
    const lines = conditions.map((c, i) => svg("polyline", { class: `line c${i % 8}`, points: row.curve.filter(([, of]) => of === c).map(([n, , e]) => `${x(n)},${y(e)}`).join(" ") }, svg("title", {}, String(c))));
    return this.frame(t("by_length"), [...ticks.flat(), ...lines, ...xs.map(n => svg("text", { x: x(n), y: base + 14, class: "middle" }, String(n))), svg("text", { x: 229, y: 200, class: "middle" }, t("length"))]);
  },
};
