const PARTS = { promotion: promotionPart, accuracy: accuracyPart, conformance: conformancePart, judge: judgePart };

function change(patch) {
  Object.assign(state, patch);
  history.replaceState(null, "", address());
  render();
}

function renderWords() {
  document.documentElement.lang = state.lang === "zh" ? "zh-CN" : "en";
  document.title = t("title");
  for (const one of document.querySelectorAll("[data-w]")) one.textContent = t(one.dataset.w);
  for (const one of document.querySelectorAll("[data-label]")) one.setAttribute("aria-label", t(one.dataset.label));
  $("made").textContent = t("made", DATA.version);
}

function render() {
  if (state.theme) document.documentElement.dataset.theme = state.theme;
  else delete document.documentElement.dataset.theme;
  renderWords();
  $("language").value = state.lang;
  $("theme").value = state.theme;
  for (const one of document.querySelectorAll("[data-part]")) {
    one.href = address(one.dataset.part);
    if (one.dataset.part === state.part) one.setAttribute("aria-current", "page");
    else one.removeAttribute("aria-current");
  }
  for (const name of Object.keys(PARTS)) $(name).hidden = name !== state.part;
  PARTS[state.part].render();
}

for (const part of Object.values(PARTS)) part.setUp();
$("language").addEventListener("change", event => change({ lang: event.target.value }));
$("theme").addEventListener("change", event => change({ theme: event.target.value }));
$("link").addEventListener("click", async () => {
  $("link").textContent = t((await copy(location.href)) ? "copied" : "cannot_copy");
  setTimeout(() => { $("link").textContent = t("link"); }, 1500);
});
document.querySelector(".skip").addEventListener("click", event => { event.preventDefault(); $("main").focus(); });
addEventListener("hashchange", () => {
  const before = state.part;
  readAddress();
  render();
  if (state.part !== before) $(`${state.part}-title`).focus();
});
readAddress();
render();
