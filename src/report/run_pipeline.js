/* The pipeline of a run, operation by operation. */
"use strict";

/* ---- The picture ------------------------------------------------------------------------------ */

function showPipeline() {
  const t = data.timeline;
  const { step } = data;
  if (t.stages < 2) return;
  const node = section("pipeline", "Pipeline", "The pipeline, micro-batch by micro-batch",
    t.reason ? `There is no picture: ${t.reason}.`
      : `Schedule ${t.schedule}: ${count(t.stages)} stages${t.chunks > 1 ? `, ${count(t.chunks)} chunks each` : ""}.${sayEnd(t, step)}`);
  if (t.reason || !t.start.length) return;
  node.querySelector(".lead").append(el("span", { class: "screen" }, " Zoom with the buttons, + and −, a double click or Ctrl + wheel; drag to move."));
  drawPipeline(card(node), t, step);
}

function drawPipeline(box, t, step) {
  const events = operationsByStage(t);
  const half = halvesOf(t, events);
  const after = d3.range(t.stages).map((s) => afterOf(t, step, s));
  const end = step ? step.end_s : t.end_s;
  const labelWidth = () => (box.clientWidth < 520 ? 30 : 62);
  const returned = events[0].find((i) => t.kind[i] !== 0);
  const warm = returned === undefined ? end : (t.start[returned] + t.dur[returned]) * 1.15;
  const opening = Math.min(end, Math.max(warm, end / 40));
  let [from, to] = [0, opening];
  let chosen = step ? Math.min(t.stages - 1, Math.round(stats.peak_stage) || 0) : -1;
  let view, over, held;
  const rowHeight = Math.max(5, Math.min(22, 420 / t.stages));
  const rowGap = rowHeight > 12 ? 3 : rowHeight > 8 ? 1 : 0;
  const height = t.stages * rowHeight + 24;
  const known = { of: "" };
  const palette = () => {
    const of = document.documentElement.dataset.theme;
    if (known.of !== of) Object.assign(known, { of, kinds: timelineColors(t.chunks) });
    return known.kinds;
  };

  const tally = el("span", { class: "right", "aria-live": "polite" });
  const zoom = (factor, at = 0.5) => {
    const middle = from + (to - from) * at;
    const span = Math.min(end, Math.max(end / 1e5, (to - from) * factor));
    move(middle - span * at, span);
  };
  const move = (start, span = to - from) => {
    hideTip();
    from = Math.max(0, Math.min(end - span, start));
    to = from + span;
    for (const one of [view, over, held]) if (one) one.redraw();
  };
  const choose = (s) => {
    chosen = Math.max(0, Math.min(t.stages - 1, s));
    if (held) held.redraw();
  };
  const tools = el("div", { class: "tools" }, [["Zoom in", () => zoom(0.5)], ["Zoom out", () => zoom(2)],
    ["Whole step", () => move(0, end)], ["Warm-up", () => move(0, opening)],
    ["End", () => move(end - opening, opening)],
    ["Save trace", () => download("trace.json", JSON.stringify(traceOf(t, step, events, half)))]].map(([label, act]) =>
    el("button", { type: "button", onclick: act }, label)), tally);
  const area_node = el("div", { tabindex: "0", role: "group", "aria-roledescription": "timeline",
    "aria-label": `Timeline of ${t.stages} stages over ${seconds(end)}. Plus and minus zoom, left and right move, Home shows all${step ? ", up and down choose the stage whose memory is shown" : ""}.` });
  box.append(tools, area_node);

  const visible = (list) => {
    const lo = d3.bisector((i) => t.start[i] + t.dur[i]).right(list, from);
    const hi = d3.bisector((i) => t.start[i]).left(list, to);
    return [lo, hi];
  };

  function piece(context, x, color, start, finish, y, tall) {
    const x0 = Math.max(x.range()[0], x(start));
    const wide = Math.min(x.range()[1], x(finish)) - x0;
    if (wide <= 0) return;
    context.fillStyle = color;
    context.fillRect(x0, y, Math.max(wide, 0.3), tall);
  }

  function boxes(context, x, top, high, list, lo, hi, labels) {
    const colors = palette();
    for (let k = lo; k < hi; k++) {
      const i = list[k];
      const x0 = Math.max(x.range()[0], x(t.start[i]));
      const wide = Math.min(x.range()[1], x(t.start[i] + t.dur[i])) - x0;
      const tall = half[i] ? high / 2 : high;
      const y = half[i] === 2 ? top + tall : top;
      const own = colors[t.kind[i]][t.chunk[i] % colors[0].length];
      context.fillStyle = own;
      context.fillRect(x0, y, Math.max(wide - (wide > 4 ? 0.8 : 0), 0.3), tall);
      if (labels && wide > 6 && step) {
        const parts = partsOf(t, step, i);
        const scale = t.dur[i] / (d3.sum(parts, (part) => part[1]) || 1);
        let at = t.start[i];
        for (const [name, value] of parts) {
          const color = partColor(name);
          if (color) piece(context, x, paintOf(color), at, at + value * scale - (wide > 4 ? 0.8 / (x(1) - x(0)) : 0), y, tall);
          at += value * scale;
        }
      }
      if (labels && wide > 20 && tall > 8) {
        context.fillStyle = inkOn(d3.lab(own));
        context.fillText(String(t.microbatch[i]), x0 + wide / 2, y + tall / 2 + 0.5);
      }
    }
  }

  const scaleOf = (width) => d3.scaleLinear([from, to], [labelWidth(), width - 2]);

  view = canvas(area_node, height, (context, width) => {
    const left = labelWidth();
    const x = scaleOf(width);
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
      boxes(context, x, top, rowHeight - rowGap, list, lo, hi, true);
      for (const one of after[s]) piece(context, x, paintOf(afterColor(one.name)), one.start, one.end, top, rowHeight - rowGap);
    });
    context.fillStyle = paintOf("ink2");
    for (const tick of windowTicks(from, to, Math.max(2, width / 130))) {
      context.textAlign = x(tick.at) < left + 40 ? "left" : x(tick.at) > width - 40 ? "right" : "center";
      context.fillText(tick.text, x(tick.at), height - 10);
    }
    tally.textContent = `${count(drawn)} of ${count(t.start.length)} operations, ${seconds(to - from)} shown`;
  }, { style: "cursor:grab" });

  if (step) held = drawMemory(area_node, t, step, events, () => [chosen, from, to, labelWidth()]);

  const miniHeight = Math.min(48, Math.max(24, t.stages * 4));
  over = canvas(box, miniHeight, (context, width) => {
    const left = labelWidth();
    const x = d3.scaleLinear([0, end], [left, width - 2]);
    events.forEach((list, s) => {
      const [top, high] = [(s * miniHeight) / t.stages, miniHeight / t.stages];
      boxes(context, x, top, high, list, 0, list.length, false);
      for (const one of after[s]) piece(context, x, paintOf(afterColor(one.name)), one.start, one.end, top, high);
    });
    context.strokeStyle = paintOf("ink");
    context.lineWidth = 1.5;
    context.strokeRect(x(from), 0.75, Math.max(3, x(to) - x(from)), miniHeight - 1.5);
  }, { class: "screen", style: "margin-top:8px;cursor:pointer" });

  pipelineLegend(box, t, step, after);

  /* ---- Pointer and keys ---- */

  const timeAt = (event) => {
    const area = view.node.getBoundingClientRect();
    const left = labelWidth();
    return (event.clientX - area.left - left) / (area.width - 2 - left);
  };
  const rowAt = (event) => Math.floor((event.clientY - view.node.getBoundingClientRect().top) / rowHeight);
  function tell(event) {
    const area = view.node.getBoundingClientRect();
    const s = rowAt(event);
    const list = events[s];
    const at = timeAt(event);
    if (!list || at < 0) return hideTip();
    const time = from + at * (to - from);
    const one = after[s].find((piece_) => piece_.start <= time && time < piece_.end);
    if (one) return showTip(event.clientX, event.clientY, one.name, [["stage", count(s)], ["start", seconds(one.start)], ["takes", seconds(one.end - one.start)]]);
    const k = d3.bisector((i) => t.start[i]).right(list, time) - 1;
    const low = (event.clientY - area.top) % rowHeight > rowHeight / 2;
    const i = half[list[k]] && (half[list[k]] === 2) !== low ? list[k - 1] : list[k];
    if (i === undefined || t.start[i] + t.dur[i] < time) return hideTip();
    const parts = partsOf(t, step, i);
    return showTip(event.clientX, event.clientY, `${kindNames[t.kind[i]]} of micro-batch ${t.microbatch[i]}`, [
      ["stage", count(t.stage[i])], ...(t.chunks > 1 ? [["chunk", count(t.chunk[i])]] : []),
      ["start", seconds(t.start[i])], ["takes", seconds(t.dur[i])],
      ...(parts.length > 1 ? parts.sort((a, b) => b[1] - a[1]).slice(0, 6).map(([name, value]) => [name, seconds(value)]) : [])]);
  }
  let dragged = null;
  view.node.addEventListener("pointerdown", (event) => {
    dragged = { x: timeAt(event), from, moved: false };
    if (event.pointerType !== "mouse") tell(event);
    view.node.setPointerCapture(event.pointerId);
  });
  view.node.addEventListener("pointerup", (event) => {
    if (dragged && !dragged.moved) choose(rowAt(event));
    dragged = null;
  });
  view.node.addEventListener("pointercancel", () => { dragged = null; });
  view.node.addEventListener("pointerleave", hideTip);
  view.node.addEventListener("pointermove", (event) => {
    if (!dragged) return tell(event);
    const by = timeAt(event) - dragged.x;
    if (Math.abs(by) > 0.01) dragged.moved = true;
    return dragged.moved ? move(dragged.from - by * (to - from)) : undefined;
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
    ArrowUp: () => choose(chosen - 1), ArrowDown: () => choose(chosen + 1),
    PageUp: () => move(from - (to - from)), PageDown: () => move(from + (to - from)) };
  area_node.addEventListener("keydown", (event) => {
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  pipelineTable(box, t, events, half);
}

/* The memory of a stage over the window of the timeline. */
function drawMemory(parent, t, step, events, window_) {
  const known = new Map();
  const capacity = stats.mem_tier1_capacity;
  const high = 64;
  return canvas(parent, high, (context, width) => {
    const [s, from, to, left] = window_();
    if (!known.has(s)) known.set(s, memoryOf(t, step, events[s], s));
    const turns = known.get(s);
    const most = d3.max(turns, (turn) => turn[1]);
    const x = d3.scaleLinear([from, to], [left, width - 2]);
    const y = d3.scaleLinear([0, Math.max(most, capacity > 0 ? capacity : 0) * 1.05], [high - 2, 12]);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "right";
    context.fillStyle = paintOf("ink2");
    context.fillText(left > 40 ? "memory" : "GiB", left - 6, high / 2 - 7);
    context.fillText(left > 40 ? `stage ${s}` : String(s), left - 6, high / 2 + 7);
    const first = Math.max(0, d3.bisector((turn) => turn[0]).right(turns, from) - 1);
    context.beginPath();
    context.moveTo(left, y(0));
    let last = turns[first][1];
    for (let k = first; k < turns.length && turns[k][0] <= to; k++) {
      const at = Math.max(left, x(turns[k][0]));
      context.lineTo(at, y(last));
      last = turns[k][1];
      context.lineTo(at, y(last));
    }
    context.lineTo(width - 2, y(last));
    context.lineTo(width - 2, y(0));
    context.fillStyle = paintOf("accent-soft");
    context.fill();
    context.strokeStyle = paintOf("accent");
    context.stroke();
    if (capacity > 0) {
      context.setLineDash([3, 3]);
      context.strokeStyle = paintOf("ink");
      context.strokeRect(left, y(capacity), width - 2 - left, 0);
      context.setLineDash([]);
    }
    context.fillStyle = paintOf("ink");
    context.fillText(`at most ${bytes(most)}${capacity > 0 ? ` of ${bytes(capacity)}` : ""}`, width - 8, 6);
  }, { style: "margin-top:2px" });
}

function pipelineLegend(box, t, step, after) {
  const kinds = d3.range(4).filter((kind) => t.kind.includes(kind)).map((kind) => ({
    label: t.chunks > 1 ? `${kindNames[kind]}, darker to lighter by chunk` : kindNames[kind], color: colorOf(kindColors[kind][0]) }));
  const seen = new Set();
  if (step) {
    for (const stage of step.stages) for (const pass of stage.passes) for (const list of [pass.fw, pass.bw, pass.wgrad]) list.forEach((value, i) => { if (value > 0) seen.add(step.parts[i]); });
    for (const list of after) for (const one of list) seen.add(one.name);
  }
  const named = [...Object.keys(partLooks), "stragglers", "optimizer", "fixed overhead"].filter((name) => name !== "compute" && seen.has(name))
    .map((name) => ({ label: name === "wait for host" ? "waiting for the host" : name, color: colorOf(partLooks[name] || afterColor(name)) }));
  legend(box, [...kinds, ...(seen.size ? [{ label: "exposed communication", color: colorOf(communicationColor) }] : []), ...named, { label: "idle", color: colorOf("grid") }]);
}

function pipelineTable(box, t, events, half) {
  /* The time of a pair counts once. */
  const busy = events.map((list) => d3.sum(list, (i) => (half[i] === 1 ? 0 : t.dur[i])));
  box.append(folded("Show as table", table({ caption: "Stages over the picture", rows: d3.range(t.stages), columns: [
    { label: "Stage", number: true, show: (s) => count(s) }, ...stageColumns(),
    { label: "Operations", number: true, show: (s) => count(events[s].length) },
    { label: "Busy", number: true, show: (s) => seconds(busy[s]) },
    { label: "Idle", number: true, show: (s) => seconds(Math.max(0, t.end_s - busy[s])) },
    { label: "Idle share", number: true, show: (s) => share(Math.max(0, 1 - busy[s] / t.end_s)) },
  ] }).node));
}

/* Columns from a list of stages, if they differ. */
function stageColumns() {
  if (!listed) return [];
  const differ = (key) => listed.stages.some((stage) => stage[key] !== listed.stages[0][key]);
  return [
    ...(stages.length === listed.stages.length ? [{ label: "Blocks", number: true, show: (s) => count(stages[s].blocks) }] : []),
    ...(differ("system") ? [{ label: "System", show: (s) => listed.stages[s].system }] : []),
    ...(differ("recompute") ? [{ label: "Recompute", show: (s) => listed.stages[s].recompute }] : []),
  ];
}
