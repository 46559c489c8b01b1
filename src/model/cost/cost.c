#include "model/cost/cost.h"

#include <math.h>

#include "model/cost/cost_kernel.h"
#include "model/cost/cost_times.h"
#include "model/operators/processor.h"
#include "spec/format.h"

/* What the documentation of overlap_shares.fields.h gives for absent shares. */
#define TENSOR_PAR_FUSED 0.8
#define TENSOR_PAR_ASYNC 0.5
#define EXPERT_PAR_HIDDEN 0.6

calc_cost_context calc_cost_context_for(const calc_system *system, const calc_chip *chip,
                                        const calc_exec *exec, const calc_strategy *strategy,
                                        const calc_shape *shape, calc_compat compat)
{
    calc_groups groups = calc_groups_of(exec, strategy);
    calc_datatype narrow = calc_format_datatype(strategy->matrix_datatype, strategy->datatype);
    double scaled = strategy->scaling == CALC_SCALING_BLOCK && narrow != strategy->datatype
                        ? calc_share_or(chip->block_scaled_efficiency, 1)
                        : 1;
    return (calc_cost_context){
        .system = system,
        .chip = chip,
        .strategy = strategy,
        .shape = shape,
        .training = exec->training,
        .compat = compat,
        .groups = groups,
        .matrix = &chip->matrix[narrow],
        .vector =
            &chip->vector[calc_format_datatype(strategy->vector_datatype, strategy->datatype)],
        .matrix_rate = calc_share_or(chip->sustained, 1) * scaled,
        .usage =
            system->networks[calc_collective_top_network(system, &groups.tensor)].processor_usage,
    };
}

calc_cost_context calc_cost_context_of(const calc_system *system, const calc_exec *exec,
                                       const calc_shape *shape, calc_compat compat)
{
    return calc_cost_context_for(system, &system->chip, exec, &exec->strategy, shape, compat);
}

/* ---- Overlap of tensor parallelism ----------------------------------------------------------- */

/* What the operators of a list that is summed have in common. */
typedef struct common {
    const calc_cost_context *context;
    unsigned recompute;
    bool tiled;              /* tensor-parallel communication may run in tiles */
    double share_exposed[2]; /* of what does not, forward and backward */
} common;

/* A matrix in tiles; its pass takes flop_s, mem_s and all_s alone. */
static calc_cost_tiles tiles_of(const calc_cost_context *c, double flop_s, double mem_s,
                                double all_s, double link_s)
{
    calc_cost_tiles out = {all_s, 0};
    if (link_s == 0) {
        return out;
    }
    bool theirs = calc_compat_has(c->compat, CALC_COMPAT_TILES);
    bool pipe = c->strategy->tensor_par_overlap == CALC_TENSOR_PAR_OVERLAP_PIPE;
    double tiles = c->shape->tensor_par;
    double slowed_flop_s = flop_s / (1 - c->usage);
    calc_processing_mode mode = c->chip->processing_mode;
    double slowed_s = all_s + (calc_processing_s(mode, slowed_flop_s, mem_s) -
                               calc_processing_s(mode, flop_s, mem_s));
    double link_tile_s = link_s / tiles;
    double tile_s = all_s / tiles;
    double excess_s = link_tile_s - (theirs ? slowed_flop_s : slowed_s) / tiles;
    if (excess_s > 0) {
        out.time_s = tile_s + (tiles - 1) * (slowed_s / tiles);
        out.exposed_s = (tiles - 1) * excess_s;
    } else {
        /* While it communicates its arithmetic is slower; continuous with the case above. */
        double share = theirs ? c->usage : slowed_s > 0 ? 1 - all_s / slowed_s : 0;
        out.time_s = tile_s + (tiles - 1) * tile_s + (tiles - 1) * link_tile_s * share;
    }
    out.exposed_s += pipe ? link_tile_s : 0;
    if (theirs) {
        out.time_s += pipe ? link_tile_s : 0;
        return out;
    }
    double fused = calc_share_or(c->chip->overlap.tensor_par_fused, TENSOR_PAR_FUSED);
    out.exposed_s = calc_max(out.exposed_s, link_s * (1 - fused));
    return out;
}

