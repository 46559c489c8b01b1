#include "cli/tune/tune_task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/draw/breakdown.h"
#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "cli/shell/help.h"
#include "cli/shell/inputs.h"
#include "cli/sweep/sweep_study.h"
#include "cli/sweep/sweep_table.h"
#include "io/json_put.h"
#include "report/page.h"
#include "report/sweep_data.h"
#include "spec/field.h"

/* Mean of a layout's measured times, in seconds; NaN: there is none. */
static double calc_tune_order_mean(const calc_tune_task *t, size_t candidate)
{
    double sum = 0;
    double count = 0;
    for (size_t i = 0; i < t->measurements; i++) {
        const calc_tune_measurement *m = &t->measurement[i];
        bool counts = m->candidate == candidate && m->end == CALC_TUNE_END_FINE;
        sum += counts ? m->step_s : 0;
        count += counts;
    }
    return count > 0 ? sum / count : (double)NAN;
}

typedef struct place {
    double best, p50_s;
    size_t index;
} place;

static int compare_places(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return x->best != y->best     ? CALC_ORDER(y->best, x->best)
           : x->p50_s != y->p50_s ? CALC_ORDER(x->p50_s, y->p50_s)
                                  : CALC_ORDER(x->index, y->index);
}

/* Candidates in the order of the table: the most probable to be the best first.
 * @return a list that the caller frees */
static size_t *calc_tune_order_make(const calc_tune_task *t, const calc_tune_decision *d)
{
    size_t count = t->layouts.count;
    place *order = calc_make(count + 1, sizeof *order);
    size_t *index = calc_make(count + 1, sizeof *index);
    for (size_t i = 0; i < count; i++) {
        order[i] = (place){d->outlook[i].best, d->outlook[i].p50_s, i};
    }
    CALC_SORT(order, count, compare_places);
    for (size_t i = 0; i < count; i++) {
        index[i] = order[i].index;
    }
    free(order);
    return index;
}

/* Excess of the best found over the best of a simulated truth, as a fraction of the latter.
 * @param best_s  set to the time of the latter; infinite if nothing fits
 * @return false if nothing was found, or nothing fits */
static bool calc_tune_order_regret(const calc_tune_task *t, const calc_tune_decision *d,
                                   double *best_s, double *regret)
{
    *best_s = (double)INFINITY;
    for (size_t i = 0; i < t->layouts.count; i++) {
        bool fits = t->truth_bytes[i] <= t->layouts.candidate[i].capacity_bytes;
        *best_s = fits ? fmin(*best_s, t->truth_s[i]) : *best_s;
    }
    bool found = d->best != SIZE_MAX && isfinite(*best_s);
    *regret = found ? t->truth_s[d->best] / *best_s - 1 : (double)NAN;
    return found;
}

#define SURPRISING 3.0 /* standard deviations */
enum { TEXT_SIZE = 2048, WORDS_SIZE = 96 };

/* Columns beside those of the layout, which stand after FIRST of them. */
enum { NUMBER, MARK, PREDICTED, RANGE, BEST, FITS, GAIN, MEASURED, LAYOUT, OWN, FIRST = PREDICTED };
static const calc_listing_column own[OWN] = {[NUMBER] = CALC_COLUMN("#", .order = 9),
                                             [MARK] = CALC_COLUMN(""),
                                             [PREDICTED] = CALC_COLUMN("predicted"),
                                             [RANGE] = CALC_COLUMN("P5-P95"),
                                             [BEST] = CALC_COLUMN("P(best)"),
                                             [FITS] = CALC_COLUMN("P(fits)"),
                                             [GAIN] = CALC_COLUMN("gain", .order = 9),
                                             [MEASURED] = CALC_COLUMN("measured"),
                                             [LAYOUT] = CALC_COLUMN("layout", .left = true)};

/* What a table is made of. */
typedef struct table {
    const calc_tune_task *t;
    const calc_tune_decision *d;
    size_t *shown; /* candidates */
    size_t count;
    calc_sweep_columns layout;
    calc_listing listing;
    calc_listing_column column[CALC_SWEEP_COLUMNS + OWN];
} table;

