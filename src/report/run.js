/* The page of one run. */
"use strict";

const { run } = data;
const { stats, names, execution: exe, system, application: app } = run;
const fits = run.verdict === "ok";
const timeTotal = stats.total_time;
/* What the machine's file calls a tier. */
const kindOf = (tier, otherwise) => (tier && tier.kind && tier.kind !== "unnamed" ? tier.kind : otherwise);
const secondMemory = kindOf(system.mem2, "second memory").replace(/^./, (letter) => letter.toUpperCase());
const tierWords = (verdict) => verdict.replaceAll("_", " ").replace(/mem[12]/, (key) => kindOf(system[key], key === "mem1" ? "memory" : "second memory"));
const { stages } = data;
const listed = data.listed || null; /* systems and recomputation of the stages, if they are listed */
const machine = listed && listed.machine.includes(" and ") ? listed.machine : names.system;
const link = (key) => [stats[`${key}_comm_link_time`] || 0, stats[`${key}_comm_exposed_time`] || 0];
const communication = [
  ["tensor parallel", ...link("tp")], ["context parallel", ...link("cp")],
  ["expert parallel", ...link("ep")],
  ["repeated in recomputation", stats.recomm_link_time || 0, stats.recomm_exposed_time || 0],
  ["pipeline parallel", ...link("pp")], ["data parallel", ...link("dp")],
].filter(([, onLink]) => onLink > 0);
const exposed = d3.sum(communication, (row) => row[2]);

const kind = data.plan ? "plan" : "run";
document.title = `${names.application} on ${machine} – calc ${kind}`;
document.getElementById("kind").textContent = kind;

/* The 5th to 95th percentile of measured runs like this one, if known: [low, high]. */
const known = run.band || data.band;
function bandOf(key) {
  const band = known && known.stats[key];
  return fits && band && isNumber(band.p5) && isNumber(band.p95) ? [Math.min(band.p5, band.p95), Math.max(band.p5, band.p95)] : null;
}
const bandText = (key, text) => (bandOf(key) ? bandOf(key).map(text).join(" to ") : "");

/* ---- The answer ------------------------------------------------------------------------------- */

function sayWhy() {
  if (!fits) {
    const rest = run.reasons.length - 1;
    const [reason] = run.reasons;
    return [reason ? `${reason.text[0].toUpperCase()}${reason.text.slice(1)}.` : "", reason && reason.hint ? ` What helps: ${reason.hint}.` : "",
      rest > 0 ? ` ${rest} more reason${rest > 1 ? "s" : ""} below.` : ""];
  }
  if (serves) return servingWhy(stats, data.time, timeTotal);
  const work = ((data.time.forward || 0) + (data.time.backward || 0)) / timeTotal;
  const losses = Object.entries(data.time).filter(([label]) => !["forward", "backward"].includes(label))
    .sort((a, b) => b[1] - a[1]).slice(0, 2);
  const words = ["Forward and backward work fill ", bold(share(work)), " of it"];
  losses.forEach(([label, value], i) => {
    words.push(i === 0 ? "; then come " : " and ", `${label} with `, bold(share(value / timeTotal)));
  });
  words.push(". ");
  if (stats.proc_mem_tier1_cap_req) {
    words.push("The fullest processor needs ", bold(bytes(stats.proc_mem_tier1_cap_req)),
      ` of ${bytes(stats.mem_tier1_capacity)}${fitting ? ", and of measured runs like it " : ""}`, fitting ? [bold(fitting), " would have fitted."] : ".");
  }
  if (data.measured.length > 0 && fits) {
    words.push(data.measured.length > 1 ? " Published runs of these sizes took " : " A published run of these sizes took ", bold(data.measured.map((run) => whole(run.step_s)).join(", ")), ".");
  }
  if (bandOf("total_time")) {
    words.push(" Nine of ten measured runs like it would be at ", bold(bandText("total_time", seconds)), ".");
  }
  return words;
}

