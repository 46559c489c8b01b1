/* The page of a sweep. */
"use strict";

/* What calc report makes of a file has the layouts of the file only, and may have no counts. */
const fromFile = Boolean(data.written);
if (fromFile) Object.assign(data, readFile(data));
const { study, summary, cloud } = data;
const counts = summary && summary.counts;
const partial = summary ? summary.partial : data.partial;
const goal = study.top_by.statistic;
const goalUp = study.top_by.direction === "up";
const several = study.designs > 1;

/* The file of a sweep as the page of one: of each list 400 rows of all groups together, but at least 20. */
function readFile({ written, axes, statistics }) {
  const groups = written.groups || [written];
  const most = Math.max(20, Math.floor(400 / Math.max(1, groups.length)));
  const pick = (list, set, group) => {
    const shown = Math.min(list.length, most);
    return Array.from({ length: shown }, (_, i) => (shown < 2 ? 0 : Math.floor((i * (list.length - 1)) / (shown - 1))))
      .map((at) => ({ set, group, rank: at + 1, ...list[at] }));
  };
  const rows = groups.flatMap(({ front, top }, group) => [...pick(front, "front", group), ...pick(top, "top", group)]);
  const { statistic, direction } = written.top_by;
  const beats = (a, b) => (direction === "up" ? a.stats[statistic] > b.stats[statistic] : a.stats[statistic] < b.stats[statistic]);
  const cells = (...keys) => {
    const found = new Map();
    for (const row of rows) {
      const of = Object.fromEntries(keys.map((key) => [key, row.execution[key]]));
      const place = JSON.stringify(of);
      if (!found.has(place)) found.set(place, { tensor_par: 0, pipeline_par: 0, num_procs: 0, total: 0, feasible: 0, filtered: 0, rejected: {}, best: row, ...of });
      const cell = found.get(place);
      cell.feasible = ++cell.total;
      if (beats(row, cell.best)) cell.best = row;
    }
    return [...found.values()].sort((a, b) => keys.map((key) => a[key] - b[key]).find((difference) => difference) || 0);
  };
  const differ = (values) => values.length < 2 || values.some((value, i) => i && value !== undefined && value !== values[i - 1]);
  const known = (value) => (typeof value === "number" ? value : undefined);
  const named = [...new Set([...statistics, statistic, ...written.objectives.map((objective) => objective.statistic)])];
  const sizes = groups.some((group) => group.num_procs !== undefined);
  return {
    rows, front: groups.reduce((sum, { front }) => sum + front.length, 0), partial: written.partial === true,
    study: { ...written, designs: new Set(rows.map(({ design }) => JSON.stringify(design))).size, per_num_procs: sizes },
    cloud: { shown: 0, seen: groups.reduce((sum, { front, top }) => sum + front.length + top.length, 0), all: false, design: [],
      axes: rows.length < 2 ? [] : axes.filter(({ key }) => differ(rows.map(({ execution }) => JSON.stringify(execution[key]) || ""))),
      metrics: named.filter((key) => differ(rows.map(({ stats }) => known(stats[key])))).map((key) => ({ key, values: [] })) },
    splits: { counted: false, items: cells("tensor_par", "pipeline_par") },
    procs: { counted: false, items: sizes ? cells("num_procs") : [] },
  };
}

/* ---- Words ------------------------------------------------------------------------------------ */

const metricLooks = {
  sample_rate: ["Throughput, samples/s", num], total_time: ["Time of a step", seconds],
  tokens_per_s: ["Tokens/s", amount], tokens_per_s_per_proc: ["Tokens/s per processor", num],
  model_flops_utilization: ["Model FLOPs utilisation", share],
  proc_mem_tier1_cap_req: ["Memory needed", bytes], proc_mem_tier2_cap_req: ["Second tier needed", bytes],
  bubble_time: ["Bubble", seconds], tp_comm_exposed_time: ["Exposed tensor-parallel comm.", seconds],
  pp_comm_exposed_time: ["Exposed pipeline comm.", seconds], dp_comm_exposed_time: ["Exposed data-parallel comm.", seconds],
  cp_comm_exposed_time: ["Exposed context-parallel comm.", seconds], ep_comm_exposed_time: ["Exposed expert-parallel comm.", seconds],
  usd_per_trillion_tokens: ["USD per 1e12 tokens", num],
};
const axisLooks = {
  num_procs: "Procs", tensor_par: "TP", pipeline_par: "PP", data_par: "DP", context_par: "CP", expert_par: "EP",
  batch_size: "Batch", microbatch_size: "Micro-batch", pipeline_interleaving: "Chunks", activation_recompute: "Recompute",
  tensor_par_comm_type: "TP comm", tensor_par_overlap: "TP overlap", data_par_overlap: "DP overlap",
  optimizer_sharding: "Sharded", seq_par_ag_redo: "Gather again", weight_offload: "Weights off", activations_offload: "Activ. off",
  optimizer_offload: "Optim. off", tensor_par_net: "TP net", pipeline_par_net: "PP net", data_par_net: "DP net",
  fused_activation: "Fused", zero_stage: "ZeRO", pipeline_schedule: "Schedule",
};
const words = (key) => key.replaceAll("_", " ");
const metricLabel = (key) => (metricLooks[key] || [words(key)])[0];
const metricText = (key) => (metricLooks[key] || [0, short])[1];
const axisLabel = (key) => axisLooks[key] || words(key);
const isUp = (key) => /rate|efficiency|utilization|per_s|sample/.test(key);

/* ---- Layouts ---------------------------------------------------------------------------------- */

/* Everything that is known in full; `sets` says from which list. */
const rows = [];
const rowByKey = new Map();

function addRow(found, set) {
  const key = JSON.stringify([found.design, found.execution]);
  let row = rowByKey.get(key);
  if (!row) {
    row = { design: found.design, exe: found.execution, stats: found.stats, time: found.time || {},
      memory1: found.memory1 || {}, memory2: found.memory2 || {}, sets: new Set(), index: rows.length };
    rowByKey.set(key, row);
    rows.push(row);
  }
  row.sets.add(set);
  return row;
}

const splits = data.splits.items.map((cell) => ({ ...cell, row: cell.best && addRow(cell.best, "split") }));
for (const found of data.rows) addRow(found, found.set);
const procs = data.procs.items.map((cell) => ({ ...cell, row: cell.best && addRow(cell.best, "procs") }));
const better = (a, b) => (goalUp ? d3.descending : d3.ascending)(a.stats[goal], b.stats[goal]);
rows.sort(better);
rows.forEach((row, i) => { row.index = i; });
const inSet = (set) => rows.filter((row) => row.sets.has(set));
const best = inSet("top")[0] || rows[0];

