const words = element => element.textContent.toLowerCase();

function filterBy(form, apply) {
  let waiting = 0;
  const soon = milliseconds => { clearTimeout(waiting); waiting = setTimeout(apply, milliseconds); };
  form.addEventListener("input", () => soon(120));
  form.addEventListener("reset", () => soon(0));
  form.addEventListener("submit", event => event.preventDefault());
  form.hidden = false;
  if (matchMedia("(max-width: 40rem)").matches) form.querySelector("details").open = false;
}

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
  button.textContent = "{{ say("copy") }}";
  button.addEventListener("click", async () => {
    button.textContent = (await copy(block.querySelector("code").textContent)) ? "{{ say("copied") }}" : "{{ say("cannot copy") }}";
    setTimeout(() => { button.textContent = "{{ say("copy") }}"; }, 1500);
  });
  block.append(button);
}

addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details[data-print]")) part.open = true;
});
