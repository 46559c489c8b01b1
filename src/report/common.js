/* What the three pages share: numbers, elements, tables, bars, the tip, the theme.
 * Text from outside reaches the page only as text nodes and attributes, never as markup. */
"use strict";

const data = JSON.parse(document.getElementById("calc-data").textContent);

/* ---- Numbers ---------------------------------------------------------------------------------- */

const isNumber = (x) => typeof x === "number" && isFinite(x);

/* Significant digits, thin spaces between thousands, a true minus, never an exponent. */
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

/* A short number: 3 rather than 3.00. */
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

/* For axes: 1 s rather than 1.00 s. */
const brief = (x, steps) => {
  const step = steps.find(([unit]) => Math.abs(x) >= unit * 0.99995) || steps[steps.length - 1];
  return `${short(x / step[0])}\u202f${step[1]}`;
};
const seconds = (x) => withUnit(x, secondsIn);
/* As many digits as a headline has. */
const whole = (x) => withUnit(x, (y) => secondsIn(y, 4));
const bytes = (x) => withUnit(x, bytesIn);
const parameters = (x) => withUnit(x, (y) => scaled(y, [[1e12, "T"], [1e9, "B"], [1e6, "M"], [1e3, "k"], [1, ""]], 4));
const amount = (x) => withUnit(x, (y) => scaled(y, countSteps, 3));

/* ---- Elements --------------------------------------------------------------------------------- */

/* el("td", {class: "n"}, "text", node): attributes that are false or null are left out. */
function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return node;
}

const main = document.getElementById("main");
const nav = document.getElementById("nav");
const bold = (text) => el("b", {}, text);
const colorOf = (name) => `var(--${name})`;

