/* Layouts of a sweep as a table and side by side. */
"use strict";

/* ---- The table -------------------------------------------------------------------------------- */

const compareWatchers = [];
let rowTable = null;

function toggle(row, only_add) {
  if (compared.includes(row)) {
    if (only_add || compared.length === 1) return;
    compared = compared.filter((other) => other !== row);
  } else {
    compared = [...compared, row].slice(-8);
  }
  compared.sort(better);
  keep("compare", compared.map((row) => row.index).join());
  for (const watcher of compareWatchers) watcher();
}

/* Results of a layout: samples in training, tokens and latencies in serving. */
const rate = serves ? "output_tokens_per_s" : "sample_rate";
function columnsOfRates(fastest) {
  const column = (key, label, text) => ({ label, number: true, value: (row) => row.stats[key], show: (row) => (isNumber(row.stats[key]) ? text(row.stats[key]) : "–") });
  const first = serves ? ["output_tokens_per_s", "Output tokens/s", (x) => num(x, 4)] : ["sample_rate", "Samples/s", (x) => num(x, 4)];
  const rest = serves ? [["output_tokens_per_s_per_proc", "Per processor", num], ["ttft", "First token", seconds], ["tpot", "Per token", seconds], ["tokens_per_s_per_user", "Tokens/s of a request", num]]
    : [["total_time", "Step", seconds], ["model_flops_utilization", "MFU", share]];
  const known = [first, ...rest].map(([key]) => key);
  return [{ ...column(...first), show: (row) => meter(first[2](row.stats[first[0]]), row.stats[first[0]] / fastest) },
    ...(known.includes(goal) ? [] : [column(goal, metricLabel(goal), metricText(goal))]),
    ...rest.filter(([key]) => rows.some((row) => isNumber(row.stats[key]))).map((one) => column(...one))];
}

