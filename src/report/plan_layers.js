/* Layers that differ: strategies along the model, and the effect of other memory sizes. */
"use strict";

const layerNote = "Where neighbours are split in different ways, activations are rearranged between them, with every micro-batch. In a row every shade is a value.";
const layerKeys = [["tensor_par", "Tensor parallel"], ["context_par", "Context parallel"], ["expert_par", "Expert parallel"], ["data_par", "Data parallel"],
  ["microbatch_size", "Micro-batch"], ["zero_stage", "ZeRO stage"], ["recompute", "Recompute"]];

/* Runs and both ends along the model: {label, from, to, run}. */
function layerSpans(found) {
  let at = 0;
  const spans = found.layers.map((run) => {
    const from = at;
    at += run.blocks;
    return { label: run.blocks > 1 ? `Layers ${from} to ${at - 1}` : `Layer ${from}`, from, to: at, run };
  });
  return [...spans, { label: "Embedding and head", run: found.ends }];
}

/* Assigns each value a shade of one colour, in the order of the values. */
function shadeOf(values) {
  const order = [...new Set(values)].sort((a, b) => (typeof a === "number" ? a - b : d3.ascending(a === "none" ? "" : a, b === "none" ? "" : b)));
  const ramp = d3.interpolateLab(paintOf("seq0"), paintOf("seq1"));
  return (value) => d3.lab(ramp(order.length < 2 ? 0 : order.indexOf(value) / (order.length - 1)));
}

function stripsPicture(parent, found) {
  const spans = layerSpans(found);
  const inner = spans.slice(0, -1);
  const total = inner[inner.length - 1].to;
  const keys = layerKeys.filter(([key]) => !["context_par", "expert_par"].includes(key) || spans.some(({ run }) => run[key] > 1));
  const redraw = picture(parent, `Strategies layer by layer: ${spans.map(({ label, run }) => `${label} ${keys.map(([key, name]) => `${name.toLowerCase()} ${run[key]}`).join(", ")}`).join("; ")}`, (svg, width) => {
    const narrow = width < 620;
    const left = narrow ? 0 : 124;
    const end = narrow ? 26 : 44;
    const step = narrow ? 44 : 32;
    const top = 22;
    const x = d3.scaleLinear([0, total], [left + end + 4, width - end - 4]);
    const bottom = top + keys.length * step;
    const cell = (x0, x1, y, value, shade, what) => {
      const color = shade(value);
      const mark = svg.append("rect").attr("x", x0).attr("y", y).attr("width", Math.max(1, x1 - x0 - 1)).attr("height", 22).style("fill", color).node();
      tells(mark, () => what);
      const text = String(value);
      if (x1 - x0 > 7 * text.length + 6) {
        svg.append("text").attr("x", (x0 + x1 - 1) / 2).attr("y", y + 15).attr("text-anchor", "middle").attr("pointer-events", "none").attr("data-on", color)
          .style("fill", inkOn(color)).style("stroke", "none").text(text);
      }
    };
    keys.forEach(([key, name], i) => {
      const y = top + i * step + (narrow ? 16 : 0);
      const shade = shadeOf(spans.map(({ run }) => run[key]));
      svg.append("text").attr("class", "strong").attr("x", 0).attr("y", narrow ? y - 4 : y + 15).text(name);
      const what = ({ label, run }) => [label, layerKeys.map(([k, word]) => [word, String(run[k])])];
      const ends = spans[spans.length - 1];
      cell(left, left + end, y, ends.run[key], shade, what(ends));
      cell(width - end, width, y, ends.run[key], shade, what(ends));
      let first = 0;
      inner.forEach((span, k) => { /* equal neighbours form one span */
        if (k + 1 < inner.length && inner[k + 1].run[key] === span.run[key]) return;
        cell(x(inner[first].from), x(span.to), y, span.run[key], shade, first === k ? what(span) : [`Layers ${inner[first].from} to ${span.to - 1}`, [[name, String(span.run[key])]]]);
        first = k + 1;
      });
    });
    svg.append("text").attr("x", left).attr("y", 14).style("font-size", "11px").text(narrow ? "in" : "embed.");
    svg.append("text").attr("x", width).attr("y", 14).attr("text-anchor", "end").style("font-size", "11px").text("head");
    stageLines(svg, found, x, top, bottom);
    const ticks = d3.ticks(0, total, Math.max(2, Math.floor(width / 90))).filter(Number.isInteger);
    for (const tick of ticks) svg.append("text").attr("x", x(tick)).attr("y", bottom + 30).attr("text-anchor", "middle").text(count(tick));
    rearrangingMarks(svg, found, inner, x, bottom);
    return bottom + 40;
  });
  repaints.push(redraw);
}

/* Positions at which stages of one chunk begin. */
function stageLines(svg, found, x, top, bottom) {
  if (found.stages.length < 2 || found.execution.pipeline_interleaving > 1) return;
  let at = 0;
  found.stages.forEach((stage, i) => {
    const [from, to] = [x(at), x(at + stage.stats.blocks)];
    if (i > 0) svg.append("line").attr("x1", from - 0.5).attr("x2", from - 0.5).attr("y1", top - 8).attr("y2", bottom).style("stroke", "var(--ink)").style("stroke-dasharray", "3 3");
    if (to - from > 52) svg.append("text").attr("x", (from + to) / 2).attr("y", 14).attr("text-anchor", "middle").style("font-size", "11px").text(`stage ${i}`);
    at += stage.stats.blocks;
  });
}

