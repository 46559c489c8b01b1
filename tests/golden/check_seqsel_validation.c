/* Predictions for published measurements: the tables of docs/validation.md, line by line, and the
   values that Calculon gives for the same layouts. CALC_UPDATE=1 writes the tables anew. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calc.h"
#include "frame.h"

#define DOCUMENT CALC_DATA_DIR_SOURCE "/docs/validation.md"

enum { TEXT_MAX = 64 * 1024 };

/* One measurement, and what Calculon (commit caa4b11) predicts for it. */
typedef struct measurement {
    const char *model, *mode;
    double measured, calculon;
} measurement;

/* Figure 1: weights, gradients and optimizer state of one processor, in GiB. */
static const measurement weights[] = {
    {"megatron-22B", "none", 45.5625, 40.62309265},
    {"megatron-22B", "seqsel", 45.5625, 40.62309265},
    {"gpt3-175B", "none", 45.5625, 40.93075562},
    {"gpt3-175B", "seqsel", 45.5625, 40.93075562},
    {"turing-530B", "none", 31.640625, 29.3006897},
    {"turing-530B", "seqsel", 31.640625, 29.3006897},
    {"megatron-1T", "none", 32.958984375, 31.13117218},
    {"megatron-1T", "seqsel", 32.958984375, 31.13117218},
};

/* Figure 1: activations of one processor, in GiB. */
static const measurement activations[] = {
    {"megatron-22B", "none", 59.25, 59.4375},
    {"megatron-22B", "seqsel", 9.5625, 10.3984375},
    {"gpt3-175B", "none", 66.84375, 66.9375},
    {"gpt3-175B", "seqsel", 12.3515625, 12.69140625},
    {"turing-530B", "none", 114.0234375, 114.1796875},
    {"turing-530B", "seqsel", 23.076171875, 23.56445312},
    {"megatron-1T", "none", 131.25, 131.4453125},
    {"megatron-1T", "seqsel", 26.5625, 27.17285156},
};

/* Figure 7: activations in percent of those of mode "none". */
static const measurement relative_activations[] = {
    {"megatron-22B", "none", 100, 100},
    {"megatron-22B", "seq", 66.84, 66.91640379},
    {"megatron-22B", "sel", 49.42, 43.16508938},
    {"megatron-22B", "seqsel", 16.18, 17.49474238},
    {"megatron-22B", "full", 7.64, 9.963196635},
    {"gpt3-175B", "none", 100, 100},
    {"gpt3-175B", "seq", 62.04, 62.02731092},
    {"gpt3-175B", "sel", 56.53, 48.31932773},
    {"gpt3-175B", "seqsel", 18.49, 18.96008403},
    {"gpt3-175B", "full", 8.71, 9.628851541},
    {"turing-530B", "none", 100, 100},
    {"turing-530B", "seq", 58.31, 58.40745809},
    {"turing-530B", "sel", 62.04, 52.78823127},
    {"turing-530B", "seqsel", 20.27, 20.63804311},
    {"turing-530B", "full", 9.42, 10.36606226},
    {"megatron-1T", "none", 100, 100},
    {"megatron-1T", "seq", 58.31, 58.41381872},
    {"megatron-1T", "sel", 62.04, 52.82317979},
    {"megatron-1T", "seqsel", 20.27, 20.67236256},
    {"megatron-1T", "full", 9.42, 10.43833581},
};

/* Table 5: time of one step, in seconds. */
static const measurement step_times[] = {
    {"megatron-22B", "full", 1.42, 1.395595365}, {"megatron-22B", "seqsel", 1.1, 1.1366701},
    {"gpt3-175B", "full", 18.13, 18.02877955},   {"gpt3-175B", "seqsel", 13.75, 13.6380643},
    {"turing-530B", "full", 49.05, 49.89257694}, {"turing-530B", "seqsel", 37.83, 34.47279469},
    {"megatron-1T", "full", 94.42, 90.08094425}, {"megatron-1T", "seqsel", 71.49, 66.04067451},
};

/* ---- Predicting ------------------------------------------------------------------------------ */

