// The pages of `calc run`, `calc sweep`, `calc plan`, `calc tune` and `calc validate` in a headless browser.
//   node smoke.mjs CALC CHROMIUM [--screenshots FOLDER]
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "./browser.mjs";

const [calc, chromium] = process.argv.slice(2);
const folder = process.argv[4] === "--screenshots" ? process.argv[5] : null;
const scratch = mkdtempSync(join(tmpdir(), "calc-smoke-"));
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

/* An infeasible layout or an empty sweep ends with 1 and still writes its files. */
function make(...words) {
  try {
    execFileSync(calc, words, { stdio: ["ignore", "ignore", "ignore"] });
  } catch (failure) {
    if (failure.status !== 1) throw failure;
  }
}

const near = (a, b) => Math.abs(a - b) <= 1e-12 * Math.max(Math.abs(a), Math.abs(b));
const sum = (object) => Object.values(object).reduce((a, b) => a + b, 0);
const json = (name) => JSON.parse(readFileSync(file(name), "utf8"));
const dataOf = (name) => JSON.parse(/id="calc-data">\n([\s\S]*?)<\/script>/.exec(readFileSync(file(name), "utf8"))[1]);

const browser = await open(chromium, false);
const page = (expression) => browser.evaluate(expression);
/* The fragment of the address, once it has all that the page keeps there. */
const address = async () => {
  await browser.until(`location.hash === (kept.toString() ? "#" + kept : "")`);
  return page("location.hash");
};

/* What every page must do at every width and in both themes. */
async function everywhere(name) {
  for (const [width, scheme] of [[1440, "light"], [820, "dark"], [390, "light"]]) {
    const where = `${name} at ${width}, ${scheme}`;
    check(`${where}: ready`, await browser.show(file(name), width, scheme));
    check(`${where}: no complaint`, browser.complaints.length === 0, browser.complaints);
    check(`${where}: no request but the file`, browser.requests.length === 1, browser.requests);
    const wide = await page("document.documentElement.scrollWidth");
    check(`${where}: as wide as the window`, wide <= width, wide);
    check(`${where}: theme`, await page("document.documentElement.dataset.theme") === scheme);
    if (folder) writeFileSync(join(folder, `${name}-${width}-${scheme}.png`), await browser.screenshot());
  }
  await browser.show(file(name), 1440);
  check(`${name}: pictures have a text`, await page(`[...document.querySelectorAll("main svg:not([aria-hidden])")].every((s) => (s.getAttribute("aria-label") || "").length > 4)`));
  check(`${name}: controls have a name`, await page(`[...document.querySelectorAll("button, input, select")].filter((c) => !c.hidden && !(c.textContent || c.getAttribute("aria-label") || "").trim()).length === 0`));
  check(`${name}: one h1`, await page(`document.querySelectorAll("h1").length === 1`));
  check(`${name}: what made it is said`, /calc 0\.\d+\.\d+, source \S+/.test(await page(`document.getElementById("footer").innerText`)));
  check(`${name}: nothing is undefined`, await page(`!/undefined|NaN|\\[object/.test(document.body.innerText)`));
  /* The module and the catalogue of live pages have a size of their own. */
  const text = readFileSync(file(name), "utf8");
  const length = (pattern) => (pattern.exec(text) || [""])[0].length;
  const live = length(/<script type="text\/plain" id="calc-module"[\s\S]*?<\/script>/) + length(/<script type="text\/plain" id="calc-catalogue"[\s\S]*?<\/script>/);
  const fixed = statSync(file(name)).size - length(/<script type="application\/json"[\s\S]*?<\/script>/) - live;
  check(`${name}: fixed part below 425 kB`, fixed < 425000, fixed);
  check(`${name}: module below 700 kB`, live < 700000, live);
}

/* Every table with sortable columns: both ways, and said to readers of screens. */
async function sorts(name) {
  const wrong = await page(`(() => {
    const wrong = [];
    for (const head of document.querySelectorAll("th button")) {
      head.click();
      const first = head.closest("th").getAttribute("aria-sort");
      head.click();
      const second = head.closest("th").getAttribute("aria-sort");
      if (!first || !second || first === second) wrong.push(head.textContent);
    }
    return wrong;
  })()`);
  check(`${name}: sorting turns`, wrong.length === 0, wrong);
}