function showTable() {
  if (!rows.length) return;
  const node = section("layouts", "Layouts", "Layouts worth running", "Best first.");
  node.querySelector(".lead").append(el("span", { class: "screen" }, " Tick a row to compare it below. Every row can be run again with the command it carries."));
  const box = card(node);
  const sets = [["each", axes.some((axis) => axis.ofDesign) ? "Best of each design" : "Best of each group"], ["split", "Best of each split"], ["front", "Pareto front"], ["top", `Top ${inSet("top").length}`], ["procs", "Best of each size"]]
    .filter(([key]) => inSet(key).length);
  let set = sets.some(([key]) => key === kept.get("rows")) ? kept.get("rows") : sets[0][0];
  const equals = rows.filter(isEqual).length;
  const tie = inSet("top").filter((row) => row.stats[goal] === best.stats[goal]).length;
  const fastest = d3.max(rows, (row) => row.stats[rate]);
  const rateColumns = columnsOfRates(fastest);
  const varying = axes.filter((axis) => !axis.of).map((axis) => axis.key).filter((k) => !["tensor_par", "pipeline_par", "data_par"].includes(k));
  const command = el("pre", { hidden: true });
  let brief_ = kept.get("commands") === "short";
  const list = () => inSet(set).filter(rowInView);
  const view_ = table({ caption: "Layouts", rows: list(), sort: 3, first: 12, search: "Filter, e.g. full or 16",
    tools: [choice("Rows", sets, set, (key) => { set = key; keep("rows", key === sets[0][0] ? null : key); view_.update(list()); }),
      "Commands", choice("Commands", [["", "Complete"], ["short", "From best.json"]], brief_ ? "short" : "", (key) => { brief_ = key === "short"; keep("commands", key); command.hidden = true; })],
    rowAttributes: (row) => ({ class: compared.includes(row) ? "on" : null, "data-row": row.index }),
    columns: [
      { label: "", screen: true, show: (row) => el("input", { type: "checkbox", checked: compared.includes(row), "aria-label": `Compare ${splitName(row.exe)}`, onchange: () => toggle(row) }) },
      { label: "", screen: true, show: (row) => {
        const button = copyButton("Copy", () => commandOf(row, [], brief_), `Copy the command of ${splitName(row.exe)}`);
        button.addEventListener("click", () => { command.textContent = commandOf(row, [], brief_); command.hidden = false; });
        return button;
      } },
      { label: "", show: (row) => (isEqual(row) ? el("b", { title: "an equal of the best" }, "=") : "") },
      rateColumns[0],
      ...axes.filter((axis) => axis.ofDesign).map((axis) => ({ label: axisLabel(axis.key), number: true, value: (row) => numberOf(axis, row), show: (row) => rowValue(row, axis.key) })),
      ...["tensor_par", "pipeline_par", "data_par"].map((k) => ({ label: axisLabel(k), number: true, value: (row) => row.exe[k], show: (row) => count(row.exe[k]) })),
      { label: "Memory", number: true, value: (row) => row.stats.proc_mem_tier1_cap_req, show: (row) => meter(bytes(row.stats.proc_mem_tier1_cap_req), row.stats.proc_mem_tier1_cap_req / row.stats.mem_tier1_capacity, "quiet") },
      ...(rows.some((row) => isNumber(row.stats.fits) && row.stats.fits < 0.9) ? [{ label: "Fits", number: true, title: "of comparable measured runs so many would fit", value: (row) => row.stats.fits, show: (row) => (isNumber(row.stats.fits) ? `${Math.round(100 * row.stats.fits)}\u202f%` : "–") }] : []),
      ...(rows.some((row) => row.stats.proc_mem_tier2_cap_req > 0) ? [{ label: "Second memory", number: true, value: (row) => row.stats.proc_mem_tier2_cap_req, show: (row) => (row.stats.proc_mem_tier2_cap_req ? bytes(row.stats.proc_mem_tier2_cap_req) : "–") }] : []),
      ...rateColumns.slice(1),
      ...(isSure ? [{ label: "Chance worse", number: true, value: (row) => row.stats.sure, show: (row) => (row === best ? "–" : share(row.stats.sure)) }] : []),
      ...varying.map((k) => ({ label: axisLabel(k), screen: k.endsWith("_net"), number: typeof fieldOf(rows[0].exe, k) === "number", value: (row) => (typeof fieldOf(row.exe, k) === "number" ? fieldOf(row.exe, k) : rowValue(row, k)), show: (row) => rowValue(row, k) })),
    ] });
  rowTable = view_;
  box.append(view_.node);
  box.append(el("div", { class: "tools", style: "margin:0" }, el("span", {}, equals > 1 ? `= marks ${count(equals)} equals: layouts ${equalText}${tie > 1 ? `, and ${count(tie)} of them tie` : ""}.` : ""),
    el("span", { class: "right" }, el("button", { type: "button", onclick: () => download("layouts.json",
      JSON.stringify(list().map((row) => ({ design: row.design, execution: row.exe, stats: row.stats })), null, 2)) }, "Save these rows as JSON"), " ",
    el("button", { type: "button", onclick: () => download("best.json", JSON.stringify(start.exe, null, 2)) }, "Save best.json"), " ",
    el("button", { type: "button", onclick: () => download("execution.json", JSON.stringify(compared[0].exe, null, 2)) }, "Save the first ticked as execution"))), command);
  watchers.push(() => view_.update(list()));
  compareWatchers.push(() => view_.refresh());
}

/* ---- Comparison ------------------------------------------------------------------------------- */

function noteOf(row) {
  if (serves) return [["batch", row.exe.inference.batch || row.exe.batch_size], ["chunk", row.exe.inference.chunk_size]].filter(([, value]) => value).map(([name, value]) => `${name} ${count(value)}`).join(" · ");
  const parts = [`µb ${count(row.exe.microbatch_size)}`];
  if (row.exe.pipeline_interleaving > 1) parts.unshift(`v${count(row.exe.pipeline_interleaving)}`);
  parts.push(`re ${words(row.exe.activation_recompute)}`);
  return parts.join(" · ");
}

/* The parts of a point of the scatter are not known. */
const whole_ = "not divided";
const wholePart = { key: whole_, label: whole_, color: colorOf("line") };

