/* The pipeline of a run, operation by operation. */
"use strict";

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