async function checkRun() {
  for (const [name, words] of [["classic", ["gpt3-175B", "a100_80g", "seqsel_tab5/gpt3-175B_seqsel"]],
    ["modern", ["deepseek-v3-671B", "h800", "deepseek-v3_2048"]],
    ["one", ["llama3-8B", "h100_sxm", "llama3-8B_8"]],
    ["mixed", ["llama3-70B", "h800", "llama3-70B_512", "--set", "pp=8", "--set", "dp=16", "--set", "cp=1",
      "--set", "pipeline_interleaving=1", "--set", 'stages={"system": ["4xa800", "4xh800"], "blocks": ["4x7", "4x13"]}']],
    ["full", ["gpt3-175B", "a100_80g", "seqsel_tab5/gpt3-175B_seqsel", "--set", "mem1.GiB=1"]]]) {
    make("run", ...words, "--html", file(`${name}.html`), "--json", file(`${name}.json`));
    const { run, stages, time, timeline } = dataOf(`${name}.html`);
    const told = json(`${name}.json`);
    check(`${name}: what --json says`, JSON.stringify(run) === JSON.stringify(told));
    const { losses } = dataOf(`${name}.html`);
    check(`${name}: losses end at the utilisation`, Math.abs(1 - sum(losses) - run.stats.model_flops_utilization) < 1e-12, losses);
    check(`${name}: parts of the step add up`, near(sum(time), run.stats.total_time), [sum(time), run.stats.total_time]);
    check(`${name}: stages`, stages.length === run.execution.pipeline_par);
    check(`${name}: command`, run.names.command.slice(2, 5).join() === words.slice(0, 3).join());
    const arrays = ["stage", "kind", "chunk", "microbatch", "start", "dur"].map((key) => timeline[key].length);
    check(`${name}: columns of the timeline`, new Set(arrays).size === 1, arrays);
    await everywhere(`${name}.html`);
    await sorts(name);
    check(`${name}: a pipeline is drawn if there is one`,
      (await page(`!!document.getElementById("pipeline")`)) === run.execution.pipeline_par > 1);
  }
  await browser.show(file("mixed.html"), 1440);
  check("both chips are named", (await page(`document.querySelector("p.context").textContent`)).includes("256 x a800 and 256 x h800"));
  const heads = await page(`[...document.querySelectorAll("#pipeline th")].map((th) => th.textContent.trim())`);
  check("stages have their system", heads.some((head) => head.startsWith("System")) && !heads.some((head) => head.startsWith("Recompute")), heads);
  const { run, timeline } = dataOf("classic.html");
  await browser.show(file("classic.html"), 1440);
  check("headline is the step", (await page(`document.querySelector("h1").innerText`)).includes(run.stats.total_time.toPrecision(4)),
    run.stats.total_time);
  check("all operations are drawn", timeline.start.length === 2 * 8 * 3 * timeline.microbatches);
  /* One operation at a time on a stage, and chunks of 1F1B fill the closed form. */
  const ends = new Map();
  let overlaps = 0;
  timeline.start.map((start, i) => [timeline.stage[i], start, start + timeline.dur[i]])
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]).forEach(([stage, start, end]) => {
      if (start < (ends.get(stage) || 0) * (1 - 1e-6)) overlaps += 1;
      ends.set(stage, end);
    });
  check("operations of a stage do not overlap", overlaps === 0, overlaps);
  const tail = run.stats.dp_comm_exposed_time + run.stats.optim_step_time;
  check("the schedule takes the step's time less its tail",
    Math.abs(timeline.end_s / (run.stats.total_time - tail) - 1) < 0.01, [timeline.end_s, run.stats.total_time - tail]);
  await page(`[...document.querySelectorAll("#pipeline button")].find((b) => b.textContent === "Whole step").click()`);
  const all = await page(`document.querySelector("#pipeline .tools .right").textContent`);
  check("the whole step shows all operations", all.replace(/\s/g, "").startsWith("3072of3072"), all);
  await page(`document.querySelector("#pipeline [aria-roledescription]").dispatchEvent(new KeyboardEvent("keydown", {key: "+"}))`);
  check("zooming shows fewer", (await page(`document.querySelector("#pipeline .tools .right").textContent`)) !== all);
  /* One truth: picture, trace, memory and headline. */
  for (const name of ["classic", "modern", "mixed"]) {
    await browser.show(file(`${name}.html`), 1440);
    const { run: told, step, timeline: drawn } = dataOf(`${name}.html`);
    check(`${name}: the picture ends with the step`, Math.abs(step.end_s / told.stats.total_time - 1) < 1e-9, [step.end_s, told.stats.total_time]);
    check(`${name}: it says so`, (await page(`document.querySelector("#pipeline .lead").innerText`)).includes("It ends with the step"));
    const worst = await page(`d3.max(operationsByStage(data.timeline), (list, s) => Math.abs(d3.max(memoryOf(data.timeline, data.step, list, s), (turn) => turn[1]) / stages[s].mem_tier1 - 1))`);
    check(`${name}: memory over time has the peak of every stage`, worst < 1e-6, worst);
    const parts = await page(`d3.max(data.timeline.start, (start, i) => { const t = data.timeline, parts = partsOf(t, data.step, i); return t.schedule === "dualpipe" ? 0 : Math.abs(d3.sum(parts, (part) => part[1]) / t.dur[i] - 1); })`);
    check(`${name}: parts of an operation add up`, parts < 1e-5, parts);
    const trace = JSON.parse(await page(`(() => { const events = operationsByStage(data.timeline); return JSON.stringify(traceOf(data.timeline, data.step, events, halvesOf(data.timeline, events))); })()`));
    const slices = trace.traceEvents.filter((event) => event.ph === "X");
    const until = new Map();
    let crossed = 0;
    for (const { pid, tid, ts, dur } of slices) {
      if (ts < (until.get(`${pid} ${tid}`) || 0) - 1e-3) crossed += 1;
      until.set(`${pid} ${tid}`, ts + dur);
    }
    check(`${name}: slices of the trace follow one another`, crossed === 0 && slices.length > drawn.start.length, crossed);
    check(`${name}: the trace ends with the step`, Math.abs(Math.max(...until.values()) / 1e6 / told.stats.total_time - 1) < 1e-6);
  }
  const ticks = await page(`[1e-1, 1e-3, 1e-4].map((part) => windowTicks(12.3456789, 12.3456789 + 20 * part, 8).map((tick) => tick.text))`);
  check("ticks of a small window differ", ticks.every((texts) => new Set(texts).size === texts.length && texts.length > 3), ticks);
  make("run", "llama3-405B", "h100_sxm", "llama3-405B_16384", "--band", "--html", file("band.html"), "--json", file("band.json"));
  await everywhere("band.html");
  const { total_time: band } = json("band.json").band.stats;
  const [low, high] = await page(`(() => { const path = document.querySelector("#time path.band").getAttribute("d").match(/[\\d.]+/g).map(Number); const bars = [...document.querySelectorAll("#time svg rect")].map((bar) => bar.x.baseVal.value + bar.width.baseVal.value); const x0 = document.querySelector("#time svg rect").x.baseVal.value; const unit = (Math.max(...bars) + 0.7 - x0) / timeTotal; return [(path[0] - x0) / unit, (path[6] - x0) / unit]; })()`);
  make("run", "llama3-405B", "h100_sxm", "llama3-405B_16384", "--html", file("plain.html"));
  const plain = dataOf("plain.html");
  check("the band is there without being asked for", JSON.stringify(plain.band) === JSON.stringify(json("band.json").band) && !plain.run.band);
  check("how sure it is that it fits", plain.band.fits < 0.9 && (await page(`document.querySelector(".kpis").innerText`)).includes(`${Math.round(100 * plain.band.fits)}\u202f% sure that it fits`));
  make("run", "llama3-405B", "h100_sxm", "llama3-405B_1024", "--html", file("measured.html"));
  await everywhere("measured.html");
  const [took] = dataOf("measured.html").measured;
  check("a published run of its sizes stands beside it", took.step_s === 19.84 && (await page(`document.querySelectorAll("#time path.measured").length`)) === 1
    && (await page(`document.querySelector("p.why").innerText`)).includes("19.84") && dataOf("plain.html").measured.length === 0);
  check("none where nothing was measured", dataOf("classic.html").band === null);
  check("the page says what made it, and of what", await page(`(() => { const said = document.getElementById("footer").innerText; return /calc 0\\.\\d+\\.\\d+, source \\S+/.test(said) && said.includes(run.names.sha256.system.slice(0, 12)); })()`));
  check("the band is drawn beside the step", Math.abs(low / band.p5 - 1) < 0.005 && Math.abs(high / band.p95 - 1) < 0.005, [low, high, band]);
  check("and said", (await page(`document.querySelector("p.why").innerText`)).includes("Nine of ten measured runs like it would be at"));
  const { run: modern, ten_percent_more: more } = dataOf("modern.html");
  make("run", "deepseek-v3-671B", "h800", "deepseek-v3_2048", "--set", `mem1.GBps=${modern.system.mem1.GBps * 1.1}`, "--json", file("faster.json"));
  const faster = more.find((item) => item.resource === "bandwidth of HBM");
  check("10 % more bandwidth", Math.abs(faster.total_time / json("faster.json").stats.total_time - 1) < 1e-9 && faster.total_time < modern.stats.total_time, faster);
  await browser.show(file("full.html"), 1440);
  check("an infeasible run says so", (await page(`document.querySelector("h1").innerText`)).includes("HBM capacity"));
}

