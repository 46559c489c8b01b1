#include "model/stages/placed.h"

#include <math.h>

#include "model/operators/processor.h"
#include "model/schedule/schedule_steady.h"
#include "spec/stage_list.h"

/* None of the blocks recompute, where the stage has some that do: calc_stage_rich() takes 0 for all
 * of them. */
#define NO_BLOCK 1e-300

enum { WORKSPACE = 1 << 20 /* enough for CALC_MAX_PLACES, whatever the schedule */ };

static bool same_recipe(const calc_placed *p, size_t i, int chip, const calc_exec *e)
{
    const calc_strategy *s = &p->recipe_exec[i].strategy;
    return p->chip[i] == chip && s->activation_recompute == e->strategy.activation_recompute &&
           s->recompute_modules == e->strategy.recompute_modules;
}

/* The recipe of a run, made if it is new. */
static size_t recipe_of(calc_placed *p, const calc_stage_run *run, const calc_exec *e,
                        calc_compat compat, const calc_kernel_table *measured)
{
    size_t i = 0;
    while (i < p->count && !same_recipe(p, i, run->chip, e)) {
        i++;
    }
    if (i < p->count || i == CALC_MAX_RECIPES) {
        return i < p->count ? i : i - 1; /* calc_check() refuses more */
    }
    p->chip[i] = run->chip;
    p->recipe_exec[i] = *e;
    p->recipe_exec[i].recompute_blocks = 0;
    calc_layout_of(p->app, calc_stage_list_system(p->system, p->exec, run), &p->recipe_exec[i],
                   compat, measured, &p->recipe[i]);
    p->count++;
    return i;
}

/* Blocks of a stage that do not recompute, where others do, are those of stages without any: they
 * need not keep what sequence parallelism gathers (seq_par_ag_redo), which full recomputation does
 * not ask for. */
static void set_spared(calc_placed *p, const calc_stage_run *run, size_t recipe, calc_compat compat,
                       const calc_kernel_table *measured)
{
    const calc_stage_run plain = {1, CALC_STAGE_AS_EXEC, 0, CALC_STAGE_AS_EXEC, run->chip, 0};
    const calc_exec none = calc_stage_list_exec(p->exec, &plain);
    size_t other = recipe_of(p, &plain, &none, compat, measured);
    for (int kind = 0; kind < CALC_STAGE_KINDS && other != recipe; kind++) {
        calc_stage_part *b = &p->recipe[recipe].terms.block[kind];
        const calc_stage_part *kept = &p->recipe[other].terms.block[kind];
        b->spared_s =
            b->fw_s + b->agrad_s + b->wgrad_s - (kept->fw_s + kept->agrad_s + kept->wgrad_s);
        /* The block at hand is one that recomputes, and keeps what it gathered until it is done. */
        b->passing_bytes += b->whole_bytes - kept->kept_bytes;
        b->whole_bytes = kept->kept_bytes;
    }
}

/* Which blocks have experts: the first of the model are dense, or the kinds take turns. */
static void set_kinds(calc_placed *p)
{
    const calc_shape *shape = &p->recipe[0].shape;
    double moe_blocks = shape->experts > 0 ? calc_shape_moe_blocks(shape) : 0;
    bool in_turn = shape->experts > 0 && shape->moe_every != 1;
    double before = 0;
    for (int64_t i = 0; i < p->stages * p->chunks; i++) {
        calc_placed_chunk *c = &p->chunk[i];
        double blocks = c->dense;
        double prefix = calc_max(0, fmin(blocks, shape->blocks - moe_blocks - before));
        c->dense = in_turn ? blocks * (1 - moe_blocks / shape->blocks) : prefix;
        c->moe = blocks - c->dense;
        before += blocks;
    }
}

/* Blocks of a list: of its places along the model, or of its stages, whose chunks are then alike.
 */
static void set_list(calc_placed *p, calc_compat compat, const calc_kernel_table *measured)
{
    const calc_stage_list *list = &p->exec->stages;
    int64_t places = p->stages * p->chunks;
    int64_t listed = 0;
    for (int32_t i = 0; i < list->count; i++) {
        listed += list->run[i].places;
    }
    int64_t copies = listed == places ? 1 : p->chunks;
    int64_t at = 0;
    double even = (double)p->app->num_blocks / (double)listed;
    for (int32_t i = 0; i < list->count; i++) {
        const calc_stage_run *run = &list->run[i];
        calc_exec e = calc_stage_list_exec(p->exec, run);
        size_t recipe = recipe_of(p, run, &e, compat, measured);
        double blocks = run->blocks == CALC_STAGE_AS_EXEC ? even : run->blocks;
        double again = e.recompute_blocks > 0 ? (double)e.recompute_blocks : blocks;
        if (run->recompute_blocks == CALC_STAGE_AS_EXEC && e.recompute_blocks > 0) {
            again *= (double)copies / (double)p->chunks; /* the execution says it of stages */
        }
        bool none = e.strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_NONE;
        again = none ? 0 : fmin(again, blocks);
        if (p->exec->strategy.seq_par_ag_redo && !e.strategy.seq_par_ag_redo && again < blocks) {
            set_spared(p, run, recipe, compat, measured);
        }
        for (int64_t n = run->places; n > 0; n--, at++) {
            if (at < p->stages || again > 0) {
                p->recipe_of[at % p->stages] = (int)recipe;
            }
            for (int64_t k = 0; k < copies; k++) {
                p->chunk[at + k * p->stages] =
                    (calc_placed_chunk){blocks / (double)copies, 0, again / (double)copies};
            }
        }
    }
    set_kinds(p);
}

