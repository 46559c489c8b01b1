#include "plan/layers_option.h"

#include <math.h>

#include "model/operators/processor.h"

/* Share of dense blocks where kinds take turns; else 0. */
static double alternating(const calc_shape *s)
{
    bool both = s->experts > 0 && s->moe_every > 1;
    return both ? 1 - calc_shape_moe_blocks(s) / s->blocks : 0;
}

calc_layers_common calc_layers_common_of(const calc_layout *l)
{
    const calc_stage_terms *t = &l->terms;
    const calc_shape *shape = &l->shape;
    bool turns = alternating(shape) > 0;
    int moe = turns ? (int)shape->blocks : (int)calc_shape_moe_blocks(shape);
    moe = shape->experts > 0 ? moe : 0;
    return (calc_layers_common){
        .stages = t->stages,
        .chunks = l->stages.chunks,
        .microbatches = t->microbatches,
        .growth = t->growth,
        .after_s = t->overhead_s,
        .contention = t->contention,
        .last_share = CALC_STAGE_LAST_BUCKET,
        .used_share = t->used_share,
        .reserved_bytes = t->reserved_bytes,
        .capacity_bytes = l->system->chip.mem1.capacity_bytes,
        .layers = {(int)shape->blocks - moe, moe},
        .terms = *t,
        .schedule = l->exec->pipeline_schedule,
    };
}

double calc_layers_in_flight(const calc_layers_common *c, int stage)
{
    return c->terms.training ? calc_stage_in_flight(&c->terms, c->schedule, stage, c->chunks) : 0;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static void set_link(const calc_layout *l, calc_layers_part *out, const calc_stage_part *p)
{
    const calc_stage_terms *t = &l->terms;
    const calc_stage_links *k = &l->links;
    double windows = calc_max(1, t->reductions);
    out->reduce_s = t->reductions * t->reduced_bytes *
                    (k->reduce_dense_s_per_byte * p->weights.dense +
                     k->reduce_expert_s_per_byte * p->weights.expert);
    out->gather_s = t->gathered_bytes * (k->gather_dense_s_per_byte * p->weights.dense +
                                         k->gather_expert_s_per_byte * p->weights.expert);
    bool beside = l->exec->strategy.data_par_overlap;
    out->reduce_room_s = beside ? t->window_share * windows * (p->agrad_s + p->wgrad_s) : 0;
    beside = calc_stage_gathers_beside(&l->exec->strategy);
    out->gather_room_s = beside ? t->window_share * p->fw_s : 0;
}

static calc_layers_part part_of(const calc_layout *l, const calc_stage_part *p)
{
    const calc_stage_terms *t = &l->terms;
    const calc_stage_weights *w = &p->weights;
    double held = w->dense + w->expert;
    double owned = w->dense / t->dense_shards + w->expert / t->expert_shards;
    calc_layers_part out = {
        .micro_s = p->fw_s + p->agrad_s + p->wgrad_s,
        .fw_s = p->fw_s,
        .wgrad_s = p->wgrad_s,
        .optimizer_s = t->optimizer_s * t->reductions * held + t->optimizer_owned_s * owned,
        .held_bytes = t->used_share * (t->held_bytes * held + t->owned_bytes * owned),
        .passing_bytes = t->used_share * (t->gathered_ahead + t->whole_block_bytes) * held,
    };
    set_link(l, &out, p);
    return out;
}

static calc_layers_part block_of(const calc_layout *l, const calc_stage_part *p)
{
    const calc_stage_terms *t = &l->terms;
    calc_layers_part out = part_of(l, p);
    out.flight_bytes = t->used_share * p->kept_bytes;
    out.working_bytes = t->used_share * (p->whole_bytes - p->kept_bytes + p->passing_bytes);
    return out;
}

/* The head has freed its logits when a pass runs through a block. */
static calc_layers_part head_of(const calc_layout *l)
{
    const calc_stage_terms *t = &l->terms;
    calc_layers_part out = part_of(l, &t->head);
    out.flight_bytes = t->used_share * t->head.whole_bytes;
    out.working_bytes = t->used_share * t->head.kept_bytes;
    return out;
}

void calc_layers_part_add(calc_layers_part *sum, const calc_layers_part *p, double times)
{
    sum->micro_s += times * p->micro_s;
    sum->fw_s += times * p->fw_s;
    sum->wgrad_s += times * p->wgrad_s;
    sum->reduce_s += times * p->reduce_s;
    sum->gather_s += times * p->gather_s;
    sum->reduce_room_s += times * p->reduce_room_s;
    sum->gather_room_s += times * p->gather_room_s;
    sum->optimizer_s += times * p->optimizer_s;
    sum->held_bytes += times * p->held_bytes;
    sum->flight_bytes += times * p->flight_bytes;
    if (times > 0) {
        sum->working_bytes = fmax(sum->working_bytes, p->working_bytes);
        sum->passing_bytes = fmax(sum->passing_bytes, p->passing_bytes);
    }
}

/* Muon: matrices of blocks, one by one; second moments of the ends. */
static void add_muon(const calc_layout *l, calc_layers_option *out)
{
    const calc_stage_terms *t = &l->terms;
    const calc_stage_class only[] = {[CALC_LAYERS_DENSE] = {.dense = 1},
                                     [CALC_LAYERS_MOE] = {.moe = 1},
                                     [CALC_LAYERS_EMBEDDING] = {.first = 1},
                                     [CALC_LAYERS_HEAD] = {.last = 1}};
    for (size_t i = 0; i < sizeof only / sizeof *only && t->muon.any; i++) {
        out->part[i].optimizer_s += calc_stage_muon_s(t, &only[i]);
        out->part[i].held_bytes += t->used_share * calc_stage_muon_bytes(t, &only[i]).here;
    }
}

void calc_layers_option_of(const calc_layout *l, calc_layers_option *out)
{
    const calc_stage_terms *t = &l->terms;
    double dense = alternating(&l->shape);
    calc_layers_part kind[2] = {block_of(l, &t->block[0]), block_of(l, &t->block[1])};
    out->part[CALC_LAYERS_DENSE] = kind[0];
    out->part[CALC_LAYERS_MOE] = kind[1];
    if (dense > 0) {
        calc_layers_part mean = {0};
        calc_layers_part_add(&mean, &kind[0], dense);
        calc_layers_part_add(&mean, &kind[1], 1 - dense);
        out->part[CALC_LAYERS_MOE] = mean;
    }
    out->part[CALC_LAYERS_EMBEDDING] = part_of(l, &t->embedding);
    out->part[CALC_LAYERS_HEAD] = head_of(l);
    add_muon(l, out);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++) {
            out->framework_bytes[i][k] = t->used_share * t->framework_bytes[i][k];
        }
    }
    out->framework_head_bytes = t->used_share * t->framework_head_bytes;
    double both_ways_s = l->links.message_s + l->links.back_message_s;
    out->message_s = t->stages > 1 ? l->stages.chunks * both_ways_s * l->exposed : 0;
    out->tied_s = l->links.tied_s;
}

