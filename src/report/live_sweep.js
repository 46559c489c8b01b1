/* The page of a sweep, live: another question is swept in a worker, by the engine of `calc sweep`. */
"use strict";

function liveSweep(ask, catalogue, code) {
  const { study } = data;
  const [, , app, sys] = study.command;
  /* The options of the command, in order. */
  const given = [];
  for (let i = 4; i < study.command.length; i += 2) given.push([study.command[i].slice(2), study.command[i + 1]]);
  const last = (name) => (given.filter(([key]) => key === name).pop() || [])[1];
  const every = (name) => given.filter(([key]) => key === name).map(([, value]) => value);
  const capacity = /^(sys\.)?mem1\.GiB=(.*)$/;
  const start = {
    app, sys: sys.split(",")[0], procs: last("procs") || "", batch: last("batch") || "",
    memory: (every("set").map((one) => capacity.exec(one)).filter(Boolean).pop() || [])[2] || "",
    where: every("where").join("; "), axis: [...every("axis"), ...every("set").filter((one) => !capacity.test(one))].join("; "), per: last("per") || "",
  };
  const keptOptions = given.filter(([key]) => !["procs", "batch", "per", "where", "axis", "set"].includes(key));
  let now = { ...start };
  let base = data.kind === "app" ? null : data; /* the answer at the start; of an app, to its first question */
  let shown = base;
  const workers = [];
  const past = [];
  const pins = [];

  const list = (text) => text.split(";").map((one) => one.trim()).filter(Boolean);
  /* The question as options: of the request, and of the command. One value is set, several are an axis. */
  function optionsOf(asked) {
    const assignments = list(asked.axis);
    const several = (one) => /=(\*|.*[,:])/.test(one) && !one.includes("=[") && !one.includes("={");
    return [["procs", asked.procs], ["batch", asked.batch], ...(asked.memory ? [[several(`=${asked.memory}`) ? "axis" : "set", `sys.mem1.GiB=${asked.memory}`]] : []),
      ...assignments.map((one) => [several(one) ? "axis" : "set", one]), ...list(asked.where).map((one) => ["where", one]), ["per", asked.per], ...keptOptions].filter(([, value]) => value);
  }
  const commandOf = (asked) => ["calc", "sweep", asked.app, asked.sys, ...optionsOf(asked).flatMap(([key, value]) => [`--${key}`, value])];
  function requestOf(asked) {
    const sweep = {};
    for (const [key, value] of optionsOf(asked)) sweep[key] = key in sweep ? [sweep[key], value].flat() : value;
    return { app: asked.app, sys: asked.sys, sweep };
  }

  /* A worker keeps its session; one that is stopped is thrown away. Where there are processors for several, each computes a part of the page. */
  const program = `${openSession};let ask=null;onmessage=async({data})=>{try{if(data.code){ask=await openSession(data.code);ask(data.keep);}postMessage({text:ask(data.request)});}catch(failure){postMessage({failure:String(failure.message||failure)});}};`;
  const parts = navigator.hardwareConcurrency > 1 ? ["cloud", "rest"] : [true];
  function part(request, page, i) {
    return new Promise((done, fail) => {
      const message = { request: JSON.stringify({ ...request, page }) };
      if (!workers[i]) {
        workers[i] = new Worker(URL.createObjectURL(new Blob([program], { type: "text/javascript" })));
        Object.assign(message, { code, keep: JSON.stringify({ keep: catalogue }) });
      }
      workers[i].onmessage = ({ data: { text, failure } }) => {
        const answer = text ? parsed(text) : {};
        if (failure || answer.errors) fail(failure || complaints(answer).join(". "));
        else done(answer.page);
      };
      workers[i].onerror = () => fail("the worker ended");
      workers[i].postMessage(message);
    });
  }
  function dismiss() {
    for (const worker of workers) worker.terminate();
    workers.length = 0;
  }

  let ticking = 0;
  function stop() {
    clearInterval(ticking);
    dismiss();
    say([shown ? "Stopped. The page shows the sweep before." : "Stopped."], [undo()]);
  }

  function sweep(asked, remember = true) {
    clearInterval(ticking);
    if (busy) dismiss();
    const began = performance.now();
    busy = true;
    const tick = () => say([el("progress", { "aria-label": "sweeping" }), ` Sweeping: ${((performance.now() - began) / 1000).toFixed(1)} s`], [button("Stop", () => { busy = false; stop(); })]);
    tick();
    ticking = setInterval(tick, 200);
    const rest = () => { clearInterval(ticking); busy = false; };
    Promise.all(parts.map((page, i) => part(requestOf(asked), page, i))).then((pages) => {
      rest();
      const page = Object.assign({}, ...pages);
      if (remember && shown) past.push([now, shown]);
      base = base || { ...data, ...page, study: { ...study, ...page.study } };
      show(asked, { ...data, ...page, study: { ...study, ...page.study, command: commandOf(asked) } }, performance.now() - began);
    }, (why) => {
      rest();
      dismiss(); /* the others answer nobody */
      say([el("b", {}, "That cannot be swept. "), why, "."], [undo()], true);
    });
  }
  let busy = false;

  function show(asked, next, took) {
    now = asked;
    shown = next;
    for (const key of Object.keys(start)) keep(`q.${key}`, now[key] === start[key] ? null : now[key]);
    if (took !== undefined) for (const key of [...kept.keys()]) if (/^f\.|^(compare|area)$/.test(key)) keep(key, null);
    fill();
    redraw(shown);
    const best = bestRow(shown);
    begin.replaceChildren(...(best && catalogue.app[best.design.application] && catalogue.sys[best.design.system] ? [startOf(best)] : []));
    tell(took);
  }

  const bestRow = (page) => page.rows.find((row) => row.set === "top" && row.rank === 1) || page.rows[0];
  const bestOf = (page) => (bestRow(page) || {}).stats;
  const undo = () => button("Undo", () => { const [asked, next] = past.pop(); show(asked, next); }, !past.length);
  function say(words_, buttons, bad) {
    showDock(words_, [...buttons, copyButton("Copy command", () => commandText(commandOf(now)), "Copy the command of this sweep")], bad);
  }
  function tell(took) {
    const { statistic, direction } = base.study.top_by;
    const [is, was] = [bestOf(shown), bestOf(base)];
    const { counts } = shown.summary;
    const change = is && was && is[statistic] !== was[statistic] ? [" ", el("em", {}, signed(is[statistic] / was[statistic] - 1))] : null;
    say([is ? el("span", {}, `${statistic.replaceAll("_", " ")} `, bold(statistic.endsWith("time") ? whole(is[statistic]) : num(is[statistic], 4)), change, direction === "down" ? " (less is better)" : "") : bold("Nothing fits. "),
      el("small", {}, took !== undefined ? `${count(counts.total)} layouts swept here in ${seconds(took / 1000)}.` : `${count(counts.total)} layouts; ask another question above.`)], [undo(), button("Back to the start", () => { past.push([now, shown]); show(start, base); }, JSON.stringify(now) === JSON.stringify(start))]);
  }

  /* How the best is started: by calc, and by a framework that can. */
  function startOf(row) {
    const { export: script } = ask({ app: row.design.application, sys: row.design.system, exe: row.execution, stats: [], export: "any" });
    const run_ = `calc run ${quoted(row.design.application)} ${quoted(row.design.system)} - <<'EOF'\n${JSON.stringify(row.execution)}\nEOF\n`;
    const usd = [["usd_per_trillion_tokens", "USD per 10\u00b9\u00b2 tokens"], ["usd_per_million_output_tokens", "USD per million output tokens"]].filter(([key]) => isNumber(row.stats[key]));
    const text = el("pre", { hidden: true });
    const shows = (label, what) => button(label, () => { text.textContent = what; text.hidden = false; });
    return el("div", { class: "card" }, el("h3", {}, "Start it"),
      el("div", { class: "tools", style: "margin:8px 0 0" }, script && script.text ? [shows(`Launch script, ${script.framework}`, script.text), button("Save it", () => download(`start-${script.framework}${script.text.startsWith("#!") ? ".sh" : ".txt"}`, script.text))] : el("span", {}, `No launch script: ${((script || {}).refused || []).join("; ")}.`),
        shows("calc run", run_), copyButton("Copy calc run", () => run_, "Copy the command that runs the best"),
        usd.map(([key, label]) => el("span", {}, bold(num(row.stats[key])), ` ${label}`))), text);
  }

  /* ---- The form ---- */

  const inputs = {};
  const field = (key, label, title, node) => {
    inputs[key] = node || el("input", { type: "text", autocomplete: "off", spellcheck: "false", title, onkeydown: (event) => { if (event.key === "Enter") { event.preventDefault(); go(); } } });
    return el("label", { class: ["where", "axis"].includes(key) ? "wide" : null, title }, label, inputs[key]);
  };
  const names = (kind, chosen) => el("select", { onchange: () => go() }, options(Object.keys(catalogue[kind]), chosen));
  const go = () => sweep(Object.fromEntries(Object.entries(inputs).map(([key, node]) => [key, node.value.trim()])));
  const [pinned, begin] = [el("div"), el("div")];

  /* A model that is not in the catalogue: its config.json, as calc takes it on the command line. */
  async function take(file) {
    const answer = ask({ import: await file.text() });
    if (answer.errors) {
      say([el("b", {}, `${file.name} is no model. `), complaints(answer).slice(0, 3).join(". "), "."], [undo()], true);
      return;
    }
    catalogue.app[file.name] = answer.app;
    ask({ keep: { app: { [file.name]: answer.app } } });
    dismiss(); /* the next ones know it */
    inputs.app.replaceChildren(...options(Object.keys(catalogue.app), file.name));
    go();
  }
  const chosen = el("input", { type: "file", accept: ".json,application/json", onchange: () => { if (chosen.files[0]) take(chosen.files[0]); } });
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
  });
  const tasks = data.tasks || [];
  const task = tasks.length && el("label", {}, "For", el("select", { onchange: (event) => {
    const { batch, axis } = tasks[event.target.selectedIndex];
    inputs.batch.value = batch;
    inputs.axis.value = axis;
    go();
  } }, tasks.map(({ name }) => el("option", {}, name))));
  const box = el("section", { id: "question", "aria-labelledby": "question-title", class: "editors" }, el("h2", { id: "question-title" }, base ? "Another question" : "The question"),
    el("p", { class: "lead" }, base ? "Change what is asked and sweep again, here in the page. Pin answers to compare them." : "Which model, on which machine, on how many of its processors? Every layout is tried here, in the page; nothing leaves it."),
    el("div", { class: "card" }, el("div", { class: "form" },
      field("app", "Model", "from calc's catalogue", names("app", start.app)), el("label", { title: "the configuration of a model of Hugging Face; it stays in this page" }, "or its config.json, chosen or dropped", chosen), field("sys", "Machine", "from calc's catalogue", names("sys", start.sys)), task || null,
      field("procs", "Processors", "a number, several as 256,512 or 8:64:8"), field("batch", "Largest global batch", "sequences, or tokens as 4Mitokens"),
      field("memory", "Memory of a processor, GiB", "empty: the machine's"), field("per", "One answer for each", "num_procs, design or both; empty: one for all"),
      field("where", "Conditions", "conditions on statistics and fields, with ; between them: mem1 <= 60GiB; tpot <= 50ms"),
      field("axis", "Fields", "FIELD=VALUE or FIELD=VALUES, with ; between them: zero_stage=1,3; activation_recompute=*")),
    el("div", { class: "tools", style: "margin:14px 0 0" }, el("button", { type: "button", class: "main", onclick: () => go() }, base ? "Sweep again" : "Find the layout"),
      button("Pin this answer", () => pin()))), begin, pinned);
  inputs.where.placeholder = "mem1 <= 60GiB";
  inputs.axis.placeholder = "zero_stage=1,3; activation_recompute=*";
  inputs.per.placeholder = "num_procs";
  function fill() {
    for (const [key, node] of Object.entries(inputs)) node.value = now[key];
  }

  function pin() {
    const row = shown && bestRow(shown);
    if (!row || pins.some((one) => one.row === row)) return;
    pins.push({ row, command: commandText(commandOf(now)) });
    drawPins();
  }
  function drawPins() {
    const size = (exe) => [["TP", exe.tensor_par], ["PP", exe.pipeline_par], ["DP", exe.data_par], ["CP", exe.context_par], ["EP", exe.expert_par]].filter(([, n], i) => i < 3 || n > 1).map(([name, n]) => `${name} ${count(n)}`).join(" × ");
    const { statistic } = base.study.top_by;
    pinned.replaceChildren(...(pins.length ? [el("div", { class: "card" }, el("h3", {}, "Pinned"), table({ caption: "Pinned answers", rows: pins, sort: null, columns: [
      { label: "Model", show: ({ row }) => row.design.application }, { label: "Machine", show: ({ row }) => row.design.system },
      { label: "Processors", number: true, show: ({ row }) => count(row.execution.num_procs) }, { label: "Layout", show: ({ row }) => size(row.execution) },
      { label: statistic.replaceAll("_", " "), number: true, show: ({ row }) => num(row.stats[statistic], 4) },
      { label: "To the first", number: true, show: ({ row }) => signed(row.stats[statistic] / pins[0].row.stats[statistic] - 1) },
      { label: "Memory", number: true, show: ({ row }) => bytes(row.stats.proc_mem_tier1_cap_req) },
      { label: "", screen: true, show: (one) => [copyButton("Copy", () => one.command, "Copy the command of this answer"), " ", button("Remove", () => { pins.splice(pins.indexOf(one), 1); drawPins(); })] }] }).node)] : []));
  }

  globalThis.calcLive = { box, apply: null, sweep: (asked) => sweep({ ...now, ...asked }), busy: () => busy, shown: () => shown };
  fill();
  ask({ keep: catalogue });
  if (base) show(start, base);
  else main.append(box);
  const asked = { ...start };
  for (const key of Object.keys(start)) if (kept.has(`q.${key}`)) asked[key] = kept.get(`q.${key}`);
  if (!base || Object.keys(start).some((key) => asked[key] !== start[key])) { for (const key of Object.keys(inputs)) inputs[key].value = asked[key]; sweep(asked, false); }
  document.documentElement.dataset.live = "yes";
}

/* A sweep of a space file, of documents that are not in the catalogue, or by Calculon's rules is the command's. */
if (["sweep", "app"].includes(data.kind) && data.study && data.study.command) {
  const [, , app, sys, space] = data.study.command;
  if (app && sys && (!space || space.startsWith("--")) && data.study.compat === "none") {
    goLive((ask, catalogue, code) => {
      if (!catalogue.app[app] || !catalogue.sys[sys.split(",")[0]]) throw new Error("not in the catalogue");
      liveSweep(ask, catalogue, code);
    });
  }
}
