#include "taylor/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/decimal.h"
#include "base/error.h"
#include "io/utf8.h"
#include "model/stages/layout.h"
#include "spec/schedule.h"

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
    calc_taylor_config_recompute(config, again, 0, &e);
    calc_layout l;
    calc_layout_of(&config->app, system, &e, CALC_COMPAT_NONE, NULL, NULL, &l);
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

/* Copies the next line of a text, without its end. @return false: it is too long, or has a zero */
static bool next_line(const char *text, size_t length, size_t *at, char *line, size_t size)
{
    const char *end = memchr(text + *at, '\n', length - *at);
    size_t bytes = end ? (size_t)(end - text) - *at : length - *at;
    bool fits = bytes < size && !memchr(text + *at, '\0', bytes);
    snprintf(line, size, "%.*s", fits ? (int)bytes : 0, text + *at);
    *at += bytes + 1;
    return fits;
}

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
    return calc_errors_at(errors, CALC_ERR_FIELD, name, line, 1,
                          CALC_DID_YOU_MEAN(calc_nearest(key, keys)),
                          "no term of memory is called \"%s\"", calc_utf8_shown(key, strlen(key)));
}

/* Reads one line, zero-terminated in place. @param said  a bit for each member, by its place */
static calc_status take_line(calc_taylor_memory *out, uint64_t *said, char *text, const char *name,
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
    double mb = calc_decimal_at(value, &end);
    if (end == value || end[strspn(end, " \t\r")] != '\0' || !(mb >= 0 && mb <= most_mb)) {
        return calc_errors_at(errors, CALC_ERR_RANGE, name, line, (int)(value - text) + 1, NULL,
                              "%s: expected MB from 0 to %g, found \"%s\"", start, most_mb,
                              calc_utf8_shown(value, strcspn(value, "\r")));
    }
    *member = mb;
    *said |= UINT64_C(1) << ((size_t)((char *)member - (char *)out) / sizeof *member);
    return CALC_OK;
}

calc_status calc_taylor_memory_parse(calc_taylor_memory *out, int *said, const char *text,
                                     size_t length, const char *name, calc_errors *errors)
{
    enum { LINE_SIZE = 512 };
    calc_status status = CALC_OK;
    uint64_t members = 0;
    int line = 1;
    for (size_t at = 0; at < length; line++) {
        char copy[LINE_SIZE];
        calc_status one = next_line(text, length, &at, copy, sizeof copy)
                              ? take_line(out, &members, copy, name, line, errors)
                              : calc_errors_at(errors, CALC_ERR_SYNTAX, name, line, 0, NULL,
                                               "expected \"term=MB\"");
        status = status ? status : one;
    }
    for (*said = 0; members > 0; members &= members - 1) {
        ++*said;
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
    int64_t stages = exec->pipeline_par, dense = config->dense;
    int64_t microbatches = calc_microbatches(exec);
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

static const double SELECTIVE = 0.33;

static double backward_s(const calc_stage_part *part)
{
    return part->agrad_s + part->wgrad_s;
}

calc_taylor_ratios calc_taylor_ratios_of(const calc_taylor_config *config,
                                         const calc_system *system, const calc_exec *exec)
{
    calc_layout kept, again;
    calc_exec e = *exec;
    calc_taylor_config_recompute(config, CALC_BALANCE_NONE, 0, &e);
    calc_layout_of(&config->app, system, &e, CALC_COMPAT_NONE, NULL, NULL, &kept);
    calc_exec full = e;
    calc_taylor_config_recompute(config, CALC_BALANCE_FULL, 0, &full);
    calc_layout_of(&config->app, system, &full, CALC_COMPAT_NONE, NULL, NULL, &again);
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
                           "%jd %s: expected %jd to %jd", found, what, least, most);
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
        layer->again_s[CALC_BALANCE_SELECTIVE] = SELECTIVE * fw;
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

double calc_taylor_checked_mb(const calc_taylor_config *config, const calc_system *system,
                              const calc_exec *exec, const calc_balance_problem *problem,
                              const calc_balance_share *share, const calc_balance_answer *answer,
                              int64_t stage)
{
    /* Number of layers of a stage, over all its chunks. */
    calc_balance_share of = {{0}, {0}, {0}};
    for (int chunk = 0; chunk < (int)problem->shape.chunks; chunk++) {
        const calc_balance_share *one =
            &share[calc_balance_place_of(&problem->shape, (int)stage, chunk)];
        for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
            of.layers[kind] += one->layers[kind];
            of.selective[kind] += one->selective[kind];
            of.full[kind] += one->full[kind];
        }
    }
    const calc_balance_stage *limits = &problem->stage[stage];
    const calc_balance_layer *layer = problem->layer[limits->chip];
    int full = of.full[0] + of.full[1], selective = of.selective[0] + of.selective[1];
    bool experts = config->experts > 0;
    calc_balance_recompute again = full        ? CALC_BALANCE_FULL
                                   : selective ? CALC_BALANCE_SELECTIVE
                                               : CALC_BALANCE_NONE;
    calc_exec e = *exec;
    calc_taylor_config_recompute(config, again, full > 0 ? full : selective, &e);
    calc_layout l;
    calc_layout_of(&config->app, system, &e, CALC_COMPAT_NONE, NULL, NULL, &l);
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

static int *variable_of(calc_balance_share *share, size_t variable, int kind)
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
                calc_output_printf(out, "%s_%d_%jd_%jd %d\n", variables[variable], kind,
                                   (place % a->stages), (place / a->stages),
                                   *variable_of(&one, variable, kind));
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
static calc_status take_cell(char *line, int number, const char *name, double *objective, cell *out,
                             bool *is, calc_errors *errors)
{
    char *key = line + strspn(line, " \t\r");
    char *blank = key + strcspn(key, " \t\r");
    char *value = blank + strspn(blank, " \t\r");
    char *end;
    double found = calc_decimal_at(value, &end);
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
        char line[256];
        cell c;
        bool is;
        if (!next_line(text, length, &at, line, sizeof line)) {
            return calc_errors_at(errors, CALC_ERR_SYNTAX, name, number, 0, NULL,
                                  "expected a name and its value");
        }
        calc_status status = take_cell(line, number, name, objective, &c, &is, errors);
        if (status != CALC_OK) {
            return status;
        }
        if (is && share) {
            int64_t place = c.chunk * ask->stages + c.stage;
            *variable_of(&share[place], c.variable, c.kind) = c.value;
        } else if (is) {
            ask->stages = c.stage >= ask->stages ? c.stage + 1 : ask->stages;
            ask->chunks = c.chunk >= ask->chunks ? c.chunk + 1 : ask->chunks;
            ask->layers[c.kind] += c.variable == 0 ? c.value : 0;
        }
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
                              "%jd stages of %jd chunks: expected at most %d together", ask->stages,
                              ask->chunks, CALC_BALANCE_PLACES);
    }
    memset(share, 0, CALC_BALANCE_PLACES * sizeof *share);
    return take_text(text, length, name, ask, share, objective, errors);
}

