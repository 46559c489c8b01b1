/* Shows the effect of small changes of a layout. */
"use strict";

/* A table of changes in their order. `key` is the statistic to compare; `command(set)` returns the words of a
 * shell command, or null. */
function changesTable(rows, { key, before, label, text, memoryBefore, command, first = 8, caption }) {
  const marked = rows.some((row) => !row.starts);
  const said = el("pre", { hidden: true });
  const list = table({ caption, rows, sort: null, first, columns: [
    { label: "What", wrap: true, show: (r) => (r.starts ? r.change : [r.change, " ", el("b", { title: "no framework runs it" }, "!")]) },
    { label, number: true, show: (r) => text(r.stats[key]) },
    ...(isNumber(before) ? [{ label: "Change", number: true, show: (r) => signed(r.stats[key] / before - 1) }] : []),
    { label: "Memory", number: true, show: (r) => bytes(r.stats.proc_mem_tier1_cap_req) },
    ...(isNumber(memoryBefore) ? [{ label: "", number: true, show: (r) => signed(r.stats.proc_mem_tier1_cap_req / memoryBefore - 1) }] : []),
    ...(globalThis.calcLive && globalThis.calcLive.apply ? [{ label: "", screen: true, show: (r) => el("button", { type: "button", "aria-label": `Apply ${r.change}`, onclick: () => globalThis.calcLive.apply(r.set) }, "Apply") }] : []),
    ...(command ? [{ label: "", screen: true, show: (r) => copyButton("Copy", () => {
      said.textContent = command(r.set);
      said.hidden = false;
      return said.textContent;
    }, `Copy the command of ${r.change}`) }] : []),
  ] }).node;
  return [list, said, marked ? el("p", { class: "note" }, "!: no framework to which calc exports runs it.") : null];
}