const [stepValue, stepUnit] = isNumber(timeTotal) ? secondsIn(timeTotal, 4) : ["–", ""];
const [memoryValue, memoryUnit] = isNumber(stats.proc_mem_tier1_cap_req) ? bytesIn(stats.proc_mem_tier1_cap_req) : ["–", ""];
/* Share of comparable measured runs that would fit, shown if it is not nearly certain. */
const fitting = fits && known && isNumber(known.fits) && known.fits < 0.9 ? `${Math.round(100 * known.fits)}\u202f%` : "";
const memoryKpi = ["Memory", memoryValue, memoryUnit, stats.mem_tier1_capacity ? `${share(stats.proc_mem_tier1_cap_req / stats.mem_tier1_capacity)} of ${bytes(stats.mem_tier1_capacity)}${fitting ? `, ${fitting} sure that it fits` : ""}` : ""];
const stepWord = serves ? (exe.inference.phase === "prefill" ? "prefill" : "decoding step") : exe.training ? "step" : "forward pass";
if (data.plan && !data.changed) planHero();
else hero({
  bad: !fits,
  context: [["", names.application], ["", machine], ["processors", count(exe.num_procs)],
    ...(serves ? [] : [["batch", count(exe.batch_size)]]), ["format", exe.matrix_datatype && !["auto", exe.datatype].includes(exe.matrix_datatype) ? `${exe.matrix_datatype} matrices, else ${exe.datatype}` : exe.datatype],
    ["parameters", parameters(data.parameters.total)], ["", exe.training ? "training" : serves ? `inference, ${exe.inference.phase}` : "inference"],
    ...(exe.inference && exe.inference.prefill_procs > 0 ? [["prefill on", [count(exe.inference.prefill_procs), exe.inference.prefill_system || machine].join(" ")]] : []),
    ...(exe.inference && exe.inference.engine ? [["", exe.inference.engine]] : [])],
  headline: fits && serves ? servingHeadline(stats)
    : fits ? [`A ${stepWord} takes `, el("em", {}, `${stepValue}\u202f${stepUnit}`), "."]
    : ["It cannot run: ", el("em", {}, tierWords(run.verdict)), "."],
  why: sayWhy(),
  remarks: run.remarks,
  kpis: !fits ? [memoryKpi, ...(stats.proc_mem_tier1_cap_req > stats.mem_tier1_capacity
    ? [["Missing", ...bytesIn(stats.proc_mem_tier1_cap_req - stats.mem_tier1_capacity), "on the fullest processor"]] : []),
  [`${stepWord[0].toUpperCase()}${stepWord.slice(1)}`, stepValue, stepUnit, "if it could run"]]
  : serves ? servingKpis(stats, memoryKpi) : [
    ["Step time", stepValue, stepUnit, bandText("total_time", seconds) || `${count(stats.num_microbatches)} micro-batches of ${count(exe.microbatch_size)}`],
    ["Throughput", amount(stats.tokens_per_s), "tokens/s", `${num(stats.tokens_per_s_per_proc)} per processor`],
    ["Model FLOPs utilisation", isNumber(stats.model_flops_utilization) ? num(100 * stats.model_flops_utilization) : "–", "%", bandText("model_flops_utilization", share) || `useful FLOP over the peak in ${exe.datatype}`],
    ["Exposed communication", isNumber(exposed / timeTotal) ? num(100 * exposed / timeTotal) : "–", "%", seconds(exposed)],
    ["Pipeline bubble", isNumber(stats.bubble_time / timeTotal) ? num(100 * stats.bubble_time / timeTotal) : "–", "%", exe.pipeline_par > 1 ? `${count(exe.pipeline_par)} stages` : "one stage"],
    memoryKpi,
  ],
});

if (run.reasons.length > 1) {
  const node = section("reasons", "Reasons", "Why it cannot run", "All reasons, not only the first.");
  card(node, run.reasons.map((reason) => el("div", { class: "reason" },
    el("div", { class: "top" }, el("span", {}, tierWords(reason.verdict))),
    el("p", {}, reason.text), reason.hint ? el("p", {}, reason.hint) : null)));
}

/* ---- What to change next ----------------------------------------------------------------------- */

function showChanges() {
  const found = data.changes;
  /* With a fixed arrival rate, the throughput is given and the latency is compared. */
  const [key, label, text] = !serves ? ["total_time", "Step", seconds]
    : exe.inference.arrival_rate > 0 ? ["request_time", "Whole request", seconds]
      : exe.inference.phase === "prefill" ? ["total_time", "Prefill", seconds] : ["output_tokens_per_s", "Output tokens/s", amount];
  const up = key === "output_tokens_per_s";
  const before = stats[key];
  const helps = (value) => isNumber(value) && (!fits || (up ? value > before * (1 + 5e-4) : value < before * (1 - 5e-4)));
  const items = found ? found.items.filter((item) => helps(item.stats[key]))
    .sort((a, b) => (up ? d3.descending : d3.ascending)(a.stats[key], b.stats[key])) : [];
  if (!items.length) return;
  const node = section("changes", "Change", fits ? "What to change next" : "What would run",
    `${count(found.tried)} changes of one field, or of a pair of sizes, were tried; ${count(items.length)} of them ${items.length === 1 ? "helps" : "help"}. Batch, lengths and formats stay.`);
  const words = names.command;
  const command = words && ((set) => commandText(withSets(words, set)) + (names.tail || ""));
  card(node, changesTable(items, { key, before: fits ? before : NaN, label, text, command, caption: "Changes",
    memoryBefore: stats.proc_mem_tier1_cap_req }));
}