#define COUNT_COLUMN(text, member)                                                                 \
    {                                                                                              \
        .name = (text), CALC_CSV_MEMBER(calc_taylor_row, member), .lo = 1, .hi = 1e6               \
    }
#define RATIO_COLUMN(text, other, member)                                                          \
    {                                                                                              \
        .name = (text), .also = (other), CALC_CSV_MEMBER(calc_taylor_row, member), .lo = 0,        \
        .hi = 1e6, .flags = CALC_CSV_OPTIONAL | CALC_CSV_BLANK                                     \
    }

/* Those of peaks, and from LINE on those of profiles. */
enum { LINE = 1, PEAKS = 6 };
static const calc_csv_column columns[] = {{.name = "peak_mem",
                                           .also = "evaluate_mem",
                                           CALC_CSV_MEMBER(calc_taylor_row, peak_mb),
                                           .lo = 1,
                                           .hi = 1e9},
                                          [LINE] = {CALC_CSV_MEMBER(calc_taylor_row, line)},
                                          COUNT_COLUMN("dp", data),
                                          COUNT_COLUMN("tp", tensor),
                                          COUNT_COLUMN("pp", pipeline),
                                          COUNT_COLUMN("ep", expert),
                                          RATIO_COLUMN("dmratio", NULL, dense),
                                          RATIO_COLUMN("bfratio", NULL, backward),
                                          RATIO_COLUMN("re_grow_ration", "re_grow_ratio", again),
                                          RATIO_COLUMN("hratio", NULL, head),
                                          RATIO_COLUMN("moe_bw", NULL, layer_ms)};

const calc_csv_table calc_taylor_probes = {
    .column = columns,
    .columns = PEAKS,
    .row_bytes = sizeof(calc_taylor_row),
    .hint = "the first row names the columns: dp,tp,pp,ep,peak_mem, the last in MB"};
const calc_csv_table calc_taylor_profiles = {
    .column = columns + LINE,
    .columns = sizeof columns / sizeof *columns - LINE,
    .row_bytes = sizeof(calc_taylor_row),
    .hint = "the first row names the columns: "
            "dp,tp,pp,ep,dmratio,bfratio,re_grow_ration,hratio,moe_bw, the last in milliseconds"};