static calc_cost_tiles tiles_beside(const calc_cost_context *c, const calc_cost_times *matrix,
                                    calc_pass pass, double link_s)
{
    const calc_cost_work *w = &matrix->work[pass];
    return tiles_of(c, w->flop_s, w->mem_s, matrix->all_s[pass], link_s);
}

calc_cost_tiles calc_cost_tiles_of(const calc_cost_context *c, const calc_operator *matrix,
                                   calc_pass pass, double link_s)
{
    calc_kernel_source source;
    calc_cost_kernel k = calc_cost_kernel_of(c, matrix, pass, &source);
    return tiles_of(c, k.flop_s, k.mem_s, k.all_s, link_s);
}

/* Share of a pass's communication that is exposed, where it does not run in tiles. */
static double exposed_share(const calc_cost_context *c, bool backward)
{
    const calc_overlap_shares *share = &c->chip->overlap;
    double fused = calc_share_or(share->tensor_par_fused, TENSOR_PAR_FUSED);
    double async = calc_share_or(share->tensor_par_async, TENSOR_PAR_ASYNC);
    switch (c->strategy->tensor_par_overlap) {
    case CALC_TENSOR_PAR_OVERLAP_FUSED:
        return 1 - (backward ? calc_max(fused, async) : fused);
    case CALC_TENSOR_PAR_OVERLAP_ASYNC:
        return backward ? 1 - async : 1;
    default:
        return 1;
    }
}

static common common_of(const calc_cost_context *c, unsigned recompute)
{
    return (common){
        .context = c,
        .recompute = recompute,
        .tiled = calc_operator_tiled(c->strategy) && c->shape->tensor_par > 1,
        .share_exposed = {exposed_share(c, false), exposed_share(c, true)},
    };
}

static bool in_tiles(const calc_cost_context *c, const calc_operator *o)
{
    /* Shared experts hide the exchange of experts or tiles: not both. */
    bool exchange = c->strategy->expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_SHARED;
    return o->kind == CALC_OPERATOR_COLLECTIVE && o->beside != 0 &&
           calc_operator_tiled(c->strategy) && !(o->shared_expert && exchange) &&
           o[o->beside].kind == CALC_OPERATOR_MATRIX && c->shape->tensor_par > 1;
}

const calc_operator *calc_cost_tiles_beside(const calc_cost_context *c, const calc_operator *list,
                                            size_t count, size_t i)
{
    if (i > 0 && list[i - 1].beside == 1 && in_tiles(c, &list[i - 1])) {
        return &list[i - 1];
    }
    return i + 1 < count && list[i + 1].beside == -1 && in_tiles(c, &list[i + 1]) ? &list[i + 1]
                                                                                  : NULL;
}

/* ---- Communication --------------------------------------------------------------------------- */

static calc_cost_comm *comm_of(calc_cost *out, calc_operator_group group)
{
    return group == CALC_IN_TENSOR    ? &out->tensor
           : group == CALC_IN_CONTEXT ? &out->context
                                      : &out->expert;
}

static void add_comm(calc_cost_comm *sum, const calc_cost_comm *x)
{
    sum->fw_bytes += x->fw_bytes;
    sum->bw_bytes += x->bw_bytes;
    sum->re_bytes += x->re_bytes;
    sum->fw_link_s += x->fw_link_s;
    sum->bw_link_s += x->bw_link_s;
    sum->re_link_s += x->re_link_s;
    sum->fw_exposed_s += x->fw_exposed_s;
    sum->bw_exposed_s += x->bw_exposed_s;
    sum->re_exposed_s += x->re_exposed_s;
}