/* ---- Time ------------------------------------------------------------------------------------- */

function showTime() {
  const node = section("time", "Time", `Where the ${stepWord} goes`, `All parts are exposed seconds: they add up to ${whole(timeTotal)}${exe.inference && exe.inference.phase === "serve" ? ", the mean of steps with and without prompts" : ""}.`);
  const box = card(node);
  const slowest = data.ours && exe.pipeline_par > 1 ? `stage ${count(stats.slowest_stage)}` : "";
  stacks(box, { rows: [{ label: serves ? "Pass" : "Step", note: slowest, values: data.time, total: timeTotal, band: bandOf("total_time"),
    measured: data.measured.map((run) => ({ value: run.step_s, label: run.id })) }], parts: timeParts,
    steps: timeSteps, text: seconds, total: whole, height: 26,
    aria: `Step of ${whole(timeTotal)}: ${Object.entries(data.time).map(([k, v]) => `${k} ${share(v / timeTotal)}`).join(", ")}` });
  if (bandOf("total_time")) box.append(el("p", { class: "note" }, `The line: within it are nine of ten runs like this one, as ${count(known.time.runs)} measured ones were (${known.time.class})${known.note ? `; ${known.note}` : ""}.`));
  if (data.measured.length > 0) {
    box.append(el("p", { class: "note" }, "A dot: what a published run of these sizes took, which may differ in what its table does not say. ",
      data.measured.map((run) => `${whole(run.step_s)}, ${signed(timeTotal / run.step_s - 1)} predicted (${run.source}: ${run.id})`).join("; "), "."));
  }
  const rows = timeParts.filter((part) => data.time[part.key] > 0).map((part) => ({ part, value: data.time[part.key] }));
  box.append(table({ caption: "Parts of the step", rows, sort: 1, columns: [
    { label: "Part", value: (r) => r.part.label, show: (r) => [swatch(r.part.color), r.part.label] },
    { label: "Time", number: true, value: (r) => r.value, show: (r) => seconds(r.value) },
    { label: "Share", number: true, value: (r) => r.value, show: (r) => meter(share(r.value / timeTotal), r.value / timeTotal) },
    { label: "What it is", wrap: true, show: (r) => (timeLooks[r.part.key] || [])[1] || "" },
  ] }).node);
  if (communication.length) {
    box.append(el("h3", { style: "margin-top:18px" }, `Communication of one ${stepWord}`),
      table({ caption: `Communication of one ${stepWord}`, rows: communication, sort: 1, columns: [
        { label: "Group", value: (r) => r[0], show: (r) => r[0] },
        { label: "On the link", number: true, value: (r) => r[1], show: (r) => seconds(r[1]) },
        { label: "Exposed", number: true, value: (r) => r[2], show: (r) => seconds(r[2]) },
        { label: "Exposed / link", number: true, value: (r) => r[2] / r[1], show: (r) => meter(share(r[2] / r[1]), r[2] / r[1], "warm") },
      ] }).node);
  }
}

/* ---- From peak to achieved --------------------------------------------------------------------- */

const lossLooks = { "kernels below peak": ["blue2", "other operations than matrix products, efficiencies below 1, stages with more work than the mean"],
  "recomputation": ["blue3", "forward work done again to save memory"], "exposed communication": ["orange1", "what no compute hides"],
  "offload": ["sand", "traffic to the second memory"], "pipeline bubble": ["grey", "stages that wait while the pipeline fills and drains"],
  "waiting for the host": ["grey2", "kernels are issued slower than they run"], "optimizer": ["green", "update of the weights"],
  "stragglers, overhead": ["green2", "waiting for the slowest processor, and once per step"] };

