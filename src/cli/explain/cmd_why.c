#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/draw/breakdown.h"
#include "cli/draw/human.h"
#include "cli/explain/why_log.h"
#include "cli/explain/why_script.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "cli/shell/opt.h"
#include "cli/shell/start.h"
#include "cli/sweep/sweep_complete.h"
#include "formats/export.h"
#include "io/json_put.h"
#include "plan/why.h"

enum { WIDTH = 46 };

#define OPTIONS(X)                                                                                 \
    CALC_INPUTS_SET(X)                                                                             \
    CALC_COMPLETE_OPTS(X)                                                                          \
    X(TOP, "top", "N", .doc = "how many changes to list at most", .preset = "10")                  \
    X(LOG, "log", "FILE",                                                                          \
      .doc = "what a run of this layout left behind: show measured beside predicted, and what "    \
             "would explain a gap; logs of Megatron-LM, NeMo, torchtitan, DeepSpeed, MaxText, "    \
             "histories of W&B (CSV, JSON), results of vLLM, SGLang and AIPerf benchmarks")        \
    X(JSON, "json", "FILE", .doc = "write the answer as JSON instead")

enum { OPTIONS(CALC_OPT_NUMBER) };
static const calc_opt opts[] = {OPTIONS(CALC_OPT_ROW){0}};
static const calc_arg rows[] = {CALC_ARGS_MACHINE, CALC_COMPLETE_EXE, {0}};
static const char *const examples[] = {
    "calc why qwen3-235B-A22B h200 best.json",
    "calc why llama3-70B h100_sxm llama3-70B_512 --log train.log",
    "calc why llama3-405B h100_sxm llama3-405B_16384 --top 3 --json -", NULL};

/* Index of the largest part. */
static size_t largest(const double *part, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++) {
        best = part[i] > part[best] ? i : best;
    }
    return best;
}

/* Writes the numbers behind the bottleneck. */
typedef struct bottleneck {
    const char *time, *space;
    double time_s, space_bytes;
} bottleneck;

static bottleneck bottleneck_of(const calc_inputs *in, const calc_stats *stats)
{
    double times[CALC_BREAKDOWN_TIMES], spaces[CALC_BREAKDOWN_SPACES];
    calc_breakdown_times(stats, times);
    calc_breakdown_spaces(&in->exec, stats, 1, spaces);
    size_t t = largest(times, CALC_BREAKDOWN_TIMES);
    size_t s = largest(spaces, CALC_BREAKDOWN_SPACES);
    return (bottleneck){calc_breakdown_time_label(t), calc_breakdown_space_label(s), times[t],
                        spaces[s]};
}

/* Number of changes to show: if the layout cannot run, all that can; else those faster by an amount
 * visible in the table. */
static size_t useful(const calc_why *why, size_t top)
{
    static const double least_gain = 0.0005;
    size_t count = 0;
    bool runs = why->before.verdict == CALC_VERDICT_OK;
    while (count < why->count && count < top &&
           (!runs || calc_why_gain(why, why->change[count].value) >= least_gain)) {
        count++;
    }
    return count;
}

static void write_bottleneck(calc_output *out, const calc_inputs *in, const calc_why *why)
{
    const calc_stats *s = &why->before;
    const bottleneck b = bottleneck_of(in, s);
    char a[CALC_HUMAN_MAX], p[CALC_HUMAN_MAX], t[CALC_HUMAN_MAX];
    calc_reason reason[CALC_MAX_REASONS];
    size_t reasons = calc_reasons(&in->app, &in->system, &in->exec, CALC_COMPAT_NONE, s, reason);
    for (size_t i = 0; i < reasons; i++) {
        calc_output_printf(out, "It cannot run: %s: %s\n", calc_verdict_text(reason[i].verdict),
                           reason[i].text);
    }
    if (s->total_time > 0) {
        calc_output_printf(out, "Most time:    %-24s%s of %s, %s\n", b.time,
                           calc_human_seconds(b.time_s, a), calc_human_seconds(s->total_time, t),
                           calc_human_percent(b.time_s / s->total_time, p));
    }
    if (s->proc_mem_tier1_cap_req > 0) {
        calc_output_printf(out, "Most memory:  %-24s%s of %s, %s\n", b.space,
                           calc_human_bytes(b.space_bytes, a),
                           calc_human_bytes(s->proc_mem_tier1_cap_req, t),
                           calc_human_percent(b.space_bytes / s->proc_mem_tier1_cap_req, p));
    }
}

