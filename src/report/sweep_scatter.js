/* The trade-off of a sweep: points, their front, and filters. */
"use strict";

function showScatter() {
  if (metrics.length < 2 || !view.x || !view.y) return;
  const node = section("tradeoff", "Trade-off", "The trade-off",
    cloud.all ? (cloud.seen > cloud.shown ? `A fair choice of ${count(cloud.shown)} of the ${count(cloud.seen)} layouts that fit.` : "Every layout that fits.")
      : `${count(cloud.shown)} layouts that fit, drawn at random from all, together with the best and the front, which are exact.`);
  node.querySelector(".lead").append(` The line is the front of the two axes${isSure ? "; thick rings are equals of the best" : ""}; grey marks are filtered out.`);
  const cols = el("div", { class: "cols" });
  node.append(cols);
  const box = card(cols);
  const tools = el("div", { class: "tools" });
  const options = metrics.map((key) => [key, metricLabel(key)]);
  const change = (key) => (value) => { view[key] = value; view.area = null; refilter(); };
  tools.append(picker("X", options, view.x, change("x")), picker("Y", options, view.y, change("y")),
    picker("Colour", [...axes.map((a) => [a.key, axisLabel(a.key)]), ...options], view.color, change("color")));
  const log = (label, key) => el("button", { type: "button", "aria-pressed": String(view[key]), onclick: (event) => {
    view[key] = !view[key];
    event.currentTarget.setAttribute("aria-pressed", String(view[key]));
    keepView();
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
    "aria-label": "Layouts that fit. Arrow keys walk along the front; Enter adds a layout to the comparison, Space keeps what is told of it; the table below has the same layouts." });
  const paper = el("canvas", { "aria-hidden": "true", style: "position:absolute;inset:0" });
  const svg = d3.create("svg").attr("aria-hidden", "true").style("position", "relative").style("pointer-events", "none");
  area.append(paper, svg.node(), savers(svg.node(), paper));
  const key = el("div");
  const tally = el("p", { class: "note", "aria-live": "polite" });
  box.append(tools, area, key, tally);
  const height = innerWidth > 1000 ? 560 : 440;
  const edge = { left: 62, right: 14, top: 26, bottom: 46 };
  const px = new Float32Array(total), py = new Float32Array(total);
  let scales, front = [], at = -1, rect = null, cursor = null;

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
        .attr("r", 3.4).style("fill", (i) => colors.paints[colors.index[i]]).style("stroke", "var(--ink)")
        .style("stroke-width", (i) => (isSure && columns.get("sure")[i] < SURE ? 2.5 : 1));
    }
    if (best && rowInView(best)) {
      const i = cloud.shown + best.index;
      const leftward = x(xs[i]) > width / 2;
      svg.append("text").attr("class", "strong").attr("x", x(xs[i]) + (leftward ? -8 : 8)).attr("y", Math.max(12, y(ys[i]) - 8))
        .attr("text-anchor", leftward ? "end" : "start").text(`best: ${goalValue(best)}`);
    }
    cursor = svg.append("circle").attr("class", "at").attr("r", 7).style("fill", "none").attr("visibility", "hidden");
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

  /* Draws marks of 3 by 3 pixels directly into the image: fast with 100,000 of them. */
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

  function nearest(mx, my, reach = 12) {
    let found = -1, least = reach * reach;
    for (let i = total - 1; i >= 0; i--) {
      if (!view.mask[i]) continue;
      const d = (px[i] - mx) ** 2 + (py[i] - my) ** 2;
      if (d < least) { least = d; found = i; }
    }
    return found;
  }

  function linesOf(i) {
    const lines = ["tensor_par", "pipeline_par", "data_par"].filter((k) => !axisByKey.has(k)).length
      ? [] : [["TP × PP × DP", ["tensor_par", "pipeline_par", "data_par"].map((k) => count(axes.find((a) => a.key === k).column[i])).join(" × ")]];
    const sizes = lines.length > 0;
    for (const key_ of new Set([goal, ...(serves ? ["ttft", "tpot", "output_tokens_per_s"] : ["total_time", "model_flops_utilization"]), "proc_mem_tier1_cap_req", view.x, view.y])) {
      if (columns.has(key_)) lines.push([metricLabel(key_), metricText(key_)(columns.get(key_)[i])]);
    }
    for (const axis of axes) {
      if (!(sizes && ["tensor_par", "pipeline_par", "data_par"].includes(axis.key))) lines.push([axisLabel(axis.key), axisText(axis, axis.column[i])]);
    }
    return lines;
  }

  const titleOf = (i) => (rowAt[i] < 0 ? "A layout" : rows[rowAt[i]] === best ? "The best" : "In the table below");
  const tell = (i, clientX, clientY) => showTip(clientX, clientY, titleOf(i), linesOf(i));

  /* The pinned tooltip of a point, with its command; the point can be compared. */
  function pin(i, clientX, clientY, byKeyboard) {
    const layout = layoutAt(i);
    pinTip(clientX, clientY, titleOf(i), linesOf(i), [
      layout.design ? copyButton("Copy", () => commandOf(layout), "Copy the command of this layout") : null,
      layout.exe ? el("button", { type: "button", onclick: () => { toggle(layout); unpin(); } }, compared.includes(layout) ? "Compared: remove" : "Compare") : null,
    ], byKeyboard);
  }

  let start = null;
  const placeOf = (event) => {
    const box_ = area.getBoundingClientRect();
    return [event.clientX - box_.left, event.clientY - box_.top];
  };
  const draws = (event) => event.pointerType === "mouse" || selecting;
  const far = ([mx, my]) => Math.hypot(mx - start[0], my - start[1]) > 6;
  area.addEventListener("pointerdown", (event) => {
    start = placeOf(event);
    if (draws(event)) area.setPointerCapture(event.pointerId);
  });
  area.addEventListener("pointermove", (event) => {
    const at_ = placeOf(event);
    if (start && draws(event) && far(at_)) {
      hideTip();
      return place(start[0], at_[0], start[1], at_[1]);
    }
    const i = nearest(...at_);
    if (i < 0) hideTip();
    else tell(i, event.clientX, event.clientY);
  });
  area.addEventListener("pointerup", (event) => {
    const [mx, my] = placeOf(event);
    if (!start) return;
    const [from, moved] = [start, far([mx, my])];
    start = null;
    if (moved && draws(event)) {
      const [x0, x1] = [scales.x.invert(Math.min(from[0], mx)), scales.x.invert(Math.max(from[0], mx))];
      const [y0, y1] = [scales.y.invert(Math.max(from[1], my)), scales.y.invert(Math.min(from[1], my))];
      view.area = { x0, x1, y0, y1 };
      refilter();
    } else if (!moved) {
      const i = nearest(mx, my, event.pointerType === "mouse" ? 12 : 24);
      if (i >= 0) pin(i, event.clientX, event.clientY);
    }
  });
  area.addEventListener("pointercancel", () => { start = null; });
  area.addEventListener("pointerleave", hideTip);
  area.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (event.key === "Escape") return clearAll();
    if (!front.length || !(step || ((event.key === "Enter" || event.key === " ") && at >= 0))) return;
    event.preventDefault();
    if (!step) {
      const [i, box_] = [front[at], area.getBoundingClientRect()];
      if (event.key === "Enter" && rowAt[i] >= 0) toggle(rows[rowAt[i]], true);
      else pin(i, box_.left + px[i], box_.top + py[i], true);
      return;
    }
    at = Math.max(0, Math.min(front.length - 1, at < 0 ? 0 : at + step));
    const box_ = area.getBoundingClientRect();
    cursor.attr("cx", px[front[at]]).attr("cy", py[front[at]]).attr("visibility", "visible");
    tell(front[at], box_.left + px[front[at]], box_.top + py[front[at]]);
  });

  const facets = card(cols, el("h3", {}, "Filter by choice"), el("p", { class: "note", style: "margin:0" }, "The underline of a button shows how many of the layouts in view have that value."));
  facets.classList.add("facets");
  const buttons = [];
  for (const axis of axes.filter((a) => a.distinct.length <= 16)) {
    const chosen = view.chosen.get(axis.key);
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
  /* If there are many values, one at a time. */
  const selects = axes.filter((a) => a.distinct.length > 16).map((axis) => {
    const chosen = view.chosen.get(axis.key);
    const select_ = el("select", { "aria-label": axisLabel(axis.key), onchange: () => {
      chosen.clear();
      if (select_.value !== "") chosen.add(Number(select_.value));
      refilter();
    } }, el("option", { value: "" }, "any"), axis.distinct.map((value) => el("option", { value }, axisText(axis, value))));
    facets.append(el("div", { class: "facet" }, axisLabel(axis.key), select_));
    return { select_, chosen };
  });
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
    for (const { select_, chosen } of selects) select_.value = chosen.size ? [...chosen][0] : "";
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
  refilter();
}
