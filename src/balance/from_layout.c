#include "balance/from_layout.h"

#include <math.h>
#include <stdlib.h>

#include "balance/relaxed.h"
#include "base/make.h"
#include "model/timeline.h"
#include "spec/schedule.h"

/* ---- Layers ---------------------------------------------------------------------------------- */

/* Weights, gradients and optimizer state: the part on every rank, and its share of the sharded
 * part. */
static double state_bytes(const calc_stage_terms *t, const calc_stage_weights *w)
{
    double owned = w->dense / t->dense_shards + w->expert / t->expert_shards;
    return t->held_bytes * (w->dense + w->expert) + t->owned_bytes * owned;
}

/* What of these weights and their gradients is whole while a layer is processed. */
static double whole_bytes(const calc_stage_terms *t, const calc_stage_weights *w)
{
    return (t->gathered_ahead + t->whole_block_bytes) * (w->dense + w->expert) * t->used_share;
}

static calc_balance_layer layer_of(const calc_balance_chip *chip, int kind)
{
    const calc_stage_terms *t = &chip->full->terms;
    const calc_stage_part *b = &t->block[kind];
    calc_balance_layer out = {
        .fw_s = b->fw_s,
        .agrad_s = b->agrad_s - b->spared_s,
        .wgrad_s = b->wgrad_s,
        .again_s = {0, 0, b->spared_s},
        .held_bytes = (state_bytes(t, &b->weights) + b->narrowed_bytes) * t->used_share,
        .whole_bytes = whole_bytes(t, &b->weights),
        .flight_bytes = {b->whole_bytes * t->used_share, b->whole_bytes * t->used_share,
                         b->kept_bytes * t->used_share},
    };
    if (chip->none) {
        const calc_stage_part *kept = &chip->none->terms.block[kind];
        out.fw_s = kept->fw_s;
        out.agrad_s = kept->agrad_s;
        out.wgrad_s = kept->wgrad_s;
        out.again_fw_s = b->fw_s - kept->fw_s;
        out.again_s[CALC_BALANCE_FULL] = b->agrad_s + b->wgrad_s - (kept->agrad_s + kept->wgrad_s);
        out.flight_bytes[CALC_BALANCE_NONE] = kept->kept_bytes * t->used_share;
    }
    if (chip->selective) {
        const calc_stage_part *some = &chip->selective->terms.block[kind];
        out.again_s[CALC_BALANCE_SELECTIVE] = some->spared_s;
        out.flight_bytes[CALC_BALANCE_SELECTIVE] = some->kept_bytes * t->used_share;
    }
    return out;
}

/* a and b in the shares 1 - x and x. */
static double mean(double a, double b, double x)
{
    return a + (b - a) * x;
}

static calc_balance_layer mixed(const calc_balance_layer *a, const calc_balance_layer *b, double x)
{
    calc_balance_layer out = {
        .fw_s = mean(a->fw_s, b->fw_s, x),
        .agrad_s = mean(a->agrad_s, b->agrad_s, x),
        .wgrad_s = mean(a->wgrad_s, b->wgrad_s, x),
        .again_fw_s = mean(a->again_fw_s, b->again_fw_s, x),
        .held_bytes = mean(a->held_bytes, b->held_bytes, x),
        .whole_bytes = mean(a->whole_bytes, b->whole_bytes, x),
    };
    for (int i = 0; i < CALC_BALANCE_RECOMPUTES; i++) {
        out.again_s[i] = mean(a->again_s[i], b->again_s[i], x);
        out.flight_bytes[i] = mean(a->flight_bytes[i], b->flight_bytes[i], x);
    }
    return out;
}

static void set_layers(const calc_balance_chip *chip, int chips, calc_balance_problem *out)
{
    const calc_shape *shape = &chip[0].full->shape;
    double dense = calc_shape_alternating(shape);
    int moe = dense > 0 ? (int)shape->blocks : (int)shape->moe_blocks;
    out->chips = chips;
    out->layers[0] = (int)shape->blocks - moe;
    out->layers[1] = moe;
    for (int i = 0; i < chips; i++) {
        for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
            out->layer[i][kind] = layer_of(&chip[i], kind);
        }
        out->layer[i][1] = mixed(&out->layer[i][1], &out->layer[i][0], dense);
    }
}

/* ---- Stages ---------------------------------------------------------------------------------- */

/* A stage without its blocks. */
static calc_stage_class class_of(const calc_layout *l, int stage)
{
    size_t i = 0;
    while (i + 1 < l->stages.count && l->stages.item[i + 1].position <= stage) {
        i++;
    }
    calc_stage_class ends = l->stages.item[i];
    ends.stages = 1;
    ends.position = stage;
    ends.dense = ends.moe = 0;
    return ends;
}

