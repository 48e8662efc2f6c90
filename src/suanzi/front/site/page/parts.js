const DATA = JSON.parse(document.getElementById("data").textContent);
const LANGUAGES = ["en", "zh"];
const $ = id => document.getElementById(id);

// ---- the state, which is the address

const DEFAULTS = {
  part: "promotion", lang: /^zh\b/i.test(navigator.language) ? "zh" : "en", theme: "",
  x: "int32,bfloat16", op: "add", ref: "torch", rules: "all", shape: "tensor", tables: "",
  dtype: "", measure: "worst", sort: "", find: "", show: "",
  category: "", verdict: "", minimal: "", of: "", interface: "", text: "",
};
const KEYS = {
  promotion: ["x", "op", "ref", "rules", "shape", "tables"], accuracy: ["dtype", "measure", "sort", "find", "show"],
  conformance: ["category", "verdict", "minimal", "of", "interface", "text"], judge: [],
};
const state = { ...DEFAULTS };

function readAddress() {
  const [part, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const given = new URLSearchParams(query);
  Object.assign(state, DEFAULTS);
  if (part in KEYS) state.part = part;
  for (const key of ["lang", "theme", ...KEYS[state.part]]) if (given.has(key)) state[key] = given.get(key);
  if (!LANGUAGES.includes(state.lang)) state.lang = DEFAULTS.lang;
  if (!["", "light", "dark"].includes(state.theme)) state.theme = "";
}

function address(part = state.part, of = state) {
  const said = new URLSearchParams();
  for (const key of [...(part === state.part ? KEYS[part] : []), "lang", "theme"]) {
    if (of[key] !== DEFAULTS[key]) said.set(key, of[key]);
  }
  const query = said.toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
  return `#/${part}${query ? `?${query}` : ""}`;
}

// ---- words

const language = () => LANGUAGES.indexOf(state.lang);
function t(key, ...given) {
  const found = DATA.words.label[key];
  if (!found) throw new Error(`no word for ${key}`);
  return found[language()].replace(/\{(\d)\}/g, (_, i) => given[i]);
}

const MARK = /\{(?:[a-d]|t|\.\.)\}/g;
const PATTERNS = Object.entries(DATA.words.data).map(([en, zh]) => {
  const marks = en.match(MARK) ?? [];
  const parts = en.split(MARK).map(one => one.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const source = parts.map((one, i) => one + (i < marks.length ? (/[a-d]/.test(marks[i]) ? "(\\S+)" : "(.+)") : "")).join("");
  return { regex: new RegExp(`^${source}$`), marks, zh };
});
const translated = new Map();
// What comes from data, in the language of the page.
function tr(text) {
  if (state.lang === "en" || !text) return text;
  if (!translated.has(text)) translated.set(text, translate(text));
  return translated.get(text);
}
function translate(text) {
  for (const { regex, marks, zh } of PATTERNS) {
    const found = regex.exec(text);
    if (!found) continue;
    const filled = {};
    marks.forEach((mark, i) => (filled[mark] ??= []).push(mark === "{..}" ? translate(found[i + 1]) : found[i + 1]));
    return zh.replace(MARK, mark => filled[mark].shift());
  }
  return text;
}

// ---- elements

function el(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(given)) {
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter(one => one !== null && one !== undefined));
  return made;
}
const chip = (text, tone) => el("span", { class: `chip ${tone}` }, text);
const code = text => el("code", {}, text);
const scroll = (name, child) => el("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": name }, child);
const svg = (tag, given = {}, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(given)) made.setAttribute(key, value);
  made.append(...children.flat());
  return made;
};

function options(select, groups, chosen) {
  const option = ([value, text]) => el("option", { value, selected: value === chosen }, text);
  select.replaceChildren(...groups.map(one =>
    Array.isArray(one) ? option(one) : el("optgroup", { label: one.label }, one.options.map(option))));
  select.value = chosen;
}

// A program to copy.
function program(text) {
  const button = el("button", { type: "button" }, t("copy"));
  button.addEventListener("click", async () => {
    button.textContent = t((await copy(text)) ? "copied" : "cannot_copy");
    setTimeout(() => { button.textContent = t("copy"); }, 1500);
  });
  return el("div", { class: "again" }, el("pre", { tabindex: "0" }, code(text)), button);
}
const few = x => (Math.abs(x) >= 1e5 || (x && Math.abs(x) < 1e-3) ? x.toExponential(1) : String(Number(x.toPrecision(3))));
