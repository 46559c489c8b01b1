/* The page of one run. */
"use strict";

const { run } = data;
const { stats, names, execution: exe, system, application: app } = run;
const fits = run.verdict === "ok";
const timeTotal = stats.total_time;
const { stages, layers } = data;
const listed = data.listed || null; /* what stages are on and recompute, where they are listed */
const machine = listed && listed.machine.includes(" and ") ? listed.machine : names.system;
const link = (key) => [stats[`${key}_comm_link_time`] || 0, stats[`${key}_comm_exposed_time`] || 0];
const communication = [
  ["tensor parallel", ...link("tp")], ["context parallel", ...link("cp")],
  ["expert parallel", ...link("ep")],
  ["repeated in recomputation", stats.recomm_link_time || 0, stats.recomm_exposed_time || 0],
  ["pipeline parallel", ...link("pp")], ["data parallel", ...link("dp")],
].filter(([, onLink]) => onLink > 0);
const exposed = d3.sum(communication, (row) => row[2]);

document.title = `${names.application} on ${machine} – calc run`;
document.getElementById("kind").textContent = "run";

/* ---- The answer ------------------------------------------------------------------------------- */

function sayWhy() {
  if (!fits) {
    const rest = run.reasons.length - 1;
    const [reason] = run.reasons;
    return [reason ? `${reason.text}.` : "", reason && reason.hint ? ` What helps: ${reason.hint}.` : "",
      rest > 0 ? ` ${rest} more reason${rest > 1 ? "s" : ""} below.` : ""];
  }
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
      ` of ${bytes(stats.mem_tier1_capacity)}.`);
  }
  return words;
}

const [stepValue, stepUnit] = isNumber(timeTotal) ? secondsIn(timeTotal, 4) : ["–", ""];
const [memoryValue, memoryUnit] = isNumber(stats.proc_mem_tier1_cap_req) ? bytesIn(stats.proc_mem_tier1_cap_req) : ["–", ""];
hero({
  bad: !fits,
  context: [["", names.application], ["", machine], ["processors", count(exe.num_procs)],
    ["batch", count(exe.batch_size)], ["format", exe.datatype],
    ["parameters", amount(data.parameters.total)], ["", exe.training ? "training" : "inference"]],
  headline: fits ? ["A step takes ", el("em", {}, `${stepValue}\u202f${stepUnit}`), "."]
    : ["It cannot run: ", el("em", {}, run.verdict.replaceAll("_", " ")), "."],
  why: sayWhy(),
  kpis: [
    ["Step time", stepValue, stepUnit, `${count(stats.num_microbatches)} micro-batches of ${count(exe.microbatch_size)}`],
    ["Throughput", amount(stats.tokens_per_s), "tokens/s", `${num(stats.tokens_per_s_per_proc)} per processor`],
    ["Model FLOPs utilisation", isNumber(stats.model_flops_utilization) ? num(100 * stats.model_flops_utilization) : "–", "%", "useful FLOP over matrix peak"],
    ["Exposed communication", isNumber(exposed / timeTotal) ? num(100 * exposed / timeTotal) : "–", "%", seconds(exposed)],
    ["Pipeline bubble", isNumber(stats.bubble_time / timeTotal) ? num(100 * stats.bubble_time / timeTotal) : "–", "%", exe.pipeline_par > 1 ? `${count(exe.pipeline_par)} stages` : "one stage"],
    ["Memory", memoryValue, memoryUnit, stats.mem_tier1_capacity ? `${share(stats.proc_mem_tier1_cap_req / stats.mem_tier1_capacity)} of ${bytes(stats.mem_tier1_capacity)}` : ""],
  ],
});

if (run.reasons.length) {
  const node = section("reasons", "Reasons", "Why it cannot run", "All reasons, not only the first.");
  card(node, run.reasons.map((reason) => el("div", { class: "reason" },
    el("div", { class: "top" }, el("span", {}, reason.verdict.replaceAll("_", " "))),
    el("p", {}, reason.text), reason.hint ? el("p", {}, reason.hint) : null)));
}