function splitName(exe) {
  const parts = [["TP", exe.tensor_par], ["PP", exe.pipeline_par], ["DP", exe.data_par]];
  if (exe.context_par > 1) parts.push(["CP", exe.context_par]);
  if (exe.expert_par > 1) parts.push(["EP", exe.expert_par]);
  return parts.map(([name, value]) => `${name} ${count(value)}`).join(" × ");
}

/* The value of an axis as a number, and in words. */
const axisByKey = new Map(cloud.axes.map((axis) => [axis.key, axis]));
function axisNumber(axis, value) {
  if (value === undefined) return axis.key.endsWith("_net") ? -1 : 0;
  if (typeof value === "string") return axis.choices.indexOf(value);
  if (Array.isArray(value)) return d3.sum(value, (word) => 2 ** axis.choices.indexOf(word));
  return +value;
}
const SET = 4, BOOL = 2;
function axisText(axis, value) {
  if (axis.type === BOOL) return value ? "yes" : "no";
  if (axis.type === SET) return axis.choices.filter((word, i) => (value >> i) & 1).join(" + ") || "none";
  return axis.choices.length ? words(axis.choices[value] || String(value)) : count(value);
}
const rowValue = (row, key) => {
  const axis = axisByKey.get(key);
  return axis ? axisText(axis, axisNumber(axis, row.exe[key])) : plainValue(row.exe[key]);
};
const plainValue = (value) => (value === true ? "yes" : value === false || value === undefined ? "–" : typeof value === "number" ? count(value) : String(value));

/* Points of the scatter: the cloud, and the rows, which may not be in it. */
const total = cloud.shown + rows.length;
/* Of which so many are counted: rows are in the cloud too, unless there is none. */
const counted = fromFile ? total : cloud.shown;
const columns = new Map();
for (const metric of cloud.metrics) {
  columns.set(metric.key, Float64Array.from([...metric.values.map((v) => (v === null ? NaN : v)), ...rows.map((row) => row.stats[metric.key] ?? NaN)]));
}
const axes = cloud.axes.map((axis) => ({ ...axis,
  column: Float64Array.from([...axis.values, ...rows.map((row) => axisNumber(axis, row.exe[axis.key]))]) }));
for (const axis of axes) {
  axis.distinct = [...new Set(axis.column)].sort(d3.ascending);
  const places = new Map(axis.distinct.map((value, i) => [value, i]));
  axis.place = Uint32Array.from(axis.column, (value) => places.get(value));
}
const metrics = cloud.metrics.map((metric) => metric.key).filter((key) => {
  const [lo, hi] = d3.extent(columns.get(key).filter((v) => !Number.isNaN(v)));
  return lo !== undefined && lo !== hi && !key.includes("capacity");
});

/* A command for a shell: the layout goes in as standard input. */
function commandOf(row) {
  const sets = Object.entries(row.design).filter(([key]) => key !== "application" && key !== "system")
    .map(([key, value]) => ` --set ${quoted(`${key}=${value}`)}`).join("");
  return `calc run ${quoted(row.design.application)} ${quoted(row.design.system)} -${sets} <<'EOF'\n${JSON.stringify(row.exe)}\nEOF\n`;
}

/* ---- The answer ------------------------------------------------------------------------------- */

document.title = `${study.applications.join(", ")} on ${study.systems.join(", ")} – calc sweep`;
document.getElementById("kind").textContent = "sweep";

const goalValue = (row) => (goal === "sample_rate" ? `${num(row.stats.sample_rate, 4)}\u202fsamples/s` : metricText(goal)(row.stats[goal]));

function sayWhy() {
  if (!best) {
    if (!counts) return "The file holds no layout.";
    const [reason, n] = Object.entries(counts.rejected).sort((a, b) => b[1] - a[1])[0] || ["", 0];
    return n ? [`The most frequent reason is `, bold(words(reason)), `, of ${count(n)} layouts.`]
      : counts.total ? "Bounds prove that every one needs more memory than there is." : "The space is empty.";
  }
  const said = [];
  const other = splits.filter((cell) => cell.row && (cell.tensor_par !== best.exe.tensor_par || cell.pipeline_par !== best.exe.pipeline_par))
    .map((cell) => cell.row).sort(better)[0];
  if (other && goal === "sample_rate") {
    const gain = best.stats.sample_rate / other.stats.sample_rate - 1;
    said.push("It is ", bold(percent(Math.max(0, gain), 2)), ` faster than the best layout of any other split (${splitName(other.exe)})`);
    const per = (row, part) => (row.time[part] || 0) / row.exe.batch_size;
    const gains = Object.keys({ ...best.time, ...other.time }).map((part) => [part, per(other, part) - per(best, part)]).sort((a, b) => b[1] - a[1]);
    if (gain > 0.002 && gains[0][1] > 0) said.push(`: the gain is mostly ${gains[0][0]}`);
    said.push(". ");
  }
  const cap = best.stats.mem_tier1_capacity;
  said.push("It needs ", bold(bytes(best.stats.proc_mem_tier1_cap_req)), ` of ${bytes(cap)}.`);
  return said;
}

const [memoryValue, memoryUnit] = best ? bytesIn(best.stats.proc_mem_tier1_cap_req) : ["–", ""];
const [timeValue, timeUnit] = best ? secondsIn(best.stats.total_time) : ["–", ""];
const procsOf = [...new Set(rows.map((row) => row.exe.num_procs))];
hero({
  bad: !best,
  context: [["", clipped(study.applications.join(", "), 120)], ["", clipped(study.systems.join(", "), 120)],
    ...(procsOf.length === 1 ? [["processors", count(procsOf[0])]] : []), ...(counts ? [["layouts", count(counts.total)]] : []),
    ...(partial ? [["", "partial result"]] : [])],
  headline: best ? [`${splitName(best.exe)} is ${goal === "sample_rate" ? "the fastest layout that fits" : `best by ${words(goal)}`}: `, el("em", {}, goalValue(best)), "."]
    : ["Nothing fits: none of ", el("em", {}, counts ? count(counts.total) : "the"), " layouts can run."],
  why: sayWhy(),
  kpis: [
    ["Throughput", best ? num(best.stats.sample_rate, 4) : "–", "samples/s", best ? `batch ${count(best.exe.batch_size)}, micro-batch ${count(best.exe.microbatch_size)}` : ""],
    ["Step time", timeValue, timeUnit, best ? `${num(best.stats.tokens_per_s_per_proc)} tokens/s per processor` : ""],
    ["Model FLOPs utilisation", best ? num(100 * best.stats.model_flops_utilization) : "–", "%", "useful FLOP over matrix peak"],
    ["Memory", memoryValue, memoryUnit, best ? `${share(best.stats.proc_mem_tier1_cap_req / best.stats.mem_tier1_capacity)} of ${bytes(best.stats.mem_tier1_capacity)}` : ""],
    counts ? ["Layouts searched", counts.total < 1e5 ? count(counts.total) : amount(counts.total), "", `${count(counts.feasible)} evaluated and feasible`]
      : ["Layouts in the file", count(rows.length), "", "front and best"],
    ["Pareto front", count(data.front), "layouts", study.objectives.map((o) => words(o.statistic.replace("proc_mem_tier", "memory ").replace("_cap_req", ""))).join(", ")],
  ],
});

