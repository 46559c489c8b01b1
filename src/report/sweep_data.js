/* Data of a sweep's page: its layouts, their names, and points as columns. */
"use strict";

const { study, summary, cloud } = data;
const counts = summary && summary.counts;
const partial = summary ? summary.partial : data.partial;
const goal = study.top_by.statistic;
const goalUp = study.top_by.direction === "up";
const several = study.designs > 1;

/* ---- Texts ------------------------------------------------------------------------------------ */

const metricLooks = {
  sample_rate: ["Throughput, samples/s", num], total_time: ["Time of a step", seconds],
  tokens_per_s: ["Tokens/s", amount], tokens_per_s_per_proc: ["Tokens/s per processor", num],
  model_flops_utilization: ["Model FLOPs utilisation", share],
  proc_mem_tier1_cap_req: ["Memory needed", bytes], proc_mem_tier2_cap_req: ["Second memory needed", bytes],
  bubble_time: ["Bubble", seconds], tp_comm_exposed_time: ["Exposed tensor-parallel comm.", seconds],
  pp_comm_exposed_time: ["Exposed pipeline comm.", seconds], dp_comm_exposed_time: ["Exposed data-parallel comm.", seconds],
  cp_comm_exposed_time: ["Exposed context-parallel comm.", seconds], ep_comm_exposed_time: ["Exposed expert-parallel comm.", seconds],
  usd_per_trillion_tokens: ["USD per 1e12 tokens", num],
  ttft: ["Time to the first token", seconds], tpot: ["Time per output token", seconds], output_tokens_per_s: ["Output tokens/s", amount],
  output_tokens_per_s_per_proc: ["Output tokens/s per processor", num], tokens_per_s_per_user: ["Tokens/s of a request", num],
  requests_per_s: ["Requests/s", num], max_batch: ["Room for sequences", count],
  sure: ["Chance that the best is better", share],
};
const axisLooks = {
  num_procs: "Procs", tensor_par: "TP", pipeline_par: "PP", data_par: "DP", context_par: "CP", expert_par: "EP",
  batch_size: "Batch", microbatch_size: "Micro-batch", pipeline_interleaving: "Chunks", activation_recompute: "Recompute",
  tensor_par_comm_type: "TP comm", tensor_par_overlap: "TP overlap", data_par_overlap: "DP overlap", pipeline_par_overlap: "PP overlap", pipeline_balance: "PP balance",
  optimizer_sharding: "Sharded", seq_par_ag_redo: "Gather again", weight_offload: "Weights off", activations_offload: "Activ. off",
  optimizer_offload: "Optim. off", tensor_par_net: "TP net", pipeline_par_net: "PP net", data_par_net: "DP net",
  equal: "Equal of the best", fused_activation: "Fused", zero_stage: "ZeRO", pipeline_schedule: "Schedule",
};
const words = (key) => key.replaceAll("_", " ");
const metricLabel = (key) => (metricLooks[key] || [words(key)])[0];
const metricText = (key) => (metricLooks[key] || [0, short])[1];
const axisLabel = (key) => axisLooks[key] || words(key.replace(/^(sys|app|inference)\./, "").replace(/\.GiB$/, " GiB").replace(/\[(\d)\]\./, " $1 "));
const isUp = (key) => /rate|efficiency|utilization|per_s|sample/.test(key);

/* ---- Layouts ---------------------------------------------------------------------------------- */

/* All layouts that are known in full; `sets` names the lists they come from. */
const rows = [];
const rowByKey = new Map();

function addRow(found, set) {
  const key = JSON.stringify([found.design, found.execution]);
  let row = rowByKey.get(key);
  if (!row) {
    row = { design: found.design, exe: found.execution, stats: { ...found.stats, sure: found.sure, fits: found.fits }, time: found.time || {},
      memory1: found.memory1 || {}, memory2: found.memory2 || {}, sets: new Set(), index: rows.length };
    rowByKey.set(key, row);
    rows.push(row);
  }
  row.sets.add(set);
  return row;
}

const splits = data.splits.items.map((cell) => ({ ...cell, row: cell.best && addRow(cell.best, "split") }));
const groups = new Set(data.rows.map((found) => found.group)).size;
for (const found of data.rows) {
  addRow(found, found.set);
  if (groups > 1 && found.rank === 1 && found.set === "top") addRow(found, "each");
}
const procs = data.procs.items.map((cell) => ({ ...cell, row: cell.best && addRow(cell.best, "procs") }));
const better = (a, b) => (goalUp ? d3.descending : d3.ascending)(a.stats[goal], b.stats[goal]);
rows.sort(better);
rows.forEach((row, i) => { row.index = i; });
const inSet = (set) => rows.filter((row) => row.sets.has(set));
const best = inSet("top")[0] || rows[0];
/* The layout to start with, which --save-best saves: the best, or the first that surely fits and that a
 * framework runs. */