static void load(calc_kind kind, void *object, const char *folder, const char *name)
{
    char path[512];
    calc_errors errors = {0};
    snprintf(path, sizeof path, "%s/%s/%s.json", CALC_DATA_DIR_SOURCE, folder, name);
    calc_status status = calc_load(kind, object, path, &errors);
    ck_assert_msg(status == CALC_OK, "%s: %s", path, errors.item[0].text);
}

static calc_stats run(const char *system_name, const char *study, const char *model,
                      const char *mode, calc_compat compat)
{
    calc_app app;
    calc_system system;
    calc_exec exec;
    char layout[128];
    snprintf(layout, sizeof layout, "%s/%s_%s", study, model, mode);
    load(CALC_KIND_APP, &app, "models", model);
    load(CALC_KIND_SYSTEM, &system, "systems", system_name);
    load(CALC_KIND_EXEC, &exec, "executions", layout);
    calc_errors errors = {0};
    ck_assert_msg(calc_check(&app, &system, &exec, &errors) == CALC_OK, "%s: %s", layout,
                  errors.item[0].text);
    calc_stats stats;
    calc_verdict verdict = calc_run(&app, &system, &exec, compat, &stats);
    ck_assert_msg(verdict == CALC_VERDICT_OK, "%s: %s", layout, calc_verdict_text(verdict));
    return stats;
}

static const double gib = 1024.0 * 1024.0 * 1024.0;

static double predict_weights_gib(const measurement *m, calc_compat compat)
{
    calc_stats s = run("a100_80e", "seqsel_fig1", m->model, m->mode, compat);
    return (s.weight_space + s.weight_grad_space + s.optimizer_space) / gib;
}

static double predict_activations_gib(const measurement *m, calc_compat compat)
{
    return run("a100_80e", "seqsel_fig1", m->model, m->mode, compat).act_space / gib;
}

static double predict_relative_activations(const measurement *m, calc_compat compat)
{
    calc_stats s = run("a100_80e", "seqsel_fig7", m->model, m->mode, compat);
    calc_stats none = run("a100_80e", "seqsel_fig7", m->model, "none", compat);
    return 100 * (s.act_space + s.act_checkpoint_size) /
           (none.act_space + none.act_checkpoint_size);
}

static double predict_step_time_s(const measurement *m, calc_compat compat)
{
    return run("a100_80g", "seqsel_tab5", m->model, m->mode, compat).total_time;
}

/* One table of the document; the errors are those that Calculon prints. */
typedef struct study {
    const char *name, *unit;
    double (*predict)(const measurement *m, calc_compat compat);
    const measurement *rows;
    size_t count;
    const char *calculon_average, *calculon_max;
} study;

#define ROWS(array) array, sizeof(array) / sizeof(array)[0]

static const study studies[] = {
    {"weights", "GiB", predict_weights_gib, ROWS(weights), "8.49", "10.84"},
    {"activations", "GiB", predict_activations_gib, ROWS(activations), "2.08", "8.74"},
    {"relative-activations", "%", predict_relative_activations, ROWS(relative_activations), "6.69",
     "30.41"},
    {"step-times", "s", predict_step_time_s, ROWS(step_times), "3.65", "8.87"},
};

enum { STUDIES = sizeof studies / sizeof studies[0] };

/* Error of a prediction in percent of the measurement; positive: predicted too high. */
static double error_percent(double predicted, double measured)
{
    return 100 * (predicted / measured - 1);
}

/* ---- Documenting ----------------------------------------------------------------------------- */

/* The table in Markdown, with a newline at both ends. */
static void write_table(const study *s, char *text)
{
    double sum = 0, max = 0, calculon_sum = 0, calculon_max = 0;
    int used = sprintf(text,
                       "\n| model | mode | measured [%s] | calc [%s] | error | Calculon [%s] | "
                       "error |\n|---|---|---:|---:|---:|---:|---:|\n",
                       s->unit, s->unit, s->unit);
    for (size_t i = 0; i < s->count; i++) {
        const measurement *m = &s->rows[i];
        double predicted = s->predict(m, CALC_COMPAT_NONE);
        double error = error_percent(predicted, m->measured);
        double calculon = error_percent(m->calculon, m->measured);
        used += sprintf(text + used, "| %s | %s | %#.4g | %#.4g | %+.2f %% | %#.4g | %+.2f %% |\n",
                        m->model, m->mode, m->measured, predicted, error, m->calculon, calculon);
        sum += fabs(error);
        max = fmax(max, fabs(error));
        calculon_sum += fabs(calculon);
        calculon_max = fmax(calculon_max, fabs(calculon));
    }
    double count = (double)s->count;
    sprintf(text + used,
            "| average error | | | | %.2f %% | | %.2f %% |\n"
            "| largest error | | | | %.2f %% | | %.2f %% |\n",
            sum / count, calculon_sum / count, max, calculon_max);
}