/* Choices and results of layouts, differences first; values equal to the first layout's are grey. */
function sideBySide() {
  const lines = [...axes.filter((axis) => axis.key !== "equal").map((axis) => [axisLabel(axis.key), (row) => rowValue(row, axis.key)]),
    ...[...new Set([goal, ...metrics])].filter((key) => columns.has(key)).map((key) => [metricLabel(key), (row) => (row === best && key === "sure" ? "–" : metricText(key)(row.stats[key]))])]
    .map(([label, show]) => ({ label, values: compared.map(show) })).map((line) => ({ ...line, same: new Set(line.values).size === 1 }));
  return table({ caption: "Side by side", rows: lines.sort((a, b) => a.same - b.same), sort: null, first: 14,
    columns: [{ label: "", show: (line) => line.label },
      ...compared.map((row, i) => ({ label: splitName(row.exe), number: true, show: ({ values }) => (i === 0 ? values[0] : el(values[i] === values[0] ? "span" : "b", { class: values[i] === values[0] ? "same" : null }, values[i])) }))] }).node;
}

function showComparison() {
  if (!rows.length) return;
  const pins = splits.filter((cell) => cell.row).map((cell) => cell.row).sort(better).slice(0, 5);
  const told = (kept.get("compare") || "").split(",").filter(Boolean).map((i) => (/^p\d+$/.test(i) && Number(i.slice(1)) < cloud.shown ? layoutAt(Number(i.slice(1))) : rows[i])).filter(Boolean);
  compared = (told.length ? told : [...new Set([best, ...pins])].slice(0, 5)).sort(better);
  const time = section("time", "Time", "Where the step goes", `Exposed time only: what overlaps with compute is not shown.${serves ? "" : " Per sample, as layouts may differ in batch."}`);
  const memory = section("memory", "Memory", "What fills the memory", "Bytes that a processor holds on the fullest stage.");
  const [timeBox, memoryBox] = [card(time), card(memory)];
  let per = serves ? "step" : "sample";
  const tools = el("div", { class: "tools" }, choice("Unit", [["sample", "Per sample"], ["step", "Per step"]], per, (key) => { per = key; fill(); }),
    el("span", { class: "right" }, "Tick rows in the table, or points of the scatter, to change what is compared."));
  const [timeArea, memoryArea] = [el("div"), el("div")];
  const sides = el("div");
  card(time, el("h3", {}, "Side by side"), sides);
  timeBox.append(tools, timeArea);
  memoryBox.append(memoryArea);
  function fill() {
    timeArea.replaceChildren();
    memoryArea.replaceChildren();
    sides.replaceChildren(sideBySide());
    const divided = (row) => (per === "sample" ? row.exe.batch_size : 1);
    const times = compared.map((row) => ({ label: splitName(row.exe), note: noteOf(row), total: row.stats.total_time / divided(row),
      values: Object.fromEntries(Object.entries(row.time || { [whole_]: row.stats.total_time }).map(([k, v]) => [k, v / divided(row)])) }));
    stacks(timeArea, { rows: times, parts: [...timeParts, wholePart], steps: timeSteps, text: seconds,
      aria: times.map((row) => `${row.label}: ${seconds(row.total)} per ${per}`).join("; ") });
    timeArea.append(partsTable(times, timeParts, seconds, `Time per ${per}`));
    for (const tier of [1, 2]) {
      const need = `proc_mem_tier${tier}_cap_req`;
      const list = compared.map((row) => ({ label: splitName(row.exe), note: noteOf(row), values: row[`memory${tier}`] || { [whole_]: row.stats[need] }, total: row.stats[need] || 0 }));
      if (!list.some((row) => row.total > 0)) continue;
      const capacity = best.stats[`mem_tier${tier}_capacity`];
      if (tier === 2) memoryArea.append(el("h3", { style: "margin-top:18px" }, "Second memory"));
      stacks(memoryArea, { rows: list, parts: [...memoryParts, wholePart], steps: byteSteps, text: bytes,
        limit: capacity > 0 && !several ? { value: capacity, label: `${bytes(capacity)} capacity` } : null,
        aria: list.map((row) => `${row.label}: ${bytes(row.total)}`).join("; ") });
      memoryArea.append(partsTable(list, memoryParts, bytes, tier === 1 ? "Memory" : "Second memory"));
    }
  }
  compareWatchers.push(fill);
  fill();
  if (rowTable) rowTable.refresh();
}
