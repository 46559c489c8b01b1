// The pages on paper, with the keyboard, for eyes that see less, and with 100,000 points.
//   node walk.mjs CALC CHROMIUM
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "./browser.mjs";

const [calc, chromium] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), "calc-walk-"));
const file = (name) => join(scratch, name);
let failures = 0;
let checks = 0;

function check(what, good, found) {
  checks += 1;
  if (!good) {
    failures += 1;
    console.log(`FAILED: ${what}${found === undefined ? "" : `: ${JSON.stringify(found)}`}`);
  }
}

const make = (...words) => execFileSync(calc, words, { stdio: ["ignore", "ignore", "ignore"] });
const browser = await open(chromium, false);
const page = (expression) => browser.evaluate(expression);
const media = (type, ...features) => browser.send("Emulation.setEmulatedMedia", { media: type,
  features: features.map(([name, value]) => ({ name, value })) });
const keys = { Tab: 9, Enter: 13, Escape: 27, ArrowRight: 39, ArrowLeft: 37 };

async function press(key) {
  const event = { key, code: key, windowsVirtualKeyCode: keys[key], ...(key === "Enter" ? { text: "\r" } : {}) };
  await browser.send("Input.dispatchKeyEvent", { type: "keyDown", ...event });
  await browser.send("Input.dispatchKeyEvent", { type: "keyUp", ...event });
}

/* ---- Paper ------------------------------------------------------------------------------------ */

/* What is still there to be clicked; cells of the heat map and heads of tables are texts on paper. */
const controls = `[...document.querySelectorAll("button, input, select, summary")].filter((c) => c.checkVisibility() && !c.closest("th, #splits table")).map((c) => c.outerHTML.slice(0, 80))`;

async function checkPaper(name) {
  await browser.show(file(name), 1440, "dark");
  const before = await page(`[document.documentElement.dataset.theme, document.querySelector("main").clientWidth].join()`);
  const { data } = await browser.send("Page.printToPDF", { printBackground: true });
  const pages = (Buffer.from(data, "base64").toString("latin1").match(/\/Type\s*\/Page\b/g) || []).length;
  check(`${name}: pages of the PDF`, pages >= 2 && pages <= 10, pages);
  check(`${name}: after printing all is as before`, await page(`[document.documentElement.dataset.theme, document.querySelector("main").clientWidth].join()`) === before);
  await media("print");
  await page(`dispatchEvent(new Event("beforeprint"))`);
  check(`${name}: paper is light`, await page(`document.documentElement.dataset.theme`) === "light");
  check(`${name}: no controls on paper`, (await page(controls)).length === 0, await page(controls));
  check(`${name}: no bar on paper`, await page(`getComputedStyle(document.querySelector(".bar")).display`) === "none");
  const cut = `[...document.querySelectorAll(".scroll > table, svg, canvas")].filter((n) => n.checkVisibility() && n.getBoundingClientRect().right > document.querySelector("main").getBoundingClientRect().right + 1).map((n) => n.outerHTML.slice(0, 80))`;
  check(`${name}: nothing is cut on paper`, (await page(cut)).length === 0, await page(cut));
  check(`${name}: pictures and rows stay whole`, await page(`[...document.querySelectorAll("figure, main tr, .card")].every((n) => getComputedStyle(n).breakInside === "avoid")`));
  check(`${name}: titles stay with what follows`, await page(`[...document.querySelectorAll("h2, .lead")].every((n) => getComputedStyle(n).breakAfter === "avoid")`));
  check(`${name}: points lie on their axes`, await page(`[...document.querySelectorAll("#tradeoff [aria-roledescription]")].every((n) => { const [a, b] = [n.querySelector("canvas"), n.querySelector("svg")].map((c) => c.getBoundingClientRect()); return Math.abs(a.width - b.width) < 1 && Math.abs(a.left - b.left) < 1 && n.querySelector("svg").viewBox.baseVal.width === Math.round(b.width); })`));
  await page(`dispatchEvent(new Event("afterprint"))`);
  await media("");
}

