const C = DATA.conformance;
const TONES = { conforms: "good", "known deviations": "warn", partly: "warn", fails: "bad", "not supported": "dim", "not required": "dim",
                tentative: "dim", "extension only": "dim", "not tested": "dim", reached: "good", "not reached": "bad", "not tested in full": "warn" };
const SIGNS = { conforms: "✓", "known deviations": "≈", partly: "◐", fails: "✗", "not supported": "–", "not required": "·", tentative: "?", "extension only": "·", "not tested": "·" };
const scoreTitle = one => `${one.title} ${one.version}${one.device ? `, ${one.device}` : ""}`;

function checkCommand(one) {
  const device = C.scores.find(score => score.name === one.of)?.device;
  const quoted = /^[\w@%+=:,./-]+$/.test(one.case) ? one.case : `'${one.case.replaceAll("'", `'"'"'`)}'`;
  return `suanzi check --backend ${one.of}${device ? ` --device ${device}` : ""} --case ${quoted}`;
}

const conformancePart = {
  setUp() {
    for (const id of ["interfaces-form", "deviations-form"]) $(id).addEventListener("submit", event => event.preventDefault());
    $("category").addEventListener("change", event => change({ category: event.target.value }));
    $("verdict").addEventListener("change", event => change({ verdict: event.target.value }));
    $("minimal").addEventListener("change", event => change({ minimal: event.target.checked ? "yes" : "" }));
    $("deviation-of").addEventListener("change", event => change({ of: event.target.value }));
    $("deviation-op").addEventListener("change", event => change({ interface: event.target.value }));
    $("deviation-find").addEventListener("input", event => change({ text: event.target.value.trim() }));
  },

  render() {
    if (!C.scores.length) { $("levels").replaceChildren(el("p", { class: "why" }, t("no_scores"))); }
    else { this.renderLevels(); this.renderInterfaces(); }
    this.renderDeviations();
  },

  renderLevels() {
    const level = ([title, answer, conforming, known, total]) => el("td", { "data-name": tr(title) }, chip(tr(answer), TONES[answer]),
      el("div", { class: "meter", "aria-hidden": "true" }, el("span", { class: "good", style: `width:${100 * conforming / total}%` }), el("span", { class: "warn", style: `width:${100 * known / total}%` })),
      el("div", { class: "why" }, t("conforming", conforming, known, total)));
    const titles = C.scores[0].levels.map(([title]) => title);
    const rows = C.scores.map(one => el("tr", {}, el("th", { scope: "row" }, scoreTitle(one),
      el("div", { class: "why" }, `${t("run_of", one.cases.toLocaleString("en"))}${one.quick ? `, ${t("quick_run")}` : ""}, ${one.started}`)),
      el("td", { "data-name": t("cases"), class: "answer" }, el("div", {}, `${t("passed")} ${one.passed.toLocaleString("en")}`), el("div", { class: one.failed ? "bad-text" : "" }, `${t("failed")} ${one.failed.toLocaleString("en")}`), el("div", { class: "why" }, `${t("unanswered")} ${one.unanswered.toLocaleString("en")}`)),
      one.levels.slice(0, 3).map(level)));
    const head = [t("framework"), t("cases"), ...titles.slice(0, 3).map(tr)].map(text => el("th", { scope: "col" }, text));
    $("levels").replaceChildren(scroll(t("levels"), el("table", { class: "cards levels" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows))));
  },

  renderInterfaces() {
    const categories = [...new Set(C.interfaces.map(([, , category]) => category))], verdicts = Object.keys(SIGNS);
    options($("category"), [["", t("every")], ...categories.map(one => [one, tr(one)])], categories.includes(state.category) ? state.category : "");
    options($("verdict"), [["", t("every")], ...verdicts.map(one => [one, `${SIGNS[one]} ${tr(one)}`])], verdicts.includes(state.verdict) ? state.verdict : "");
    $("minimal").checked = state.minimal === "yes";
    const verdict = (one, name) => (one.interfaces[name] ?? ["not tested", ""]);
    const shown = C.interfaces.filter(([, name, category, minimal]) => (!$("category").value || category === $("category").value)
      && (!$("minimal").checked || minimal) && (!$("verdict").value || C.scores.some(one => verdict(one, name)[0] === $("verdict").value)));
    $("interfaces-count").textContent = t("of_interfaces", shown.length, C.interfaces.length);
    const cell = (one, name) => {
      const [word, why] = verdict(one, name);
      return el("td", { class: `c verdict ${TONES[word]}${$("verdict").value && word !== $("verdict").value ? " zero" : ""}`, title: `${tr(word)}${why ? `: ${why}` : ""}` },
        el("span", { "aria-hidden": "true" }, SIGNS[word]), el("span", { class: "hidden" }, tr(word)));
    };
    const head = [t("interface"), ...C.scores.map(one => one.title)].map((text, i) => el("th", { scope: "col", class: i ? "c" : "" }, text));
    const rows = shown.map(([clause, name, , minimal]) => el("tr", {}, el("th", { scope: "row" }, code(name), el("span", { class: "n" }, ` ${clause}`)), C.scores.map(one => cell(one, name))));
    const legend = el("p", { class: "legend" }, verdicts.filter(one => C.scores.some(score => Object.values(score.interfaces).some(([word]) => word === one)))
      .map(one => el("span", { class: `verdict ${TONES[one]}` }, `${SIGNS[one]} ${tr(one)}`)));
    $("scoreboard").replaceChildren(legend, el("div", { class: "tall" }, scroll(t("interfaces"), el("table", { class: "marks board" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows)))));
  },

  renderDeviations() {
    const of = [...new Set(C.deviations.map(one => one.of))], names = [...new Set(C.deviations.flatMap(one => one.ops))].sort();
    const title = name => C.scores.find(one => one.name === name)?.title ?? name;
    options($("deviation-of"), [["", t("every")], ...of.map(one => [one, title(one)])], of.includes(state.of) ? state.of : "");
    options($("deviation-op"), [["", t("every")], ...names.map(one => [one, one])], names.includes(state.interface) ? state.interface : "");
    if ($("deviation-find").value.trim() !== state.text) $("deviation-find").value = state.text;
    const text = state.text.toLowerCase();
    const shown = C.deviations.filter(one => (!$("deviation-of").value || one.of === $("deviation-of").value)
      && (!$("deviation-op").value || one.ops.includes($("deviation-op").value)) && (!text || `${one.reason} ${one.problem ?? ""} ${one.ops.join(" ")}`.toLowerCase().includes(text)));
    $("deviations-count").textContent = t("deviations_count", shown.length, C.deviations.length);
    const entry = one => {
      const box = el("details", { class: "deviation" }, el("summary", {}, chip(title(one.of), "warn"), " ", el("span", { lang: "en" }, ...prose(one.reason)),
        one.ops.length ? el("span", { class: "n" }, ` ${one.ops.slice(0, 6).join(", ")}${one.ops.length > 6 ? " …" : ""}`) : null));
      box.addEventListener("toggle", () => {
        if (!box.open || box.childElementCount > 1) return;
        box.append(...[one.cases ? el("p", { class: "why" }, `${t("case_count", one.cases)} `, code(one.case)) : el("p", { class: "why" }, t("not_seen")),
          one.problem ? el("p", { class: "problem" }, `${t("problem")}: ${one.problem}`) : null,
          el("p", { class: "why" }, t("reproduce")), program(checkCommand(one)), one.program ? program(one.program) : null].filter(Boolean));
      });
      return box;
    };
    $("deviations").replaceChildren(...shown.map(entry));
  },
};

// Text with code between backquotes.
const prose = text => text.split("`").map((part, i) => (i % 2 ? code(part) : part));