/* Activations of the block being processed, with or without recomputed ones. */
static double working_bytes(const calc_layout *l, const calc_stage_class *c, bool recomputes)
{
    const double blocks[] = {c->dense, c->moe};
    double most_bytes = 0;
    for (int kind = 0; kind < CALC_STAGE_KINDS; kind++) {
        const calc_stage_part *b = &l->terms.block[kind];
        double again_bytes = recomputes ? b->whole_bytes - b->kept_bytes : 0;
        most_bytes = calc_max(most_bytes, blocks[kind] > 0 ? again_bytes + b->passing_bytes : 0);
    }
    return most_bytes;
}

static double framework_bytes(const calc_stage_terms *t, const calc_stage_class *c)
{
    return t->framework_bytes[c->dense > 0][c->moe > 0] + c->last * t->framework_head_bytes;
}

/* Working memory and the framework's, of a stage with these kinds of layers. */
static double beside_bytes(const calc_balance_chip *chip, calc_stage_class c, bool dense, bool moe,
                           bool again)
{
    const calc_layout *l = chip->full;
    double alternating = calc_shape_alternating(&l->shape);
    c.dense = dense || (moe && alternating > 0);
    c.moe = moe;
    double bytes = working_bytes(l, &c, again);
    bytes = calc_max(bytes, again ? working_bytes(l, &c, false) : 0);
    bytes = calc_max(bytes, chip->selective ? working_bytes(chip->selective, &c, true) : 0);
    bytes =
        calc_max(bytes, c.last * l->terms.head.kept_bytes); /* freed when a block is processed */
    return (bytes + framework_bytes(&l->terms, &c)) * l->terms.used_share;
}