static void write_change(calc_output *out, const calc_why *why, const calc_why_change *change,
                         char mark, bool memory)
{
    char text[CALC_HUMAN_MAX];
    double gain = calc_why_gain(why, change->value);
    double tenths = round(1000 * (why->up ? gain : -gain));
    if ((int)strlen(change->text) > WIDTH - 3) {
        calc_output_printf(out, "%c %s\n%*s", mark, change->text, WIDTH, "");
    } else {
        calc_output_printf(out, "%c %-*s", mark, WIDTH - 2, change->text);
    }
    calc_output_printf(out, "%11s",
                       (why->up ? calc_human_number : calc_human_seconds)(change->value, text));
    if (isfinite(tenths)) {
        calc_output_printf(out, "%+8.1f %%", tenths == 0 ? 0 : tenths / 10);
    }
    if (memory) {
        calc_output_printf(out, "%9.2f", change->tier1_bytes / 0x1p30);
    }
    calc_output_text(out, "\n");
}

/* Heading of the column of values. */
static const char *head_of(const calc_why *why)
{
    return why->up                                         ? "tokens/s"
           : strcmp(why->counts->key, "request_time") == 0 ? "request"
                                                           : "step";
}

/* Whether the framework of the script runs a layout; without a script, any framework. */
static bool runs(const calc_inputs *in, const calc_exec *exec)
{
    const calc_framework *framework = calc_why_script_of(in);
    bool is = false;
    return framework
               ? calc_is_yes(calc_export_runs(framework, &in->app, &in->system, exec, &is)) && is
               : calc_start_exists(&in->app, &in->system, exec);
}

/* The layout with which a sweep would start, as one more change. */
static void write_start(calc_output *out, const calc_inputs *in, const calc_why *why,
                        const calc_why_change *start)
{
    const char *model = in->input[CALC_KIND_APP].path;
    calc_output_text(out, "\n");
    write_change(out, why, start, ' ', true);
    calc_why_script_write(out, in, &start->exec);
    calc_output_printf(out,
                       "  calc sweep %s %s --procs %lld --set gbs=%lld --for %s\n"
                       "  has the others, also of other number formats\n",
                       model, in->input[CALC_KIND_SYSTEM].name, (long long)in->exec.num_procs,
                       (long long)in->exec.batch_size, calc_why_script_of(in)->name);
}

static void write_text(calc_output *out, const calc_inputs *in, const calc_why *why,
                       const calc_why_change *start, const calc_why_log *log, size_t top)
{
    size_t count = useful(why, top);
    bool starts = runs(in, &in->exec);
    bool marked = false;
    char tried[CALC_HUMAN_MAX];
    calc_inputs_write_remarks(out, in);
    write_bottleneck(out, in, why);
    if (log) {
        calc_why_log_write(out, log);
    }
    calc_output_printf(out, "\n%-*s%11s%10s%9s\n", WIDTH,
                       "Changes of a field, or of a pair of sizes", head_of(why), "change", "GiB");
    for (size_t i = 0; i < count; i++) {
        bool mark = starts && !runs(in, &why->change[i].exec);
        write_change(out, why, &why->change[i], mark ? '!' : ' ', true);
        if (!mark) {
            calc_why_script_write(out, in, &why->change[i].exec);
        }
        marked |= mark;
    }
    const calc_framework *framework = calc_why_script_of(in);
    calc_output_printf(out, "  %s%s tried", count == 0 ? "none helps; " : "",
                       calc_human_integer((double)why->tried, tried));
    if (marked) {
        calc_output_printf(out, "; !: %s%s it: calc export says why",
                           framework ? framework->title : "no framework",
                           framework ? " does not run" : " runs");
    }
    calc_output_text(out, "\n");
    if (start) {
        write_start(out, in, why, start);
    }
    const char *system = in->input[CALC_KIND_SYSTEM].name;
    char title[160] = "10 % more of each rate";
    if (in->exec.stages.chips > 0) {
        calc_append(title, sizeof title, " of %.100s", system);
    }
    calc_output_printf(out, "\n%-*s%11s%10s\n", WIDTH, title, head_of(why), "change");
    if (why->resources == 0) {
        calc_output_printf(out, "  no stage runs on %s\n", system);
        return;
    }
    for (size_t i = 0; i < why->resources && why->before.total_time > 0; i++) {
        write_change(out, why, &why->resource[i], ' ', false);
    }
}

