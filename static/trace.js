/* The live trace: asks for what is new, keeps the end in view until the reader scrolls up, rests while hidden. */
const SECOND = 1000;
const body = document.body;
const list = document.getElementById("trace");
const follow = document.getElementById("trace-follow");
const fresh = document.getElementById("trace-new");
const said = document.getElementById("trace-state");
let following = true;
let asking = false;
let unseen = 0;
let waits = 0;
let source = list ? list.dataset.source || "" : "";

const atEnd = () => list.scrollHeight - list.scrollTop - list.clientHeight < 24;

function toEnd() {
  list.scrollTop = list.scrollHeight;
  unseen = 0;
  fresh.hidden = true;
}

function setFollowing(wanted) {
  following = wanted;
  follow.setAttribute("aria-pressed", String(wanted));
  if (wanted) toEnd();
}

/* A result that came later than its call goes into the call's entry. */
function settle(entry) {
  const call = entry.dataset.answers && list.querySelector(`[data-tool="${CSS.escape(entry.dataset.answers)}"]:not([data-answers])`);
  if (!call) {
    list.append(entry);
    return;
  }
  const what = call.querySelector(".entry-what");
  const line = what.querySelector("p");
  const [head, ...rest] = entry.querySelector(".entry-what").children;
  for (const part of [...head.querySelectorAll(".badge, .dim")]) line.append(" ", part);
  what.append(...rest);
  if (entry.classList.contains("is-error")) call.classList.add("is-error");
}

function take(html) {
  const made = document.createElement("template");
  made.innerHTML = html;
  const entries = [...made.content.querySelectorAll("li.entry")];
  const empty = document.getElementById("trace-empty");
  if (entries.length && empty) empty.remove();
  entries.forEach(settle);
  if (!entries.length) return;
  if (following) toEnd();
  else {
    unseen += entries.length;
    fresh.hidden = false;
    fresh.textContent = `${unseen} new ${unseen === 1 ? "entry" : "entries"}`;
  }
}

async function ask() {
  if (!source || asking || document.hidden || body.dataset.liveWanted !== "on" || waits-- > 0) return;
  asking = true;
  waits = 0;
  try {
    const answer = await fetch(`${source}&since=${list.dataset.last}`, {
      headers: { "HX-Request": "true" }, cache: "no-store", credentials: "same-origin", redirect: "manual",
    });
    if (answer.status === 401 || answer.status === 404) { source = ""; return; }
    if (!answer.ok) { waits = 5; return; }
    const last = answer.headers.get("X-Trace-Last");
    const grew = last !== list.dataset.last;
    list.dataset.last = last;
    take(await answer.text());
    if (answer.headers.get("X-Trace-Ended") === "yes" && !grew) {
      source = "";
      if (said) said.textContent = "The attempt has ended; the trace is complete.";
    }
  } catch {
    waits = 5;
  } finally {
    asking = false;
  }
}

function step(direction, wanted) {
  const all = [...list.querySelectorAll(wanted)];
  if (!all.length) return;
  const at = all.findIndex((entry) => entry.getAttribute("aria-current") === "true");
  const next = all[(at + direction + all.length) % all.length] || all[0];
  for (const entry of list.querySelectorAll("[aria-current]")) entry.removeAttribute("aria-current");
  next.setAttribute("aria-current", "true");
  setFollowing(false);
  next.scrollIntoView({ block: "center" });
}

const acts = {
  errors: () => { const link = document.querySelector("a[data-errors]"); if (link) location.assign(link.href); },
  next: () => step(1, ".entry.is-error"),
  previous: () => step(-1, ".entry.is-error"),
  follow: () => setFollowing(!following),
};

if (list) {
  list.addEventListener("scroll", () => { if (following !== atEnd()) { following = atEnd(); follow.setAttribute("aria-pressed", String(following)); if (following) toEnd(); } });
  document.addEventListener("factory:trace", (event) => acts[event.detail]());
  fresh.addEventListener("click", () => setFollowing(true));
  if (source) {
    follow.hidden = false;
    follow.addEventListener("click", acts.follow);
    toEnd();
    setInterval(ask, SECOND);
    document.addEventListener("visibilitychange", ask);
  }
}
