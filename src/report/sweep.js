/* The page of a sweep. */
"use strict";

/* ---- The answer ------------------------------------------------------------------------------- */

document.title = `${study.applications.join(", ")} on ${study.systems.join(", ")} – calc sweep`;
document.getElementById("kind").textContent = data.kind === "app" ? "app" : "sweep";

const goalValue = (row) => (goal === "sample_rate" ? `${num(row.stats.sample_rate, 4)}\u202fsamples/s` : metricText(goal)(row.stats[goal]));

/* Names the design of the best layout and, if each design has its own best layout, counts its equals. */
function sayDesigns() {
  const keys = axes.filter((axis) => axis.ofDesign);
  if (!keys.length) return [];
  const name = (row) => keys.map((axis) => `${axisLabel(axis.key)} ${rowValue(row, axis.key)}`).join(", ");
  const each = inSet("each");
  const alike = each.filter((row) => row !== best && isEqual(row)).length;
  return [" Its design: ", bold(name(best)), each.length > 1 ? `; ${count(alike)} of the ${count(each.length - 1)} others are its equals.` : "."];
}

/* If nothing fits: a layout with the least memory, and one on more processors. */
const need = data.need || null;
const gib = (bytes_) => Math.ceil(bytes_ / 2 ** 30);

function sayNone() {
  if (!counts) return "The file holds no layout.";
  const [reason, n] = Object.entries(counts.rejected).sort((a, b) => b[1] - a[1])[0] || ["", 0];
  const said = n ? [`The most frequent reason is `, bold(words(reason)), `, of ${count(n)} layouts.`]
    : [counts.total ? "Bounds prove that every one needs more memory than there is." : "The space is empty."];
  if (need) {
    const { stats, execution } = need.least;
    said.push(` The least that any needs is `, bold(bytes(stats.proc_mem_tier1_cap_req)), ` of ${bytes(stats.mem_tier1_capacity)}, by ${splitName(execution)}.`);
    if (need.larger) said.push(" On ", bold(`${count(need.larger.execution.num_procs)} processors`), " a layout fits.");
  }
  return said;
}

function sayWhy() {
  if (!best) return sayNone();
  const said = [];
  const other = splits.filter((cell) => cell.row && (cell.tensor_par !== best.exe.tensor_par || cell.pipeline_par !== best.exe.pipeline_par))
    .map((cell) => cell.row).sort(better)[0];
  if (other) {
    const gain = goalUp ? best.stats[goal] / other.stats[goal] - 1 : 1 - best.stats[goal] / other.stats[goal];
    said.push("It is ", bold(percent(Math.max(0, gain), 2)), ` ${goal === "sample_rate" ? "faster" : "better"} than the best layout of any other split (${splitName(other.exe)})${isSure ? `, ${Math.floor(100 * other.stats.sure)}\u202f% sure` : ""}`);
    const per = (row, part) => (row.time[part] || 0) / row.exe.batch_size;
    const gains = Object.keys({ ...best.time, ...other.time }).map((part) => [part, per(other, part) - per(best, part)]).sort((a, b) => b[1] - a[1]);
    if (goal === "sample_rate" && gain > 0.002 && gains[0][1] > 0) said.push(`: the gain is mostly ${gains[0][0].replace(/comm\.$/, "communication")}`);
    said.push(". ");
  }
  const cap = best.stats.mem_tier1_capacity;
  said.push("It needs ", bold(bytes(best.stats.proc_mem_tier1_cap_req)), ` of ${bytes(cap)}`);
  if (best.stats.proc_mem_tier2_cap_req > 0) said.push(" and ", bold(bytes(best.stats.proc_mem_tier2_cap_req)), " of the second memory");
  if (isNumber(best.stats.fits) && best.stats.fits < 0.9) said.push(": of measured runs like it ", bold(`${Math.round(100 * best.stats.fits)}\u202f%`), " would have fitted");
  said.push(".", ...sayDesigns());
  const equals = inSet("top").filter((row) => row !== best && isEqual(row)).length;
  if (isSure && equals) said.push(" ", bold(`${count(equals)} of the ${count(inSet("top").length - 1)} next`), " are its equals: what was measured does not say which is faster.");
  if (start !== best) {
    const behind = Math.abs(start.stats[goal] / best.stats[goal] - 1);
    said.push(" ", bold(`${splitName(start.exe)}, ${percent(behind, 2)} behind,`), " is the layout to start with: simpler, more likely to fit, or run by a framework. best.json has it.");
  }
  return said;
}