/* What is served: its answer, its memory, its passes, and the same layout with other requests. */
async function checkServing() {
  const words = ["llama3-70B", "h200", "llama3-70B_serving_8"];
  make("run", ...words, "--html", file("serve.html"), "--json", file("serve.json"), "--layers");
  const { run, passes, memory1, concurrency, changes } = dataOf("serve.html");
  const { stats } = run;
  await everywhere("serve.html");
  await sorts("serve");
  const headline = await page(`document.querySelector("h1").innerText`);
  check("what to know before is said", (await page(`document.querySelector(".remark").innerText`)).includes(run.remarks[0].slice(1)));
  check("headline is the first token and the next", headline.includes((1e3 * stats.ttft).toPrecision(4)) && headline.includes((1e3 * stats.tpot).toPrecision(4)), headline);
  check("memory adds up with the cache", near(sum(memory1), stats.proc_mem_tier1_cap_req) && memory1["cached keys and values"] === stats.kv_cache_space);
  check("every part has a colour", await page(`Object.keys(data.memory1).every((key) => key in memoryLooks) && Object.keys(data.time).every((key) => key in timeLooks)`));
  const wide = await page(`[...document.querySelectorAll("#memory svg rect")].reduce((all, bar) => all + bar.width.baseVal.value + 0.7, 0)`);
  const ticks = await page(`[...document.querySelectorAll("#memory svg line")].map((line) => line.x1.baseVal.value)`);
  const capacity = ticks[ticks.length - 1] - ticks[0];
  check("bars are as long as the need", Math.abs(wide / capacity / (stats.proc_mem_tier1_cap_req / stats.mem_tier1_capacity) - 1) < 0.01, [wide, capacity]);
  check("operations are those of the decoding step", passes[0].name === "decoding step" && JSON.stringify(passes[0].layers) === JSON.stringify(run.layers));
  check("and of the prefill", passes.length === 2 && passes[1].layers.some((layer) => layer.name === "flash attention"), passes.map((pass) => pass.name));
  await page(`document.querySelectorAll("#layers .tools button")[1].click()`);
  check("which a switch shows", await page(`document.querySelector("#layers tbody").innerText.includes("flash attention")`));
  const own = concurrency.points.find((point) => point.requests === (run.execution.inference.batch || run.execution.batch_size));
  check("the layout is a point of the curve", own.ttft === stats.ttft && own.output_tokens_per_s === stats.output_tokens_per_s, own);
  make("run", ...words, "--set", "inference.batch=16", "--json", file("fewer.json"));
  const [few, fewer] = [concurrency.points.find((point) => point.requests === 16), json("fewer.json").stats];
  check("other points are the layout with other requests", few.tpot === fewer.tpot && few.requests_per_s === fewer.requests_per_s, few);
  const told = concurrency.points.map((point) => point.requests);
  check("points rise", told.every((n, i) => i === 0 || n > told[i - 1]) && told.length > 8, told);
  check("both curves have them", await page(`[...document.querySelectorAll("#concurrency svg[role=img]")].every((svg) => svg.querySelectorAll("circle").length === data.concurrency.points.length)`));
  const best = await page(`document.querySelector("#changes tbody tr td").textContent`);
  check("the most useful change comes first", best === changes.items.reduce((a, b) => (b.stats.output_tokens_per_s > a.stats.output_tokens_per_s ? b : a)).change, best);
}

/* A sweep of what is served: tokens and latencies, and fields of inference as choices. */
async function checkServingSweep() {
  make("sweep", "llama3-8B", "h100_sxm", "--procs", "8", "--axis", "inference.phase=serve", "--axis", "inference.prompt_size=1024",
    "--axis", "inference.generate_size=256", "--axis", "inference.batch=16,64", "--html", file("served.html"), "--out", file("served.json"));
  await everywhere("served.html");
  const { rows, cloud } = dataOf("served.html");
  const best = rows.find((row) => row.set === "top");
  const told = await page(`[...document.querySelectorAll(".kpis dt")].map((dt) => dt.textContent)`);
  check("serving: latencies and tokens are the figures", ["First token", "Per output token", "Output"].every((label, i) => told[i] === label), told);
  check("serving: fields of inference are choices", cloud.axes.some((axis) => axis.key === "inference.batch") && await page(`!!document.querySelector("[aria-label=batch] button")`));
  check("serving: the best row", (await page(`document.querySelector("#layouts tbody tr").innerText`)).includes(best.stats.output_tokens_per_s.toFixed(0).slice(-3)));
  const [command, rate] = await page(`(() => { const i = rowAt.findIndex((row, k) => row < 0 && k < cloud.shown); return [commandOf(layoutAt(i)), columns.get("output_tokens_per_s")[i]]; })()`);
  const ran = JSON.parse(execFileSync("bash", ["-c", command.replace(/^calc run/, `"${calc}" run`).replace(" -", " - --json -")], { encoding: "utf8" })).stats;
  check("serving: any point can be run", Math.abs(ran.output_tokens_per_s / rate - 1) < 1e-6, [command, rate]);
  const said = await page(`document.querySelector(".why").innerText + document.querySelector("#layouts thead").innerText`);
  check("serving: whether it fits is not known of any", best.fits === null && !/fitted|Fits/i.test(said), said);
  const remark = await page(`document.querySelector(".remark")?.innerText ?? ""`);
  check("serving: of a calibrated machine only the engine is missing", /engine/.test(remark) && !/calibrated|fitted/.test(remark), remark);
}

/* What to change next: what calc why says, with a command that gives it. */
async function checkChanges() {
  const words = ["deepseek-v3-671B", "h800", "deepseek-v3_2048"];
  make("why", ...words, "--json", file("why.json"));
  const why = json("why.json");
  const { changes, run } = dataOf("modern.html");
  const faster = changes.items.filter((item) => item.stats.total_time < run.stats.total_time);
  check("as many tried as calc why", changes.tried === why.tried, changes.tried);
  check("changes are those of calc why", JSON.stringify(faster.slice(0, why.changes.length).map((item) => [item.change, item.stats.total_time]))
    === JSON.stringify(why.changes.map((item) => [item.change, item.total_time])), faster.length);
  await browser.show(file("modern.html"), 1440);
  check("they are the rows", await page(`document.querySelectorAll("#changes tbody tr").length`) === Math.min(8, faster.length));
  await page(`document.querySelector("#changes tbody button").click()`);
  const command = await page(`document.querySelector("#changes pre").textContent`);
  const again = execFileSync("bash", ["-c", `${command.replace(/^calc run/, `"${calc}" run`)} --json -`], { encoding: "utf8" });
  check("the command of a change gives it", JSON.parse(again).stats.total_time === faster[0].stats.total_time, command);
}

