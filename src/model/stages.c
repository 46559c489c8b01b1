#include "model/stages.h"

#include <math.h>

#include "model/processor.h"

/* ---- Blocks of stages ------------------------------------------------------------------------ */

static bool whole(double x)
{
    return x == floor(x);
}

/* Blocks of the first, most and last stages, when some of them are given. */
static bool given_ends(const calc_exec *e, double blocks, double p, double *first, double *middle,
                       double *last)
{
    double rest = blocks;
    double even = p;
    *first = (double)e->first_stage_blocks;
    *last = (double)e->last_stage_blocks;
    if (p < 2) {
        return false;
    }
    rest -= *first + *last;
    even -= (*first > 0) + (*last > 0);
    *middle = even > 0 ? rest / even : 0;
    *first = *first > 0 ? *first : *middle;
    *last = *last > 0 ? *last : *middle;
    return even > 0 ? whole(*middle) && *middle >= 0 : rest == 0;
}

/* @param others  what counts as blocks beside them in the chunks of a stage */
static void add_class(calc_stages *s, double stages, double blocks, double others)
{
    if (stages <= 0) {
        return;
    }
    double position = 0;
    for (size_t i = 0; i < s->count; i++) {
        position += s->item[i].stages;
    }
    s->item[s->count++] =
        (calc_stage_class){.stages = stages, .position = position, .dense = blocks};
    s->fit = s->fit && blocks > 0 && (s->ends_spread || whole((blocks + others) / s->chunks));
    s->most_blocks = calc_max(s->most_blocks, blocks);
    s->fewest_blocks = calc_stage_min(s->fewest_blocks, blocks);
}

/* Which blocks have experts: the first chunk of the first stage begins with dense ones; what is
 * left of them is spread evenly, as are blocks without experts further on. */
static void set_kinds(calc_stages *s, const calc_shape *shape)
{
    if (shape->experts == 0) {
        return;
    }
    double moe = calc_shape_moe_blocks(shape);
    double dense = shape->blocks - moe;
    double prefix = shape->dense_blocks;
    double per_chunk = s->item[0].dense / s->chunks;
    bool alone = !s->ends_spread && prefix > 0 && s->stages > 1 && shape->moe_every == 1;
    double held = alone ? (prefix < per_chunk ? prefix : per_chunk) : 0;
    double first_blocks = alone ? s->item[0].dense : 0;
    double rest_share =
        shape->blocks > first_blocks ? (dense - held) / (shape->blocks - first_blocks) : 0;
    if (rest_share > 1) {
        alone = false; /* dense blocks go around the pipeline: on all stages alike */
        rest_share = dense / shape->blocks;
    }
    for (size_t i = 0; i < s->count; i++) {
        calc_stage_class *c = &s->item[i];
        double blocks = c->dense;
        double mine = alone && i == 0 ? held : blocks * rest_share;
        c->dense = mine;
        c->moe = blocks - mine;
    }
}

/* The first class is one stage, so that it may have the embedding; so is the last. */
calc_stages calc_stages_split(const calc_shape *shape, const calc_exec *exec)
{
    double p = (double)exec->pipeline_par;
    double blocks = shape->blocks;
    int64_t microbatches = exec->batch_size / exec->data_par / exec->microbatch_size;
    calc_stages s = {
        .stages = p,
        .chunks = (double)exec->pipeline_interleaving,
        .microbatches = (double)microbatches,
        .ends_spread = exec->pipeline_balance == CALC_PIPELINE_BALANCE_FREE && p > 1,
        .fewest_blocks = INFINITY,
        .fit = true,
    };
    double first = 0;
    double middle = 0;
    double last = 0;
    if (p == 1) {
        add_class(&s, 1, blocks, 0);
        s.fit = true;
    } else if (exec->first_stage_blocks > 0 || exec->last_stage_blocks > 0) {
        bool fits = given_ends(exec, blocks, p, &first, &middle, &last);
        add_class(&s, 1, first, 0);
        add_class(&s, p - 2, middle, 0);
        add_class(&s, 1, last, 0);
        s.fit = s.fit && fits;
    } else if (s.ends_spread) {
        add_class(&s, 1, blocks / p, 0);
        add_class(&s, p - 2, blocks / p, 0);
        add_class(&s, 1, blocks / p, 0);
        s.fit = blocks >= p * s.chunks;
    } else {
        double ends = exec->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS ? 1 : 0;
        double all = blocks + 2 * ends;
        double low = floor(all / p);
        double more = all - low * p; /* stages with one block more: the first ones */
        add_class(&s, 1, low + (more > 0) - ends, ends);
        add_class(&s, calc_max(0, more - 1), low + 1, 0);
        add_class(&s, p - 1 - calc_max(1, more), low, 0);
        add_class(&s, 1, low - ends, ends);
    }
    if (s.ends_spread) {
        for (size_t i = 0; i < s.count; i++) {
            s.item[i].first = 1 / p;
            s.item[i].last = 1 / p;
        }
    } else {
        s.item[0].first = 1;
        s.item[s.count - 1].last = 1;
    }
    set_kinds(&s, shape);
    return s;
}