const start = inSet("start")[0] || best;

/* Equals of the best: predictions of both are uncertain, so that it is not sure which is better. If the
 * uncertainty is unknown, the layouts near the best. */
const SURE = 0.75;
const isSure = rows.some((row) => isNumber(row.stats.sure));
const isEqual = ({ stats }) => (isSure ? stats.sure < SURE : Math.abs(stats[goal] / best.stats[goal] - 1) <= 0.01);
const equalText = isSure ? "than which the best is better with a chance below 75\u202f%: predictions are off, alike as far as layouts are"
  : "within 1\u202f% of the best: predictions are less exact than that";

function splitName(exe) {
  const parts = [["TP", exe.tensor_par], ["PP", exe.pipeline_par], ["DP", exe.data_par]];
  if (exe.context_par > 1) parts.push(["CP", exe.context_par]);
  if (exe.expert_par > 1) parts.push(["EP", exe.expert_par]);
  return parts.map(([name, value]) => `${name} ${count(value)}`).join(" × ");
}

/* A field of an execution, including nested ones such as "inference.chunk_size". */
const fieldOf = (exe, key) => key.split(".").reduce((object, part) => (object === undefined ? undefined : object[part]), exe);

/* The differences between designs are axes, too; their values are the choices, in order. */
const designs = data.designs || [];
const designText = (design, key) => String(design[key] ?? "");
for (const key of Object.keys(designs[0] || {})) {
  const choices = [...new Set(designs.map((design) => designText(design, key)))].sort((a, b) => a - b || d3.ascending(a, b));
  if (choices.length > 1) {
    cloud.axes.push({ key, choices, type: 3, ofDesign: true, of: (row) => choices.indexOf(designText(row.design, key)), values: cloud.design.map((i) => choices.indexOf(designText(designs[i], key))) });
  }
}
/* Whether a layout is an equal of the best is also an axis. */
const BOOL = 2, SET = 4;
if (isSure) {
  const { values } = cloud.metrics.find(({ key }) => key === "sure");
  cloud.axes.push({ key: "equal", choices: [], type: BOOL, of: (row) => +isEqual(row), values: values.map((sure) => +(sure < SURE)) });
}

/* The value of an axis as a number, and as text. */
const axisByKey = new Map(cloud.axes.map((axis) => [axis.key, axis]));
const numberOf = (axis, row) => (axis.of ? axis.of(row) : axisNumber(axis, fieldOf(row.exe, axis.key)));
function axisNumber(axis, value) {
  if (value === undefined) return axis.key.endsWith("_net") ? -1 : 0;
  if (typeof value === "string") return axis.choices.indexOf(value);
  if (Array.isArray(value)) return d3.sum(value, (word) => 2 ** axis.choices.indexOf(word));
  return +value;
}
function axisText(axis, value) {
  if (axis.type === BOOL) return value ? "yes" : "no";
  if (axis.type === SET) return axis.choices.filter((word, i) => (value >> i) & 1).join(" + ") || "none";
  if (axis.ofDesign) return axis.choices[value] || "–";
  return axis.choices.length ? words(axis.choices[value] || String(value)) : count(value);
}
const rowValue = (row, key) => {
  const axis = axisByKey.get(key);
  return axis ? axisText(axis, numberOf(axis, row)) : plainValue(fieldOf(row.exe, key));
};
const plainValue = (value) => (value === true ? "yes" : value === false || value === undefined ? "–" : typeof value === "number" ? count(value) : String(value));

/* Points of the scatter: the cloud, and the rows, which may not be in the cloud. */
const total = cloud.shown + rows.length;
/* Number of points counted: rows are also in the cloud. */
const counted = cloud.shown;
const columns = new Map();
/* Rows are rounded like the cloud, so that equal points are equal, and a row is on the front and not its copy. */
const rounded = (v) => (isNumber(v) ? Number(v.toPrecision(7)) : NaN);
for (const metric of cloud.metrics) {
  columns.set(metric.key, Float64Array.from([...metric.values, ...rows.map((row) => rounded(row.stats[metric.key]))]));
}
const axes = cloud.axes.map((axis) => ({ ...axis,
  column: Float64Array.from([...axis.values, ...rows.map((row) => numberOf(axis, row))]) }));