/* Every point is a layout: a tap keeps what is told of it, with its command; the address says what is shown. */
async function checkPoints() {
  const at = await page(`(() => { const i = axes[0].place.findIndex((p, k) => k < cloud.shown && rowAt[k] < 0); return [i, commandOf(layoutAt(i)), columns.get("sample_rate")[i], columns.get("proc_mem_tier1_cap_req")[i]]; })()`);
  const ran = JSON.parse(execFileSync("bash", ["-c", at[1].replace(/^calc run/, `"${calc}" run`).replace(" -", " - --json -")], { encoding: "utf8" })).stats;
  check("a point that is no row has a command", Math.abs(ran.sample_rate / at[2] - 1) < 1e-6 && Math.abs(ran.proc_mem_tier1_cap_req / at[3] - 1) < 1e-6, at);
  await page(`document.documentElement.style.scrollBehavior = "auto", document.querySelector("#tradeoff").scrollIntoView()`);
  const ring = await page(`(() => { const b = document.querySelector("#tradeoff svg circle:nth-of-type(3)").getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; })()`);
  await browser.send("Emulation.setTouchEmulationEnabled", { enabled: true });
  await browser.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x: ring[0], y: ring[1] }] });
  await browser.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  await browser.send("Emulation.setTouchEmulationEnabled", { enabled: false });
  check("a tap keeps the tip", await browser.until(`document.getElementById("tip").dataset.pinned === "yes" && !document.getElementById("tip").hidden`));
  check("with its command and the comparison", await page(`[...document.querySelectorAll("#tip button")].map((b) => b.textContent).join()`) === "Copy,Compare,Close", await page(`document.getElementById("tip").innerText`));
  const before = await page("compared.length");
  await page(`[...document.querySelectorAll("#tip button")].find((b) => b.textContent === "Compare").click()`);
  check("which compares it", await page(`compared.length === ${before} + 1 && document.getElementById("tip").hidden`));
  await page(`document.querySelector("[aria-label=Micro-batch] button").click(), document.querySelectorAll("#layouts .switch button")[1].click()`);
  const state = () => page(`JSON.stringify([document.querySelector("#tradeoff p.note[aria-live]").textContent, compared.map((row) => row.index), document.querySelector("#layouts .switch [aria-pressed=true]").textContent])`);
  const [seen, hash] = [await state(), await address()];
  check("the address says what is shown", hash.includes("f.microbatch_size=1") && hash.includes("rows=front") && hash.includes("compare="), hash);
  await page(`document.documentElement.dataset.ready = "before", location.reload()`);
  await browser.until(`document.documentElement?.dataset.ready === "yes"`);
  check("and shows it again", await state() === seen, [await state(), seen]);
  await page(`[...document.querySelectorAll("#tradeoff button")].find((b) => b.textContent === "Clear filters").click(), document.querySelectorAll("#layouts .switch button")[0].click()`);
  await page(`toggle(compared[compared.length - 1])`);
}

