const form = document.getElementById("filter");
const output = form.querySelector("output");
const articles = [...document.querySelectorAll("article.case")];

function apply() {
  const wanted = Object.fromEntries(new FormData(form));
  const text = wanted.text.trim().toLowerCase();
  for (const one of articles) {
    const of = one.dataset;
    one.hidden =
      (wanted.target && !of.targets.split(" ").includes(wanted.target)) ||
      (wanted.code && of.code !== wanted.code) ||
      (wanted.file && !of.files.split("\n").includes(wanted.file)) ||
      (text && !words(one).includes(text));
  }
  for (const part of document.querySelectorAll(".file, .part")) {
    part.hidden = !part.querySelector("article.case:not([hidden])");
  }
  const shown = articles.filter(one => !one.hidden).length;
  output.textContent = `{{ say("${shown} of ${articles.length} entries") }}`;
}
if (articles.length) filterBy(form, apply);
