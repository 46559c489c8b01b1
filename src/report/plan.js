/* The result of a plan, shown before the run of its best layout. */
"use strict";

const { plan } = data;
const planned = plan.found[0];
const layered = !!planned.layers; /* a plan with layers that differ; else one of stages */
const alike = layered ? "layers that are all alike" : plan.systems.length > 1 ? "equally many blocks on every stage" : "stages that are all alike";

/* Step time with uniform layers or stages: for stages, of the same layout; for layers, the best of all uniform
 * layouts. */
const alikeTime = (found) => (layered ? plan.uniform_time : found.even && found.even.total_time);
const passOf = (stage) => stage.stats.fw_time + stage.stats.bw_time;
const roomOf = (stage) => stage.mem_tier1_capacity - stage.stats.mem_tier1;

const planTail = (found) => ` <<'EOF'\n${JSON.stringify(found.execution)}\nEOF\n`;
const planCommand = (found, words = found.run) => commandText(words) + planTail(found);
/* The run below is that of the first layout, unless it was changed. */
if (!data.changed) Object.assign(data.run.names, { command: planned.run, tail: planTail(planned) });

/* Groups equal neighbours: [value, how many]. */
function runsOf(values) {
  const runs = [];
  for (const value of values) {
    if (runs.length && runs[runs.length - 1][0] === value) runs[runs.length - 1][1] += 1;
    else runs.push([value, 1]);
  }
  return runs;
}
const runsText = (values) => runsOf(values).map(([value, n]) => (n > 1 ? `${n}\u00d7${value}` : value)).join(", ");
const layersText = (found) => found.layers.map((run) => `${count(run.blocks)}\u00d7 ${[`tp${run.tensor_par}`, run.context_par > 1 && `cp${run.context_par}`,
  run.expert_par > 1 && `ep${run.expert_par}`, run.zero_stage > 0 && `zero${run.zero_stage}`, run.recompute !== "none" && run.recompute].filter(Boolean).join(" ")}`).join(", ");

/* ---- The answer ------------------------------------------------------------------------------- */

function planWhy() {
  const words = [];
  const rows = planned.stages;
  if (rows.length > 1) {
    const slowest = d3.least(rows, (row) => row.idle);
    const fullest = d3.least(rows, roomOf);
    words.push("All wait for ", bold(`stage ${slowest.stats.stage}`), "; least room has ", bold(`stage ${fullest.stats.stage}`), `: ${bytes(roomOf(fullest))}. `);
  } else if (rows.length) {
    words.push("There is room for ", bold(bytes(roomOf(rows[0]))), " more. ");
  }
  if (layered && plan.uniform_layers && planned.layers.length > 1) words.push(`Of layers that are all alike the best are ${plan.uniform_layers}. `);
  const bound = Math.max(0, 1 - (layered ? plan.bound_time : planned.bound_time) / planned.stats.total_time);
  words.push(`No ${layered ? "list of layers" : "division of this layout"} is quicker by more than `, bold(share(bound)), ".");
  if (!plan.complete) words.push(" The search was stopped early: there may be better layouts.");
  return words;
}