/* Marks of rearranging times, below the places where activations are rearranged. */
function rearrangingMarks(svg, found, inner, x, bottom) {
  const marks = [...inner.map((span) => ({ at: span.from, time: span.run.rearranging_time, label: span.label })),
    { at: inner[inner.length - 1].to, time: found.ends.rearranging_time, label: "Head" }].filter((mark) => mark.time > 0);
  for (const { at, time, label } of marks) {
    const mark = svg.append("path").attr("d", `M${x(at)},${bottom - 6}l5,10h-10z`).style("fill", colorOf("orange1")).node();
    tells(mark, () => [`Rearranging before ${label.toLowerCase()}`, [["of a micro-batch", seconds(time)]], colorOf("orange1")]);
  }
}

function fillLayers(area, found) {
  area.replaceChildren();
  const box = card(area);
  const spans = layerSpans(found);
  stripsPicture(box, found);
  const sum = d3.sum(spans, ({ run }) => run.rearranging_time);
  if (sum > 0) {
    const chunks = found.execution.pipeline_interleaving;
    legend(box, [{ label: `rearranging: ${seconds(sum)} of every micro-batch in all${found.stages.length > 1 ? `, on ${count(found.stages.length)} stages${chunks > 1 ? ` of ${count(chunks)} chunks` : ""}` : ""}`, color: colorOf("orange1") }]);
  }
  box.append(folded("Show as table", table({ caption: "Strategies layer by layer", rows: spans, columns: [
    { label: "Layers", show: (span) => span.label.replace(/^Layers? /, "") },
    ...layerKeys.map(([key, label]) => ({ label, number: key !== "recompute", show: ({ run }) => String(run[key]) })),
    { label: "Rearranging before", number: true, show: ({ run }) => (run.rearranging_time > 0 ? seconds(run.rearranging_time) : "\u2013") },
  ] }).node));
}

/* ---- Other memory ------------------------------------------------------------------------------ */

function showCurve() {
  const points = plan.curve;
  const capacity = planned.stats.mem_tier1_capacity;
  const node = section("curve", "Other memory", "With other memory", "The quickest lists of layers for the stages and micro-batches of the best layout, by the memory that they need.");
  const box = card(node);
  picture(box, `Step over memory: from ${seconds(points[0].total_time)} with ${bytes(points[0].mem_tier1)} to ${seconds(points[points.length - 1].total_time)} with ${bytes(points[points.length - 1].mem_tier1)}`, (svg, width) => {
    const [left, right, top, height] = [64, 16, 24, 240];
    const x = d3.scaleLinear(d3.extent([...points.map((p) => p.mem_tier1), capacity]), [left, width - right]).nice();
    const y = d3.scaleLinear(d3.extent(points, (p) => p.total_time), [height, top]).nice();
    const unit = axisLabels(x.domain()[1], byteSteps);
    for (const tick of d3.ticks(x.domain()[0] / unit.unit, x.domain()[1] / unit.unit, Math.max(2, Math.floor(width / 110)))) {
      svg.append("text").attr("x", x(tick * unit.unit)).attr("y", height + 20).attr("text-anchor", "middle").text(unit.text(tick * unit.unit));
    }
    for (const tick of y.ticks(5)) {
      svg.append("line").attr("class", "grid").attr("x1", left).attr("x2", width - right).attr("y1", y(tick)).attr("y2", y(tick));
      svg.append("text").attr("x", left - 8).attr("y", y(tick) + 4).attr("text-anchor", "end").text(brief(tick, timeSteps));
    }
    svg.append("path").attr("d", d3.line().x((p) => x(p.mem_tier1)).y((p) => y(p.total_time)).curve(d3.curveStepAfter)(points)).style("fill", "none").style("stroke", "var(--accent)").style("stroke-width", 1.5);
    svg.append("line").attr("x1", x(capacity)).attr("x2", x(capacity)).attr("y1", top - 6).attr("y2", height).style("stroke", "var(--ink)").style("stroke-dasharray", "3 3");
    svg.append("text").attr("class", "strong").attr("x", x(capacity)).attr("y", 12).attr("text-anchor", x(capacity) > width * 0.6 ? "end" : "middle").text(`${bytes(capacity)} there is`);
    for (const point of points) {
      const fits = point.mem_tier1 <= capacity;
      const mark = svg.append("circle").attr("cx", x(point.mem_tier1)).attr("cy", y(point.total_time)).attr("r", 4)
        .style("fill", fits ? "var(--accent)" : "var(--card)").style("stroke", "var(--accent)").node();
      tells(mark, () => [seconds(point.total_time), [["memory", bytes(point.mem_tier1)], ["layers", point.layers]]]);
    }
    return height + 30;
  });
  box.append(el("p", { class: "note" }, "Filled: it fits. The others want more memory than there is."),
    folded("Show as table", table({ caption: "With other memory", rows: points, first: 20, columns: [
      { label: "Memory", number: true, show: (p) => bytes(p.mem_tier1) },
      { label: "Step", number: true, show: (p) => whole(p.total_time) },
      { label: "Layers", wrap: true, show: (p) => p.layers },
    ] }).node));
}