/* ---- The scatter ------------------------------------------------------------------------------ */

const view = {
  x: metrics.includes("proc_mem_tier1_cap_req") ? "proc_mem_tier1_cap_req" : metrics[0],
  y: metrics.includes(goal) ? goal : metrics[metrics.length - 1],
  color: axisByKey.has("tensor_par") ? "tensor_par" : (axes[0] || {}).key, logX: false, logY: false,
  area: null, chosen: new Map(), mask: new Uint8Array(total).fill(1),
};
const watchers = [];
let compared = [];

function refilter() {
  const { mask, area } = view;
  mask.fill(1);
  for (const axis of axes) {
    const chosen = view.chosen.get(axis.key);
    if (!chosen || !chosen.size) continue;
    for (let i = 0; i < total; i++) if (!chosen.has(axis.column[i])) mask[i] = 0;
  }
  if (area) {
    const [x, y] = [columns.get(view.x), columns.get(view.y)];
    for (let i = 0; i < total; i++) if (!(x[i] >= area.x0 && x[i] <= area.x1 && y[i] >= area.y0 && y[i] <= area.y1)) mask[i] = 0;
  }
  for (const watcher of watchers) watcher();
}

const rowInView = (row) => view.mask[cloud.shown + row.index] === 1;

/* All points along x, from its better end; kept for the pair of axes that is shown. */
let alongX = { of: "", order: [] };

function orderOf(x, y, sx, sy) {
  const of = `${view.x} ${view.y}`;
  if (alongX.of !== of) {
    const order = [];
    for (let i = 0; i < total; i++) if (!Number.isNaN(x[i]) && !Number.isNaN(y[i])) order.push(i);
    /* Rows stand behind the cloud: of equals they come first, as more is known of them. */
    order.sort((a, b) => sx * (x[a] - x[b]) || sy * (y[a] - y[b]) || b - a);
    alongX = { of, order };
  }
  return alongX.order;
}

/* Points of the front of the axes shown, along x; of equals one. */
function frontOf() {
  const [x, y] = [columns.get(view.x), columns.get(view.y)];
  const [sx, sy] = [isUp(view.x) ? -1 : 1, isUp(view.y) ? -1 : 1];
  const order = orderOf(x, y, sx, sy);
  const front = [];
  let least = Infinity;
  /* Points of the cloud are rounded: what is better by less than that is the same layout. */
  for (const i of order) {
    if (view.mask[i] && sy * y[i] < least - 1e-6 * Math.abs(y[i])) {
      least = sy * y[i];
      front.push(i);
    }
  }
  return front;
}

let colorsKept = { of: "" };

/* Kept for the choice and the theme that are shown. */
function colorsNow() {
  const of = `${view.color} ${document.documentElement.dataset.theme}`;
  if (colorsKept.of !== of) colorsKept = { of, ...makeColors() };
  return colorsKept;
}

function makeColors() {
  const axis = axes.find((a) => a.key === view.color);
  const column = axis ? axis.column : columns.get(view.color);
  const index = new Uint8Array(total);
  let names, paints;
  if (axis && axis.distinct.length <= 8) {
    names = axis.distinct.map((v) => axisText(axis, v));
    paints = names.map((_, i) => paintOf(`cat${i}`));
    index.set(axis.place);
  } else {
    const sorted = Float64Array.from(column).filter((v) => !Number.isNaN(v)).sort();
    const edges = [0.2, 0.4, 0.6, 0.8].map((q) => d3.quantileSorted ? d3.quantileSorted(sorted, q) : d3.quantile(sorted, q));
    const ramp = d3.interpolateLab(paintOf("seq0"), paintOf("seq1"));
    paints = d3.range(5).map((i) => ramp(0.15 + (0.85 * i) / 4));
    const text = axis ? (v) => axisText(axis, v) : metricText(view.color);
    names = d3.range(5).map((i) => (i < 4 ? `up to ${text(edges[i])}` : `above ${text(edges[3])}`));
    for (let i = 0; i < total; i++) index[i] = d3.bisectLeft(edges, column[i]);
  }
  return { index, names, paints };
}

