// Live pages: the module answers as `calc serve` does, to the byte; a page that is changed shows what the command that it
// gives prints; without WebAssembly it is the page as it was written.
//   node live.mjs CALC MODULE [CHROMIUM]      CALC_LIVE_REQUESTS=N: another number of random layouts than 2,000
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { open } from "./browser.mjs";

const [calc, module, chromium] = process.argv.slice(2);
const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const scratch = mkdtempSync(join(tmpdir(), "calc-live-"));
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

/* ---- The module against the command ------------------------------------------------------------- */

/* live.js has the same loader; it is read from there, so that what is tested is what pages run. */
const loader = /async function openSession[\s\S]*?\n}\n/.exec(readFileSync(join(root, "src/report/live.js"), "utf8"))[0];
const openSession = new Function(`${loader}; return openSession;`)();

let seed = 7;
const draw = (...values) => {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
  return values[(seed >>> 16) % values.length];
};

function makeRequests(count) {
  const cases = [["gpt3-175B", "a100_80g", "3072_t4_p64_d12_mbs4_full"], ["llama3-70B", "h100_sxm", "llama3-70B_512"],
    ["deepseek-v3-671B", "h800", "deepseek-v3_2048"], ["llama3-405B", "h100_sxm", "llama3-405B_16384"]];
  const document = (folder, name) => JSON.parse(readFileSync(join(root, folder, `${name}.json`), "utf8"));
  const follow = Object.fromEntries(["data_par", "pipeline_interleaving", "tensor_par_overlap", "tensor_par_comm_type", "seq_par_ag_redo", "optimizer_sharding", "data_par_overlap"].map((key) => [key, "auto"]));
  return cases.flatMap(([app, sys, exe], k) => Array.from({ length: count / cases.length }, (_, i) => {
    const set = { ...follow, tensor_par: draw(1, 2, 4, 8), pipeline_par: draw(1, 2, 4, 8, 16), microbatch_size: draw(1, 2, 4), activation_recompute: draw("none", "full", "attn_only") };
    const serves = { training: false, "inference.phase": draw("serve", "decode", "prefill"), "inference.prompt_size": draw(200, 2000), "inference.generate_size": 500,
      "inference.batch": draw(8, 64), data_par_overlap: false, optimizer_sharding: false, pipeline_interleaving: 1, activation_recompute: "none" };
    return { ...(i ? {} : { app: document("models", app), sys: document("systems", sys), exe: document("executions", exe) }),
      set: k === 1 && i % 3 === 1 ? { ...set, ...serves } : set, page: i % 20 === 0 };
  }));
}

async function checkModule() {
  const bytes = readFileSync(module);
  const names = WebAssembly.Module.exports(new WebAssembly.Module(bytes)).map(({ name }) => name);
  check("only the session is exported", names.every((name) => /^(memory|malloc|free|_initialize|calc_session_\w+)$/.test(name)), names);
  const code = await WebAssembly.compile(bytes);
  const ask = await openSession(code);
  const requests = makeRequests(Number(process.env.CALC_LIVE_REQUESTS || 2000)).map((request) => JSON.stringify(request));
  const native = spawnSync(calc, ["serve", "--stdio"], { input: `${requests.join("\n")}\n`, encoding: "utf8", maxBuffer: 2 ** 30 }).stdout.trim().split("\n");
  const differ = requests.filter((request, i) => ask(request) !== native[i]);
  check(`${requests.length} answers are those of calc serve to the byte`, native.length === requests.length && differ.length === 0, differ.slice(0, 2));
  check("some of them run", native.filter((answer) => answer.startsWith('{"verdict": "ok"')).length > requests.length / 10);
  console.log(`${requests.length} requests, ${differ.length} differ`);
  /* The page of a sweep in parts, each by a session of its own: joined it is the whole one of calc serve. A drawn cloud, and a whole one. */
  const text = (key, value) => JSON.stringify(key === "summary" ? value.counts.total : value); /* what bounds skip depends on the threads */
  for (const [app, sys, sweep] of [["gemma-4-26B-A4B", "h200", { procs: "256,512", batch: "2048" }], ["llama3-8B", "h100_sxm", { procs: "8,16", batch: "64" }]]) {
    const request = { app: JSON.parse(readFileSync(join(root, "models", `${app}.json`), "utf8")), sys: JSON.parse(readFileSync(join(root, "systems", `${sys}.json`), "utf8")), sweep };
    const { page } = JSON.parse(spawnSync(calc, ["serve", "--stdio"], { input: `${JSON.stringify({ ...request, page: true })}\n`, encoding: "utf8", maxBuffer: 2 ** 30 }).stdout);
    const parts = await Promise.all(["cloud", "rest"].map(async (part) => JSON.parse((await openSession(code))(JSON.stringify({ ...request, page: part }))).page));
    check(`${app}: no part has what the other has`, Object.keys(parts[0]).length > 0 && Object.keys(parts[0]).every((key) => !(key in parts[1])), parts.map(Object.keys));
    const joined = Object.assign({}, ...parts);
    check(`${app}: the parts are the page`, Object.keys(page).sort().join() === Object.keys(joined).sort().join(), Object.keys(joined));
    for (const [key, value] of Object.entries(page)) check(`${app}: ${key} of the page`, text(key, value) === text(key, joined[key]));
  }
}