static bool is_of_layout(const calc_sweep_column *c)
{
    return c->cell == CALC_SWEEP_CELL_SIZES || c->cell == CALC_SWEEP_CELL_NETS ||
           c->cell == CALC_SWEEP_CELL_FLAGS || c->cell == CALC_SWEEP_CELL_FIELD;
}

static char *share_text(double share, char *text)
{
    text[0] = '\0'; /* not known */
    if (!isnan(share)) {
        snprintf(text, CALC_HUMAN_MAX, "%.1f %%", 100 * share);
    }
    return text;
}

static void add_row(table *b, size_t candidate)
{
    const calc_tune_task *t = b->t;
    const calc_tune_outlook *o = &b->d->outlook[candidate];
    const calc_sweep_row row = {.layout = t->layouts.found[candidate]};
    const calc_sweep_found found = {.exec = calc_tune_layouts_exec(&t->layouts, candidate)};
    calc_listing *l = &b->listing;
    char text[3][CALC_HUMAN_MAX], cell[CALC_SWEEP_CELL_SIZE], id[CALC_TUNE_ID_SIZE];
    calc_listing_addf(l, "%zu", candidate + 1);
    const char *mark = "";
    for (size_t i = 0; i < b->d->picks && !b->d->stop; i++) {
        mark = b->d->pick[i] == candidate ? ">" : mark;
    }
    calc_listing_add(l, candidate == b->d->best ? "*" : mark);
    for (size_t k = 0; k < b->layout.count; k++) {
        cell[0] = '\0';
        if (is_of_layout(&b->layout.column[k])) {
            calc_sweep_cell_text(&b->layout.column[k], &t->study, &row, &found, cell);
        }
        calc_listing_add(l, cell);
    }
    /* The unit of both ends is that of the prediction, or said. */
    const char *time = calc_human_seconds(t->layouts.candidate[candidate].step_s);
    const char *low = calc_human_seconds(o->p5_s);
    const char *high = calc_human_seconds(o->p95_s);
    const char *unit = strchr(time, ' ');
    bool same = unit && strchr(low, ' ') && strcmp(strchr(low, ' '), unit) == 0 &&
                strchr(high, ' ') && strcmp(strchr(high, ' '), unit) == 0;
    calc_listing_add(l, time);
    calc_listing_addf(l, "%.*s-%.*s", same ? (int)strcspn(low, " ") : CALC_HUMAN_MAX, low,
                      same ? (int)strcspn(high, " ") : CALC_HUMAN_MAX, high);
    calc_listing_add(l, share_text(o->best, text[0]));
    calc_listing_add(l, share_text(o->fits, text[0]));
    calc_listing_add(l, share_text(o->gain, text[0]));
    double mean_s = calc_tune_order_mean(t, candidate);
    calc_listing_add(l, !isnan(mean_s) ? calc_human_seconds(mean_s) : o->measured ? "none" : "");
    calc_listing_add(l, calc_tune_layouts_id(&t->layouts, candidate, id));
}

/* All columns and rows; those columns of the layout are hidden in which all rows are alike. */
static void fill(table *b)
{
    memcpy(b->column, own, FIRST * sizeof *b->column);
    memcpy(b->column + FIRST, b->layout.shown, b->layout.count * sizeof *b->column);
    memcpy(b->column + FIRST + b->layout.count, own + FIRST, (OWN - FIRST) * sizeof *b->column);
    b->listing = (calc_listing){.column = b->column, .columns = b->layout.count + OWN, .gap = 1};
    for (size_t i = 0; i < b->count; i++) {
        add_row(b, b->shown[i]);
    }
    for (size_t k = 0; k < b->layout.count; k++) {
        const calc_sweep_column *c = &b->layout.column[k];
        b->column[FIRST + k].hidden =
            !is_of_layout(c) || !(b->column[FIRST + k].varies || c->always);
    }
    b->column[b->layout.count + MEASURED].hidden = b->t->measurements == 0;
}

