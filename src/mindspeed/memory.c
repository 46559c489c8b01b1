#include "mindspeed/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/make.h"
#include "gauss/process.h"
#include "io/json_numbers.h"
#include "io/text.h"
#include "spec/field.h"

enum { PATH_SIZE = 4096 };

static const char *const modules[] = {"embedding",    "0",    "final_layernorm",
                                      "output_layer", "loss", NULL};

/* The meaning of a number in a file: a key, or a key in a module. */
typedef struct place {
    const char *key;
    size_t offset; /* in the profile; for modules, the place of the first one */
    bool in_module;
    double scale; /* factor to seconds or GiB */
} place;

#define PLACE(member) offsetof(calc_mindspeed_profile, member)
static const place first[] = {{"step_time", PLACE(step_s), false, 1},
                              {"transformer_act_mem", PLACE(layer_gib), false, 1}};
static const place second[] = {{"step_time", PLACE(step_s), false, 1e-3},
                               {"forward_step_time", PLACE(forward_s), false, 1e-3},
                               {"backward_step_time", PLACE(backward_s), false, 1e-3},
                               {"time", PLACE(time_s), true, 1e-3},
                               {"memory", PLACE(memory_gib), true, 1},
                               {"max_memory", PLACE(most_gib), true, 1}};

typedef struct reading {
    calc_mindspeed_profile *out;
    const place *places;
    size_t count;
} reading;

static double *number_of(calc_mindspeed_profile *p, const place *at, int module)
{
    return (double *)(void *)((char *)p + at->offset) + (at->in_module ? module : 0);
}

/* The place of a number; NULL: it is not read. */
static const place *find(const reading *r, const char *const *key, int depth)
{
    for (size_t i = 0; i < r->count; i++) {
        const place *at = &r->places[i];
        if (depth == 1 + at->in_module && strcmp(key[depth - 1], at->key) == 0 &&
            (!at->in_module || calc_choice_index(modules, key[0]) >= 0)) {
            return at;
        }
    }
    return NULL;
}

static calc_json_number_use take(void *context, const char *const *key, int depth,
                                 const double *value)
{
    const reading *r = context;
    if (depth == 1 && r->places == second && calc_choice_index(modules, key[0]) >= 0) {
        return CALC_JSON_NUMBER_INSIDE;
    }
    const place *at = find(r, key, depth);
    if (at && value) {
        *number_of(r->out, at, depth == 2 ? calc_choice_index(modules, key[0]) : 0) =
            *value * at->scale;
    }
    return at ? CALC_JSON_NUMBER_TAKEN : CALC_JSON_NUMBER_IGNORED;
}

/* Requires everything that the second generation writes, or either number of the first. */
static calc_status complete(const reading *r, const char *name, calc_errors *errors)
{
    const calc_mindspeed_profile *p = r->out;
    if (r->places == first) {
        return isnan(p->step_s) && isnan(p->layer_gib)
                   ? calc_errors_at(errors, CALC_ERR_FIELD, name, 0, 0, NULL,
                                    "neither step_time nor transformer_act_mem is there")
                   : CALC_OK;
    }
    for (size_t i = 0; i < r->count; i++) {
        const place *at = &r->places[i];
        for (int m = 0; m < (at->in_module ? CALC_MINDSPEED_MODULES : 1); m++) {
            if (isnan(*number_of(r->out, at, m))) {
                return calc_errors_at(errors, CALC_ERR_FIELD, name, 0, 0, NULL, "missing %s%s%s",
                                      at->in_module ? modules[m] : "", at->in_module ? "/" : "",
                                      at->key);
            }
        }
    }
    return CALC_OK;
}

static void clear(calc_mindspeed_profile *p)
{
    p->step_s = p->layer_gib = p->forward_s = p->backward_s = NAN;
    for (int i = 0; i < CALC_MINDSPEED_MODULES; i++) {
        p->time_s[i] = p->memory_gib[i] = p->most_gib[i] = NAN;
    }
}

calc_status calc_mindspeed_modules_parse(calc_mindspeed_profile *out,
                                         calc_mindspeed_generation generation, const char *text,
                                         size_t length, const char *name, calc_errors *errors)
{
    bool old = generation == CALC_MINDSPEED_GEN1;
    reading r = {out, old ? first : second,
                 old ? sizeof first / sizeof *first : sizeof second / sizeof *second};
    const calc_json_numbers reader = {.context = &r, .take = take};
    clear(out);
    calc_status status = calc_json_numbers_parse(&reader, text, length, name, errors);
    return status ? status : complete(&r, name, errors);
}

