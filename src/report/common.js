/* Shared by all pages: numbers, elements, the tooltip, the address, the theme.
 * Text from outside enters the page only as text nodes and attributes, never as markup. */
"use strict";

/* A number that is unknown or without meaning is null in JSON. Here it is NaN, of which no comparison is true:
 * null is less than 1. */
function withoutNull(value) {
  for (const key in value) {
    if (value[key] === null) value[key] = NaN;
    else if (typeof value[key] === "object") withoutNull(value[key]);
  }
  return value;
}
const data = withoutNull(JSON.parse(document.getElementById("calc-data").textContent));

/* ---- Numbers ---------------------------------------------------------------------------------- */

const isNumber = (x) => typeof x === "number" && isFinite(x);

/* Significant digits, with thin spaces between thousands, a true minus and no exponent. */
function num(x, digits = 3) {
  if (!isNumber(x)) return "–";
  if (x === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(x)));
  const shown = Math.abs(x) >= 100 ? Math.max(digits, 4) : digits;
  const text = Math.abs(x).toFixed(Math.min(20, Math.max(0, shown - 1 - size)));
  const [whole, rest] = text.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
  return (x < 0 ? "\u2212" : "") + grouped + (rest ? "." + rest : "");
}

/* A short number: 3, not 3.00. */
const short = (x, digits = 3) => num(x, digits).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
const count = (x) => (isNumber(x) ? (Number.isInteger(x) ? num(x, 21).split(".")[0] : short(x)) : "–");
const percent = (x, digits = 3) => (isNumber(x) ? `${num(100 * x, digits)}\u202f%` : "–");
const share = (x) => (isNumber(x) ? `${(100 * x).toFixed(1)}\u202f%` : "–");
const signed = (x) =>
  isNumber(x) ? `${x < 0 ? "\u2212" : "+"}${Math.abs(100 * x).toFixed(1)}\u202f%` : "–";

function scaled(x, steps, digits) {
  const size = Math.abs(x);
  const step = steps.find(([unit]) => size >= unit * 0.99995) || steps[steps.length - 1];
  return [num(x / step[0], digits), step[1]];
}

const timeSteps = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
const byteSteps = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]];
const countSteps = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
const secondsIn = (x, digits = 3) => scaled(x, timeSteps, digits);
const bytesIn = (x, digits = 3) => scaled(x, byteSteps, digits);

function withUnit(x, parts) {
  if (!isNumber(x)) return "–";
  if (x === 0) return "0";
  const [value, unit] = parts(x);
  return unit ? `${value}\u202f${unit}` : value;
}

/* For axes: 1 s, not 1.00 s. */
const brief = (x, steps) => {
  const step = steps.find(([unit]) => Math.abs(x) >= unit * 0.99995) || steps[steps.length - 1];
  return `${short(x / step[0])}\u202f${step[1]}`;
};
const seconds = (x) => withUnit(x, secondsIn);
/* Number of digits of a headline. */
const whole = (x) => withUnit(x, (y) => secondsIn(y, 4));
const bytes = (x) => withUnit(x, bytesIn);
const parameters = (x) => withUnit(x, (y) => scaled(y, [[1e12, "T"], [1e9, "B"], [1e6, "M"], [1e3, "k"], [1, ""]], 4));
const amount = (x) => withUnit(x, (y) => scaled(y, countSteps, 3));

/* ---- Elements --------------------------------------------------------------------------------- */

/* el("td", {class: "n"}, "text", node). Attributes that are false or null are left out. */
function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return node;
}

/* Set where the page computes: live_run.js, live_sweep.js. */
globalThis.calcLive = null;
const main = document.getElementById("main");
const nav = document.getElementById("nav");
const bold = (text) => el("b", {}, text);
const colorOf = (name) => `var(--${name})`;

/* A section of the page with a title and a line that explains it. */
function section(id, short_name, title, lead) {
  const node = el("section", { id, "aria-labelledby": `${id}-title` },
    el("h2", { id: `${id}-title`, tabindex: "-1" }, title), lead ? el("p", { class: "lead" }, lead) : null);
  main.append(node);
  /* The fragment is reserved for the reader's choices. */
  nav.append(el("a", { href: `#${id}`, onclick: (event) => {
    event.preventDefault();
    node.scrollIntoView();
    node.querySelector("h2").focus({ preventScroll: true });
  } }, short_name));
  return node;
}