function planHero() {
  const e = planned.execution;
  const other = alikeTime(planned);
  const more = other / planned.stats.total_time - 1;
  const blocks = planned.stages.map((stage) => stage.stats.blocks);
  hero({
    context: [["", plan.application], ["", machine], ["processors", count(e.num_procs)], ["batch", count(e.batch_size)], ["format", e.datatype],
      ["", `tensor ${count(e.tensor_par)} \u00d7 pipeline ${count(e.pipeline_par)} \u00d7 data ${count(e.data_par)}`]],
    headline: ["A step takes ", el("em", {}, whole(planned.stats.total_time)), !isNumber(other) ? `; with ${alike} it does not fit.`
      : more > 5e-4 ? `; with ${alike}, ${share(more)} more.` : `, as with ${alike}.`],
    why: planWhy(),
    remarks: plan.remarks,
    kpis: [
      ["Step time", ...secondsIn(planned.stats.total_time, 4), `${count(planned.stats.num_microbatches)} micro-batches`],
      ["All alike", ...(isNumber(other) ? secondsIn(other, 4) : ["\u2013", ""]), isNumber(other) ? signed(more) : "does not fit"],
      ["Model FLOPs utilisation", num(100 * planned.stats.model_flops_utilization), "%", `${amount(planned.stats.tokens_per_s)} tokens/s`],
      layered ? ["Strategies of layers", count(planned.layers.length), "", "runs of equal ones"]
        : ["Blocks of a stage", blocks.length ? runsText(d3.extent(blocks).map(count)).replace(", ", " to ").replace(/^2\u00d7/, "") : "\u2013", "", `${count(e.pipeline_par)} stages`],
      ["Memory", ...bytesIn(planned.stats.proc_mem_tier1_cap_req), `${share(planned.stats.proc_mem_tier1_cap_req / planned.stats.mem_tier1_capacity)} of ${bytes(planned.stats.mem_tier1_capacity)}`],
      ["Looked at", count(plan.candidates), layered ? "kinds" : "layouts", `${count(plan.balanced)} ${layered ? "solved" : "balanced"}`],
    ],
  });
}

/* ---- Layouts found ----------------------------------------------------------------------------- */

function showFound(onchoice) {
  const node = section("plan", "Layouts", "Layouts found", `Best first, against ${layered ? "the best of" : "the same with"} ${alike}. The command of a row runs it${plan.found.some((found) => found.export) ? "; another writes the script that starts it" : ""}.`);
  const box = card(node);
  const said = el("pre");
  const say = (found, words) => { said.textContent = planCommand(found, words); };
  const varies = (key) => plan.found.some((found) => (found.execution[key] || 1) > 1);
  const size = (key, label) => ({ label, number: true, show: (f) => count(f.execution[key] || 1) });
  const list = table({ caption: "Layouts found", rows: plan.found, sort: null, rowAttributes: (f) => ({ class: f === chosenPlan ? "on" : null }), columns: [
    ...(plan.found.length > 1 ? [{ label: "", screen: true, show: (f, i) => el("button", { type: "button", "aria-pressed": String(f === chosenPlan), "aria-label": `Show layout ${i + 1}`,
      onclick: () => { onchoice(f); say(f); list.refresh(); } }, "Show") }] : []),
    { label: "", screen: true, show: (f, i) => copyButton("Copy", () => { say(f); return said.textContent; }, `Copy the command of layout ${i + 1}`) },
    ...(plan.found.some((found) => found.export) ? [{ label: "", screen: true, show: (f, i) => (f.export ? copyButton("Export", () => { say(f, f.export); return said.textContent; }, `Copy what writes the script of layout ${i + 1}`) : "") }] : []),
    { label: "Step", number: true, show: (f) => whole(f.stats.total_time) },
    { label: "All alike", number: true, show: (f) => (isNumber(alikeTime(f)) ? signed(alikeTime(f) / f.stats.total_time - 1) : "does not fit") },
    { label: "MFU", number: true, show: (f) => share(f.stats.model_flops_utilization) },
    { label: "Memory", number: true, show: (f) => meter(bytes(f.stats.proc_mem_tier1_cap_req), f.stats.proc_mem_tier1_cap_req / f.stats.mem_tier1_capacity, "quiet") },
    ...(layered ? [] : [size("tensor_par", "TP")]), size("pipeline_par", "PP"), ...(layered ? [] : [size("data_par", "DP")]),
    ...[["context_par", "CP"], ["expert_par", "EP"]].filter(([key]) => !layered && varies(key)).map((pair) => size(...pair)),
    ...(varies("pipeline_interleaving") ? [size("pipeline_interleaving", "Chunks")] : []),
    ...(layered ? [] : [size("microbatch_size", "Micro-batch")]),
    layered ? { label: "Layers", wrap: true, show: layersText } : { label: "Blocks of the stages", wrap: true, show: (f) => runsText(f.stages.map((stage) => count(stage.stats.blocks))) },
    ...(plan.systems.length > 1 ? [{ label: "On", wrap: true, show: (f) => runsText(f.stages.map((stage) => stage.system)).replaceAll("\u00d7", "\u00d7 ") }] : []),
  ] });
  box.append(list.node, said, el("p", { class: "note" }, `The planner took the step of the best for ${whole(planned.planned_time)}; calc run says ${whole(planned.stats.total_time)}, which counts.`));
  say(chosenPlan);
}