/* ---- Time ------------------------------------------------------------------------------------- */

function showTime() {
  const node = section("time", "Time", "Where the step goes", "All parts are exposed seconds: they add up to the step.");
  const box = card(node);
  const slowest = data.ours && exe.pipeline_par > 1 ? `stage ${count(stats.slowest_stage)}` : "";
  stacks(box, { rows: [{ label: "Step", note: slowest, values: data.time, total: timeTotal }], parts: timeParts,
    steps: timeSteps, text: seconds, height: 26,
    aria: `Step of ${seconds(timeTotal)}: ${Object.entries(data.time).map(([k, v]) => `${k} ${share(v / timeTotal)}`).join(", ")}` });
  const rows = timeParts.filter((part) => data.time[part.key] > 0).map((part) => ({ part, value: data.time[part.key] }));
  box.append(table({ caption: "Parts of the step", rows, sort: 1, columns: [
    { label: "Part", value: (r) => r.part.label, show: (r) => [swatch(r.part.color), r.part.label] },
    { label: "Time", number: true, value: (r) => r.value, show: (r) => seconds(r.value) },
    { label: "Share", number: true, value: (r) => r.value, show: (r) => meter(share(r.value / timeTotal), r.value / timeTotal) },
    { label: "What it is", wrap: true, show: (r) => (timeLooks[r.part.key] || [])[1] || "" },
  ] }).node);
  if (communication.length) {
    box.append(el("h3", { style: "margin-top:18px" }, "Communication of one step"),
      table({ caption: "Communication of one step", rows: communication, sort: 1, columns: [
        { label: "Group", value: (r) => r[0], show: (r) => r[0] },
        { label: "On the link", number: true, value: (r) => r[1], show: (r) => seconds(r[1]) },
        { label: "Exposed", number: true, value: (r) => r[2], show: (r) => seconds(r[2]) },
        { label: "Exposed / link", number: true, value: (r) => r[2] / r[1], show: (r) => meter(share(r[2] / r[1]), r[2] / r[1], "warm") },
      ] }).node);
  }
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

/* ---- The pipeline ----------------------------------------------------------------------------- */

const kindNames = ["forward", "activation gradient", "weight gradient", "backward"];

function mixed(color, other, part) {
  return d3.interpolateRgb(color, other)(part);
}

/* Kind and chunk by colour: darker to lighter by chunk. */
function timelineColors(chunks) {
  const bases = [["blue1", "blue3"], ["orange1", "orange3"], ["green", "green2"], ["orange1", "orange3"]];
  return bases.map(([from, to]) => d3.range(chunks).map((i) =>
    mixed(paintOf(from), paintOf(to), chunks > 1 ? (0.75 * i) / (chunks - 1) : 0.15)));
}

/* Where the schedule and the closed form of the step differ, both. */
function sayClosedForm(t) {
  const tail = ["dp_comm_exposed_time", "optim_step_time", "straggler_time", "overhead_time"];
  const closed = timeTotal - d3.sum(tail, (key) => stats[key] || 0);
  const differ = t.shown === t.microbatches && Math.abs(t.end_s / closed - 1) > 0.005;
  return differ ? ` The schedule ends after ${seconds(t.end_s)}; the closed form, of which the step is made, says ${seconds(closed)}.` : "";
}

function showPipeline() {
  const t = data.timeline;
  if (t.stages < 2) return;
  const part = t.shown < t.microbatches ? ` The first ${count(t.shown)} of ${count(t.microbatches)} micro-batches are drawn: the steady part repeats.` : " Every operation of the step is drawn.";
  const node = section("pipeline", "Pipeline", "The pipeline, micro-batch by micro-batch",
    t.reason ? `There is no picture: ${t.reason}.`
      : `Schedule ${t.schedule}: ${count(t.stages)} stages${t.chunks > 1 ? `, ${count(t.chunks)} chunks each` : ""}.${part}${sayClosedForm(t)}`);
  node.querySelector(".lead").append(el("span", { class: "screen" }, " Zoom with the buttons, + and −, a double click or Ctrl + wheel; drag to move."));
  if (t.reason || !t.start.length) return;
  const box = card(node);
  const events = d3.range(t.stages).map(() => []);
  t.start.forEach((start, i) => events[t.stage[i]].push(i));
  for (const list of events) list.sort((a, b) => t.start[a] - t.start[b]);
  /* Both halves of an overlapped pair have its times: they share the height. */
  const half = new Uint8Array(t.start.length);
  for (const list of events) {
    for (let k = 1; k < list.length; k++) {
      const [a, b] = [list[k - 1], list[k]];
      if (t.start[a] === t.start[b] && t.dur[a] === t.dur[b] && t.dur[a] > 0) {
        half[a] = t.kind[a] === 0 ? 1 : 2;
        half[b] = t.kind[a] === 0 ? 2 : 1;
      }
    }
  }
  const end = t.end_s;
  const labelWidth = () => (box.clientWidth < 520 ? 30 : 62);
  const returned = events[0].find((i) => t.kind[i] !== 0);
  const warm = returned === undefined ? end : (t.start[returned] + t.dur[returned]) * 1.15;
  const opening = Math.min(end, Math.max(warm, end / 40));
  let [from, to] = [0, opening];
  let view, over;
  const rowHeight = Math.max(5, Math.min(22, 420 / t.stages));
  const rowGap = rowHeight > 12 ? 3 : rowHeight > 8 ? 1 : 0;
  const height = t.stages * rowHeight + 24;

  const tally = el("span", { class: "right", "aria-live": "polite" });
  const zoom = (factor, at = 0.5) => {
    const middle = from + (to - from) * at;
    const span = Math.min(end, Math.max(end / 1e5, (to - from) * factor));
    move(middle - span * at, span);
  };
  const move = (start, span = to - from) => {
    from = Math.max(0, Math.min(end - span, start));
    to = from + span;
    view.redraw();
    over.redraw();
  };
  const tools = el("div", { class: "tools" }, [["Zoom in", () => zoom(0.5)], ["Zoom out", () => zoom(2)],
    ["Whole step", () => move(0, end)], ["Warm-up", () => move(0, opening)],
    ["Cool-down", () => move(end - opening, opening)]].map(([label, act]) =>
    el("button", { type: "button", onclick: act }, label)), tally);
  const area_node = el("div", { tabindex: "0", role: "group", "aria-roledescription": "timeline",
    "aria-label": `Timeline of ${t.stages} stages over ${seconds(end)}. Plus and minus zoom, arrows move, Home shows all.` });
  box.append(tools, area_node);

  const visible = (list) => {
    const lo = d3.bisector((i) => t.start[i] + t.dur[i]).right(list, from);
    const hi = d3.bisector((i) => t.start[i]).left(list, to);
    return [lo, hi];
  };

  function boxes(context, x, top, high, colors, list, lo, hi, labels) {
    for (let k = lo; k < hi; k++) {
      const i = list[k];
      const x0 = Math.max(x.range()[0], x(t.start[i]));
      const wide = Math.min(x.range()[1], x(t.start[i] + t.dur[i])) - x0;
      const tall = half[i] ? high / 2 : high;
      const y = half[i] === 2 ? top + tall : top;
      context.fillStyle = colors[t.kind[i]][t.chunk[i] % colors[0].length];
      context.fillRect(x0, y, Math.max(wide - (wide > 4 ? 0.8 : 0), 0.3), tall);
      if (labels && wide > 20 && tall > 8) {
        context.fillStyle = inkOn(d3.lab(context.fillStyle));
        context.fillText(String(t.microbatch[i]), x0 + wide / 2, y + tall / 2 + 0.5);
      }
    }
  }

  view = canvas(area_node, height, (context, width) => {
    const left = labelWidth();
    const colors = timelineColors(t.chunks);
    const x = d3.scaleLinear([from, to], [left, width - 2]);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    let drawn = 0;
    events.forEach((list, s) => {
      const top = s * rowHeight;
      context.fillStyle = paintOf("grid");
      context.fillRect(left, top, width - 2 - left, rowHeight - rowGap);
      if (rowHeight > 10 || s % Math.ceil(14 / rowHeight) === 0) {
        context.fillStyle = paintOf("ink2");
        context.textAlign = "right";
        context.fillText(left > 40 ? `stage ${s}` : String(s), left - 6, top + rowHeight / 2);
      }
      context.textAlign = "center";
      const [lo, hi] = visible(list);
      drawn += hi - lo;
      boxes(context, x, top, rowHeight - rowGap, colors, list, lo, hi, true);
    });
    context.fillStyle = paintOf("ink2");
    const span = axisLabels(to, timeSteps);
    for (const tick of d3.ticks(from / span.unit, to / span.unit, Math.max(2, width / 130))) {
      context.textAlign = tick === 0 ? "left" : "center";
      context.fillText(span.text(tick * span.unit), Math.min(width - 20, x(tick * span.unit)), height - 10);
    }
    tally.textContent = `${count(drawn)} of ${count(t.start.length)} operations, ${seconds(to - from)} shown`;
  }, { style: "cursor:grab" });

  const miniHeight = Math.min(48, Math.max(24, t.stages * 4));
  over = canvas(box, miniHeight, (context, width) => {
    const left = labelWidth();
    const colors = timelineColors(t.chunks);
    const x = d3.scaleLinear([0, end], [left, width - 2]);
    events.forEach((list, s) => {
      boxes(context, x, (s * miniHeight) / t.stages, miniHeight / t.stages, colors, list, 0, list.length, false);
    });
    context.strokeStyle = paintOf("ink");
    context.lineWidth = 1.5;
    context.strokeRect(x(from), 0.75, Math.max(3, x(to) - x(from)), miniHeight - 1.5);
  }, { class: "screen", style: "margin-top:8px;cursor:pointer" });

  legend(box, d3.range(4).filter((kind) => t.kind.includes(kind)).map((kind) => ({
    label: t.chunks > 1 ? `${kindNames[kind]}, darker to lighter by chunk` : kindNames[kind],
    color: colorOf(["blue1", "orange1", "green", "orange1"][kind]) })).concat([{ label: "idle", color: colorOf("grid") }]));

  const timeAt = (event) => {
    const area = view.node.getBoundingClientRect();
    const left = labelWidth();
    return (event.clientX - area.left - left) / (area.width - 2 - left);
  };
  let dragged = null;
  view.node.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse") dragged = { x: timeAt(event), from };
    if (dragged) view.node.setPointerCapture(event.pointerId);
  });
  view.node.addEventListener("pointerup", () => { dragged = null; });
  view.node.addEventListener("pointerleave", hideTip);
  view.node.addEventListener("pointermove", (event) => {
    const at = timeAt(event);
    if (dragged) return move(dragged.from - (at - dragged.x) * (to - from));
    const area = view.node.getBoundingClientRect();
    const list = events[Math.floor((event.clientY - area.top) / rowHeight)];
    if (!list || at < 0) return hideTip();
    const time = from + at * (to - from);
    const k = d3.bisector((i) => t.start[i]).right(list, time) - 1;
    const low = (event.clientY - area.top) % rowHeight > rowHeight / 2;
    const i = half[list[k]] && (half[list[k]] === 2) !== low ? list[k - 1] : list[k];
    if (i === undefined || t.start[i] + t.dur[i] < time) return hideTip();
    showTip(event.clientX, event.clientY, `${kindNames[t.kind[i]]} of micro-batch ${t.microbatch[i]}`, [
      ["stage", count(t.stage[i])], ...(t.chunks > 1 ? [["chunk", count(t.chunk[i])]] : []),
      ["start", seconds(t.start[i])], ["takes", seconds(t.dur[i])]]);
  });
  view.node.addEventListener("dblclick", (event) => zoom(0.5, Math.max(0, timeAt(event))));
  view.node.addEventListener("wheel", (event) => {
    if (!(event.ctrlKey || event.shiftKey || document.activeElement === area_node)) return;
    event.preventDefault();
    zoom(event.deltaY + event.deltaX > 0 ? 1.25 : 0.8, Math.max(0, timeAt(event)));
  }, { passive: false });
  const pick = (event) => {
    const area = over.node.getBoundingClientRect();
    const left = labelWidth();
    move(((event.clientX - area.left - left) / (area.width - 2 - left)) * end - (to - from) / 2);
  };
  over.node.addEventListener("pointerdown", (event) => { over.node.setPointerCapture(event.pointerId); pick(event); });
  over.node.addEventListener("pointermove", (event) => { if (event.buttons) pick(event); });
  const keys = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), Home: () => move(0, end),
    ArrowLeft: () => move(from - (to - from) / 8), ArrowRight: () => move(from + (to - from) / 8),
    PageUp: () => move(from - (to - from)), PageDown: () => move(from + (to - from)) };
  area_node.addEventListener("keydown", (event) => {
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  const busy = events.map((list) => d3.sum(list, (i) => t.dur[i]));
  if (!["dualpipe", "dualpipe_v"].includes(t.schedule)) {
    box.append(folded("Show as table", table({ caption: "Stages over the picture", rows: d3.range(t.stages), columns: [
      { label: "Stage", number: true, show: (s) => count(s) }, ...stageColumns(),
      { label: "Operations", number: true, show: (s) => count(events[s].length) },
      { label: "Busy", number: true, show: (s) => seconds(busy[s]) },
      { label: "Idle", number: true, show: (s) => seconds(Math.max(0, end - busy[s])) },
      { label: "Idle share", number: true, show: (s) => share(Math.max(0, 1 - busy[s] / end)) },
    ] }).node));
  }
}

/* What a list of stages says of them, if they differ in it. */
function stageColumns() {
  if (!listed) return [];
  const differ = (key) => listed.stages.some((stage) => stage[key] !== listed.stages[0][key]);
  return [
    ...(stages.length === listed.stages.length ? [{ label: "Blocks", number: true, show: (s) => count(stages[s].blocks) }] : []),
    ...(differ("system") ? [{ label: "System", show: (s) => listed.stages[s].system }] : []),
    ...(differ("recompute") ? [{ label: "Recompute", show: (s) => listed.stages[s].recompute }] : []),
  ];
}

/* ---- Memory ----------------------------------------------------------------------------------- */

const spaceKeys = [["weight_space", "weights"], ["act_space", "activations"], ["working_space", "block at hand"],
  ["weight_grad_space", "weight gradients"], ["optimizer_space", "optimizer"], ["head_space", "head"],
  ["framework_space", "framework"], ["mem_overhead", "fragmentation, reserve"]];

function memoryRow(stage, label) {
  return { label, note: `${short(stage.in_flight)} micro-batch${stage.in_flight === 1 ? "" : "es"}`,
    values: Object.fromEntries(spaceKeys.map(([key, part]) => [part, stage[key] || 0])), total: stage.mem_tier1 };
}

/* Stages that follow one another and hold as much share a bar. */
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
    !many ? "What one processor holds at its peak."
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
    const second = card(node, el("h3", {}, "Second tier"));
    const two = [{ label: "Processor", note: "offloaded", values: data.memory2, total: stats.proc_mem_tier2_cap_req }];
    stacks(second, { rows: two, parts: memoryParts, steps: byteSteps, text: bytes, aria: "Second memory tier",
      limit: stats.mem_tier2_capacity > 0 ? { value: stats.mem_tier2_capacity, label: `${bytes(stats.mem_tier2_capacity)} capacity` } : null });
    second.append(partsTable(two, memoryParts, bytes, "Second memory tier"));
  }
}