calc_mindspeed_config calc_mindspeed_modules_crop(const calc_mindspeed_job *job,
                                                  calc_mindspeed_generation generation,
                                                  const calc_mindspeed_config *config)
{
    calc_mindspeed_config crop = *config;
    if (generation == CALC_MINDSPEED_GEN2) {
        int ranks = config->tp * config->cp * config->up;
        crop.pp = crop.vpp = 1;
        crop.dp = job->nodes * job->per_node / ranks;
    }
    return crop;
}

/* @return CALC_ERR_NOT_FOUND without an error if the file does not exist */
static calc_status read_named(calc_mindspeed_profile *out, const char *folder,
                              const calc_mindspeed_config *config,
                              calc_mindspeed_generation generation, const char *node,
                              calc_errors *errors)
{
    char path[PATH_SIZE], name[CALC_MINDSPEED_NAME];
    calc_text text = {0};
    calc_errors own = {0};
    calc_mindspeed_config_name(config, generation, name);
    int length = snprintf(path, sizeof path, "%s/%s%s_MODULE.json", folder, name, node);
    if (length >= (int)sizeof path) {
        return calc_errors_at(errors, CALC_ERR_IO, folder, 0, 0, NULL, "the name is too long");
    }
    calc_status status = calc_text_read(&text, path, &own);
    if (status == CALC_OK) {
        status =
            calc_mindspeed_modules_parse(out, generation, text.data, text.length, path, errors);
    } else if (status != CALC_ERR_NOT_FOUND && errors->count < CALC_MAX_ERRORS) {
        errors->item[errors->count++] = own.item[0];
    }
    calc_text_free(&text);
    return status;
}

calc_status calc_mindspeed_modules_read(calc_mindspeed_profile *out, const char *folder,
                                        const calc_mindspeed_job *job,
                                        calc_mindspeed_generation generation,
                                        const calc_mindspeed_config *config, calc_errors *errors)
{
    static const char *const nodes[] = {"_node0", ""};
    const calc_mindspeed_config runs[] = {*config,
                                          calc_mindspeed_modules_crop(job, generation, config)};
    calc_status status = CALC_ERR_NOT_FOUND;
    clear(out);
    for (int i = 0; i < 4 && status == CALC_ERR_NOT_FOUND; i++) {
        status = read_named(out, folder, &runs[i / 2], generation, nodes[i % 2], errors);
    }
    return status;
}

#define GIB 1073741824.0
/* Buffers of the runtime and of collectives, the same for every configuration. */
#define RUNTIME_BYTES (4.5 * GIB)
#define RING_MASK_BYTES (2048.0 * 2048) /* the mask of causal attention around a ring */

enum { ELEMENT = 2 /* bytes of a float16 or bfloat16 number */ };

static double parameters(const calc_mindspeed_job *job, const calc_mindspeed_config *c)
{
    double h = job->hidden, layers = (double)job->layers / c->pp;
    double experts = job->experts > 0 ? job->experts : 1;
    double matrices = job->swiglu ? 3 : 2;
    double feedforward = matrices * h * job->ffn * experts;
    double attention = 2 * h * h * (1 + (double)job->groups / job->heads);
    double norms = 4 * h; /* two per layer, each with a scale and a shift */
    double final_norm = 2 * h / c->pp;
    double embedding = h * job->vocab;
    double tail = job->untied && c->pp == 1 ? embedding : 0;
    double rest = layers * (attention + norms) + final_norm + embedding + tail;
    return rest / c->tp + layers * feedforward / c->tp / (c->ep > 0 ? c->ep : 1);
}

static double feedforward_bytes(const calc_mindspeed_job *job, const calc_mindspeed_config *c,
                                double tokens)
{
    double exchanged = 0;
    if (job->experts > 0) {
        double ep = c->ep > 0 ? c->ep : 1;
        double local = job->experts / ep;
        tokens *= ep * job->topk / job->experts * local;
        exchanged = 2 * ELEMENT * tokens * job->hidden;
    }
    /* The first multiplication of a gated feed-forward layer has two matrices, joined in one. */
    double wide = ELEMENT * tokens * (job->swiglu ? 2.0 * job->ffn : job->ffn) / c->tp;
    double activated = job->recompute_activation_function ? 0 : job->swiglu ? wide / 2 : wide;
    return wide + activated + ELEMENT * tokens / c->tp * job->hidden + exchanged;
}

