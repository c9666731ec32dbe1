/* Drafts kept in this tab, counters, "Working…", copying: each form works the same without it. */
const KEY = "factory-draft-";

function fields(form) {
  return [...form.elements].filter((field) => field.name && field.type !== "hidden" && field.type !== "password");
}

function values(form) {
  return fields(form).filter((field) => !["radio", "checkbox"].includes(field.type) || field.checked)
    .map((field) => [field.name, field.value]);
}

for (const form of document.querySelectorAll("form[data-draft]")) {
  const key = KEY + form.dataset.draft;
  const wasRefused = document.getElementById("faults");
  const kept = sessionStorage.getItem(key);
  if (kept && !wasRefused) {
    for (const [name, value] of JSON.parse(kept)) {
      for (const field of fields(form)) {
        if (field.name !== name) continue;
        if (["radio", "checkbox"].includes(field.type)) field.checked = field.checked || field.value === value;
        else if (!field.value) field.value = value;
      }
    }
  }
  form.addEventListener("input", () => sessionStorage.setItem(key, JSON.stringify(values(form))));
}
if (!document.querySelector("form[data-draft]")) {
  const ended = location.pathname.match(/^\/tasks\/(\d+)\/$/);
  if (ended) sessionStorage.removeItem(`${KEY}task-${ended[1]}`);
}

for (const field of document.querySelectorAll("[data-most]")) {
  const most = Number(field.dataset.most);
  const count = document.createElement("span");
  count.className = "count";
  count.hidden = true;
  field.after(count);
  const show = () => {
    count.hidden = field.value.length < most * 0.8;
    count.textContent = `${field.value.length.toLocaleString("en")} of ${most.toLocaleString("en")} characters`;
  };
  field.addEventListener("input", show);
  show();
}

function unsent(form) {
  if (form.querySelector("[data-unsent]")) return;
  const told = document.createElement("p");
  told.className = "notice tone-bad";
  told.setAttribute("role", "alert");
  told.dataset.unsent = "";
  told.textContent = "The server does not answer. Nothing was sent; what you typed stays here. Send it again once it answers.";
  form.append(told);
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  if (form.dataset.sent === "yes") { event.preventDefault(); return; }
  if (document.body.dataset.connection === "stale") { event.preventDefault(); unsent(form); return; }
  form.dataset.sent = "yes";
  const renewed = document.cookie.match(/(?:^|; )csrftoken=(\w+)/); // a sign-in in another tab makes a new one
  if (renewed && form.elements.csrfmiddlewaretoken) form.elements.csrfmiddlewaretoken.value = renewed[1];
  const button = event.submitter || form.querySelector("button");
  if (!button || button.name === "theme") return;
  button.setAttribute("aria-busy", "true");
  button.textContent = "Working…";
});
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

for (const panel of document.querySelectorAll("details.panel")) {
  panel.addEventListener("toggle", () => {
    if (!panel.open) return;
    const first = panel.querySelector("input:not([type=hidden]), textarea, select, button");
    if (first && !panel.contains(document.activeElement.closest("form"))) first.focus();
  });
}

document.addEventListener("click", (event) => {
  const copied = event.target.closest("[data-copy]");
  if (!copied || !navigator.clipboard) return;
  navigator.clipboard.writeText(copied.dataset.copy).then(() => {
    const shown = copied.textContent;
    copied.textContent = "copied";
    setTimeout(() => { copied.textContent = shown; }, 900);
  }).catch(() => {});
});
const firstFault = document.querySelector("[aria-invalid=true]");
if (firstFault) firstFault.focus();