bool calc_taylor_row_is(const calc_taylor_row *r, const calc_taylor_candidate *c)
{
    return r->data == c->layout.data && r->tensor == c->layout.tensor &&
           r->pipeline == c->layout.pipeline && r->expert == c->expert;
}

bool calc_taylor_profiles_find(const calc_csv_rows *rows, const calc_taylor_candidate *c,
                               calc_taylor_ratios *out)
{
    const calc_taylor_row *row = rows->item;
    size_t i = rows->count;
    *out = (calc_taylor_ratios){/* Taylor's defaults, and no time */
                                .dense = 0.3,
                                .backward = 2,
                                .again = 1,
                                .head = 1.5,
                                .layer_ms = NAN};
    while (i > 0 && !calc_taylor_row_is(&row[i - 1], c)) {
        i--;
    }
    if (i > 0) {
        const calc_taylor_row *r = &row[i - 1];
        *out = (calc_taylor_ratios){.dense = isnan(r->dense) ? out->dense : r->dense,
                                    .backward = isnan(r->backward) ? out->backward : r->backward,
                                    .again = isnan(r->again) ? out->again : r->again,
                                    .head = isnan(r->head) ? out->head : r->head,
                                    .layer_ms = r->layer_ms};
    }
    return i > 0;
}

calc_taylor_fit calc_taylor_fit_of(int64_t ep1, double peak1_mb, int64_t ep2, double peak2_mb)
{
    double a = (double)ep1, b = (double)ep2;
    calc_taylor_fit fit = {.probes = 2, .expert_mb = (peak1_mb - peak2_mb) * (a * b / (b - a))};
    fit.base_mb = peak1_mb - fit.expert_mb / a;
    return fit;
}

calc_taylor_fit calc_taylor_probes_fit(const calc_csv_rows *rows, const calc_taylor_layout *l)
{
    const calc_taylor_row *probe = rows->item, *first = NULL;
    for (size_t i = 0; i < rows->count; i++) {
        const calc_taylor_row *p = &probe[i];
        if (p->data != l->data || p->tensor != l->tensor || p->pipeline != l->pipeline) {
            continue;
        }
        if (!first) {
            first = p;
        } else if (p->expert != first->expert) {
            return calc_taylor_fit_of(first->expert, first->peak_mb, p->expert, p->peak_mb);
        }
    }
    return (calc_taylor_fit){.probes = first != NULL};
}

double calc_taylor_fit_mb(const calc_taylor_fit *fit, int64_t expert)
{
    return fit->base_mb + fit->expert_mb / (double)expert;
}

bool calc_taylor_tries(const calc_taylor_layout *l, int64_t experts, int64_t most, int64_t expert)
{
    return (expert & (expert - 1)) == 0 && expert <= most && l->data * l->tensor % expert == 0 &&
           (experts == 0 || experts % expert == 0);
}

double calc_taylor_estimate_mb(const calc_taylor_config *c, const calc_system *system,
                               const calc_taylor_layout *l, int64_t expert, int64_t batch,
                               char *why, size_t size)
{
    calc_exec exec =
        calc_taylor_config_exec(c, l->data, l->tensor, l->pipeline, expert, batch, c->again);
    calc_errors errors = {0};
    exec.microbatch_size = 1;
    if (calc_check(&c->app, system, &exec, &errors) != CALC_OK) {
        snprintf(why, size, "%s", errors.item[0].text);
        return NAN;
    }
    calc_taylor_memory memory;
    calc_taylor_memory_of(c, system, &exec, &memory);
    return calc_taylor_initial_mb(c, &memory, &exec, c->again, -1);
}

calc_taylor_fit calc_taylor_estimate(const calc_taylor_config *c, const calc_system *system,
                                     const calc_taylor_layout *l, int64_t batch, char *why,
                                     size_t size)
{
    enum { PROBED = 8 };
    int64_t experts = c->experts > 0 ? c->experts : 1;
    int64_t most = l->data * l->tensor, expert = 1;
    while (expert < PROBED && calc_taylor_tries(l, experts, most, 4 * expert)) {
        expert *= 2;
    }
    double first_mb = calc_taylor_estimate_mb(c, system, l, expert, batch, why, size);
    calc_taylor_fit fit = {.probes = isnan(first_mb) ? 0 : 2, .base_mb = first_mb};
    if (fit.probes == 2 && calc_taylor_tries(l, experts, most, 2 * expert)) {
        double second_mb = calc_taylor_estimate_mb(c, system, l, 2 * expert, batch, why, size);
        fit = calc_taylor_fit_of(expert, first_mb, 2 * expert, second_mb);
        fit.probes = isnan(second_mb) ? 0 : 2;
    }
    return fit;
}
