/* What the time of a chunk is spent on: calc_timeline_spent_of(). */
#include "model/processor.h"
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

/* What is left of a pass is spent on `part`; less is rounding. */
static void put_rest(double *parts, calc_timeline_part part, double all_s)
{
    double known_s = 0;
    for (int i = 0; i < CALC_TIMELINE_PARTS; i++) {
        known_s += parts[i];
    }
    double rest_s = all_s - known_s;
    parts[part] += rest_s > 1e-9 * all_s ? rest_s : 0;
}

/* ---- Extended layouts ------------------------------------------------------------------------ */

static void add_blocks(const calc_timeline *t, const calc_cost *b, double blocks, double recompute,
                       calc_timeline_spent *out)
{
    if (blocks <= 0) {
        return;
    }
    double n = blocks / calc_share_or(t->exec->software_efficiency, 1);
    calc_stage_sharded s = calc_stage_sharded_of(&t->context, t->exec, b, &t->lines);
    out->fw_s[CALC_TIMELINE_COMPUTE] += n * b->fw_s;
    out->fw_s[CALC_TIMELINE_TENSOR] += n * b->tensor.fw_exposed_s;
    out->fw_s[CALC_TIMELINE_CONTEXT] += n * b->context.fw_exposed_s;
    out->fw_s[CALC_TIMELINE_EXPERT] += n * b->expert.fw_exposed_s;
    out->fw_s[CALC_TIMELINE_SHARDED] += n * s.fw_s;
    out->bw_s[CALC_TIMELINE_RECOMPUTE] += n * recompute * b->re_s;
    out->bw_s[CALC_TIMELINE_REPEATED] +=
        n * recompute * (b->tensor.re_exposed_s + b->context.re_exposed_s + b->expert.re_exposed_s);
    out->bw_s[CALC_TIMELINE_COMPUTE] += n * b->agrad_s;
    out->bw_s[CALC_TIMELINE_TENSOR] += n * b->tensor.bw_exposed_s;
    out->bw_s[CALC_TIMELINE_CONTEXT] += n * b->context.bw_exposed_s;
    out->bw_s[CALC_TIMELINE_EXPERT] += n * b->expert.bw_exposed_s;
    out->bw_s[CALC_TIMELINE_SHARDED] += n * s.bw_s;
    out->wgrad_s[CALC_TIMELINE_COMPUTE] += n * b->wgrad_s;
}

static void add_ends(const calc_timeline *t, const calc_stage_class *c, calc_timeline_spent *out)
{
    const calc_stage_part *first = &t->terms.embedding;
    const calc_stage_part *last = &t->terms.head;
    out->fw_s[CALC_TIMELINE_ENDS] = c->first * first->fw_s + c->last * last->fw_s;
    out->bw_s[CALC_TIMELINE_ENDS] = c->first * first->agrad_s + c->last * last->agrad_s;
    out->wgrad_s[CALC_TIMELINE_ENDS] = c->first * first->wgrad_s + c->last * last->wgrad_s;
    calc_stage_sharded_ends s =
        calc_stage_sharded_ends_of(&t->context, t->exec, &t->parts, &t->lines);
    double slowed = 1 / calc_share_or(t->exec->software_efficiency, 1);
    double fw_s = (c->first * s.embedding.fw_s + c->last * s.head.fw_s) * slowed;
    double bw_s = (c->first * s.embedding.bw_s + c->last * s.head.bw_s) * slowed;
    out->fw_s[CALC_TIMELINE_ENDS] -= fw_s;
    out->bw_s[CALC_TIMELINE_ENDS] -= bw_s;
    out->fw_s[CALC_TIMELINE_SHARDED] += fw_s;
    out->bw_s[CALC_TIMELINE_SHARDED] += bw_s;
}

static void spend_extended(const calc_timeline *t, int64_t stage, int64_t chunk,
                           calc_timeline_spent *out)
{
    calc_stage_class c = calc_timeline_chunk_class(t, stage, chunk);
    double recompute = 1 - calc_stage_rich(&t->terms, calc_timeline_class(t, stage));
    double message_s = t->links.message_s * calc_stage_exposed_messages(&t->terms, t->exec) *
                       t->stages.chunks / (double)t->shape.chunks;
    add_blocks(t, &t->parts.block[CALC_DENSE_BLOCK], c.dense, recompute, out);
    add_blocks(t, &t->parts.block[CALC_MOE_BLOCK], c.moe, recompute, out);
    add_ends(t, &c, out);
    out->fw_s[CALC_TIMELINE_MESSAGE] = message_s;
    out->bw_s[CALC_TIMELINE_MESSAGE] = t->exec->training ? message_s : 0;
}

/* ---- Layouts with Calculon's fields ---------------------------------------------------------- */

static double all_blocks(const calc_pipeline *p, const calc_block_comm *comm)
{
    return p->base_blocks * comm[CALC_BASE_BLOCK].exposed_s + comm[CALC_EDGE_BLOCK].exposed_s;
}

static void scale(double *parts, double factor)
{
    for (int i = 0; i < CALC_TIMELINE_PARTS; i++) {
        parts[i] *= factor;
    }
}

static void spend_classic(const calc_timeline *t, const calc_schedule_pass *pass,
                          calc_timeline_spent *out)
{
    const calc_classic_chunk *c = &t->chunk;
    const calc_block *b = &c->block;
    double n = c->pipeline.blocks_per_chunk;
    out->fw_s[CALC_TIMELINE_COMPUTE] = n * b->fw.time_s;
    out->fw_s[CALC_TIMELINE_TENSOR] = all_blocks(&c->pipeline, b->fw_comm);
    out->fw_s[CALC_TIMELINE_MESSAGE] = c->fw_message_s;
    out->bw_s[CALC_TIMELINE_RECOMPUTE] = n * b->recompute.time_s;
    out->bw_s[CALC_TIMELINE_REPEATED] = all_blocks(&c->pipeline, b->recomm);
    out->bw_s[CALC_TIMELINE_COMPUTE] = n * b->agrad.time_s;
    out->bw_s[CALC_TIMELINE_TENSOR] = all_blocks(&c->pipeline, b->agrad_comm);
    out->bw_s[CALC_TIMELINE_MESSAGE] = c->bw_message_s;
    out->wgrad_s[CALC_TIMELINE_COMPUTE] = pass->wgrad_s;
    /* A chunk with a block less has less of everything. */
    double bw_s = c->bw.chunk_s - n * b->wgrad.time_s;
    scale(out->fw_s, c->fw.chunk_s > 0 ? pass->fw_s / c->fw.chunk_s : 0);
    scale(out->bw_s, bw_s > 0 ? pass->bw_s / bw_s : 0);
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
    calc_timeline_part rest = t->extended ? CALC_TIMELINE_HOST : CALC_TIMELINE_OFFLOAD;
    if (t->extended) {
        spend_extended(t, stage, chunk, out);
    } else {
        spend_classic(t, &pass, out);
    }
    put_rest(out->fw_s, rest, pass.fw_s);
    put_rest(out->bw_s, rest, pass.bw_s);
    put_rest(out->wgrad_s, rest, pass.wgrad_s);
}
