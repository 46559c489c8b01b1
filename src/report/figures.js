/* Pictures, stacked bars and tables, shared by all pages. */
"use strict";

/* ---- Figures ---------------------------------------------------------------------------------- */

/* A picture as a file of its own: what style sheets say of its elements is written into them, on the colour of the card, with the
 * legend of its card below it.
 * @param paper  a canvas below the picture, or nothing */
function pictureText(svg, paper) {
  const copy = svg.cloneNode(true);
  const [, , width, high] = svg.getAttribute("viewBox").split(" ").map(Number);
  const kept = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin", "opacity", "visibility",
    "paint-order", "font-family", "font-size", "font-weight", "text-anchor"];
  const own = svg.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((node, i) => {
    const style = getComputedStyle(own[i]);
    node.removeAttribute("class");
    node.setAttribute("style", kept.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
  });
  const add = (name, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };
  const said = getComputedStyle(document.documentElement);
  const card = svg.closest(".card");
  let [x, height] = [0, high];
  for (const item of card ? card.querySelectorAll(".legend li") : []) {
    const label = item.textContent;
    const wide = 7 * label.length + 30;
    if (x === 0 || x + wide > width) [x, height] = [0, height + 20];
    const text = add("text", { x: x + 16, y: height - 6, "font-size": 12, "font-family": getComputedStyle(item).fontFamily, fill: said.getPropertyValue("--ink2").trim() });
    text.textContent = label;
    copy.append(add("rect", { x, y: height - 16, width: 11, height: 11, fill: getComputedStyle(item.querySelector("i")).backgroundColor }), text);
    x += wide;
  }
  copy.removeAttribute("style");
  copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
  for (const [key, value] of Object.entries({ xmlns: "http://www.w3.org/2000/svg", width, height })) copy.setAttribute(key, value);
  copy.prepend(add("rect", { width, height, fill: said.getPropertyValue("--card").trim() }),
    ...(paper ? [add("image", { width: paper.clientWidth, height: paper.clientHeight, href: paper.toDataURL() })] : []));
  return new XMLSerializer().serializeToString(copy);
}

