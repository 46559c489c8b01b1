/* The page of a validation. */
"use strict";

const { rows: allRows, groups, version } = data.validate;
allRows.forEach((row, i) => { row.index = i; });
const hasError = (row) => row.status === "scored" && isNumber(row.error);
/* Measured quantities: name, name in a sentence, format of amounts, steps of an axis. */
const quantityKinds = {
  step_time: ["Step time", "step times", seconds, timeSteps],
  tpot: ["Time per output token", "times per output token", seconds, timeSteps],
  ttft: ["Time to first token", "times to the first token", seconds, timeSteps],
  e2e: ["Static batches", "times of static batches", seconds, timeSteps],
  output_tokens_per_s: ["Output tokens/s", "rates of output tokens", amount, countSteps],
  tpot_shape: ["Shape over requests", "shapes over requests", amount, countSteps],
  memory: ["Memory", "amounts of memory", bytes, byteSteps],
};
const quantities = Object.keys(quantityKinds).filter((quantity) => allRows.some((row) => hasError(row) && row.quantity === quantity));
let quantity = quantities[0];
const scored = () => allRows.filter((row) => hasError(row) && row.quantity === quantity);
const machines = d3.nest().key((row) => row.machine).entries(allRows.filter(hasError))
  .map(({ key, values }) => ({ key, n: values.length })).sort((a, b) => b.n - a.n);
const machineIndex = new Map(machines.map((machine, i) => [machine.key, i]));
const hidden = new Set();
const shownRows = () => scored().filter((row) => !hidden.has(row.machine));
const watchers = [];
const changed = () => { for (const watcher of watchers) watcher(); };
const amountOf = (x, of = quantity) => quantityKinds[of][2](x);
const tickOf = (x) => brief(x, quantityKinds[quantity][3]);
const colorAt = (i) => colorOf(`cat${i % 8}`);
const shapes = [d3.symbolCircle, d3.symbolSquare, d3.symbolTriangle, d3.symbolDiamond, d3.symbolCross, d3.symbolStar, d3.symbolWye];
const shapeOf = (i, size) => d3.symbol().type(shapes[(i + Math.floor(i / 8)) % shapes.length]).size(size)();
const layoutOf = (row) => (row.tp ? [["TP", row.tp], ["PP", row.pp], ["DP", row.dp], ...(row.cp > 1 ? [["CP", row.cp]] : []), ...(row.ep > 1 ? [["EP", row.ep]] : [])].map(([k, v]) => `${k} ${count(v)}`).join(" · ") : "–");

document.title = "calc validate";
document.getElementById("kind").textContent = "validate";

/* ---- The answer ------------------------------------------------------------------------------- */

const times = allRows.filter((row) => hasError(row) && row.quantity === quantities[0]);
const absolute = times.map((row) => Math.abs(row.error)).sort(d3.ascending);
const within = (limit) => absolute.filter((x) => x <= limit).length;
const worstRow = times.slice().sort((a, b) => Math.abs(b.error) - Math.abs(a.error))[0];
const mean = d3.mean(times, (row) => row.error), meanAbsolute = d3.mean(absolute);
const remarks = allRows.filter((row) => row.status !== "scored").length;

/* The same runs grouped by their use in the fit of the constants, and without the largest source. */
function splitOf(rows) {
  const sources = d3.nest().key((row) => row.source).entries(rows).sort((a, b) => b.values.length - a.values.length);
  const largest = sources.length > 1 ? sources[0] : null;
  const months = [...new Set(rows.map((row) => row.forecast_before).filter(Boolean))].sort();
  const all = [
    ["Fitted", "constants were fitted to these runs, too", rows, "error"],
    ["Unseen widths", "by fits without a sixth of the models' widths", rows, "unseen_width"],
    ["Unseen publishers", "by fits without any run of the same publisher", rows, "unseen_source"],
    ["Forecasts", `by fits to what was published before ${months.join(", ")}, of what came since`, rows, "forecast"],
    ...(largest ? [["Fitted, without the largest source", `${largest.key}: ${count(largest.values.length)} runs`, rows.filter((row) => row.source !== largest.key), "error"],
      ["Unseen publishers, without it", "", rows.filter((row) => row.source !== largest.key), "unseen_source"]] : []),
  ];
  return all.map(([name, note, list, key]) => {
    const errors = list.map((row) => row[key]).filter(isNumber);
    const sizes = errors.map(Math.abs).sort(d3.ascending);
    return { name, note, n: errors.length, mean: d3.mean(errors), absolute: d3.mean(sizes), median: d3.quantile(sizes, 0.5), most: d3.quantile(sizes, 0.9) };
  }).filter((row) => row.n > 0);
}