/* ---- Eyes ------------------------------------------------------------------------------------- */

/* In the page: contrast of two CSS colours. */
const contrast = `const luminance = (text) => { const c = d3.rgb(text); return [c.r, c.g, c.b].map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0); };
  const ratio = (a, b) => { const [u, v] = [luminance(a), luminance(b)]; return (Math.max(u, v) + 0.05) / (Math.min(u, v) + 0.05); };`;

/* Pictures are saved as files that stand alone: no class, no variable, as large as they are shown. */
async function checkSaving(name, pictures) {
  await browser.show(file(name), 1440);
  await page(`globalThis.saved = []; URL.createObjectURL = (blob) => { saved.push({ blob }); return "data:,"; }; HTMLAnchorElement.prototype.click = function () { saved[saved.length - 1].name = this.download; }; 0`);
  const count = await page(`document.querySelectorAll(".savers button").length`);
  check(`${name}: each picture is saved as SVG and PNG`, count === 2 * pictures, count);
  for (let i = 0; i < count; i++) {
    await page(`document.querySelectorAll(".savers button")[${i}].click()`);
    check(`${name}: picture ${i} is saved`, await browser.until(`saved.length === ${i} + 1`));
  }
  check(`${name}: their names say what they are`, await page(`saved.every(({ name }, i) => /^calc-[a-z]+-[a-z0-9-]+[.](svg|png)$/.test(name) && name.endsWith(i % 2 ? "png" : "svg"))`), await page(`saved.map(({ name }) => name)`));
  check(`${name}: SVG is whole by itself`, await page(`(async () => { const texts = await Promise.all(saved.filter((s, i) => i % 2 === 0).map(({ blob }) => blob.text())); return texts.every((text) => { const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement; return svg.nodeName === "svg" && +svg.getAttribute("width") > 300 && +svg.getAttribute("height") > 40 && svg.querySelectorAll("text").length > 2 && !/class=|var[(]/.test(text); }); })()`));
  check(`${name}: PNG has twice its pixels`, await page(`(async () => { for (let i = 0; i < saved.length; i += 2) { const svg = new DOMParser().parseFromString(await saved[i].blob.text(), "image/svg+xml").documentElement; const png = await createImageBitmap(saved[i + 1].blob); if (png.width !== 2 * svg.getAttribute("width") || png.height !== 2 * svg.getAttribute("height")) return false; } return true; })()`));
  const bars = await page(`(async () => { const s = saved.find(({ name }) => /where-the-step-goes[.]svg/.test(name)); return s ? (await s.blob.text()).includes("backward") : null; })()`);
  check(`${name}: the legend is in the picture`, bars !== false, bars);
}

