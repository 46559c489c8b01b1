#include "model/stages/placed_layers.h"

#include <math.h>

#include "model/operators/processor.h"
#include "spec/layer_list.h"
#include "spec/stage_list.h"

/* ---- Recipes --------------------------------------------------------------------------------- */

void calc_placed_kinds(const calc_shape *shape, double before, double blocks, double *dense,
                       double *moe)
{
    *dense = calc_shape_dense_blocks_in(shape, before, blocks);
    *moe = blocks - *dense;
}

size_t calc_placed_recipe(calc_placed *p, int chip, const calc_exec *e, calc_compat compat,
                          const calc_kernel_table *measured)
{
    size_t i = 0;
    while (i < p->count && !(p->chip[i] == chip && calc_layer_list_same(&p->recipe_exec[i], e))) {
        i++;
    }
    if (i < p->count || i == CALC_MAX_RECIPES) {
        return i < p->count ? i : i - 1; /* calc_check() refuses more */
    }
    const calc_stage_run on = {.chip = (uint8_t)chip};
    p->chip[i] = chip;
    p->recipe_exec[i] = *e;
    p->recipe_exec[i].recompute_blocks = 0;
    calc_layout_of(p->app, calc_stage_list_system(p->system, p->exec, &on), &p->recipe_exec[i],
                   compat, measured, &p->recipe[i]);
    p->count++;
    return i;
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
        *part = (calc_placed_part){.recipe = recipe};
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
        double dense, moe;
        calc_placed_kinds(&w->p->recipe[0].shape, w->before, some, &dense, &moe);
        part->dense += dense;
        part->moe += moe;
        c->dense += dense;
        c->moe += moe;
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
    int most = -1;
    for (int64_t k = 0; k < p->chunks; k++) {
        const calc_placed_chunk *c = &p->chunk[k * p->stages + stage];
        for (int i = c->part; i < c->part + c->parts; i++) {
            int recipe = p->part[i].recipe;
            blocks[recipe] += p->part[i].dense + p->part[i].moe;
            most = most < 0 || blocks[recipe] > blocks[most] ? recipe : most;
        }
    }
    p->recipe_of[stage] = most < 0 ? 0 : most;
}

void calc_placed_layers(calc_placed *p, const int *chip, calc_compat compat,
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
            next_part(&w, c, on, &embedding)->first = 1;
        }
        add_blocks(&w, c, on);
        if (ends && i == places - 1) {
            next_part(&w, c, on, &head)->last = 1;
        }
    }
    for (int64_t stage = 0; stage < p->stages; stage++) {
        set_recipe_of(p, stage);
    }
}
