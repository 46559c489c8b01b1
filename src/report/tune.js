/* The page of a tuning decision: the layout to measure next, and the estimates of all layouts from
 * measurements so far. */
"use strict";

const { tune } = data;
const layouts = new Map(tune.layouts.map((layout) => [layout.layout, layout]));
const picks = tune.next.map((pick) => ({ ...pick, ...layouts.get(pick.layout) }));
const fine = tune.measured.filter((row) => isNumber(row.step_s));
const timesOf = d3.nest().key((row) => row.layout).map(fine);
const endsOf = d3.nest().key((row) => row.layout).map(tune.measured);
const started = isNumber(tune.best_s);
const surprising = (row) => Math.abs(row.surprise) > 3; /* same threshold as in calc tune */

document.title = `${tune.application} on ${tune.system} \u2013 calc tune`;
document.getElementById("kind").textContent = "tune";

/* 2/8/4, followed by the layout's other choices. */
function choicesText(layout) {
  return [`${layout.tensor_par}/${layout.pipeline_par}/${layout.data_par}`, layout.context_par > 1 && `cp${layout.context_par}`, layout.expert_par > 1 && `ep${layout.expert_par}`,
    `mb${layout.microbatch_size}`, layout.zero_stage > 0 && `zero${layout.zero_stage}`, layout.pipeline_interleaving > 1 && `v${layout.pipeline_interleaving}`,
    layout.activation_recompute !== "none" && layout.activation_recompute.replaceAll("_", " ")].filter(Boolean).join(" ");
}
/* The result of a layout: its mean time, or the reason why there is none. */
const measuredText = (layout) => (isNumber(layout.measured_s) ? whole(layout.measured_s) : endsOf.has(layout.layout) ? endsOf.get(layout.layout)[0].outcome : "");

/* ---- The answer ------------------------------------------------------------------------------- */

function sayVerdict() {
  if (tune.stop && started) return ["Stop: the best is ", el("em", {}, tune.best), ` with ${whole(tune.best_s)}.`];
  if (!picks.length) return ["Nothing is left to try."];
  return ["Try ", el("em", {}, picks[0].layout), picks.length > 1 ? ` and ${count(picks.length - 1)} more next.` : " next."];
}

function sayWhy() {
  const worth = percent(tune.worth, 2);
  const [pick] = tune.stop ? [] : picks;
  const chosen = pick ? ["It is ", bold(choicesText(pick)), ", expected within ", bold(`${whole(pick.p5_s)} to ${whole(pick.p95_s)}`), ` and the best with ${share(pick.p_best)}. `] : [];
  if (!started) return [...chosen, tune.measured.length ? "Nothing has run yet. " : "Nothing is measured yet. ", "Each measurement says something of all layouts that share kernels, networks and schedules with it."];
  return [...chosen, "The chance that a layout not measured is more than ", bold(worth), " faster than ", bold(whole(tune.best_s)), " is ", bold(share(tune.chance)),
    tune.stop ? ": it is time to stop." : `; stop when it is below ${percent(tune.stop_below, 2)}.`,
    tune.truth && isNumber(tune.truth.regret) ? ` Of the simulated truth the best takes ${whole(tune.truth.best_s)}: what was found is ${share(tune.truth.regret)} slower.` : ""];
}

const outcomes = d3.nest().key((row) => row.outcome).rollup((rows) => rows.length).entries(tune.measured).filter(({ key }) => key !== "ok").map(({ key, value }) => `${count(value)} ${key}`);
const sweptBest = d3.least(tune.layouts, (layout) => layout.rank);
hero({
  context: [["", tune.application], ["", tune.system], ["candidates", count(tune.candidates)], ["chooser", tune.chooser]],
  headline: sayVerdict(),
  why: sayWhy(),
  remarks: tune.remarks,
  kpis: [
    ["Best measured", ...(started ? secondsIn(tune.best_s, 4) : ["\u2013", ""]), started ? `${tune.best}, place ${count(layouts.get(tune.best).rank)} by prediction` : "nothing yet"],
    ["Chance of a gain", started ? num(100 * tune.chance) : "\u2013", started ? "%" : "", `stop below ${percent(tune.stop_below, 2)}`],
    ["Measured", count(tune.measured.length), "", outcomes.join(", ") || "so far"],
    ["Best predicted", ...secondsIn(sweptBest.predicted_s, 4), sweptBest.layout],
    ["Contenders", count(tune.contenders), "", `each other is the best with ${percent(tune.left_out, 1)} at most`],
  ],
});

