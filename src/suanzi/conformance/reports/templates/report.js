"use strict";
(() => {
  const form = document.getElementById("filter");
  const output = form.querySelector("output");
  const words = element => element.textContent.toLowerCase();
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
    output.textContent = `${shown} of ${total} cases`;
  }

  let waiting = 0;
  form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, 120); });
  form.addEventListener("reset", () => { clearTimeout(waiting); waiting = setTimeout(apply, 0); });
  form.addEventListener("submit", event => event.preventDefault());
  form.hidden = false;
  if (matchMedia("(max-width: 40rem)").matches) form.querySelector("details").open = false;

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  }
  for (const block of document.querySelectorAll(".again")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "copy";
    button.addEventListener("click", async () => {
      button.textContent = (await copy(block.querySelector("code").textContent)) ? "copied" : "cannot copy";
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    });
    block.append(button);
  }

  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details[data-print]")) part.open = true;
  });
})();
