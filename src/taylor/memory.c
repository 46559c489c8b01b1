#include "taylor/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/utf8.h"
#include "model/stages/layout.h"

static const double mb_bytes = 1024.0 * 1024.0;

/* ---- By calc's model ------------------------------------------------------------------------- */

/* Memory of a stage with a number of blocks of one kind, as the first, the last or a middle
 * stage. */
static calc_stage_memory stage_of(const calc_layout *l, bool moe, double blocks,
                                  calc_taylor_end end)
{
    calc_stage_class c = {.stages = 1,
                          .position = end == CALC_TAYLOR_FIRST ? 0
                                      : end == CALC_TAYLOR_LAST
                                          ? (double)l->exec->pipeline_par - 1
                                          : floor((double)l->exec->pipeline_par / 2),
                          .dense = moe ? 0 : blocks,
                          .moe = moe ? blocks : 0,
                          .first = end == CALC_TAYLOR_FIRST,
                          .last = end == CALC_TAYLOR_LAST || l->exec->pipeline_par == 1};
    calc_stage_weights w = calc_stage_weights_sum(&l->terms, &c);
    return calc_stage_memory_sum(&l->terms, &c, &w, CALC_PIPELINE_SCHEDULE_1F1B, 1);
}

static double used_mb(const calc_layout *l, double bytes)
{
    return bytes * l->terms.used_share / mb_bytes;
}

/* Memory that belongs neither to layers nor to micro-batches in flight. */
static double rest_mb(const calc_layout *l, bool moe, calc_taylor_end end, double layer_mb)
{
    calc_stage_memory m = stage_of(l, moe, 1, end);
    double of_blocks = stage_of(l, moe, 1, CALC_TAYLOR_MIDDLE).activation /
                       stage_of(l, moe, 1, CALC_TAYLOR_MIDDLE).in_flight * m.in_flight;
    return used_mb(l, m.total - of_blocks) + l->terms.reserved_bytes / mb_bytes - layer_mb;
}

static double flight_mb(const calc_layout *l, bool moe)
{
    calc_stage_memory m = stage_of(l, moe, 1, CALC_TAYLOR_MIDDLE);
    return used_mb(l, m.activation / m.in_flight);
}

/* Fills the terms that depend on the kind of recomputation. @return the static part of a middle
 * stage */
static double fill_again(const calc_taylor_config *config, const calc_system *system,
                         const calc_exec *like, calc_balance_recompute again,
                         calc_taylor_memory *out)
{
    calc_exec e = *like;
    calc_taylor_config_recompute(config, (calc_taylor_again)again, 0, &e);
    calc_layout l;
    calc_layout_of(&config->app, system, &e, CALC_COMPAT_NONE, NULL, &l);
    bool experts = config->experts > 0;
    out->act_mb[0][again] = flight_mb(&l, false);
    out->act_mb[1][again] = flight_mb(&l, experts);
    if (again == CALC_BALANCE_NONE) {
        for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
            bool moe = kind == 1 && experts;
            out->layer_mb[kind] = used_mb(&l, stage_of(&l, moe, 2, CALC_TAYLOR_MIDDLE).state -
                                                  stage_of(&l, moe, 1, CALC_TAYLOR_MIDDLE).state);
        }
        for (int end = 0; end < CALC_TAYLOR_ENDS; end++) {
            bool dense = end == CALC_TAYLOR_FIRST && config->dense > 0;
            double moe_mb = rest_mb(&l, experts, (calc_taylor_end)end, out->layer_mb[1]);
            double dense_mb = rest_mb(&l, false, (calc_taylor_end)end, out->layer_mb[0]);
            out->static_mb[end] = dense ? fmax(moe_mb, dense_mb) : moe_mb;
        }
    }
    return rest_mb(&l, experts, CALC_TAYLOR_MIDDLE, out->layer_mb[1]);
}

void calc_taylor_memory_of(const calc_taylor_config *config, const calc_system *system,
                           const calc_exec *exec, calc_taylor_memory *out)
{
    *out = (calc_taylor_memory){0};
    double kept_mb = fill_again(config, system, exec, CALC_BALANCE_NONE, out);
    fill_again(config, system, exec, CALC_BALANCE_SELECTIVE, out);
    double again_mb = fill_again(config, system, exec, CALC_BALANCE_FULL, out);
    out->working_mb = fmax(0, again_mb - kept_mb);
}

/* ---- From a file ----------------------------------------------------------------------------- */

static double *member_of(calc_taylor_memory *memory, const char *key)
{
    const struct {
        const char *key, *other;
        double *member;
    } rows[] = {
#define CALC_X(name, also, of) {name, also, &memory->of},
        CALC_TAYLOR_MEMORY_LIST(CALC_X)
#undef CALC_X
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(key, rows[i].key) == 0 || (rows[i].other && strcmp(key, rows[i].other) == 0)) {
            return rows[i].member;
        }
    }
    return NULL;
}