function showScatter() {
  if (metrics.length < 2 || !view.x || !view.y) return;
  const node = section("tradeoff", "Trade-off", "The trade-off",
    fromFile ? "The layouts of the file: the front and the best. Others were not kept."
      : cloud.all ? (cloud.seen > cloud.shown ? `A fair choice of ${count(cloud.shown)} of the ${count(cloud.seen)} layouts that fit.` : "Every layout that fits.")
      : `${count(cloud.shown)} layouts that fit, drawn at random from all, together with the best and the front, which are exact.`);
  node.querySelector(".lead").append(" The line is the front of the two axes; grey marks are filtered out.");
  const cols = el("div", { class: "cols" });
  node.append(cols);
  const box = card(cols);
  const tools = el("div", { class: "tools" });
  const options = metrics.map((key) => [key, metricLabel(key)]);
  const change = (key) => (value) => { view[key] = value; view.area = null; refilter(); };
  tools.append(picker("X", options, view.x, change("x")), picker("Y", options, view.y, change("y")),
    picker("Colour", [...axes.map((a) => [a.key, axisLabel(a.key)]), ...options], view.color, change("color")));
  const log = (label, key) => el("button", { type: "button", "aria-pressed": "false", onclick: (event) => {
    view[key] = !view[key];
    event.currentTarget.setAttribute("aria-pressed", String(view[key]));
    draw();
  } }, label);
  let selecting = false;
  const select = el("button", { type: "button", "aria-pressed": "false", onclick: () => {
    selecting = !selecting;
    select.setAttribute("aria-pressed", String(selecting));
    area.style.touchAction = selecting ? "none" : "pan-y";
  } }, "Select area");
  const clear = el("button", { type: "button", class: "right", disabled: true, onclick: () => clearAll() }, "Clear filters");
  tools.append(log("Log X", "logX"), log("Log Y", "logY"), select, clear);
  const area = el("div", { tabindex: "0", role: "group", "aria-roledescription": "scatter plot", style: "position:relative;touch-action:pan-y",
    "aria-label": "Layouts that fit. Arrow keys walk along the front; Enter adds a layout to the comparison; the table below has the same layouts." });
  const paper = el("canvas", { "aria-hidden": "true", style: "position:absolute;inset:0" });
  const svg = d3.create("svg").attr("aria-hidden", "true").style("position", "relative").style("pointer-events", "none");
  area.append(paper, svg.node());
  const key = el("div");
  const tally = el("p", { class: "note", "aria-live": "polite" });
  box.append(tools, area, key, tally);
  const height = innerWidth > 1000 ? 560 : 440;
  const edge = { left: 62, right: 14, top: 26, bottom: 46 };
  const px = new Float32Array(total), py = new Float32Array(total);
  let scales, front = [], at = -1, rect = null;

  function scaleOf(column, log_scale, range) {
    let [lo, hi] = d3.extent(column.filter((v) => !Number.isNaN(v) && (!log_scale || v > 0)));
    if (log_scale) return d3.scaleLog([lo * 0.95, hi * 1.05], range);
    const gap = (hi - lo || 1) * 0.04;
    return d3.scaleLinear([lo - gap < 0 && lo >= 0 ? 0 : lo - gap, hi + gap], range);
  }

  function axisTicks(key_, scale, many) {
    const logarithmic = scale.base !== undefined;
    const memory = metricText(key_) === bytes;
    if (logarithmic) {
      const all = scale.ticks(many);
      return (all.length > 2 * many ? all.filter((v) => Math.abs(Math.log10(v) % 1) < 1e-6) : all);
    }
    if (!memory) return scale.ticks(many);
    const unit = axisLabels(scale.domain()[1], byteSteps).unit;
    return d3.ticks(scale.domain()[0] / unit, scale.domain()[1] / unit, many).map((v) => v * unit);
  }

  function tickText(key_, scale) {
    const text = metricText(key_);
    const steps = text === bytes ? byteSteps : text === seconds ? timeSteps : null;
    if (steps && scale.base === undefined) return axisLabels(scale.domain()[1], steps).text;
    return text === share ? (v) => `${short(100 * v)}\u202f%` : text === amount || steps ? text : (v) => short(v);
  }

  function draw() {
    const width = area.clientWidth;
    if (!width) return;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    paper.width = Math.round(width * ratio);
    paper.height = Math.round(height * ratio);
    paper.style.width = `${width}px`;
    paper.style.height = `${height}px`;
    svg.attr("viewBox", `0 0 ${width} ${height}`).attr("height", height).selectAll("*").remove();
    const [xs, ys] = [columns.get(view.x), columns.get(view.y)];
    const x = scaleOf(xs, view.logX, [edge.left, width - edge.right]);
    const y = scaleOf(ys, view.logY, [height - edge.bottom, edge.top]);
    scales = { x, y };
    const colors = colorsNow();
    paint(paper, ratio, x, y, xs, ys, colors);
    const grid = svg.append("g").attr("class", "grid");
    const xText = tickText(view.x, x), yText = tickText(view.y, y);
    for (const v of axisTicks(view.x, x, Math.max(3, width / 110))) {
      grid.append("line").attr("x1", x(v)).attr("x2", x(v)).attr("y1", edge.top).attr("y2", height - edge.bottom).style("stroke-opacity", 0.7);
      svg.append("text").attr("x", x(v)).attr("y", height - edge.bottom + 17).attr("text-anchor", "middle").text(xText(v));
    }
    for (const v of axisTicks(view.y, y, 7)) {
      grid.append("line").attr("x1", edge.left).attr("x2", width - edge.right).attr("y1", y(v)).attr("y2", y(v)).style("stroke-opacity", 0.7);
      svg.append("text").attr("x", edge.left - 7).attr("y", y(v) + 4).attr("text-anchor", "end").text(yText(v));
    }
    const hint = (key_, up, down) => `${metricLabel(key_)} (${isUp(key_) ? up : down} better)`;
    svg.append("text").attr("class", "strong").attr("x", 0).attr("y", 12).text(hint(view.y, "↑", "↓"));
    svg.append("text").attr("class", "strong").attr("x", width - edge.right).attr("y", height - 8).attr("text-anchor", "end").text(hint(view.x, "→", "←"));
    if (view.x === "proc_mem_tier1_cap_req" && !several && best) {
      const cap = best.stats.mem_tier1_capacity;
      if (cap >= x.domain()[0] && cap <= x.domain()[1] * 1.01) {
        svg.append("line").attr("x1", x(cap)).attr("x2", x(cap)).attr("y1", edge.top).attr("y2", height - edge.bottom)
          .style("stroke", "var(--ink)").style("stroke-dasharray", "3 3");
        svg.append("text").attr("x", x(cap) - 5).attr("y", height - edge.bottom - 8).attr("text-anchor", "end").text(`${bytes(cap)} capacity`);
      }
    }
    front = frontOf();
    const line = d3.line().curve(d3.curveStepAfter);
    svg.append("path").attr("d", line(front.map((i) => [x(xs[i]), y(ys[i])]))).style("fill", "none").style("stroke", "var(--ink)").style("stroke-width", 1.3);
    if (front.length <= 300) {
      svg.append("g").selectAll("circle").data(front).enter().append("circle").attr("cx", (i) => x(xs[i])).attr("cy", (i) => y(ys[i]))
        .attr("r", 3.4).style("fill", (i) => colors.paints[colors.index[i]]).style("stroke", "var(--ink)");
    }
    if (best && rowInView(best)) {
      const i = cloud.shown + best.index;
      const leftward = x(xs[i]) > width / 2;
      svg.append("text").attr("class", "strong").attr("x", x(xs[i]) + (leftward ? -8 : 8)).attr("y", Math.max(12, y(ys[i]) - 8))
        .attr("text-anchor", leftward ? "end" : "start").text(`best: ${goalValue(best)}`);
    }
    rect = svg.append("rect").style("fill", "var(--accent)").style("fill-opacity", 0.1).style("stroke", "var(--accent)");
    if (view.area) place(x(view.area.x0), x(view.area.x1), y(view.area.y0), y(view.area.y1));
    key.replaceChildren();
    legend(key, colors.names.map((label, i) => ({ label: `${i === 0 || axes.some((a) => a.key === view.color) ? axisLabel(view.color) : ""} ${label}`.trim(), color: colors.paints[i] })));
    const shown = d3.sum(view.mask.subarray(0, counted));
    tally.replaceChildren(`${count(shown)} of ${count(counted)} layouts in view; the front has ${count(front.length)}.`,
      el("span", { class: "screen" }, " Drag to select an area, arrow keys walk along the front, Esc clears."));
    clear.disabled = !(view.area || [...view.chosen.values()].some((chosen) => chosen.size));
    at = -1;
  }

  /* Marks of 3 by 3 pixels straight into the picture: 100,000 of them are quick. */
  function paint(paper_, ratio, x, y, xs, ys, colors) {
    const context = paper_.getContext("2d");
    const picture_ = context.createImageData(paper_.width, paper_.height);
    const pixel = new Uint32Array(picture_.data.buffer);
    const rgb = (text, alpha) => {
      const c = d3.color(text).rgb();
      return ((alpha << 24) | (c.b << 16) | (c.g << 8) | c.r) >>> 0;
    };
    const paints = colors.paints.map((text) => rgb(text, 255));
    const off = rgb(paintOf("line"), 255);
    const side = Math.max(2, Math.round((total > 30000 ? 2 : 3) * ratio));
    const order = [0, 1];
    for (const pass of order) {
      for (let i = 0; i < total; i++) {
        if (view.mask[i] !== pass) continue;
        px[i] = x(xs[i]);
        py[i] = y(ys[i]);
        if (!(px[i] >= 0 && py[i] >= 0)) continue;
        const color = pass ? paints[colors.index[i]] : off;
        const left = Math.round(px[i] * ratio - side / 2), top = Math.round(py[i] * ratio - side / 2);
        if (left < 0 || top < 0 || left + side > paper_.width || top + side > paper_.height) continue;
        for (let v = 0; v < side; v++) pixel.fill(color, (top + v) * paper_.width + left, (top + v) * paper_.width + left + side);
      }
    }
    context.putImageData(picture_, 0, 0);
  }

  function place(x0, x1, y0, y1) {
    rect.attr("x", Math.min(x0, x1)).attr("y", Math.min(y0, y1)).attr("width", Math.abs(x1 - x0)).attr("height", Math.abs(y1 - y0));
  }

  function nearest(mx, my) {
    let found = -1, least = 144;
    for (let i = total - 1; i >= 0; i--) {
      if (!view.mask[i]) continue;
      const d = (px[i] - mx) ** 2 + (py[i] - my) ** 2;
      if (d < least) { least = d; found = i; }
    }
    return found;
  }

  function tell(i, clientX, clientY) {
    const lines = ["tensor_par", "pipeline_par", "data_par"].filter((k) => !axisByKey.has(k)).length
      ? [] : [["TP × PP × DP", ["tensor_par", "pipeline_par", "data_par"].map((k) => count(axes.find((a) => a.key === k).column[i])).join(" × ")]];
    for (const key_ of new Set([goal, "total_time", "model_flops_utilization", "proc_mem_tier1_cap_req", view.x, view.y])) {
      if (columns.has(key_)) lines.push([metricLabel(key_), metricText(key_)(columns.get(key_)[i])]);
    }
    for (const axis of axes) {
      if (!(lines[0][0].startsWith("TP ×") && ["tensor_par", "pipeline_par", "data_par"].includes(axis.key))) lines.push([axisLabel(axis.key), axisText(axis, axis.column[i])]);
    }
    const row = i >= cloud.shown ? rows[i - cloud.shown] : null;
    showTip(clientX, clientY, row ? (row === best ? "The best" : "In the table below") : "A layout", lines);
  }

  let start = null;
  area.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" && !selecting) return;
    const box_ = area.getBoundingClientRect();
    start = [event.clientX - box_.left, event.clientY - box_.top];
    area.setPointerCapture(event.pointerId);
  });
  area.addEventListener("pointermove", (event) => {
    const box_ = area.getBoundingClientRect();
    const [mx, my] = [event.clientX - box_.left, event.clientY - box_.top];
    if (start && Math.hypot(mx - start[0], my - start[1]) > 6) {
      hideTip();
      return place(start[0], mx, start[1], my);
    }
    const i = nearest(mx, my);
    if (i < 0) hideTip();
    else tell(i, event.clientX, event.clientY);
  });
  area.addEventListener("pointerup", (event) => {
    const box_ = area.getBoundingClientRect();
    const [mx, my] = [event.clientX - box_.left, event.clientY - box_.top];
    if (!start) return;
    const from = start;
    start = null;
    if (Math.hypot(mx - from[0], my - from[1]) > 6) {
      const [x0, x1] = [scales.x.invert(Math.min(from[0], mx)), scales.x.invert(Math.max(from[0], mx))];
      const [y0, y1] = [scales.y.invert(Math.max(from[1], my)), scales.y.invert(Math.min(from[1], my))];
      view.area = { x0, x1, y0, y1 };
      refilter();
    } else {
      const i = nearest(mx, my);
      if (i >= cloud.shown) toggle(rows[i - cloud.shown], true);
    }
  });
  area.addEventListener("pointerleave", hideTip);
  area.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (event.key === "Escape") return clearAll();
    if (event.key === "Enter" && at >= 0 && front[at] >= cloud.shown) return toggle(rows[front[at] - cloud.shown], true);
    if (!step || !front.length) return;
    event.preventDefault();
    at = Math.max(0, Math.min(front.length - 1, at < 0 ? 0 : at + step));
    const box_ = area.getBoundingClientRect();
    tell(front[at], box_.left + px[front[at]], box_.top + py[front[at]]);
  });

  const facets = card(cols, el("h3", {}, "Filter by choice"), el("p", { class: "note", style: "margin:0" }, "The underline of a button shows how many of the layouts in view have that value."));
  facets.classList.add("facets");
  const buttons = [];
  for (const axis of axes.filter((a) => a.distinct.length <= 16)) {
    const chosen = new Set();
    view.chosen.set(axis.key, chosen);
    const group = el("div", { role: "group", "aria-label": axisLabel(axis.key) });
    for (const value of axis.distinct) {
      const button = el("button", { type: "button", "aria-pressed": "false", onclick: () => {
        if (!chosen.delete(value)) chosen.add(value);
        refilter();
      } }, axisText(axis, value));
      buttons.push({ button, axis, value, chosen });
      group.append(button);
    }
    facets.append(el("div", { class: "facet" }, axisLabel(axis.key), group));
  }
  function clearAll() {
    view.area = null;
    for (const chosen of view.chosen.values()) chosen.clear();
    refilter();
  }
  function shares() {
    const tallies = new Map(axes.map((axis) => [axis, new Uint32Array(axis.distinct.length)]));
    let seen = 0;
    for (let i = 0; i < counted; i++) seen += view.mask[i];
    for (const axis of axes.filter((a) => a.distinct.length <= 16)) {
      const tally_ = tallies.get(axis);
      for (let i = 0; i < counted; i++) tally_[axis.place[i]] += view.mask[i];
    }
    for (const { button, axis, value, chosen } of buttons) {
      button.style.setProperty("--share", seen ? tallies.get(axis)[axis.distinct.indexOf(value)] / seen : 0);
      button.setAttribute("aria-pressed", String(chosen.has(value)));
    }
  }
  watchers.push(draw, shares);
  repaints.push(draw);
  let drawnWidth = 0;
  new ResizeObserver(() => {
    if (area.clientWidth !== drawnWidth) {
      drawnWidth = area.clientWidth;
      draw();
    }
  }).observe(area);
  shares();
}