static void write_legend(calc_output *out, const table *b)
{
    char text[TEXT_SIZE] = "";
    unsigned letters = 0;
    for (size_t k = 0; k < b->layout.count; k++) {
        bool flags =
            b->layout.column[k].cell == CALC_SWEEP_CELL_FLAGS && !b->column[FIRST + k].hidden;
        for (size_t i = 0; i < b->count && flags; i++) {
            const calc_exec exec = calc_tune_layouts_exec(&b->t->layouts, b->shown[i]);
            letters |= calc_sweep_flags_of(&exec);
        }
    }
    for (int i = 0; i < CALC_SWEEP_FLAGS; i++) {
        if (letters >> i & 1) {
            calc_append(text, sizeof text, "%s %c=%s",
                        *text ? "," : "flags:", calc_sweep_flags[i].letter,
                        calc_sweep_flags[i].meaning);
        }
    }
    calc_append(text, sizeof text, "%s", *text ? ". " : "");
    calc_append(text, sizeof text, ">: try it next. *: the best measured.%s%s",
                b->column[NUMBER].hidden ? "" : " #: place by prediction.",
                b->column[b->layout.count + GAIN].hidden
                    ? ""
                    : " gain: how much a measurement is expected to save, of a step.");
    calc_help_wrapped(out, text, 0);
}

static void show(table *b, size_t candidate)
{
    for (size_t i = 0; i < b->count; i++) {
        if (b->shown[i] == candidate) {
            return;
        }
    }
    b->shown[b->count++] = candidate;
}

/* The most probable, what is proposed, and the best measured. */
static void choose_rows(table *b, const size_t *order)
{
    for (size_t i = 0; i < b->t->layouts.count && b->count < b->t->table_rows; i++) {
        b->shown[b->count++] = order[i];
    }
    for (size_t i = 0; i < b->d->picks && !b->d->stop; i++) {
        show(b, b->d->pick[i]);
    }
    if (b->d->best != SIZE_MAX) {
        show(b, b->d->best);
    }
}

static void write_table(calc_output *out, const calc_tune_task *t, const calc_tune_decision *d)
{
    calc_errors none = {0};
    table *b = calc_make(1, sizeof *b); /* its columns are too large for a stack */
    size_t *order = calc_tune_order_make(t, d);
    size_t *shown = calc_make(t->table_rows + CALC_TUNE_PICKS + 2, sizeof *shown);
    *b = (table){.t = t, .d = d, .shown = shown};
    choose_rows(b, order);
    (void)!calc_sweep_columns_list(&b->layout, &t->study, NULL, &none); /* no names, no error */
    fill(b);
    calc_listing_end(&b->listing, out);
    write_legend(out, b);
    free(b);
    free(order);
    free(shown);
}

static void write_surprise(calc_output *out, const calc_tune_task *t, size_t i, double surprise)
{
    const calc_tune_measurement *m = &t->measurement[i];
    char id[CALC_TUNE_ID_SIZE];
    const char *where = t->line[i] > 0 ? CALC_TEXT(32, " (line %d)", t->line[i]) : "";
    calc_output_printf(out, "layout %s%s: measured %s, predicted %s",
                       calc_tune_layouts_id(&t->layouts, m->candidate, id), where,
                       calc_human_seconds(m->step_s),
                       calc_human_seconds(t->layouts.candidate[m->candidate].step_s));
    calc_output_printf(out,
                       "; that is %.1f standard deviations %s than the other measurements say: "
                       "look at that run\n",
                       fabs(surprise), surprise > 0 ? "more" : "less");
}