const [memoryValue, memoryUnit] = best ? bytesIn(best.stats.proc_mem_tier1_cap_req) : ["–", ""];
const [timeValue, timeUnit] = best ? secondsIn(best.stats.total_time) : ["–", ""];
function trainingKpis() {
  return [["Throughput", best ? num(best.stats.sample_rate, 4) : "–", "samples/s", best ? `batch ${count(best.exe.batch_size)}, micro-batch ${count(best.exe.microbatch_size)}` : ""],
    ["Step time", timeValue, timeUnit, best ? `${num(best.stats.tokens_per_s_per_proc)} tokens/s per processor` : ""],
    ["Model FLOPs utilisation", best ? num(100 * best.stats.model_flops_utilization) : "–", "%", `of the matrix peak${best && best.exe.datatype ? ` in ${best.exe.datatype}` : ""}`]];
}

function servingKpis(s) {
  const known = (key, label, parts, note) => (isNumber(s[key]) ? [[label, ...parts(s[key]), note]] : []);
  return [...known("ttft", "First token", secondsIn, ""), ...known("tpot", "Per output token", secondsIn, `${num(s.tokens_per_s_per_user)} tokens/s of a request`),
    ...known("output_tokens_per_s", "Output", (x) => [amount(x), "tokens/s"], `${num(s.output_tokens_per_s_per_proc)} per processor`)];
}

/* The answer of a sweep in which nothing fits. */
function noKpis() {
  const { stats } = need ? need.least : {};
  const missing = need && stats.proc_mem_tier1_cap_req - stats.mem_tier1_capacity;
  return [...(need ? [["Least memory needed", ...bytesIn(stats.proc_mem_tier1_cap_req), `of ${bytes(stats.mem_tier1_capacity)}`], ["Missing", ...bytesIn(missing), "on the fullest processor"]] : []),
    ...(need && need.larger ? [["Processors that would do", count(need.larger.execution.num_procs), "", `instead of ${count(need.least.execution.num_procs)}`]] : []),
    ...(counts ? [["Layouts searched", counts.total < 1e5 ? count(counts.total) : amount(counts.total), "", "none of them fits"]] : [])];
}

const procsOf = [...new Set(rows.map((row) => row.exe.num_procs))];
hero({
  bad: !best,
  context: [["", clipped(study.applications.join(", "), 120)], ["", clipped(study.systems.join(", "), 120)],
    ...(procsOf.length === 1 ? [["processors", count(procsOf[0])]] : []), ...(counts ? [["layouts", count(counts.total)]] : []),
    ...(partial ? [["", "partial result"]] : [])],
  headline: best ? [`${splitName(best.exe)}${procsOf.length > 1 ? ` on ${count(best.exe.num_procs)} processors` : ""} is ${goal === "sample_rate" ? "the fastest layout that fits" : `best by ${serves ? metricLabel(goal).toLowerCase() : words(goal)}`}: `, el("em", {}, goalValue(best)), "."]
    : ["Nothing fits: none of ", el("em", {}, counts ? count(counts.total) : "the"), " layouts can run."],
  why: sayWhy(),
  remarks: study.remarks,
  kpis: !best ? noKpis() : [
    ...(serves ? servingKpis(best.stats) : trainingKpis()),
    ["Memory", memoryValue, memoryUnit, best ? `${share(best.stats.proc_mem_tier1_cap_req / best.stats.mem_tier1_capacity)} of ${bytes(best.stats.mem_tier1_capacity)}${best.stats.proc_mem_tier2_cap_req > 0 ? `, and ${bytes(best.stats.proc_mem_tier2_cap_req)} of the second memory` : ""}` : ""],
    counts ? ["Layouts searched", counts.total < 1e5 ? count(counts.total) : amount(counts.total), "", `${count(counts.feasible)} evaluated and feasible`]
      : ["Layouts in the file", count(rows.length), "", "front and best"],
    ["Pareto front", count(data.front), "layouts", study.objectives.map((o) => words(o.statistic.replace("proc_mem_tier", "memory ").replace("_cap_req", ""))).join(", ")],
  ],
});