/* ---- Stages ------------------------------------------------------------------------------------ */

/* Groups adjacent equal stages, if there are many: {from, to, stage} with the fullest stage. */
function stageGroups(rows) {
  const groups = [];
  rows.forEach((stage, i) => {
    const last = groups[groups.length - 1];
    const same = last && rows.length > 20 && ["blocks", "fw_time", "bw_time"].every((key) => last.stage.stats[key] === stage.stats[key])
      && last.stage.system === stage.system && last.stage.recomputed_blocks === stage.recomputed_blocks;
    if (same) last.to = i;
    else groups.push({ stage, from: i, to: i });
  });
  return groups;
}
const chipColor = (name) => colorOf(["cat2", "cat1", "cat3", "cat7"][Math.max(0, plan.systems.indexOf(name)) % 4]);
const stageName = ({ from, to }) => (from === to ? `Stage ${from}` : `Stages ${from} to ${to}`);

/* Blocks, passes and memory of every stage, on the scales of `most`. */
function stagesPicture(parent, rows, most, aria) {
  const groups = stageGroups(rows);
  picture(parent, `${aria}: ${groups.slice(0, 12).map((g) => `${stageName(g)} ${count(g.stage.stats.blocks)} blocks on ${g.stage.system}, ${seconds(passOf(g.stage))}, ${bytes(g.stage.stats.mem_tier1)}`).join("; ")}`, (svg, width) => {
    const narrow = width < 460;
    const left = narrow ? 0 : groups.some((group) => group.to > group.from) ? 128 : 92;
    const step = narrow ? 58 : 38;
    const gap = 16;
    const third = (width - left - 2 * gap) / 3;
    const at = [0, 1, 2].map((i) => left + i * (third + gap));
    const scales = [most.blocks, most.time, most.memory].map((end, i) => d3.scaleLinear([0, end], [at[i], at[i] + third]));
    ["Blocks", "Micro-batch", "Memory"].forEach((word, i) => svg.append("text").attr("x", at[i]).attr("y", 12).text(word));
    const bar = (x0, x1, y, color, what) => {
      const mark = svg.append("rect").attr("x", x0).attr("y", y).attr("width", Math.max(0.5, x1 - x0 - 0.7)).attr("height", 14).style("fill", color).node();
      if (what) tells(mark, () => what);
      return mark;
    };
    groups.forEach((group, i) => {
      const { stage } = group;
      const { stats: s } = stage;
      const y = 18 + i * step + (narrow ? 32 : 16);
      const name = `${stageName(group)}, ${stage.system}`;
      svg.append("text").attr("class", "strong").attr("x", 0).attr("y", narrow ? y - 19 : y + 1).text(narrow ? name : stageName(group));
      if (!narrow) svg.append("text").attr("x", 0).attr("y", y + 15).style("font-size", "11px").text(clipped(stage.system, 14));
      const value = (k, text) => svg.append("text").attr("x", at[k]).attr("y", y - 3).style("font-size", "11px").text(text);
      value(0, `${count(s.blocks)}${stage.recomputed_blocks > 0 ? `, ${count(stage.recomputed_blocks)} again` : ""}`);
      value(1, seconds(passOf(stage)));
      value(2, bytes(s.mem_tier1));
      const told = [name, [["blocks", count(s.blocks)], ["recomputed", count(stage.recomputed_blocks)]], chipColor(stage.system)];
      for (let b = 0; b < s.blocks; b++) {
        const mark = bar(scales[0](b), scales[0](Math.min(b + 1, s.blocks)), y, chipColor(stage.system), told);
        if (b < stage.recomputed_blocks) mark.style.fillOpacity = 0.4;
      }
      const times = [["forward", s.fw_time, "blue1"], ["backward", s.bw_time, "blue2"], ["waiting for the slowest", most.own - passOf(stage), "grid"]];
      let from = 0;
      for (const [label, time, color] of times) {
        if (time > 0) bar(scales[1](from), scales[1](from + time), y, colorOf(color), [name, [[label, seconds(time)], ["waits", share(stage.idle)]], colorOf(color)]);
        from += time;
      }
      const parts = Object.entries(memoryRow(s).values).filter(([, value]) => value > 0).map(([label, value]) => [label, bytes(value)]);
      bar(scales[2](0), scales[2](s.mem_tier1), y, colorOf("purple"), [name, [["memory", bytes(s.mem_tier1)], ["capacity", bytes(stage.mem_tier1_capacity)], ...parts], colorOf("purple")]);
      svg.append("line").attr("x1", scales[2](stage.mem_tier1_capacity)).attr("x2", scales[2](stage.mem_tier1_capacity)).attr("y1", y - 3).attr("y2", y + 17).style("stroke", "var(--ink)").style("stroke-width", 1.5);
    });
    return 18 + groups.length * step + 8;
  });
}