async function checkSweep() {
  make("sweep", "gpt3-175B", "a100_80g", "--procs", "64", "--batch", "64", "--axis", "microbatch_size=1,2",
    "--html", file("sweep.html"), "--out", file("sweep.json"), "--summary", file("summary.json"));
  const { rows, cloud, splits, summary } = dataOf("sweep.html");
  const told = json("sweep.json");
  const best = rows.find((row) => row.set === "top");
  check("best row is the first of --out", best.stats.sample_rate === told.top[0].stats.sample_rate);
  check("its layout too", JSON.stringify(best.execution) === JSON.stringify(told.top[0].execution));
  check("layouts of the front", dataOf("sweep.html").front === told.front.length);
  check("front has as many rows", rows.filter((row) => row.set === "front").length === told.front.length);
  for (const row of rows) {
    if (!near(sum(row.time), row.stats.total_time)) check("time parts of a row add up", false, row.rank);
    if (!near(sum(row.memory1), row.stats.proc_mem_tier1_cap_req)) check("memory parts of a row add up", false, row.rank);
  }
  check("counts are those of --summary", JSON.stringify(summary.counts) === JSON.stringify(json("summary.json").counts));
  for (const column of [...cloud.axes, ...cloud.metrics]) {
    if (column.values.length !== cloud.shown) check(`column ${column.key}`, false, column.values.length);
  }
  const rates = splits.items.filter((cell) => cell.best).map((cell) => cell.best.stats.sample_rate);
  check("best split is the best", Math.max(...rates) === best.stats.sample_rate);
  check("counted cells add up", splits.items.every((cell) => cell.feasible + sum(cell.rejected) === cell.total));
  await everywhere("sweep.html");
  for (const width of [390, 1440]) {
    await browser.show(file("sweep.html"), width);
    const gaps = await page(`(() => { const cells = [...document.querySelectorAll("#splits tbody tr")].map((tr) => [...tr.cells].slice(1).map((td) => (td.firstElementChild || td).getBoundingClientRect())); return cells.slice(1).map((row, i) => Math.min(...row.map((cell, k) => cell.top - cells[i][k].bottom))); })()`);
    check(`rows of the map do not overlap at ${width}`, gaps.length > 1 && gaps.every((gap) => gap >= 0), gaps);
    const over = await page(`[...document.querySelectorAll("#time svg, #memory svg")].flatMap((svg) => { const texts = [...svg.querySelectorAll("text")].map((text) => text.getBoundingClientRect()); return texts.flatMap((a, i) => texts.slice(i + 1).filter((b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 4 && b.top < a.bottom - 4)); }).length`);
    check(`texts of bars do not lie on one another at ${width}`, over === 0, over);
    check(`and say in words why nothing fits at ${width}`, await page(`!/mem[12]/.test(document.getElementById("splits").innerText)`));
  }
  await sorts("sweep");
  const tally = () => page(`document.querySelector("#tradeoff p.note[aria-live]").textContent`);
  const seen = async () => Number((await tally()).split(" of ")[0].replace(/\D/g, ""));
  check("all are in view", await seen() === cloud.shown);
  /* One value of an axis: as many as the JSON has. */
  const axis = cloud.axes.find((a) => a.key === "tensor_par");
  const value = axis.values[0];
  const label = await page(`(() => { const b = [...document.querySelectorAll("[aria-label=TP] button")].find((x) => x.textContent === "${value}"); b.focus(); b.click(); return document.activeElement === b; })()`);
  check("a filter keeps the focus", label);
  check("a filter leaves its layouts", await seen() === axis.values.filter((v) => v === value).length);
  await page(`[...document.querySelectorAll("#tradeoff button")].find((b) => b.textContent === "Clear filters").click()`);
  check("clearing restores", await seen() === cloud.shown);
  /* Equals: filter, marks of the table, words. */
  const { values: sure } = cloud.metrics.find((m) => m.key === "sure");
  check("the best is as good as itself", best.sure === 0.5 && told.top[0].sure === 0.5 && rows.every((row) => row.sure >= 0.5), best.sure);
  const equals = sure.filter((v) => v < 0.75).length;
  check("equals are some of the points", equals > 1 && equals < cloud.shown && sure.length === cloud.shown, equals);
  await page(`[...document.querySelectorAll("[aria-label='Equal of the best'] button")].find((b) => b.textContent === "yes").click()`);
  check("a filter leaves equals", await seen() === equals, equals);
  const marks = await page(`[...document.querySelectorAll("#layouts tbody tr")].map((tr) => [tr.cells[2].textContent, rows[tr.dataset.row].stats.sure])`);
  check("rows of equals have the mark", marks.length > 1 && marks.every(([mark, chance]) => mark === "=" && chance < 0.75), marks);
  await page(`[...document.querySelectorAll("#tradeoff button")].find((b) => b.textContent === "Clear filters").click()`);
  /* The front of the picture against one of n squared. */
  const seven = (v) => Number(v.toPrecision(7));
  const [x, y] = ["proc_mem_tier1_cap_req", "sample_rate"].map((key) => [...cloud.metrics.find((m) => m.key === key).values, ...rows.map((row) => seven(row.stats[key]))]);
  const places = new Set(x.map((u, i) => [u, y[i], i]).filter(([u, v]) => !x.some((a, j) => (a <= u && y[j] > v) || (a < u && y[j] >= v))).map(([u, v]) => `${u} ${v}`));
  const drawn = Number(/front has ([\d\s\u202f]+)\./.exec(await tally())[1].replace(/\D/g, ""));
  check("every point of the front is a row", await page(`frontOf().every((i) => rowAt[i] >= 0)`));
  check("front", drawn === places.size, [drawn, places.size]);
  /* Drag an area. */
  const [left, top, width, height] = await page(`(() => { document.documentElement.style.scrollBehavior = "auto"; document.querySelector("#tradeoff").scrollIntoView(); const b = document.querySelector("#tradeoff [aria-roledescription]").getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()`);
  const mouse = (type, u, v) => browser.send("Input.dispatchMouseEvent", { type, x: u, y: v, button: "left", buttons: type === "mouseReleased" ? 0 : 1, clickCount: 1 });
  check("the scatter is there", width > 300);
  await mouse("mousePressed", left + width * 0.2, top + height * 0.2);
  await mouse("mouseMoved", left + width * 0.5, top + height * 0.4);
  await mouse("mouseMoved", left + width * 0.7, top + height * 0.7);
  await mouse("mouseReleased", left + width * 0.7, top + height * 0.7);
  const inside = await seen();
  check("an area leaves fewer", inside < cloud.shown, inside);
  await page(`document.querySelector("#tradeoff [aria-roledescription]").dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"}))`);
  check("Escape restores", await seen() === cloud.shown);
  await page(`document.querySelector("#tradeoff [aria-roledescription]").dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"}))`);
  check("arrows tell of the front", await page(`!document.getElementById("tip").hidden`));
  await checkPoints();
  /* Ticks and bars. */
  const bars = () => page(`document.querySelectorAll("#time svg text.strong").length / 2`);
  const before = await bars();
  await page(`document.querySelector("#layouts tbody input:checked").click()`);
  check("a tick less is a bar less", await bars() === before - 1);
  check("no complaint after all that", browser.complaints.length === 0, browser.complaints);
  /* The command that is copied gives the row again. */
  await page(`[...document.querySelectorAll("#layouts tbody button")].find((b) => b.textContent === "Copy").click()`);
  const command = await page(`document.querySelector("#layouts pre").textContent`);
  const again = execFileSync("bash", ["-c", command.replace(/^calc run/, `"${calc}" run`).replace(" -", " - --json -")], { encoding: "utf8" });
  const rate = await page(`rows[document.querySelector("#layouts tbody tr").dataset.row].stats.sample_rate`);
  check("its command gives the row", JSON.parse(again).stats.sample_rate === rate, rate);
  /* 10 % more of the memory, as a sweep of its own. */
  const more = dataOf("sweep.html").ten_percent_more;
  make("sweep", "gpt3-175B", "a100_80g", "--procs", "64", "--batch", "64", "--axis", "microbatch_size=1,2",
    "--axis", "sys.mem1.GiB=88", "--out", file("more.json"));
  const larger = json("more.json").top[0];
  const bought = more.find((item) => item.resource === "capacity of HBM").best;
  check("10 % more memory", bought.stats.sample_rate === larger.stats.sample_rate, [bought.stats.sample_rate, larger.stats.sample_rate]);
  check("its layout", JSON.stringify(bought.execution) === JSON.stringify(larger.execution));
  check("more is not less", more.every((item) => item.best.stats.sample_rate >= best.stats.sample_rate), more.map((item) => item.best.stats.sample_rate));
  check("each resource is a row", await page(`document.querySelectorAll("#more tbody tr").length`) === more.length);
  /* What each choice is worth: the best other value of every field. */
  await page(`document.querySelector("#worth tbody button").click()`);
  const other = await page(`document.querySelector("#worth pre").textContent`);
  const changed = execFileSync("bash", ["-c", other.replace(/^calc run/, `"${calc}" run`).replace(" -", " - --json -")], { encoding: "utf8" });
  const cost = dataOf("sweep.html").changes.items.find((item) => other.includes(item.set.map((one) => `--set ${one}`).join(" ")));
  check("the command of a choice gives its cost", JSON.parse(changed).stats.sample_rate === cost.stats.sample_rate && cost.stats.sample_rate < best.stats.sample_rate, other);
  const kinds = await page(`[...document.querySelectorAll("#worth tbody tr td:first-child")].map((td) => td.textContent.split(" ")[0])`);
  check("a field is there once", kinds.length > 5 && new Set(kinds.filter((kind) => !kind.endsWith("_par"))).size === kinds.filter((kind) => !kind.endsWith("_par")).length, kinds);
  const { read, command: asked } = dataOf("sweep.html").study;
  check("the page says what was asked", asked.join(" ") === "calc sweep gpt3-175B a100_80g --procs 64 --batch 64 --axis microbatch_size=1,2", asked);
  const digest = createHash("sha256").update(readFileSync(new URL("../../models/gpt3-175B.json", import.meta.url))).digest("hex");
  check("and read", read.length === 2 && read[0].name === "gpt3-175B" && read[0].sha256 === digest && (await page(`document.getElementById("footer").innerText`)).includes(digest.slice(0, 12)), read);
  /* Short commands: the best layout, and what makes it another one. */
  writeFileSync(file("best.json"), await page(`JSON.stringify(start.exe)`));
  for (const [i, rate] of JSON.parse(await page(`JSON.stringify(rows.slice(0, 40).filter((row, i) => i % 13 === 0).map((row) => [row.index, row.stats.sample_rate]))`))) {
    const words = await page(`commandOf(rows[${i}], [], true)`);
    const again = JSON.parse(execFileSync("bash", ["-c", words.replace(/^calc run/, `"${calc}" run --json -`)], { encoding: "utf8", cwd: scratch }));
    check(`the short command of row ${i} gives its numbers`, again.stats.sample_rate === rate && words.length < 400 && words.includes("best.json"), words);
  }
  /* A point that is no row, beside the rows: its sizes and its numbers, not its parts. */
  const bare = await page(`d3.range(cloud.shown).find((i) => rowAt[i] < 0)`);
  const ticked = await page(`compared.length`);
  await page(`toggle(layoutAt(${bare}))`);
  check("a point of the scatter is compared", await page(`compared.length`) === ticked + 1);
  check("what differs is bold, what does not is grey", await page(`(() => { const lines = [...document.querySelectorAll("#time [aria-label='Side by side'] tbody tr")].map((tr) => [...tr.cells].slice(1)); return lines.length > 5 && lines.every(([first, ...rest]) => rest.every((td) => td.textContent === first.textContent ? td.querySelector(".same") : td.querySelector("b"))); })()`));
  check("it has a bar of one piece", (await page(`document.querySelector("#time .legend").innerText`)).includes("not divided"));
  const kept = await address();
  check("the address keeps it", decodeURIComponent(kept).split("compare=")[1].split("&")[0].split(",").includes(`p${bare}`), kept);
  make("sweep", "gpt3-175B", "a100_80g", "--procs", "1", "--batch", "1", "--html", file("nothing.html"), "--out", file("nothing.json"));
  await everywhere("nothing.html");
  const { need } = dataOf("nothing.html");
  check("the least is more than there is", need.least.stats.proc_mem_tier1_cap_req > need.least.stats.mem_tier1_capacity && need.larger.stats.proc_mem_tier1_cap_req <= need.larger.stats.mem_tier1_capacity);
  const runs = JSON.parse(await page(`JSON.stringify([...document.querySelectorAll("#need tbody button")].map((b) => { b.click(); return document.querySelector("#need pre").textContent; }))`));
  const ran = runs.map((words) => JSON.parse(execFileSync("bash", ["-c", words.replace(/^calc run/, `"${calc}" run`).replace(" -", " - --json -")], { encoding: "utf8" })));
  check("what would run does", ran.length === 2 && ran.every((one, i) => one.verdict === "ok" && one.stats.total_time === [need.least, need.larger][i].stats.total_time), runs);
  /* How sure it is that the best fits, as calc run --band has it. */
  make("sweep", "llama3-70B", "h100_sxm", "--procs", "256", "--batch", "1024", "--html", file("fits.html"));
  await everywhere("fits.html");
  const [full] = dataOf("fits.html").rows.filter((row) => row.set === "top");
  const alone = await page(`commandOf(best)`);
  const { fits } = JSON.parse(execFileSync("bash", ["-c", alone.replace(/^calc run/, `"${calc}" run --band --json -`)], { encoding: "utf8" })).band;
  check("how sure it is that the best fits", fits < 0.9 && Math.abs(full.fits - fits) < 1e-4 && (await page(`document.querySelector("p.why").innerText`)).includes(`${Math.round(100 * fits)}\u202f% would have fitted`), [full.fits, fits]);
  make("sweep", "gpt3-175B", "a100_80g", "--procs", "64:256:x2", "--batch", "256", "--html", file("scaling.html"));
  await everywhere("scaling.html");
  check("sizes are compared", await page(`document.querySelectorAll("#scaling circle").length === 3`));
}

