/* The view of a sweep: axes, filters, the front, colours, and the parts that the address stores. */
"use strict";

const view = {
  x: serves && metrics.includes("tpot") ? "tpot" : metrics.includes("proc_mem_tier1_cap_req") ? "proc_mem_tier1_cap_req" : metrics[0],
  y: metrics.includes(goal) ? goal : metrics[metrics.length - 1],
  color: (axes.find((axis) => axis.ofDesign) || axisByKey.get("tensor_par") || axes[0] || {}).key, logX: false, logY: false,
  area: null, chosen: new Map(), mask: new Uint8Array(total).fill(1),
};
const watchers = [];
let compared = [];

/* Reads the view from the address, and writes it back. */
function recallView() {
  for (const key of ["x", "y"]) if (metrics.includes(kept.get(key))) view[key] = kept.get(key);
  if (axisByKey.has(kept.get("color")) || metrics.includes(kept.get("color"))) view.color = kept.get("color");
  for (const key of ["logX", "logY"]) view[key] = kept.get(key) === "1";
  for (const axis of axes) {
    const values = (kept.get(`f.${axis.key}`) || "").split(",").filter(Boolean).map(Number).filter((value) => axis.distinct.includes(value));
    view.chosen.set(axis.key, new Set(values));
  }
  const area = (kept.get("area") || "").split(",").map(Number);
  if (area.length === 4 && area.every(isFinite)) view.area = { x0: area[0], x1: area[1], y0: area[2], y1: area[3] };
}

function keepView() {
  for (const key of ["x", "y", "color"]) keep(key, view[key] === first[key] ? null : view[key]);
  for (const key of ["logX", "logY"]) keep(key, view[key] ? "1" : null);
  for (const [key, chosen] of view.chosen) keep(`f.${key}`, [...chosen].join());
  const { area } = view;
  keep("area", area ? [area.x0, area.x1, area.y0, area.y1].join() : null);
}
const first = { x: view.x, y: view.y, color: view.color };
recallView();

function refilter() {
  const { mask, area } = view;
  mask.fill(1);
  for (const axis of axes) {
    const chosen = view.chosen.get(axis.key);
    if (!chosen || !chosen.size) continue;
    for (let i = 0; i < total; i++) if (!chosen.has(axis.column[i])) mask[i] = 0;
  }
  if (area) {
    const [x, y] = [columns.get(view.x), columns.get(view.y)];
    for (let i = 0; i < total; i++) if (!(x[i] >= area.x0 && x[i] <= area.x1 && y[i] >= area.y0 && y[i] <= area.y1)) mask[i] = 0;
  }
  keepView();
  for (const watcher of watchers) watcher();
}

const rowInView = (row) => view.mask[cloud.shown + row.index] === 1;

/* All points along x, from its better end; kept for the current pair of axes. */
let alongX = { of: "", order: [] };

function orderOf(x, y, sx, sy) {
  const of = `${view.x} ${view.y}`;
  if (alongX.of !== of) {
    const order = [];
    for (let i = 0; i < total; i++) if (!Number.isNaN(x[i]) && !Number.isNaN(y[i])) order.push(i);
    /* Rows follow the cloud in the index. Among equal points they come first, because more is known about
     * them. */
    order.sort((a, b) => sx * (x[a] - x[b]) || sy * (y[a] - y[b]) || b - a);
    alongX = { of, order };
  }
  return alongX.order;
}

/* Points of the front on the current axes, along x; one of equal points. */
function frontOf() {
  const [x, y] = [columns.get(view.x), columns.get(view.y)];
  const [sx, sy] = [isUp(view.x) ? -1 : 1, isUp(view.y) ? -1 : 1];
  const order = orderOf(x, y, sx, sy);
  const front = [];
  let least = Infinity;
  /* Points of the cloud are rounded: a smaller improvement means the same layout. */
  for (const i of order) {
    if (view.mask[i] && sy * y[i] < least - 1e-6 * Math.abs(y[i])) {
      least = sy * y[i];
      front.push(i);
    }
  }
  return front;
}

let colorsKept = { of: "" };

/* Kept for the current choice and theme. */
function colorsNow() {
  const of = `${view.color} ${document.documentElement.dataset.theme}`;
  if (colorsKept.of !== of) colorsKept = { of, ...makeColors() };
  return colorsKept;
}

function makeColors() {
  const axis = axes.find((a) => a.key === view.color);
  const column = axis ? axis.column : columns.get(view.color);
  const index = new Uint8Array(total);
  let names, paints;
  /* Viridis without the end that is too close to the page's colour. */
  const [start, range] = document.documentElement.dataset.theme === "dark" ? [0.25, 0.75] : [0, 0.88];
  const shade = (i, n) => d3.interpolateViridis(start + (range * i) / Math.max(1, n - 1));
  if (axis && axis.distinct.length <= 8) {
    /* Sizes have an order, which a ramp shows; a few values are easier to distinguish by hue. */
    const ordered = !axis.choices.length && axis.distinct.length > 4;
    names = axis.distinct.map((v) => axisText(axis, v));
    paints = names.map((_, i) => (ordered ? shade(i, names.length) : paintOf(`cat${i}`)));
    index.set(axis.place);
  } else {
    const [lo, hi] = d3.extent(Float64Array.from(column).filter((v) => !Number.isNaN(v)));
    const edges = axis ? d3.range(1, 5).map((i) => axis.distinct[Math.floor((i * axis.distinct.length) / 5) - 1]) : d3.range(1, 5).map((i) => lo + ((hi - lo) * i) / 5);
    paints = d3.range(5).map((i) => shade(i, 5));
    const text = axis ? (v) => axisText(axis, v) : metricText(view.color);
    names = d3.range(5).map((i) => (i < 4 ? `up to ${text(edges[i])}` : `above ${text(edges[3])}`));
    for (let i = 0; i < total; i++) index[i] = d3.bisectLeft(edges, column[i]);
  }
  return { index, names, paints };
}