function sayWhy() {
  if (!times.length) return "No row could be predicted.";
  const split = splitOf(times);
  const unseen = split.find((row) => row.name === "Unseen publishers");
  const by = d3.nest().key((row) => row.machine).entries(times).filter(({ values }) => values.length >= 5)
    .map(({ key, values }) => ({ key, mean: d3.mean(values, (r) => r.error), abs: d3.mean(values, (r) => Math.abs(r.error)) }));
  const said = [Math.abs(mean) < 0.02 ? "Predictions lean neither way" : `Predictions lean ${mean < 0 ? "fast" : "slow"}`, ": the mean error is ", bold(signed(mean)), ", the mean absolute error ", bold(share(meanAbsolute)), "."];
  const [worst] = by.slice().sort((a, b) => b.abs - a.abs);
  if (by.length > 1) said.push(` The machine with the largest errors is ${worst.key} with ${share(worst.abs)}.`);
  const forecast = split.find((row) => row.name === "Forecasts");
  if (forecast) said.push(" Forecasts, by constants of before a run was published, are off by ", bold(share(forecast.absolute)), " in the mean.");
  if (unseen) said.push(" Constants of machines were fitted to most of these runs; by constants that were fitted without their publisher, half are within ", bold(`±${share(unseen.median)}`), ".");
  if (remarks) said.push(` ${count(remarks)} rows are not scored, each with its reason below.`);
  return said;
}

hero({
  bad: !times.length,
  context: [["measurements", count(allRows.length)], ["machines", count(machines.length)],
    ["sources", count(new Set(allRows.map((row) => row.source)).size)]],
  headline: times.length ? [`Half of ${count(times.length)} published ${quantityKinds[quantities[0]][1]} are predicted within `, el("em", {}, `±${share(d3.quantile(absolute, 0.5))}`), "."]
    : ["Nothing could be ", el("em", {}, "scored"), "."],
  why: sayWhy(),
  kpis: [
    ["Mean absolute error", times.length ? num(100 * meanAbsolute) : "–", "%", `${count(times.length)} runs`],
    ["Mean error", times.length ? signed(mean).replace(/\u202f?%/, "") : "–", "%", "negative: predicted too fast"],
    ["Within ±10\u202f%", count(within(0.1)), `of ${count(times.length)}`, share(within(0.1) / times.length)],
    ["Within ±25\u202f%", count(within(0.25)), `of ${count(times.length)}`, share(within(0.25) / times.length)],
    ["Worst", worstRow ? signed(worstRow.error).replace(/\u202f?%/, "") : "–", "%", worstRow ? clipped(worstRow.model, 34) : ""],
  ],
});

/* ---- The fit ----------------------------------------------------------------------------------- */

function showSplit() {
  if (!times.some((row) => isNumber(row.unseen_source))) return; /* no fit used them */
  const node = section("belief", "Belief", "What to expect of a run that was not measured", "Constants of the machines were fitted to many of these runs. What a prediction of another run is worth is the error of fits that had not seen it.");
  const box = card(node);
  const list = () => splitOf(shownRows());
  const view = table({ caption: "Errors by what was fitted", rows: list(), sort: null, columns: [
    { label: "Runs", show: (r) => r.name }, { label: "n", number: true, show: (r) => count(r.n) },
    { label: "Median |error|", number: true, show: (r) => share(r.median) }, { label: "Mean |error|", number: true, show: (r) => share(r.absolute) },
    { label: "90 % within", number: true, show: (r) => `±${share(r.most)}` }, { label: "Mean error", number: true, show: (r) => signed(r.mean) },
    { label: "What it is", wrap: true, show: (r) => r.note }] });
  box.append(view.node);
  watchers.push(() => view.update(list()));
}

/* ---- Parity and errors by machine --------------------------------------------------------------- */

