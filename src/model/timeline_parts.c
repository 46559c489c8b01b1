/* Breakdown of the time of a chunk: calc_timeline_spent_of(). */
#include "model/operators/processor.h"
#include "model/timeline.h"

const char *calc_timeline_part_text(calc_timeline_part part)
{
    static const char *const text[] = {
#define CALC_X(name, words) [CALC_TIMELINE_##name] = (words),
        CALC_TIMELINE_PART_LIST(CALC_X)
#undef CALC_X
    };
    return text[part];
}

/* The remainder of a pass counts as `part`; a negative one is rounding. */
static void put_rest(double *parts, calc_timeline_part part, double all_s)
{
    double known_s = 0;
    for (int i = 0; i < CALC_TIMELINE_PARTS; i++) {
        known_s += parts[i];
    }
    double rest_s = all_s - known_s;
    parts[part] += rest_s > 1e-9 * all_s ? rest_s : 0;
}

/* ---- Stages ---------------------------------------------------------------------------------- */

static void add_some(const calc_layout *l, const calc_cost *b, double blocks,
                     calc_timeline_spent *out)
{
    if (blocks <= 0) {
        return;
    }
    double n = blocks / calc_share_or(l->exec->software_efficiency, 1);
    calc_stage_sharded s = calc_stage_sharded_of(&l->context, &l->exec->strategy, b, &l->lines);
    calc_stage_offload o = calc_stage_offload_of(&l->context, &l->exec->strategy, b, &s);
    out->fw_s[CALC_TIMELINE_OFFLOAD] += n * o.fw_s;
    out->bw_s[CALC_TIMELINE_OFFLOAD] += n * o.bw_s;
    out->fw_s[CALC_TIMELINE_COMPUTE] += n * b->fw_s;
    out->fw_s[CALC_TIMELINE_TENSOR] += n * b->tensor.fw_exposed_s;
    out->fw_s[CALC_TIMELINE_CONTEXT] += n * b->context.fw_exposed_s;
    out->fw_s[CALC_TIMELINE_EXPERT] += n * b->expert.fw_exposed_s;
    out->fw_s[CALC_TIMELINE_SHARDED] += n * s.fw_s;
    out->bw_s[CALC_TIMELINE_RECOMPUTE] += n * b->re_s;
    out->bw_s[CALC_TIMELINE_REPEATED] += n * calc_cost_repeated_s(b);
    out->bw_s[CALC_TIMELINE_COMPUTE] += n * b->agrad_s;
    out->bw_s[CALC_TIMELINE_TENSOR] += n * b->tensor.bw_exposed_s;
    out->bw_s[CALC_TIMELINE_CONTEXT] += n * b->context.bw_exposed_s;
    out->bw_s[CALC_TIMELINE_EXPERT] += n * b->expert.bw_exposed_s;
    out->bw_s[CALC_TIMELINE_SHARDED] += n * s.bw_s;
    out->wgrad_s[CALC_TIMELINE_COMPUTE] += n * b->wgrad_s;
}

/* A share of a chunk's blocks of a kind recomputes. */
static void add_blocks(const calc_layout *l, const calc_cost *b, double blocks, double recompute,
                       calc_timeline_spent *out)
{
    const calc_cost once = calc_stage_once(b);
    add_some(l, b, blocks * recompute, out);
    add_some(l, &once, blocks * (1 - recompute), out);
}