/* ---- Operators -------------------------------------------------------------------------------- */

const passes = [["fw", "forward", "blue1"], ["agrad", "activation grad", "orange1"], ["wgrad", "weight grad", "green"]];

/* One row per operation and pass. */
const operations = layers.flatMap((layer) => passes.map(([key, pass, color]) => ({
  name: layer.name, pass, color, time: layer[`${key}_processing_time`] || 0, flop: layer[`${key}_flops`] || 0,
  moved: layer[`${key}_mem_accessed`] || 0,
  onLink: (key === "fw" ? layer.baseblock_fw_tp_comm_time : key === "agrad" ? layer.baseblock_bw_tp_comm_time : 0) || 0,
}))).filter((o) => o.time > 0 || o.onLink > 0);
const operationsTotal = d3.sum(operations, (o) => o.time);

/* Roofs: the matrix engine in the formats in use, the vector engine, the memory. */
function roofs() {
  const formats = [...new Set([exe.matrix_datatype && exe.matrix_datatype !== "auto" ? exe.matrix_datatype : exe.datatype, exe.datatype])];
  const list = [];
  for (const format of formats) {
    const engine = (system.matrix || {})[format];
    if (engine && engine.tflops) list.push({ label: `matrix ${format}`, rate: engine.tflops * 1e12, matrix: true });
  }
  const vector = (system.vector || {})[exe.datatype];
  if (vector && vector.tflops) list.push({ label: `vector ${exe.datatype}`, rate: vector.tflops * 1e12 });
  return list;
}

