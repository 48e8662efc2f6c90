const J = DATA.judge;

const judgePart = {
  setUp() {},
  render() {
    const none = () => el("p", { class: "why" }, t("no_judge"));
    $("judged").replaceChildren(...(J.outputs.length ? this.outputs() : [none()]));
    $("softmax").replaceChildren(Object.keys(J.softmax).length ? this.softmax() : none());
    $("standards").replaceChildren(...J.standards.map(one => el("details", { class: "standard" },
      el("summary", {}, el("b", {}, one.name), ` ${one.title} `, el("span", { class: "n" }, one.version)),
      el("p", {}, one.summary),
      ...["bfloat16", "float32"].map(dtype => el("p", { class: "measure" }, `${dtype}: `, one.rules[dtype].flatMap((rule, i) => [i ? "; " : "", code(rule)]))),
      el("p", { class: "why" }, `${t("source")}: ${one.source}`))));
  },
  outputs() {
    const list = el("ol", { class: "outputs" }, J.outputs.map(([name, right]) => el("li", {}, chip(t(right ? "right" : "wrong"), right ? "good" : "bad"), ` ${tr(name)}`)));
    const cell = (said, i) => {
      const [name, right] = J.outputs[i];
      const mistaken = said !== null && said !== right;
      const words = said === null ? t("no_rule") : t(said ? "accepted" : "rejected");
      return el("td", { class: said === null ? "zero c" : mistaken ? "mistake c" : "c", title: `${tr(name)}: ${words}` },
        el("span", { "aria-hidden": "true" }, said === null ? "–" : said ? "✓" : "✗"), el("span", { class: "hidden" }, words));
    };
    const rows = J.rows.map(([name, said]) => {
      const judged = said.filter(one => one !== null).length, wrong = said.filter((one, i) => one !== null && one !== J.outputs[i][1]).length;
      return el("tr", { class: name === "suanzi" ? "own" : "" }, el("th", { scope: "row" }, name), said.map(cell),
        el("td", { class: "n" }, t("of_total", wrong, judged)));
    });
    const head = [el("th", { scope: "col" }, t("standard")), ...J.outputs.map(([name], i) => el("th", { scope: "col", class: "c", title: tr(name) }, String(i + 1))),
      el("th", { scope: "col", class: "n" }, t("mistakes"))];
    return [list, scroll(t("outputs"), el("table", { class: "marks" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows)))];
  },
  softmax() {
    const kinds = [...new Set(Object.values(J.softmax).flatMap(Object.keys))];
    const rows = Object.entries(J.softmax).map(([name, found]) => el("tr", {}, el("th", { scope: "row" }, name),
      kinds.map(kind => el("td", { class: found[kind] ? "mistake" : "zero" }, found[kind] ? found[kind].map(one => el("div", {}, tr(one))) : "–"))));
    const head = [el("th", { scope: "col" }, t("standard")), ...kinds.map(kind => el("th", { scope: "col" }, tr(kind)))];
    return scroll(t("let_through"), el("table", { class: "holes" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows)));
  },
};