const tellRow = (row, x, y) => showTip(x, y, row.id, [["model", row.model], ["machine", `${count(row.gpus)} × ${row.machine}`],
  ["layout", layoutOf(row)], ["format", row.dtype], ["measured", amountOf(row.measured)], ["predicted", amountOf(row.predicted)],
  ["error", signed(row.error)], ["source", row.source], ["confidence", row.confidence]], colorAt(machineIndex.get(row.machine)));

/* Shows the tooltip of the mark nearest to the pointer. */
function hover(node, marks) {
  node.addEventListener("pointermove", (event) => {
    const area = node.getBoundingClientRect();
    const [mx, my] = [event.clientX - area.left, event.clientY - area.top];
    let found = null, least = 196;
    for (const mark of marks()) {
      const d = (mark.x - mx) ** 2 + (mark.y - my) ** 2;
      if (d < least) { least = d; found = mark; }
    }
    if (found) tellRow(found.row, event.clientX, event.clientY);
    else hideTip();
  });
  node.addEventListener("pointerleave", hideTip);
}

function showParity() {
  const node = section("parity", "Parity", "Predicted against measured", "Each mark is one run that somebody published.");
  node.querySelector(".lead").append(el("span", { class: "screen" }, " A click on a machine hides or shows it everywhere."));
  const toolbar = el("div", { class: "tools" });
  node.append(toolbar);
  if (quantities.length > 1) {
    toolbar.append(choice("Quantity", quantities.map((key) => [key, quantityKinds[key][0]]), quantity, (key) => { quantity = key; changed(); }));
  }
  for (const machine of machines) {
    const i = machineIndex.get(machine.key);
    const icon = d3.create("svg").attr("width", 12).attr("height", 12).attr("viewBox", "-6 -6 12 12").attr("aria-hidden", "true").style("display", "inline-block").style("width", "12px").style("vertical-align", "-1px").style("margin-right", "6px");
    icon.append("path").attr("d", shapeOf(i, 55)).style("fill", colorAt(i));
    toolbar.append(el("button", { type: "button", "aria-pressed": "true", onclick: (event) => {
      if (!hidden.delete(machine.key)) hidden.add(machine.key);
      event.currentTarget.setAttribute("aria-pressed", String(!hidden.has(machine.key)));
      changed();
    } }, icon.node(), `${machine.key} (${count(machine.n)})`));
  }
  const cols = el("div", { class: "cols even" });
  node.append(cols);
  const parity = card(cols, el("h3", {}, "Both axes logarithmic"), el("p", { class: "note", style: "margin:0 0 8px" }, "On the line is exact; the bands are ±10\u202f% and ±25\u202f%."));
  const strip = card(cols, el("h3", {}, "Error by machine"), el("p", { class: "note", style: "margin:0 0 8px" }, "One mark a run; below zero the model is too fast. The bar is the mean."));
  let marks = [];
  const redraw = picture(parity, `${count(times.length)} runs, predicted over measured; half within ${share(d3.quantile(absolute, 0.5))}`, (svg, width) => {
    const list = shownRows();
    const height = Math.min(520, Math.max(300, width));
    const [left, right, top, bottom] = [58, 10, 20, height - 40];
    const all = scored();
    const lo = d3.min(all, (row) => Math.min(row.measured, row.predicted)) * 0.8, hi = d3.max(all, (row) => Math.max(row.measured, row.predicted)) * 1.25;
    const x = d3.scaleLog([lo, hi], [left, width - right]), y = d3.scaleLog([lo, hi], [bottom, top]);
    for (const [less, more, opacity] of [[0.75, 1.25, 0.5], [0.9, 1.1, 1]]) {
      const path = [[lo, lo * less], [hi, hi * less], [hi, hi * more], [lo, lo * more]].map(([u, v]) => `${x(u)},${y(Math.max(lo * 0.7, Math.min(hi * 1.3, v)))}`);
      svg.append("path").attr("d", `M${path.join("L")}Z`).style("fill", "var(--band)").style("fill-opacity", opacity);
    }
    svg.append("line").attr("x1", x(lo)).attr("y1", y(lo)).attr("x2", x(hi)).attr("y2", y(hi)).style("stroke", "var(--ink3)");
    const unit = quantityKinds[quantity][3] === byteSteps ? 2 ** 30 : 1; /* round in the displayed unit */
    const ticks = d3.scaleLog([lo / unit, hi / unit], [0, 1]).ticks(5).filter((v, i, values) => values.length < 8 || Math.abs(Math.log10(v) % 1) < 1e-9).map((v) => v * unit);
    for (const v of ticks) {
      svg.append("line").attr("class", "grid").attr("x1", x(v)).attr("x2", x(v)).attr("y1", top).attr("y2", bottom);
      svg.append("line").attr("class", "grid").attr("x1", left).attr("x2", width - right).attr("y1", y(v)).attr("y2", y(v));
      svg.append("text").attr("x", x(v)).attr("y", bottom + 17).attr("text-anchor", "middle").text(tickOf(v));
      svg.append("text").attr("x", left - 6).attr("y", y(v) + 4).attr("text-anchor", "end").text(tickOf(v));
    }
    svg.append("text").attr("class", "strong").attr("x", 0).attr("y", 11).text("Predicted");
    svg.append("text").attr("class", "strong").attr("x", width - right).attr("y", height - 4).attr("text-anchor", "end").text("Measured");
    marks = list.map((row) => ({ row, x: x(row.measured), y: y(row.predicted) }));
    svg.append("g").selectAll("path").data(marks).enter().append("path")
      .attr("d", (m) => shapeOf(machineIndex.get(m.row.machine), 34)).attr("transform", (m) => `translate(${m.x},${m.y})`)
      .style("fill", (m) => colorAt(machineIndex.get(m.row.machine))).style("fill-opacity", 0.72).style("stroke", "var(--card)").style("stroke-width", 0.5);
    return height;
  });
  hover(parity.querySelector("svg"), () => marks);
  let dots = [];
  const redrawStrip = picture(strip, machines.map((machine) => `${machine.key}: ${count(machine.n)} runs`).join(", "), (svg, width) => {
    const list = shownRows();
    const present = machines.filter((machine) => list.some((row) => row.machine === machine.key));
    const left = width < 460 ? 84 : 120;
    const rowHeight = Math.max(34, Math.min(80, 480 / Math.max(1, present.length)));
    const bottom = 8 + present.length * rowHeight;
    const most = Math.min(1.1, Math.max(0.2, d3.max(list, (row) => Math.abs(row.error)) || 0.2));
    const x = d3.scaleLinear([-most, most], [left, width - 10]).clamp(true);
    svg.append("rect").attr("x", x(-0.1)).attr("width", x(0.1) - x(-0.1)).attr("y", 4).attr("height", bottom - 4).style("fill", "var(--band)");
    for (const v of x.ticks(width < 460 ? 4 : 5)) {
      svg.append("line").attr("class", "grid").attr("x1", x(v)).attr("x2", x(v)).attr("y1", 4).attr("y2", bottom);
      svg.append("text").attr("x", x(v)).attr("y", bottom + 16).attr("text-anchor", "middle").text(v === 0 ? "0\u202f%" : signed(v).replace(/\.0/, ""));
    }
    svg.append("line").attr("x1", x(0)).attr("x2", x(0)).attr("y1", 4).attr("y2", bottom).style("stroke", "var(--ink3)");
    dots = [];
    present.forEach((machine, k) => {
      const middle = 8 + (k + 0.5) * rowHeight;
      const own = list.filter((row) => row.machine === machine.key).sort((a, b) => a.error - b.error);
      svg.append("text").attr("class", "strong").attr("x", left - 10).attr("y", middle).attr("text-anchor", "end").text(clipped(machine.key, width < 460 ? 11 : 16));
      svg.append("text").attr("x", left - 10).attr("y", middle + 13).attr("text-anchor", "end").style("font-size", "11px").text(`${count(own.length)} runs`);
      /* Marks that would touch are stacked to both sides, more densely if there are many. */
      const bins = new Map();
      for (const row of own) {
        const bin = Math.round(x(row.error) / 4);
        bins.set(bin, [...(bins.get(bin) || []), row]);
      }
      const fullest = d3.max([...bins.values()], (bin) => bin.length);
      const step = Math.min(4.5, (rowHeight - 6) / fullest);
      for (const [bin, members] of bins) {
        members.forEach((row, j) => dots.push({ row, x: bin * 4, y: middle + (j % 2 ? 1 : -1) * Math.ceil(j / 2) * step }));
      }
      const average = x(d3.mean(own, (row) => row.error));
      svg.append("line").attr("class", "mean").attr("x1", average).attr("x2", average).attr("y1", middle - rowHeight / 2 + 3).attr("y2", middle + rowHeight / 2 - 3).style("stroke", "var(--ink)").style("stroke-width", 2);
    });
    svg.insert("g", ".mean").selectAll("path").data(dots).enter().append("path").attr("d", (m) => shapeOf(machineIndex.get(m.row.machine), 15))
      .attr("transform", (m) => `translate(${m.x},${m.y})`).style("fill", (m) => colorAt(machineIndex.get(m.row.machine))).style("fill-opacity", 0.8);
    return bottom + 22;
  });
  hover(strip.querySelector("svg"), () => dots);
  watchers.push(redraw, redrawStrip);
}