double calc_mindspeed_memory_layer_bytes(const calc_mindspeed_job *job,
                                         const calc_mindspeed_config *c)
{
    double tokens = (double)job->seq / ((double)c->cp * c->up) * c->mbs;
    double heads = (double)job->heads / c->tp, groups = (double)job->groups / c->tp;
    double narrow = ELEMENT * tokens / c->tp * job->hidden;
    double attended = ELEMENT * tokens * heads * job->head;
    double attention = ELEMENT * tokens * (heads + 2 * groups) * job->head + attended + narrow;
    attention += c->up > 1 ? 4 * attended : 0;
    attention += c->cp > 1 ? RING_MASK_BYTES : 0;
    return 2 * narrow + (job->swap_attention ? 0 : attention) + feedforward_bytes(job, c, tokens);
}

calc_mindspeed_memory calc_mindspeed_memory_of(const calc_mindspeed_job *job,
                                               const calc_mindspeed_config *config)
{
    calc_mindspeed_memory m = {.parameters = parameters(job, config)};
    /* The parameters' states, by format, sharding and reuse: MindSpeed's table of static memory. */
    double n = m.parameters;
    double moments = job->distributed_optimizer ? 8 * n / config->dp : 8 * n;
    m.weight_bytes = job->reuse_fp32 && !job->fp16 ? 0 : 2 * n;
    m.grad_bytes = job->fp16 ? 2 * n : 4 * n;
    m.optimizer_bytes = (job->fp16 && !job->reuse_fp32 ? 8 : 4) * n + moments;
    /* Layers whose activations are kept at the same time, with chunks visited in turn. */
    int pp = config->pp, vpp = config->vpp;
    double kept = (double)job->layers / pp / vpp * (vpp > 1 ? pp * vpp + pp - 1 : pp);
    m.activation_bytes =
        job->full_recompute ? 0 : calc_mindspeed_memory_layer_bytes(job, config) * kept;
    m.peak_bytes =
        m.weight_bytes + m.grad_bytes + m.optimizer_bytes + m.activation_bytes + RUNTIME_BYTES;
    return m;
}

/* Buffers of the runtime and of collectives, the same for every configuration. */
#define REGRESSION_RUNTIME_BYTES (4 * GIB)

enum { T = CALC_MINDSPEED_TERMS };

void calc_mindspeed_regression_terms(const calc_mindspeed_config *c, double term[T])
{
    double ranks = (double)c->tp * c->cp * c->up;
    term[0] = 1;
    term[1] = c->mbs / ranks;
    term[2] = c->mbs / (ranks * c->cp);
    term[3] = (double)c->mbs / ((double)c->cp * c->up);
}

/* Solves the normal equations. With a few rows and four well-scaled terms no significant digits are
 * lost, and the choice of rows ensures that they can be solved. */
bool calc_mindspeed_regression_fit(calc_mindspeed_regression *out,
                                   const calc_mindspeed_measured *measured, size_t count)
{
    double normal[T * T] = {0};
    size_t good = 0;
    *out = (calc_mindspeed_regression){0};
    for (size_t i = 0; i < count; i++) {
        double term[T];
        if (!isfinite(measured[i].layer_gib)) {
            continue;
        }
        calc_mindspeed_regression_terms(&measured[i].config, term);
        for (int j = 0; j < T; j++) {
            for (int k = 0; k < T; k++) {
                normal[j * T + k] += term[j] * term[k];
            }
            out->theta[j] += term[j] * measured[i].layer_gib;
        }
        good++;
    }
    if (good < T || !calc_gauss_factor(normal, T)) {
        return false;
    }
    calc_gauss_solve(normal, T, out->theta);
    return true;
}

double calc_mindspeed_regression_layer_gib(const calc_mindspeed_regression *regression,
                                           const calc_mindspeed_config *config)
{
    double term[T], sum = 0;
    calc_mindspeed_regression_terms(config, term);
    for (int i = 0; i < T; i++) {
        sum += regression->theta[i] * term[i];
    }
    return sum;
}