/* ---- Next measurement ------------------------------------------------------------------------- */

const layoutColumns = [
  { label: "#", number: true, value: (l) => l.rank, show: (l) => count(l.rank), title: "place by prediction" },
  { label: "Layout", value: (l) => l.layout, show: (l) => l.layout },
  { label: "tp/pp/dp", value: choicesText, show: choicesText },
  { label: "Predicted", number: true, value: (l) => l.predicted_s, show: (l) => whole(l.predicted_s) },
  { label: "P5", number: true, value: (l) => l.p5_s, show: (l) => whole(l.p5_s) },
  { label: "P95", number: true, value: (l) => l.p95_s, show: (l) => whole(l.p95_s) },
  { label: "P(best)", number: true, value: (l) => l.p_best, show: (l) => meter(share(l.p_best), l.p_best) },
  { label: "P(fits)", number: true, value: (l) => l.p_fits, show: (l) => share(l.p_fits) },
  { label: "Gain", number: true, value: (l) => l.gain, show: (l) => share(l.gain), title: "by how much a measurement is expected to shorten the best known" },
  { label: "Memory", number: true, value: (l) => l.p50_bytes, show: (l) => meter(bytes(l.p50_bytes), l.p50_bytes / l.capacity_bytes, "quiet") },
  { label: "Measured", number: true, value: (l) => l.measured_s, show: measuredText },
];

function showNext() {
  const rows = picks.length && !tune.stop ? picks : started && tune.start ? [{ ...layouts.get(tune.best), ...tune.start }] : [];
  if (!rows.length) return;
  const node = section("next", tune.stop ? "Start" : "Next", tune.stop ? "How to start the best" : "What to measure next",
    tune.stop ? "Its execution is in the folder of --into." : `Start it, write down what a step took, and run the same command again: its state is a file of rows.`);
  const said = (row) => [row.run, row.export].filter(Boolean).map(commandText).join("\n");
  const goes = commandText([...tune.command, ...(tune.command.includes("--measured") ? [] : ["--measured", "runs.csv"]), "--html", "tune.html"]);
  card(node, table({ caption: "What to measure next", rows, columns: [
    { label: "", screen: true, show: (row) => copyButton("Copy", () => said(row), `Copy the commands of ${row.layout}`) },
    ...layoutColumns.map(({ value, ...column }) => column)] }).node,
  el("pre", {}, rows.map(said).join("\n")),
  tune.stop ? null : [el("h3", { style: "margin-top:18px" }, "Then"), el("p", { class: "note" }, "a row in the file of --measured: the time of a step, and memory if it is known; or oom, or failed"),
    el("pre", {}, `layout,step_s,memory_gib,outcome\n${picks[0].layout},SECONDS,GIB,ok`),
    el("div", { class: "tools", style: "margin:10px 0 0" }, "and again", el("span", { class: "right" }, copyButton("Copy", () => goes, "Copy the command that goes on"))), el("pre", {}, goes)]);
}

/* ---- Estimates of each layout ------------------------------------------------------------------ */

const bandColor = (layout) => (picks.some((pick) => pick.layout === layout.layout) && !tune.stop ? "accent" : endsOf.has(layout.layout) ? "green" : "grey");