void calc_placed_of(const calc_app *app, const calc_system *system, const calc_exec *exec,
                    calc_compat compat, const calc_kernel_table *measured, calc_placed *p)
{
    p->app = app;
    p->system = system;
    p->exec = exec;
    p->listed = exec->stages.count > 0;
    p->stages = exec->pipeline_par;
    p->chunks = exec->pipeline_interleaving;
    p->count = 0;
    if (p->listed) {
        set_list(p, compat, measured);
    } else {
        calc_layout_of(app, system, exec, compat, measured, &p->recipe[0]);
        p->chip[0] = 0;
        p->count = 1;
    }
}

/* ---- A stage --------------------------------------------------------------------------------- */

static const calc_placed_chunk *chunk_of(const calc_placed *p, int64_t stage, int64_t chunk)
{
    return &p->chunk[chunk * p->stages + stage];
}

/* A message to or from a neighbour on another chip goes at the pace of the slower of the two. */
static double joined_s(const calc_placed *p, int64_t stage, int64_t other, bool back, double own_s)
{
    if (other < 0 || other >= p->stages) {
        return own_s;
    }
    const calc_layout *a = &p->recipe[p->recipe_of[stage]];
    const calc_layout *b = &p->recipe[p->recipe_of[other]];
    if (a->system == b->system) {
        return own_s;
    }
    double other_s = back ? b->links.back_message_s : b->links.message_s;
    return calc_max(own_s, other_s) + p->exec->stages.join_latency_s;
}

static void listed_stage(const calc_placed *p, int64_t stage, calc_placed_stage *out)
{
    const calc_layout *l = &p->recipe[p->recipe_of[stage]];
    const calc_shape *shape = &l->shape;
    bool ends = shape->vocab > 0 || shape->mtp_blocks > 0;
    double again = 0;
    out->layout = l;
    out->terms = l->terms;
    out->links = l->links;
    out->class = (calc_stage_class){.stages = 1,
                                    .position = (double)stage,
                                    .first = ends && stage == 0,
                                    .last = ends && stage == p->stages - 1};
    for (int64_t k = 0; k < p->chunks; k++) {
        const calc_placed_chunk *c = chunk_of(p, stage, k);
        out->class.dense += c->dense;
        out->class.moe += c->moe;
        again += c->recompute_blocks;
    }
    bool all = again >= out->class.dense + out->class.moe || again == 0;
    out->terms.recompute_blocks = all ? 0 : again;
    out->links.message_s = joined_s(p, stage, stage + 1, false, l->links.message_s);
    out->links.back_message_s = joined_s(p, stage, stage - 1, true, l->links.back_message_s);
}

void calc_placed_stage_of(const calc_placed *p, int64_t stage, calc_placed_stage *out)
{
    if (p->listed) {
        listed_stage(p, stage, out);
        return;
    }
    const calc_layout *l = &p->recipe[0];
    size_t i = 0;
    while (i + 1 < l->stages.count && l->stages.item[i + 1].position <= (double)stage) {
        i++;
    }
    out->layout = l;
    out->terms = l->terms;
    out->links = l->links;
    out->class = l->stages.item[i];
}

double calc_placed_chunk_recompute(const calc_placed *p, const calc_placed_stage *at, int64_t chunk)
{
    if (!p->listed) {
        return 1 - calc_stage_rich(&at->terms, &at->class);
    }
    const calc_placed_chunk *c = chunk_of(p, (int64_t)at->class.position, chunk);
    if (at->layout->exec->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_NONE) {
        return 1; /* recomputing blocks are then what blocks are */
    }
    return c->dense + c->moe > 0 ? c->recompute_blocks / (c->dense + c->moe) : 0;
}

calc_stage_class calc_placed_chunk_class(const calc_placed *p, const calc_placed_stage *at,
                                         int64_t chunks, int64_t chunk)
{
    if (!p->listed) {
        return calc_stage_chunk(&at->terms, &at->class, chunks, chunk);
    }
    const calc_placed_chunk *c = chunk_of(p, (int64_t)at->class.position, chunk);
    calc_stage_class out = at->class;
    out.dense = c->dense;
    out.moe = c->moe;
    out.first = chunk == 0 ? out.first : 0;
    out.last = chunk == chunks - 1 ? out.last : 0;
    return out;
}

