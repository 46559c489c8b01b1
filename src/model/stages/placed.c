#include "model/stages/placed.h"

#include <math.h>

#include "model/operators/collective.h"
#include "model/operators/processor.h"
#include "model/operators/shape.h"
#include "spec/layer_list.h"
#include "spec/rules.h"
#include "spec/stage_list.h"

/* The number of recomputing blocks where a stage has none: calc_stage_rich() takes 0 for all of
 * them. */
#define NO_BLOCK 1e-300

/* Activations rearranged between layers that are split in different ways. */

static bool is_sequence_parallel(const calc_strategy *s)
{
    return s->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
}

/* Ranks that share a sequence, and how many of them hold different tokens of it. */
static int64_t sharing(const calc_strategy *s)
{
    return s->tensor_par * calc_ranks_or_one(s->context_par);
}

static int64_t shards(const calc_strategy *s)
{
    return is_sequence_parallel(s) ? sharing(s) : calc_ranks_or_one(s->context_par);
}

/* Neighbouring ranks that have the same sequences with either strategy. */
static int64_t together(const calc_strategy *a, const calc_strategy *b)
{
    return sharing(a) / calc_gcd(sharing(a), sharing(b)) * sharing(b);
}

int64_t calc_reshard_ranks(const calc_exec *a, const calc_exec *b)
{
    const calc_strategy *s = &a->strategy;
    const calc_strategy *t = &b->strategy;
    return together(s, t) / sharing(s) * (shards(s) / calc_gcd(shards(s), shards(t)));
}

static double gather_s(const calc_app *app, const calc_system *system, const calc_exec *a,
                       const calc_exec *b)
{
    const calc_strategy *s = &a->strategy;
    int64_t ranks = calc_reshard_ranks(a, b);
    if (ranks <= 1) {
        return 0;
    }
    calc_shape shape = calc_shape_of(app, s, a->microbatch_size, a->seq_size);
    double tokens = shape.tokens / (is_sequence_parallel(s) ? shape.tensor_par : 1);
    double held = tokens * shape.hidden * shape.element_bytes;
    int64_t stride =
        a->rank_order == CALC_RANK_ORDER_NETWORKS ? 0 : together(s, &b->strategy) / ranks;
    /* The network that a field names for the larger of two groups, the outer part of it. */
    const calc_strategy *larger = sharing(s) >= sharing(&b->strategy) ? s : &b->strategy;
    bool context = calc_ranks_or_one(larger->context_par) > 1 && larger->context_par_net >= 0;
    calc_group group = {.ranks = (double)ranks,
                        .stride = (double)stride,
                        .network = context ? larger->context_par_net : larger->tensor_par_net};
    return calc_collective_s(system, CALC_OP_ALL_GATHER, &group, held * (double)ranks);
}

calc_reshard calc_reshard_of(const calc_app *app, const calc_system *system, const calc_exec *a,
                             const calc_exec *b)
{
    return (calc_reshard){.fw_s = gather_s(app, system, a, b),
                          .bw_s = a->training ? gather_s(app, system, b, a) : 0};
}

/* ---- Recipes --------------------------------------------------------------------------------- */

/* The recipe of an execution on a chip, made if it is new. */
static size_t calc_placed_recipe(calc_placed *p, int chip, const calc_exec *e, calc_compat compat,
                                 const calc_kernel_table *measured)
{
    size_t i = 0;
    while (i < p->count && !(p->chip[i] == chip && calc_layer_list_same(&p->recipe_exec[i], e))) {
        i++;
    }
    if (i < p->count || i == CALC_MAX_RECIPES) {
        return i < p->count ? i : i - 1; /* calc_check() refuses more */
    }
    const calc_stage_run on = {.chip = (int16_t)chip};
    p->chip[i] = chip;
    p->recipe_exec[i] = *e;
    p->recipe_exec[i].recompute_blocks = 0;
    calc_layout_of(p->app, calc_stage_list_system(p->system, p->exec, &on), &p->recipe_exec[i],
                   compat, measured, NULL, &p->recipe[i]);
    p->count++;
    return i;
}

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

/* Blocks of a list: of its places along the model, or of its stages, whose chunks are then alike.
 */
static void set_list(calc_placed *p, calc_compat compat, const calc_kernel_table *measured)
{
    const calc_stage_list *list = &p->exec->stages;
    int64_t places = p->stages * p->chunks;
    int64_t listed = calc_stage_list_places(list);
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
    /* Which blocks have experts: the first of the model are dense, or the kinds take turns. */
    double before = 0;
    for (int64_t i = 0; i < places; i++) {
        calc_placed_chunk *c = &p->chunk[i];
        double blocks = c->dense;
        c->dense = calc_shape_dense_blocks_in(&p->recipe[0].shape, before, blocks);
        c->moe = blocks - c->dense;
        before += blocks;
    }
}