async function checkContrast(name) {
  for (const scheme of ["light", "dark"]) {
    await browser.show(file(name), 1440, scheme);
    const tokens = await page(`(() => { ${contrast}
      const style = getComputedStyle(document.documentElement);
      const color = (key) => style.getPropertyValue("--" + key).trim();
      const pairs = [["ink", "page"], ["ink", "card"], ["ink", "grid"], ["ink", "accent-soft"], ["ink2", "page"], ["ink2", "card"], ["ink2", "grid"], ["ink2", "accent-soft"], ["ink3", "card"], ["accent", "page"], ["accent", "card"], ["accent", "accent-soft"], ["bad", "page"]];
      return pairs.map(([a, b]) => [a, b, ratio(color(a), color(b))]).filter(([, , r]) => !(r >= 4.5)); })()`);
    check(`${name}, ${scheme}: contrast of the palette`, tokens.length === 0, tokens);
    /* Every text as it is: its colour on the first background behind it. */
    const texts = await page(`(() => { ${contrast}
      const weak = [];
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      let seen = 0;
      while (walker.nextNode()) {
        const node = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || node.closest("script, style, noscript, .hidden, .skip") || !node.checkVisibility() || node.closest("button")?.disabled) continue;
        const style = getComputedStyle(node);
        let behind = node;
        while (behind && d3.color(getComputedStyle(behind).backgroundColor).opacity < 0.5) behind = behind.parentElement;
        const back = node.dataset.on || (behind ? getComputedStyle(behind).backgroundColor : "#fff");
        const front = node instanceof SVGElement ? style.fill : style.color;
        const least = parseFloat(style.fontSize) >= 24 ? 3 : 4.5;
        seen += 1;
        if (ratio(front, back) < least) weak.push([walker.currentNode.data.trim().slice(0, 30), front, back, ratio(front, back).toFixed(2)]);
      }
      return { seen, weak: weak.slice(0, 5) }; })()`);
    check(`${name}, ${scheme}: contrast of ${texts.seen} texts`, texts.seen > 50 && texts.weak.length === 0, texts.weak);
  }
  for (const [value, behaviour] of [["reduce", "auto"], ["no-preference", "smooth"]]) {
    await media("", ["prefers-reduced-motion", value]);
    check(`${name}: motion ${value}`, await page(`getComputedStyle(document.documentElement).scrollBehavior`) === behaviour);
  }
  check(`${name}: nothing moves by itself`, await page(`document.getAnimations().length === 0 && [...document.querySelectorAll("*")].every((n) => parseFloat(getComputedStyle(n).transitionDuration) === 0)`));
  await media("");
}

/* ---- Words for pictures ------------------------------------------------------------------------ */

async function checkWords(name) {
  await browser.show(file(name), 1440);
  const mute = await page(`[...document.querySelectorAll("main svg, main canvas")].filter((n) => {
    if (n.closest("button")) return false; /* the button has a name */
    if (n.getAttribute("aria-hidden") === "true") return !n.closest("[aria-label][aria-roledescription]") && !n.classList.contains("screen");
    return n.getAttribute("role") !== "img" || (n.getAttribute("aria-label") || "").length < 12;
  }).map((n) => n.outerHTML.slice(0, 100))`);
  check(`${name}: every picture says what it shows`, mute.length === 0, mute);
  const bare = await page(`[...document.querySelectorAll("main section")].filter((s) => s.querySelector("svg[role=img]") && !s.querySelector("table") && !["parity", "roofline"].includes(s.id)).map((s) => s.id)`);
  check(`${name}: pictures have tables`, bare.length === 0, bare);
  check(`${name}: tables have captions and heads`, await page(`[...document.querySelectorAll("table")].every((t) => t.caption && t.querySelector("th[scope=col]"))`));
  check(`${name}: landmarks`, await page(`["header", "nav[aria-label]", "main", "footer"].every((s) => document.querySelectorAll(s).length === 1) && document.documentElement.lang === "en"`));
  const { nodes } = await browser.send("Accessibility.getFullAXTree");
  const nameless = nodes.filter((n) => !n.ignored && ["button", "checkbox", "combobox", "searchbox", "link", "image", "img", "table", "region"].includes(n.role?.value) && !n.name?.value)
    .map((n) => [n.role.value, n.nodeId]);
  check(`${name}: everything has a name in the accessibility tree`, nameless.length === 0, nameless.slice(0, 5));
}

/* ---- The keyboard ------------------------------------------------------------------------------ */