function card(parent, ...children) {
  const node = el("div", { class: "card" }, ...children);
  parent.append(node);
  return node;
}

/* @param remarks  what to know before using the numbers */
function hero({ context, headline, why, kpis, bad, remarks }) {
  main.append(el("div", { class: "hero" },
    el("p", { class: "context" }, context.map(([label, value]) =>
      el("span", {}, bold(value), label ? ` ${label}` : ""))),
    el("h1", { class: bad ? "bad" : null }, headline),
    el("p", { class: "why" }, why),
    (remarks || []).map((text) => el("p", { class: "remark" }, bold(`${text[0].toUpperCase()}${text.slice(1)}.`))),
    el("dl", { class: "kpis" }, kpis.map(([label, value, unit, note]) => el("div", {},
      el("dt", {}, label),
      el("dd", {}, el("span", { class: "value" }, value),
        unit ? el("span", { class: "unit" }, `\u202f${unit}`) : null),
      el("dd", { class: "small" }, note || ""))))));
}

/* The origin of the page, followed by `rows`: pairs of texts. @param compat  rules of Calculon that were
 * followed */
function footer(rows_, compat = "none") {
  const rows = [["Program", `${data.program}${compat === "none" ? "" : `, arithmetic of ${compat}`}`], ...rows_,
    ["Charts", `D3 ${d3.version}, Copyright Mike Bostock, BSD 3-Clause`]];
  document.getElementById("footer").append(el("dl", {}, rows.map(([label, value]) =>
    [el("dt", {}, label), el("dd", {}, value)])));
}

/* Names a document, with the first digits of the SHA-256 of its bytes. */
const digested = (name, digests, key) => (digests && digests[key] ? `${name}, SHA-256 ${digests[key].slice(0, 12)}` : name);

function legend(parent, items, onclick) {
  parent.append(el("ul", { class: "legend" }, items.map((item) => el("li", {},
    el("i", { style: `background:${item.color}`, "aria-hidden": "true" }), item.label))));
}

const swatch = (color) => el("i", { class: "key", style: `background:${color}`, "aria-hidden": "true" });

/* Quotes a word for a shell. */
const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
/* A command with further assignments, which replace those to the same fields. */
function withSets(words, sets) {
  const fieldOf = (one) => one.split("=")[0];
  const said = new Set(sets.map(fieldOf));
  const goes = (option, value) => option === "--set" && said.has(fieldOf(value));
  return [...words.filter((word, i) => !goes(word, words[i + 1]) && !goes(words[i - 1], word)), ...sets.flatMap((one) => ["--set", one])];
}
const commandText = (words) => words.map(quoted).join(" ");

/* Copies a text if the browser allows it; the text is also next to the button. */
function copyButton(label, text, name) {
  const button = el("button", { type: "button", "aria-label": name }, label);
  button.addEventListener("click", async (event) => {
    event.stopPropagation();
    let done = "Copied";
    try {
      await navigator.clipboard.writeText(text());
    } catch (failure) {
      done = "Select below";
    }
    button.textContent = done;
    setTimeout(() => { button.textContent = label; }, 1200);
  });
  return button;
}

