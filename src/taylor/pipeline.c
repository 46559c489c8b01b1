#include "taylor/pipeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "model/stages/layout.h"

const double calc_taylor_selective = 0.33;

static double backward_s(const calc_stage_part *part)
{
    return part->agrad_s + part->wgrad_s;
}

calc_taylor_ratios calc_taylor_ratios_of(const calc_taylor_config *config,
                                         const calc_system *system, const calc_exec *exec)
{
    calc_layout kept, again;
    calc_exec e = *exec;
    calc_taylor_config_recompute(config, CALC_TAYLOR_AGAIN_NONE, 0, &e);
    calc_layout_of(&config->app, system, &e, CALC_COMPAT_NONE, NULL, &kept);
    calc_exec full = e;
    calc_taylor_config_recompute(config, CALC_TAYLOR_AGAIN_FULL, 0, &full);
    calc_layout_of(&config->app, system, &full, CALC_COMPAT_NONE, NULL, &again);
    int kind = config->experts > 0;
    const calc_stage_part *dense = &kept.terms.block[0];
    const calc_stage_part *layer = &kept.terms.block[kind];
    return (calc_taylor_ratios){
        .dense = (dense->fw_s + backward_s(dense)) / (layer->fw_s + backward_s(layer)),
        .backward = backward_s(layer) / layer->fw_s,
        .again = (backward_s(&again.terms.block[kind]) - backward_s(layer)) / layer->fw_s,
        .head = kept.terms.head.fw_s / layer->fw_s,
        .layer_ms = layer->fw_s * 1000};
}

calc_taylor_ask calc_taylor_ask_of(const calc_taylor_config *c, int64_t batch)
{
    calc_taylor_ask ask = {.stages = c->pipeline,
                           .chunks = c->chunks,
                           .microbatches = batch > 0 ? batch / c->data / c->exec.microbatch_size
                                                     : c->microbatches,
                           .layers = {c->dense, c->layers + c->prediction - c->dense},
                           .memory_mb = c->memory_mb,
                           .may_full = true};
    return ask;
}

static calc_status refuse(calc_errors *errors, const char *what, int64_t found, int64_t least,
                          int64_t most)
{
    return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, NULL,
                           "%lld %s: expected %lld to %lld", (long long)found, what,
                           (long long)least, (long long)most);
}

calc_status calc_taylor_ask_check(const calc_taylor_ask *a, calc_errors *errors)
{
    enum { MICROBATCHES = 1000000 };
    int64_t layers = a->layers[0] + a->layers[1];
    if (a->stages > CALC_BALANCE_STAGES) {
        return refuse(errors, "pipeline stages", a->stages, 1, CALC_BALANCE_STAGES);
    }
    if (a->chunks > CALC_BALANCE_PLACES / a->stages) {
        return refuse(errors, "chunks per stage", a->chunks, 1, CALC_BALANCE_PLACES / a->stages);
    }
    if (layers < a->stages * a->chunks || layers > CALC_BALANCE_MOST_LAYERS) {
        return refuse(errors, "layers, for as many chunks", layers, a->stages * a->chunks,
                      CALC_BALANCE_MOST_LAYERS);
    }
    if (a->microbatches < a->stages || a->microbatches > MICROBATCHES) {
        return refuse(errors, "micro-batches", a->microbatches, a->stages, MICROBATCHES);
    }
    return CALC_OK;
}

void calc_taylor_problem(const calc_taylor_ask *a, const calc_taylor_ratios *r,
                         const calc_taylor_memory *m, calc_balance_problem *out)
{
    *out = (calc_balance_problem){
        .shape = {CALC_PIPELINE_SCHEDULE_1F1B, a->stages, a->chunks, a->microbatches},
        .less_memory = a->less_memory || a->chunks == 1,
        .layers = {(int)a->layers[0], (int)a->layers[1]},
        .chips = 1,
        .may_select = a->may_select,
        .may_full = a->may_full,
        .may_mix = a->may_mix,
        .least_layers = 1};
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        double fw = kind == 0 ? r->dense : 1;
        calc_balance_layer *layer = &out->layer[0][kind];
        layer->fw_s = fw;
        layer->agrad_s = r->backward * fw;
        layer->again_s[CALC_BALANCE_SELECTIVE] = calc_taylor_selective * fw;
        layer->again_s[CALC_BALANCE_FULL] = (kind == 0 && a->shipped ? 1 : r->again) * fw;
        layer->held_bytes = m->layer_mb[kind];
        for (int again = 0; again < CALC_BALANCE_RECOMPUTES; again++) {
            layer->flight_bytes[again] = m->act_mb[kind][again];
        }
    }
    for (int64_t s = 0; s < a->stages; s++) {
        calc_taylor_end end = calc_taylor_end_of(s, a->stages);
        out->stage[s] = (calc_balance_stage){.fixed_bytes = m->static_mb[end],
                                             .working_bytes = m->working_mb,
                                             .limit_bytes = a->memory_mb - a->tighter_mb[end]};
    }
    calc_balance_place *last = &out->place[a->stages * a->chunks - 1];
    last->fw_s = r->head;
    last->agrad_s = r->backward * r->head;
}

