/* The page of a serving run: its answer, and latency against throughput. */
"use strict";

const serves = Boolean(data.concurrency);

/* Prefill alone has no time per token, and decoding alone no first token. */
function servingHeadline(s) {
  const [first, each] = [isNumber(s.ttft), isNumber(s.tpot)];
  const em = (x) => el("em", {}, secondsIn(x, 4).join("\u202f"));
  return first && each ? ["The first token comes after ", em(s.ttft), ", then one every ", em(s.tpot), "."]
    : each ? ["A token comes every ", em(s.tpot), "."]
      : ["The first token comes after ", em(s.ttft), "."];
}

function servingWhy(s, time, total) {
  const words = [];
  const parts = Object.entries(time).sort((a, b) => b[1] - a[1]).slice(0, 2).filter(([, value]) => value > 0);
  words.push(isNumber(s.tpot) ? "Of a step " : "Of the prefill ");
  parts.forEach(([label, value], i) => words.push(i ? " and " : "", `${label === "forward" ? "kernels" : label} take${label === "forward" ? "" : "s"} `, bold(share(value / total))));
  words.push(". ");
  if (isNumber(s.prefill_share)) words.push("Prompts are read in ", bold(share(s.prefill_share)), " of the time. ");
  if (s.kv_cache_space > 0) words.push("Cached keys and values fill ", bold(bytes(s.kv_cache_space)), ` of ${bytes(s.mem_tier1_capacity)}`);
  if (isNumber(s.max_batch)) words.push(`, and there is room for ${count(Math.floor(s.max_batch))} sequences of full length`);
  if (s.kv_cache_space > 0) words.push(".");
  return words;
}

function servingKpis(s, memory) {
  const time = (x) => (isNumber(x) ? secondsIn(x, 4) : ["–", ""]);
  const known = (label, x, value, unit, note) => (isNumber(x) ? [[label, value, unit, note]] : []);
  return [
    ...known("First token", s.ttft, ...time(s.ttft), isNumber(s.ttft_p99) ? `99\u202f% within ${seconds(s.ttft_p99)}` : "of a batch"),
    ...known("Per output token", s.tpot, ...time(s.tpot), `${num(s.tokens_per_s_per_user)} tokens/s of a request`),
    ...(exe.inference.phase === "prefill" ? known("Prompts", s.tokens_per_s, amount(s.tokens_per_s), "tokens/s", `${num(s.tokens_per_s_per_proc)} per processor`)
      : known("Output", s.output_tokens_per_s, amount(s.output_tokens_per_s), "tokens/s", `${num(s.output_tokens_per_s_per_proc)} per processor`)),
    ...known("Requests", s.requests_per_s, num(s.requests_per_s), "1/s", isNumber(s.request_time) ? `one takes ${seconds(s.request_time)}` : ""),
    ...known("Room for", s.max_batch, count(Math.floor(s.max_batch)), "sequences", isNumber(s.decode_sequences) ? `${num(s.decode_sequences)} are decoded` : "of full length"),
    memory,
  ];
}

/* ---- Latency against throughput ---------------------------------------------------------------- */