static void write_measured(calc_output *out, const calc_tune_task *t, const calc_tune_decision *d)
{
    size_t count[CALC_TUNE_ENDS] = {0};
    for (size_t i = 0; i < t->measurements; i++) {
        count[t->measurement[i].end]++;
    }
    calc_output_printf(out, "\n%zu measured", t->measurements);
    for (int end = CALC_TUNE_END_FINE + 1; end < CALC_TUNE_ENDS; end++) {
        if (count[end] > 0) {
            calc_output_printf(out, ", %zu %s", count[end], calc_tune_end_word((calc_tune_end)end));
        }
    }
    calc_output_text(out, ".\n");
    for (size_t i = 0; i < t->measurements; i++) {
        if (fabs(d->surprise[i]) > SURPRISING) {
            write_surprise(out, t, i, d->surprise[i]);
        }
    }
}

static void write_truth(calc_output *out, const calc_tune_task *t, const calc_tune_decision *d)
{
    double regret, best_s;
    if (calc_tune_order_regret(t, d, &best_s, &regret)) {
        calc_output_printf(out,
                           "Simulated truth %llu: after %zu measurements the best found is %s "
                           "slower than the best there is.\n",
                           (unsigned long long)t->truth_seed, t->measurements,
                           calc_human_percent(regret));
    } else {
        calc_output_printf(out, "Simulated truth %llu: nothing that fits was found.\n",
                           (unsigned long long)t->truth_seed);
    }
}

/* A layout by its sizes: "TP 4 PP 4 DP 4, mbs 2, 10 chunks". @return text */
static char *words_of(const calc_tune_task *t, size_t candidate, char text[WORDS_SIZE])
{
    const calc_exec e = calc_tune_layouts_exec(&t->layouts, candidate);
    calc_stage_words_sizes(&e, false, text, WORDS_SIZE);
    calc_append(text, WORDS_SIZE, "%smbs %jd", *text ? ", " : "", e.microbatch_size);
    if (e.pipeline_interleaving > 1) {
        calc_append(text, WORDS_SIZE, ", %jd chunks", e.pipeline_interleaving);
    }
    return text;
}

static void write_verdict(calc_output *out, const calc_tune_task *t, const calc_tune_decision *d)
{
    if (d->best != SIZE_MAX) {
        calc_output_printf(out,
                           "%s chance that a layout not measured is more than %s faster than %s",
                           calc_human_percent(d->chance), calc_human_percent(t->options.worth),
                           calc_human_seconds(d->best_s));
    } else {
        calc_output_printf(out, "%s",
                           t->measurements > 0 ? "Nothing has run yet" : "Nothing is measured yet");
    }
    if (d->stop) {
        calc_output_text(out, d->best != SIZE_MAX ? ": stop.\n"
                                                  : ", and nothing is left to try: stop.\n");
    } else if (d->picks == 0) {
        calc_output_text(out, ", but nothing is left to try.\n");
    } else {
        calc_output_text(out, ": try\n");
        char path[CALC_FIND_PATH_MAX], words[WORDS_SIZE];
        for (size_t i = 0; i < d->picks; i++) {
            calc_output_printf(out, "  %s: %s\n", calc_tune_loop_path(t, d->pick[i], path),
                               words_of(t, d->pick[i], words));
        }
    }
}

static void write_start(calc_output *out, const calc_tune_task *t, const calc_tune_decision *d)
{
    char path[CALC_FIND_PATH_MAX], id[CALC_TUNE_ID_SIZE];
    if (!d->stop || d->best == SIZE_MAX) {
        return;
    }
    calc_output_printf(out, "The best is %s with %s: calc run %s %s %s",
                       calc_tune_layouts_id(&t->layouts, d->best, id),
                       calc_human_seconds(d->best_s), t->args->argument[0], t->args->argument[1],
                       calc_tune_loop_path(t, d->best, path));
    const calc_exec exec = calc_tune_layouts_exec(&t->layouts, d->best);
    const char *framework = calc_start_framework(&t->app, &t->system, &exec);
    if (framework) {
        calc_output_printf(out, ", calc export --to %s %s %s", framework, t->args->argument[0],
                           path);
    }
    calc_output_text(out, "\n");
}