static calc_status refuse_key(const char *name, int line, const char *key, calc_errors *errors)
{
    static const char *const keys[] = {
#define CALC_X(key, also, of) key,
        CALC_TAYLOR_MEMORY_LIST(CALC_X)
#undef CALC_X
            NULL};
    char hint[CALC_HINT_SIZE];
    char shown[CALC_UTF8_SHOW_SIZE];
    return calc_errors_at(
        errors, CALC_ERR_FIELD, name, line, 1, calc_did_you_mean(calc_nearest(key, keys), hint),
        "no term of memory is called \"%s\"", calc_utf8_show(shown, key, strlen(key)));
}

/* Reads one line, zero-terminated in place. */
static calc_status take_line(calc_taylor_memory *out, int *said, char *text, const char *name,
                             int line, calc_errors *errors)
{
    const double most_mb = 1e9;
    char *start = text + strspn(text, " \t\r");
    if (*start == '\0' || *start == '#') {
        return CALC_OK;
    }
    char *sign = strchr(start, '=');
    if (!sign) {
        return calc_errors_at(errors, CALC_ERR_SYNTAX, name, line, (int)(start - text) + 1, NULL,
                              "expected \"term=MB\"");
    }
    char *value = sign + 1 + strspn(sign + 1, " \t");
    while (sign > start && (sign[-1] == ' ' || sign[-1] == '\t')) {
        sign--;
    }
    *sign = '\0';
    double *member = member_of(out, start);
    if (!member) {
        return refuse_key(name, line, start, errors);
    }
    char *end;
    double mb = strtod(value, &end);
    if (end == value || end[strspn(end, " \t\r")] != '\0' || !(mb >= 0 && mb <= most_mb)) {
        char shown[CALC_UTF8_SHOW_SIZE];
        return calc_errors_at(errors, CALC_ERR_RANGE, name, line, (int)(value - text) + 1, NULL,
                              "%s: expected MB from 0 to %g, found \"%s\"", start, most_mb,
                              calc_utf8_show(shown, value, strcspn(value, "\r")));
    }
    *member = mb;
    (*said)++;
    return CALC_OK;
}

calc_status calc_taylor_memory_parse(calc_taylor_memory *out, int *said, const char *text,
                                     size_t length, const char *name, calc_errors *errors)
{
    enum { LINE_SIZE = 512 };
    calc_status status = CALC_OK;
    *said = 0;
    int line = 1;
    for (size_t at = 0; at < length; line++) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t size = end ? (size_t)(end - text) - at : length - at;
        char copy[LINE_SIZE];
        calc_status one;
        if (size >= sizeof copy || memchr(text + at, '\0', size)) {
            one = calc_errors_at(errors, CALC_ERR_SYNTAX, name, line, 0, NULL,
                                 "expected \"term=MB\"");
        } else {
            snprintf(copy, sizeof copy, "%.*s", (int)size, text + at);
            one = take_line(out, said, copy, name, line, errors);
        }
        status = status == CALC_OK ? one : status;
        at += size + 1;
    }
    return status;
}

/* ---- Stages ---------------------------------------------------------------------------------- */

calc_taylor_end calc_taylor_end_of(int64_t stage, int64_t stages)
{
    return stage == 0            ? CALC_TAYLOR_FIRST
           : stage == stages - 1 ? CALC_TAYLOR_LAST
                                 : CALC_TAYLOR_MIDDLE;
}

double calc_taylor_stage_mb(const calc_taylor_memory *memory, calc_taylor_end end,
                            const int64_t layers[CALC_BALANCE_KINDS], calc_balance_recompute again,
                            int64_t in_flight)
{
    double mb = memory->static_mb[end];
    mb += again == CALC_BALANCE_FULL ? memory->working_mb : 0;
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        mb += (double)layers[kind] *
              (memory->layer_mb[kind] + (double)in_flight * memory->act_mb[kind][again]);
    }
    return mb;
}

void calc_taylor_initial_offset(int64_t stages, int64_t layers, int *offset)
{
    int64_t rest = layers % stages;
    memset(offset, 0, (size_t)stages * sizeof *offset);
    if (rest > 0) {
        offset[0] = 1;
    }
    for (int64_t stage = stages - 2; rest > 1 && stage > 0; rest--) {
        offset[stage--] = 1;
    }
}

double calc_taylor_initial_mb(const calc_taylor_config *config, const calc_taylor_memory *memory,
                              const calc_exec *exec, calc_balance_recompute again, int64_t stage)
{
    int offset[CALC_BALANCE_STAGES];
    int64_t stages = exec->pipeline_par;
    int64_t dense = config->dense;
    int64_t microbatches = exec->batch_size / exec->strategy.data_par / exec->microbatch_size;
    double most_mb = 0;
    calc_taylor_initial_offset(stages, config->app.num_blocks, offset);
    for (int64_t s = 0; s < stages; s++) {
        int64_t blocks = config->app.num_blocks / stages + offset[s];
        int64_t of_dense = dense < blocks ? dense : blocks;
        int64_t layers[CALC_BALANCE_KINDS] = {of_dense, blocks - of_dense};
        int64_t flight = stages - s < microbatches ? stages - s : microbatches;
        double mb =
            calc_taylor_stage_mb(memory, calc_taylor_end_of(s, stages), layers, again, flight);
        dense -= of_dense;
        most_mb = stage < 0 || stage == s ? fmax(most_mb, mb) : most_mb;
    }
    return most_mb;
}