/* ---- The page ----------------------------------------------------------------------------------- */

const make = (...words) => execFileSync(calc, words, { stdio: ["ignore", "ignore", "ignore"] });
const json = (name) => JSON.parse(readFileSync(file(name), "utf8"));
/* The words of a command line as a shell takes them. */
const wordsOf = (text) => [...text.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map(([, inner, plain]) => (plain === undefined ? inner.replaceAll("'\\''", "'") : plain));

async function checkPages() {
  let browser = await open(chromium);
  const page = (expression) => browser.evaluate(expression);
  const until = (expression) => browser.until(expression);
  const isLive = () => until("document.documentElement?.dataset.live");
  /* What the command of the page prints, with the layout on its standard input where the page gives one. */
  const again = async () => {
    const [head_, layout] = (await page("commandText(calcLive.shown().run.names.command) + (calcLive.shown().run.names.tail || '')")).split(" <<'EOF'\n");
    rmSync(file("again.json"), { force: true });
    spawnSync(calc, [...wordsOf(head_).slice(1), "--json", file("again.json")], { input: layout ? layout.split("\nEOF")[0] : "" });
    return JSON.stringify(json("again.json").stats);
  };
  make("run", "llama3-70B", "h100_sxm", "llama3-70B_512", "--html", file("run.html"));
  make("sweep", "llama3-70B", "h100_sxm", "--procs", "64", "--batch", "256", "--top", "7", "--html", file("sweep.html"));

  await browser.show(file("run.html"), 1440);
  check("the run is live", await isLive() === "yes", browser.complaints);
  const before = await page(`document.querySelector("h1").textContent`);
  await page(`calcLive.apply(["microbatch_size=2", "sys.mem1.GiB=141"])`);
  check("the headline follows", await page(`document.querySelector("h1").textContent`) !== before);
  check("the difference is shown", /Step .* −\d/.test(await page(`document.querySelector(".dock").innerText`)), await page(`document.querySelector(".dock").innerText`));
  const shown = JSON.parse(await page("JSON.stringify(calcLive.shown().run.stats)"));
  check("the command prints the numbers of the page", JSON.stringify(shown) === await again(), await page("calcLive.shown().run.names.command"));
  check("the address has the state", await until(`decodeURIComponent(location.hash).includes("microbatch_size=2")`));
  const address = await page("location.hash");
  await page(`calcLive.apply(["tensor_par=3"])`);
  check("what is illegal is explained", (await page(`document.querySelector(".dock .bad")?.innerText || ""`)).includes("3 does not divide hidden"), await page(`document.querySelector(".dock").innerText`));
  await page(`calcLive.apply(["tensor_par=8"])`);
  check("sizes follow", await page("calcLive.shown().run.execution.data_par") === 8);
  for (const name of ["Undo", "Undo"]) await page(`[...document.querySelectorAll(".dock button")].find((b) => b.textContent === "${name}").click()`);
  check("undone", await page(`document.querySelector("h1").textContent`) === before);
  await page(`document.querySelector("#changes button[aria-label^=Apply]").click()`);
  check("a change is applied by a click", await page("calcLive.state().set.size") > 0);
  const box = `document.querySelector('[data-field="exe.microbatch_size"] input')`;
  await page(`${box}.focus(), ${box}.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowUp" }))`);
  check("arrow keys change a number, and the focus stays", await page(`document.activeElement === ${box}`));
  const times = await page(`(async () => { const times = []; for (let i = 0; i < 30; i++) { const began = performance.now(); calcLive.apply(["batch_size=" + (i % 2 ? 1024 : 2048)]); await new Promise((r) => requestAnimationFrame(() => setTimeout(r))); times.push(performance.now() - began); } return times.sort((a, b) => a - b); })()`);
  console.log(`a change is on the screen after ${times[15].toFixed(0)} ms in the median of 30`);
  await browser.show(`${file("run.html")}${address}`, 390, "dark");
  await isLive();
  check("an address is a view", JSON.stringify(shown) === await page("JSON.stringify(calcLive.shown().run.stats)"));
  for (const width of [390, 820, 1440]) {
    await browser.show(file("run.html"), width);
    await isLive();
    check(`as wide as the window at ${width}`, await page("document.documentElement.scrollWidth") <= width);
    check(`no complaint at ${width}`, browser.complaints.length === 0 && browser.requests.length === 1, browser.complaints);
    check(`controls have a name at ${width}`, await page(`[...document.querySelectorAll("button, input, select")].filter((c) => !c.hidden && !(c.textContent || c.getAttribute("aria-label") || c.closest("label")?.textContent || "").trim()).length === 0`));
  }

  /* A layout that the command completed goes into the command of a changed page as a whole. */
  make("run", "llama3-8B", "h200", "--procs", "16", "--batch", "128", "--set", "sys.mem1.GiB=100", "--html", file("completed.html"));
  await browser.show(file("completed.html"), 820);
  await isLive();
  await page(`calcLive.apply(["tensor_par=2", "batch_size=256"])`);
  check("and so does that of a layout that was completed", await again() === await page("JSON.stringify(calcLive.shown().run.stats)"));

  /* A server, in flight and by a rate of requests; two pools on two machines. */
  const serving = ["--procs", "8", "--set", "inference.phase=serve", "--set", "inference.prompt_size=2000", "--set", "inference.generate_size=500"];
  for (const [name, words_, changes] of [
    ["server", ["llama3-70B", "h200", ...serving, "--set", "inference.engine=vllm-0.11"], [["inference.batch=96"], ["tensor_par=1", "inference.prompt_size=1000"], ["sys.mem1.GBps=4000"]]],
    ["rate", ["llama3-8B", "h100_sxm", ...serving, "--set", "inference.arrival_rate=2"], [["inference.arrival_rate=4"], ["inference.generate_size=200"]]],
    ["pools", ["llama3-70B", "h200", "llama3-70B_serving_8", "--set", "inference.phase=disaggregated", "--set", "inference.prefill_procs=16"], [["inference.prompt_size=3000"], ["inference.batch=32", "inference.prefill_procs=8"]]]]) {
    make("run", ...words_, "--html", file(`${name}.html`));
    await browser.show(file(`${name}.html`), 820);
    check(`${name}: live`, await isLive() === "yes", browser.complaints);
    check(`${name}: what is served comes first`, await page(`[...document.querySelectorAll("#layout tr[data-field]")].slice(0, 5).every((row) => row.dataset.field.startsWith("exe.inference."))`));
    check(`${name}: requests in flight can be set`, await page(`!!document.querySelector('[data-field="exe.inference.batch"] input')`));
    for (const set of changes) {
      const headline = await page(`document.querySelector("h1").textContent + document.querySelector(".kpis").textContent`);
      await page(`calcLive.apply(${JSON.stringify(set)})`);
      check(`${name}: the page follows ${set}`, await page(`document.querySelector("h1").textContent + document.querySelector(".kpis").textContent`) !== headline, await page(`document.querySelector(".dock").innerText`));
      check(`${name}: ${set}: the command's numbers`, await again() === await page("JSON.stringify(calcLive.shown().run.stats)"), set);
      check(`${name}: ${set}: nothing is undefined`, await page(`!/undefined|NaN|\\[object/.test(document.body.innerText)`));
    }
    check(`${name}: no complaint`, browser.complaints.length === 0, browser.complaints);
  }

  make("sweep", "llama3-70B", "h200", ...serving, "--set", "inference.engine=vllm-0.11", "--top", "3", "--html", file("serving.html"));
  await browser.show(file("serving.html"), 820);
  check("serving sweep: live", await isLive() === "yes", browser.complaints);
  await page(`calcLive.sweep({ procs: "16", where: "tpot <= 40ms" })`);
  await until("!calcLive.busy()");
  const served = JSON.parse(await page("JSON.stringify(calcLive.shown())"));
  make(...served.study.command.slice(1), "--out", file("served.json"));
  check("serving sweep: the same best", JSON.stringify(served.rows.find((row) => row.set === "top" && row.rank === 1).execution) === JSON.stringify(json("served.json").top[0].execution), served.study.command);
  check("serving sweep: no complaint", browser.complaints.length === 0, browser.complaints);

  /* A plan: blocks move between stages on two machines; layers that differ. */
  make("plan", "llama2-70B", "a800,h800", "--chips", "a800:128,h800:160", "--procs", "256", "--batch", "1024", "--axis", "tp=2", "--axis", "pp=8", "--axis", "pipeline_interleaving=1", "--top", "2", "--html", file("plan.html"));
  make("plan", "llama2-7B", "a100_sxm_40g", "--procs", "8", "--batch", "64", "--set", "mem1.GiB=22", "--layers", "--all-memory", "--top", "1", "--html", file("layers.html"));
  for (const [name, width, scheme, change] of [["plan", 1440, "light", `document.querySelector("[aria-label='Move a block from stage 0 to stage 1']").click()`],
    ["plan", 390, "dark", `calcLive.apply(["microbatch_size=2"])`], ["layers", 820, "light", `calcLive.apply(["batch_size=128"])`]]) {
    await browser.show(file(`${name}.html`), width, scheme);
    check(`${name}: live`, await isLive() === "yes", browser.complaints);
    const planned = await page(`[document.querySelector("h1").textContent, calcLive.shown().run.stats.total_time].join()`);
    check(`${name}: its command's numbers`, await again() === await page("JSON.stringify(calcLive.shown().run.stats)"));
    await page(change);
    check(`${name}: changed`, await page(`[document.querySelector("h1").textContent, calcLive.shown().run.stats.total_time].join()`) !== planned);
    check(`${name}: as changed and as planned`, await page(`[...document.querySelectorAll("#stages h3")].map((node) => node.textContent.split(":")[0]).join()`) === "As changed,As planned");
    check(`${name}: the changed command's numbers`, await again() === await page("JSON.stringify(calcLive.shown().run.stats)"), await page("calcLive.shown().run.names.command"));
    const { total_time } = JSON.parse(await page("JSON.stringify(calcLive.shown().run.stats)"));
    await page(`calcLive.apply(["sys.matrix.bfloat16.tflops=200"])`);
    check(`${name}: another machine takes another time`, await page("calcLive.shown().run.stats.total_time") !== total_time);
    check(`${name}: the numbers of the command with another machine`, await again() === await page("JSON.stringify(calcLive.shown().run.stats)"), await page("calcLive.shown().run.names.command"));
    check(`${name}: nothing is undefined`, await page(`!/undefined|NaN|\\[object/.test(document.body.innerText)`));
    check(`${name}: as wide as the window at ${width}`, await page("document.documentElement.scrollWidth") <= width);
    check(`${name}: what is known of its machines is said`, name !== "plan" || (await page(`document.querySelector(".hero").innerText`)).includes("constants are those of its family"));
    await page(`[...document.querySelectorAll(".dock button")].find((b) => b.textContent === "Back to the start").click()`);
    check(`${name}: as it was`, await page(`[document.querySelector("h1").textContent, calcLive.shown().run.stats.total_time].join()`) === planned);
    check(`${name}: no complaint`, browser.complaints.length === 0, browser.complaints);
  }

  await browser.show(file("sweep.html"), 1440);
  check("the sweep is live", await isLive() === "yes", browser.complaints);
  await page(`calcLive.sweep({ sys: "h200", procs: "128", where: "mem1 <= 100GiB" })`);
  await until("!calcLive.busy()");
  const { study, rows, summary } = JSON.parse(await page("JSON.stringify(calcLive.shown())"));
  make(...study.command.slice(1), "--out", file("out.json"), "--summary", file("counts.json"));
  const { top } = json("out.json");
  const found = rows.filter((row) => row.set === "top" && row.rank <= top.length);
  check("the same best, in the same order", found.length === 7 && top.length === 7 && found.every((row) => JSON.stringify(row.execution) === JSON.stringify(top[row.rank - 1].execution)), study.command);
  check("with the same numbers", found.every((row) => row.stats.sample_rate === top[row.rank - 1].stats.sample_rate && row.stats.proc_mem_tier1_cap_req === top[row.rank - 1].stats.proc_mem_tier1_cap_req));
  check("of as many layouts", summary.counts.total === json("counts.json").counts.total, summary.counts);
  await page(`[...document.querySelectorAll("#question button")].find((b) => b.textContent.startsWith("Pin")).click()`);
  check("an answer is pinned", (await page(`document.querySelector("#question table")?.innerText || ""`)).includes("h200"));
  /* Stopped: its workers end, the page shows what it showed, and the next question has workers of its own. */
  const workers = await page("navigator.hardwareConcurrency > 1 ? 2 : 1");
  await page(`(() => { globalThis.ended = 0; const { terminate } = Worker.prototype; Worker.prototype.terminate = function () { globalThis.ended += 1; terminate.call(this); }; })()`);
  await page(`calcLive.sweep({ procs: "2048" }), [...document.querySelectorAll(".dock button")].find((b) => b.textContent === "Stop").click()`);
  check("stopped: the workers end", await page("ended") === workers && !await page("calcLive.busy()"));
  check("stopped: it says so", (await page(`document.querySelector(".dock").innerText`)).startsWith("Stopped"), await page(`document.querySelector(".dock").innerText`));
  check("stopped: what was shown is shown", JSON.stringify(await page("calcLive.shown().study.command")) === JSON.stringify(study.command));
  await page(`calcLive.sweep({ procs: "64" })`);
  await until("!calcLive.busy()");
  check("stopped: the next question is answered", await page("calcLive.shown().rows[0].execution.num_procs") === 64 && await page("ended") === workers);
  await page(`calcLive.sweep({ procs: "0" })`);
  await until("!calcLive.busy()");
  check("what cannot be swept is explained", (await page(`document.querySelector(".dock .bad")?.innerText || ""`)).includes("procs"), await page(`document.querySelector(".dock").innerText`));
  check("nothing complains", browser.complaints.length === 0, browser.complaints);

  /* A page that begins with the question. */
  make("app", "llama3-8B", "h200", "--procs", "16", "--batch", "64", "--html", file("app.html"));
  await browser.show(file("app.html"), 390, "dark");
  await isLive();
  const answered = async () => JSON.parse(await until("!calcLive.busy() && JSON.stringify(calcLive.shown())"));
  for (const task of ["training", "serving"]) {
    if (task === "serving") await page(`(() => { const s = [...document.querySelectorAll("#question select")].find((one) => [...one.options].some((o) => o.text === "serving")); s.value = "serving"; s.dispatchEvent(new Event("change")); })()`);
    const answer = await answered();
    make(...answer.study.command.slice(1), "--out", file("app.json"));
    const best = answer.rows.find((row) => row.set === "top" && row.rank === 1);
    check(`app, ${task}: the best of its command`, JSON.stringify(best.execution) === JSON.stringify(json("app.json").top[0].execution), answer.study.command);
    check(`app, ${task}: how it is started`, (await page(`document.getElementById("question").innerText`)).includes("Launch script"));
    check(`app, ${task}: nothing is undefined`, await page(`!/undefined|NaN|\\[object/.test(document.body.innerText)`));
    check(`app, ${task}: as wide as the window`, await page("document.documentElement.scrollWidth") <= 390);
  }
  const config = { architectures: ["LlamaForCausalLM"], model_type: "llama", hidden_size: 2048, intermediate_size: 8192, num_attention_heads: 32, num_key_value_heads: 8,
    num_hidden_layers: 16, vocab_size: 128256, max_position_embeddings: 8192, hidden_act: "silu", rms_norm_eps: 1e-5, tie_word_embeddings: true, torch_dtype: "bfloat16" };
  /* As Python writes it: JSON has no Infinity. */
  const configText = JSON.stringify({ ...config, time_step_limit: 0 }).replace('"time_step_limit":0', '"time_step_limit": [0.0, Infinity]');
  writeFileSync(file("config.json"), configText);
  await page(`(() => { const files = new DataTransfer(); files.items.add(new File([${JSON.stringify(configText)}], "config.json")); const s = document.querySelector("#question input[type=file]"); s.files = files.files; s.dispatchEvent(new Event("change")); })()`);
  await until(`!calcLive.busy() && calcLive.shown()?.study?.command[2] === "config.json"`);
  const own = await answered();
  check("app: a configuration is a model", own.study.command[2] === "config.json", own.study.command);
  execFileSync(calc, [...own.study.command.slice(1), "--out", "out.json"], { cwd: scratch, stdio: "ignore" });
  check("app: the best of it", JSON.stringify(own.rows.find((row) => row.set === "top" && row.rank === 1).execution) === JSON.stringify(json("out.json").top[0].execution));
  check("app: no complaint", browser.complaints.length === 0, browser.complaints);

  /* In a frame without an address, as a notebook shows what Python returns. */
  const escaped = readFileSync(file("run.html"), "utf8").replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  writeFileSync(file("notebook.html"), `<!doctype html><meta charset="utf-8"><title>notebook</title><iframe srcdoc="${escaped}" style="width:100%;height:800px"></iframe>`);
  await browser.send("Page.navigate", { url: `file://${file("notebook.html")}` });
  const inFrame = (expression) => until(`(async () => { const frame = document.querySelector("iframe")?.contentWindow; return frame?.document?.documentElement?.dataset.live ? ${expression} : null; })()`);
  check("in a frame: live", await inFrame("frame.document.documentElement.dataset.live") === "yes");
  await page(`document.querySelector("iframe").contentWindow.calcLive.apply(["microbatch_size=2", "sys.mem1.GiB=141"])`);
  check("in a frame: the numbers of the page", await inFrame("JSON.stringify(frame.calcLive.shown().run.stats)") === JSON.stringify(shown));
  /* What keeps the state waits 200 ms. */
  await inFrame("await new Promise((go) => { frame.setTimeout(() => go(true), 400); })");
  check("in a frame: no complaint", browser.complaints.length === 0, browser.complaints);

  /* As in a browser that has none, and where a server forbids it. */
  const isStatic = async (name, why) => {
    check(`${name} ${why}: ready`, await browser.show(file(name), 820));
    check(`${name} ${why}: static`, await isLive() === "no");
    check(`${name} ${why}: no dock`, !await page(`document.querySelector(".dock")`) && !await page(`!!document.querySelector("section.editors, div.editors")`));
  };
  for (const name of ["run", "sweep", "plan"]) {
    writeFileSync(file(`${name}-policy.html`), readFileSync(file(`${name}.html`), "utf8").replace(" 'wasm-unsafe-eval'", ""));
    await isStatic(`${name}-policy.html`, "where the policy forbids WebAssembly");
  }
  await browser.close();
  browser = await open(chromium, false);
  for (const name of ["run.html", "sweep.html", "plan.html"]) {
    await isStatic(name, "without WebAssembly");
    check(`${name} without WebAssembly: no complaint`, browser.complaints.length === 0, browser.complaints);
  }
  await browser.close();
}

await checkModule();
if (chromium) await checkPages();
else console.log("pages: skipped, no chromium");
rmSync(scratch, { recursive: true, force: true });
console.log(`${checks} checks, ${failures} failed`);
process.exit(failures ? 1 : 0);