static void write_title(calc_output *out, const calc_tune_task *t, const calc_tune_decision *d)
{
    const calc_exec e = calc_tune_layouts_exec(&t->layouts, 0);
    char text[TEXT_SIZE] = "";
    calc_append(text, sizeof text, "%s on %s, %s processors, batch %s: ", t->app_name,
                t->system_name, calc_human_integer((double)e.num_procs),
                calc_human_integer((double)e.batch_size));
    calc_append(text, sizeof text, "%s candidates of %s layouts, %s of them contenders",
                calc_human_integer((double)t->layouts.count),
                calc_human_integer((double)t->result.counts.total),
                calc_human_integer((double)d->contenders));
    if (d->left_out >= 1e-3) {
        calc_append(text, sizeof text, " (none of the others is the best with a chance above %s)",
                    calc_human_percent(d->left_out));
    }
    calc_help_wrapped(out, text, 0);
    calc_sweep_read_write_remarks(out, &t->study);
    calc_output_text(out, "\n");
}

void calc_tune_table_write(calc_output *out, const calc_tune_task *t, const calc_tune_decision *d)
{
    write_title(out, t, d);
    write_table(out, t, d);
    if (t->options.kernels) {
        calc_tune_operators_write(out, &t->operators);
    }
    write_measured(out, t, d);
    write_verdict(out, t, d);
    if (t->way == CALC_TUNE_WAY_SIMULATE) {
        write_truth(out, t, d);
    } else {
        write_start(out, t, d);
    }
}

static const char *const choices[] = {"tensor_par",      "pipeline_par", "data_par",
                                      "context_par",     "expert_par",   "pipeline_interleaving",
                                      "microbatch_size", "zero_stage"};
enum { CHOICES = sizeof choices / sizeof *choices };

/* In that order; of a dimension that is not used 1. @return what it recomputes */
static const char *choices_of(const calc_exec *e, int64_t value[CHOICES])
{
    const calc_table *fields = calc_table_of(CALC_KIND_EXEC);
    for (int i = 0; i < CHOICES; i++) {
        const calc_field *field = calc_table_find(fields, choices[i]);
        value[i] = (int64_t)calc_member_number(field, (const char *)e + field->offset);
        value[i] = value[i] < 1 && i + 1 < CHOICES ? 1 : value[i];
    }
    return calc_table_find(fields, "activation_recompute")
        ->choices[e->strategy.activation_recompute];
}

static void put_id(calc_put *put, const char *key, const calc_tune_task *t, size_t candidate)
{
    char id[CALC_TUNE_ID_SIZE];
    calc_put_text(put, key, calc_tune_layouts_id(&t->layouts, candidate, id));
}

/* What runs a layout, and what starts it. */
static void put_commands(calc_put *put, const calc_tune_task *t, size_t candidate)
{
    char path[CALC_FIND_PATH_MAX];
    const calc_exec exec = calc_tune_layouts_exec(&t->layouts, candidate);
    calc_tune_loop_path(t, candidate, path);
    calc_start_put(put, &(calc_start){.args = t->args,
                                      .set = CALC_TUNE_OPT_SET,
                                      .app = &t->app,
                                      .system = &t->system,
                                      .exec = &exec,
                                      .names = {t->args->argument[0], t->args->argument[1], path}});
}

/* The command that decides this, without options that say how the answer is told. */
static void put_command(calc_put *put, const calc_args *args)
{
    static const char telling[] = "next top json csv html threads progress";
    calc_putf(put, "command: [%s, %s", "calc", "tune");
    for (size_t i = 0; i < args->argument_count; i++) {
        calc_put_text(put, NULL, args->argument[i]);
    }
    for (size_t i = 0; i < args->use_count; i++) {
        const calc_opt *opt = &calc_tune_opts[args->use[i].opt];
        if (!calc_is_word(telling, opt->name)) {
            calc_put_text(put, NULL, CALC_TEXT(64, "--%s", opt->name));
            if (opt->value) {
                calc_put_text(put, NULL, args->use[i].value);
            }
        }
    }
    calc_put_close(put);
}