calc_stage_pass calc_placed_chunk_pass(const calc_placed *p, const calc_placed_stage *at,
                                       int64_t chunks, int64_t chunk)
{
    const calc_layout *l = at->layout;
    if (!p->listed) {
        return calc_stage_chunk_pass(&at->terms, &at->links, &at->class, l->stages.chunks, chunks,
                                     chunk, l->exposed);
    }
    calc_stage_class c = calc_placed_chunk_class(p, at, chunks, chunk);
    calc_stage_terms terms = at->terms;
    double again = chunk_of(p, (int64_t)c.position, chunk)->recompute_blocks;
    bool all = again >= c.dense + c.moe;
    terms.recompute_blocks = all ? 0 : calc_max(again, NO_BLOCK);
    return calc_stage_pass_of(&terms, &at->links, &c, 1, l->exposed);
}

calc_stage_pass calc_placed_pass(const calc_placed *p, const calc_placed_stage *at)
{
    return calc_stage_pass_of(&at->terms, &at->links, &at->class, (double)p->chunks,
                              at->layout->exposed);
}

/* The most that interleaved chunks hold at any time: a stage passes forward through rounds of as
 * many micro-batches as there are stages, a chunk each, and backward through them from the last one
 * (schedule_order.c). Where the first chunk holds more than others that is not before the first
 * backward pass. After it, a round of all chunks repeats.
 * @param bytes  of a micro-batch in each chunk */
static double most_bytes(const calc_placed *p, int64_t stage, int64_t microbatches,
                         const double bytes[CALC_MAX_PLACES])
{
    int64_t all = microbatches * p->chunks;
    int64_t warm = 2 * (p->stages - 1 - stage) + (p->chunks - 1) * p->stages;
    double sum = 0;
    double most = 0;
    for (int64_t i = 0; i < all && i <= warm + p->stages * p->chunks; i++) {
        sum += bytes[i / p->stages % p->chunks];
        most = calc_max(most, sum);
        sum -= i >= warm ? bytes[p->chunks - 1 - (i - warm) / p->stages % p->chunks] : 0;
    }
    return most;
}

/* Activations of interleaved chunks that differ. The head is counted as where chunks are alike,
 * with the mean of them, and so is everything where micro-batches do not fill whole rounds: such a
 * layout does not run.
 * @param in_flight  micro-batches, the mean */
static double interleaved_bytes(const calc_placed *p, const calc_placed_stage *at, double in_flight)
{
    const calc_stage_part *block = at->terms.block;
    double bytes[CALC_MAX_PLACES];
    double sum = 0;
    for (int64_t k = 0; k < p->chunks; k++) {
        calc_stage_class c = calc_placed_chunk_class(p, at, p->chunks, k);
        double lean = calc_placed_chunk_recompute(p, at, k);
        double whole_bytes = c.dense * block[0].whole_bytes + c.moe * block[1].whole_bytes;
        double lean_bytes = c.dense * block[0].kept_bytes + c.moe * block[1].kept_bytes;
        bytes[k] = (1 - lean) * whole_bytes + lean * lean_bytes;
        sum += bytes[k];
    }
    double held =
        calc_stages_rounds_fit(p->exec)
            ? most_bytes(p, (int64_t)at->class.position, (int64_t)at->terms.microbatches, bytes)
            : sum * in_flight;
    return held + at->class.last * at->terms.head.whole_bytes * in_flight;
}

calc_stage_memory calc_placed_memory(const calc_placed *p, const calc_placed_stage *at)
{
    calc_pipeline_schedule schedule = p->exec->pipeline_schedule;
    calc_stage_weights w = calc_stage_weights_sum(&at->terms, &at->class);
    calc_stage_memory m =
        calc_stage_memory_sum(&at->terms, &at->class, &w, schedule, (double)p->chunks);
    if (p->listed && p->chunks > 1 && m.activation > 0) {
        double bytes = interleaved_bytes(p, at, m.in_flight);
        m.total += bytes - m.activation;
        m.in_flight *= bytes / m.activation;
        m.activation = bytes;
    }
    return m;
}

double calc_placed_pipeline_s(const calc_placed *p)
{
    const calc_stage_terms *t = &p->recipe[0].terms;
    calc_schedule_pass pass[CALC_MAX_PLACES];
    calc_stage_sums sums = {0, 0};
    calc_placed_stage at;
    for (int64_t stage = 0; stage < p->stages; stage++) {
        calc_placed_stage_of(p, stage, &at);
        calc_stage_pass all = calc_placed_pass(p, &at);
        sums = calc_stage_sum(sums, &at.class, &all);
        for (int64_t k = 0; k < p->chunks; k++) {
            calc_stage_pass x = calc_placed_chunk_pass(p, &at, p->chunks, k);
            pass[k * p->stages + stage] = (calc_schedule_pass){x.fw_s, x.agrad_s, x.wgrad_s};
        }
    }
    if (!t->training) {
        return calc_stage_forward_s(t, &sums);
    }
    calc_schedule_shape shape = {.kind = p->exec->pipeline_schedule,
                                 .stages = p->stages,
                                 .chunks = p->chunks,
                                 .microbatches = (int64_t)t->microbatches};
    _Alignas(16) char workspace[WORKSPACE];
    return calc_schedule_steady_in(&shape, pass, workspace, sizeof workspace);
}