double calc_mindspeed_regression_peak_bytes(const calc_mindspeed_job *job,
                                            const calc_mindspeed_config *config, double layer_gib)
{
    double h = job->hidden, layers = (double)job->layers / config->pp;
    double wide = job->swiglu ? 2.0 * job->ffn : job->ffn;
    double parameters = (4 * h * h + 2 * h * wide) / config->tp * layers;
    double weights = 2 * parameters, grads = weights;
    double optimizer = (job->reuse_fp32 ? 12 : 16) * parameters;
    double batch = fmax(layer_gib, 0) * GIB * layers;
    double forward = weights + optimizer + batch * config->pp;
    return fmax(forward, forward + grads - batch) + REGRESSION_RUNTIME_BYTES;
}

enum {
    PROBES_T = CALC_MINDSPEED_TERMS,
    MBS_END = 8,
    TRIES = 200000 /* some tenths of a second */
};

static const double good_condition = 100;
/* An eigenvalue below this share of the largest counts as zero. */
static const double rank_share = 1e-12;

/* The configurations of each group, all with different terms, and one of each. */
typedef struct choice {
    const calc_mindspeed_config **item; /* [CALC_MINDSPEED_PROBES][room] */
    size_t room, count[CALC_MINDSPEED_PROBES], at[CALC_MINDSPEED_PROBES];
} choice;

/* Extreme degrees of the space. */
typedef struct extremes {
    int tp, cp, up;
} extremes;

static extremes extremes_of(const calc_mindspeed_space *space)
{
    extremes e = {1, space->count > 0 ? space->config[0].cp : 1,
                  space->count > 0 ? space->config[0].up : 1};
    for (size_t i = 0; i < space->count; i++) {
        const calc_mindspeed_config *c = &space->config[i];
        e.tp = c->cp == 1 && c->up == 1 && c->tp > e.tp ? c->tp : e.tp;
        e.cp = c->cp < e.cp ? c->cp : e.cp;
        e.up = c->up < e.up ? c->up : e.up;
    }
    return e;
}

static bool belongs(const calc_mindspeed_config *c, int number, const extremes *e)
{
    switch (number) {
    case 0:
        return c->cp == 1 && c->up == 1 && c->tp == e->tp;
    case 1:
        return c->tp == 1 && c->up == 1 && c->pp > 1 && c->cp > e->cp;
    case 2:
        return c->tp == 1 && c->cp == 1 && c->pp > 1 && c->up > e->up;
    case 3:
        return c->tp == 1 && c->cp > 1 && c->up > 1;
    default:
        return c->tp > 1 && c->cp > 1 && c->up > 1;
    }
}

static void fill(choice *all, const calc_mindspeed_space *space, int number, const extremes *e)
{
    const calc_mindspeed_config **item = all->item + (size_t)number * all->room;
    for (size_t i = 0; i < space->count; i++) {
        const calc_mindspeed_config *c = &space->config[i];
        bool is_new = c->mbs < MBS_END && belongs(c, number, e);
        for (size_t k = 0; k < all->count[number]; k++) {
            is_new = is_new && (item[k]->tp != c->tp || item[k]->cp != c->cp ||
                                item[k]->up != c->up || item[k]->mbs != c->mbs);
        }
        if (is_new) {
            item[all->count[number]++] = c;
        }
    }
}

/* Advances to the next choice, the last group first. @return false after the last one */
static bool next(choice *all)
{
    for (int i = CALC_MINDSPEED_PROBES - 1; i >= 0; i--) {
        if (++all->at[i] < all->count[i]) {
            return true;
        }
        all->at[i] = 0;
    }
    return false;
}

/* Takes a choice if the condition number of its normal matrix is smaller; infinite if the matrix
 * does not have full rank, or all micro-batches are alike. */
static void consider(const choice *all, calc_mindspeed_probes *best)
{
    double normal[PROBES_T * PROBES_T] = {0}, term[PROBES_T], value[PROBES_T];
    calc_mindspeed_config config[CALC_MINDSPEED_PROBES];
    bool differ = false;
    for (size_t i = 0; i < CALC_MINDSPEED_PROBES; i++) {
        config[i] = *all->item[i * all->room + all->at[i]];
        differ = differ || config[i].mbs != config[0].mbs;
        calc_mindspeed_regression_terms(&config[i], term);
        for (int j = 0; j < PROBES_T * PROBES_T; j++) {
            normal[j] += term[j / PROBES_T] * term[j % PROBES_T];
        }
    }
    if (differ && calc_gauss_eigenvalues(normal, PROBES_T, value) &&
        value[0] > rank_share * value[PROBES_T - 1] &&
        value[PROBES_T - 1] / value[0] < best->condition) {
        best->condition = value[PROBES_T - 1] / value[0];
        best->count = CALC_MINDSPEED_PROBES;
        memcpy(best->config, config, sizeof config);
    }
}