/* ---- Groups ----------------------------------------------------------------------------------- */

function showGroups() {
  const node = section("groups", "Groups", "Errors by group", "Predicted over measured, less one. tau: competing layouts in the right order (1: all); regret: time lost by taking the predicted best.");
  const box = card(node);
  const kinds = [["set", "Tables"], ["machine", "Machines"], ["source", "Sources"], ["engine", "Engines"], ["regime", "Regimes"], ["kind", "Kinds"], ["model", "Models"], ["period", "Years"], ["confidence", "Confidence"]]
    .filter(([key]) => groups.some((group) => group.by === key));
  if (!kinds.length) return;
  let by = kinds[0][0];
  const list = () => groups.filter((group) => group.by === by && group.quantity === quantity);
  const most = d3.max(groups, (group) => group.mean_abs);
  const view = table({ caption: "Errors by group", rows: list(), sort: 1, first: 30, tools: choice("Group by", kinds, by, (key) => { by = key; view.update(list()); }),
    columns: [
      { label: "Runs", value: (g) => g.name, show: (g) => g.name.replace(/^- /, "\u2003") },
      { label: "n", number: true, value: (g) => g.n, show: (g) => count(g.n) },
      { label: "Mean error", number: true, value: (g) => g.bias, show: (g) => signed(g.bias) },
      { label: "Mean |error|", number: true, value: (g) => g.mean_abs, show: (g) => meter(share(g.mean_abs), g.mean_abs / most) },
      { label: "Median", number: true, value: (g) => g.median_abs, show: (g) => share(g.median_abs) },
      { label: "90 % within", number: true, value: (g) => g.p90_abs, show: (g) => `±${share(g.p90_abs)}` },
      { label: "Worst", number: true, value: (g) => g.worst_abs, show: (g) => share(g.worst_abs) },
      { label: "tau", number: true, value: (g) => g.kendall_tau, show: (g) => (isNumber(g.kendall_tau) ? short(g.kendall_tau, 2) : "–") },
      { label: "Pairs", number: true, value: (g) => g.pairs, show: (g) => (g.pairs ? count(g.pairs) : "–") },
      { label: "Regret", number: true, value: (g) => g.regret_mean, show: (g) => (isNumber(g.regret_mean) ? share(g.regret_mean) : "–") },
    ] });
  box.append(view.node);
  watchers.push(() => view.update(list()));
}

