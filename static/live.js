/* Polling, staleness and clocks. The server decides everything; this only asks again and words ages as it does. */
const PULSE = 5000; // milliseconds between two looks at the frame
const LONGEST = 30000; // milliseconds between two tries while the server does not answer
const STALE = 15000; // milliseconds without an answer after which the page says so
const body = document.body;
const liveness = document.getElementById("liveness");
const connection = document.getElementById("connection");
const serverClock = document.getElementById("server-clock");

let offset = Number(body.dataset.serverNow) * 1000 - Date.now(); // server's clock minus this one's
let wanted = body.dataset.liveWanted === "on";
let failures = 0;
let lastAnswer = Date.now();
let nextTry = 0;
let signedOut = false;
let newVersion = "";
let pulseTag = "";
const lastPolled = new Map();

const now = () => Date.now() + offset;
const region = () => document.querySelector("[data-live]");
const zone = serverClock ? serverClock.dataset.zone : "UTC";

/* Words: the same rules as factory_site/console/wording/words.py. */
const UNITS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

function largest(seconds) {
  for (const [unit, size] of UNITS) if (seconds >= size) return `${Math.floor(seconds / size)} ${unit}`;
  return "0 s";
}

function twoLargest(seconds) {
  for (let i = 0; i < UNITS.length; i += 1) {
    const [unit, size] = UNITS[i];
    if (seconds < size) continue;
    const rest = i + 1 < UNITS.length ? Math.floor((seconds % size) / UNITS[i + 1][1]) : 0;
    return rest ? `${Math.floor(seconds / size)} ${unit} ${rest} ${UNITS[i + 1][0]}` : `${Math.floor(seconds / size)} ${unit}`;
  }
  return "0 s";
}

function clockText(element) {
  const at = Date.parse(element.dateTime);
  const kind = element.dataset.clock;
  if (kind === "ago") {
    const age = Math.floor((now() - at) / 1000);
    if (age >= 86400) return null; // the server's date stands
    return age < 1 ? "just now" : `${largest(age)} ago`;
  }
  let left = Math.floor((at - now()) / 1000);
  if (left >= 1) {
    if (left >= 60) left -= left % 60;
    return `in ${twoLargest(left)}`;
  }
  return kind === "until-person" ? `overdue ${largest(-left)}` : `due, ${largest(-left)} late`;
}

export function tick() {
  if (!document.hidden && !body.classList.contains("absolute")) {
    for (const element of document.querySelectorAll("time[data-clock]")) {
      const text = clockText(element);
      if (text !== null && element.textContent !== text) element.textContent = text;
    }
  }
  if (serverClock) {
    const at = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium", timeZone: zone }).format(new Date(now()));
    serverClock.textContent = `${at} ${zone}`;
  }
}

/* What the status bar says. */
function state() {
  if (signedOut) return ["out", "Signed out"];
  if (!wanted) return ["paused", "Paused by you"];
  if (document.hidden) return ["hidden", "Paused: tab in background"];
  if (Date.now() - lastAnswer > STALE) return ["stale", `Stale ${largest(Math.floor((Date.now() - lastAnswer) / 1000))}`];
  return ["live", "Live"];
}

function say() {
  const [name, word] = state();
  body.dataset.connection = name;
  if (!liveness) return;
  let button = liveness.querySelector("button");
  if (!button) {
    liveness.replaceChildren();
    button = document.createElement("button");
    button.type = "button";
    button.className = "quiet live-word";
    button.title = "Stop or start polling (key .)";
    button.addEventListener("click", toggle);
    liveness.append(button);
  }
  button.dataset.state = name;
  if (button.textContent !== word) button.textContent = word;
  if (newVersion && !liveness.querySelector("a")) {
    const reload = document.createElement("a");
    reload.href = location.href;
    reload.textContent = `Reload for version ${newVersion}`;
    liveness.append(reload);
  }
  banner(name);
}

function banner(name) {
  if (!connection) return;
  if (name !== "stale" && name !== "out") {
    connection.hidden = true;
    return;
  }
  if (!connection.firstChild) {
    const line = document.createElement("p");
    line.className = "banner tone-bad";
    line.append(document.createElement("span"), document.createElement("a"));
    connection.append(line);
  }
  const [text, link] = connection.firstChild.children;
  const since = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium", timeZone: zone }).format(new Date(lastAnswer + offset));
  if (name === "out") {
    text.textContent = "You are signed out. What you typed stays here.";
    link.textContent = "Sign in in a new tab";
    link.href = "/login/";
    link.target = "_blank";
  } else {
    const wait = Math.max(0, Math.ceil((nextTry - Date.now()) / 1000));
    const age = largest(Math.floor((Date.now() - lastAnswer) / 1000));
    text.textContent = `Not updated since ${since} (${age}). The server does not answer. Next try in ${wait} s.`;
    link.textContent = "Retry now";
    link.href = location.href;
    link.onclick = (event) => { event.preventDefault(); nextTry = 0; beat(); };
  }
  connection.hidden = false;
}

function answered(headers) {
  const server = Number(headers.get ? headers.get("X-Server-Time") : headers("X-Server-Time"));
  if (server) offset = server - Date.now();
  lastAnswer = Date.now();
  if (failures || signedOut) { failures = 0; signedOut = false; pollNow(); }
}