/* The exposed part of a pass; tiles expose as much in the last block of a chunk. */
static double exposed_s(const common *m, const calc_operator *o, const calc_cost_times *t,
                        calc_pass pass, bool tiles, double link_s)
{
    if (tiles) {
        return tiles_beside(m->context, t + o->beside, pass, t->link_s[pass]).exposed_s;
    }
    return o->group == CALC_IN_TENSOR ? link_s * m->share_exposed[pass != CALC_PASS_FW] : link_s;
}

static calc_cost_comm passes_of(const common *m, const calc_operator *o, const calc_cost_times *t,
                                bool edge)
{
    calc_cost_comm x = {0};
    const double *link_s = edge ? t->edge_s : t->link_s;
    bool tiles = m->tiled && o->group == CALC_IN_TENSOR && in_tiles(m->context, o);
    double exposed[CALC_PASS_COUNT];
    int passes = m->context->training ? CALC_PASS_COUNT : CALC_PASS_AGRAD;
    for (calc_pass pass = CALC_PASS_FW; (int)pass < passes; pass++) {
        exposed[pass] = exposed_s(m, o, t, pass, tiles, link_s[pass]);
    }
    x.fw_bytes = calc_operator_sent_bytes(o, CALC_PASS_FW, edge);
    x.fw_link_s = link_s[CALC_PASS_FW];
    x.fw_exposed_s = exposed[CALC_PASS_FW];
    if (!m->context->training) {
        return x;
    }
    x.bw_bytes = calc_operator_sent_bytes(o, CALC_PASS_AGRAD, edge);
    x.bw_link_s = link_s[CALC_PASS_AGRAD];
    x.bw_exposed_s = exposed[CALC_PASS_AGRAD];
    if (!o->repeats) {
        x.bw_bytes += calc_operator_sent_bytes(o, CALC_PASS_WGRAD, edge);
        x.bw_link_s += link_s[CALC_PASS_WGRAD];
        x.bw_exposed_s += exposed[CALC_PASS_WGRAD];
    }
    if (o->repeated_by & m->recompute) {
        calc_pass again = o->repeats ? CALC_PASS_WGRAD : CALC_PASS_FW;
        x.re_bytes = calc_operator_sent_bytes(o, again, edge);
        x.re_link_s = link_s[again];
        bool hidden = tiles && (o->repeats || o[o->beside].repeated_by & m->recompute);
        x.re_exposed_s = hidden ? x.fw_exposed_s : tiles ? x.re_link_s : exposed[again];
    }
    return x;
}

calc_cost_comm calc_cost_passes_of(const calc_cost_context *c, const calc_operator *o,
                                   unsigned recompute, bool edge)
{
    enum { BEFORE, SELF, AFTER, PLACES };
    calc_cost_times times[PLACES];
    calc_cost_links known;
    known.count = 0;
    calc_cost_times_of(c, o, 1, &known, &times[SELF]);
    if (in_tiles(c, o)) {
        calc_cost_times_of(c, o + o->beside, 1, &known, &times[SELF + o->beside]);
    }
    common m = common_of(c, recompute);
    return passes_of(&m, o, &times[SELF], edge);
}

/* A copy of x: the compiler then knows that it is not part of the sum, and adds several at once. */
static inline void add_work(calc_cost_work *sum, calc_cost_work x)
{
    sum->flop += x.flop;
    sum->flop_s += x.flop_s;
    sum->bytes += x.bytes;
    sum->mem_s += x.mem_s;
}

