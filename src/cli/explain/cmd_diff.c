#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/draw/breakdown.h"
#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "cli/shell/opt.h"
#include "io/output.h"
#include "spec/compat.h"
#include "spec/field.h"
#include "spec/value_text.h"

enum { NAME = 20 };

/* Results with a set of rules. */
typedef struct result {
    double time_s, bytes;
} result;

static result evaluate(const calc_inputs *in, calc_compat compat)
{
    calc_stats s;
    calc_run(&in->app, &in->system, &in->exec, compat, &s);
    return (result){s.total_time, s.proc_mem_tier1_cap_req};
}

static void write_total(calc_output *out, const char *name, result r)
{
    calc_output_printf(out, "%-*s%12.4g s%11.4g GiB\n", NAME, name, r.time_s, r.bytes / 0x1p30);
}

/* Writes the change of a result in percent; nothing if there is no reference. */
static void write_change(calc_output *out, double from, double to)
{
    if (isnan(from) || isnan(to)) {
        calc_output_printf(out, "%11s", "n/a");
    } else if (to == from) {
        calc_output_printf(out, "%11s", "-");
    } else {
        calc_output_printf(out, "%+9.2f %%", 100 * (to - from) / from);
    }
}

/* Writes a table of the rules with the step time and the memory of the layout: with each rule
 * alone, and with the rules added one by one, so that their effects sum to the difference between
 * calc and Calculon. A rule that the layout cannot follow is left out and named. */
static void diff_rules_write(calc_output *out, const calc_inputs *in)
{
    const result ours = evaluate(in, CALC_COMPAT_NONE);
    calc_compat all = CALC_COMPAT_NONE;
    calc_compat repaired = CALC_COMPAT_NONE;
    write_total(out, "calc", ours);
    calc_output_printf(out, "\n%-*s%22s%24s\n", NAME, "", "alone", "after those above");
    calc_output_printf(out, "%-*s%11s%11s  %11s%11s\n", NAME, "rule", "step", "memory", "step",
                       "memory");
    result before = ours;
    /* Defects come last: without them the result is Calculon with its defects repaired. */
    for (int i = 0; i < CALC_COMPAT_COUNT; i++) {
        int rule = (i + CALC_COMPAT_LAYERS) % CALC_COMPAT_COUNT;
        calc_compat one = (calc_compat)1 << rule;
        calc_output_printf(out, "%-*s", NAME, calc_compat_names[rule]);
        calc_errors ignored = {0};
        if (calc_compat_check(&in->app, &in->exec, one, &ignored) != CALC_OK) {
            calc_output_text(out,
                             "      the model has parts that Calculon's list of layers lacks\n");
            continue;
        }
        result alone = evaluate(in, one);
        result now = evaluate(in, all | one);
        write_change(out, ours.time_s, alone.time_s);
        write_change(out, ours.bytes, alone.bytes);
        calc_output_text(out, "  ");
        write_change(out, before.time_s, now.time_s);
        write_change(out, before.bytes, now.bytes);
        calc_output_printf(out, "  %s\n", calc_compat_sentences[rule]);
        all |= one;
        repaired |= CALC_COMPAT_REPAIRED & one;
        before = now;
    }
    calc_output_text(out, "\n");
    write_total(out, repaired == CALC_COMPAT_REPAIRED ? "repaired" : "without defects",
                evaluate(in, repaired));
    write_total(out, all == CALC_COMPAT_CALCULON ? "calculon" : "all that apply", before);
}

/* Only lists on several chips have systems, and latencies where two of them join. */
static char *systems(const calc_exec *exec, char *text)
{
    return exec->stages.chips > 0 ? calc_stage_words_chips(exec, "that of the run", text)
                                  : strcpy(text, "-");
}

static char *join_latency(const calc_exec *exec, char *text)
{
    double join_s = exec->stages.chips > 0 ? exec->stages.join_latency_s : 0;
    return join_s > 0 ? calc_human_seconds_in(join_s, text) : strcpy(text, "-");
}

static const struct {
    const char *key;
    char *(*words)(const calc_exec *exec, char *text);
} keys[] = {{"stages.blocks", calc_stage_words_blocks},
            {"stages.system", systems},
            {"stages.recompute", calc_stage_words_recompute},
            {"stages.join_latency", join_latency},
            {NULL, NULL}};