/* A step of reinforcement learning: every pool's row is the whole step, and every phase has its memory. */
async function checkRl() {
  for (const [name, words] of [["apart", ["--procs", "16", "--rollout-procs", "8", "--set", "steps_off=1"]], ["together", ["--procs", "4"]]]) {
    make("rl", "qwen3-8B", "h100_sxm", "grpo", ...words, "--set", "prompts=32", "--html", file(`${name}.html`), "--json", file(`${name}.json`));
    const told = json(`${name}.json`);
    await everywhere(`${name}.html`);
    check(`rl, ${name}: headline`, (await page(`document.querySelector("h1").innerText`)).includes(told.statistics.step_time.toPrecision(4)));
    const sums = await page(`lanes.map((lane) => d3.sum(Object.values(lane.values)))`);
    check(`rl, ${name}: a row for each pool, as long as the step`, sums.length === told.pools.length && sums.every((sum) => near(sum, told.statistics.step_time)), sums);
    check(`rl, ${name}: every phase is in the table`, await page(`document.querySelectorAll("#time tbody tr").length`) === Object.keys(told.phases).length);
    const held = Object.values(told.phases).filter((phase) => phase.memory).length;
    check(`rl, ${name}: memory of every phase`, await page(`document.querySelectorAll("#memory svg[role=img] rect").length`) >= held, held);
  }
}

/* A command that was copied, with its execution as standard input: what calc run says. */
function ranBy(command) {
  return JSON.parse(execFileSync("bash", ["-c", command.replace(/^calc run/, `"${calc}" run`).replace(" -", " - --json -")], { encoding: "utf8" })).stats;
}