function showWaterfall() {
  const used = stats.model_flops_utilization;
  const losses = Object.entries(data.losses).filter(([, value]) => isNumber(value) && Math.abs(value) > 5e-4);
  if (!isNumber(used) || !losses.length) return;
  const node = section("waterfall", "Peak", "From peak to achieved", `What of the peak of ${count(exe.num_procs)} matrix engines in ${exe.datatype} each part of the ${stepWord} loses; the rest is the model FLOPs utilisation.`);
  const box = card(node);
  let at = 1;
  const rows = [["peak", 0, 1, "ink3"], ...losses.map(([label, value]) => {
    const from = at;
    at -= value;
    return [label, at, from, (lossLooks[label] || ["grey"])[0], value];
  }), ["achieved", 0, used, "accent"]];
  picture(box, `From peak to achieved: ${losses.map(([label, value]) => `${label} ${share(value)}`).join(", ")}; achieved ${share(used)}`, (svg, width) => {
    const narrow = width < 520;
    const [left, right, step] = [narrow ? 0 : 170, 70, narrow ? 38 : 26];
    const most = d3.max(rows, (row) => row[2]);
    const x = d3.scaleLinear([0, most], [left, width - right]);
    rows.forEach(([label, lo, hi, color, lost], i) => {
      const y = i * step + (narrow ? 16 : 2);
      svg.append("text").attr("x", narrow ? 0 : left - 12).attr("y", narrow ? y - 4 : y + 14).attr("text-anchor", narrow ? "start" : "end")
        .attr("class", lost === undefined ? "strong" : null).text(label);
      const mark = svg.append("rect").attr("x", x(Math.min(lo, hi))).attr("y", y).attr("width", Math.max(1, Math.abs(x(hi) - x(lo)))).attr("height", 18).style("fill", colorOf(color)).node();
      tells(mark, () => [label, [[lost === undefined ? "of the peak" : "lost", share(lost === undefined ? hi - lo : lost)]], colorOf(color)]);
      svg.append("text").attr("class", "strong").attr("x", width).attr("y", y + 14).attr("text-anchor", "end")
        .text(lost === undefined ? share(hi) : share(-lost).replace("-", "\u2212"));
      if (i + 1 < rows.length) svg.append("line").attr("class", "grid").attr("x1", x(i ? lo : hi)).attr("x2", x(i ? lo : hi)).attr("y1", y + 18).attr("y2", y + step).style("stroke", "var(--ink3)");
    });
    return rows.length * step + 4;
  });
  box.append(folded("Show as table", table({ caption: "From peak to achieved", rows: losses, sort: null, columns: [
    { label: "Lost to", show: (r) => [swatch(colorOf((lossLooks[r[0]] || ["grey"])[0])), r[0]] },
    { label: "Of the peak", number: true, show: (r) => share(r[1]) },
    { label: "What it is", wrap: true, show: (r) => (lossLooks[r[0]] || [])[1] || "" }] }).node));
}

/* ---- More of each resource --------------------------------------------------------------------- */

function showMore() {
  const rows = data.ten_percent_more.filter((item) => isNumber(item.total_time))
    .map((item) => ({ name: item.resource, gain: timeTotal / item.total_time - 1, time: item.total_time }));
  if (!rows.length) return;
  const node = section("more", "10 % more", "What 10\u202f% more of each resource buys",
    "The same layout on a machine that has 10\u202f% more of one rate: how much faster a step is. What bounds the step comes first.");
  const most = Math.max(0.1, d3.max(rows, (r) => r.gain));
  card(node, table({ caption: "What 10 % more of each resource buys", rows, sort: 1, columns: [
    { label: "Resource", value: (r) => r.name, show: (r) => r.name },
    { label: "Faster by", number: true, value: (r) => r.gain, show: (r) => meter(signed(r.gain), r.gain / most) },
    { label: "Step", number: true, value: (r) => r.time, show: (r) => seconds(r.time) },
  ] }).node);
}

/* ---- Memory ----------------------------------------------------------------------------------- */

const spaceKeys = [["weight_space", "weights"], ["act_space", exe.activation_recompute === "full" ? "checkpoints" : "activations"], ["working_space", "block at hand"],
  ["weight_grad_space", "weight gradients"], ["optimizer_space", "optimizer"], ["head_space", "head"],
  ["framework_space", "framework"], ["mem_overhead", "fragmentation, reserve"]];

function memoryRow(stage, label) {
  return { label, note: `${short(stage.in_flight)} micro-batch${stage.in_flight === 1 ? "" : "es"}`,
    values: Object.fromEntries(spaceKeys.map(([key, part]) => [part, stage[key] || 0])), total: stage.mem_tier1 };
}

/* Adjacent stages with the same memory share a bar. */
function memoryRows() {
  const rows = [];
  stages.forEach((stage, i) => {
    const last = rows[rows.length - 1];
    if (last && last.stage.mem_tier1 === stage.mem_tier1 && last.stage.act_space === stage.act_space) last.to = i;
    else rows.push({ stage, from: i, to: i });
  });
  return rows.map(({ stage, from, to }) => memoryRow(stage, from === to ? `Stage ${from}` : `Stages ${from} to ${to}`));
}

