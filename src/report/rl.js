/* The page of a step of reinforcement learning. */
"use strict";

const { statistics: s, phases, pools, roles } = data.step;
const words = { rollout: "rollout", reward: "reward", old_logprob: "old log-probs", reference: "reference", values: "values", teacher: "teacher",
  critic_update: "critic update", update: "update", switch: "switch", sync: "weight sync" };
const looks = { rollout: "blue1", reward: "purple", old_logprob: "orange1", reference: "orange2", values: "green2", teacher: "orange3",
  critic_update: "blue3", update: "green", switch: "grey2", sync: "cat5" };
const ran = Object.entries(phases).map(([key, phase]) => ({ key, label: words[key], color: colorOf(looks[key]), ...phase }));
const apart = pools.length > 1;

document.title = `calc rl: ${data.names.join(", ")}`;
document.getElementById("kind").textContent = "rl";

/* ---- The answer ------------------------------------------------------------------------------- */

const longest = ran.reduce((a, b) => (b.time > a.time ? b : a));
const why = [];
if (!data.step.feasible) why.push("It cannot run: ", bold(data.step.reasons.join("; ")), ". ");
why.push("The longest phase is the ", bold(longest.label), `, ${share(longest.time / s.step_time)} of the step. `);
if (s.rollout_wait > 0) why.push("The engines wait ", bold(seconds(s.rollout_wait)), " for the trainer. ");
if (s.train_wait > 0) why.push("The trainer waits ", bold(seconds(s.train_wait)), " for the rollout. ");
if (s.floor_time > 0) why.push(`The longest response, ${count(Math.round(s.longest))} tokens, takes `, bold(seconds(s.floor_time)), " by itself: more engines do not shorten it.");
hero({
  context: [["", data.names[0]], ["", data.step.algorithm], ["processors", count(s.chips)], ["", apart ? (s.staleness > 0 ? `apart, ${count(s.staleness)} step off` : "apart, synchronous") : "colocated"]],
  headline: [`A step of ${count(s.sequences)} sequences takes `, el("em", {}, secondsIn(s.step_time, 4).join("\u202f")), "."],
  why, bad: !data.step.feasible,
  kpis: [
    ["Tokens", amount(s.tokens_per_s), "tokens/s", `${num(s.tokens_per_s_per_chip)} per processor`],
    ["Rollout", ...secondsIn(s.generate_time, 4), `${count(s.engines)} engines, ${count(s.running)} sequences each at once`],
    ["Tail", share(s.tail_share), "", "of the rollout with less than a tenth of its sequences"],
    ["Training", ...secondsIn(s.train_time, 4), "passes and update"],
    ["Weights sent", ...bytesIn(s.sync_bytes), `${count(s.sync_tensors)} tensors`],
  ],
});

/* ---- Time ------------------------------------------------------------------------------------- */

/* Which part of a step a pool waits, and whether it does so before its phases or behind them. */
function lane(pool) {
  const own = ran.filter((phase) => phase.pool === pool.name && phase.key !== "sync");
  const shown = own.filter((phase) => !phase.beside || own.every((other) => other.beside));
  const values = Object.fromEntries(shown.map((phase) => [phase.key, phase.time]));
  const sync = phases.sync ? phases.sync.time : 0;
  const idle = s.step_time - d3.sum(shown, (phase) => phase.time) - sync;
  values[s.staleness > 0 || "rollout" in values ? "after" : "before"] = idle > 1e-9 * s.step_time ? idle : 0;
  return { label: pool.name, note: `${count(pool.chips)} × ${pool.system}`, values: { ...values, sync }, total: s.step_time };
}

const parts = [{ key: "before", label: "waits for the others", color: "var(--grid)" }, ...ran.filter((phase) => phase.key !== "sync"),
  { key: "after", label: "waits", color: "var(--grid)" }, ...ran.filter((phase) => phase.key === "sync")];
const time = section("time", "Time", "A step, pool by pool", "Phases in their order, from the left to the right; what runs at the same time on other processors is in another row.");
const lanes = pools.map(lane);
stacks(card(time), { rows: lanes, parts, steps: timeSteps, text: seconds, aria: "Time of a step by pool", height: 26 });
card(time, table({ caption: "Phases", rows: ran, sort: null, columns: [
  { label: "Phase", show: (phase) => phase.label },
  { label: "On", show: (phase) => phase.pool },
  { label: "Time", number: true, show: (phase) => seconds(phase.time) },
  { label: "Of the step", number: true, show: (phase) => meter(share(phase.time / s.step_time), phase.time / s.step_time) },
  { label: "", show: (phase) => (phase.beside ? "beside a longer phase" : "") },
] }).node, apart ? el("p", { class: "small" }, pools.map((pool) => `One more processor in ${pool.name}: ${pool.one_more_chip_s < 0 ? `${seconds(-pool.one_more_chip_s)} less` : "nothing waits for it"}. `).join("")) : null);

/* ---- Memory ----------------------------------------------------------------------------------- */

const held = ran.filter((phase) => isNumber(phase.memory));
if (held.length) {
  const memory = section("memory", "Memory", "Memory of the fullest processor", "What each phase needs, with what other roles keep on the same processors.");
  const limits = [...new Set(held.map((phase) => phase.capacity))];
  stacks(card(memory), { steps: byteSteps, text: bytes, aria: "Memory of the phases", limit: limits.length === 1 ? { value: limits[0], label: `there is ${bytes(limits[0])}` } : null,
    parts: [{ key: "fits", label: "fits", color: "var(--blue2)" }, { key: "lacks", label: "does not fit", color: "var(--orange3)" }],
    rows: held.map((phase) => ({ label: phase.label, note: apart ? phase.pool : "", total: phase.memory,
      values: { fits: Math.min(phase.memory, phase.capacity), lacks: Math.max(0, phase.memory - phase.capacity) } })) });
}

/* ---- Roles ------------------------------------------------------------------------------------ */

card(section("roles", "Roles", "Roles and layouts"), table({ caption: "Roles", rows: Object.entries(roles), sort: null, columns: [
  { label: "Role", show: ([name]) => name },
  { label: "On", show: ([, role]) => role.pool },
  { label: "Model", show: ([, role]) => role.model },
  { label: "Layout", wrap: true, show: ([, role]) => role.layout },
] }).node, el("pre", {}, commandText(data.command)));
footer([["Model", data.names[0]], ["Machine", data.names[1]], ...(data.names[2] ? [["Job", data.names[2]]] : [])]);
drawn();