static void add_ends(const calc_layout *l, const calc_stage_class *c, calc_timeline_spent *out)
{
    const calc_stage_part *first = &l->terms.embedding;
    const calc_stage_part *last = &l->terms.head;
    out->fw_s[CALC_TIMELINE_ENDS] += c->first * first->fw_s + c->last * last->fw_s;
    out->bw_s[CALC_TIMELINE_ENDS] += c->first * first->agrad_s + c->last * last->agrad_s;
    out->wgrad_s[CALC_TIMELINE_ENDS] += c->first * first->wgrad_s + c->last * last->wgrad_s;
    calc_stage_sharded_ends s =
        calc_stage_sharded_ends_of(&l->context, l->exec, &l->parts, &l->lines);
    double slowed = 1 / calc_share_or(l->exec->software_efficiency, 1);
    double fw_s = (c->first * s.embedding.fw_s + c->last * s.head.fw_s) * slowed;
    double bw_s = (c->first * s.embedding.bw_s + c->last * s.head.bw_s) * slowed;
    out->fw_s[CALC_TIMELINE_ENDS] -= fw_s;
    out->bw_s[CALC_TIMELINE_ENDS] -= bw_s;
    out->fw_s[CALC_TIMELINE_SHARDED] += fw_s;
    out->bw_s[CALC_TIMELINE_SHARDED] += bw_s;
}

/* A chunk of listed layers, part by part. */
static void spend_layers(const calc_timeline *t, int64_t stage, int64_t chunk,
                         calc_timeline_spent *out)
{
    const calc_placed *p = &t->placed;
    const calc_placed_chunk *c = &p->chunk[chunk * p->stages + stage];
    calc_placed_stage at;
    calc_placed_stage_of(p, stage, &at);
    calc_reshard message = calc_placed_messages(p, &at, chunk);
    for (int i = c->part; i < c->part + c->parts; i++) {
        const calc_placed_part *part = &p->part[i];
        const calc_layout *l = &p->recipe[part->recipe];
        const calc_stage_class ends = {.first = part->first, .last = part->last};
        add_blocks(l, &l->parts.block[CALC_DENSE_BLOCK], part->dense, 1, out);
        add_blocks(l, &l->parts.block[CALC_MOE_BLOCK], part->moe, 1, out);
        add_ends(l, &ends, out);
    }
    out->fw_s[CALC_TIMELINE_RESHARD] = c->reshard.fw_s;
    out->bw_s[CALC_TIMELINE_RESHARD] = c->reshard.bw_s;
    out->fw_s[CALC_TIMELINE_MESSAGE] = message.fw_s;
    out->bw_s[CALC_TIMELINE_MESSAGE] = message.bw_s;
}

static void spend(const calc_timeline *t, int64_t stage, int64_t chunk, calc_timeline_spent *out)
{
    calc_placed_stage at;
    if (t->placed.layered) {
        spend_layers(t, stage, chunk, out);
        return;
    }
    calc_placed_stage_of(&t->placed, stage, &at);
    const calc_layout *l = at.layout;
    calc_stage_class c = calc_timeline_chunk_class(t, stage, chunk);
    double recompute = calc_placed_chunk_recompute(&t->placed, &at, chunk);
    double messages = l->exposed * l->stages.chunks / (double)t->shape.chunks;
    add_blocks(l, &l->parts.block[CALC_DENSE_BLOCK], c.dense, recompute, out);
    add_blocks(l, &l->parts.block[CALC_MOE_BLOCK], c.moe, recompute, out);
    add_ends(l, &c, out);
    out->fw_s[CALC_TIMELINE_MESSAGE] = at.links.message_s * messages;
    out->bw_s[CALC_TIMELINE_MESSAGE] =
        l->exec->training
            ? (t->placed.listed ? at.links.back_message_s : at.links.message_s) * messages
            : 0;
}

void calc_timeline_spent_of(const calc_timeline *t, int64_t stage, int64_t chunk,
                            calc_timeline_spent *out)
{
    if (chunk >= t->shape.chunks) {
        calc_timeline_spent_of(t, t->shape.stages - 1 - stage, 0, out);
        return;
    }
    *out = (calc_timeline_spent){0};
    calc_schedule_pass pass = calc_timeline_pass_of(t, stage, chunk);
    spend(t, stage, chunk, out);
    put_rest(out->fw_s, CALC_TIMELINE_HOST, pass.fw_s);
    put_rest(out->bw_s, CALC_TIMELINE_HOST, pass.bw_s);
    put_rest(out->wgrad_s, CALC_TIMELINE_HOST, pass.wgrad_s);
}