function bandsPicture(parent, list, lines) {
  const range = [d3.min(list, (l) => Math.min(l.p5_s, l.predicted_s)), d3.max(list, (l) => Math.max(l.p95_s, l.predicted_s, isNumber(l.measured_s) ? l.measured_s : 0))];
  return picture(parent, `What layouts may take: ${list.slice(0, 8).map((l) => `${l.layout} ${seconds(l.p5_s)} to ${seconds(l.p95_s)}, the best with ${share(l.p_best)}`).join("; ")}`, (svg, width) => {
    const narrow = width < 620;
    const [left, right, top, step] = [narrow ? 0 : 210, narrow ? 4 : 74, 26, narrow ? 36 : 24];
    const bottom = top + list.length * step;
    const x = d3.scaleLinear(range, [left, width - right]).nice();
    for (const tick of x.ticks(Math.max(3, Math.floor((width - left) / 110)))) {
      svg.append("line").attr("class", "grid").attr("x1", x(tick)).attr("x2", x(tick)).attr("y1", top).attr("y2", bottom);
      svg.append("text").attr("x", x(tick)).attr("y", bottom + 18).attr("text-anchor", "middle").text(brief(tick, timeSteps));
    }
    if (!narrow) svg.append("text").attr("x", width).attr("y", 14).attr("text-anchor", "end").text("P(best)");
    for (const { at, label } of lines) {
      svg.append("line").attr("x1", x(at)).attr("x2", x(at)).attr("y1", top - 6).attr("y2", bottom).style("stroke", "var(--ink)").style("stroke-dasharray", "3 3");
      svg.append("text").attr("class", "strong").attr("x", x(at)).attr("y", 14).attr("text-anchor", x(at) > width * 0.7 ? "end" : x(at) < width * 0.3 ? "start" : "middle").text(label);
    }
    list.forEach((layout, i) => {
      const y = top + i * step + (narrow ? 25 : 12);
      const color = colorOf(bandColor(layout));
      svg.append("text").attr("class", "strong").attr("x", 0).attr("y", narrow ? y - 9 : y + 4).text(layout.layout);
      svg.append("text").attr("x", 74).attr("y", narrow ? y - 9 : y + 4).style("font-size", "11px").text(clipped(choicesText(layout), narrow ? 26 : 20));
      svg.append("text").attr("x", width).attr("y", narrow ? y - 9 : y + 4).attr("text-anchor", "end").text(share(layout.p_best));
      const band = svg.append("rect").attr("class", "band").attr("x", x(layout.p5_s)).attr("y", y - 4).attr("width", Math.max(1, x(layout.p95_s) - x(layout.p5_s))).attr("height", 8).attr("rx", 4)
        .style("fill", color).style("fill-opacity", 0.35 + 0.65 * layout.p_fits).node();
      const what = () => [layout.layout, [["tp/pp/dp", choicesText(layout)], ["predicted", whole(layout.predicted_s)], ["P5, P50, P95", [layout.p5_s, layout.p50_s, layout.p95_s].map(whole).join(", ")],
        ["the best", share(layout.p_best)], ["fits", share(layout.p_fits)], ["gain", share(layout.gain)], ["memory", `${bytes(layout.p50_bytes)} of ${bytes(layout.capacity_bytes)}`],
        ...(measuredText(layout) ? [["measured", measuredText(layout)]] : [])], color];
      tells(band, what);
      svg.append("line").attr("x1", x(layout.p50_s)).attr("x2", x(layout.p50_s)).attr("y1", y - 6).attr("y2", y + 6).style("stroke", "var(--ink)").style("stroke-width", 1.5);
      svg.append("circle").attr("cx", x(layout.predicted_s)).attr("cy", y).attr("r", 3.5).style("fill", "var(--card)").style("stroke", "var(--ink)");
      for (const row of timesOf.get(layout.layout) || []) {
        tells(svg.append("path").attr("class", "measured").attr("d", `M${x(row.step_s)},${y - 6}l6,6l-6,6l-6,-6z`).style("fill", colorOf("cat1")).style("stroke", "var(--card)").node(), what);
      }
    });
    return bottom + 26;
  });
}