/* ---- Layers along the chunks ----------------------------------------------------------------- */

/* A walk along the model. */
typedef struct walk {
    calc_placed *p;
    calc_compat compat;
    const calc_kernel_table *measured;
    calc_exec plain; /* without lists */
    int parts;
    double before; /* blocks so far */
    int32_t run;   /* of the list that is next, */
    double left;   /* and what is left of it */
    int last;      /* recipe of the part before, -1: none */
} walk;

/* The part of a strategy that comes next in a chunk: the one before, if it is of the same recipe.
 */
static calc_placed_part *next_part(walk *w, calc_placed_chunk *c, int chip,
                                   const calc_layer_strategy *layer)
{
    calc_placed *p = w->p;
    calc_exec e = calc_layer_list_exec(&w->plain, layer);
    int recipe = (int)calc_placed_recipe(p, chip, &e, w->compat, w->measured);
    calc_placed_part *part = &p->part[w->parts > 0 ? w->parts - 1 : 0];
    if (c->parts > 0 && part->recipe == recipe) {
        return part;
    }
    if (w->last >= 0 && w->last != recipe) {
        calc_reshard x = calc_reshard_of(p->app, p->recipe[recipe].system, &p->recipe_exec[w->last],
                                         &p->recipe_exec[recipe]);
        c->reshard.fw_s += x.fw_s;
        c->reshard.bw_s += x.bw_s;
    }
    if (w->parts < CALC_MAX_PLACED_PARTS) {
        part = &p->part[w->parts++];
        *part = (calc_placed_part){.recipe = recipe, .class = {.stages = 1}};
        c->parts++;
    }
    w->last = recipe;
    return part;
}

/* Blocks of a chunk, run by run. */
static void add_blocks(walk *w, calc_placed_chunk *c, int chip)
{
    const calc_layer_list *list = &w->p->exec->layers;
    double blocks = c->dense;
    c->dense = 0;
    while (blocks > 0 && w->run < list->count) {
        double some = fmin(blocks, w->left);
        calc_placed_part *part = next_part(w, c, chip, &list->run[w->run].strategy);
        double dense = calc_shape_dense_blocks_in(&w->p->recipe[0].shape, w->before, some);
        part->class.dense += dense;
        part->class.moe += some - dense;
        c->dense += dense;
        c->moe += some - dense;
        w->before += some;
        w->left -= some;
        blocks -= some;
        if (w->left <= 0) {
            w->run++;
            w->left = w->run < list->count ? list->run[w->run].blocks : 0;
        }
    }
}

/* The recipe of most blocks of a stage: its own recipe. */
static void set_recipe_of(calc_placed *p, int64_t stage)
{
    double blocks[CALC_MAX_RECIPES] = {0};
    int most = 0;
    for (int64_t k = 0; k < p->chunks; k++) {
        const calc_placed_chunk *c = &p->chunk[k * p->stages + stage];
        for (int i = c->part; i < c->part + c->parts; i++) {
            int recipe = p->part[i].recipe;
            blocks[recipe] += p->part[i].class.dense + p->part[i].class.moe;
            most = blocks[recipe] > blocks[most] ? recipe : most;
        }
    }
    p->recipe_of[stage] = most;
}

/* Lay the layers of the list along the chunks, whose blocks are known.
 * @param chip  of every stage, as in calc_stage_run */