void calc_mindspeed_probes_choose(const calc_mindspeed_space *space, calc_mindspeed_probes *out)
{
    const extremes e = extremes_of(space);
    choice all = {.room = space->count + 1};
    all.item = calc_make(CALC_MINDSPEED_PROBES * all.room, sizeof *all.item);
    *out = (calc_mindspeed_probes){.condition = INFINITY};
    for (int i = 0; i < CALC_MINDSPEED_PROBES; i++) {
        fill(&all, space, i, &e);
        out->empty = all.count[i] == 0 && out->empty == 0 ? i + 1 : out->empty;
    }
    bool more = out->empty == 0;
    for (int tries = 1; more; tries++) {
        consider(&all, out);
        more = out->condition >= good_condition && tries < TRIES && next(&all);
    }
    free(all.item);
}

/* Activations [GiB] of a layer of a probe: measured, or by calc's model. */
static double layer_gib(calc_mindspeed_peak *peak, int i, calc_notes *notes)
{
    const calc_mindspeed_study *s = peak->study;
    const calc_mindspeed_config *probe = &peak->probes.config[i];
    calc_mindspeed_profile profile = {.layer_gib = NAN};
    calc_errors errors = {0};
    if (s->profiles && calc_mindspeed_modules_read(&profile, s->profiles, &s->arguments->job,
                                                   s->generation, probe, &errors) == CALC_OK) {
        peak->measured[i] = isfinite(profile.layer_gib);
    }
    calc_notes_take(notes, &errors);
    if (peak->measured[i]) {
        return profile.layer_gib;
    }
    calc_mindspeed_modelled m = calc_mindspeed_modelled_of(&s->arguments->plan, s->system, probe);
    return isfinite(m.layer_bytes) ? m.layer_bytes / GIB : NAN;
}

static void fit(calc_mindspeed_peak *peak, calc_notes *notes)
{
    calc_mindspeed_measured measured[CALC_MINDSPEED_PROBES];
    int seen = 0;
    for (int i = 0; i < peak->probes.count; i++) {
        measured[i].config = peak->probes.config[i];
        measured[i].layer_gib = layer_gib(peak, i, notes);
        seen += peak->measured[i];
    }
    peak->regression =
        calc_mindspeed_regression_fit(&peak->fit, measured, (size_t)peak->probes.count);
    if (!peak->regression) {
        calc_notes_add(notes, "fewer than four probes have activations: memory is by the "
                              "second generation's formulas");
    } else if (seen < peak->probes.count) {
        calc_notes_add(notes, "activations of %d of %d probes are calc's, not measured",
                       peak->probes.count - seen, peak->probes.count);
    }
}

void calc_mindspeed_peak_start(calc_mindspeed_peak *peak, const calc_mindspeed_study *study,
                               const calc_mindspeed_space *space, calc_notes *notes)
{
    *peak = (calc_mindspeed_peak){.study = study};
    if (study->calc_memory || study->generation == CALC_MINDSPEED_GEN2) {
        return;
    }
    calc_mindspeed_probes_choose(space, &peak->probes);
    if (peak->probes.count > 0) {
        fit(peak, notes);
    } else if (peak->probes.empty > 0) {
        calc_notes_add(notes,
                       "the space has no probe of group %d: memory is by the second "
                       "generation's formulas",
                       peak->probes.empty);
    } else {
        calc_notes_add(notes, "no probes determine activations: memory is by the second "
                              "generation's formulas");
    }
}

double calc_mindspeed_peak_bytes(calc_mindspeed_peak *peak, const calc_mindspeed_config *config)
{
    const calc_mindspeed_study *s = peak->study;
    const calc_mindspeed_job *job = &s->arguments->job;
    if (s->calc_memory) {
        return calc_mindspeed_modelled_of(&s->arguments->plan, s->system, config).peak_bytes;
    }
    if (!peak->regression) {
        return calc_mindspeed_memory_of(job, config).peak_bytes;
    }
    double layer = calc_mindspeed_regression_layer_gib(&peak->fit, config);
    peak->negative += layer < 0;
    return calc_mindspeed_regression_peak_bytes(job, config, layer);
}

