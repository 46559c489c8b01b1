#include "model/stages/placed.h"

#include <math.h>

#include "model/operators/processor.h"
#include "model/stages/placed_layers.h"
#include "spec/stage_list.h"

/* The number of recomputing blocks where a stage has none: calc_stage_rich() takes 0 for all of
 * them. */
#define NO_BLOCK 1e-300

/* Blocks of a stage that do not recompute, where others do, are those of stages without any: they
 * need not keep data gathered by sequence parallelism (seq_par_ag_redo), an option that full
 * recomputation does not use. */
static void set_spared(calc_placed *p, const calc_stage_run *run, size_t recipe, calc_compat compat,
                       const calc_kernel_table *measured)
{
    const calc_stage_run plain = {1, CALC_STAGE_AS_EXEC, 0, CALC_STAGE_AS_EXEC, run->chip, 0};
    const calc_exec none = calc_stage_list_exec(p->exec, &plain);
    size_t other = calc_placed_recipe(p, run->chip, &none, compat, measured);
    for (int kind = 0; kind < CALC_STAGE_KINDS && other != recipe; kind++) {
        calc_stage_part *b = &p->recipe[recipe].terms.block[kind];
        const calc_stage_part *kept = &p->recipe[other].terms.block[kind];
        b->spared_s =
            b->fw_s + b->agrad_s + b->wgrad_s - (kept->fw_s + kept->agrad_s + kept->wgrad_s);
        /* The current block is one that recomputes, and keeps gathered data until it is done. */
        b->passing_bytes += b->whole_bytes - kept->kept_bytes;
        b->whole_bytes = kept->kept_bytes;
    }
}

/* Which blocks have experts. */
static void set_kinds(calc_placed *p)
{
    double before = 0;
    for (int64_t i = 0; i < p->stages * p->chunks; i++) {
        calc_placed_chunk *c = &p->chunk[i];
        double blocks = c->dense;
        calc_placed_kinds(&p->recipe[0].shape, before, blocks, &c->dense, &c->moe);
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
        size_t recipe = calc_placed_recipe(p, run->chip, &e, compat, measured);
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
                p->chunk[at + k * p->stages] = (calc_placed_chunk){
                    .dense = blocks / (double)copies, .recompute_blocks = again / (double)copies};
            }
        }
    }
    set_kinds(p);
}

/* Layers along stages that are listed, or as the execution spreads them. */
static void set_layers(calc_placed *p, calc_compat compat, const calc_kernel_table *measured)
{
    int chip[CALC_MAX_PLACES] = {0};
    const calc_exec *e = p->exec;
    if (e->stages.count > 0) {
        calc_stage_run place[CALC_MAX_PLACES];
        int64_t listed = calc_stage_list_expand(&e->stages, place);
        int64_t copies = listed == p->stages * p->chunks ? 1 : p->chunks;
        double even = (double)p->app->num_blocks / (double)listed;
        for (int64_t i = 0; i < p->stages * p->chunks; i++) {
            const calc_stage_run *run = &place[i % listed];
            double blocks = run->blocks == CALC_STAGE_AS_EXEC ? even : run->blocks;
            p->chunk[i] = (calc_placed_chunk){.dense = blocks / (double)copies};
            chip[i % p->stages] = run->chip;
        }
    } else {
        calc_shape shape = calc_shape_of(p->app, &e->strategy, e->microbatch_size, e->seq_size);
        calc_stages stages = calc_stages_split(&shape, e, compat);
        const calc_stage_terms t = {
            .stages = stages.stages,
            .ends_as_blocks = p->stages > 1 && e->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS};
        p->fit = stages.fit;
        size_t class = 0;
        for (int64_t stage = 0; stage < p->stages; stage++) {
            while (class + 1 < stages.count && stages.item[class + 1].position <= (double)stage) {
                class ++;
            }
            for (int64_t k = 0; k < p->chunks; k++) {
                calc_stage_class c = calc_stage_chunk(&t, &stages.item[class], p->chunks, k);
                p->chunk[k * p->stages + stage] = (calc_placed_chunk){.dense = c.dense + c.moe};
            }
        }
    }
    calc_placed_layers(p, chip, compat, measured);
}