async function checkTabs(name) {
  await browser.show(file(name), 1440);
  const all = await page(`(() => { const list = [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")].filter((n) => n.checkVisibility() && !n.disabled); list.forEach((n, i) => { n.dataset.tab = i; }); return list.length; })()`);
  const order = [];
  const unseen = [];
  for (let i = 0; i < all + 5; i++) {
    await press("Tab");
    const at = await page(`(() => { const n = document.activeElement; if (!n || n === document.body) return null; const s = getComputedStyle(n); return { tab: Number(n.dataset.tab ?? -1), ring: s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2, what: n.outerHTML.slice(0, 60) }; })()`);
    if (!at || at.tab === order[0]) break;
    order.push(at.tab);
    if (!at.ring) unseen.push(at.what);
  }
  check(`${name}: Tab reaches every control`, order.length === all, [order.length, all]);
  check(`${name}: in the order of the page`, order.every((tab, i) => tab === i), order.findIndex((tab, i) => tab !== i));
  check(`${name}: the focus shows`, unseen.length === 0, unseen.slice(0, 3));
}

async function checkKeyboard() {
  await browser.show(file("sweep.html"), 1440);
  await page(`document.querySelector("#layouts th button").focus()`);
  const sorted = () => page(`document.activeElement.closest("th")?.getAttribute("aria-sort")`);
  const before = await sorted();
  await press("Enter");
  const first = await sorted();
  await press("Enter");
  check("Enter sorts, again turns, and the focus stays", first && await sorted() !== first, [before, first, await sorted()]);
  const rates = await page(`[...document.querySelectorAll("#layouts tbody tr")].map((tr) => rows[tr.dataset.row].stats.sample_rate)`);
  check("rows are in that order", rates.every((r, i) => i === 0 || (rates[0] > rates[rates.length - 1] ? r <= rates[i - 1] : r >= rates[i - 1])), rates.slice(0, 4));
  await page(`document.querySelector("#tradeoff [aria-roledescription]").focus()`);
  const told = [];
  for (let i = 0; i < 4; i++) {
    await press("ArrowRight");
    told.push(await page(`document.getElementById("tip").innerText`));
  }
  check("arrows walk from point to point of the front", new Set(told).size === 4, told);
  await press("ArrowLeft");
  check("and back", await page(`document.getElementById("tip").innerText`) === told[2]);
  check("what they come to is said", await page(`document.getElementById("tip").getAttribute("aria-live")`) === "polite");
  const bars = () => page(`compared.length`);
  const some = await bars();
  await press("Enter");
  check("Enter compares the point", await bars() === some + 1, [some, await bars()]);
  await press("Escape");
  check("Escape takes the tip away", await page(`document.getElementById("tip").hidden`));
  await browser.show(file("run.html"), 1440);
  await page(`document.querySelector("#roofline figure").focus()`);
  const discs = [];
  for (let i = 0; i < 3; i++) {
    await press("ArrowRight");
    discs.push(await page(`document.getElementById("tip").innerText + document.querySelectorAll("#roofline .at").length`));
  }
  check("arrows walk from disc to disc, one is ringed", new Set(discs).size === 3 && discs.every((text) => text.endsWith("1")), discs);
  await page(`document.querySelector("#pipeline [aria-roledescription]").focus()`);
  const shown = () => page(`document.querySelector("#pipeline .tools .right").textContent`);
  const opening = await shown();
  await press("ArrowRight");
  check("arrows move the timeline", await shown() !== opening);
}

/* ---- 100,000 points ---------------------------------------------------------------------------- */

/* The points of a page five and more times, each copy a little off the others. */
function tile(from, to, points) {
  const text = readFileSync(file(from), "utf8");
  const [whole, json] = /id="calc-data">\n([\s\S]*?)<\/script>/.exec(text);
  const data = JSON.parse(json);
  const { cloud } = data;
  const times = Math.ceil(points / cloud.shown);
  const repeat = (values, off) => Array.from({ length: points }, (_, i) => {
    const value = values[i % cloud.shown];
    return off && value !== null ? Number((value * (1 + 0.01 * Math.floor(i / cloud.shown) / times)).toPrecision(7)) : value;
  });
  for (const axis of cloud.axes) axis.values = repeat(axis.values, false);
  for (const metric of cloud.metrics) metric.values = repeat(metric.values, true);
  cloud.design = repeat(cloud.design, false);
  cloud.shown = points;
  writeFileSync(file(to), text.replace(whole, () => `id="calc-data">\n${JSON.stringify(data).replaceAll("<", "\\u003c")}</script>`));
}

