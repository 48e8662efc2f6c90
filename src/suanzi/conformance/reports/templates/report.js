const form = document.getElementById("filter");
const output = form.querySelector("output");
const counted = item => Number(words(item).split(/\s/).pop());
const items = [...document.querySelectorAll(".line i")];
const total = items.reduce((sum, item) => sum + counted(item), document.querySelectorAll("article.case").length);

const holds = (of, wanted) =>
  (!wanted.o || of.o.split(" ").includes(wanted.o)) &&
  (!wanted.c || of.c === wanted.c) &&
  (!wanted.i || of.i === wanted.i) &&
  (!wanted.d || !of.d || of.d.split("-").includes(wanted.d)) &&
  (!wanted.g || of.g === wanted.g);

function apply() {
  const wanted = Object.fromEntries(new FormData(form));
  const text = wanted.t.trim().toLowerCase();
  let shown = 0;
  for (const one of document.querySelectorAll("article.case")) {
    one.hidden = !holds(one.dataset, wanted) || (text && !words(one).includes(text));
    shown += !one.hidden;
  }
  for (const line of document.querySelectorAll(".line")) {
    const of = line.dataset;
    const fits = holds(of, wanted);
    const before = `${of.i}/${of.g}/`.toLowerCase();
    const dtype = wanted.d ? wanted.d.toLowerCase() : "";
    let left = 0;
    for (const one of line.querySelectorAll("i")) {
      const kind = words(one).split(/\s/)[0];
      const other = dtype && kind !== "pairs" && kind !== dtype;
      one.hidden = !fits || other || (text && !(before + kind).includes(text));
      if (!one.hidden) left += counted(one);
    }
    line.hidden = !left;
    shown += left;
  }
  const nothing = part => !part.querySelector("article.case:not([hidden]), .line:not([hidden])");
  for (const part of document.querySelectorAll("details.op, details.kind")) part.hidden = nothing(part);
  for (const id of ["wrong", "known", "unexpected", "unanswered", "passed"]) {
    const section = document.getElementById(id);
    if (section) section.hidden = nothing(section);
  }
  output.textContent = `{{ say("${shown} of ${total} cases") }}`;
}
filterBy(form, apply);
