/* The page of a run, live: every field can be changed where it stands. */
"use strict";

function liveRun(ask, catalogue) {
  const start = data.run;
  /* What the command completes: nobody wrote the layout as a whole. */
  const completed = start.names.completed || start.names.command[4] === "-" || !(start.names.sha256 && start.names.sha256.execution);
  const tables = Object.fromEntries(["exe", "sys", "app"].map((kind) => [kind, ask({ fields: kind }).fields]));
  const names = { app: start.names.application, sys: start.names.system };
  /* What the reader changed: names of model and machine, fields by path, and fields that follow from these. */
  let state = { names, set: new Map(), follow: new Map() };
  const past = [];
  let shown = data;

  const documentOf = (kind, name) => (name === names[kind] ? start[kind === "app" ? "application" : "system"] : catalogue[kind][name]);
  const listOf = (state_) => [...state_.set, ...state_.follow].map(([path, value]) => `${path}=${value}`);
  const request = (state_, set, more) => ask({ app: state_.names.app, sys: state_.names.sys, exe: start.execution, set, ...more });

  /* The answer to a state. Where fields contradict each other, those that the complaint names follow from the
   * others, as far as they may; the number of processors stays. */
  function answerOf(wanted) {
    const own = [...wanted.set].map(([path, value]) => `${path}=${value}`);
    const may = Object.entries(tables.exe).filter(([key, field]) => field.auto && key !== "num_procs" && !wanted.set.has(`exe.${key}`)).map(([key]) => key);
    const free = new Set();
    let again = request(wanted, own, { page: true });
    const first = complaints(again);
    while (again.errors) {
      const more = may.filter((key) => !free.has(key) && complaints(again).some((text) => new RegExp(`\\b${key}\\b`).test(text)));
      /* What nothing that follows could mend comes first. */
      if (!more.length) return { answer: again, reasons: complaints(again).sort((a, b) => first.includes(b) - first.includes(a)), follow: new Map() };
      for (const key of more) free.add(key);
      again = request(wanted, [...own, ...[...free].map((key) => `exe.${key}=auto`)], { page: true });
    }
    const found = again.page.run.execution;
    return { answer: again, follow: new Map([...free].filter((key) => found[key] !== undefined && found[key] !== start.execution[key]).map((key) => [`exe.${key}`, String(found[key])])) };
  }

  /* The page of an answer: names and the command are of the state; bands and published runs are of the start. */
  function pageOf(answer, now) {
    const first = !now.set.size && now.names.app === names.app && now.names.sys === names.sys;
    if (first) return data;
    const same = now.names.app === names.app && now.names.sys === names.sys;
    const { page } = answer;
    const remarks = same ? (data.plan || start).remarks : page.run.remarks;
    return { ...data, ...page, band: NaN, measured: [], changed: true, listed: listedOf(page.run.execution, now.names.sys), run: { ...page.run, remarks,
      names: { ...start.names, application: now.names.app, system: now.names.sys, command: commandOf(now), tail } } };
  }

  /* What stages that differ have, place by place. */
  function listedOf({ stages: list, pipeline_par: stages, num_procs: procs, activation_recompute: method }, system) {
    if (!list) return null;
    const [on, by, again] = [list.system || system, list.activation_recompute || method, list.recompute_blocks || ""].map((value) => spread(value, stages));
    const places = Array.from({ length: stages }, (_, i) => ({ system: on[i], recompute: `${by[i]} ${again[i]}` }));
    return { stages: places, machine: [...new Set(places.map((one) => one.system))].map((name) => `${count((places.filter((one) => one.system === name).length * procs) / stages)} x ${name}`).join(" and ") };
  }

  /* "exe.tensor_par" is tensor_par on a command line, where no other document has it. */
  const shortest = (path) => (path.startsWith("exe.") && !(path.slice(4) in tables.app) ? path.slice(4) : path);
  const kindOf = (path) => (/^(exe|sys|app)\./.test(path) ? path.slice(0, 3) : ["exe", "app", "sys"].find((kind) => fieldIn(tables[kind], path)));
  function commandOf(now) {
    const [calc, run_, app, sys, ...rest] = start.names.command;
    const changed = (kind) => now.names[kind] !== names[kind];
    /* What the command would complete is not the layout that is changed here: that goes in as a whole. */
    const exe = completed ? ["-"] : rest.slice(0, 1);
    const options_ = [];
    for (let i = completed && (rest[0] || "").startsWith("--") ? 0 : 1; i < rest.length; i += rest[i] === "--band" ? 1 : 2) {
      const [name, value] = [rest[i], rest[i + 1] || ""];
      /* Assignments to a document that was exchanged for another went with it. */
      if (name === "--set" && !changed(kindOf(value.split("=")[0]))) options_.push(name, value);
    }
    return withSets([calc, run_, changed("app") ? now.names.app : app, changed("sys") ? now.names.sys : sys, ...exe, ...options_],
      [...now.set, ...now.follow].map(([path, value]) => `${shortest(path)}=${value}`));
  }
  const tail = completed ? ` <<'EOF'\n${JSON.stringify(start.execution)}\nEOF\n` : "";

  function go(wanted, remember = true) {
    const { answer, reasons, follow } = answerOf(wanted);
    if (reasons) {
      complain(reasons);
      return;
    }
    if (remember) past.push(state);
    state = { ...wanted, follow };
    shown = pageOf(answer, state);
    keep("set", listOf({ set: state.set, follow: new Map() }).join(";"));
    keep("sys", state.names.sys === names.sys ? null : state.names.sys);
    keep("app", state.names.app === names.app ? null : state.names.app);
    const now = performance.now();
    redraw(shown);
    document.documentElement.dataset.redraw = (performance.now() - now).toFixed(1);
    tell();
  }

  /* Sets fields: ["tensor_par=8"]. A value that is the start's is no change. */
  function apply(assignments) {
    const set = new Map(state.set);
    for (const one of assignments) {
      const [, path, value] = /^([^=]*)=(.*)$/.exec(one);
      const full = /^(exe|sys|app)\./.test(path) ? path : `exe.${path}`;
      set.delete(full);
      if (String(valueOf(full, { application: documentOf("app", state.names.app), system: documentOf("sys", state.names.sys), execution: start.execution })) !== value) set.set(full, value);
    }
    go({ ...state, set });
  }

  const parts = { exe: "execution", sys: "system", app: "application" };
  const known = new WeakMap(); /* the values of documents */
  function valueOf(path, run_) {
    const object = run_[parts[path.slice(0, 3)]];
    if (!known.has(object)) known.set(object, new Map(leaves(object, tables[path.slice(0, 3)])));
    return known.get(object).get(path.slice(4));
  }

  /* ---- The dock ---- */

  const key = start.stats.output_tokens_per_s > 0 ? "output_tokens_per_s" : "total_time";
  const undo = () => button("Undo", () => { state = past.pop(); go(state, false); }, !past.length);
  const reset = () => button("Back to the start", () => go({ names, set: new Map(), follow: new Map() }), !state.set.size && state.names.sys === names.sys && state.names.app === names.app);
  function tell() {
    const { stats, verdict } = shown.run;
    const number = (label, value, text) => [el("span", {}, `${label} `, bold(text(value(stats))), " ", isNumber(value(start.stats)) && value(stats) !== value(start.stats) ? el("em", {}, signed(value(stats) / value(start.stats) - 1)) : null), " "];
    showDock([verdict === "ok" ? null : el("b", { class: "bad" }, `It cannot run: ${tierWords(verdict)}. `),
      number(key === "total_time" ? "Step" : "Output tokens/s", (s) => s[key], key === "total_time" ? whole : amount),
      number("memory", (s) => s.proc_mem_tier1_cap_req, bytes),
      isNumber(stats.model_flops_utilization) ? number("MFU", (s) => s.model_flops_utilization, share) : null,
      el("small", {}, state.set.size || state.follow.size ? [...state.set.keys(), ...state.follow.keys()].map((path) => `${shortest(path)} ${short_(valueOf(path, start))} → ${short_(valueOf(path, shown.run))}`).join(", ")
        : state.names.sys !== names.sys ? `on ${state.names.sys}` : "Change any field of The layout.")],
    [undo(), reset(), copyButton("Copy command", () => commandText(shown.run.names.command) + (shown.run.names.tail || ""), "Copy the command that makes this page")]);
    for (const [path, one] of controls) {
      const value = valueOf(path, shown.run);
      one.show(value === undefined ? one.field.default ?? "" : value);
      one.row.classList.toggle("on", state.set.has(path) || state.follow.has(path));
      one.row.classList.remove("wrong");
    }
    for (const [kind, node] of Object.entries(lists)) node.value = state.names[kind];
  }
  const short_ = (value) => (value === undefined ? "default" : typeof value === "number" ? count(value) : clipped(String(value), 60));
  function complain(reasons) {
    showDock([el("b", {}, "There is no such layout. "), reasons.slice(0, 2).join(". "), "."], [button("Keep what was", () => tell()), undo(), reset()], true);
    for (const one of controls.values()) if (one.asked) one.row.classList.add("wrong");
    for (const one of controls.values()) one.asked = false;
  }

  /* ---- The fields ---- */

  const controls = new Map();
  const lists = {};
  function rowOf(kind, path, field) {
    const full = `${kind}.${path}`;
    const one = { field, ...control(full, field, (text) => { one.asked = true; apply([`${full}=${text}`]); one.asked = false; }) };
    one.row = el("tr", { "data-field": full }, el("td", { title: field.description }, path.split(/(?<=[._])/).flatMap((part) => [part, el("wbr")])), el("td", { class: "n" }, one.node, field.unit ? el("span", { class: "unit" }, ` ${field.unit}`) : null));
    controls.set(full, one);
    return one.row;
  }

  /* The fields of a document: those that it has, and the rest of the table behind a search. */
  function editor(kind, title) {
    /* What a server is asked for, though its file leaves it out. */
    const asked = kind === "exe" && serves ? ["inference.batch", "inference.arrival_rate"] : [];
    const there = [...new Set([...leaves(start[parts[kind]], tables[kind]).map(([path]) => path), ...asked])];
    /* What is served first, and curves and lists last. */
    const order = (path) => (["curve", "operation", "pattern", "stages", "layers"].includes(fieldIn(tables[kind], path).type) ? 1 : serves && path.startsWith("inference.") ? -1 : 0);
    const known = there.filter((path) => isEditable(fieldIn(tables[kind], path))).sort((a, b) => order(a) - order(b));
    const others = Object.keys(tables[kind]).filter((path) => !there.includes(path) && !/\[N\]|DATATYPE/.test(path) && isEditable(tables[kind][path]));
    const rows = [...known, ...others].map((path) => ({ path, row: rowOf(kind, path, fieldIn(tables[kind], path)) }));
    const body = el("tbody");
    const first = kind === "exe" ? 14 : 12;
    let all = false;
    const search = el("input", { type: "search", placeholder: "Find a field", "aria-label": `Find a field of ${title}`, oninput: () => fill() });
    const more = button("", () => { all = !all; fill(); });
    function fill() {
      const needle = search.value.toLowerCase();
      const matches = ({ path }) => { const field = fieldIn(tables[kind], path); return `${path} ${(field.also || []).join(" ")} ${field.description || ""}`.toLowerCase().includes(needle); };
      body.replaceChildren(...rows.filter((one, i) => (needle ? matches(one) : all || i < Math.min(first, known.length))).map(({ row }) => row));
      more.textContent = all ? "Show fewer" : `Show all ${count(rows.length)}`;
      more.hidden = Boolean(needle) || rows.length <= first;
    }
    const list = kind !== "exe" && el("select", { "aria-label": title, onchange: () => go({ ...state, names: { ...state.names, [kind]: list.value }, set: new Map([...state.set].filter(([path]) => !path.startsWith(kind))) }) }, options(Object.keys(catalogue[kind]), names[kind]));
    if (list) lists[kind] = list;
    fill();
    return el("div", { class: "card" }, el("div", { class: "tools" }, el("h3", {}, title), list || null, el("span", { class: "right" }, search)),
      el("table", { class: "fields" }, el("caption", { class: "hidden" }, title), body), el("div", { class: "tools", style: "margin:10px 0 0" }, more));
  }

  const box = el("div", { class: "cols editors" }, editor("exe", "Layout"), editor("sys", "Machine"), editor("app", "Model"));
  globalThis.calcLive = { apply, box, change: (assignments) => apply(assignments), state: () => state, shown: () => shown };

  /* What the address asks for. */
  const told = (kept.get("set") || "").split(";").filter(Boolean);
  const sys = catalogue.sys[kept.get("sys")] ? kept.get("sys") : names.sys;
  const app = catalogue.app[kept.get("app")] ? kept.get("app") : names.app;
  const asked = { names: { app, sys }, set: new Map(told.map((one) => one.split(/=(.*)/s).slice(0, 2))), follow: new Map() };
  /* Requests name model and machine, as stages do: a machine that is changed is that of its stages, too. The page has them as they were read. */
  const kept_ = (name, system) => [name, { ...system, source: (catalogue.sys[name] || {}).source }];
  ask({ keep: catalogue });
  ask({ keep: { app: { [names.app]: start.application }, sys: Object.fromEntries([...(data.plan ? data.plan.systems.map((name, i) => kept_(name, data.plan.machines[i])) : []), kept_(names.sys, start.system)]) } });
  const { answer } = answerOf({ ...state, set: new Map() });
  /* Another build of the module would be another model. */
  if (answer.errors || answer.page.run.stats.total_time !== start.stats.total_time) throw new Error("this module is of another calc");
  redraw(data);
  tell();
  if (told.length || sys !== names.sys || app !== names.app) go(asked);
  document.documentElement.dataset.live = "yes";
}

/* Simulated pipelines, measured operators and Calculon's rules are the command's. */
if (["run", "plan"].includes(data.kind) && data.ours && data.run.names.command && !data.run.names.command.some((word) => ["--schedule", "--operators", "--compat"].includes(word))) goLive(liveRun);