/* Number of layers of a stage, over all its chunks. */
static calc_balance_share stage_share(const calc_balance_problem *p, const calc_balance_share *s,
                                      int64_t stage)
{
    calc_balance_share sum = {{0}, {0}, {0}};
    for (int chunk = 0; chunk < (int)p->shape.chunks; chunk++) {
        const calc_balance_share *one = &s[calc_balance_place_of(&p->shape, (int)stage, chunk)];
        for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
            sum.layers[kind] += one->layers[kind];
            sum.selective[kind] += one->selective[kind];
            sum.full[kind] += one->full[kind];
        }
    }
    return sum;
}

double calc_taylor_checked_mb(const calc_taylor_config *config, const calc_system *system,
                              const calc_exec *exec, const calc_balance_problem *problem,
                              const calc_balance_share *share, const calc_balance_answer *answer,
                              int64_t stage)
{
    const double mb_bytes = 1024.0 * 1024.0;
    calc_balance_share of = stage_share(problem, share, stage);
    const calc_balance_stage *limits = &problem->stage[stage];
    const calc_balance_layer *layer = problem->layer[limits->chip];
    int full = of.full[0] + of.full[1];
    int selective = of.selective[0] + of.selective[1];
    bool experts = config->experts > 0;
    calc_taylor_again again = full        ? CALC_TAYLOR_AGAIN_FULL
                              : selective ? CALC_TAYLOR_AGAIN_SELECT
                                          : CALC_TAYLOR_AGAIN_NONE;
    calc_exec e = *exec;
    calc_taylor_config_recompute(config, again, full > 0 ? full : selective, &e);
    calc_layout l;
    calc_layout_of(&config->app, system, &e, CALC_COMPAT_NONE, NULL, &l);
    calc_stage_class c = {.stages = 1,
                          .position = (double)stage,
                          .dense = of.layers[0] + (experts ? 0 : of.layers[1]),
                          .moe = experts ? of.layers[1] : 0,
                          .first = stage == 0,
                          .last = stage == exec->pipeline_par - 1};
    calc_stage_weights w = calc_stage_weights_sum(&l.terms, &c);
    calc_stage_memory m = calc_stage_memory_sum(&l.terms, &c, &w, CALC_PIPELINE_SCHEDULE_1F1B, 1);
    if (problem->shape.chunks == 1) {
        return (m.total * l.terms.used_share + l.terms.reserved_bytes) / mb_bytes;
    }
    /* The order of the schedule determines the micro-batches in flight of each chunk: takes them
     * from the sum. */
    double linear_mb = answer->peak_bytes[stage] - limits->fixed_bytes;
    linear_mb -= full > 0 ? limits->working_bytes : 0;
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        linear_mb -= of.layers[kind] * layer[kind].held_bytes;
    }
    return ((m.total - m.activation) * l.terms.used_share + l.terms.reserved_bytes) / mb_bytes +
           linear_mb;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static int matrix_item(const calc_taylor_ask *a, const calc_balance_share *s,
                       calc_taylor_matrix which)
{
    int layers = s->layers[0] + s->layers[1];
    int mean = (int)((a->layers[0] + a->layers[1]) / (a->stages * a->chunks));
    switch (which) {
    case CALC_TAYLOR_LAYERS:
        return layers;
    case CALC_TAYLOR_OFFSET:
        return layers - mean;
    case CALC_TAYLOR_FULL:
        return s->full[0] + s->full[1];
    case CALC_TAYLOR_SELECTIVE:
        return s->selective[0] + s->selective[1];
    }
    return 0;
}

char *calc_taylor_matrix_text(const calc_taylor_ask *a, const calc_balance_share *share,
                              calc_taylor_matrix which, char *text, size_t size)
{
    bool several = a->chunks > 1;
    snprintf(text, size, "%s", several ? "[" : "");
    for (int64_t chunk = 0; chunk < a->chunks; chunk++) {
        calc_append(text, size, "%s[", chunk ? ", " : "");
        for (int64_t stage = 0; stage < a->stages; stage++) {
            calc_append(text, size, "%s%d", stage ? ", " : "",
                        matrix_item(a, &share[chunk * a->stages + stage], which));
        }
        calc_append(text, size, "]");
    }
    return calc_append(text, size, "%s", several ? "]" : "");
}

static const char *const variables[] = {"layers", "selective", "full"};

static int *member_of(calc_balance_share *share, size_t variable, int kind)
{
    return variable == 0   ? &share->layers[kind]
           : variable == 1 ? &share->selective[kind]
                           : &share->full[kind];
}

void calc_taylor_solution_write(const calc_taylor_ask *a, const calc_balance_share *share,
                                double objective, calc_output *out)
{
    calc_output_printf(out, "objective %.15g\n", objective);
    for (size_t variable = 0; variable < sizeof variables / sizeof *variables; variable++) {
        for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
            for (int64_t place = 0; place < a->stages * a->chunks; place++) {
                calc_balance_share one = share[place];
                calc_output_printf(out, "%s_%d_%lld_%lld %d\n", variables[variable], kind,
                                   (long long)(place % a->stages), (long long)(place / a->stages),
                                   *member_of(&one, variable, kind));
            }
        }
    }
}