function showMemory() {
  const many = stages.length > 1;
  const node = section("memory", "Memory", many ? "Memory of every stage" : "Memory of a processor",
    serves ? `What the fullest processor holds, and what ${run.stats.max_batch >= 1 ? "is free for more sequences" : "is missing"}.` : !many ? "What one processor holds at its peak."
      : data.ours ? "Early stages keep more micro-batches in flight, so they hold more activations."
        : "Calculon charges every stage as the first, which holds the most micro-batches.");
  const capacity = stats.mem_tier1_capacity;
  const limit = capacity > 0 ? { value: capacity, label: `${bytes(capacity)} capacity${machine === names.system ? "" : ` of stage ${count(stats.peak_stage)}`}` } : null;
  let rows = stages.length && stages.every((stage) => isNumber(stage.mem_tier1)) ? memoryRows()
    : [{ label: "Processor", note: "", values: data.memory1, total: stats.proc_mem_tier1_cap_req }];
  const shown = rows.length > 48 ? rows.filter((row, i) => i % Math.ceil(rows.length / 48) === 0 || i === rows.length - 1) : rows;
  const box = card(node);
  if (isNumber(rows[0].total)) {
    stacks(box, { rows: shown, parts: memoryParts, steps: byteSteps, text: bytes, limit,
      aria: `Memory: ${shown.slice(0, 8).map((row) => `${row.label} ${bytes(row.total)}`).join(", ")}` });
    box.append(partsTable(rows, memoryParts, bytes, "Memory"));
  } else {
    box.append("The memory of this layout is not known.");
  }
  if (stats.proc_mem_tier2_cap_req > 0) {
    const second = card(node, el("h3", {}, secondMemory));
    const two = [{ label: "Processor", note: "offloaded", values: data.memory2, total: stats.proc_mem_tier2_cap_req }];
    stacks(second, { rows: two, parts: memoryParts, steps: byteSteps, text: bytes, aria: secondMemory,
      limit: stats.mem_tier2_capacity > 0 ? { value: stats.mem_tier2_capacity, label: `${bytes(stats.mem_tier2_capacity)} capacity` } : null });
    second.append(partsTable(two, memoryParts, bytes, secondMemory));
  }
}

/* ---- The layout ------------------------------------------------------------------------------- */

const plain = (value) => (value === true ? "yes" : value === false ? "no" : Array.isArray(value) ? value.join(", ") : typeof value === "number" ? count(value) : String(value));

function showLayout() {
  const node = section("layout", "Layout", "The layout", globalThis.calcLive ? "Change any value: the page follows. Fields that files leave out are listed last, with their defaults." : "What was run; fields that are left out of the files are not listed.");
  if (globalThis.calcLive) node.append(globalThis.calcLive.box);
  const box = el("div", { class: "cols even" });
  if (globalThis.calcLive) box.classList.add("paper");
  node.append(box);
  for (const [title, object] of [["Execution", exe], ["Model", app]]) {
    const rows = Object.entries(object).filter(([, value]) => typeof value !== "object" || Array.isArray(value));
    const first = title === "Execution" ? 12 : 16;
    card(box, el("h3", {}, title), table({ caption: title, rows, sort: null, first, columns: [
      { label: "Field", show: (r) => r[0] }, { label: "Value", number: true, show: (r) => plain(r[1]) }] }).node);
  }
  const command = names.command ? commandText(names.command) + (names.tail || "") : "";
  card(node, el("div", { class: "tools", style: "margin:0" }, el("h3", {}, command ? "The same run again" : "The run as JSON"),
    el("span", { class: "right" }, command ? [copyButton("Copy", () => command, "Copy the command"), " "] : null,
      el("button", { type: "button", onclick: () => download("run.json", JSON.stringify(run, null, 2)) }, "Save JSON"))),
  command ? el("pre", {}, command) : null);
}

if (data.plan) showPlan();
if (globalThis.calcLive) showLayout();
showChanges();
if (serves) showConcurrency();
if (isNumber(timeTotal) && timeTotal > 0) showTime();
if (isNumber(timeTotal) && timeTotal > 0) showWaterfall();
if (!serves) showPipeline();
showMemory();
showRoofline();
if (isNumber(timeTotal) && timeTotal > 0) showMore();
showOperations();
if (!globalThis.calcLive) showLayout();
footer([...[["Model", "application"], ["Machine", "system"], ["Execution", "execution"]].map(([label, key]) => [label, digested(names[key], names.sha256, key)]),
  ["File", `one file, no network; its numbers are those of calc ${data.plan ? "plan --json" : "run --json"}`]], run.compat);
drawn();