function download(name, content) {
  const link = el("a", { href: URL.createObjectURL(content instanceof Blob ? content : new Blob([content])), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

/* ---- The tooltip ------------------------------------------------------------------------------ */

const tip = document.getElementById("tip");

/* Shows the tooltip next to a place of the window; `rows` are pairs of texts. */
function showTip(x, y, title, rows, color) {
  if (tip.dataset.pinned) return;
  tip.replaceChildren(el("b", {}, color ? swatch(color) : null, title),
    el("dl", {}, rows.map(([label, value]) => [el("dt", {}, label), el("dd", {}, value)])));
  tip.hidden = false;
  showsWhole(x, y);
}

/* Keeps it next to the place and inside the window. */
function showsWhole(x, y) {
  const box = tip.getBoundingClientRect();
  const left = x + 14 + box.width > innerWidth ? x - 14 - box.width : x + 14;
  const top = y + 14 + box.height > innerHeight ? y - 14 - box.height : y + 14;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, top)}px`;
}

/* As above, but stays until Escape, a tap elsewhere or its button; `actions` are buttons. If the keyboard
 * opened it, the focus goes to the first button, and back at the end. */
let beforePin = null;
function pinTip(x, y, title, rows, actions, byKeyboard) {
  unpin();
  showTip(x, y, title, rows);
  tip.append(el("div", { class: "tools" }, actions, el("button", { type: "button", onclick: () => unpin() }, "Close")));
  showsWhole(x, y);
  tip.dataset.pinned = "yes";
  beforePin = byKeyboard ? document.activeElement : null;
  if (byKeyboard) tip.querySelector("button").focus();
}

function unpin() {
  delete tip.dataset.pinned;
  tip.hidden = true;
  if (beforePin) beforePin.focus();
  beforePin = null;
}

/* Lifting a finger leaves the tooltip open. */
function hideTip(event) {
  if (!tip.dataset.pinned && (!event || event.pointerType !== "touch")) tip.hidden = true;
}
addEventListener("keydown", (event) => { if (event.key === "Escape") unpin(); });
addEventListener("pointerdown", (event) => { if (!tip.contains(event.target)) unpin(); }, true);
/* A finger or a wheel scrolls the page away from the tooltip. */
for (const moves of ["pointercancel", "wheel"]) addEventListener(moves, () => hideTip(), { passive: true });

/* A mark that shows its tooltip under the pointer, and at a tap. `what()`: title, rows, colour. */
function tells(mark, what) {
  const tell = (event) => showTip(event.clientX, event.clientY, ...what(event));
  mark.addEventListener("pointermove", tell);
  mark.addEventListener("pointerdown", tell);
  mark.addEventListener("pointerleave", hideTip);
}

/* ---- The address ------------------------------------------------------------------------------- */

/* The fragment of the address stores the reader's choices, so that they can be sent and reloaded. */
const kept = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
let keeping = 0;

function keep(key, value) {
  if (value === null || value === "") kept.delete(key);
  else kept.set(key, value);
  clearTimeout(keeping);
  /* In a frame of a notebook there is no address to keep it in. */
  if (location.protocol === "about:") return;
  keeping = setTimeout(() => history.replaceState(null, "", kept.toString() ? `#${kept}` : location.pathname), 200);
}

/* ---- The theme -------------------------------------------------------------------------------- */

const repaints = [];
const paints = new Map(); /* by name, for the current theme */
const dark = matchMedia("(prefers-color-scheme: dark)");
let theme = ["light", "dark"].includes(kept.get("theme")) ? kept.get("theme") : "auto";

function setTheme(name) {
  const actual = name === "auto" ? (dark.matches ? "dark" : "light") : name;
  document.documentElement.dataset.theme = actual;
  paints.clear();
  for (const button of document.querySelectorAll("[data-theme]")) {
    if (button.tagName === "BUTTON") {
      button.setAttribute("aria-pressed", String(button.dataset.theme === theme));
    }
  }
  for (const repaint of repaints) repaint();
}

for (const button of document.querySelectorAll("button[data-theme]")) {
  button.addEventListener("click", () => {
    theme = button.dataset.theme;
    keep("theme", theme === "auto" ? null : theme);
    setTheme(theme);
  });
}
dark.addEventListener("change", () => setTheme(theme));
/* The end of a page's script. What is drawn again has its theme, and observers draw its canvases. */
function drawn() {
  if (document.documentElement.dataset.ready !== "yes") setTheme(theme);
  document.documentElement.dataset.ready = "yes";
}
/* Printing uses one width and the light theme: draws everything again for it, and afterwards for the window. */
const sized = [];

function setPaper(on) {
  document.documentElement.classList.toggle("printing", on);
  setTheme(on ? "light" : theme);
  for (const redraw of sized) redraw();
  for (const node of document.querySelectorAll(".scroll > table")) {
    node.style.zoom = "";
    const room = node.parentNode.clientWidth;
    node.classList.toggle("wide", false);
    node.classList.toggle("wide", on && node.offsetWidth > 1.3 * room);
    if (on && node.offsetWidth > room) node.style.zoom = room / node.offsetWidth;
  }
}

addEventListener("beforeprint", () => setPaper(true));
addEventListener("afterprint", () => setPaper(false));

/* The value of a theme colour, for canvases. */
function paintOf(name) {
  if (!paints.has(name)) paints.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  return paints.get(name);
}

/* Black or white, whichever has more contrast with a colour of the Lab space: at least 4.5 to 1. */
const inkOn = (color) => (color.l > 49.5 ? "#000000" : "#ffffff");
