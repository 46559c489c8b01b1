#include "mindspeed/loop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/csv_table.h"
#include "io/utf8.h"

calc_status calc_mindspeed_loop_start(calc_mindspeed_loop *loop,
                                      const calc_mindspeed_loop_rules *rules, size_t count,
                                      const double *memory_bytes)
{
    size_t n = count + 1;
    *loop = (calc_mindspeed_loop){.rules = *rules, .count = count, .memory_bytes = memory_bytes};
    loop->mark = calloc(n, sizeof *loop->mark);
    loop->samples_s = malloc(n * rules->samples * sizeof *loop->samples_s);
    loop->tally = calloc(n, sizeof *loop->tally);
    return loop->mark && loop->samples_s && loop->tally ? CALC_OK : CALC_ERR_NOMEM;
}

void calc_mindspeed_loop_free(calc_mindspeed_loop *loop)
{
    free(loop->mark);
    free(loop->samples_s);
    free(loop->tally);
    *loop = (calc_mindspeed_loop){0};
}

void calc_mindspeed_loop_record(calc_mindspeed_loop *loop, size_t candidate, calc_mindspeed_end end)
{
    if (loop->mark[candidate] == CALC_MINDSPEED_EXPLORED) {
        return;
    }
    bool ran = end == CALC_MINDSPEED_RAN;
    loop->mark[candidate] = ran ? CALC_MINDSPEED_EXPLORED : CALC_MINDSPEED_REMOVED;
    loop->trials++;
    for (size_t i = 0; i < loop->count && loop->memory_bytes; i++) {
        if (end == CALC_MINDSPEED_OUT_OF_MEMORY && loop->mark[i] == CALC_MINDSPEED_UNEXPLORED &&
            loop->memory_bytes[i] >= loop->memory_bytes[candidate]) {
            loop->mark[i] = CALC_MINDSPEED_REMOVED;
        }
    }
}

static void time_all(calc_mindspeed_loop *loop, calc_mindspeed_loop_time *time, void *context)
{
    for (size_t c = 0; c < loop->count; c++) {
        double *s = loop->samples_s + c * loop->rules.samples;
        bool timed =
            loop->mark[c] != CALC_MINDSPEED_REMOVED && time(context, c, s, loop->rules.samples);
        for (size_t i = 0; i < loop->rules.samples && !timed; i++) {
            s[i] = INFINITY;
        }
    }
}

/* The fastest candidate of a sample that is slower than `after_s`, or equally fast and after
 * candidate `last`. @return `count` if there is none */
static size_t next_fastest(const calc_mindspeed_loop *loop, size_t sample, double after_s,
                           size_t last)
{
    size_t best = loop->count;
    double best_s = INFINITY;
    for (size_t c = 0; c < loop->count; c++) {
        double s = loop->samples_s[c * loop->rules.samples + sample];
        bool comes = s > after_s || (s == after_s && c > last);
        if (comes && s < best_s) {
            best = c;
            best_s = s;
        }
    }
    return best;
}

static void add_fastest(calc_mindspeed_loop *loop, size_t sample)
{
    double after_s = -INFINITY;
    size_t last = 0;
    for (size_t k = 0; k < loop->rules.top_k; k++) {
        last = next_fastest(loop, sample, after_s, last);
        if (last == loop->count) {
            return;
        }
        after_s = loop->samples_s[last * loop->rules.samples + sample];
        loop->tally[last]++;
        loop->pool++;
        loop->rest += loop->mark[last] == CALC_MINDSPEED_UNEXPLORED;
    }
}

void calc_mindspeed_loop_judge(calc_mindspeed_loop *loop, calc_mindspeed_loop_time *time,
                               void *context)
{
    time_all(loop, time, context);
    loop->pool = loop->rest = 0;
    for (size_t c = 0; c < loop->count; c++) {
        loop->tally[c] = 0;
    }
    for (size_t i = 0; i < loop->rules.samples; i++) {
        add_fastest(loop, i);
    }
}

double calc_mindspeed_loop_chance(const calc_mindspeed_loop *loop, size_t candidate)
{
    return loop->pool ? (double)loop->tally[candidate] / (double)loop->pool : 0;
}

/* Draws one of the pool's unmeasured entries with equal probability. */
static size_t drawn(const calc_mindspeed_loop *loop)
{
    calc_rng rng;
    calc_rng_init(&rng, loop->rules.seed, loop->trials);
    size_t left = calc_rng_below(&rng, (uint32_t)loop->rest);
    size_t c = 0;
    for (;; c++) {
        size_t here = loop->mark[c] == CALC_MINDSPEED_UNEXPLORED ? loop->tally[c] : 0;
        if (left < here) {
            return c;
        }
        left -= here;
    }
}

calc_mindspeed_stop calc_mindspeed_loop_choose(calc_mindspeed_loop *loop)
{
    const calc_mindspeed_loop_rules *r = &loop->rules;
    double share = loop->pool ? (double)loop->rest / (double)loop->pool : 0;
    size_t first = 0;
    while (first < loop->count && loop->mark[first] != CALC_MINDSPEED_UNEXPLORED) {
        first++;
    }
    loop->stop = CALC_MINDSPEED_GOES_ON;
    if (first == loop->count) {
        loop->stop = CALC_MINDSPEED_EXHAUSTED;
    } else if (r->max_trials && loop->trials >= r->max_trials) {
        loop->stop = CALC_MINDSPEED_TRIALS;
    } else if (r->every) {
        loop->next = first;
    } else if (loop->rest == 0 || share <= r->stop_threshold) {
        loop->stop = CALC_MINDSPEED_CONCENTRATED;
    } else {
        loop->next = drawn(loop);
    }
    return loop->stop;
}