/* ---- Exposed communication ------------------------------------------------------------------- */

static double exposed_s(const calc_layers_common *c, double link_s, double room_s)
{
    double window_s = room_s > 0 ? room_s / c->terms.window_share : 0;
    return fmax(c->last_share * link_s, link_s - room_s) + c->contention * fmin(link_s, window_s);
}

double calc_layers_exposed_s(const calc_layers_common *c, const calc_layers_part *p)
{
    return exposed_s(c, p->reduce_s, p->reduce_room_s) +
           exposed_s(c, p->gather_s, p->gather_room_s);
}

/* With a window W, a share w of which hides communication, contention k and a last share r of a
 * link's time R, the exposed time is max(r R, R - w W) + k min(R, W). Where w <= 1 - r, neither (r
 * + k) R nor R - w W + k w W / (1 - r) is above it: they meet it where R (1 - r) = w W, and min(R,
 * W) is no less than R on the one side and w W / (1 - r) on the other. */
double calc_layers_exposed_line_s(const calc_layers_common *c, double link_s, double room_s,
                                  double share)
{
    double rest = 1 - c->last_share;
    double slow = c->terms.window_share <= rest ? c->contention : 0;
    double hidden_s = (c->last_share + (room_s > 0 ? slow : 0)) * link_s;
    double longer_s = link_s - room_s * (1 - slow / rest);
    return hidden_s + share * (longer_s - hidden_s);
}

bool calc_layers_is_longer(const calc_layers_common *c, double link_s, double room_s)
{
    return link_s * (1 - c->last_share) > room_s;
}