/* Buttons that save a picture, at its top right while it is pointed at. */
function savers(svg, paper) {
  const name = () => {
    const heading = svg.closest("section, main").querySelector("h2, h3");
    return `calc-${data.kind}-${(heading ? heading.textContent : "figure").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "")}`;
  };
  const asPng = async () => {
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(pictureText(svg, paper))}`;
    await image.decode();
    const picture_ = el("canvas", { width: 2 * image.width, height: 2 * image.height });
    picture_.getContext("2d").drawImage(image, 0, 0, picture_.width, picture_.height);
    picture_.toBlob((png) => download(`${name()}.png`, png));
  };
  return el("span", { class: "savers" },
    el("button", { type: "button", "aria-label": "Save the picture as SVG", onclick: () => download(`${name()}.svg`, pictureText(svg, paper)) }, "SVG"),
    el("button", { type: "button", "aria-label": "Save the picture as PNG", onclick: asPng }, "PNG"));
}

/* An SVG picture as wide as its parent, redrawn when the width changes. */
function picture(parent, aria, draw) {
  const svg = d3.create("svg").attr("role", "img").attr("aria-label", aria);
  const node = el("figure", {}, svg.node(), savers(svg.node()));
  parent.append(node);
  let drawn = 0;
  const redraw = (width = node.clientWidth) => {
    if (width > 0) {
      drawn = width;
      svg.selectAll("*").remove();
      const height = draw(svg, width);
      svg.attr("viewBox", `0 0 ${width} ${height}`).attr("height", height);
    }
  };
  new ResizeObserver(([{ contentRect }]) => {
    const width = Math.round(contentRect.width);
    if (width !== drawn) redraw(width);
  }).observe(node);
  sized.push(() => redraw());
  /* In a live page the observer draws it, before the frame, so that pictures do not each wait for a layout. */
  if (!globalThis.calcLive) redraw();
  return () => redraw();
}

/* A canvas as wide as its parent; draw(context, width, height) in CSS pixels. */
function canvas(parent, height, draw, attributes) {
  const node = el("canvas", { "aria-hidden": "true", ...attributes });
  parent.append(node);
  const redraw = () => {
    const width = node.clientWidth;
    if (!width) return;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    node.width = Math.round(width * ratio);
    node.height = Math.round(height * ratio);
    node.style.height = `${height}px`;
    const context = node.getContext("2d");
    context.scale(ratio, ratio);
    draw(context, width, height);
  };
  new ResizeObserver(redraw).observe(node.parentNode);
  repaints.push(redraw);
  return { node, redraw };
}

/* Arrow keys move between the marks of a picture; the current mark is ringed and its tooltip shown. `marks()`:
 * {node, what}, as for tells(). */
function walks(node, label, marks) {
  let at = -1;
  for (const [key, value] of [["tabindex", "0"], ["role", "group"], ["aria-roledescription", "picture with marks"], ["aria-label", label]]) node.setAttribute(key, value);
  const ring = () => marks().forEach((mark, i) => mark.node.classList.toggle("at", i === at));
  node.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    at = Math.max(0, Math.min(marks().length - 1, at + step));
    ring();
    const box = marks()[at].node.getBoundingClientRect();
    showTip(box.right, box.bottom, ...marks()[at].what());
  });
  node.addEventListener("blur", () => { at = -1; ring(); hideTip(); });
}

/* Labels of a time or byte axis in one unit, the unit of its end. */
function axisLabels(max, steps) {
  const step = steps.find(([unit]) => max >= unit * 0.99995) || steps[steps.length - 1];
  return { unit: step[0], name: step[1], text: (x) => (x === 0 ? "0" : `${short(x / step[0])}\u202f${step[1]}`) };
}

function niceTicks(max, steps, most) {
  const labels = axisLabels(max, steps);
  return { values: d3.ticks(0, max / labels.unit, most).map((x) => x * labels.unit), text: labels.text };
}

/* Horizontal stacked bars. rows: {label, note, values: {key: number}, total, and if known band: [low, high]
 * and measured: [{value, label}]}; parts: {key, label, color} in the order of the stack; limit: {value,
 * label}; total: format of totals. */
function stacks(parent, { rows, parts, steps, text, limit, aria, height = 18, gap = 12, total = text }) {
  const used = parts.filter((part) => rows.some((row) => row.values[part.key] > 0));
  const longest = d3.max(rows, (row) => row.total) || 1;
  const redraw = picture(parent, aria, (svg, width) => {
    const narrow = width < 520;
    const left = narrow ? 0 : Math.min(0.3 * width, 24 + 7.5 * d3.max(rows, (row) =>
      Math.max(row.label.length, (row.note || "").length * 0.85)));
    const right = narrow ? 62 : 76;
    const top = limit ? 20 : 2;
    /* In a narrow picture label and note stand above the bar, in one line if both fit there. */
    const above = !narrow ? 0 : rows.some((row) => 7.8 * row.label.length + 6.6 * (row.note || "").length > width - right) ? 31 : 16;
    const step = height + gap + above;
    const bottom = top + rows.length * step;
    const x = d3.scaleLinear([0, Math.max(longest, limit ? limit.value : 0, d3.max(rows, (row) => Math.max(row.band ? row.band[1] : 0, d3.max(row.measured || [], (one) => one.value) || 0)))], [left, width - right]);
    const ticks = niceTicks(x.domain()[1], steps, Math.max(2, Math.floor((width - left - right) / 90)));
    const grid = svg.append("g").attr("class", "grid").selectAll("line").data(ticks.values).enter();
    grid.append("line").attr("x1", x).attr("x2", x).attr("y1", top).attr("y2", bottom);
    svg.append("g").selectAll("text").data(ticks.values).enter().append("text")
      .attr("x", x).attr("y", bottom + 16).attr("text-anchor", (d) => (d === 0 && narrow ? "start" : "middle"))
      .text(ticks.text);
    rows.forEach((row, i) => {
      const y = top + i * step + above + gap / 2;
      const label = narrow ? [0, y + 11 - above, "start"] : [left - 12, y + (row.note ? 8 : 13), "end"];
      svg.append("text").attr("class", "strong").attr("x", label[0]).attr("y", label[1])
        .attr("text-anchor", label[2]).text(clipped(row.label, (narrow ? width - 90 : left - 12) / 7.5));
      if (row.note) {
        svg.append("text").attr("x", above > 16 ? 0 : narrow ? width - right : left - 12).attr("y", narrow ? y - 5 : y + 21)
          .attr("text-anchor", above > 16 ? "start" : "end").style("font-size", "11px").text(row.note);
      }
      let at = 0;
      for (const part of used) {
        const value = row.values[part.key] || 0;
        if (!(value > 0)) continue;
        const x0 = x(at);
        const wide = Math.max(0.4, x(at + value) - x0 - 0.7);
        const mark = svg.append("rect").attr("x", x0).attr("y", y).attr("width", wide).attr("height", height)
          .style("fill", part.color).node();
        tells(mark, () => [part.label, [[row.label, text(value)], ["share", share(value / row.total)]], part.color]);
        at += value;
      }
      if (row.band) {
        const [lo, hi] = row.band.map(x);
        const middle = y + height / 2;
        svg.append("path").attr("class", "band").attr("d", `M${lo},${middle - 5}V${middle + 5}M${lo},${middle}H${hi}M${hi},${middle - 5}V${middle + 5}`)
          .style("stroke", "var(--ink)").style("stroke-width", 1.5).style("fill", "none");
      }
      for (const one of row.measured || []) {
        const mark = svg.append("path").attr("class", "measured").attr("d", d3.symbol(d3.symbolCircle, 80)).attr("transform", `translate(${x(one.value)},${y + height / 2})`)
          .style("fill", "var(--ink)").style("stroke", "var(--card)").node();
        tells(mark, () => ["measured", [[one.label, text(one.value)]]]);
      }
      svg.append("text").attr("class", "strong").attr("x", width).attr("y", y + height - 5)
        .attr("text-anchor", "end").text(total(row.total));
    });
    if (limit) {
      svg.append("line").attr("x1", x(limit.value)).attr("x2", x(limit.value)).attr("y1", top)
        .attr("y2", bottom).style("stroke", "var(--ink)").style("stroke-dasharray", "3 3");
      svg.append("text").attr("class", "strong").attr("x", x(limit.value)).attr("y", 12)
        .attr("text-anchor", x(limit.value) > width * 0.7 ? "end" : "middle").text(limit.label);
    }
    return bottom + 22;
  });
  legend(parent, used);
  return redraw;
}

const clipped = (text, most) => (text.length > most ? `${text.slice(0, Math.max(3, most - 1))}…` : text);

/* ---- Tables ----------------------------------------------------------------------------------- */

/* columns: {label, value(row) to sort by, show(row) node or text, number, wrap, screen: not printed, title}.
 * first: number of rows before "Show all". Returns {node, update(rows)}. */
function table({ columns, rows, sort, down = true, first = Infinity, search, rowAttributes, caption, tools }) {
  let by = sort;
  let falling = down;
  let all = false;
  let needle = "";
  let current = rows;
  const body = el("tbody");
  const heads = columns.map((column, i) => {
    const head = el("th", { scope: "col", class: [column.number && "n", column.screen && "screen"].filter(Boolean).join(" ") || null, title: column.title });
    if (sort == null || !column.value) {
      head.append(column.label);
    } else {
      head.append(el("button", { type: "button", onclick: () => {
        falling = by === i ? !falling : !!column.number;
        by = i;
        fill();
      } }, column.label));
    }
    return head;
  });
  const tally = el("span");
  const more = el("button", { type: "button", onclick: () => { all = !all; fill(); } });
  const box = search ? el("input", { type: "search", placeholder: search, "aria-label": search, oninput: () => {
    needle = box.value.toLowerCase();
    fill();
  } }) : null;

  function fill() {
    heads.forEach((head, i) => {
      head.removeAttribute("aria-sort");
      const button = head.querySelector("button");
      if (button) button.textContent = columns[i].label + (by === i ? (falling ? " ↓" : " ↑") : "");
      if (by === i) head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    });
    let list = current;
    if (needle) list = list.filter((row) => columns.some((c) => c.value && String(c.value(row)).toLowerCase().includes(needle)));
    if (by != null) {
      const value = columns[by].value;
      list = [...list].sort((a, b) => {
        const [u, v] = [value(a), value(b)];
        const missing = (u === undefined || Number.isNaN(u)) - (v === undefined || Number.isNaN(v));
        return missing || (falling ? d3.descending(u, v) : d3.ascending(u, v));
      });
    }
    const shown = all ? list : list.slice(0, first);
    body.replaceChildren(...shown.map((row, i) => el("tr", rowAttributes ? rowAttributes(row, i) : {},
      columns.map((column) => el("td", { class: [column.number && "n", column.wrap && "wrap", column.screen && "screen"].filter(Boolean).join(" ") || null }, column.show(row, i))))));
    tally.textContent = `${count(shown.length)} of ${count(list.length)} rows`;
    more.textContent = all ? "Show fewer" : `Show all ${count(list.length)}`;
    more.hidden = list.length <= first;
    tally.hidden = first === Infinity && !search;
  }

  const view = el("table", {}, caption ? el("caption", { class: "hidden" }, caption) : null,
    el("thead", {}, el("tr", {}, heads)), body);
  const node = el("div", {},
    box || tools ? el("div", { class: "tools" }, tools, box ? el("span", { class: "right" }, box) : null) : null,
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption || "table" }, view),
    el("div", { class: "tools", style: "margin:10px 0 0" }, tally, more));
  fill();
  return { node, update: (list) => { current = list; fill(); }, refresh: fill };
}

/* A number with a bar behind it. */
function meter(text, fraction, kind) {
  const width = Math.max(0, Math.min(1, fraction || 0)) * 100;
  return [text, el("span", { class: `meter ${kind || ""}`, "aria-hidden": "true" }, el("b", { style: `width:${width}%` }))];
}

function folded(title, node) {
  return el("details", {}, el("summary", {}, title), node);
}

/* A group of buttons, one of which is pressed. */
function choice(label, options, value, onchange) {
  const buttons = options.map(([key, text]) => el("button", { type: "button", onclick: () => {
    for (const [i, button] of buttons.entries()) button.setAttribute("aria-pressed", String(options[i][0] === key));
    onchange(key);
  }, "aria-pressed": String(key === value) }, text));
  return el("span", { class: "switch", role: "group", "aria-label": label }, buttons);
}

function picker(label, options, value, onchange) {
  return el("label", {}, label, el("select", { onchange: (event) => onchange(event.target.value) },
    options.map(([key, text]) => el("option", { value: key, selected: key === value }, text))));
}

/* ---- Parts of time and memory ------------------------------------------------------------------ */

/* Colours and descriptions by calc's labels: one hue per family, one lightness per member. */
const timeLooks = {
  "forward": ["blue1", "matrix and vector work of the forward pass"],
  "backward": ["blue2", "activation and weight gradients"],
  "recompute": ["blue3", "forward work done again to save memory"],
  "embedding and head": ["purple", "embedding, head and loss"],
  "optimizer": ["green", "update of the weights"],
  "tensor-parallel comm.": ["orange1", "collectives inside layers that no compute hides"],
  "repeated communication": ["orange4", "the same again, for recomputation"],
  "context-parallel comm.": ["orange5", "keys and values between parts of a sequence"],
  "expert-parallel comm.": ["purple2", "tokens on their way to experts and back"],
  "pipeline comm.": ["orange2", "activations handed to the next stage"],
  "data-parallel comm.": ["orange3", "reduction of gradients, gathering of weights"],
  "forward offload": ["sand", "traffic to the second memory, forward"],
  "backward offload": ["sand", "the same, backward"],
  "pipeline bubble": ["grey", "stages that wait while the pipeline fills and drains"],
  "waiting for the host": ["grey2", "kernels are issued slower than they run"],
  "stragglers": ["green2", "waiting for the slowest of many processors"],
  "fixed overhead": ["cat5", "once per step"],
};
const memoryLooks = {
  "weights": "blue1", "activations": "blue2", "checkpoints": "blue3", "activation gradients": "orange2",
  "block at hand": "orange2", "weight gradients": "orange3", "optimizer": "green", "head": "purple",
  "cached keys and values": "orange1", "framework": "grey", "fragmentation, reserve": "grey2",
};
const timePart = (label) => ({ key: label, label, color: colorOf((timeLooks[label] || ["grey"])[0]) });
const memoryPart = (label) => ({ key: label, label, color: colorOf(memoryLooks[label] || "grey") });
/* In the order of the colours, so that families stay together. */
const timeParts = Object.keys(timeLooks).map(timePart);
const memoryParts = Object.keys(memoryLooks).map(memoryPart);

/* The same numbers in a table below the picture. */
function partsTable(rows, parts, text, name) {
  const used = parts.filter((part) => rows.some((row) => row.values[part.key] > 0));
  return folded("Show as table", table({ caption: name, rows, columns: [
    { label: "", show: (row) => row.label },
    ...used.map((part) => ({ label: part.label, number: true, show: (row) => text(row.values[part.key] || 0) })),
    { label: "total", number: true, show: (row) => text(row.total) }] }).node);
}