static void add_collective(const common *m, const calc_operator *o, const calc_cost_times *t,
                           calc_cost *out)
{
    calc_cost_comm x = passes_of(m, o, t, false);
    add_comm(comm_of(out, o->group), &x);
    if (o->hidden_by_attention) {
        out->ring_fw_s += x.fw_link_s;
        out->ring_bw_s += x.bw_link_s;
        out->ring_re_s += x.re_link_s;
    }
    if (o->group == CALC_IN_TENSOR) {
        calc_cost_comm edge = o->has_edge ? passes_of(m, o, t, true) : x;
        add_comm(&out->edge, &edge);
    }
    add_work(&out->work[CALC_PASS_FW], t->work[CALC_PASS_FW]);
    add_work(&out->work[CALC_PASS_AGRAD], t->work[CALC_PASS_AGRAD]);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* Bandwidth at which tiles take as long as the matrix beside them. */
static void require(const calc_cost_context *c, const calc_operator *tiles, calc_pass pass,
                    double flop_s, calc_cost *out)
{
    double slowed_tile_s = flop_s / (1 - c->usage) / c->shape->tensor_par;
    for (int edge = 0; edge < 2; edge++) {
        double tile_bytes = calc_operator_sent_bytes(tiles, pass, edge) / c->shape->tensor_par;
        out->required_bytes_per_s = calc_max(out->required_bytes_per_s, tile_bytes / slowed_tile_s);
    }
}

/* Times of a matrix with communication beside it.
 * @param s  filled, those of its passes */
static void slow(const common *m, const calc_operator *o, const calc_cost_times *t,
                 const calc_operator *tiles, double *s, calc_cost *out)
{
    const calc_cost_times *link = t + (tiles - o);
    int passes = m->context->training ? CALC_PASS_COUNT : CALC_PASS_AGRAD;
    for (calc_pass pass = CALC_PASS_FW; (int)pass < passes; pass++) {
        bool third = pass == CALC_PASS_WGRAD && tiles->repeats;
        if (!calc_operator_runs(o, pass)) {
            continue;
        }
        double link_s = third && !(tiles->repeated_by & m->recompute) ? 0 : link->link_s[pass];
        s[pass] = tiles_beside(m->context, t, pass, link_s).time_s;
        if (!third) {
            require(m->context, tiles, pass, t->work[pass].flop_s, out);
        }
    }
}

/* A kernel that recomputation runs again, in s. */
static void add_repeated(const common *m, const calc_operator *o, const calc_cost_times *t,
                         double s, calc_cost *out)
{
    bool attention = o->kind == CALC_OPERATOR_ATTENTION || o->kind == CALC_OPERATOR_SCORES;
    bool all = calc_compat_has(m->context->compat, CALC_COMPAT_RECOMPUTE_SUMS);
    out->re_s += s;
    out->attention_re_s += attention ? s : 0;
    out->shared_re_s += o->shared_expert ? s : 0;
    add_work(&out->re, all ? out->work[CALC_PASS_FW] : t->work[CALC_PASS_FW]);
}

/* @param tiles  communication that runs beside it, or NULL */
static void add_kernel(const common *m, const calc_operator *o, const calc_cost_times *t,
                       const calc_operator *tiles, calc_cost *out)
{
    bool attention = o->kind == CALC_OPERATOR_ATTENTION || o->kind == CALC_OPERATOR_SCORES;
    bool weighs = calc_operator_runs(o, CALC_PASS_WGRAD);
    double s[CALC_PASS_COUNT] = {t->all_s[CALC_PASS_FW], t->all_s[CALC_PASS_AGRAD],
                                 weighs ? t->all_s[CALC_PASS_WGRAD] : 0};
    if (tiles) {
        slow(m, o, t, tiles, s, out);
    }
    add_work(&out->work[CALC_PASS_FW], t->work[CALC_PASS_FW]);
    add_work(&out->work[CALC_PASS_AGRAD], t->work[CALC_PASS_AGRAD]);
    if (weighs) {
        add_work(&out->work[CALC_PASS_WGRAD], t->work[CALC_PASS_WGRAD]);
    }
    out->fw_s += s[CALC_PASS_FW];
    out->agrad_s += s[CALC_PASS_AGRAD];
    out->wgrad_s += s[CALC_PASS_WGRAD];
    if (attention) {
        out->attention_fw_s += s[CALC_PASS_FW];
        out->attention_bw_s += s[CALC_PASS_AGRAD];
    }
    if (o->shared_expert) {
        out->shared_fw_s += s[CALC_PASS_FW];
        out->shared_bw_s += s[CALC_PASS_AGRAD] + s[CALC_PASS_WGRAD];
    }
    if (o->repeated_by & m->recompute && m->context->training) {
        add_repeated(m, o, t, s[CALC_PASS_FW], out);
    }
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static double over(double time_s, double window_s)
{
    return calc_max(0, time_s - window_s);
}

static void hide_expert(const calc_cost_context *c, calc_cost *out)
{
    calc_cost_comm *e = &out->expert;
    double share = calc_share_or(c->chip->overlap.expert_par, EXPERT_PAR_HIDDEN);
    if (c->strategy->expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_SHARED) {
        e->fw_exposed_s = over(e->fw_link_s, out->shared_fw_s);
        e->bw_exposed_s = over(e->bw_link_s, out->shared_bw_s);
        e->re_exposed_s = over(e->re_link_s, out->shared_re_s);
    } else if (c->strategy->expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_BATCH) {
        e->fw_exposed_s *= 1 - share;
        e->bw_exposed_s *= 1 - share;
        e->re_exposed_s *= 1 - share;
    }
}

/* A ring runs beside the attention; all-to-alls and all-gathers come before it. */
static double beside_s(double link_s, double ring_s, double window_s)
{
    return link_s - ring_s + over(ring_s, window_s);
}

static void hide_context(calc_cost *out)
{
    calc_cost_comm *x = &out->context;
    x->fw_exposed_s = beside_s(x->fw_link_s, out->ring_fw_s, out->attention_fw_s);
    x->bw_exposed_s = beside_s(x->bw_link_s, out->ring_bw_s, out->attention_bw_s);
    x->re_exposed_s = beside_s(x->re_link_s, out->ring_re_s, out->attention_re_s);
}

void calc_cost_times_sum(const calc_cost_context *c, const calc_operator *operators,
                         const calc_cost_times *times, size_t count, unsigned recompute,
                         calc_cost *out)
{
    common m = common_of(c, recompute);
    *out = (calc_cost){0};
    for (size_t i = 0; i < count; i++) {
        const calc_operator *o = &operators[i];
        const calc_operator *tiles =
            m.tiled ? calc_cost_tiles_beside(c, operators, count, i) : NULL;
        if (o->kind == CALC_OPERATOR_COLLECTIVE) {
            add_collective(&m, o, &times[i], out);
        } else {
            add_kernel(&m, o, &times[i], tiles, out);
        }
        out->dense_weights += o->expert ? 0 : o->weights;
        out->expert_weights += o->expert ? o->weights : 0;
        out->kept_whole_bytes += o->kept_bytes;
        out->kept_bytes += o->kept_bytes - (o->dropped_by & recompute ? o->dropped_bytes : 0);
        out->working_bytes += o->working_bytes;
        out->grad_bytes += c->training ? o->grad_bytes : 0;
    }
    /* The backward pass goes from the last operator to the first, and drops what it has used. */
    double dropped_bytes = 0;
    for (size_t i = count; i-- > 0;) {
        out->passing_bytes =
            calc_max(out->passing_bytes, operators[i].passing_bytes - dropped_bytes);
        dropped_bytes += operators[i].kept_bytes;
    }
    hide_context(out);
    hide_expert(c, out);
}

void calc_cost_sum(const calc_cost_context *c, const calc_operator *operators, size_t count,
                   unsigned recompute, calc_cost *out)
{
    calc_cost_times times[CALC_MAX_OPERATORS];
    calc_cost_links known;
    known.count = 0;
    calc_cost_times_of(c, operators, count, &known, times);
    calc_cost_times_sum(c, operators, times, count, recompute, out);
}