for (const axis of axes) {
  axis.distinct = [...new Set(axis.column)].sort(d3.ascending);
  const places = new Map(axis.distinct.map((value, i) => [value, i]));
  axis.place = Uint32Array.from(axis.column, (value) => places.get(value));
}
/* The row of a point; -1: none. */
const rowAt = new Int32Array(total).fill(-1);
function matchRows() {
  const hash = (i) => axes.reduce((h, axis) => (Math.imul(h, 31) + axis.place[i]) | 0, 7);
  const found = d3.nest().key((k) => hash(cloud.shown + k)).map(d3.range(rows.length));
  const same = (i, j) => axes.every((axis) => axis.place[i] === axis.place[j])
    && [...columns.values()].every((column) => !(Math.abs(column[i] - column[j]) > 1e-6 * Math.abs(column[j])));
  for (let k = 0; k < rows.length; k++) rowAt[cloud.shown + k] = k;
  for (let i = 0; i < cloud.shown; i++) {
    const k = (found.get(hash(i)) || []).find((one) => same(i, cloud.shown + one));
    if (k !== undefined) rowAt[i] = k;
  }
}
matchRows();

/* The layout of a point that can be run: its row, or a layout from the columns without known parts. */
const layouts = new Map();
function layoutAt(i) {
  if (rowAt[i] >= 0) return rows[rowAt[i]];
  if (!layouts.has(i)) layouts.set(i, layoutOf(i));
  return layouts.get(i);
}

function layoutOf(i) {
  const exe = JSON.parse(JSON.stringify(cloud.base));
  for (const { key, type, choices, column, of } of axes) {
    if (of) continue;
    const value = column[i];
    const [inner, last] = key.includes(".") ? [exe[key.split(".")[0]] = exe[key.split(".")[0]] || {}, key.split(".")[1]] : [exe, key];
    inner[last] = type === BOOL ? value === 1 : type === SET ? choices.filter((word, bit) => (value >> bit) & 1) : choices.length ? choices[value] : value;
  }
  return { exe, design: designs[cloud.design[i]] || null, stats: Object.fromEntries([...columns].map(([key, column]) => [key, column[i]])), index: `p${i}` };
}

const metrics = cloud.metrics.map((metric) => metric.key).filter((key) => {
  const [lo, hi] = d3.extent(columns.get(key).filter((v) => !Number.isNaN(v)));
  return lo !== undefined && lo !== hi && !key.includes("capacity");
});

/* The changes that turn the start layout into this one: FIELD=VALUE; null if they cannot be expressed. */
function differences(exe, from = start.exe, before = "") {
  const found = [];
  for (const key of new Set([...Object.keys(from), ...Object.keys(exe)])) {
    const [value, was] = [exe[key], from[key]];
    if (JSON.stringify(value) === JSON.stringify(was)) continue;
    const plain_ = Array.isArray(value) ? value.join() || "none" : value;
    if (value === undefined && typeof was === "boolean") found.push(`${before}${key}=false`);
    else if (value === undefined || (typeof plain_ === "object" && was === undefined)) return null;
    else if (typeof plain_ === "object") {
      const inner = differences(value, was, `${before}${key}.`);
      if (!inner) return null;
      found.push(...inner);
    } else found.push(`${before}${key}=${plain_}`);
  }
  return found;
}

/* A command for a shell. The layout goes in as standard input or, in short form, as changes to the start
 * layout in best.json. `changes`: FIELD=VALUE. */
function commandOf(row, changes = [], short_ = false) {
  const own = short_ ? differences(row.exe) : null;
  const sets = Object.entries(row.design).filter(([key]) => key !== "application" && key !== "system")
    .map(([key, value]) => `${key}=${value}`)
    .concat(own || [], changes);
  const rules = study.compat === "none" ? "" : ` --compat ${study.compat}`;
  const words = ["calc", "run", row.design.application, row.design.system, own ? "best.json" : "-"];
  const command = sets.reduce((before, one) => withSets(before, [one]), words);
  return `${commandText(command)}${rules}${own ? "" : ` <<'EOF'\n${JSON.stringify(row.exe)}\nEOF`}\n`;
}
const serves = Boolean(best && best.exe.inference && best.exe.inference.phase && best.exe.inference.phase !== "none");