/* A plan: what unevenness buys, the stages on their chips, and the run of the best. */
async function checkPlan() {
  for (const [name, words] of [["chips", ["llama2-70B", "a800,h800", "--chips", "a800:8,h800:8", "--procs", "16", "--axis", "pp=4", "--axis", "tp=4"]],
    ["recomputed", ["llama2-70B", "a800", "--procs", "16", "--axis", "pp=4", "--axis", "tp=4", "--set", "mem1.GiB=13.5"]]]) {
    make("plan", ...words, "--batch", "32", "--axis", "microbatch_size=1", "--axis", "pipeline_interleaving=1", "--set", "num_blocks=10",
      "--time-limit", "1000", "--html", file(`${name}.html`), "--out", file(`${name}.json`));
    const told = json(`${name}.json`);
    const [best] = told.found;
    check(`${name}: no digest of what was not read`, Object.keys(dataOf(`${name}.html`).run.names.sha256).length === 0);
    check(`${name}: what --out says`, JSON.stringify(dataOf(`${name}.html`).plan) === JSON.stringify(told));
    check(`${name}: the run is that of the best`, dataOf(`${name}.html`).run.stats.total_time === best.stats.total_time);
    await everywhere(`${name}.html`);
    await sorts(name);
    const headline = await page(`document.querySelector("h1").innerText`);
    check(`${name}: headline is the step, and what alike costs`, headline.includes(best.stats.total_time.toPrecision(4))
      && headline.includes((100 * (best.even.total_time / best.stats.total_time - 1)).toFixed(1)), headline);
    check(`${name}: the command runs the layout`, ranBy(await page(`document.querySelector("#plan pre").textContent`)).total_time === best.stats.total_time);
    const script = (await page(`(() => { [...document.querySelectorAll("#plan tbody button")].find((b) => b.textContent === "Export").click(); return document.querySelector("#plan pre").textContent; })()`)).replace(/^calc /, `"${calc}" `);
    check(`${name}: what starts it`, /(tensor-model-parallel-size|model_parallel:) 4/.test(execFileSync("bash", ["-c", script], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })), script);
    check(`${name}: a row each`, await page(`document.querySelectorAll("#plan tbody tr").length`) === told.found.length);
    /* Blocks, forward, backward and idle, memory: what each stage has, on both sides. */
    const drawn = await page(`[...document.querySelectorAll("#stages svg[role=img]")].map((svg) => [...svg.querySelectorAll("rect")].filter((bar) => /--cat/.test(bar.style.fill)).length)`);
    const blocks = [best.stages, best.even.stages].map((rows) => rows.reduce((all, row) => all + Math.ceil(row.stats.blocks), 0));
    check(`${name}: every block is drawn`, JSON.stringify(drawn) === JSON.stringify(blocks), [drawn, blocks]);
    const memory = await page(`[...document.querySelectorAll("#stages svg[role=img]")[0].querySelectorAll("rect")].filter((bar) => /--purple/.test(bar.style.fill)).map((bar) => bar.width.baseVal.value + 0.7)`);
    check(`${name}: memory is as long as the need`, memory.every((wide, i) => Math.abs(wide / memory[0] / (best.stages[i].stats.mem_tier1 / best.stages[0].stats.mem_tier1) - 1) < 0.01), memory);
    check(`${name}: the slowest waits for none`, Math.min(...best.stages.map((row) => row.idle)) === 0);
    check(`${name}: a stage fits its chip`, best.stages.every((row) => row.stats.mem_tier1 <= row.mem_tier1_capacity));
  }
  await browser.show(file("chips.html"), 1440);
  const { found } = json("chips.json");
  check("both chips are named", (await page(`document.querySelector("#stages .legend").innerText`)).includes("block on a800") && found[0].stages.some((row) => row.system === "a800"));
  /* With equally many blocks, as a run of its own. */
  const even = { ...found[0].execution, stages: { ...found[0].execution.stages, blocks: ["2x3", "2x2"] } };
  check("equally many blocks", ranBy(`${found[0].run.join(" ")} <<'EOF'\n${JSON.stringify(even)}\nEOF\n`).total_time === found[0].even.total_time, found[0].even.total_time);
  await page(`[...document.querySelectorAll("#plan tbody button")].filter((b) => b.textContent === "Show")[1].click()`);
  check("another layout is shown", ranBy(await page(`document.querySelector("#plan pre").textContent`)).total_time === found[1].stats.total_time
    && (await page(`document.querySelector("#stages h3").innerText`)).includes(found[1].stats.total_time.toPrecision(4)));
  check("recomputed blocks are counted", json("recomputed.json").found[0].stages.some((row) => row.recomputed_blocks > 0));
  await checkLayers();
}

/* Strategies layer by layer. */
async function checkLayers() {
  make("plan", "llama2-7B", "a100_sxm_40g", "--procs", "8", "--batch", "64", "--set", "mem1.GiB=24", "--layers", "--axis", "pp=2", "--top", "2",
    "--time-limit", "1000", "--html", file("layers.html"), "--out", file("layers.json"));
  const told = json("layers.json");
  const [best] = told.found;
  await everywhere("layers.html");
  check("layers: headline", (await page(`document.querySelector("h1").innerText`)).includes((100 * (told.uniform_time / best.stats.total_time - 1)).toFixed(1)));
  check("layers: the command runs the layout", ranBy(await page(`document.querySelector("#plan pre").textContent`)).total_time === best.stats.total_time);
  check("layers: all are there", best.layers.reduce((all, run) => all + run.blocks, 0) === told.model.num_blocks);
  const changes = [...best.layers, best.ends].filter((run) => run.rearranging_time > 0).length;
  check("layers: a mark where activations are rearranged", changes > 0 && await page(`[...document.querySelectorAll("#strips svg path")].filter((mark) => /--orange1/.test(mark.style.fill)).length`) === changes, changes);
  const degrees = await page(`[...document.querySelectorAll("#strips svg text")].map((text) => text.textContent)`);
  check("layers: values are in the strips", best.layers.every((run) => degrees.includes(String(run.tensor_par))), degrees);
  check("layers: the curve has every point", await page(`document.querySelectorAll("#curve circle").length`) === told.curve.length);
}