/* ---- Splits and reasons ----------------------------------------------------------------------- */

const reasonText = {
  network_size: "a group that spans more processors than its network connects",
  network_fill: "a network that must be filled would not be",
  interleaving: "chunks that do not divide the blocks of a stage",
  offload_blocks: "offload needs at least three blocks per processor",
  mem1_capacity: "more memory than a processor has",
  mem2_capacity: "more of the second memory than there is",
  overloaded: "more requests arrive than are served",
};

/* Remedies if nothing runs: the same layout with more memory, or on more processors. */
function showNeed() {
  if (!need) return;
  const node = section("need", "What fits", "What would run", "The smallest changes that make a layout fit.");
  const all = [{ what: `${gib(need.least.stats.proc_mem_tier1_cap_req)}\u202fGiB of memory`, set: [`mem1.GiB=${gib(need.least.stats.proc_mem_tier1_cap_req)}`], ...need.least },
    ...(need.larger ? [{ what: `${count(need.larger.execution.num_procs)} processors`, set: [], ...need.larger }] : [])];
  const said = el("pre", { hidden: true });
  card(node, table({ caption: "What would run", rows: all, sort: null, columns: [
    { label: "With", show: (r) => r.what }, { label: "Layout", show: (r) => splitName(r.execution) },
    { label: "Memory", number: true, show: (r) => bytes(r.stats.proc_mem_tier1_cap_req) },
    { label: "Step", number: true, show: (r) => seconds(r.stats.total_time) },
    { label: "MFU", number: true, show: (r) => share(r.stats.model_flops_utilization) },
    { label: "", screen: true, show: (r) => copyButton("Copy", () => {
      said.textContent = commandOf({ exe: r.execution, design: r.design }, r.set);
      said.hidden = false;
      return said.textContent;
    }, `Copy the command of ${r.what}`) },
  ] }).node, said);
}

const reasonName = (why) => words(why.replace("mem1", "memory").replace("mem2", "second memory"));