/* A variable's index in a zero-terminated text. */
typedef struct cell {
    size_t variable;
    int kind, stage, chunk, value;
} cell;

/* Reads "_<n>" from 0 to `hi`. @return the rest; NULL if it is not there */
static const char *take_index(const char *at, int hi, int *out)
{
    char *end;
    if (*at != '_' || at[1] < '0' || at[1] > '9') {
        return NULL;
    }
    long value = strtol(at + 1, &end, 10);
    *out = (int)value;
    return value <= hi ? end : NULL;
}

/* Whether a name is one of our variables. */
static bool is_cell(const char *name, cell *out)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        size_t length = strlen(variables[i]);
        if (strncmp(name, variables[i], length) == 0) {
            const char *at = take_index(name + length, CALC_BALANCE_KINDS - 1, &out->kind);
            at = at ? take_index(at, CALC_BALANCE_STAGES - 1, &out->stage) : NULL;
            at = at ? take_index(at, CALC_BALANCE_PLACES - 1, &out->chunk) : NULL;
            out->variable = i;
            return at && !*at;
        }
    }
    return false;
}

/* Reads a zero-terminated line. @return CALC_OK, with *is set if it is a cell */
static calc_status take_line(char *line, int number, const char *name, double *objective, cell *out,
                             bool *is, calc_errors *errors)
{
    char *key = line + strspn(line, " \t\r");
    char *blank = key + strcspn(key, " \t\r");
    char *value = blank + strspn(blank, " \t\r");
    char *end;
    double found = strtod(value, &end);
    *is = false;
    if (!*key || *key == '#') {
        return CALC_OK;
    }
    if (end == value || end[strspn(end, " \t\r")] != '\0') {
        return calc_errors_at(errors, CALC_ERR_SYNTAX, name, number, (int)(value - line) + 1, NULL,
                              "expected a name and its value");
    }
    *blank = '\0';
    if (strcmp(key, "objective") == 0) {
        *objective = found;
        return CALC_OK;
    }
    if (!is_cell(key, out)) {
        return CALC_OK;
    }
    if (!(found >= -0.5 && found <= CALC_BALANCE_MOST_LAYERS)) {
        return calc_errors_at(errors, CALC_ERR_RANGE, name, number, (int)(value - line) + 1, NULL,
                              "%s: expected a count from 0 to %d, found %g", key,
                              CALC_BALANCE_MOST_LAYERS, found);
    }
    out->value = (int)lround(found);
    *is = true;
    return CALC_OK;
}

/* Called once for the sizes and once for the values. @param share  NULL the first time */
static calc_status take_text(const char *text, size_t length, const char *name,
                             calc_taylor_ask *ask, calc_balance_share *share, double *objective,
                             calc_errors *errors)
{
    int number = 1;
    for (size_t at = 0; at < length; number++) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t size = end ? (size_t)(end - text) - at : length - at;
        char line[256];
        cell c;
        bool is;
        if (size >= sizeof line || memchr(text + at, '\0', size)) {
            return calc_errors_at(errors, CALC_ERR_SYNTAX, name, number, 0, NULL,
                                  "expected a name and its value");
        }
        snprintf(line, sizeof line, "%.*s", (int)size, text + at);
        calc_status status = take_line(line, number, name, objective, &c, &is, errors);
        if (status != CALC_OK) {
            return status;
        }
        if (is && share) {
            int64_t place = c.chunk * ask->stages + c.stage;
            *member_of(&share[place], c.variable, c.kind) = c.value;
        } else if (is) {
            ask->stages = c.stage >= ask->stages ? c.stage + 1 : ask->stages;
            ask->chunks = c.chunk >= ask->chunks ? c.chunk + 1 : ask->chunks;
            ask->layers[c.kind] += c.variable == 0 ? c.value : 0;
        }
        at += size + 1;
    }
    return CALC_OK;
}

calc_status calc_taylor_solution_parse(const char *text, size_t length, const char *name,
                                       calc_taylor_ask *ask, calc_balance_share *share,
                                       double *objective, calc_errors *errors)
{
    *ask = (calc_taylor_ask){.stages = 0};
    *objective = NAN;
    calc_status status = take_text(text, length, name, ask, NULL, objective, errors);
    if (status != CALC_OK) {
        return status;
    }
    if (ask->stages == 0 || ask->layers[0] + ask->layers[1] == 0) {
        return calc_errors_at(errors, CALC_ERR_FIELD, name, 0, 0, NULL,
                              "no layers: expected lines \"layers_1_0_0 4\"");
    }
    if (ask->stages * ask->chunks > CALC_BALANCE_PLACES) {
        return calc_errors_at(errors, CALC_ERR_RANGE, name, 0, 0, NULL,
                              "%lld stages of %lld chunks: expected at most %d together",
                              (long long)ask->stages, (long long)ask->chunks, CALC_BALANCE_PLACES);
    }
    memset(share, 0, CALC_BALANCE_PLACES * sizeof *share);
    return take_text(text, length, name, ask, share, objective, errors);
}