/* ---- The table -------------------------------------------------------------------------------- */

const compareWatchers = [];
let rowTable = null;

function toggle(row, only_add) {
  if (compared.includes(row)) {
    if (only_add || compared.length === 1) return;
    compared = compared.filter((other) => other !== row);
  } else {
    compared = [...compared, row].slice(-8);
  }
  compared.sort(better);
  for (const watcher of compareWatchers) watcher();
}

function showTable() {
  if (!rows.length) return;
  const node = section("layouts", "Layouts", "Layouts worth running", "Best first.");
  node.querySelector(".lead").append(el("span", { class: "screen" }, " Tick a row to compare it below. Every row can be run again with the command it carries."));
  const box = card(node);
  const sets = [["split", "Best of each split"], ["front", "Pareto front"], ["top", `Top ${inSet("top").length}`], ["procs", "Best of each size"]]
    .filter(([key]) => inSet(key).length);
  let set = sets[0][0];
  const tie = inSet("top").filter((row) => row.stats[goal] === best.stats[goal]).length;
  const fastest = d3.max(rows, (row) => row.stats.sample_rate);
  const varying = axes.map((a) => a.key).filter((k) => !["tensor_par", "pipeline_par", "data_par"].includes(k));
  const command = el("pre", { hidden: true });
  const designs = several ? [...new Set(rows.flatMap((row) => Object.keys(row.design)))].filter((k) => new Set(rows.map((row) => row.design[k])).size > 1) : [];
  const list = () => inSet(set).filter(rowInView);
  const view_ = table({ caption: "Layouts", rows: list(), sort: 2, first: 12, search: "Filter, e.g. full or 16",
    tools: choice("Rows", sets, set, (key) => { set = key; view_.update(list()); }),
    rowAttributes: (row) => ({ class: compared.includes(row) ? "on" : null, "data-row": row.index }),
    columns: [
      { label: "", screen: true, show: (row) => el("input", { type: "checkbox", checked: compared.includes(row), "aria-label": `Compare ${splitName(row.exe)}`, onchange: () => toggle(row) }) },
      { label: "", screen: true, show: (row) => {
        const button = copyButton("Copy", () => commandOf(row), `Copy the command of ${splitName(row.exe)}`);
        button.addEventListener("click", () => { command.textContent = commandOf(row); command.hidden = false; });
        return button;
      } },
      { label: "Samples/s", number: true, value: (row) => row.stats.sample_rate, show: (row) => meter(num(row.stats.sample_rate, 4), row.stats.sample_rate / fastest) },
      ...(goal === "sample_rate" ? [] : [{ label: metricLabel(goal), number: true, value: (row) => row.stats[goal], show: (row) => metricText(goal)(row.stats[goal]) }]),
      { label: "Step", number: true, value: (row) => row.stats.total_time, show: (row) => seconds(row.stats.total_time) },
      { label: "MFU", number: true, value: (row) => row.stats.model_flops_utilization, show: (row) => share(row.stats.model_flops_utilization) },
      { label: "Memory", number: true, value: (row) => row.stats.proc_mem_tier1_cap_req, show: (row) => meter(bytes(row.stats.proc_mem_tier1_cap_req), row.stats.proc_mem_tier1_cap_req / row.stats.mem_tier1_capacity, "quiet") },
      ...(rows.some((row) => row.stats.proc_mem_tier2_cap_req > 0) ? [{ label: "Tier 2", number: true, value: (row) => row.stats.proc_mem_tier2_cap_req, show: (row) => (row.stats.proc_mem_tier2_cap_req ? bytes(row.stats.proc_mem_tier2_cap_req) : "–") }] : []),
      ...["tensor_par", "pipeline_par", "data_par"].map((k) => ({ label: axisLabel(k), number: true, value: (row) => row.exe[k], show: (row) => count(row.exe[k]) })),
      ...designs.map((k) => ({ label: words(k), value: (row) => row.design[k], show: (row) => String(row.design[k] ?? "") })),
      ...varying.map((k) => ({ label: axisLabel(k), screen: k.endsWith("_net"), number: typeof rows[0].exe[k] === "number", value: (row) => (typeof row.exe[k] === "number" ? row.exe[k] : rowValue(row, k)), show: (row) => rowValue(row, k) })),
    ] });
  rowTable = view_;
  box.append(view_.node);
  box.append(el("div", { class: "tools", style: "margin:0" }, el("span", {}, tie > 1 ? `${count(tie)} layouts tie for first place.` : ""),
    el("span", { class: "right" }, el("button", { type: "button", onclick: () => download("layouts.json",
      JSON.stringify(list().map((row) => ({ design: row.design, execution: row.exe, stats: row.stats })), null, 2)) }, "Save these rows as JSON"), " ",
    el("button", { type: "button", onclick: () => download("execution.json", JSON.stringify(compared[0].exe, null, 2)) }, "Save the first ticked as execution"))), command);
  watchers.push(() => view_.update(list()));
  compareWatchers.push(() => view_.refresh());
}