/* ---- Others ------------------------------------------------------------------------------------ */

function showPeers() {
  const list = (data.validate.peers || []).filter(({ calc_n }) => calc_n > 0);
  if (!list.length) return;
  const node = section("peers", "Others", "Published errors of other simulators, and those of calc on the same runs", "Mean and largest absolute errors.");
  const box = card(node);
  box.append(table({ caption: "Published errors", rows: list, sort: 0, first: 30,
    columns: [
      { label: "Simulator", value: (p) => p.simulator, show: (p) => p.simulator },
      { label: "Machine", value: (p) => p.machine, show: (p) => p.machine },
      { label: "Of", value: (p) => p.quantity, show: (p) => p.quantity.replace(/_/g, " ") },
      { label: "n", number: true, value: (p) => p.n, show: (p) => count(p.n) },
      { label: "Mean", number: true, value: (p) => p.mean_abs, show: (p) => (isNumber(p.mean_abs) ? share(p.mean_abs) : "–") },
      { label: "Worst", number: true, value: (p) => p.worst_abs, show: (p) => (isNumber(p.worst_abs) ? share(p.worst_abs) : "–") },
      { label: "calc: n", number: true, value: (p) => p.calc_n, show: (p) => count(p.calc_n) },
      { label: "calc: mean", number: true, value: (p) => p.calc_mean_abs, show: (p) => share(p.calc_mean_abs) },
      { label: "calc: worst", number: true, value: (p) => p.calc_worst_abs, show: (p) => share(p.calc_worst_abs) },
      { label: "Note", value: (p) => p.note, show: (p) => clipped(p.note, 80) },
    ] }).node);
}

