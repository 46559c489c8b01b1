#include "model/stages/stages.h"

#include <math.h>

#include "model/operators/processor.h"
#include "spec/rules.h"
#include "spec/schedule.h"

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

/* @param others  parts that count as blocks in addition to them in the chunks of a stage */
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
        (calc_stage_class){.stages = stages, .position = position, .dense = calc_max(0, blocks)};
    s->filled = s->filled && blocks > 0;
    s->divide[s->divided] = blocks + others;
    s->divided += !s->ends_spread;
    s->most_blocks = calc_max(s->most_blocks, blocks);
    s->fewest_blocks = calc_min(s->fewest_blocks, blocks);
}

/* The same where the model lists its layers: the mean over the stages of a class. Several chunks
 * of a stage lie apart in the model: each has the mean of all. */
static void set_listed_kinds(calc_stages *s, const calc_shape *shape)
{
    double before = 0;
    double mean = (shape->blocks - shape->moe_blocks) / shape->blocks;
    for (size_t i = 0; i < s->count; i++) {
        calc_stage_class *c = &s->item[i];
        double blocks = c->dense;
        double all = c->stages * blocks;
        bool spread = s->chunks > 1 || s->ends_spread;
        c->dense =
            spread ? blocks * mean : calc_shape_dense_blocks_in(shape, before, all) / c->stages;
        c->moe = blocks - c->dense;
        before += all;
    }
}

/* Which blocks have experts: the first chunk of the first stage begins with dense ones; the rest of
 * them is spread evenly, as are blocks without experts further on. */
static void set_kinds(calc_stages *s, const calc_shape *shape)
{
    if (shape->experts == 0) {
        return;
    }
    if (shape->stack && shape->moe_every != 1) {
        set_listed_kinds(s, shape);
        return;
    }
    double moe = shape->moe_blocks;
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

/* Whether two classes differ in where they are at most. */
static bool alike(const calc_stage_class *a, const calc_stage_class *b)
{
    calc_stage_class x = *a;
    x.stages = b->stages;
    x.position = b->position;
    bool same = true;
#define CALC_X(member) same = same && x.member == b->member;
    CALC_STAGE_CLASS_LIST(CALC_X)
#undef CALC_X
    return same;
}

/* Where nothing but their position tells neighbouring classes apart they are one: all it decides
 * is how many micro-batches a stage holds, which is most on the first; on the last in ZB-V. */
static void merge(calc_stages *s, const calc_exec *exec)
{
    if (exec->pipeline_schedule == CALC_PIPELINE_SCHEDULE_ZB_V) {
        return;
    }
    size_t kept = 0;
    for (size_t i = 1; i < s->count; i++) {
        calc_stage_class *a = &s->item[kept];
        const calc_stage_class *b = &s->item[i];
        if (alike(a, b)) {
            a->stages += b->stages;
        } else {
            s->item[++kept] = *b;
        }
    }
    for (size_t i = kept + 1; i < s->count; i++) {
        s->item[i] = (calc_stage_class){0};
    }
    s->count = kept + 1;
}

bool calc_stages_rounds_fit(const calc_exec *exec)
{
    int64_t microbatches = calc_microbatches(exec);
    return exec->pipeline_interleaving == 1 || microbatches % exec->pipeline_par == 0;
}

bool calc_stages_fit(const calc_stages *s, const calc_exec *exec, calc_compat compat)
{
    double chunks = (double)exec->pipeline_interleaving;
    bool even = calc_compat_has(compat, CALC_COMPAT_EVEN_STAGES);
    bool fit = s->filled && chunks <= s->most_chunks && (even || calc_stages_rounds_fit(exec));
    for (size_t i = 0; i < s->divided && fit; i++) {
        fit = whole(s->divide[i] / chunks);
    }
    return fit;
}

int64_t calc_stages_most_chunks(const calc_stages *s)
{
    double most = s->most_chunks;
    int64_t divisor = 0;
    for (size_t i = 0; i < s->divided; i++) {
        divisor = calc_gcd(divisor, (int64_t)s->divide[i]);
    }
    most = calc_min(most, INT32_MAX);
    return divisor > 0 && (double)divisor < most ? divisor : (int64_t)most;
}

/* The first class is one stage, so that it may have the embedding; so is the last. */
calc_stages calc_stages_split(const calc_shape *shape, const calc_exec *exec, calc_compat compat)
{
    double p = (double)exec->pipeline_par;
    double blocks = shape->blocks;
    int64_t microbatches = calc_microbatches(exec);
    calc_stages s = {
        .stages = p,
        .chunks = (double)exec->pipeline_interleaving,
        .microbatches = (double)microbatches,
        .ends_spread = exec->pipeline_balance == CALC_PIPELINE_BALANCE_FREE && p > 1,
        .fewest_blocks = INFINITY,
        .filled = true,
        .most_chunks = INFINITY,
    };
    double first = 0;
    double middle = 0;
    double last = 0;
    if (calc_compat_has(compat, CALC_COMPAT_EVEN_STAGES)) {
        /* One class of stages that all have the ceiling, as its first one has. */
        double most = ceil(blocks / s.stages);
        add_class(&s, s.stages, most, 0);
        s.divide[0] = most;
        s.divided = 1;
        s.item[0].missing = most * s.stages - blocks;
        s.item[0].first = s.item[0].last = 1 / s.stages;
        set_kinds(&s, shape);
        s.fit = calc_stages_fit(&s, exec, compat);
        return s;
    }
    if (p == 1) {
        add_class(&s, 1, blocks, 0);
        s.divided = 0;
    } else if (exec->first_stage_blocks > 0 || exec->last_stage_blocks > 0) {
        bool fits = given_ends(exec, blocks, p, &first, &middle, &last);
        add_class(&s, 1, first, 0);
        add_class(&s, p - 2, middle, 0);
        add_class(&s, 1, last, 0);
        s.filled = s.filled && fits;
    } else if (s.ends_spread) {
        add_class(&s, 1, blocks / p, 0);
        add_class(&s, p - 2, blocks / p, 0);
        add_class(&s, 1, blocks / p, 0);
        s.most_chunks = blocks / p;
    } else {
        int head = calc_stages_head_blocks((int64_t)blocks, exec);
        double ends = head > 0;
        double all = blocks + 2 * ends;
        double low = floor(all / p);
        double more = all - low * p; /* stages with one block more: the first ones */
        add_class(&s, 1, low + (more > 0) - ends, ends);
        add_class(&s, calc_max(0, more - 1), low + 1, 0);
        add_class(&s, p - 1 - calc_max(1, more), low, 0);
        add_class(&s, 1, low - ends, head);
        s.most_chunks = head > 1 ? calc_max(1, floor((low + 1) / head)) : INFINITY;
    }
    if (s.ends_spread) {
        for (size_t i = 0; i < s.count; i++) {
            s.item[i].first = 1 / p;
            s.item[i].last = 1 / p;
        }
    } else if (shape->vocab > 0 || shape->encoder || shape->mtp_blocks > 0 ||
               exec->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS) {
        s.item[0].first = 1;
        s.item[s.count - 1].last = 1;
    }
    s.fit = calc_stages_fit(&s, exec, compat);
    set_kinds(&s, shape);
    merge(&s, exec);
    return s;
}