double calc_mindspeed_peak_prune(const calc_mindspeed_study *study)
{
    return study->calc_memory ? 1 : CALC_MINDSPEED_MEMORY_PRUNE;
}

double calc_mindspeed_peak_final(const calc_mindspeed_study *study)
{
    bool newer = study->generation == CALC_MINDSPEED_GEN2;
    return study->calc_memory || !newer ? 1 : CALC_MINDSPEED_MEMORY_FINAL;
}

/* Settings of stages in scripts, which the planner decides or does not know. */
static const calc_plan_member dropped[] = {
    CALC_PLAN_NODES,        CALC_PLAN_NODE_PROCS,   CALC_PLAN_CONTEXT_TYPE, CALC_PLAN_CONTEXT_INNER,
    CALC_PLAN_EVEN_CHUNKS,  CALC_PLAN_CHUNK_BLOCKS, CALC_PLAN_STAGE_BLOCKS, CALC_PLAN_STAGE_COUNT,
    CALC_PLAN_FIRST_BLOCKS, CALC_PLAN_LAST_BLOCKS,  CALC_PLAN_ENDS,         CALC_PLAN_EVEN_ENDS,
    CALC_PLAN_EVEN_HEAD,    CALC_PLAN_SCHEDULE,     CALC_PLAN_LOOPED,       CALC_PLAN_MICROBATCHES,
    CALC_PLAN_LOCAL_BATCH};

calc_status calc_mindspeed_exec_of(const calc_plan *said, const calc_mindspeed_config *config,
                                   calc_app *app, calc_exec *exec, calc_errors *errors)
{
    calc_plan plan = *said;
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++) {
        plan.value[dropped[i]] = NAN;
    }
    plan.blocks.count = plan.offsets.count = plan.recomputed.count = 0;
    plan.value[CALC_PLAN_CONTEXT] = (double)config->cp * config->up;
    if (config->cp > 1 && config->up > 1) {
        plan.value[CALC_PLAN_CONTEXT_TYPE] = CALC_CONTEXT_PAR_TYPE_HIERARCHICAL;
        plan.value[CALC_PLAN_CONTEXT_INNER] = config->up;
    } else {
        plan.value[CALC_PLAN_CONTEXT_TYPE] =
            config->up > 1 ? CALC_CONTEXT_PAR_TYPE_ULYSSES : CALC_CONTEXT_PAR_TYPE_RING;
    }
    plan.value[CALC_PLAN_PROCS] =
        (double)config->pp * config->tp * config->dp * config->cp * config->up;
    plan.value[CALC_PLAN_TENSOR] = config->tp;
    plan.value[CALC_PLAN_SEQ_PAR] = 1;
    plan.value[CALC_PLAN_PIPELINE] = config->pp;
    plan.value[CALC_PLAN_DATA] = config->dp;
    plan.value[CALC_PLAN_CHUNKS] = config->vpp > 0 ? config->vpp : 1;
    plan.value[CALC_PLAN_EXPERT] = config->ep > 0 ? config->ep : 1;
    plan.value[CALC_PLAN_MICROBATCH] = config->mbs;
    return calc_plan_apply(&plan, app, exec, errors);
}

calc_mindspeed_modelled calc_mindspeed_modelled_of(const calc_plan *plan, const calc_system *system,
                                                   const calc_mindspeed_config *config)
{
    calc_mindspeed_modelled m = {.peak_bytes = INFINITY, .layer_bytes = INFINITY};
    calc_errors errors = {0};
    calc_stats stats;
    calc_app app;
    calc_exec exec;
    calc_status status = calc_mindspeed_exec_of(plan, config, &app, &exec, &errors);
    status = status ? status : calc_check(&app, system, &exec, &errors);
    if (status != CALC_OK) {
        snprintf(m.why, sizeof m.why, "%s", errors.count > 0 ? errors.item[0].text : "");
        return m;
    }
    calc_verdict verdict = calc_run(&app, system, &exec, CALC_COMPAT_NONE, &stats);
    if (isfinite(stats.total_time)) {
        m.peak_bytes = stats.proc_mem_tier1_cap_req;
        m.layer_bytes = stats.block_act_storage_space;
    } else {
        snprintf(m.why, sizeof m.why, "%s", calc_verdict_text(verdict));
    }
    return m;
}