/* What would take longer at its peak. */
function boundOf(o, peak, memory) {
  if (!(o.time > 0)) return "network";
  const [compute, traffic] = [o.flop / peak, o.moved / memory];
  return compute === 0 && traffic === 0 ? "latency" : compute > traffic ? "arithmetic" : "memory";
}

function showRoofline() {
  const list = roofs();
  const memory = (system.mem1.GBps || 0) * 1e9;
  const points = operations.filter((o) => o.flop > 0 && o.moved > 0 && o.time > 0);
  const peak = d3.max(list, (roof) => roof.rate);
  if (!points.length || !list.length || !memory) return;
  const node = section("roofline", "Roofline", "Roofline of one block", "Where each operation sits against the machine’s limits, for one micro-batch. Left of the bend memory decides, right of it arithmetic.");
  const box = card(node);
  /* Operations at the same place become one disc. */
  const merged = d3.nest().key((o) => `${o.pass}|${Math.round(20 * Math.log10(o.flop / o.moved))}|${Math.round(20 * Math.log10(o.flop / o.time))}`)
    .entries(points).map(({ values }) => ({ values, color: values[0].color, pass: values[0].pass, time: d3.sum(values, (o) => o.time),
      at: d3.sum(values, (o) => o.flop) / d3.sum(values, (o) => o.moved), rate: d3.sum(values, (o) => o.flop) / d3.sum(values, (o) => o.time) }))
    .sort((a, b) => b.time - a.time);
  const longest = merged[0].time;
  const height = 400;
  picture(box, `Roofline: ${merged.slice(0, 4).map((m) => `${m.values[0].name} ${m.pass} at ${amount(m.at)} FLOP per byte reaches ${amount(m.rate)}FLOP/s`).join("; ")}`, (svg, width) => {
    const [left, right, top, bottom] = [58, 14, 24, height - 44];
    const xs = d3.extent(merged, (m) => m.at);
    const x = d3.scaleLog([Math.min(xs[0], 1) / 2, Math.max(xs[1], peak / memory) * 3], [left, width - right]);
    const y = d3.scaleLog([Math.min(d3.min(merged, (m) => m.rate), memory) / 2, peak * 1.7], [bottom, top]);
    const decades = (scale) => d3.range(Math.ceil(Math.log10(scale.domain()[0])), Math.floor(Math.log10(scale.domain()[1])) + 1).map((e) => 10 ** e);
    const grid = svg.append("g").attr("class", "grid");
    for (const d of decades(x)) {
      grid.append("line").attr("x1", x(d)).attr("x2", x(d)).attr("y1", top).attr("y2", bottom);
      svg.append("text").attr("x", x(d)).attr("y", bottom + 18).attr("text-anchor", "middle").text(short(d));
    }
    for (const d of decades(y)) {
      grid.append("line").attr("x1", left).attr("x2", width - right).attr("y1", y(d)).attr("y2", y(d));
      svg.append("text").attr("x", left - 8).attr("y", y(d) + 4).attr("text-anchor", "end").text(short(d / 1e12));
    }
    svg.append("text").attr("x", 0).attr("y", 12).text("TFLOP/s");
    svg.append("text").attr("x", width - right).attr("y", bottom + 36).attr("text-anchor", "end").text("arithmetic intensity, FLOP/byte");
    const bend = peak / memory;
    const start = Math.max(x.domain()[0], y.domain()[0] / memory);
    svg.append("path").attr("d", `M${x(start)},${y(start * memory)}L${x(bend)},${y(peak)}`)
      .style("stroke", "var(--ink)").style("stroke-dasharray", "5 3").style("fill", "none");
    const slope = (Math.atan2(y(peak) - y(start * memory), x(bend) - x(start)) * 180) / Math.PI;
    const place = Math.sqrt(start * bend);
    svg.append("text").attr("transform", `translate(${x(place)},${y(place * memory)}) rotate(${slope}) translate(0,-7)`)
      .attr("text-anchor", "middle").text(`memory ${short(memory / 1e12)} TB/s`);
    for (const roof of list) {
      svg.append("line").attr("x1", x(roof.rate / memory)).attr("x2", width - right).attr("y1", y(roof.rate)).attr("y2", y(roof.rate))
        .style("stroke", roof.matrix ? "var(--ink)" : "var(--ink3)").style("stroke-dasharray", roof.matrix ? "5 3" : "2 3");
      svg.append("text").attr("x", width - right).attr("y", y(roof.rate) - 6).attr("text-anchor", "end").text(`${roof.label} ${short(roof.rate / 1e12)} TFLOP/s`);
    }
    const placed = list.map((roof) => [width - right - 150, y(roof.rate) - 6, 150]);
    for (const m of merged) {
      const radius = 3 + 10 * Math.sqrt(m.time / longest);
      const disc = svg.append("circle").attr("cx", x(m.at)).attr("cy", y(m.rate)).attr("r", radius)
        .style("fill", colorOf(m.color)).style("fill-opacity", 0.78).style("stroke", "var(--card)").node();
      disc.addEventListener("pointermove", (event) => showTip(event.clientX, event.clientY,
        [...new Set(m.values.map((o) => o.name))].slice(0, 6).join(", "), [["pass", m.pass], ["time", seconds(m.time)],
          ["share of all", share(m.time / operationsTotal)], ["intensity", `${short(m.at)} FLOP/byte`], ["rate", `${amount(m.rate)}FLOP/s`]], colorOf(m.color)));
      disc.addEventListener("pointerleave", hideTip);
    }
    let named = 0;
    for (const m of merged.slice(0, 16)) {
      const text = clipped([...new Set(m.values.map((o) => o.name))].join(", "), 26);
      const wide = 6.6 * text.length;
      const spots = [[x(m.at) - wide - 16, y(m.rate) + 4], [x(m.at) + 16, y(m.rate) + 4],
        [x(m.at) - wide - 10, y(m.rate) + 22], [x(m.at) + 10, y(m.rate) + 22]];
      const free = ([px, py]) => px > left && px + wide < width - right
        && !placed.some(([qx, qy, w]) => Math.abs(qy - py) < 15 && px < qx + w + 8 && qx < px + wide + 8)
        && !merged.some((o) => o !== m && o.time > longest / 30 && Math.abs(y(o.rate) - py + 4) < 14
          && x(o.at) > px - 8 && x(o.at) < px + wide + 8);
      const spot = spots.find(free);
      if (!spot || named >= 6) continue;
      named++;
      placed.push([spot[0], spot[1], wide]);
      svg.append("text").attr("class", "strong").attr("x", spot[0]).attr("y", spot[1]).text(text);
    }
    return height;
  });
  legend(box, passes.filter((p) => points.some((o) => o.pass === p[1])).map(([, label, color]) => ({ label, color: colorOf(color) })));
  box.append(el("p", { class: "note" }, "Area of a disc: its time. Dashed: peaks of the data sheet."));
}