#define GB 1e9

typedef struct row {
    int pp, tp, dp, cp, up, mbs;
    double vpp, ep, peak_gb;
    const char *ms;
    int line;
    calc_mindspeed_end end;
    double step_s;
} result_row;

#define SIZE(name, member)                                                                         \
    {                                                                                              \
        name, NULL, CALC_CSV_MEMBER(result_row, member), .lo = 1, .hi = 1e9                        \
    }
#define MAYBE CALC_CSV_OPTIONAL | CALC_CSV_BLANK

static const calc_csv_column columns[] = {
    SIZE("pp", pp),
    SIZE("tp", tp),
    SIZE("dp", dp),
    SIZE("ring_attention", cp),
    SIZE("ulysses", up),
    SIZE("mbs", mbs),
    {"vpp", NULL, CALC_CSV_MEMBER(result_row, vpp), MAYBE, 1, 1e9},
    {"ep", NULL, CALC_CSV_MEMBER(result_row, ep), MAYBE, 0, 1e9},
    {"peak_memory", NULL, CALC_CSV_MEMBER(result_row, peak_gb), MAYBE, 0, 1e9},
    {"e2e_time", NULL, CALC_CSV_MEMBER(result_row, ms)},
    {NULL, NULL, CALC_CSV_MEMBER(result_row, line)},
};

static calc_status refuse(const calc_csv_row *from, const char *cell, const char *name,
                          const char *expected, calc_errors *errors)
{
    char shown[CALC_UTF8_SHOW_SIZE];
    return calc_errors_at(errors, CALC_ERR_TYPE, from->reader->name, from->line,
                          calc_csv_read_column(from->reader, cell), NULL,
                          "%s: expected %s, found \"%s\"", name, expected,
                          calc_utf8_show(shown, cell, strlen(cell)));
}

static bool is_whole(double x)
{
    return isnan(x) || x == floor(x);
}

static calc_status finish(void *context, void *row, const calc_csv_row *from, calc_errors *errors)
{
    result_row *r = row;
    char *end;
    (void)context;
    if (!is_whole(r->vpp) || !is_whole(r->ep)) {
        return calc_errors_at(errors, CALC_ERR_TYPE, from->reader->name, from->line, 0, NULL,
                              "%s: expected a whole number, found %g",
                              is_whole(r->vpp) ? "ep" : "vpp", is_whole(r->vpp) ? r->ep : r->vpp);
    }
    r->end = strcmp(r->ms, "oom") == 0      ? CALC_MINDSPEED_OUT_OF_MEMORY
             : strcmp(r->ms, "failed") == 0 ? CALC_MINDSPEED_FAILED
                                            : CALC_MINDSPEED_RAN;
    if (r->end != CALC_MINDSPEED_RAN) {
        return CALC_OK;
    }
    r->step_s = strtod(r->ms, &end) * 1e-3;
    bool number = end != r->ms && *end == '\0';
    return number && isfinite(r->step_s) && r->step_s > 0
               ? CALC_OK
               : refuse(from, r->ms, "e2e_time", "milliseconds above 0, oom or failed", errors);
}

static calc_mindspeed_result result_of(const result_row *r)
{
    return (calc_mindspeed_result){.config = {r->pp, r->tp, r->dp, r->cp, r->up, r->mbs,
                                              isnan(r->vpp) ? 1 : (int)r->vpp,
                                              isnan(r->ep) ? 0 : (int)r->ep},
                                   .end = r->end,
                                   .step_s = r->step_s,
                                   .peak_bytes = r->peak_gb * GB,
                                   .line = r->line};
}

static calc_status take(calc_mindspeed_results *out, const result_row *row, size_t count,
                        const char *path, calc_errors *errors)
{
    calc_status status = CALC_OK;
    out->item = calloc(count + 1, sizeof *out->item);
    if (!out->item) {
        return calc_errors_no_memory(errors);
    }
    for (size_t i = 0; i < count; i++) {
        calc_mindspeed_result result = result_of(&row[i]);
        const calc_mindspeed_result *first = calc_mindspeed_results_find(out, &result.config);
        if (first) {
            status = calc_errors_at(
                errors, CALC_ERR_RULE, path, row[i].line, 0, "keep one row of each, or their mean",
                "the configuration was measured in line %d already", first->line);
        } else {
            out->item[out->count++] = result;
        }
    }
    return status;
}

calc_status calc_mindspeed_results_read(calc_mindspeed_results *out, const char *path,
                                        calc_errors *errors)
{
    calc_csv_table table =
        CALC_CSV_TABLE(columns, result_row,
                       "model_results.csv has pp,tp,dp,ring_attention,ulysses,mbs,vpp,ep,"
                       "peak_memory,e2e_time");
    calc_csv_rows rows;
    table.finish = finish;
    *out = (calc_mindspeed_results){0};
    calc_status status = calc_csv_table_read(&rows, &table, path, errors);
    if (status == CALC_OK) {
        status = take(out, rows.item, rows.count, path, errors);
    }
    calc_csv_rows_free(&rows);
    return status;
}

void calc_mindspeed_results_free(calc_mindspeed_results *results)
{
    free(results->item);
    *results = (calc_mindspeed_results){0};
}

const calc_mindspeed_result *calc_mindspeed_results_find(const calc_mindspeed_results *results,
                                                         const calc_mindspeed_config *c)
{
    for (size_t i = 0; i < results->count; i++) {
        if (memcmp(&results->item[i].config, c, sizeof *c) == 0) {
            return &results->item[i];
        }
    }
    return NULL;
}