static void put_decision(calc_put *put, const calc_tune_task *t, const calc_tune_decision *d)
{
    char path[CALC_FIND_PATH_MAX];
    calc_putf(put, "contenders: %zu, left_out: %g, chance: %g, stop?: %d", d->contenders,
              d->left_out, d->chance, d->stop);
    if (d->best != SIZE_MAX) {
        put_id(put, "best", t, d->best);
        calc_put_number(put, "best_s", d->best_s);
        if (t->way != CALC_TUNE_WAY_SIMULATE) { /* which writes no executions */
            calc_put_object(put, "start", CALC_PUT_LINE);
            put_commands(put, t, d->best);
            calc_put_close(put);
        }
    }
    calc_put_array(put, "next", CALC_PUT_LINES);
    for (size_t i = 0; i < d->picks && !d->stop; i++) {
        calc_put_object(put, NULL, CALC_PUT_LINE);
        put_id(put, "layout", t, d->pick[i]);
        calc_put_text(put, "exe", calc_tune_loop_path(t, d->pick[i], path));
        put_commands(put, t, d->pick[i]);
        calc_put_close(put);
    }
    calc_put_close(put);
}

static void put_measured(calc_put *put, const calc_tune_task *t, const calc_tune_decision *d)
{
    calc_put_array(put, "measured", CALC_PUT_LINES);
    for (size_t i = 0; i < t->measurements; i++) {
        const calc_tune_measurement *m = &t->measurement[i];
        calc_put_object(put, NULL, CALC_PUT_LINE);
        put_id(put, "layout", t, m->candidate);
        calc_putf(put, "outcome: %s, step_s: %g, memory_bytes: %g, surprise: %g",
                  calc_tune_end_word(m->end),
                  m->end == CALC_TUNE_END_FINE ? m->step_s : (double)NAN, m->memory_bytes,
                  d->surprise[i]);
        if (t->truth_s) {
            calc_put_number(put, "true_s", t->truth_s[m->candidate]);
        }
        calc_put_close(put);
    }
    calc_put_close(put);
}

static void put_layout(calc_put *put, const calc_tune_task *t, const calc_tune_decision *d,
                       size_t candidate)
{
    const calc_tune_candidate *c = &t->layouts.candidate[candidate];
    const calc_tune_outlook *o = &d->outlook[candidate];
    const calc_exec exec = calc_tune_layouts_exec(&t->layouts, candidate);
    int64_t value[CHOICES];
    const char *recompute = choices_of(&exec, value);
    calc_put_object(put, NULL, CALC_PUT_LINE);
    put_id(put, "layout", t, candidate);
    calc_put_count(put, "rank", (int64_t)candidate + 1);
    for (int i = 0; i < CHOICES; i++) {
        calc_put_count(put, choices[i], value[i]);
    }
    calc_putf(put,
              "activation_recompute: %s, predicted_s: %g, p5_s: %g, p50_s: %g, p95_s: %g, "
              "predicted_bytes: %g, p50_bytes: %g, capacity_bytes: %g, p_best: %g, p_fits: %g, "
              "gain: %g, measured_s: %g}",
              recompute, c->step_s, o->p5_s, o->p50_s, o->p95_s, c->memory_bytes,
              o->memory_p50_bytes, c->capacity_bytes, o->best, o->fits, o->gain,
              calc_tune_order_mean(t, candidate));
}