static calc_balance_stage stage_of(const calc_balance_chip *chip, int index, int stage,
                                   const int *layers)
{
    const calc_layout *l = chip->full;
    const calc_stage_terms *t = &l->terms;
    calc_stage_class ends = class_of(l, stage);
    calc_stage_weights end = calc_stage_weights_sum(t, &ends);
    calc_balance_stage out = {.chip = index,
                              .whole_bytes = whole_bytes(t, &end),
                              .limit_bytes = l->system->chip.mem1.capacity_bytes};
    double all[2];
    for (int again = 0; again < 2; again++) {
        all[again] = beside_bytes(chip, ends, layers[0] > 0, layers[1] > 0, again);
        for (int alone = 0; alone <= CALC_BALANCE_KINDS; alone++) {
            out.less_bytes[alone][again] =
                all[again] - beside_bytes(chip, ends, alone == 0, alone == 1, again);
        }
    }
    double held = state_bytes(t, &end) + calc_stage_narrowed_bytes(t, &ends);
    out.fixed_bytes = held * t->used_share + t->reserved_bytes + all[0];
    out.working_bytes = all[1] - all[0];
    return out;
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* The chip of the place beside one, or its own where there is none. */
static const calc_layout *beside(const calc_balance_chip *chip, const calc_balance_problem *p,
                                 int place, int way)
{
    int all = (int)(p->shape.stages * p->shape.chunks);
    int other = place + way < 0 || place + way >= all ? place : place + way;
    return chip[p->stage[calc_balance_stage_of(&p->shape, other)].chip].full;
}

/* The ends of the model and the messages of one chunk. */
static calc_balance_place place_of(const calc_balance_chip *chip, const calc_balance_problem *p,
                                   int place)
{
    int stage = calc_balance_stage_of(&p->shape, place);
    const calc_balance_chip *own = &chip[p->stage[stage].chip];
    const calc_layout *l = own->none ? own->none : own->full;
    const calc_layout *next = beside(chip, p, place, 1);
    const calc_layout *before = beside(chip, p, place, -1);
    calc_stage_class stage_ends = class_of(l, stage);
    int chunk = place / (int)p->shape.stages;
    calc_stage_class ends =
        calc_stage_chunk(&l->terms, &stage_ends, p->shape.chunks, (int64_t)chunk);
    ends.dense = ends.moe = 0;
    calc_stage_links links = l->links;
    links.message_s = calc_max(links.message_s * l->exposed, next->links.message_s * next->exposed);
    links.back_message_s =
        calc_max(links.back_message_s * l->exposed, before->links.back_message_s * before->exposed);
    double chunks = l->stages.chunks / (double)p->shape.chunks;
    const calc_stage_terms *again = &own->full->terms;
    calc_stage_pass pass = calc_stage_pass_of(&l->terms, &links, &ends, chunks, 1);
    calc_stage_pass full = calc_stage_pass_of(again, &links, &ends, chunks, 1);
    return (calc_balance_place){
        .fw_s = pass.fw_s,
        .agrad_s = pass.agrad_s,
        .wgrad_s = pass.wgrad_s,
        .flight_bytes = ends.last * l->terms.head.whole_bytes * l->terms.used_share,
        .again_s = full.agrad_s - pass.agrad_s,
        .again_bytes =
            ends.last * (again->head.whole_bytes - l->terms.head.whole_bytes) * again->used_share,
    };
}

/* ---- The problem ----------------------------------------------------------------------------- */

static const char *unfit(const calc_layout *l)
{
    calc_schedule_shape shape = calc_timeline_shape(l->exec);
    calc_schedule_status status = calc_schedule_check(&shape);
    if (l->terms.compat) {
        return "by rules of Calculon's has no stages that differ";
    }
    if (!l->exec->training) {
        return "that does not train has nothing to balance";
    }
    if (l->terms.away) {
        return "that keeps something in the second memory tier has layers that wait for it";
    }
    if (calc_schedule_traits_of(shape.kind).both_ends) {
        return "under DualPipe or ZB-V has two parts of the model on its stages, which a list of "
               "stages does not say";
    }
    if (status != CALC_SCHEDULE_OK) {
        return calc_schedule_status_text(status);
    }
    if (shape.stages > CALC_BALANCE_STAGES || shape.stages * shape.chunks > CALC_BALANCE_PLACES) {
        return "has more stages or chunks than can be balanced";
    }
    bool many = l->shape.blocks > CALC_BALANCE_MOST_LAYERS;
    return many ? "has more layers than can be balanced" : NULL;
}

const char *calc_balance_of_layouts(const calc_balance_chip *chip, int chips,
                                    const int *chip_of_stage, calc_balance_problem *out)
{
    const char *why = unfit(chip[0].full);
    if (why) {
        return why;
    }
    *out = (calc_balance_problem){.shape = calc_timeline_shape(chip[0].full->exec),
                                  .may_full = true,
                                  .may_select = true,
                                  .least_layers = 1};
    set_layers(chip, chips, out);
    for (int i = 0; i < chips; i++) {
        const calc_strategy *s = &chip[i].full->exec->strategy;
        out->may_full = out->may_full && s->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
        out->may_select = out->may_select && chip[i].selective != NULL;
    }
    for (int stage = 0; stage < out->shape.stages; stage++) {
        int index = chip_of_stage ? chip_of_stage[stage] : 0;
        out->stage[stage] = stage_of(&chip[index], index, stage, out->layers);
    }
    for (int place = 0; place < out->shape.stages * out->shape.chunks; place++) {
        out->place[place] = place_of(chip, out, place);
    }
    return NULL;
}

/* ---- The step -------------------------------------------------------------------------------- */

/* A stage with its layers, and a micro-batch on it. */
static calc_stage_class divided(const calc_layout *l, const calc_balance_problem *p,
                                const calc_balance_share *share, int stage, calc_stage_pass *pass,
                                bool *again)
{
    calc_stage_class c = class_of(l, stage);
    double dense = calc_shape_alternating(&l->shape);
    *pass = (calc_stage_pass){0};
    *again = false;
    for (int chunk = 0; chunk < p->shape.chunks; chunk++) {
        int place = calc_balance_place_of(&p->shape, stage, chunk);
        calc_schedule_pass each = calc_balance_pass_of(p, place, &share[place]);
        pass->fw_s += each.fw_s;
        pass->agrad_s += each.bw_s;
        pass->wgrad_s += each.wgrad_s;
        c.dense += share[place].layers[0] + share[place].layers[1] * dense;
        c.moe += share[place].layers[1] * (1 - dense);
        *again = *again || share[place].full[0] + share[place].full[1] > 0;
    }
    return c;
}

calc_balance_end calc_balance_end_of(const calc_balance_chip *chip, const calc_balance_problem *p,
                                     const calc_balance_share *share, int stage)
{
    const calc_balance_chip *own = &chip[p->stage[stage].chip];
    calc_stage_pass pass;
    bool again;
    calc_stage_class c = divided(own->full, p, share, stage, &pass, &again);
    const calc_layout *l = own->none && !again ? own->none : own->full;
    calc_stage_weights w = calc_stage_weights_sum(&l->terms, &c);
    calc_stage_reduction r =
        calc_stage_reduction_sum(&l->terms, &l->links, &c, &w, &pass, l->stages.chunks);
    double exposed_s = calc_stage_reduction_exposed_s(&l->exec->strategy, &r);
    return (calc_balance_end){exposed_s, calc_stage_optimizer_sum(&l->terms, &c, &w)};
}

calc_balance_step calc_balance_step_of(const calc_balance_chip *chip, const calc_balance_problem *p,
                                       const calc_balance_share *share, double pipeline_s)
{
    calc_balance_step out = {.pipeline_s = pipeline_s};
    double growth = 0;
    for (int stage = 0; stage < p->shape.stages; stage++) {
        const calc_layout *l = chip[p->stage[stage].chip].full;
        calc_balance_end end = calc_balance_end_of(chip, p, share, stage);
        out.reduction_s = calc_max(out.reduction_s, end.reduction_s);
        out.optimizer_s = calc_max(out.optimizer_s, end.optimizer_s);
        out.tied_s = calc_max(out.tied_s, l->links.tied_s);
        growth = calc_max(growth, l->terms.growth);
        out.overhead_s = calc_max(out.overhead_s, l->terms.overhead_s);
    }
    out.straggler_s = pipeline_s * growth;
    out.total_s = out.reduction_s +
                  (pipeline_s + out.straggler_s + out.tied_s + out.optimizer_s + out.overhead_s);
    return out;
}

/* The shortest of what follows the pipeline on a stage, by its layers; either of one kind, all
 * recomputed or none. @param p  with one chunk per stage */
static calc_balance_end least_end(const calc_balance_chip *chip, const calc_balance_problem *p,
                                  int stage, int layers)
{
    calc_balance_share share[CALC_BALANCE_STAGES];
    calc_balance_end least = {INFINITY, INFINITY};
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        for (int full = 0; full < (p->layers[kind] == 0 ? 0 : p->may_full ? 2 : 1); full++) {
            share[stage] = (calc_balance_share){{0}, {0}, {0}};
            share[stage].layers[kind] = layers;
            share[stage].full[kind] = full ? layers : 0;
            calc_balance_end end = calc_balance_end_of(chip, p, share, stage);
            least.reduction_s = calc_min(least.reduction_s, end.reduction_s);
            least.optimizer_s = calc_min(least.optimizer_s, end.optimizer_s);
        }
    }
    return least;
}

