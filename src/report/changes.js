/* What small changes of a layout come to. */
"use strict";

/* A list of changes as a table, most useful first. `of` gives what is compared: larger is better if
 * `up`; `command(set)` is the words of a shell, or null. */
function changesTable(items, { of, up, before, label, text, memoryBefore, command, first = 8, caption }) {
  const rows = items.map((item) => ({ ...item, value: of(item.stats) }))
    .sort((a, b) => (up ? d3.descending : d3.ascending)(a.value, b.value));
  const marked = rows.some((row) => !row.starts);
  const said = el("pre", { hidden: true });
  const list = table({ caption, rows, sort: null, first, columns: [
    { label: "Change", wrap: true, show: (r) => (r.starts ? r.change : [r.change, " ", el("b", { title: "no framework runs it" }, "!")]) },
    { label, number: true, show: (r) => text(r.value) },
    ...(isNumber(before) ? [{ label: up ? "More" : "Less", number: true, show: (r) => signed(r.value / before - 1) }] : []),
    { label: "Memory", number: true, show: (r) => bytes(r.stats.proc_mem_tier1_cap_req) },
    ...(isNumber(memoryBefore) ? [{ label: "", number: true, show: (r) => signed(r.stats.proc_mem_tier1_cap_req / memoryBefore - 1) }] : []),
    ...(command ? [{ label: "", screen: true, show: (r) => copyButton("Copy", () => {
      said.textContent = command(r.set);
      said.hidden = false;
      return said.textContent;
    }, `Copy the command of ${r.change}`) }] : []),
  ] }).node;
  return [list, said, marked ? el("p", { class: "note" }, "!: no framework to which calc exports runs it.") : null];
}