/* A decision: what to try next, what every layout may take, what was measured, and when to stop. */
async function checkTune() {
  const words = ["llama2-7B", "a100_sxm_40g", "--procs", "8", "--batch", "64", "--progress", "none", "--out", file("tune")];
  const make2 = (name, ...more) => {
    make("tune", ...words, ...more, "--html", file(`${name}.html`), "--json", file(`${name}.json`));
    check(`${name}: what --json says`, JSON.stringify(dataOf(`${name}.html`).tune) === JSON.stringify(json(`${name}.json`)));
    return json(`${name}.json`);
  };
  const before = make2("untried", "--picks", "2");
  await everywhere("untried.html");
  check("untried: headline is what to try", (await page(`document.querySelector("h1").innerText`)) === `Try ${before.next[0].layout} and 1 more next.`);
  const [run] = (await page(`document.querySelector("#next pre").textContent`)).split("\n");
  const again = execFileSync("bash", ["-c", `${run.replace(/^calc run/, `"${calc}" run`)} --json -`], { encoding: "utf8" });
  check("untried: its command runs the layout", JSON.parse(again).stats.total_time === before.layouts.find((one) => one.layout === before.next[0].layout).predicted_s, run);
  check("untried: no history", await page(`!document.getElementById("history")`));
  writeFileSync(file("rows.csv"), `layout,step_s,outcome\n${before.next[0].layout},8.1,\n${before.next[1].layout},,oom\n${before.layouts[5].layout},9.9,\n${before.next[0].layout},8.3,\n`);
  const after = make2("tried", "--measured", file("rows.csv"));
  await everywhere("tried.html");
  await sorts("tried");
  const said = await page(`document.querySelector("p.why").innerText`);
  check("tried: the chance of a gain", said.includes((100 * after.chance).toFixed(1)) && said.includes("8.200"), said);
  check("tried: the best so far ends at the best", near(await page(`bestSoFar().pop()`), after.best_s) && near(after.best_s, (8.1 + 8.3) / 2), after.best_s);
  check("tried: every time is a mark", await page(`document.querySelectorAll("#history path.measured").length`) === 3);
  check("tried: rows of what was measured", await page(`document.querySelectorAll("#history tbody tr").length`) === 4);
  const bands = await page(`(() => { const list = [...document.querySelectorAll("#layouts svg rect.band")].map((bar) => bar.width.baseVal.value); return list.map((wide, i) => wide / list[0] / ((tune.layouts[i].p95_s - tune.layouts[i].p5_s) / (tune.layouts[0].p95_s - tune.layouts[0].p5_s)) - 1).slice(0, 20); })()`);
  check("tried: bands are as wide as P5 to P95", bands.length === 20 && bands.every((off) => Math.abs(off) < 0.02), bands);
  const goes = await page(`[...document.querySelectorAll("#next pre")].pop().textContent`);
  check("tried: the command goes on", goes.startsWith("calc tune llama2-7B a100_sxm_40g --procs 8") && goes.includes("--measured"), goes);
  await page(`[...document.querySelectorAll("#layouts .switch button")].find((b) => b.textContent === "Measured").click()`);
  check("tried: those that were measured", await page(`document.querySelectorAll("#layouts svg rect.band").length`) === 3);
  check("tried: no complaint after that", browser.complaints.length === 0, browser.complaints);
  const truth = make2("truth", "--simulate", "1");
  await everywhere("truth.html");
  check("truth: it is time to stop", truth.stop && (await page(`document.querySelector("h1").innerText`)).startsWith(`Stop: the best is ${truth.best}`));
}

async function checkValidate() {
  make("validate", "--html", file("validate.html"), "--json", file("validate.json"));
  const told = json("validate.json");
  check("rows of --json", JSON.stringify(dataOf("validate.html").validate) === JSON.stringify(told));
  await everywhere("validate.html");
  await sorts("validate");
  const scored = told.rows.filter((row) => row.status === "scored" && row.quantity === "step_time" && row.error !== null);
  const marks = () => page(`document.querySelector("#parity svg[role=img]").querySelectorAll("g path").length`);
  check("one mark a run", await marks() === scored.length, await marks());
  const half = scored.map((row) => Math.abs(row.error)).sort((a, b) => a - b);
  const middle = (half[Math.floor((half.length - 1) / 2)] + half[Math.ceil((half.length - 1) / 2)]) / 2;
  /* Fitted and unseen, beside the residuals that calibration wrote. */
  const residuals = new Map(readFileSync(new URL("../measured/residuals.csv", import.meta.url), "utf8").trim().split("\n").slice(1)
    .map((line) => line.split(",")).map((cells) => [`${cells[0]} ${cells[1]}`, cells.slice(10).map(Number)]));
  const unseen = scored.map((row) => residuals.get(`${row.id} ${row.quantity}`)).filter(Boolean).map((pair) => Math.abs(Math.exp(-pair[1]) - 1)).sort((a, b) => a - b);
  const told90 = await page(`splitOf(times).find((row) => row.name === "Unseen publishers").most`);
  check("what to expect of an unseen publisher", unseen.length > 1000 && Math.abs(told90 / unseen[Math.round(0.9 * (unseen.length - 1))] - 1) < 0.01, told90);
  check("the largest source is left out", await page(`(() => { const rows = splitOf(times); return rows.length === 6 && rows[4].n < rows[0].n && rows[4].n > 100; })()`));
  // Months ascend in the file, so that the last one of a run stays.
  const last = new Map(readFileSync(new URL("../measured/forecasts.csv", import.meta.url), "utf8").trim().split("\n").slice(1).map((line) => line.split(",")).map(([id, , value]) => [id, value]));
  const forecasts = [...last.values()].map((value) => Math.abs(Math.exp(-Number(value)) - 1));
  const foretold = await page(`splitOf(times).find((row) => row.name === "Forecasts")`);
  check("forecasts are those of the file", foretold.n === forecasts.length && Math.abs(foretold.absolute / (sum(forecasts) / forecasts.length) - 1) < 0.001, [foretold, forecasts.length]);
  check("headline is the median", (await page(`document.querySelector("h1").innerText`)).includes((100 * middle).toFixed(1)));
  await page(`document.querySelectorAll("#parity .tools button")[2].click()`);
  check("hiding a machine removes its marks", await marks() < scored.length);
}

/* Names from files are text, whatever they hold. */
async function checkHostile() {
  const name = "</script><img src=x onerror=alert(1)>\"'&<!-- ü 模型";
  const path = file("hostile.json");
  const exe = json("classic.json").execution;
  writeFileSync(path, JSON.stringify(exe));
  make("run", "gpt3-175B", "a100_80g", path, "--html", file("hostile.html"), "--set", "microbatch_size=1");
  const raw = readFileSync(file("hostile.html"), "utf8");
  const hostile = raw.replace(/"execution": "[^"]*"/, `"execution": ${JSON.stringify(name).replaceAll("<", "\\u003c")}`)
    .replace(/"application": "[^"]*"/, `"application": ${JSON.stringify(name).replaceAll("<", "\\u003c")}`);
  check("the name was put in", hostile !== raw);
  writeFileSync(file("hostile.html"), hostile);
  await everywhere("hostile.html");
  check("a name is shown as it is", await page(`document.body.innerText.includes(${JSON.stringify(name)})`));
  check("a name is no element", await page(`document.querySelectorAll("main img, footer img").length === 0`));
}

try {
  await checkRun();
  await checkServing();
  await checkServingSweep();
  await checkChanges();
  await checkSweep();
  await checkPlan();
  await checkTune();
  await checkRl();
  await checkValidate();
  await checkHostile();
} finally {
  await browser.close();
  rmSync(scratch, { recursive: true, force: true });
}
console.log(`${checks - failures} of ${checks} checks passed`);
process.exit(failures > 0 ? 1 : 0);