void calc_placed_of(const calc_app *app, const calc_system *system, const calc_exec *exec,
                    calc_compat compat, const calc_kernel_table *measured, calc_placed *p)
{
    p->app = app;
    p->system = system;
    p->exec = exec;
    p->layered = exec->layers.count > 0;
    p->listed = p->layered || exec->stages.count > 0;
    p->fit = calc_stages_rounds_fit(exec);
    p->stages = exec->pipeline_par;
    p->chunks = exec->pipeline_interleaving;
    p->count = 0;
    if (p->layered) {
        set_layers(p, compat, measured);
    } else if (p->listed) {
        set_list(p, compat, measured);
    } else {
        calc_layout_of(app, system, exec, compat, measured, &p->recipe[0]);
        p->fit = p->recipe[0].stages.fit;
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

/* The layers that send a message, and those that the gradient for a chunk comes back to. */
static const calc_layout *sender(const calc_placed *p, int64_t place)
{
    const calc_placed_chunk *c = &p->chunk[place];
    int own = p->recipe_of[place % p->stages]; /* of a stage without layers, which does not run */
    return &p->recipe[c->parts > 0 ? p->part[c->part + c->parts - 1].recipe : own];
}

/* Ends and messages of a stage whose layers are listed are not those of most of its layers:
 * messages are the mean over its chunks. */
static void set_ends(const calc_placed *p, int64_t stage, calc_placed_stage *out)
{
    double fw_s = 0;
    double bw_s = 0;
    bool ends = false;
    for (int64_t k = 0; k < p->chunks; k++) {
        int64_t place = k * p->stages + stage;
        const calc_placed_chunk *c = &p->chunk[place];
        fw_s += sender(p, place)->links.message_s;
        bw_s += sender(p, place > 0 ? place - 1 : 0)->links.back_message_s;
        for (int i = c->part; i < c->part + c->parts; i++) {
            if (p->part[i].first + p->part[i].last > 0) {
                const calc_layout *l = &p->recipe[p->part[i].recipe];
                out->terms.embedding = l->terms.embedding;
                out->terms.head = l->terms.head;
                out->links.tied_s = l->links.tied_s;
                ends = true;
            }
        }
    }
    out->links.tied_s *= ends;
    out->links.message_s = fw_s / (double)p->chunks;
    out->links.back_message_s = bw_s / (double)p->chunks;
}

static void listed_stage(const calc_placed *p, int64_t stage, calc_placed_stage *out)
{
    const calc_layout *l = &p->recipe[p->recipe_of[stage]];
    const calc_shape *shape = &l->shape;
    bool ends = shape->vocab > 0 || shape->encoder || shape->mtp_blocks > 0;
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
    if (p->layered) {
        set_ends(p, stage, out);
    }
    out->links.message_s = joined_s(p, stage, stage + 1, false, out->links.message_s);
    out->links.back_message_s = joined_s(p, stage, stage - 1, true, out->links.back_message_s);
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
    if (p->layered) {
        return 1; /* a layer recomputes as its recipe does */
    }
    const calc_placed_chunk *c = chunk_of(p, (int64_t)at->class.position, chunk);
    if (at->layout->exec->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_NONE) {
        return 1; /* recomputing blocks are then as plain blocks */
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

calc_reshard calc_placed_messages(const calc_placed *p, const calc_placed_stage *at, int64_t chunk)
{
    double exposed = at->layout->exposed;
    int64_t stage = (int64_t)at->class.position;
    if (!p->layered) {
        return (calc_reshard){at->links.message_s * exposed, at->links.back_message_s * exposed};
    }
    int64_t place = chunk * p->stages + stage;
    double fw_s = sender(p, place)->links.message_s;
    double bw_s = sender(p, place > 0 ? place - 1 : 0)->links.back_message_s;
    return (calc_reshard){joined_s(p, stage, stage + 1, false, fw_s) * exposed,
                          joined_s(p, stage, stage - 1, true, bw_s) * exposed};
}

calc_stage_pass calc_placed_chunk_pass(const calc_placed *p, const calc_placed_stage *at,
                                       int64_t chunks, int64_t chunk)
{
    const calc_layout *l = at->layout;
    if (!p->listed) {
        return calc_stage_chunk_pass(&at->terms, &at->links, &at->class, l->stages.chunks, chunks,
                                     chunk, l->exposed);
    }
    if (p->layered) {
        calc_reshard message = calc_placed_messages(p, at, chunk);
        calc_stage_pass x =
            calc_placed_layers_pass(p, chunk_of(p, (int64_t)at->class.position, chunk));
        x.fw_s += message.fw_s;
        x.agrad_s += message.bw_s;
        return x;
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
    calc_stage_pass sum = {0};
    for (int64_t k = 0; p->layered && k < p->chunks; k++) {
        calc_stage_pass x = calc_placed_chunk_pass(p, at, p->chunks, k);
        sum.fw_s += x.fw_s;
        sum.agrad_s += x.agrad_s;
        sum.wgrad_s += x.wgrad_s;
    }
    if (p->layered) {
        return sum;
    }
    return calc_stage_pass_of(&at->terms, &at->links, &at->class, (double)p->chunks,
                              at->layout->exposed);
}