function showSplits() {
  const node = !best ? section("splits", "Reasons", "Why nothing fits")
    : section("splits", "TP × PP", "Best layout for each tensor × pipeline split", "The best of all other choices for each split.");
  if (best) node.querySelector(".lead").append(el("span", { class: "screen" }, " A click keeps only its layouts."));
  /* A wide map has the full width. */
  const cols = el("div", { class: new Set(splits.map((cell) => cell.pipeline_par)).size > 6 ? null : "cols even" });
  node.append(cols);
  if (best) {
    const box = card(cols, el("h3", {}, goal === "sample_rate" ? "Best samples/s" : metricLabel(goal)));
    const [tps, pps] = ["tensor_par", "pipeline_par"].map((side) => [...new Set(splits.map((cell) => cell[side]))].sort(d3.ascending));
    const values = splits.filter((cell) => cell.row).map((cell) => cell.row.stats[goal]);
    const [lo, hi] = d3.extent(values);
    const grid = el("table", { style: "border-collapse:separate;border-spacing:2px" }, el("caption", { class: "hidden" }, "Best of each split"),
      el("thead", {}, el("tr", {}, el("th", {}, ""), pps.map((pp) => el("th", { scope: "col", class: "n", style: "text-align:center" }, `PP ${pp}`)))));
    const body = el("tbody");
    const cells = [];
    for (const tp of tps) {
      body.append(el("tr", {}, el("th", { scope: "row" }, `TP ${tp}`), pps.map((pp) => {
        const cell = splits.find((c) => c.tensor_par === tp && c.pipeline_par === pp);
        const td = el("td", { class: "n", style: "padding:0;border:0;vertical-align:middle" });
        if (!cell || cell.total === 0) return td;
        if (!cell.row) {
          const [why] = Object.entries(cell.rejected).sort((a, b) => b[1] - a[1])[0];
          td.append(el("span", { class: "note", style: "display:block;margin:0;padding:6px 8px;background:var(--grid);border-radius:5px;text-align:center;white-space:normal", title: reasonText[why] }, reasonName(why)));
          return td;
        }
        const button = el("button", { type: "button", style: "border:0;width:100%;line-height:1.25;padding:5px 8px;margin:0", title: `${count(cell.feasible)} feasible layouts${data.splits.counted ? "" : " looked at"}`, onclick: () => {
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
    if (value) bar(reasonName(reason), value, reasonText[reason]);
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

/* ---- What each choice is worth ----------------------------------------------------------------- */

/* Changes one choice of the best layout at a time: for each field, or pair of sizes, the best other value. */
function showWorth() {
  const found = best && data.changes;
  if (!found || !found.items.length) return;
  const key = goal in found.items[0].stats ? goal : rate;
  const up = key === goal ? goalUp : true;
  const now = best.stats[key];
  const known = found.items.filter((item) => isNumber(item.stats[key]))
    .sort((a, b) => (up ? d3.descending : d3.ascending)(a.stats[key], b.stats[key]));
  const fields = new Set();
  const items = known.filter((item) => {
    const of = item.set.map((one) => one.split("=")[0]).sort().join();
    return !fields.has(of) && fields.add(of);
  });
  const gains = items.some((item) => (up ? item.stats[key] > now * (1 + 1e-9) : item.stats[key] < now * (1 - 1e-9)));
  const node = section("worth", "Choices", "What each choice of the best layout is worth",
    `From the best layout one field, or pair of sizes, at a time: its best other value, and what it costs; the dearest first.${gains ? " What gains, at the end, is outside of the space that was searched, or its conditions leave it out." : ""}`);
  card(node, changesTable(items.reverse(), { key, before: now, label: metricLabel(key), text: metricText(key), first: 12,
    caption: "What each choice is worth", memoryBefore: best.stats.proc_mem_tier1_cap_req, command: (set) => commandOf(best, set) }));
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

if (globalThis.calcLive) {
  if (data.kind === "app") main.prepend(globalThis.calcLive.box);
  else main.append(globalThis.calcLive.box);
  nav.append(el("a", { href: "#question", onclick: (event) => { event.preventDefault(); globalThis.calcLive.box.scrollIntoView(); } }, "Question"));
}
showNeed();
showScatter();
showTable();
showComparison();
showSplits();
showScaling();
showWorth();
showMore();
footer([...(study.read ? [["Read", study.read.map(({ name, sha256 }) => digested(name, { sha256 }, "sha256")).join("; ")], ["Command", commandText(study.command)]]
    : [["Models", study.applications.join(", ")], ["Machines", study.systems.join(", ")]]),
  ["Objectives", study.objectives.map((o) => `${o.statistic} ${o.direction}`).join(", ") || "none"],
  ...(summary ? [["Sweep", `${count(counts.evaluated)} evaluations in ${seconds(summary.elapsed_s)} with ${count(summary.threads)} threads${partial ? "; stopped early" : ""}`]] : []),
  ["Exact", "best, front, splits and sizes; the cloud is as its text says"]], study.compat);
drawn();