async function checkMany() {
  const points = 100000;
  tile("sweep.html", "many.html", points);
  check("100,000 points: ready", await browser.show(file("many.html"), 1440));
  check("100,000 points: no complaint", browser.complaints.length === 0, browser.complaints);
  check("100,000 points: all are there", (await page(`document.querySelector("#tradeoff p.note[aria-live]").textContent`)).replace(/\D/g, "").startsWith(`${points}${points}`));
  const times = await page(`(() => {
    const flush = () => document.querySelector("#tradeoff canvas").getContext("2d").getImageData(0, 0, 1, 1);
    const clock = (act) => { const all = []; for (let i = 0; i < 5; i++) { const t = performance.now(); act(i); flush(); all.push(performance.now() - t); } return all.sort((a, b) => a - b)[2]; };
    const x = d3.extent(columns.get(view.x)), y = d3.extent(columns.get(view.y));
    const draw = clock(() => repaints.forEach((repaint) => repaint()));
    const brush = clock((i) => { view.area = { x0: x[0], x1: x[0] + (x[1] - x[0]) * (0.3 + 0.1 * i), y0: y[0], y1: y[0] + (y[1] - y[0]) * 0.6 }; refilter(); });
    view.area = null;
    const all = clock(() => refilter());
    const area = document.querySelector("#tradeoff [aria-roledescription]");
    const box = area.getBoundingClientRect();
    const t = performance.now();
    for (let i = 0; i < 100; i++) area.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + 80 + 5 * i, clientY: box.top + 60 + 3 * i }));
    return { ready: performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd, draw, brush, all, hover: (performance.now() - t) / 100 };
  })()`);
  const told = Object.entries(times).map(([what, ms]) => `${what} ${ms.toFixed(ms < 10 ? 1 : 0)} ms`).join(", ");
  console.log(`100,000 points: ${told}`);
}

try {
  make("run", "deepseek-v3-671B", "h800", "deepseek-v3_2048", "--html", file("run.html"), "--json", file("run.json"));
  make("sweep", "--threads", "2", "--html", file("sweep.html"));
  make("sweep", "gpt3-175B", "a100_80g", "--procs", "64:256:x2", "--batch", "256", "--html", file("scaling.html"));
  make("plan", "llama2-70B", "a800,h800", "--chips", "a800:8,h800:8", "--procs", "16", "--batch", "32", "--axis", "pp=4", "--axis", "tp=4",
    "--axis", "microbatch_size=1", "--set", "num_blocks=10", "--time-limit", "1000", "--html", file("plan.html"));
  make("plan", "llama2-7B", "a100_sxm_40g", "--procs", "8", "--batch", "64", "--set", "mem1.GiB=28", "--layers", "--axis", "pp=2", "--top", "2",
    "--time-limit", "1000", "--html", file("layers.html"));
  make("tune", "llama2-7B", "a100_sxm_40g", "--procs", "8", "--batch", "64", "--simulate", "1", "--most", "6", "--html", file("tune.html"));
  make("validate", "--html", file("validate.html"));
  await browser.send("Accessibility.enable");
  for (const name of ["run.html", "sweep.html", "scaling.html", "plan.html", "layers.html", "tune.html", "validate.html"]) {
    await checkPaper(name);
    await checkContrast(name);
    await checkWords(name);
    await checkTabs(name);
  }
  for (const [name, pictures] of [["run.html", 4], ["sweep.html", 3], ["tune.html", 2]]) await checkSaving(name, pictures);
  await checkKeyboard();
  await checkMany();
} finally {
  await browser.close();
  rmSync(scratch, { recursive: true, force: true });
}
console.log(`${checks - failures} of ${checks} checks passed`);
process.exit(failures > 0 ? 1 : 0);