/* A line through the points on log scales; the point of this run is filled. */
function curve(parent, points, own, { x, y, xLabel, yLabel, xText, yText, title, of }) {
  const used = points.filter((p) => p[x] > 0 && p[y] > 0);
  if (used.length < 2) return;
  const box = card(parent, el("h3", {}, title));
  const height = 300;
  const said = (p) => `${of(p)}: ${xText(p[x])}, ${yText(p[y])}`;
  picture(box, `${title}: ${[used[0], used[used.length - 1]].map(said).join("; ")}`, (svg, width) => {
    const [left, right, top, bottom] = [64, 18, 14, height - 42];
    const scale = (key, range) => d3.scaleLog(d3.extent(used, (p) => p[key]).map((v, i) => v * (i ? 1.3 : 0.77)), range);
    const [sx, sy] = [scale(x, [left, width - right]), scale(y, [bottom, top])];
    const ticks = (s, most) => s.ticks(most).filter((v, i, all) => all.length <= most || /^[125]/.test(v.toExponential()));
    for (const v of ticks(sx, Math.max(3, width / 90))) {
      svg.append("line").attr("class", "grid").attr("x1", sx(v)).attr("x2", sx(v)).attr("y1", top).attr("y2", bottom);
      svg.append("text").attr("x", sx(v)).attr("y", bottom + 17).attr("text-anchor", "middle").text(brief(v, countSteps).trim());
    }
    for (const v of ticks(sy, 7)) {
      svg.append("line").attr("class", "grid").attr("x1", left).attr("x2", width - right).attr("y1", sy(v)).attr("y2", sy(v));
      svg.append("text").attr("x", left - 8).attr("y", sy(v) + 4).attr("text-anchor", "end").text(brief(v, timeSteps));
    }
    svg.append("text").attr("x", width - right).attr("y", bottom + 36).attr("text-anchor", "end").text(xLabel);
    svg.append("path").attr("d", d3.line().x((p) => sx(p[x])).y((p) => sy(p[y]))(used))
      .style("fill", "none").style("stroke", "var(--accent)").style("stroke-width", 1.5);
    let last = -Infinity;
    for (const p of used) {
      const mark = svg.append("circle").attr("cx", sx(p[x])).attr("cy", sy(p[y])).attr("r", p === own ? 7 : 4.5)
        .style("fill", p === own ? "var(--accent)" : "var(--card)").style("stroke", "var(--accent)").style("stroke-width", 1.5).node();
      tells(mark, () => [of(p), [[xLabel, xText(p[x])], [yLabel, yText(p[y])], ["memory", bytes(p.proc_mem_tier1_cap_req)]]]);
      if (p === own || sx(p[x]) - last > 44) {
        svg.append("text").attr("class", p === own ? "strong" : null).attr("x", sx(p[x])).attr("y", sy(p[y]) - 12).attr("text-anchor", "middle").text(short(p.requests));
        last = sx(p[x]);
      }
    }
    return height;
  });
}

function showConcurrency() {
  const { by, points } = data.concurrency;
  const out = exe.inference.phase === "prefill" ? "tokens_per_s" : "output_tokens_per_s";
  if (new Set(points.map((p) => p[out])).size < 2) return; /* prompts run one pass after the other */
  const arrive = by === "arrival_rate";
  const now = arrive ? exe.inference.arrival_rate : exe.inference.batch || exe.batch_size;
  const own = points.find((p) => Math.abs(p.requests / now - 1) < 1e-9);
  const unit = out === "tokens_per_s" ? "tokens/s" : "output tokens/s";
  const of = (p) => (arrive ? `${short(p.requests)} requests/s` : `${count(p.requests)} request${p.requests === 1 ? "" : "s"} in flight`);
  const node = section("concurrency", "Latency", "Latency against throughput",
    `The same layout with ${arrive ? "requests that arrive more or less often" : "fewer and with more requests in flight"}; numbers at the points say how many. Filled: what was run.`);
  const box = el("div", { class: "cols even" });
  node.append(box);
  const common = { x: out, xLabel: unit, xText: (v) => `${amount(v)} ${unit}`, yText: seconds, of };
  curve(box, points, own, { ...common, y: "tpot", yLabel: "time per output token", title: "Time per output token" });
  curve(box, points, own, { ...common, y: "ttft", yLabel: "time to the first token", title: "Time to the first token" });
  const known = (key) => points.some((p) => isNumber(p[key]));
  const column = (key, label, text) => (known(key) ? [{ label, number: true, show: (p) => text(p[key]) }] : []);
  card(node, table({ caption: "Latency against throughput", rows: points, sort: null, first: 20, rowAttributes: (p) => ({ class: p === own ? "on" : null }), columns: [
    { label: arrive ? "Requests/s" : "In flight", number: true, show: (p) => short(p.requests) },
    ...column("ttft", "First token", seconds), ...column("ttft_p99", "99 % within", seconds), ...column("tpot", "Per token", seconds),
    ...column("request_time", "Whole request", seconds), ...column("requests_per_s", "Requests/s", num),
    ...column(out, unit[0].toUpperCase() + unit.slice(1), amount), ...column("output_tokens_per_s_per_proc", "Per processor", num),
    ...column("proc_mem_tier1_cap_req", "Memory", bytes),
  ] }).node);
}
