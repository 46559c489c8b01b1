/* Data and texts of a run's timeline. */
"use strict";

const kindNames = ["forward", "activation gradient", "weight gradient", "backward"];
const kindColors = [["blue1", "blue3"], ["orange1", "orange3"], ["cat7", "cat7"], ["orange1", "orange3"]];

/* Time of operations besides their kernels, by the names in the data. */
const communicationColor = "ink2";
const partLooks = { "compute": null, "recompute": "blue3", "embedding, head": "purple", "offload": "sand", "wait for host": "grey2" };
const partColor = (name) => (name in partLooks ? partLooks[name] : communicationColor);
const afterColor = (name) => ({ "stragglers": "green2", "optimizer": "green", "fixed overhead": "cat5" }[name] || communicationColor);

/* Colours by kind and chunk: from dark to light with the chunk. */
function timelineColors(chunks) {
  return kindColors.map(([from, to]) => d3.range(chunks).map((i) =>
    d3.interpolateRgb(paintOf(from), paintOf(to))(chunks > 1 ? (0.75 * i) / (chunks - 1) : 0.15)));
}

/* ---- Data ------------------------------------------------------------------------------------- */

/* Operations by stage, in order of time. */
function operationsByStage(t) {
  const events = d3.range(t.stages).map(() => []);
  t.start.forEach((start, i) => events[t.stage[i]].push(i));
  for (const list of events) list.sort((a, b) => t.start[a] - t.start[b]);
  return events;
}

/* Both halves of an overlapped pair have the pair's times and share the height. 1: above, 2: below. */
function halvesOf(t, events) {
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
  return half;
}

/* Parts of an operation's time, in order: [name, seconds]. */
function partsOf(t, step, i) {
  if (!step) return [];
  const spent = step.stages[t.stage[i]].passes[t.chunk[i]];
  const lists = [[spent.fw], [spent.bw], [spent.wgrad], [spent.bw, spent.wgrad]][t.kind[i]];
  return lists.flatMap((list) => list.map((value, part) => [step.parts[part], value])).filter(([, value]) => value > 0);
}

/* Phases after the pipeline on a stage, as pieces in the form of operations. Parts hidden behind operations
 * are not drawn. */
function afterOf(t, step, s) {
  if (!step) return [];
  const { after } = step.stages[s];
  const from = d3.max(after.filter((piece) => piece.name === "stragglers"), (piece) => piece.end) || t.end_s;
  return after.map((piece) => ({ name: piece.name, start: piece.link ? Math.max(piece.start, from) : piece.start, end: piece.end }))
    .filter((piece) => piece.end > piece.start)
    .concat(step.overhead_s > 0 ? [{ name: "fixed overhead", start: step.end_s - step.overhead_s, end: step.end_s }] : []);
}

/* Memory of a stage from each change on [s, bytes]. The activations of a pass are held from the start of its
 * forward pass to the end of its weight gradient. Uses the order of the operations, because rounded times do
 * not show the order where one ends as the next begins. */
function memoryOf(t, step, list, s) {
  const { fixed, flight } = step.stages[s];
  const parts = t.schedule === "dualpipe" ? 1 : t.chunks;
  const turns = [[0, fixed]];
  let live = 0;
  for (const i of list) {
    if (t.kind[i] === 1) continue;
    live += t.kind[i] === 0 ? 1 : -1;
    const at = t.start[i] + (t.kind[i] === 0 ? 0 : t.dur[i]);
    turns.push([Math.max(at, turns[turns.length - 1][0]), fixed + (flight * live) / parts]);
  }
  return turns;
}

/* The picture in the format of Chrome and Perfetto. The second half of a pair that runs at the same time has
 * its own thread. */
function traceOf(t, step, events, half) {
  const ns = (x) => Math.round(x * 1e9);
  const slice = (s, tid, name, cat, start, end) => ({ ph: "X", name, cat, pid: s + 1, tid, ts: start / 1e3, dur: (end - start) / 1e3 });
  const traceEvents = events.flatMap((list, s) => {
    const last = [0, 0, 0];
    const pieces = list.map((i) => {
      const tid = half[i] === 2 ? 2 : 1;
      const start = Math.max(last[tid], ns(t.start[i]));
      last[tid] = Math.max(start, ns(t.start[i] + t.dur[i]));
      return slice(s, tid, `${"FBWB"[t.kind[i]]} ${t.microbatch[i]}${t.chunks > 1 ? `.${t.chunk[i]}` : ""}`, kindNames[t.kind[i]], start, last[tid]);
    });
    const rest = afterOf(t, step, s).map((piece) => slice(s, 1, piece.name, "after", Math.max(last[1], ns(piece.start)), ns(piece.end)));
    return [{ ph: "M", name: "process_name", pid: s + 1, args: { name: `stage ${s}` } }, ...pieces, ...rest];
  });
  return { displayTimeUnit: "ms", otherData: { version: run.version, schedule: t.schedule, microbatches: t.microbatches, microbatches_shown: t.shown }, traceEvents };
}

/* ---- Texts ------------------------------------------------------------------------------------ */

/* Explains whether the picture ends with the step of the headline, and if not, what each of them is. */
function sayEnd(t, step) {
  if (t.shown < t.microbatches) {
    return ` The first ${count(t.shown)} of ${count(t.microbatches)} micro-batches are drawn, and behind them what follows the pipeline: the steady part repeats.`;
  }
  const all = " Every operation of the step is drawn.";
  if (!step) return all;
  const same = Math.abs(step.end_s / timeTotal - 1) < 1e-6;
  if (isNumber(stats.pipeline_closed_form_error)) {
    return `${all} The step is this simulation, ${whole(timeTotal)}; its pipeline in closed form is ${signed(stats.pipeline_closed_form_error)} as long.`;
  }
  return same ? `${all} It ends with the step, after ${whole(step.end_s)}.`
    : `${all} The last stage ends after ${whole(step.end_s)}; the answer above, ${whole(timeTotal)}, is the closed form, in which every part waits for its slowest stage.`;
}

/* Ticks of a window: the first in full, the others relative to it if the window is small. */
function windowTicks(from, to, many) {
  const span = to - from;
  if (span > to / 8) {
    const all = axisLabels(to, timeSteps);
    return d3.ticks(from / all.unit, to / all.unit, many).map((v) => ({ at: v * all.unit, text: all.text(v * all.unit) }));
  }
  const small = axisLabels(span, timeSteps);
  const step = d3.tickStep(0, span / small.unit, many) * small.unit;
  const base = Math.ceil(from / step) * step;
  const digits = Math.max(3, Math.ceil(Math.log10(base / step)) + 1);
  return d3.range(Math.floor((to - base) / step) + 1).map((k) => ({ at: base + k * step,
    text: k ? `+${small.text(k * step)}` : secondsIn(base, Math.min(15, digits)).join("\u202f") }));
}