function showLayouts() {
  const node = section("layouts", "Layouts", "What each layout may take", "Nine of ten times are expected within the band, given all that was measured; fainter: it may not fit.");
  const box = card(node);
  const orders = { best: tune.layouts, predicted: d3.range(tune.layouts.length).map((i) => tune.layouts[i]).sort((a, b) => a.rank - b.rank),
    measured: tune.layouts.filter((layout) => endsOf.has(layout.layout)).sort((a, b) => d3.ascending(a.measured_s || Infinity, b.measured_s || Infinity)) };
  const area = el("div");
  const fill = (order) => {
    const first = orders[order].slice(0, 20);
    const others = order === "measured" ? [] : [...(tune.stop ? [] : picks.map((pick) => layouts.get(pick.layout))), layouts.get(tune.best)].filter((layout) => layout && !first.includes(layout));
    area.replaceChildren();
    bandsPicture(area, [...first, ...new Set(others)], started ? [{ at: tune.best_s, label: `best measured ${whole(tune.best_s)}` }] : []);
  };
  const names = [["best", "Most probable"], ["predicted", "By prediction"], ...(orders.measured.length ? [["measured", "Measured"]] : [])];
  const chosen = names.some(([key]) => key === kept.get("order")) ? kept.get("order") : "best";
  box.append(el("div", { class: "tools" }, choice("Order", names, chosen, (key) => { keep("order", key === "best" ? null : key); fill(key); })), area);
  fill(chosen);
  legend(box, [...(picks.length && !tune.stop ? [{ label: "next", color: colorOf("accent") }] : []), ...(tune.measured.length ? [{ label: "was tried", color: colorOf("green") }] : []), { label: "not tried", color: colorOf("grey") },
    ...(fine.length ? [{ label: "\u25c6 measured", color: colorOf("cat1") }] : []), { label: "\u25cb predicted by calc; the line: as likely slower as faster", color: "transparent" }]);
  card(node, table({ caption: "Candidates", rows: tune.layouts, sort: 6, first: 12, search: "Filter, e.g. 2/8/4", columns: layoutColumns,
    rowAttributes: (l) => ({ class: !tune.stop && picks.some((pick) => pick.layout === l.layout) ? "on" : null }) }).node);
}

/* ---- Measurements ------------------------------------------------------------------------------ */

/* The mean of the fastest layout after each measurement. */
function bestSoFar() {
  const sums = new Map();
  return tune.measured.map((row) => {
    if (isNumber(row.step_s)) {
      const [sum, n] = sums.get(row.layout) || [0, 0];
      sums.set(row.layout, [sum + row.step_s, n + 1]);
    }
    return d3.min([...sums.values()], ([sum, n]) => sum / n);
  });
}

function showHistory() {
  if (!tune.measured.length) return;
  const node = section("history", "History", "What was measured", "In order, and the best so far.");
  const box = card(node);
  const best = bestSoFar();
  const rows = tune.measured.map((row, i) => ({ ...row, number: i + 1, best: best[i], predicted: layouts.get(row.layout).predicted_s }));
  if (fine.length) historyPicture(box, rows);
  box.append(table({ caption: "What was measured", rows, sort: 0, down: false, first: 12, columns: [
    { label: "", number: true, value: (r) => r.number, show: (r) => count(r.number) },
    { label: "Layout", value: (r) => r.layout, show: (r) => r.layout },
    { label: "tp/pp/dp", value: (r) => choicesText(layouts.get(r.layout)), show: (r) => choicesText(layouts.get(r.layout)) },
    { label: "Outcome", value: (r) => r.outcome, show: (r) => r.outcome },
    { label: "Step", number: true, value: (r) => r.step_s, show: (r) => (isNumber(r.step_s) ? whole(r.step_s) : "\u2013") },
    { label: "Predicted", number: true, value: (r) => r.predicted, show: (r) => whole(r.predicted) },
    { label: "Off by", number: true, value: (r) => r.step_s / r.predicted, show: (r) => (isNumber(r.step_s) ? signed(r.step_s / r.predicted - 1) : "") },
    { label: "Memory", number: true, value: (r) => r.memory_bytes, show: (r) => (isNumber(r.memory_bytes) ? bytes(r.memory_bytes) : "\u2013") },
    { label: "Surprise", number: true, value: (r) => Math.abs(r.surprise), title: "standard deviations from what the others say of it", show: (r) => (!isNumber(r.step_s) ? "" : surprising(r) ? bold(num(r.surprise, 2)) : num(r.surprise, 2)) },
  ] }).node);
  const odd = rows.filter(surprising);
  if (odd.length) box.append(el("p", { class: "note" }, `${odd.map((r) => r.layout).join(", ")}: more than three standard deviations from what the other measurements say. Look at ${odd.length > 1 ? "these runs" : "that run"}.`));
}