enum { COLUMN = 30, WIDTH = 22 };

#define OPTIONS(X)                                                                                 \
    CALC_INPUTS_SET(X)                                                                             \
    X(RULES, "rules", NULL, .was = "compat",                                                       \
      .doc = "what each of Calculon's rules is worth on a layout, which is given as APP SYS EXE "  \
             "instead of A B")

CALC_OPTIONS(OPTIONS);
static const calc_arg rows[] = {
    {.name = "A", .doc = "an execution, a system or a model: a path or a bare name"},
    {.name = "B", .doc = "another one of the same kind"},
    {.name = "OTHERS",
     .optional = true,
     .repeated = true,
     .doc = "the two other documents of a run, in the order APP SYS EXE: then the times and the "
            "memory of both are shown too"},
    {0}};
static const char *const examples[] = {
    "calc diff a100_80g h100_80g_nvl8 gpt3-175B 3072_t4_p64_d12_mbs4_full",
    "calc diff gpt3-175B llama3-405B",
    "calc diff --rules gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full", NULL};

/* Two runs that differ in one document. */
typedef struct sides {
    calc_inputs side[2];
    calc_kind kind; /* kind of the documents to compare */
    bool runs;      /* the other documents are given: with results */
    calc_stats stats[2];
} sides;

static void *object_of(calc_inputs *inputs, calc_kind kind)
{
    return kind == CALC_KIND_APP      ? (void *)&inputs->app
           : kind == CALC_KIND_SYSTEM ? (void *)&inputs->system
                                      : (void *)&inputs->exec;
}

/* Loads a document of each side. */
static calc_status load_both(sides *s, calc_kind kind, const char *const argument[2],
                             calc_errors *errors)
{
    for (int i = 0; i < 2; i++) {
        (void)!calc_input_load(&s->side[i].input[kind], kind, object_of(&s->side[i], kind),
                               argument[i], errors);
    }
    return calc_errors_first(errors);
}

/* Loads both arguments as the first kind that fits both. On failure reports the errors for the kind
 * of the first argument. */
static calc_status load_compared(sides *s, const char *const *argument, calc_errors *errors)
{
    static const calc_kind order[] = {CALC_KIND_EXEC, CALC_KIND_SYSTEM, CALC_KIND_APP};
    calc_kind blamed = CALC_KIND_NONE;
    for (int i = 0; i < CALC_INPUTS; i++) {
        calc_errors ignored = {0};
        char path[CALC_FIND_PATH_MAX];
        s->kind = order[i];
        if (calc_is_yes(load_both(s, s->kind, argument, &ignored))) {
            return CALC_OK;
        }
        calc_errors none = {0};
        calc_inputs probe = {0};
        bool is_first =
            calc_is_yes(calc_find(s->kind, argument[0], path, &none)) &&
            calc_is_yes(calc_input_load(&probe.input[s->kind], s->kind, object_of(&probe, s->kind),
                                        argument[0], &none));
        calc_inputs_free(&probe);
        blamed = is_first ? s->kind : blamed;
    }
    return blamed != CALC_KIND_NONE
               ? load_both(s, blamed, argument, errors)
               : calc_errors_add(errors, CALC_ERR_NOT_FOUND, CALC_KIND_NONE, NULL,
                                 "calc show names app, sys or exe lists those with bare names",
                                 "\"%.100s\" is no execution, system or model", argument[0]);
}

/* Loads the two documents that both sides share. */
static calc_status load_others(sides *s, const char *const *argument, calc_errors *errors)
{
    int next = 0;
    for (calc_kind kind = CALC_KIND_APP; kind <= CALC_KIND_EXEC; kind++) {
        if (kind == s->kind) {
            continue;
        }
        for (int i = 0; i < 2; i++) {
            calc_inputs *inputs = &s->side[i];
            if (calc_input_load(&inputs->input[kind], kind, object_of(inputs, kind), argument[next],
                                errors) != CALC_OK) {
                return calc_errors_first(errors);
            }
        }
        next++;
    }
    return CALC_OK;
}

