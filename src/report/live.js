/* Live pages: calc itself, as a WebAssembly module in the page, answers the requests of `calc serve`. Without
 * WebAssembly, or where the page's policy forbids it, nothing here runs and the page stays as it was written. */
"use strict";

const unpacked = async (id) => {
  const packed = Uint8Array.from(atob(document.getElementById(id).textContent.trim()), (c) => c.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
};

/* A session of the compiled module: text in, text out. Also the whole program of a worker, so it uses nothing from outside. */
async function openSession(module) {
  let memory = null;
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] = imports[from] || {};
    imports[from][name] = name !== "clock_time_get" ? () => 8 /* no such file */ : (clock, precision, place) => {
      new DataView(memory.buffer).setBigUint64(place, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    };
  }
  const calc = (await WebAssembly.instantiate(module, imports)).exports;
  memory = calc.memory;
  calc._initialize();
  const session = calc.calc_session_open(0, 0);
  return (request) => {
    const sent = new TextEncoder().encode(request);
    const place = calc.malloc(sent.length);
    new Uint8Array(memory.buffer).set(sent, place);
    const answer = calc.calc_session_ask(session, place, sent.length);
    calc.free(place);
    if (!answer) throw new Error("there is not enough memory in a browser; calc in a shell has more");
    const all = new Uint8Array(memory.buffer);
    const text = new TextDecoder().decode(all.subarray(answer, all.indexOf(0, answer)));
    calc.calc_session_release(answer);
    return text;
  };
}

const parsed = (text) => withoutNull(JSON.parse(text));
/* The reasons of an answer that is none, in calc's words. */
const complaints = (answer) => (answer.errors || []).map(({ file, line, text, hint }) => `${/^--/.test(file) ? `${file}: ` : ""}${line > 1 ? `line ${line}: ` : ""}${text}${hint ? `; ${hint}` : ""}`);

/* Draws the page again from other data: its scripts as a function of them. */
let drawPage = null;
function redraw(next) {
  if (!drawPage) {
    const text = [...document.querySelectorAll("script.page")].map((node) => node.textContent).join("\n");
    document.head.append(el("script", {}, `globalThis.calcDraw = function (data) { ${text}\n};`));
    drawPage = globalThis.calcDraw;
  }
  const active = document.activeElement;
  const [left, top] = [scrollX, scrollY];
  const open = new Set([...document.querySelectorAll("section details[open]")].map((node) => place(node)));
  const heights = new Map([...main.children].map((node) => [node.id, node.offsetHeight]));
  unpin();
  main.style.minHeight = `${main.offsetHeight}px`;
  for (const node of [main, nav, document.getElementById("footer")]) node.replaceChildren();
  sized.length = repaints.length = 0;
  drawPage(next);
  for (const node of document.querySelectorAll("section details")) if (open.has(place(node))) node.open = true;
  /* Sections out of sight are laid out when they come into it; until then they are as tall as before. */
  for (const node of main.children) {
    if (heights.get(node.id)) node.style.containIntrinsicHeight = `auto ${heights.get(node.id)}px`;
    /* Their titles are not laid out either, and would name nothing. */
    const title = node.querySelector("h2");
    if (title) node.setAttribute("aria-label", title.textContent);
    node.removeAttribute("aria-labelledby");
  }
  main.style.minHeight = "";
  if (active && active !== document.activeElement && active.isConnected) active.focus({ preventScroll: true });
  scrollTo({ left, top, behavior: "instant" });
}
const place = (node) => [node.closest("section").id, [...node.closest("section").querySelectorAll("details")].indexOf(node)].join();

/* ---- Fields ----------------------------------------------------------------------------------- */

/* The row of a field: "networks[0].bandwidth" is "networks[N].bandwidth" of the table, "matrix.float8.tflops" of a DATATYPE. */
const fieldIn = (table_, path) => table_[path] || table_[path.replace(/\[\d+\]/g, "[N]").replace(/^(matrix|vector)\.[a-z0-9]+\./, "$1.DATATYPE.")];

/* The fields of a document as texts that take the form of --set: [path, text]. */
function leaves(object, table_, before = "") {
  return Object.entries(object).flatMap(([key, value]) => {
    const path = Array.isArray(object) ? `${before.slice(0, -1)}[${key}]` : `${before}${key}`;
    const field = fieldIn(table_, path);
    if (field && field.type === "set") return [[path, value.join("+") || "none"]];
    if (field) return [[path, value && typeof value === "object" ? JSON.stringify(value) : value]];
    return value && typeof value === "object" ? leaves(value, table_, `${path}.`) : [];
  });
}