static void calc_placed_layers(calc_placed *p, const int *chip, calc_compat compat,
                               const calc_kernel_table *measured)
{
    const calc_layer_list *list = &p->exec->layers;
    walk w = {.p = p, .compat = compat, .measured = measured, .plain = *p->exec, .last = -1};
    w.plain.stages = (calc_stage_list){0};
    w.left = list->run[0].blocks;
    /* The ends' recipe comes first: it says whether there are any. */
    const calc_layer_strategy embedding = calc_layer_list_end(p->app, list, false);
    const calc_layer_strategy head = calc_layer_list_end(p->app, list, true);
    calc_exec e = calc_layer_list_exec(&w.plain, &embedding);
    const calc_layout *of = &p->recipe[calc_placed_recipe(p, chip[0], &e, compat, measured)];
    bool ends = of->shape.vocab > 0 || of->shape.encoder || of->shape.mtp_blocks > 0;
    int64_t places = p->stages * p->chunks;
    for (int64_t i = 0; i < places; i++) {
        calc_placed_chunk *c = &p->chunk[i];
        int on = chip[i % p->stages];
        c->part = w.parts;
        c->parts = 0;
        c->reshard = (calc_reshard){0, 0};
        if (ends && i == 0) {
            next_part(&w, c, on, &embedding)->class.first = 1;
        }
        add_blocks(&w, c, on);
        if (ends && i == places - 1) {
            next_part(&w, c, on, &head)->class.last = 1;
        }
    }
    for (int64_t stage = 0; stage < p->stages; stage++) {
        set_recipe_of(p, stage);
    }
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
        const calc_stage_terms t = {.stages = stages.stages,
                                    .head_as_blocks =
                                        calc_stages_head_blocks(p->app->num_blocks, e)};
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
                    calc_compat compat, const calc_kernel_table *measured,
                    const calc_stage_parts *parts, calc_placed *p)
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
        calc_layout_of(app, system, exec, compat, measured, parts, &p->recipe[0]);
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
            if (p->part[i].class.first + p->part[i].class.last > 0) {
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

size_t calc_placed_entries(const calc_placed *p)
{
    return p->listed ? (size_t)p->stages : p->recipe[0].stages.count;
}

void calc_placed_entry_of(const calc_placed *p, size_t entry, calc_placed_stage *out)
{
    const calc_layout *l = &p->recipe[0];
    if (p->listed) {
        listed_stage(p, (int64_t)entry, out);
        return;
    }
    out->layout = l;
    out->terms = l->terms;
    out->links = l->links;
    out->class = l->stages.item[entry];
}

void calc_placed_stage_of(const calc_placed *p, int64_t stage, calc_placed_stage *out)
{
    const calc_stages *s = &p->recipe[0].stages;
    size_t i = p->listed ? (size_t)stage : 0;
    while (!p->listed && i + 1 < s->count && s->item[i + 1].position <= (double)stage) {
        i++;
    }
    calc_placed_entry_of(p, i, out);
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

/* Passes over the parts of a chunk, and rearranging of activations between them; no messages.
 */
static calc_stage_pass parts_pass(const calc_placed *p, const calc_placed_chunk *c)
{
    static const calc_stage_links none = {0};
    calc_stage_pass sum = {.fw_s = c->reshard.fw_s, .agrad_s = c->reshard.bw_s};
    for (int i = c->part; i < c->part + c->parts; i++) {
        const calc_placed_part *part = &p->part[i];
        calc_stage_pass x =
            calc_stage_pass_of(&p->recipe[part->recipe].terms, &none, &part->class, 1, 0);
        sum.fw_s += x.fw_s;
        sum.agrad_s += x.agrad_s;
        sum.wgrad_s += x.wgrad_s;
    }
    return sum;
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
        calc_stage_pass x = parts_pass(p, chunk_of(p, (int64_t)at->class.position, chunk));
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

/* ---- Slices ---------------------------------------------------------------------------------- */

/* The recipe of a slice: those of the stage in the order of the model. -1: it has fewer */
static int slice_recipe(const calc_placed *p, int64_t stage, size_t slice)
{
    bool seen[CALC_MAX_RECIPES] = {false};
    for (int64_t k = 0; k < p->chunks; k++) {
        const calc_placed_chunk *c = chunk_of(p, stage, k);
        for (int i = c->part; i < c->part + c->parts; i++) {
            bool *known = &seen[p->part[i].recipe];
            if (!*known && slice-- == 0) {
                return p->part[i].recipe;
            }
            *known = true;
        }
    }
    return -1;
}

bool calc_placed_slice_of(const calc_placed *p, int64_t stage, size_t slice, calc_placed_stage *out)
{
    int recipe = p->layered ? slice_recipe(p, stage, slice) : -1;
    if (!p->layered && slice == 0) {
        calc_placed_stage_of(p, stage, out);
        return true;
    }
    if (recipe < 0) {
        return false;
    }
    const calc_layout *l = &p->recipe[recipe];
    out->layout = l;
    out->terms = l->terms;
    out->links = l->links;
    out->links.message_s = out->links.back_message_s = 0;
    out->class = (calc_stage_class){.stages = 1, .position = (double)stage};
    for (int64_t k = 0; k < p->chunks; k++) {
        const calc_placed_chunk *c = chunk_of(p, stage, k);
        for (int i = c->part; i < c->part + c->parts; i++) {
            const calc_stage_class *part = &p->part[i].class;
            bool mine = p->part[i].recipe == recipe;
            out->class.dense += mine ? part->dense : 0;
            out->class.moe += mine ? part->moe : 0;
            out->class.first += mine ? part->first : 0;
            out->class.last += mine ? part->last : 0;
        }
    }
    out->links.tied_s *= out->class.first + out->class.last > 0;
    return true;
}