/* Applies --set to both sides. */
static calc_status set_both(sides *s, const calc_args *args, calc_errors *errors)
{
    calc_status status = CALC_OK;
    for (int i = 0; i < 2 && status == CALC_OK; i++) {
        calc_inputs *in = &s->side[i];
        bool all = s->runs;
        status = calc_inputs_set(args, OPT_SET, all || s->kind == CALC_KIND_APP ? &in->app : NULL,
                                 all || s->kind == CALC_KIND_SYSTEM ? &in->system : NULL,
                                 all || s->kind == CALC_KIND_EXEC ? &in->exec : NULL, errors);
    }
    return status;
}

static calc_status run_both(sides *s, calc_errors *errors)
{
    for (int i = 0; i < 2; i++) {
        calc_inputs *in = &s->side[i];
        if (calc_inputs_systems(&in->exec, &in->system, in->input[CALC_KIND_SYSTEM].path,
                                &in->other, errors) != CALC_OK) {
            return calc_errors_first(errors);
        }
        calc_resolve(&in->app, &in->system, &in->exec);
        if (calc_check(&in->app, &in->system, &in->exec, errors) != CALC_OK) {
            return calc_errors_first(errors);
        }
        calc_run(&in->app, &in->system, &in->exec, CALC_COMPAT_NONE, &s->stats[i]);
    }
    return CALC_OK;
}

/* Rows of fields that differ. */
typedef struct listing {
    calc_output *out;
    size_t count;
} listing;

static void write_row(calc_output *out, const char *label, const char *a, const char *b)
{
    calc_output_printf(out, "  %-*s", COLUMN - 2, label);
    if ((int)strlen(label) > COLUMN - 3) {
        calc_output_printf(out, "\n%*s", COLUMN, "");
    }
    calc_output_printf(out, "%-*s  %s\n", WIDTH, a, b);
}

/* calc_value_differences(): a row, which is counted. */
static void write_difference(void *context, const char *path, const calc_field *field,
                             const char *a, const char *b)
{
    listing *l = context;
    write_row(l->out, field->unit ? CALC_TEXT(256, "%s [%s]", path, field->unit) : path, a, b);
    l->count++;
}

/* Compares lists of stages, or of layers, one row for each key that differs. */
static void write_lists(listing *l, const sides *s, bool stages)
{
    char text[2][CALC_LAYER_WORDS_SIZE];
    for (int k = 0; stages ? keys[k].key : calc_layer_words_keys[k]; k++) {
        for (int i = 0; i < 2; i++) {
            const calc_exec *e = &s->side[i].exec;
            bool none = (stages ? e->stages.count : e->layers.count) == 0;
            (void)(none     ? strcpy(text[i], "-")
                   : stages ? keys[k].words(e, text[i])
                            : calc_layer_words_of(e, k, text[i]));
        }
        if (strcmp(text[0], text[1]) != 0) {
            write_row(l->out, stages ? keys[k].key : calc_layer_words_keys[k], text[0], text[1]);
            l->count++;
        }
    }
}

/* Writes one term of both runs, in its unit, with the difference. Writes nothing if both are 0. */
static void write_term(calc_output *out, const char *label, const double value[2], double scale)
{
    if (value[0] == 0 && value[1] == 0) {
        return;
    }
    calc_output_printf(out, "  %-*s", COLUMN - 2, label);
    for (int i = 0; i < 2; i++) {
        if (isnan(value[i])) {
            calc_output_printf(out, "%14s", "n/a");
        } else {
            calc_output_printf(out, "%14.3f", value[i] / scale);
        }
    }
    double change = value[1] - value[0];
    if (isnan(change)) {
        calc_output_text(out, "\n");
    } else {
        calc_output_printf(out, "%+14.3f\n", change / scale);
    }
}

static void write_title(calc_output *out, const char *title)
{
    calc_output_printf(out, "\n%-*s%14s%14s%14s\n", COLUMN, title, "A", "B", "B - A");
}