/* The least time within which the stages get all layers done. @param take_s  [stage][layers] */
static double least_within_s(const calc_balance_problem *p, int layers, const double *take_s)
{
    double low_s = 0;
    double high_s = 0;
    for (int i = 0; i < p->shape.stages * (layers + 1); i++) {
        high_s = calc_max(high_s, take_s[i]);
    }
    for (int i = 0; i < 50; i++) {
        double middle_s = (low_s + high_s) / 2;
        int sum = 0;
        bool any = true;
        for (int stage = 0; stage < p->shape.stages && any; stage++) {
            int least = calc_balance_least_on(p, stage);
            int n = layers;
            while (n >= least && take_s[stage * (layers + 1) + n] > middle_s) {
                n--;
            }
            any = n >= least;
            sum += n;
        }
        bool enough = any && sum >= layers;
        high_s = enough ? middle_s : high_s;
        low_s = enough ? low_s : middle_s;
    }
    return low_s;
}

double calc_balance_least_end_s(const calc_balance_chip *chip, const calc_balance_problem *p)
{
    int layers = p->layers[0] + p->layers[1];
    calc_balance_problem one;
    calc_balance_joined(p, &one);
    size_t count = (size_t)p->shape.stages * (size_t)(layers + 1);
    double *reduce_s = calc_make(2 * count, sizeof *reduce_s);
    double *step_s = reduce_s + count;
    for (int stage = 0; stage < p->shape.stages; stage++) {
        for (int n = calc_balance_least_on(p, stage); n <= layers; n++) {
            calc_balance_end end = least_end(chip, &one, stage, n);
            reduce_s[stage * (layers + 1) + n] = end.reduction_s;
            step_s[stage * (layers + 1) + n] = end.optimizer_s;
        }
    }
    double least_s = least_within_s(p, layers, reduce_s) + least_within_s(p, layers, step_s);
    free(reduce_s);
    return least_s;
}

double calc_balance_score_s(const calc_balance_problem *p, const calc_balance_share *share,
                            double pipeline_s)
{
    if (!p->chip) {
        return pipeline_s;
    }
    calc_balance_step t = calc_balance_step_of(p->chip, p, share, pipeline_s);
    double more_s = t.reduction_s + t.optimizer_s - p->least_end_s;
    return pipeline_s + calc_max(0, more_s) * pipeline_s / (pipeline_s + t.straggler_s);
}

double calc_balance_least_total_s(const calc_balance_chip *chip, const calc_balance_problem *p,
                                  double score_s)
{
    double growth = 0;
    double tied_s = 0;
    double overhead_s = 0;
    for (int i = 0; i < p->chips; i++) {
        const calc_layout *l = chip[i].full;
        growth = calc_max(growth, l->terms.growth);
        tied_s = calc_max(tied_s, l->links.tied_s);
        overhead_s = calc_max(overhead_s, l->terms.overhead_s);
    }
    return score_s * (1 + growth) + p->least_end_s + tied_s + overhead_s;
}
