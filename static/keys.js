/* One listener, one state: the second key of a chord never fires anything else, nothing fires inside a field. */
const body = document.body;
const on = body.dataset.singleKeys === "on";
const help = document.getElementById("keys");
const button = document.getElementById("show-keys");
let chord = 0;

const inField = (element) => element.matches("input, textarea, select, [contenteditable]");
const rows = () => [...document.querySelectorAll("[data-row]")].filter((row) => row.offsetParent !== null);

function endChord() {
  clearTimeout(chord);
  chord = 0;
  body.classList.remove("chords");
}

function go(letter) {
  const link = document.querySelector(`a[data-chord="${letter}"]`);
  if (link) location.assign(link.href);
}

function move(step) {
  const all = rows();
  if (!all.length) return;
  const at = all.findIndex((row) => row.getAttribute("aria-current") === "true");
  const next = all[Math.min(all.length - 1, Math.max(0, at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step))];
  all.forEach((row) => row.removeAttribute("aria-current"));
  next.setAttribute("aria-current", "true");
  const link = next.querySelector("a");
  if (link) link.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

function open() {
  const row = document.querySelector('[data-row][aria-current="true"]');
  const link = row && row.querySelector("a.row-link, a.question, a");
  if (link) location.assign(link.href);
}

function tab(step) {
  const all = [...document.querySelectorAll(".tabs a")];
  const at = all.findIndex((link) => link.hasAttribute("aria-current"));
  const next = all[at + step];
  if (at >= 0 && next) location.assign(next.href);
}

function absolute() {
  const absoluteNow = body.classList.toggle("absolute");
  for (const element of document.querySelectorAll("time[data-clock]")) {
    if (absoluteNow) element.textContent = element.title;
  }
  if (!absoluteNow) document.dispatchEvent(new Event("factory:tick"));
}

function answer() {
  const form = document.getElementById("answer");
  const field = form && form.querySelector("textarea, input:not([type=hidden]), select");
  if (field) { field.focus(); return; }
  const row = document.querySelector('[data-row][aria-current="true"]') || rows()[0];
  const link = row && row.querySelector("a.button, a");
  if (link) location.assign(link.href);
}

function cancel() {
  const panel = document.querySelector("details[data-key=x]");
  if (!panel) return;
  panel.open = true;
  const field = panel.querySelector("input:not([type=hidden]), textarea");
  if (field) field.focus();
}

const trace = (wanted) => document.dispatchEvent(new CustomEvent("factory:trace", { detail: wanted }));

const single = {
  "?": () => help.showModal(), "/": () => { const field = document.querySelector("[data-search]"); if (field) field.focus(); },
  j: () => move(1), k: () => move(-1), o: open, "[": () => tab(-1), "]": () => tab(1), t: absolute, a: answer, x: cancel,
  y: () => navigator.clipboard && navigator.clipboard.writeText(location.href),
  e: () => trace("errors"), n: () => trace("next"), N: () => trace("previous"), f: () => trace("follow"),
  ".": () => document.dispatchEvent(new Event("factory:toggle-live")),
};

document.addEventListener("keydown", (event) => {
  const element = event.target;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    const form = element.closest && element.closest("form");
    if (form && form.method === "post") { event.preventDefault(); form.requestSubmit(); }
    return;
  }
  if (event.key === "Escape") {
    endChord();
    if (element.matches && inField(element)) { element.blur(); return; }
    const panel = document.querySelector("details.panel[open]");
    if (panel) { panel.open = false; panel.querySelector("summary").focus(); }
    return;
  }
  if (!on || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if ((element.matches && inField(element)) || help.open) return;
  if (chord) {
    endChord();
    event.preventDefault();
    go(event.key);
    return;
  }
  if (event.key === "g") {
    body.classList.add("chords");
    chord = setTimeout(endChord, 2000);
    return;
  }
  const act = single[event.key];
  if (act) { event.preventDefault(); act(); }
});

if (button) {
  button.hidden = false;
  button.addEventListener("click", () => help.showModal());
}