static void read_document(char *text)
{
    FILE *file = fopen(DOCUMENT, "rb");
    ck_assert_msg(file != NULL, "cannot open " DOCUMENT);
    size_t length = fread(text, 1, TEXT_MAX - 1, file);
    ck_assert_msg(feof(file), DOCUMENT " is too long");
    text[length] = '\0';
    fclose(file);
}

/* Where a table begins, behind <!-- NAME -->, and where it ends, before <!-- /NAME -->. */
static char *find_table(char *text, const char *name, char **end)
{
    char mark[64];
    snprintf(mark, sizeof mark, "<!-- %s -->", name);
    char *begin = strstr(text, mark);
    ck_assert_msg(begin != NULL, DOCUMENT " lacks %s", mark);
    begin += strlen(mark);
    snprintf(mark, sizeof mark, "<!-- /%s -->", name);
    *end = strstr(begin, mark);
    ck_assert_msg(*end != NULL, DOCUMENT " lacks %s", mark);
    return begin;
}

static void replace_table(const char *text, const char *begin, const char *end, const char *table)
{
    FILE *file = fopen(DOCUMENT, "wb");
    ck_assert_msg(file != NULL, "cannot write " DOCUMENT);
    fprintf(file, "%.*s%s%s", (int)(begin - text), text, table, end);
    ck_assert_int_eq(fclose(file), 0);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

CALC_TEST_LOOP(documented_table_is_what_calc_predicts, 0, STUDIES)
{
    static char text[TEXT_MAX], table[TEXT_MAX], documented[TEXT_MAX];
    const study *s = &studies[_i];
    write_table(s, table);
    read_document(text);
    char *end;
    char *begin = find_table(text, s->name, &end);
    if (getenv("CALC_UPDATE") != NULL) {
        replace_table(text, begin, end, table);
        return;
    }
    snprintf(documented, sizeof documented, "%.*s", (int)(end - begin), begin);
    ck_assert_str_eq(documented, table);
}

/* Mean error of every table is below Calculon's. */
CALC_TEST_LOOP(calc_is_closer_than_calculon, 0, STUDIES)
{
    const study *s = &studies[_i];
    double ours = 0, calculon = 0;
    for (size_t i = 0; i < s->count; i++) {
        const measurement *m = &s->rows[i];
        ours += fabs(error_percent(s->predict(m, CALC_COMPAT_NONE), m->measured));
        calculon += fabs(error_percent(m->calculon, m->measured));
    }
    ck_assert_msg(ours < calculon, "%s: error %.2f %%, Calculon %.2f %%", s->name,
                  ours / (double)s->count, calculon / (double)s->count);
}

CALC_TEST_LOOP(compat_mode_predicts_what_calculon_predicts, 0, STUDIES)
{
    const study *s = &studies[_i];
    double sum = 0, max = 0;
    for (size_t i = 0; i < s->count; i++) {
        const measurement *m = &s->rows[i];
        double predicted = s->predict(m, CALC_COMPAT_CALCULON);
        double error = fabs(error_percent(predicted, m->measured));
        ck_assert_msg(fabs(predicted / m->calculon - 1) < 1e-9, "%s %s: %.10g, Calculon has %.10g",
                      m->model, m->mode, predicted, m->calculon);
        sum += error;
        max = fmax(max, error);
    }
    char average_text[16], max_text[16];
    snprintf(average_text, sizeof average_text, "%.2f", sum / (double)s->count);
    snprintf(max_text, sizeof max_text, "%.2f", max);
    ck_assert_str_eq(average_text, s->calculon_average);
    ck_assert_str_eq(max_text, s->calculon_max);
}