/* A part of the page with a title and a line that says what it shows. */
function section(id, short_name, title, lead) {
  const node = el("section", { id, "aria-labelledby": `${id}-title` },
    el("h2", { id: `${id}-title`, tabindex: "-1" }, title), lead ? el("p", { class: "lead" }, lead) : null);
  main.append(node);
  /* The fragment belongs to what was chosen. */
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

function hero({ context, headline, why, kpis, bad }) {
  main.append(el("div", { class: "hero" },
    el("p", { class: "context" }, context.map(([label, value]) =>
      el("span", {}, bold(value), label ? ` ${label}` : ""))),
    el("h1", { class: bad ? "bad" : null }, headline),
    el("p", { class: "why" }, why),
    el("dl", { class: "kpis" }, kpis.map(([label, value, unit, note]) => el("div", {},
      el("dt", {}, label),
      el("dd", {}, el("span", { class: "value" }, value),
        unit ? el("span", { class: "unit" }, `\u202f${unit}`) : null),
      el("dd", { class: "small" }, note || ""))))));
}

function footer(rows) {
  document.getElementById("footer").append(el("dl", {}, rows.map(([label, value]) =>
    [el("dt", {}, label), el("dd", {}, value)])));
}

function legend(parent, items, onclick) {
  parent.append(el("ul", { class: "legend" }, items.map((item) => el("li", {},
    el("i", { style: `background:${item.color}`, "aria-hidden": "true" }), item.label))));
}

const swatch = (color) => el("i", { class: "key", style: `background:${color}`, "aria-hidden": "true" });

/* A word of a shell. */
const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
const commandText = (words) => words.map(quoted).join(" ");

/* Copy, where the browser allows it; the text stands beside the button in any case. */
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

function download(name, text) {
  const link = el("a", { href: URL.createObjectURL(new Blob([text])), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

/* ---- The tip ---------------------------------------------------------------------------------- */

const tip = document.getElementById("tip");

/* Beside a place of the window; `rows` are pairs of texts. */
function showTip(x, y, title, rows, color) {
  if (tip.dataset.pinned) return;
  tip.replaceChildren(el("b", {}, color ? swatch(color) : null, title),
    el("dl", {}, rows.map(([label, value]) => [el("dt", {}, label), el("dd", {}, value)])));
  tip.hidden = false;
  showsWhole(x, y);
}

/* Beside the place, inside the window. */
function showsWhole(x, y) {
  const box = tip.getBoundingClientRect();
  const left = x + 14 + box.width > innerWidth ? x - 14 - box.width : x + 14;
  const top = y + 14 + box.height > innerHeight ? y - 14 - box.height : y + 14;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, top)}px`;
}

/* The same, to stay until Escape, a tap elsewhere or its button; `actions` are buttons. The focus
 * goes to the first, if the keyboard asked, and back. */
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

/* A finger that goes up leaves the tip where it is. */
function hideTip(event) {
  if (!tip.dataset.pinned && (!event || event.pointerType !== "touch")) tip.hidden = true;
}
addEventListener("keydown", (event) => { if (event.key === "Escape") unpin(); });
addEventListener("pointerdown", (event) => { if (!tip.contains(event.target)) unpin(); }, true);
/* A finger or a wheel moves the page away below it. */
for (const moves of ["pointercancel", "wheel"]) addEventListener(moves, () => hideTip(), { passive: true });

/* A mark that tells of itself under the pointer, and at a tap. `what()`: title, rows, colour. */
function tells(mark, what) {
  const tell = (event) => showTip(event.clientX, event.clientY, ...what(event));
  mark.addEventListener("pointermove", tell);
  mark.addEventListener("pointerdown", tell);
  mark.addEventListener("pointerleave", hideTip);
}

/* ---- What the address keeps -------------------------------------------------------------------- */

/* The fragment of the address says what was chosen, so that it can be sent and reloaded. */
const kept = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
let keeping = 0;

function keep(key, value) {
  if (value === null || value === "") kept.delete(key);
  else kept.set(key, value);
  clearTimeout(keeping);
  keeping = setTimeout(() => history.replaceState(null, "", kept.toString() ? `#${kept}` : location.pathname), 200);
}

/* ---- The theme -------------------------------------------------------------------------------- */

const repaints = [];
const dark = matchMedia("(prefers-color-scheme: dark)");
let theme = ["light", "dark"].includes(kept.get("theme")) ? kept.get("theme") : "auto";

function setTheme(name) {
  const actual = name === "auto" ? (dark.matches ? "dark" : "light") : name;
  document.documentElement.dataset.theme = actual;
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
/* Paper has one width and is light: everything is drawn again for it, and then for the window. */
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

/* The value of a colour of the theme, for canvases. */
const paintOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/* Black or white, whichever is read better on a colour of the Lab space: at least 4.5 to 1. */
const inkOn = (color) => (color.l > 49.5 ? "#000000" : "#ffffff");

/* ---- Figures ---------------------------------------------------------------------------------- */

/* An SVG picture as wide as its parent, drawn again when that changes. */
function picture(parent, aria, draw) {
  const svg = d3.create("svg").attr("role", "img").attr("aria-label", aria);
  const node = el("figure", {}, svg.node());
  parent.append(node);
  let drawn = 0;
  const redraw = () => {
    const width = node.clientWidth;
    if (width > 0) {
      drawn = width;
      svg.selectAll("*").remove();
      const height = draw(svg, width);
      svg.attr("viewBox", `0 0 ${width} ${height}`).attr("height", height);
    }
  };
  new ResizeObserver(() => { if (node.clientWidth !== drawn) redraw(); }).observe(node);
  sized.push(redraw);
  redraw();
  return redraw;
}

/* A canvas as wide as its parent; draw(context, width, height) in CSS pixels. */
function canvas(parent, height, draw, attributes) {
  const node = el("canvas", { "aria-hidden": "true", ...attributes });
  parent.append(node);
  const redraw = () => {
    const width = node.clientWidth;
    if (!width) return;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    node.width = Math.round(width * ratio);
    node.height = Math.round(height * ratio);
    node.style.height = `${height}px`;
    const context = node.getContext("2d");
    context.scale(ratio, ratio);
    draw(context, width, height);
  };
  new ResizeObserver(redraw).observe(node.parentNode);
  repaints.push(redraw);
  return { node, redraw };
}

/* Labels of a time or byte axis in one unit, that of its end. */
function axisLabels(max, steps) {
  const step = steps.find(([unit]) => max >= unit * 0.99995) || steps[steps.length - 1];
  return { unit: step[0], name: step[1], text: (x) => (x === 0 ? "0" : `${short(x / step[0])}\u202f${step[1]}`) };
}

function niceTicks(max, steps, most) {
  const labels = axisLabels(max, steps);
  return { values: d3.ticks(0, max / labels.unit, most).map((x) => x * labels.unit), text: labels.text };
}

/* Horizontal stacked bars. rows: {label, note, values: {key: number}, total, band: [low, high] if known}; parts: {key, label,
 * color} in the order of the stack; limit: {value, label}; total: how totals are written. */
function stacks(parent, { rows, parts, steps, text, limit, aria, height = 18, gap = 12, total = text }) {
  const used = parts.filter((part) => rows.some((row) => row.values[part.key] > 0));
  const longest = d3.max(rows, (row) => row.total) || 1;
  const redraw = picture(parent, aria, (svg, width) => {
    const narrow = width < 520;
    const left = narrow ? 0 : Math.min(0.3 * width, 24 + 7.5 * d3.max(rows, (row) =>
      Math.max(row.label.length, (row.note || "").length * 0.85)));
    const right = narrow ? 62 : 76;
    const top = limit ? 20 : 2;
    const step = height + gap + (narrow ? 16 : 0);
    const bottom = top + rows.length * step;
    const x = d3.scaleLinear([0, Math.max(longest, limit ? limit.value : 0, d3.max(rows, (row) => (row.band ? row.band[1] : 0)))], [left, width - right]);
    const ticks = niceTicks(x.domain()[1], steps, Math.max(2, Math.floor((width - left - right) / 90)));
    const grid = svg.append("g").attr("class", "grid").selectAll("line").data(ticks.values).enter();
    grid.append("line").attr("x1", x).attr("x2", x).attr("y1", top).attr("y2", bottom);
    svg.append("g").selectAll("text").data(ticks.values).enter().append("text")
      .attr("x", x).attr("y", bottom + 16).attr("text-anchor", (d) => (d === 0 && narrow ? "start" : "middle"))
      .text(ticks.text);
    rows.forEach((row, i) => {
      const y = top + i * step + (narrow ? 16 : 0) + gap / 2;
      const label = narrow ? [0, y - 5, "start"] : [left - 12, y + (row.note ? 8 : 13), "end"];
      svg.append("text").attr("class", "strong").attr("x", label[0]).attr("y", label[1])
        .attr("text-anchor", label[2]).text(clipped(row.label, (narrow ? width - 90 : left - 12) / 7.5));
      if (row.note) {
        svg.append("text").attr("x", narrow ? width - right : left - 12).attr("y", narrow ? y - 5 : y + 21)
          .attr("text-anchor", "end").style("font-size", "11px").text(row.note);
      }
      let at = 0;
      for (const part of used) {
        const value = row.values[part.key] || 0;
        if (!(value > 0)) continue;
        const x0 = x(at);
        const wide = Math.max(0.4, x(at + value) - x0 - 0.7);
        const mark = svg.append("rect").attr("x", x0).attr("y", y).attr("width", wide).attr("height", height)
          .style("fill", part.color).node();
        tells(mark, () => [part.label, [[row.label, text(value)], ["share", share(value / row.total)]], part.color]);
        at += value;
      }
      if (row.band) {
        const [lo, hi] = row.band.map(x);
        const middle = y + height / 2;
        svg.append("path").attr("class", "band").attr("d", `M${lo},${middle - 5}V${middle + 5}M${lo},${middle}H${hi}M${hi},${middle - 5}V${middle + 5}`)
          .style("stroke", "var(--ink)").style("stroke-width", 1.5).style("fill", "none");
      }
      svg.append("text").attr("class", "strong").attr("x", width).attr("y", y + height - 5)
        .attr("text-anchor", "end").text(total(row.total));
    });
    if (limit) {
      svg.append("line").attr("x1", x(limit.value)).attr("x2", x(limit.value)).attr("y1", top)
        .attr("y2", bottom).style("stroke", "var(--ink)").style("stroke-dasharray", "3 3");
      svg.append("text").attr("class", "strong").attr("x", x(limit.value)).attr("y", 12)
        .attr("text-anchor", x(limit.value) > width * 0.7 ? "end" : "middle").text(limit.label);
    }
    return bottom + 22;
  });
  legend(parent, used);
  return redraw;
}

const clipped = (text, most) => (text.length > most ? `${text.slice(0, Math.max(3, most - 1))}…` : text);

/* ---- Tables ----------------------------------------------------------------------------------- */

/* columns: {label, value(row) to sort by, show(row) node or text, number, wrap, screen: not on paper,
 * title}. first: rows shown
 * before "Show all". Returns {node, update(rows)}. */
function table({ columns, rows, sort, down = true, first = Infinity, search, rowAttributes, caption, tools }) {
  let by = sort;
  let falling = down;
  let all = false;
  let needle = "";
  let current = rows;
  const body = el("tbody");
  const heads = columns.map((column, i) => {
    const head = el("th", { scope: "col", class: [column.number && "n", column.screen && "screen"].filter(Boolean).join(" ") || null, title: column.title });
    if (sort == null || !column.value) {
      head.append(column.label);
    } else {
      head.append(el("button", { type: "button", onclick: () => {
        falling = by === i ? !falling : !!column.number;
        by = i;
        fill();
      } }, column.label));
    }
    return head;
  });
  const tally = el("span");
  const more = el("button", { type: "button", onclick: () => { all = !all; fill(); } });
  const box = search ? el("input", { type: "search", placeholder: search, "aria-label": search, oninput: () => {
    needle = box.value.toLowerCase();
    fill();
  } }) : null;

  function fill() {
    heads.forEach((head, i) => {
      head.removeAttribute("aria-sort");
      const button = head.querySelector("button");
      if (button) button.textContent = columns[i].label + (by === i ? (falling ? " ↓" : " ↑") : "");
      if (by === i) head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    });
    let list = current;
    if (needle) list = list.filter((row) => columns.some((c) => c.value && String(c.value(row)).toLowerCase().includes(needle)));
    if (by != null) {
      const value = columns[by].value;
      list = [...list].sort((a, b) => {
        const [u, v] = [value(a), value(b)];
        const missing = (u == null || Number.isNaN(u)) - (v == null || Number.isNaN(v));
        return missing || (falling ? d3.descending(u, v) : d3.ascending(u, v));
      });
    }
    const shown = all ? list : list.slice(0, first);
    body.replaceChildren(...shown.map((row, i) => el("tr", rowAttributes ? rowAttributes(row, i) : {},
      columns.map((column) => el("td", { class: [column.number && "n", column.wrap && "wrap", column.screen && "screen"].filter(Boolean).join(" ") || null }, column.show(row, i))))));
    tally.textContent = `${count(shown.length)} of ${count(list.length)} rows`;
    more.textContent = all ? "Show fewer" : `Show all ${count(list.length)}`;
    more.hidden = list.length <= first;
    tally.hidden = first === Infinity && !search;
  }

  const view = el("table", {}, caption ? el("caption", { class: "hidden" }, caption) : null,
    el("thead", {}, el("tr", {}, heads)), body);
  const node = el("div", {},
    box || tools ? el("div", { class: "tools" }, tools, box ? el("span", { class: "right" }, box) : null) : null,
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption || "table" }, view),
    el("div", { class: "tools", style: "margin:10px 0 0" }, tally, more));
  fill();
  return { node, update: (list) => { current = list; fill(); }, refresh: fill };
}

/* A number with a bar behind it. */
function meter(text, fraction, kind) {
  const width = Math.max(0, Math.min(1, fraction || 0)) * 100;
  return [text, el("span", { class: `meter ${kind || ""}`, "aria-hidden": "true" }, el("b", { style: `width:${width}%` }))];
}

function folded(title, node) {
  return el("details", {}, el("summary", {}, title), node);
}

/* A group of buttons of which one is pressed. */
function choice(label, options, value, onchange) {
  const buttons = options.map(([key, text]) => el("button", { type: "button", onclick: () => {
    for (const [i, button] of buttons.entries()) button.setAttribute("aria-pressed", String(options[i][0] === key));
    onchange(key);
  }, "aria-pressed": String(key === value) }, text));
  return el("span", { class: "switch", role: "group", "aria-label": label }, buttons);
}

function picker(label, options, value, onchange) {
  return el("label", {}, label, el("select", { onchange: (event) => onchange(event.target.value) },
    options.map(([key, text]) => el("option", { value: key, selected: key === value }, text))));
}

/* ---- Parts of time and memory ------------------------------------------------------------------ */

/* By the labels that calc gives them: family by hue, member by lightness; and what they are. */
const timeLooks = {
  "forward": ["blue1", "matrix and vector work of the forward pass"],
  "backward": ["blue2", "activation and weight gradients"],
  "recompute": ["blue3", "forward work done again to save memory"],
  "embedding and head": ["purple", "embedding, head and loss"],
  "optimizer": ["green", "update of the weights"],
  "tensor-parallel comm.": ["orange1", "collectives inside layers that no compute hides"],
  "repeated communication": ["orange4", "the same again, for recomputation"],
  "context-parallel comm.": ["orange5", "keys and values between parts of a sequence"],
  "expert-parallel comm.": ["purple2", "tokens on their way to experts and back"],
  "pipeline comm.": ["orange2", "activations handed to the next stage"],
  "data-parallel comm.": ["orange3", "reduction of gradients, gathering of weights"],
  "forward offload": ["sand", "traffic to the second memory tier, forward"],
  "backward offload": ["sand", "the same, backward"],
  "pipeline bubble": ["grey", "stages that wait while the pipeline fills and drains"],
  "waiting for the host": ["grey2", "kernels are issued slower than they run"],
  "stragglers": ["green2", "waiting for the slowest of many processors"],
  "fixed overhead": ["cat5", "once per step"],
};
const memoryLooks = {
  "weights": "blue1", "activations": "blue2", "checkpoints": "blue3", "activation gradients": "orange2",
  "block at hand": "orange2", "weight gradients": "orange3", "optimizer": "green", "head": "purple",
  "cached keys and values": "orange1", "framework": "grey", "fragmentation, reserve": "grey2",
};
const timePart = (label) => ({ key: label, label, color: colorOf((timeLooks[label] || ["grey"])[0]) });
const memoryPart = (label) => ({ key: label, label, color: colorOf(memoryLooks[label] || "grey") });
/* In the order of the looks, so that families stay together. */
const timeParts = Object.keys(timeLooks).map(timePart);
const memoryParts = Object.keys(memoryLooks).map(memoryPart);

/* The same numbers as a table behind the picture. */
function partsTable(rows, parts, text, name) {
  const used = parts.filter((part) => rows.some((row) => row.values[part.key] > 0));
  return folded("Show as table", table({ caption: name, rows, columns: [
    { label: "", show: (row) => row.label },
    ...used.map((part) => ({ label: part.label, number: true, show: (row) => text(row.values[part.key] || 0) })),
    { label: "total", number: true, show: (row) => text(row.total) }] }).node);
}