/* The frame's own look, which is also the sign of life. */
async function beat() {
  if (document.hidden || !wanted || Date.now() < nextTry) return;
  nextTry = Date.now() + PULSE;
  try {
    const answer = await fetch("/pulse/", {
      headers: pulseTag ? { "If-None-Match": pulseTag } : {}, cache: "no-store", credentials: "same-origin", redirect: "manual",
    });
    if (answer.status === 401) { signedOut = true; say(); return; }
    if (!answer.ok && answer.status !== 304) throw new Error(String(answer.status));
    answered(answer.headers);
    if (answer.status === 304) return;
    pulseTag = answer.headers.get("ETag") || "";
    frame(await answer.json());
  } catch {
    failures += 1;
    const wait = Math.min(LONGEST, PULSE * 2 ** failures);
    nextTry = Date.now() + wait * (0.8 + Math.random() * 0.4);
  }
  say();
}

function frame(seen) {
  for (const element of document.querySelectorAll("[data-count]")) {
    const text = seen.counts[element.dataset.count] || "";
    if (element.textContent !== text) element.textContent = text;
  }
  const title = document.title.replace(/^\([\d,+]+\) /, "");
  document.title = seen.title ? `(${seen.title}) ${title}` : title;
  if (seen.version !== body.dataset.version) newVersion = seen.version;
  const box = document.getElementById("banners");
  const shown = [...box.children].map((each) => each.textContent.trim().replace(/\s+/g, " "));
  if (shown.join("\n") !== seen.banners.map((each) => `${each.sentence} ${each.command || each.word}`).join("\n")) {
    box.replaceChildren(...seen.banners.map((each) => {
      const line = document.createElement("p");
      const text = document.createElement("span");
      const step = document.createElement(each.command ? "code" : "a");
      line.className = `banner tone-${each.tone}`;
      step.textContent = each.command || each.word;
      if (each.command) step.dataset.copy = each.command;
      else step.href = each.address;
      text.append(`${each.sentence} `, step);
      line.append(text);
      return line;
    }));
  }
}

/* The page's own region. */
function poll(element) {
  if (!element || !window.htmx) return;
  lastPolled.set(element.id, Date.now());
  window.htmx.trigger(element, "live");
}

function pollNow() { poll(region()); }

function pace() {
  const element = region();
  if (!element || document.hidden || !wanted || signedOut || failures) return;
  if (!lastPolled.has(element.id)) lastPolled.set(element.id, Date.now());
  if (Date.now() - lastPolled.get(element.id) >= Number(element.dataset.live) * 1000) poll(element);
}

body.addEventListener("htmx:configRequest", (event) => {
  const tag = event.detail.elt.dataset && event.detail.elt.dataset.etag;
  if (tag && event.detail.triggeringEvent && event.detail.triggeringEvent.type === "live") event.detail.headers["If-None-Match"] = tag;
});
body.addEventListener("htmx:afterRequest", (event) => {
  const answer = event.detail.xhr;
  if (!answer || !answer.status) return;
  if (answer.status === 401) { signedOut = true; say(); return; }
  if (answer.status < 500) answered((name) => answer.getResponseHeader(name));
});
body.addEventListener("htmx:beforeSwap", (event) => {
  event.detail.before = null;
  const target = event.detail.target;
  if (target && target.id) before = new Map([...target.querySelectorAll("[data-row]")].map((row) => [row.id, row.textContent]));
});
let before = new Map();
body.addEventListener("htmx:afterSettle", () => {
  for (const row of document.querySelectorAll("[data-row]")) {
    if (before.has(row.id) && words(before.get(row.id)) !== words(row.textContent)) {
      row.classList.remove("changed");
      void row.offsetWidth;
      row.classList.add("changed");
    }
  }
  before = new Map();
  tick();
});
const words = (text) => text.replace(/\s+/g, " ").replace(/\b(in|overdue|due,)? ?[\d.]+ (s|min|h|d)\b( ago| late)?/g, "").trim();

function toggle() {
  wanted = !wanted;
  body.dataset.liveWanted = wanted ? "on" : "off";
  const token = document.querySelector("input[name=csrfmiddlewaretoken]");
  fetch("/preferences/", {
    method: "POST", credentials: "same-origin", headers: { "HX-Request": "true", "X-CSRFToken": token ? token.value : "" },
    body: new URLSearchParams({ live: wanted ? "on" : "off" }),
  }).catch(() => {});
  if (wanted) { nextTry = 0; beat(); pollNow(); }
  say();
}

document.addEventListener("factory:toggle-live", toggle);
document.addEventListener("factory:tick", tick);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && wanted) { nextTry = 0; beat(); pollNow(); }
  say();
});

const named = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (named && !document.cookie.includes(`zone=${named}`)) {
  document.cookie = `zone=${named}; path=/; max-age=31536000; samesite=lax`;
}
document.documentElement.classList.add("js");
setInterval(() => { tick(); say(); pace(); beat(); }, 1000);
nextTry = Date.now() + PULSE;
tick();
say();