function stagesTable(rows, name) {
  return folded("Show as table", table({ caption: name, rows: stageGroups(rows), columns: [
    { label: "Stage", show: (g) => stageName(g).replace(/^Stages? /, "") },
    { label: "Chip", show: ({ stage }) => stage.system },
    { label: "Blocks", number: true, show: ({ stage }) => count(stage.stats.blocks) },
    { label: "Recomputed", number: true, show: ({ stage }) => count(stage.recomputed_blocks) },
    { label: "Forward", number: true, show: ({ stage }) => seconds(stage.stats.fw_time) },
    { label: "Backward", number: true, show: ({ stage }) => seconds(stage.stats.bw_time) },
    { label: "Waits", number: true, show: ({ stage }) => share(stage.idle) },
    { label: "In flight", number: true, show: ({ stage }) => short(stage.stats.in_flight) },
    { label: "Memory", number: true, show: ({ stage }) => bytes(stage.stats.mem_tier1) },
    { label: "Room", number: true, show: ({ stage }) => bytes(roomOf(stage)) },
    { label: "To the next", number: true, show: ({ stage }) => (isNumber(stage.message_time) ? seconds(stage.message_time) : "\u2013") },
  ] }).node);
}

/* The stages of the run that the page shows, as a plan has them. */
function stagesChanged() {
  const { names, execution: e, system } = data.run;
  const list = e.stages || {};
  const on = spread(list.system || names.system, e.pipeline_par);
  const again = spread(list.recompute_blocks || 0, e.pipeline_par);
  const slowest = d3.max(data.stages, (s) => s.fw_time + s.bw_time);
  return data.stages.map((s, i) => ({ stats: s, system: on[i], recomputed_blocks: Number(again[i]), idle: 1 - (s.fw_time + s.bw_time) / slowest,
    mem_tier1_capacity: 2 ** 30 * (on[i] === names.system ? system : plan.machines[plan.systems.indexOf(on[i])]).mem1.GiB }));
}

/* Buttons that move a block to a neighbour; the model judges what comes of it. */
function movers() {
  const { stages: list } = data.run.execution;
  const blocks = data.stages.map((stage) => stage.blocks);
  const to = (from, by) => () => globalThis.calcLive.apply([`stages=${JSON.stringify({ ...list, blocks: blocks.map((n, i) => n + (i === from + by) - (i === from)) })}`]);
  const arrow = (from, by) => el("button", { type: "button", "aria-label": `Move a block from stage ${from} to stage ${from + by}`, onclick: to(from, by) }, by > 0 ? "\u2192" : "\u2190");
  return el("div", { class: "tools movers" }, el("span", {}, "Move a block:"), blocks.flatMap((n, i) => [i > 0 ? [arrow(i, -1), arrow(i - 1, 1)] : null, el("span", {}, bold(count(n)))]));
}