/* ---- Comparison ------------------------------------------------------------------------------- */

function noteOf(row) {
  const parts = [`µb ${count(row.exe.microbatch_size)}`];
  if (row.exe.pipeline_interleaving > 1) parts.unshift(`v${count(row.exe.pipeline_interleaving)}`);
  parts.push(`re ${words(row.exe.activation_recompute)}`);
  return parts.join(" · ");
}

function showComparison() {
  if (!rows.length) return;
  const pins = splits.filter((cell) => cell.row).map((cell) => cell.row).sort(better).slice(0, 5);
  compared = [...new Set([best, ...pins])].slice(0, 5).sort(better);
  const time = section("time", "Time", "Where the step goes", "Exposed time only: what overlaps with compute is not shown. Per sample, as layouts may differ in batch.");
  const memory = section("memory", "Memory", "What fills the memory", "Bytes that a processor holds on the fullest stage.");
  const [timeBox, memoryBox] = [card(time), card(memory)];
  let per = "sample";
  const tools = el("div", { class: "tools" }, choice("Unit", [["sample", "Per sample"], ["step", "Per step"]], per, (key) => { per = key; fill(); }),
    el("span", { class: "right" }, "Tick rows in the table to change what is compared."));
  const [timeArea, memoryArea] = [el("div"), el("div")];
  timeBox.append(tools, timeArea);
  memoryBox.append(memoryArea);
  function fill() {
    timeArea.replaceChildren();
    memoryArea.replaceChildren();
    const divided = (row) => (per === "sample" ? row.exe.batch_size : 1);
    const times = compared.map((row) => ({ label: splitName(row.exe), note: noteOf(row), total: row.stats.total_time / divided(row),
      values: Object.fromEntries(Object.entries(row.time).map(([k, v]) => [k, v / divided(row)])) }));
    stacks(timeArea, { rows: times, parts: timeParts, steps: timeSteps, text: seconds,
      aria: times.map((row) => `${row.label}: ${seconds(row.total)} per ${per}`).join("; ") });
    timeArea.append(partsTable(times, timeParts, seconds, `Time per ${per}`));
    for (const tier of [1, 2]) {
      const need = `proc_mem_tier${tier}_cap_req`;
      const list = compared.map((row) => ({ label: splitName(row.exe), note: noteOf(row), values: row[`memory${tier}`], total: row.stats[need] || 0 }));
      if (!list.some((row) => row.total > 0)) continue;
      const capacity = compared[0].stats[`mem_tier${tier}_capacity`];
      if (tier === 2) memoryArea.append(el("h3", { style: "margin-top:18px" }, "Second tier"));
      stacks(memoryArea, { rows: list, parts: memoryParts, steps: byteSteps, text: bytes,
        limit: capacity > 0 && !several ? { value: capacity, label: `${bytes(capacity)} capacity` } : null,
        aria: list.map((row) => `${row.label}: ${bytes(row.total)}`).join("; ") });
      memoryArea.append(partsTable(list, memoryParts, bytes, `Memory of tier ${tier}`));
    }
  }
  compareWatchers.push(fill);
  fill();
  if (rowTable) rowTable.refresh();
}

