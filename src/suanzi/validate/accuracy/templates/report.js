const form = document.getElementById("filter");
const output = form.querySelector("output");
const rows = [...document.querySelectorAll("tr.measured")];

function apply() {
  const wanted = Object.fromEntries(new FormData(form));
  const text = wanted.text.trim().toLowerCase();
  for (const row of rows) {
    row.hidden =
      (wanted.dtype && row.dataset.dtype !== wanted.dtype) ||
      (wanted.wrong && row.dataset.wrong !== wanted.wrong) ||
      (text && !words(row.cells[0]).includes(text));
  }
  const shown = rows.filter(row => !row.hidden).length;
  output.textContent = `{{ say("${shown} of ${rows.length} rows") }}`;
}
if (rows.length) filterBy(form, apply);

const valueOf = cell => cell.dataset.value ?? cell.textContent.trim();
for (const table of document.querySelectorAll("table.sorted")) {
  for (const [i, head] of [...table.tHead.rows[0].cells].entries()) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = head.ariaSort !== "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.ariaSort = up ? "ascending" : "descending";
      const body = table.tBodies[0];
      const sorted = [...body.rows].sort((a, b) => {
        const [x, y] = [valueOf(a.cells[i]), valueOf(b.cells[i])];
        const [m, n] = [parseFloat(x), parseFloat(y)];
        const order = isNaN(m) && isNaN(n) ? x.localeCompare(y) : (isNaN(m) ? -1 : m) - (isNaN(n) ? -1 : n);
        return up ? order : -order;
      });
      body.append(...sorted);
    });
  }
}