/* ---- The worst -------------------------------------------------------------------------------- */

function showWorst() {
  const list = (data.validate.worst || []).map(({ row, time, total }) => ({ row: allRows[row], time, total })).filter(({ total }) => isNumber(total) && total > 0).slice(0, 12);
  if (!list.length) return;
  const node = section("worst", "Worst", "The largest errors, and where the predicted time goes", "Shares of the measured time: a bar that ends before the line is predicted too fast, one beyond it too slow.");
  const box = card(node);
  const bars = list.map(({ row, time }) => ({ label: clipped(row.id, 40), note: signed(row.error), total: row.predicted / row.measured,
    values: Object.fromEntries(Object.entries(time).map(([part, value]) => [part, value / row.measured])) }));
  stacks(box, { rows: bars, parts: timeParts, steps: [[0.01, "%"]], text: share, limit: { value: 1, label: "measured" },
    aria: bars.map((bar) => `${bar.label} ${bar.note}`).join(", ") });
  box.append(partsTable(bars, timeParts, share, "Predicted parts over the measured time"));
}

/* ---- Every row -------------------------------------------------------------------------------- */

function showRows() {
  const node = section("rows", "Rows", "Every run", "The largest errors first: they are where to look. Rows without a score say why.");
  const box = card(node);
  let which = "scored";
  const list = () => allRows.filter((row) => (which === "scored" ? hasError(row) && row.quantity === quantity && !hidden.has(row.machine) : row.status !== "scored"));
  const longest = () => d3.max(scored(), (row) => Math.abs(row.error));
  const view = table({ caption: "Every run", rows: list(), sort: 7, first: 18, search: "Filter, e.g. H100 or fp8",
    tools: remarks ? choice("Rows", [["scored", "Scored"], ["other", `Not scored (${remarks})`]], which, (key) => { which = key; view.update(list()); }) : null,
    columns: [
      { label: "Model", value: (r) => r.model, show: (r) => clipped(r.model, 34) },
      { label: "Machine", value: (r) => r.machine, show: (r) => r.machine || "–" },
      { label: "GPUs", number: true, value: (r) => r.gpus, show: (r) => count(r.gpus) },
      { label: "Layout", value: layoutOf, show: layoutOf },
      { label: "Format", screen: true, value: (r) => r.dtype, show: (r) => clipped(r.dtype || "–", 18) },
      { label: "Measured", number: true, value: (r) => r.measured, show: (r) => amountOf(r.measured, r.quantity) },
      { label: "Predicted", number: true, value: (r) => r.predicted, show: (r) => amountOf(r.predicted, r.quantity) },
      { label: "Error", number: true, value: (r) => Math.abs(r.error), show: (r) => (isNumber(r.error) ? meter(signed(r.error), Math.abs(r.error) / longest(), r.error > 0 ? "warm" : "") : "–") },
      { label: "Confidence", value: (r) => r.confidence, show: (r) => r.confidence || "–" },
      { label: "Source", value: (r) => r.source, show: (r) => r.source },
      { label: "Row", screen: true, value: (r) => r.id, show: (r) => r.id },
      { label: "Remark", screen: true, value: (r) => r.remark, show: (r) => el("span", { title: r.remark }, clipped(r.remark, which === "scored" ? 60 : 160)) },
    ] });
  box.append(view.node);
  watchers.push(() => view.update(list()));
}

if (quantities.length) {
  showSplit();
  showParity();
  showGroups();
  showPeers();
  showWorst();
}
showRows();
footer([["Read", (data.validate.read || []).map(({ name, sha256 }) => digested(name, { sha256 }, "sha256")).join("; ")], ["Error", "predicted ÷ measured − 1"], ["Rows", `${count(allRows.length)} measurements of ${count(data.validate.counts.runs)} runs`]]);
drawn();