/* ---- Splits and reasons ----------------------------------------------------------------------- */

const reasonText = {
  network_size: "a group that spans more processors than its network connects",
  network_fill: "a network that must be filled would not be",
  interleaving: "chunks that do not divide the blocks of a stage",
  offload_blocks: "offload needs at least three blocks per processor",
  mem1_capacity: "more memory than a processor has",
  mem2_capacity: "more of the second tier than there is",
};

function showSplits() {
  const node = section("splits", "TP × PP", "Best layout for each tensor × pipeline split", fromFile ? "Of the layouts of the file; other splits are not in it." : "The best of all other choices for each split.");
  node.querySelector(".lead").append(el("span", { class: "screen" }, " A click keeps only its layouts."));
  const cols = el("div", { class: "cols even" });
  node.append(cols);
  if (splits.length) {
    const box = card(cols, el("h3", {}, goal === "sample_rate" ? "Best samples/s" : `Best ${words(goal)}`));
    const [tps, pps] = ["tensor_par", "pipeline_par"].map((side) => [...new Set(splits.map((cell) => cell[side]))].sort(d3.ascending));
    const values = splits.filter((cell) => cell.row).map((cell) => cell.row.stats[goal]);
    const [lo, hi] = d3.extent(values);
    const grid = el("table", { style: "border-collapse:separate;border-spacing:2px" }, el("caption", { class: "hidden" }, "Best of each split"),
      el("thead", {}, el("tr", {}, el("th", {}, ""), pps.map((pp) => el("th", { scope: "col", class: "n" }, `PP ${pp}`)))));
    const body = el("tbody");
    const cells = [];
    for (const tp of tps) {
      body.append(el("tr", {}, el("th", { scope: "row" }, `TP ${tp}`), pps.map((pp) => {
        const cell = splits.find((c) => c.tensor_par === tp && c.pipeline_par === pp);
        const td = el("td", { class: "n", style: "padding:0;border:0" });
        if (!cell || cell.total === 0) return td;
        if (!cell.row) {
          const [why] = Object.entries(cell.rejected).sort((a, b) => b[1] - a[1])[0];
          td.append(el("span", { class: "note", style: "display:block;padding:6px 8px;background:var(--grid);border-radius:5px", title: reasonText[why] }, words(why)));
          return td;
        }
        const button = el("button", { type: "button", style: "border:0;width:100%;line-height:1.25;padding:5px 8px", title: `${count(cell.feasible)} feasible layouts${data.splits.counted ? "" : " looked at"}`, onclick: () => {
          for (const [key, value] of [["tensor_par", tp], ["pipeline_par", pp]]) {
            const chosen = view.chosen.get(key);
            if (chosen) { chosen.clear(); chosen.add(value); }
          }
          refilter();
          const target = document.getElementById("tradeoff");
          if (target) target.scrollIntoView();
        } }, metricText(goal)(cell.row.stats[goal]), el("br"), el("span", { style: "font-size:11px" }, data.splits.counted ? `${cell.feasible < 1e4 ? count(cell.feasible) : amount(cell.feasible)} fit` : splitName(cell.row.exe).split(" × ")[2]));
        cells.push({ button, value: cell.row.stats[goal] });
        td.append(button);
        return td;
      })));
    }
    const shade = () => {
      const ramp = d3.interpolateLab(paintOf("seq0"), paintOf("seq1"));
      for (const { button, value } of cells) {
        const t = hi > lo ? (value - lo) / (hi - lo) : 1;
        const color = d3.lab(ramp(goalUp ? t : 1 - t));
        button.style.background = String(color);
        button.style.color = inkOn(color);
      }
    };
    repaints.push(shade);
    grid.append(body);
    box.append(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Best of each split" }, grid));
  }
  if (!counts) return;
  const box = card(cols, el("h3", {}, "What became of the layouts"), el("p", { class: "note", style: "margin:0 0 12px" }, `${count(counts.total)} layouts.`));
  const bar = (label, value, text, good) => box.append(el("div", { class: "reason" },
    el("div", { class: "top" }, el("span", {}, label), el("span", {}, `${count(value)} \u00b7 ${share(value / counts.total)}`)),
    el("div", { class: `long ${good ? "good" : ""}`, "aria-hidden": "true" }, el("b", { style: `width:${(100 * value) / (counts.total || 1)}%` })), text ? el("p", {}, text) : null));
  bar("Feasible", counts.feasible - counts.filtered, "time and memory computed, and it fits", true);
  if (counts.skipped) bar("Passed over", counts.skipped, "a bound proves that they are dominated or do not fit");
  if (counts.filtered) bar("Filtered", counts.filtered, "feasible, but --where leaves them out");
  for (const [reason, value] of Object.entries(counts.rejected).sort((a, b) => b[1] - a[1])) {
    if (value) bar(words(reason), value, reasonText[reason]);
  }
}

/* ---- Scaling ---------------------------------------------------------------------------------- */

function showScaling() {
  const list = procs.filter((cell) => cell.row && isNumber(cell.row.stats.sample_rate));
  if (list.length < 2) return;
  const node = section("scaling", "Scaling", "The best at every number of processors", "Each mark is the best of all layouts with so many processors; dashed: as fast per processor as the smallest.");
  const box = card(node);
  const first = list[0];
  const ideal = (n) => (first.row.stats.sample_rate * n) / first.num_procs;
  const efficiency = (cell) => cell.row.stats.sample_rate / ideal(cell.num_procs);
  picture(box, `Throughput from ${count(first.num_procs)} to ${count(list[list.length - 1].num_procs)} processors; ${share(efficiency(list[list.length - 1]))} of linear at the end`, (svg, width) => {
    const height = 320;
    const [left, right, top, bottom] = [58, 16, 22, height - 42];
    const x = d3.scaleLog(d3.extent(list, (cell) => cell.num_procs), [left + 10, width - right - 10]);
    const lastIdeal = ideal(list[list.length - 1].num_procs);
    const y = d3.scaleLog([d3.min(list, (cell) => cell.row.stats.sample_rate) * 0.8, Math.max(lastIdeal, d3.max(list, (cell) => cell.row.stats.sample_rate)) * 1.2], [bottom, top]);
    const grid = svg.append("g").attr("class", "grid");
    let free = -Infinity;
    for (const cell of list) {
      if (x(cell.num_procs) - free < 46) continue;
      free = x(cell.num_procs);
      grid.append("line").attr("x1", free).attr("x2", free).attr("y1", top).attr("y2", bottom);
      svg.append("text").attr("x", free).attr("y", bottom + 17).attr("text-anchor", "middle").text(count(cell.num_procs));
    }
    const all = y.ticks(10);
    for (const v of all.filter((v_) => all.length < 9 || /^0*[125]0*$/.test(v_.toPrecision(1).replace(/e.*|\./g, "")))) {
      grid.append("line").attr("x1", left).attr("x2", width - right).attr("y1", y(v)).attr("y2", y(v));
      svg.append("text").attr("x", left - 7).attr("y", y(v) + 4).attr("text-anchor", "end").text(short(v));
    }
    svg.append("text").attr("class", "strong").attr("x", 0).attr("y", 12).text("Samples/s");
    svg.append("text").attr("class", "strong").attr("x", width - right).attr("y", height - 6).attr("text-anchor", "end").text("processors");
    svg.append("path").attr("d", d3.line()([[x(first.num_procs), y(first.row.stats.sample_rate)], [x(list[list.length - 1].num_procs), y(lastIdeal)]]))
      .style("stroke", "var(--ink3)").style("stroke-dasharray", "5 4");
    svg.append("path").attr("d", d3.line().x((cell) => x(cell.num_procs)).y((cell) => y(cell.row.stats.sample_rate))(list))
      .style("stroke", "var(--accent)").style("stroke-width", 2).style("fill", "none");
    for (const cell of list) {
      const mark = svg.append("circle").attr("cx", x(cell.num_procs)).attr("cy", y(cell.row.stats.sample_rate)).attr("r", 4.5).style("fill", "var(--accent)").node();
      mark.addEventListener("pointermove", (event) => showTip(event.clientX, event.clientY, `${count(cell.num_procs)} processors`, [
        ["layout", splitName(cell.row.exe)], ["samples/s", num(cell.row.stats.sample_rate, 4)], ["of linear", share(efficiency(cell))], ["MFU", share(cell.row.stats.model_flops_utilization)]]));
      mark.addEventListener("pointerleave", hideTip);
    }
    return height;
  });
  box.append(folded("Show as table", table({ caption: "Best of each size", rows: list, sort: 0, down: false, columns: [
    { label: "Processors", number: true, value: (c) => c.num_procs, show: (c) => count(c.num_procs) },
    { label: "Samples/s", number: true, value: (c) => c.row.stats.sample_rate, show: (c) => num(c.row.stats.sample_rate, 4) },
    { label: "Of linear", number: true, value: efficiency, show: (c) => share(efficiency(c)) },
    { label: "MFU", number: true, value: (c) => c.row.stats.model_flops_utilization, show: (c) => share(c.row.stats.model_flops_utilization) },
    { label: "Layout", value: (c) => splitName(c.row.exe), show: (c) => splitName(c.row.exe) }] }).node));
}

/* ---- More of each resource --------------------------------------------------------------------- */

function showMore() {
  const gain = (stats) => (goalUp ? stats[goal] / best.stats[goal] - 1 : 1 - stats[goal] / best.stats[goal]);
  const items = (best && data.ten_percent_more || []).filter((item) => isNumber(item.same[goal]))
    .map((item) => ({ name: item.resource, same: gain(item.same), best: item.best && gain(item.best.stats), layout: item.best }));
  if (!items.length) return;
  const again = items.some((item) => item.layout);
  const node = section("more", "10 % more", "What 10\u202f% more of each resource buys",
    `The best layout on a machine that has 10\u202f% more of one thing${again ? ", and the layout that is then the best: capacity buys another layout or nothing" : ""}.`);
  const most = Math.max(0.1, d3.max(items, (item) => Math.max(item.same, item.best || 0)));
  card(node, table({ caption: "What 10 % more of each resource buys", rows: items, sort: again ? 2 : 1, columns: [
    { label: "Resource", value: (r) => r.name, show: (r) => r.name },
    { label: "Same layout", number: true, value: (r) => r.same, show: (r) => meter(signed(r.same), r.same / most, "quiet") },
    ...(again ? [
      { label: "Best layout", number: true, value: (r) => r.best, show: (r) => (r.layout ? meter(signed(r.best), r.best / most) : "–") },
      { label: metricLabel(goal), number: true, value: (r) => r.layout && r.layout.stats[goal], show: (r) => (r.layout ? metricText(goal)(r.layout.stats[goal]) : "–") },
      { label: "The best is then", value: (r) => (!r.layout ? "" : r.layout.unchanged ? "the same" : splitName(r.layout.execution)),
        show: (r) => (!r.layout ? "–" : r.layout.unchanged ? "the same" : `${splitName(r.layout.execution)}, ${noteOf({ exe: r.layout.execution })}`) }] : []),
  ] }).node);
}

showScatter();
showTable();
showComparison();
showSplits();
showScaling();
showMore();
footer([["Program", `calc ${study.version}${study.compat === "none" ? "" : `, arithmetic of ${study.compat}`}`],
  ["Models", study.applications.join(", ")], ["Machines", study.systems.join(", ")],
  ["Objectives", study.objectives.map((o) => `${o.statistic} ${o.direction}`).join(", ") || "none"],
  ...(summary ? [["Sweep", `${count(counts.evaluated)} evaluations in ${seconds(summary.elapsed_s)} with ${count(summary.threads)} threads${partial ? "; stopped early" : ""}`]] : []),
  ["Exact", fromFile ? "best and front; splits and points are those of the file only" : "best, front, splits and sizes; the cloud is as its text says"],
  ["Charts", `D3 ${d3.version}, Copyright Mike Bostock, BSD 3-Clause`]]);
setTheme("auto");
document.documentElement.dataset.ready = "yes";