function historyPicture(box, rows) {
  picture(box, `Best so far: ${rows.map((r) => (isNumber(r.best) ? seconds(r.best) : r.outcome)).join(", ")}`, (svg, width) => {
    const [left, right, top, height] = [64, 12, 22, 220];
    const x = d3.scaleLinear([0.5, rows.length + 0.5], [left, width - right]);
    const truth = tune.truth && isNumber(tune.truth.best_s) ? tune.truth.best_s : null;
    const y = d3.scaleLinear(d3.extent([...rows.flatMap((r) => [r.step_s, r.predicted]), truth].filter(isNumber)), [height, top]).nice();
    for (const tick of y.ticks(5)) {
      svg.append("line").attr("class", "grid").attr("x1", left).attr("x2", width - right).attr("y1", y(tick)).attr("y2", y(tick));
      svg.append("text").attr("x", left - 8).attr("y", y(tick) + 4).attr("text-anchor", "end").text(brief(tick, timeSteps));
    }
    for (const tick of d3.ticks(1, rows.length, Math.min(rows.length, Math.max(2, Math.floor(width / 60)))).filter(Number.isInteger)) {
      svg.append("text").attr("x", x(tick)).attr("y", height + 20).attr("text-anchor", "middle").text(count(tick));
    }
    if (truth) {
      svg.append("line").attr("x1", left).attr("x2", width - right).attr("y1", y(truth)).attr("y2", y(truth)).style("stroke", "var(--ink)").style("stroke-dasharray", "3 3");
    }
    const known = rows.filter((r) => isNumber(r.best));
    svg.append("path").attr("class", "best").attr("d", d3.line().x((r) => x(r.number)).y((r) => y(r.best)).curve(d3.curveStepAfter)(known)).style("fill", "none").style("stroke", "var(--accent)").style("stroke-width", 2);
    for (const r of rows) {
      const what = () => [r.layout, [["tp/pp/dp", choicesText(layouts.get(r.layout))], ["measured", isNumber(r.step_s) ? whole(r.step_s) : r.outcome], ["predicted", whole(r.predicted)], ["best so far", isNumber(r.best) ? whole(r.best) : "\u2013"]]];
      svg.append("circle").attr("cx", x(r.number)).attr("cy", y(r.predicted)).attr("r", 3.5).style("fill", "var(--card)").style("stroke", "var(--ink3)");
      const mark = isNumber(r.step_s) ? svg.append("path").attr("class", "measured").attr("d", `M${x(r.number)},${y(r.step_s) - 6}l6,6l-6,6l-6,-6z`).style("fill", colorOf("cat1"))
        : svg.append("text").attr("x", x(r.number)).attr("y", top - 6).attr("text-anchor", "middle").style("font-size", "11px").text(r.outcome);
      tells(mark.node(), what);
    }
    return height + 30;
  });
  legend(box, [{ label: "\u25c6 measured", color: colorOf("cat1") }, { label: "\u25cb predicted", color: "transparent" }, { label: "best so far", color: colorOf("accent") },
    ...(tune.truth && isNumber(tune.truth.best_s) ? [{ label: `dashed: the best there is, ${whole(tune.truth.best_s)}`, color: colorOf("ink") }] : [])]);
}

function showKernels() {
  if (!tune.kernels) return;
  const node = section("kernels", "Kernels", "Measured kernels", "Classes of kernels that the layouts run, and how much slower than calc says they are expected to be.");
  card(node, table({ caption: "Measured kernels", rows: tune.kernels, sort: 1, columns: [
    { label: "Class", value: (k) => k.class, show: (k) => k.class },
    { label: "Of the time", number: true, value: (k) => k.share, show: (k) => meter(share(k.share), k.share) },
    { label: "Shapes", number: true, value: (k) => k.shapes, show: (k) => count(k.shapes) },
    { label: "Measured", number: true, value: (k) => k.measured, show: (k) => count(k.measured) },
    { label: "The same", number: true, value: (k) => k.exact, show: (k) => count(k.exact) },
    { label: "Slower", number: true, value: (k) => k.log_error, show: (k) => (isNumber(k.log_error) ? signed(Math.exp(k.log_error) - 1) : "\u2013") },
  ] }).node);
}

showNext();
showLayouts();
showHistory();
showKernels();
footer([["Model", tune.application], ["Machine", tune.system], ["Command", commandText(tune.command)], ["Noise", `${percent(tune.noise, 2)} of a measured time`], ["File", "one file, no network; its numbers are those of calc tune --json"]]);
drawn();