static void put_list(calc_put *put, const calc_inputs *in, const char *key, const char *counts,
                     const calc_why_change *change, size_t count)
{
    calc_put_array(put, key, CALC_PUT_LINES);
    for (size_t i = 0; i < count; i++) {
        calc_putf(put, "{change: %s", change[i].text);
        calc_put_number(put, counts, change[i].value);
        calc_put_number(put, "proc_mem_tier1_cap_req", change[i].tier1_bytes);
        calc_why_script_put(put, in, &change[i].exec);
        calc_put_close(put);
    }
    calc_put_close(put);
}

static void put_part(calc_put *put, const char *key, const char *part, const char *unit,
                     double value)
{
    calc_put_object(put, key, CALC_PUT_LINE);
    calc_put_text(put, "part", part);
    calc_put_number(put, unit, value);
    calc_put_close(put);
}

static void write_json(calc_output *out, const calc_inputs *in, const calc_why *why,
                       const calc_why_change *start, const calc_why_log *log, size_t top)
{
    const bottleneck b = bottleneck_of(in, &why->before);
    calc_put put = calc_put_to(out);
    calc_put_document(&put);
    calc_inputs_put_remarks(&put, in);
    calc_putf(&put, "verdict: %s, total_time: %g, proc_mem_tier1_cap_req: %g",
              calc_verdict_text(why->before.verdict), why->before.total_time,
              why->before.proc_mem_tier1_cap_req);
    put_part(&put, "most_time", b.time, "time", b.time_s);
    put_part(&put, "most_memory", b.space, "bytes", b.space_bytes);
    calc_put_count(&put, "tried", (int64_t)why->tried);
    put_list(&put, in, "changes", why->counts->key, why->change, useful(why, top));
    if (start) {
        put_list(&put, in, "start", why->counts->key, start, 1);
    }
    put_list(&put, in, "ten_percent_more", why->counts->key, why->resource, why->resources);
    if (log) {
        calc_why_log_put(&put, log);
    }
    calc_put_end(&put);
}

static calc_status answer(const calc_args *args, const calc_inputs *inputs, size_t top,
                          calc_errors *errors)
{
    const char *json = calc_opt_value(args, OPT_JSON);
    const char *file = calc_opt_value(args, OPT_LOG);
    calc_why_log log;
    calc_why *why = malloc(sizeof *why);
    if (!why) {
        return calc_errors_no_memory(errors);
    }
    calc_exec exec; /* its stages on the system of the run follow changes of that system */
    bool used = calc_inputs_own_stages(inputs, &exec);
    calc_why_find(&inputs->app, &inputs->system, &exec, why);
    why->resources = used ? why->resources : 0;
    calc_status status = file ? calc_why_log_make(&log, file, inputs, why, errors) : CALC_OK;
    calc_why_change start = {.text = "the layout with which calc sweep starts"};
    calc_stats stats;
    bool found = status == CALC_OK && calc_why_script_start(inputs, &start.exec) &&
                 calc_run(&inputs->app, &inputs->system, &start.exec, CALC_COMPAT_NONE, &stats) ==
                     CALC_VERDICT_OK;
    if (found) {
        start.value = stats.total_time;
        start.tier1_bytes = stats.proc_mem_tier1_cap_req;
    }
    if (status == CALC_OK) {
        calc_output *out = calc_write_to(json ? json : "-");
        (json ? write_json : write_text)(out, inputs, why, found ? &start : NULL,
                                         file ? &log : NULL, top);
        status = calc_output_close(out, errors);
    }
    free(why);
    return status;
}

static calc_exit run(const calc_args *args)
{
    calc_errors errors = {0};
    calc_inputs inputs = {0};
    double top;
    if (!calc_opt_number(calc_opt_value(args, OPT_TOP), true, 0, CALC_WHY_CHANGES, &top)) {
        return calc_complain_usage(args->command, "--top takes a number from 0 to 512");
    }
    calc_sweep_completes(&inputs, args, OPT_PROCS, OPT_BATCH, NULL);
    if (calc_inputs_load_args(&inputs, args, 0, OPT_SET, &errors) == CALC_OK) {
        (void)!answer(args, &inputs, (size_t)top, &errors);
    }
    calc_inputs_free(&inputs);
    return calc_complain_errors(&errors);
}

const calc_command calc_cmd_why = {
    .name = "why",
    .summary = "show the bottleneck of a layout and small changes that help",
    .detail = "Names the largest part of the time and of the memory, tries every field of the "
              "execution at its neighbouring values (parallel sizes in pairs that keep the number "
              "of processors) and lists those that are faster, or that can run where the layout "
              "cannot. Then what 10 % more of each rate of the machine buys. Batch, sequence "
              "length, number formats and what depends on the software stay as they are.",
    .args = rows,
    .opts = opts,
    .examples = examples,
    .run = run};