static void write_json(calc_output *out, const calc_tune_task *t, const calc_tune_decision *d,
                       const size_t *order)
{
    calc_put put = calc_put_to(out);
    calc_put_document(&put);
    calc_putf(&put, "application: %s, system: %s", t->app_name, t->system_name);
    calc_sweep_put_remarks(&put, &t->study);
    calc_putf(&put, "chooser: %s, seed: %jd, worth: %g, stop_below: %g, noise: %g",
              calc_tune_chooser_words[t->options.chooser], t->options.seed, t->options.worth,
              t->options.stop, t->options.noise);
    calc_put_count(&put, "candidates", (int64_t)t->layouts.count);
    put_decision(&put, t, d);
    put_command(&put, t->args);
    if (t->way == CALC_TUNE_WAY_SIMULATE) {
        double regret, best_s;
        bool found = calc_tune_order_regret(t, d, &best_s, &regret);
        calc_putf(&put, "truth: {seed: %jd, best_s: %g, regret: %g}", t->truth_seed, best_s,
                  found ? regret : (double)NAN);
    }
    if (t->options.kernels) {
        calc_tune_operators_put(&put, &t->operators);
    }
    put_measured(&put, t, d);
    calc_put_array(&put, "layouts", CALC_PUT_LINES);
    for (size_t i = 0; i < t->layouts.count; i++) {
        put_layout(&put, t, d, order[i]);
    }
    calc_put_close(&put);
    calc_put_end(&put);
}

static void write_csv_row(calc_output *out, const calc_tune_task *t, const calc_tune_decision *d,
                          size_t candidate)
{
    const calc_exec exec = calc_tune_layouts_exec(&t->layouts, candidate);
    const calc_tune_candidate *c = &t->layouts.candidate[candidate];
    const calc_tune_outlook *o = &d->outlook[candidate];
    int64_t value[CHOICES];
    const char *recompute = choices_of(&exec, value);
    char id[CALC_TUNE_ID_SIZE];
    calc_output_printf(out, "%s,%zu", calc_tune_layouts_id(&t->layouts, candidate, id),
                       candidate + 1);
    for (int i = 0; i < CHOICES; i++) {
        calc_output_printf(out, ",%jd", value[i]);
    }
    calc_output_printf(out, ",%s", recompute);
    const double number[] = {c->step_s,
                             o->p5_s,
                             o->p50_s,
                             o->p95_s,
                             o->best,
                             o->fits,
                             o->gain,
                             c->memory_bytes / 0x1p30,
                             o->memory_p50_bytes / 0x1p30,
                             calc_tune_order_mean(t, candidate)};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        calc_output_printf(out, isfinite(number[i]) ? ",%.17g" : ",", number[i]);
    }
    calc_output_text(out, "\n");
}

static void write_csv(calc_output *out, const calc_tune_task *t, const calc_tune_decision *d,
                      const size_t *order)
{
    calc_output_text(out, "layout,rank");
    for (int i = 0; i < CHOICES; i++) {
        calc_output_printf(out, ",%s", choices[i]);
    }
    calc_output_text(out, ",activation_recompute,predicted_s,p5_s,p50_s,p95_s,p_best,p_fits,gain,"
                          "predicted_gib,p50_gib,measured_s\n");
    for (size_t i = 0; i < t->layouts.count; i++) {
        write_csv_row(out, t, d, order[i]);
    }
}

static void write_page(calc_output *out, const calc_tune_task *t, const calc_tune_decision *d,
                       const size_t *order)
{
    calc_put put = calc_page_begin(out, CALC_PAGE_TUNE);
    calc_put_key(&put, "tune");
    write_json(out, t, d, order);
    calc_page_end(&put, CALC_PAGE_TUNE);
}

calc_status calc_tune_write(const calc_tune_task *t, const calc_tune_decision *d,
                            calc_errors *errors)
{
    static const struct {
        calc_tune_opt opt;
        void (*write)(calc_output *, const calc_tune_task *, const calc_tune_decision *,
                      const size_t *);
    } files[] = {{CALC_TUNE_OPT_JSON, write_json},
                 {CALC_TUNE_OPT_CSV, write_csv},
                 {CALC_TUNE_OPT_HTML, write_page}};
    size_t *order = calc_tune_order_make(t, d);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = calc_opt_value(t->args, (int)files[i].opt);
        if (path) {
            calc_output *out = calc_write_to(path);
            files[i].write(out, t, d, order);
            (void)!calc_output_close(out, errors);
        }
    }
    free(order);
    return calc_errors_first(errors);
}
