/* The operators of a pass: roofline and table. */
"use strict";

const phases = [["fw", "forward", "blue1"], ["agrad", "activation grad", "orange1"], ["wgrad", "weight grad", "green"]];

/* One row per operation and phase: its own time, and its number of runs in the model. */
function operationsOf(layers) {
  const rows = layers.flatMap((layer) => phases.map(([key, phase, color]) => ({
    name: layer.name, phase, color, runs: layer.runs, time: layer[`${key}_processing_time`] || 0,
    flop: layer[`${key}_flops`] || 0, moved: layer[`${key}_mem_accessed`] || 0,
    onLink: (key === "fw" ? layer.baseblock_fw_tp_comm_time : key === "agrad" ? layer.baseblock_bw_tp_comm_time : 0) || 0,
  }))).filter((o) => o.time > 0 || o.onLink > 0);
  for (const row of rows) row.all = row.time * row.runs;
  return rows;
}

/* A card for each pass that runs; a switch if there are several. */
function perPass(node, draw) {
  const box = el("div");
  const show = (name) => {
    box.replaceChildren();
    draw(box, operationsOf(data.passes.find((pass) => pass.name === name).layers));
  };
  const names = data.passes.map((pass) => pass.name);
  if (names.length > 1) node.append(el("div", { class: "tools" }, choice("Pass", names.map((name) => [name, name]), names[0], show)));
  node.append(box);
  show(names[0]);
}

/* The largest efficiency of a curve: the share of the peak that the best sizes reach. */
const mostOf = (curve) => d3.max(curve || [], (point) => point[1]) || 1;

/* Roofs: the matrix engine in the formats in use, and the vector engine. */
function roofs() {
  const formats = [...new Set([exe.matrix_datatype && exe.matrix_datatype !== "auto" ? exe.matrix_datatype : exe.datatype, exe.datatype])];
  const list = [];
  for (const format of formats) {
    const engine = (system.matrix || {})[format];
    if (engine && engine.tflops) list.push({ label: `matrix ${format}`, rate: engine.tflops * 1e12, reached: mostOf(engine.gflops_efficiency), matrix: true });
  }
  const vector = (system.vector || {})[exe.datatype];
  if (vector && vector.tflops) list.push({ label: `vector ${exe.datatype}`, rate: vector.tflops * 1e12, reached: mostOf(vector.gflops_efficiency) });
  return list;
}

/* The resource that would take longer at its peak. */
function boundOf(o, peak, memory) {
  if (!(o.time > 0)) return "network";
  const [compute, traffic] = [o.flop / peak, o.moved / memory];
  return compute === 0 && traffic === 0 ? "latency" : compute > traffic ? "arithmetic" : "memory";
}

const onRoofline = (o) => o.flop > 0 && o.moved > 0 && o.time > 0;

function showRoofline() {
  const list = roofs();
  const memory = (system.mem1.GBps || 0) * 1e9;
  if (!list.length || !memory || !data.passes.every((pass) => operationsOf(pass.layers).some(onRoofline))) return;
  const node = section("roofline", "Roofline", `Roofline of a ${serves ? "pass" : "micro-batch"}`,
    "Where each operation sits against the machine’s limits. Left of the bend memory decides, right of it arithmetic.");
  perPass(node, (parent, operations) => drawRoofline(card(parent), operations, list, memory));
}