function showOperations() {
  if (!operations.length) return;
  const memory = (system.mem1.GBps || 0) * 1e9;
  const peak = d3.max(roofs(), (roof) => roof.rate) || 1;
  const longest = d3.max(operations, (o) => o.time);
  const node = section("layers", "Operations", data.ours ? "Every operation of the blocks and the ends" : "Every operation of a block",
    "For one micro-batch on one processor; collectives have a time on the link, hidden or not.");
  const box = card(node);
  const anyLink = operations.some((o) => o.onLink > 0);
  box.append(table({ caption: "Operations", rows: operations, sort: 2, first: 14, search: "Filter, e.g. softmax", columns: [
    { label: "Operation", value: (o) => o.name, show: (o) => o.name },
    { label: "Pass", value: (o) => o.pass, show: (o) => [swatch(colorOf(o.color)), o.pass] },
    { label: "Time", number: true, value: (o) => o.time, show: (o) => meter(seconds(o.time), o.time / longest) },
    { label: "Share", number: true, value: (o) => o.time, show: (o) => share(o.time / operationsTotal) },
    ...(anyLink ? [{ label: "On the link", number: true, value: (o) => o.onLink, show: (o) => (o.onLink ? seconds(o.onLink) : "–") }] : []),
    { label: "GFLOP", number: true, value: (o) => o.flop, show: (o) => (o.flop ? num(o.flop / 1e9) : "–") },
    { label: "MB moved", number: true, value: (o) => o.moved, show: (o) => (o.moved ? num(o.moved / 1e6) : "–") },
    { label: "FLOP/byte", number: true, value: (o) => o.flop / o.moved, show: (o) => num(o.moved ? o.flop / o.moved : NaN) },
    { label: "TFLOP/s", number: true, value: (o) => o.flop / o.time, show: (o) => num(o.time ? o.flop / o.time / 1e12 : NaN) },
    { label: "Bound by", value: (o) => boundOf(o, peak, memory), show: (o) => boundOf(o, peak, memory) },
  ] }).node);
}