function fillStages(area, found) {
  const { even } = found;
  const all = [...found.stages, ...(even ? even.stages : []), ...(data.changed ? stagesChanged() : [])];
  const most = { blocks: d3.max(all, (s) => s.stats.blocks), time: d3.max(all, passOf), memory: d3.max(all, (s) => Math.max(s.stats.mem_tier1, s.mem_tier1_capacity)) };
  const boxes = el("div", { class: layered ? null : "cols even" });
  area.replaceChildren(boxes);
  const show = (title, time, rows) => {
    const box = card(boxes, el("h3", {}, `${title}: `, isNumber(time) ? whole(time) : "does not fit"));
    if (rows) {
      stagesPicture(box, rows, { ...most, own: d3.max(rows, passOf) }, title);
      box.append(stagesTable(rows, title));
    }
  };
  if (data.changed) show("As changed", data.run.stats.total_time, stagesChanged());
  show("As planned", found.stats.total_time, found.stages);
  if (!layered && !data.changed) show(`With ${alike}${even && even.recomputed ? ", all recomputed" : ""}`, even && even.total_time, even && even.stages);
  const named = plan.systems.length > 1 ? plan.systems.map((name) => ({ label: `block on ${name}`, color: chipColor(name) })) : [{ label: "block", color: chipColor(plan.systems[0]) }];
  const faint = all.some((stage) => stage.recomputed_blocks > 0) ? [{ label: "recomputed", color: `color-mix(in srgb, ${chipColor(plan.systems[0])} 40%, transparent)` }] : [];
  legend(area, [...named, ...faint, timePart("forward"), timePart("backward"), { label: "waiting for the slowest", color: colorOf("grid") }, { label: "memory", color: colorOf("purple") }]);
  if (globalThis.calcLive && !layered && data.run.execution.pipeline_par > 1) area.append(movers());
  const joins = found.stages.filter((stage, i) => i + 1 < found.stages.length && found.stages[i + 1].system !== stage.system && isNumber(stage.message_time))
    .map((stage) => `from stage ${stage.stats.stage} on ${stage.system} to ${found.stages[stage.stats.stage + 1].system} ${seconds(stage.message_time)}`);
  if (joins.length) area.append(el("p", { class: "note" }, `Activations of a micro-batch take ${joins.join(", ")}; between stages on the same chip ${seconds(d3.min(found.stages, (stage) => stage.message_time))} at least.`));
}

/* ---- The page ---------------------------------------------------------------------------------- */

let chosenPlan = plan.found[Number(kept.get("layout")) - 1] || planned;

function showPlan() {
  const fills = [];
  showFound((found) => {
    chosenPlan = found;
    keep("layout", found === planned ? null : String(plan.found.indexOf(found) + 1));
    for (const fill of fills) fill(found);
  });
  const part = (id, name, title, lead, fill) => {
    const area = el("div");
    section(id, name, title, lead).append(area);
    fill(area, chosenPlan);
    fills.push((found) => fill(area, found));
  };
  if (layered) part("strips", "By layer", "Strategies layer by layer", `From the embedding to the head: what each layer has, and where it changes. ${layerNote}`, fillLayers);
  if (planned.stages.length > 1 || !layered) {
    part("stages", "Stages", "Stage by stage", "Blocks, the passes of a micro-batch, and what a processor holds against what it has (the line).", fillStages);
  }
  if (layered && plan.curve.length > 1) showCurve();
  main.append(el("p", { class: "note", style: "margin-top:40px" }, `Below: the run of ${data.changed ? "the layout as it was changed" : "the first layout"}.`));
}