/* Not notes and names of other files. */
const isEditable = (field) => field && !["text", "system", "software"].includes(field.type);

/* A control for a field. `commit(text)` is called with what the user wants. */
function control(name, field, commit) {
  const range = [field.minimum !== undefined ? `${field.minimum} to ${field.maximum}` : "", field.unit || "", field.auto ? "or auto" : ""].filter(Boolean).join(" ");
  const title = [field.description, range, field.default !== undefined ? `by default ${field.default}` : ""].filter(Boolean).join("; ");
  if (field.type === "boolean" || field.type === "choice") {
    const options = field.type === "boolean" ? [["true", "yes"], ["false", "no"]] : field.choices.map((word) => [word, word.replaceAll("_", " ")]);
    if (field.auto && !options.some(([key]) => key === "auto")) options.push(["auto", "auto"]);
    const node = el("select", { "aria-label": name, title, onchange: () => commit(node.value) }, options.map(([value, text]) => el("option", { value }, text)));
    return { node, show: (value) => { node.value = String(value); } };
  }
  const box = el("input", { type: "text", inputmode: ["integer", "number"].includes(field.type) ? "decimal" : "text", autocomplete: "off", spellcheck: "false", "aria-label": name,
    title: field.type === "set" ? `${title}; any of ${field.choices.join(", ")} with + between them, or none` : title,
    onchange: () => commit(box.value.trim()),
    onkeydown: (event) => {
      const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
      if (step && field.type === "integer" && box.value !== "auto") {
        event.preventDefault();
        box.value = Number(box.value) + step;
        commit(box.value);
      }
    } });
  const by = (label, turn, what) => el("button", { type: "button", "aria-label": `${what} ${name}`, onclick: () => commit(String(turn(Number(box.value) || 0))) }, label);
  const node = field.type === "integer" ? el("span", { class: "steps" }, by("÷2", (x) => Math.max(field.minimum, Math.floor(x / 2)), "halve"), box, by("×2", (x) => Math.max(1, 2 * x), "double")) : box;
  return { node, box, show: (value) => { if (document.activeElement !== box || box.value === "auto") box.value = String(value); } };
}

/* One value for all places, or those of a list: "3x5" is three times 5. */
const spread = (value, many) => (Array.isArray(value) ? value.flatMap((one) => {
  const [, times, each] = /^(?:(\d+)x)?(.*)$/.exec(one);
  return Array(Number(times || 1)).fill(each);
}) : Array(many).fill(value));

/* ---- The dock ---------------------------------------------------------------------------------- */

/* What stays in sight: the result, how far it is from the start, and what can be done. */
const dock = el("aside", { class: "dock", "aria-label": "Changes" });
function showDock(words_, buttons, bad) {
  const said = el("div", { role: "status", "aria-live": "polite", class: bad ? "bad" : null }, words_);
  dock.replaceChildren(said, el("div", { class: "tools", style: "margin:0" }, buttons));
  if (!dock.isConnected) document.body.append(dock);
  document.body.classList.add("docked");
}

const button = (text, onclick, disabled) => el("button", { type: "button", onclick, disabled }, text);
/* Names that a list offers. */
const options = (names, chosen) => [...new Set([chosen, ...names])].map((name) => el("option", { value: name, selected: name === chosen }, name));

/* Starts the module. `ready(ask, catalogue, code)` is called once it answers; `code` is the module, compiled. */
async function goLive(ready) {
  try {
    const [bytes, catalogue] = await Promise.all([unpacked("calc-module"), unpacked("calc-catalogue")]);
    const code = await WebAssembly.compile(bytes);
    const ask = await openSession(code);
    /* Another view in the address of this page. */
    addEventListener("hashchange", () => { if (location.hash.includes("=")) location.reload(); });
    ready((request) => parsed(ask(JSON.stringify(request))), JSON.parse(new TextDecoder().decode(catalogue)), code);
  } catch (failure) {
    document.documentElement.dataset.live = "no"; /* an old browser, or one without WebAssembly */
    if (data.kind !== "app") return;
    main.append(el("p", { class: "note" }, "This page computes with WebAssembly, which this browser does not have or does not allow. calc sweep answers in a shell."));
    document.documentElement.dataset.ready = "yes";
  }
}