/* ---- The layout ------------------------------------------------------------------------------- */

const plain = (value) => (value === true ? "yes" : value === false ? "no" : Array.isArray(value) ? value.join(", ") : typeof value === "number" ? count(value) : String(value));

function showLayout() {
  const node = section("layout", "Layout", "The layout", "What was run; fields that are left out of the files are not listed.");
  const box = el("div", { class: "cols even" });
  node.append(box);
  for (const [title, object] of [["Execution", exe], ["Model", app]]) {
    const rows = Object.entries(object).filter(([, value]) => typeof value !== "object" || Array.isArray(value));
    const first = title === "Execution" ? 12 : 16;
    card(box, el("h3", {}, title), table({ caption: title, rows, sort: null, first, columns: [
      { label: "Field", show: (r) => r[0] }, { label: "Value", number: true, show: (r) => plain(r[1]) }] }).node);
  }
  const command = names.command ? commandText(names.command) : "";
  card(node, el("div", { class: "tools", style: "margin:0" }, el("h3", {}, command ? "The same run again" : "The run as JSON"),
    el("span", { class: "right" }, command ? [copyButton("Copy", () => command, "Copy the command"), " "] : null,
      el("button", { type: "button", onclick: () => download("run.json", JSON.stringify(run, null, 2)) }, "Save JSON"))),
  command ? el("pre", {}, command) : null);
}

if (isNumber(timeTotal) && timeTotal > 0) showTime();
showPipeline();
showMemory();
showRoofline();
if (isNumber(timeTotal) && timeTotal > 0) showMore();
showOperations();
showLayout();
footer([["Program", `calc ${run.version}${run.compat === "none" ? "" : `, arithmetic of ${run.compat}`}`],
  ["Model", names.application], ["Machine", names.system], ["Execution", names.execution],
  ["Charts", `D3 ${d3.version}, Copyright Mike Bostock, BSD 3-Clause`],
  ["File", "one file, no network; its numbers are those of calc run --json"]]);
setTheme("auto");
document.documentElement.dataset.ready = "yes";