static void write_numbers(calc_output *out, const sides *s)
{
    double times[2][CALC_BREAKDOWN_TIMES], spaces[2][CALC_BREAKDOWN_SPACES];
    for (int i = 0; i < 2; i++) {
        calc_breakdown_times(&s->stats[i], times[i]);
        calc_breakdown_spaces(&s->side[i].exec, &s->stats[i], 1, spaces[i]);
    }
    double longest = fmax(s->stats[0].total_time, s->stats[1].total_time);
    double scale = longest >= 1 ? 1 : 1e-3;
    write_row(out, "verdict", calc_verdict_text(s->stats[0].verdict),
              calc_verdict_text(s->stats[1].verdict));
    write_title(out, scale < 1 ? "Time of one step [ms]" : "Time of one step [s]");
    for (size_t i = 0; i < CALC_BREAKDOWN_TIMES; i++) {
        write_term(out, calc_breakdown_time_label(i), (double[]){times[0][i], times[1][i]}, scale);
    }
    write_term(out, "total", (double[]){s->stats[0].total_time, s->stats[1].total_time}, scale);
    write_title(out, "Memory of one processor [GiB]");
    for (size_t i = 0; i < CALC_BREAKDOWN_SPACES; i++) {
        write_term(out, calc_breakdown_space_label(i), (double[]){spaces[0][i], spaces[1][i]},
                   0x1p30);
    }
    write_term(out, "total",
               (double[]){s->stats[0].proc_mem_tier1_cap_req, s->stats[1].proc_mem_tier1_cap_req},
               0x1p30);
    double rate[2] = {s->stats[0].sample_rate, s->stats[1].sample_rate};
    calc_output_text(out, "\n");
    write_term(out, "samples/s", rate, 1);
    bool fits = s->stats[0].verdict == CALC_VERDICT_OK && s->stats[1].verdict == CALC_VERDICT_OK;
    if (fits && rate[0] > 0 && rate[1] > 0) {
        calc_output_printf(out, "  %-*s%14.3f\n", COLUMN - 2, "B is faster by a factor of",
                           rate[1] / rate[0]);
    }
}

static calc_status write_all(calc_output *out, void *what, calc_errors *errors)
{
    sides *s = what;
    listing l = {.out = out};
    (void)errors;
    const calc_kind kind = s->kind;
    write_row(out, "", s->side[0].input[kind].name, s->side[1].input[kind].name);
    calc_value_differences(kind, object_of(&s->side[0], kind), object_of(&s->side[1], kind),
                           write_difference, &l);
    for (int stages = 1; stages >= 0 && kind == CALC_KIND_EXEC; stages--) {
        write_lists(&l, s, stages);
    }
    if (l.count == 0) {
        calc_output_text(out, "  no field differs\n");
    }
    if (s->runs) {
        write_numbers(out, s);
    }
    return CALC_OK;
}

/* calc diff --rules APP SYS EXE. */
static calc_exit run_rules(const calc_args *args)
{
    calc_errors errors = {0};
    calc_inputs inputs = {0};
    if (args->argument_count != 3) {
        return calc_complain_usage(args->command, "--rules goes with APP SYS EXE");
    }
    if (calc_inputs_load_args(&inputs, args, 0, OPT_SET, &errors) == CALC_OK) {
        calc_output *out = calc_write_to("-");
        diff_rules_write(out, &inputs);
        (void)!calc_output_close(out, &errors);
    }
    calc_inputs_free(&inputs);
    return calc_complain_errors(&errors);
}

static calc_exit run(const calc_args *args)
{
    calc_errors errors = {0};
    if (calc_opt_value(args, OPT_RULES)) {
        return run_rules(args);
    }
    sides s = {.runs = args->argument_count > 2};
    if (s.runs && args->argument_count != 4) {
        return calc_complain_usage(args->command, "give both other documents of a run, or none");
    }
    if (load_compared(&s, args->argument, &errors) == CALC_OK &&
        (!s.runs || load_others(&s, args->argument + 2, &errors) == CALC_OK) &&
        set_both(&s, args, &errors) == CALC_OK && (!s.runs || run_both(&s, &errors) == CALC_OK)) {
        (void)!calc_fold_print(write_all, &s, &errors);
    }
    calc_inputs_free(&s.side[0]);
    calc_inputs_free(&s.side[1]);
    return calc_complain_errors(&errors);
}

const calc_command calc_cmd_diff = {
    .name = "diff",
    .summary = "compare two executions, systems or models, and their results",
    .detail =
        "Lists the fields in which two documents of one kind differ. With the two other "
        "documents of a run also how time and memory change, term by term. With --rules, how time "
        "and memory of one layout change by each rule of Calculon's, alone and one after the "
        "other (docs/calculon.md).",
    CALC_COMMAND_PARTS};