function drawRoofline(box, operations, list, memory) {
  const points = operations.filter(onRoofline);
  const total = d3.sum(operations, (o) => o.all);
  const peak = d3.max(list, (roof) => roof.rate);
  /* Operations at the same place become one disc. */
  const merged = d3.nest().key((o) => `${o.phase}|${Math.round(20 * Math.log10(o.flop / o.moved))}|${Math.round(20 * Math.log10(o.flop / o.time))}`)
    .entries(points).map(({ values }) => ({ values, color: values[0].color, phase: values[0].phase, time: d3.sum(values, (o) => o.all),
      at: d3.sum(values, (o) => o.flop) / d3.sum(values, (o) => o.moved), rate: d3.sum(values, (o) => o.flop) / d3.sum(values, (o) => o.time) }))
    .sort((a, b) => b.time - a.time);
  const longest = merged[0].time;
  const height = 400;
  const discs = [];
  picture(box, `Roofline: ${merged.slice(0, 4).map((m) => `${m.values[0].name} ${m.phase} at ${amount(m.at)} FLOP per byte reaches ${amount(m.rate)}FLOP/s`).join("; ")}`, (svg, width) => {
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
    /* The largest share of the roofs that kernels reach. */
    const [reach, top_] = [memory * mostOf(system.mem1.MB_efficiency), d3.max(list, (roof) => roof.rate * roof.reached)];
    const reached = svg.append("g").style("stroke", "var(--accent)").style("stroke-opacity", 0.55).style("fill", "none");
    reached.append("path").attr("d", `M${x(Math.max(x.domain()[0], y.domain()[0] / reach))},${y(Math.max(x.domain()[0] * reach, y.domain()[0]))}L${x(top_ / reach)},${y(top_)}`);
    for (const roof of list) reached.append("line").attr("x1", x((roof.rate * roof.reached) / reach)).attr("x2", width - right).attr("y1", y(roof.rate * roof.reached)).attr("y2", y(roof.rate * roof.reached));
    const placed = list.map((roof) => [width - right - 150, y(roof.rate) - 6, 150]);
    discs.length = 0;
    for (const m of merged) {
      const radius = 3 + 10 * Math.sqrt(m.time / longest);
      const disc = svg.append("circle").attr("cx", x(m.at)).attr("cy", y(m.rate)).attr("r", radius)
        .style("fill", colorOf(m.color)).style("fill-opacity", 0.78).style("stroke", "var(--card)").node();
      const what = () => [[...new Set(m.values.map((o) => o.name))].slice(0, 6).join(", "), [["phase", m.phase], ["time, all blocks", seconds(m.time)],
        ["share of all", share(m.time / total)], ["intensity", `${short(m.at)} FLOP/byte`], ["rate", `${amount(m.rate)}FLOP/s`]], colorOf(m.color)];
      discs.push({ node: disc, what });
      tells(disc, what);
    }
    let named = 0;
    for (const m of merged.slice(0, 16)) {
      const others = new Set(m.values.map((o) => o.name)).size - 1;
      const text = m.values.reduce((a, b) => (b.all > a.all ? b : a)).name + (others ? ` +${others}` : "");
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
  walks(box.querySelector("figure"), "Roofline. Arrow keys walk along the discs, from the one that takes most time.", () => discs);
  legend(box, phases.filter((p) => points.some((o) => o.phase === p[1])).map(([, label, color]) => ({ label, color: colorOf(color) })));
  box.append(el("p", { class: "note" }, "Area of a disc: its time in all blocks. Dashed: peaks of the data sheet.", ` Blue: what kernels reach of them at best, ${list.map((roof) => `${percent(roof.reached, 2)} of ${roof.label}`).join(", ")}, ${percent(mostOf(system.mem1.MB_efficiency), 2)} of the memory.`));
}

function showOperations() {
  if (!data.passes.some((pass) => operationsOf(pass.layers).length)) return;
  const node = section("layers", "Operations", data.ours ? "Every operation of the blocks and the ends" : "Every operation of a block",
    `On one processor${serves ? "" : ", for one micro-batch"}; collectives have a time on the link, hidden or not. Shares are of all that a ${serves ? "pass" : "micro-batch"} runs on its way through the model.`);
  perPass(node, (parent, operations) => drawOperations(card(parent), operations));
}

function drawOperations(box, operations) {
  const memory = (system.mem1.GBps || 0) * 1e9;
  const peak = d3.max(roofs(), (roof) => roof.rate) || 1;
  const most = d3.max(operations, (o) => o.all);
  const total = d3.sum(operations, (o) => o.all);
  const anyLink = operations.some((o) => o.onLink > 0);
  box.append(table({ caption: "Operations", rows: operations, sort: 4, first: 14, search: "Filter, e.g. softmax", columns: [
    { label: "Operation", value: (o) => o.name, show: (o) => o.name },
    { label: "Phase", value: (o) => o.phase, show: (o) => [swatch(colorOf(o.color)), o.phase] },
    { label: "Time", number: true, value: (o) => o.time, show: (o) => seconds(o.time) },
    { label: "Times", number: true, value: (o) => o.runs, show: (o) => count(o.runs) },
    { label: "Share", number: true, value: (o) => o.all, show: (o) => meter(share(o.all / total), o.all / most) },
    ...(anyLink ? [{ label: "On the link", number: true, value: (o) => o.onLink, show: (o) => (o.onLink ? seconds(o.onLink) : "–") }] : []),
    { label: "GFLOP", number: true, value: (o) => o.flop, show: (o) => (o.flop ? num(o.flop / 1e9) : "–") },
    { label: "MB moved", number: true, value: (o) => o.moved, show: (o) => (o.moved ? num(o.moved / 1e6) : "–") },
    { label: "FLOP/byte", number: true, value: (o) => o.flop / o.moved, show: (o) => num(o.moved ? o.flop / o.moved : NaN) },
    { label: "TFLOP/s", number: true, value: (o) => o.flop / o.time, show: (o) => num(o.time ? o.flop / o.time / 1e12 : NaN) },
    { label: "Bound by", value: (o) => boundOf(o, peak, memory), show: (o) => boundOf(o, peak, memory) },
  ] }).node);
}
