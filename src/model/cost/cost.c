#include "model/cost/cost.h"

#include <math.h>

#include "model/cost/cost_times.h"
#include "model/operators/processor.h"
#include "spec/format.h"

/* The values of absent shares, as documented in overlap_shares.fields.h. */
#define TENSOR_PAR_ASYNC 0.5
#define EXPERT_PAR_HIDDEN 0.6

/* The value of absent chip.row_scaled_efficiency. */
#define ROW_SCALED 0.7

calc_cost_context calc_cost_context_for(const calc_system *system, const calc_chip *chip,
                                        const calc_exec *exec, const calc_strategy *strategy,
                                        const calc_shape *shape, calc_compat compat)
{
    calc_groups groups = calc_groups_of(exec, strategy);
    calc_datatype narrow = calc_format_datatype(strategy->matrix_datatype, strategy->datatype);
    calc_scaling scaling = narrow != strategy->datatype ? strategy->scaling : CALC_SCALING_TENSOR;
    double scaled = scaling == CALC_SCALING_BLOCK ? calc_share_or(chip->block_scaled_efficiency, 1)
                    : scaling == CALC_SCALING_ROW
                        ? calc_share_or(chip->row_scaled_efficiency, ROW_SCALED)
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

/* Data common to the operators of a list that is summed. */
typedef struct common {
    const calc_cost_context *context;
    unsigned recompute;
    bool tiled;              /* tensor-parallel communication may run in tiles */
    double share_exposed[2]; /* of the others, forward and backward */
} common;

/* Share of a pass's communication that is exposed, where it does not run in tiles. */
static double exposed_share(const calc_cost_context *c, bool backward)
{
    bool async = c->strategy->tensor_par_overlap == CALC_TENSOR_PAR_OVERLAP_ASYNC ||
                 c->strategy->tensor_par_overlap == CALC_TENSOR_PAR_OVERLAP_FUSED;
    return backward && async
               ? 1 - calc_share_or(c->chip->overlap.tensor_par_async, TENSOR_PAR_ASYNC)
               : 1;
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

/* ---- Communication --------------------------------------------------------------------------- */

static void add_comm(calc_cost_comm *sum, const calc_cost_comm *x)
{
    calc_add_numbers((void *)sum, (const void *)x, sizeof *x / sizeof(double));
}

/* The exposed part of a pass; tiles expose as much in the last block of a chunk. */
static double exposed_s(const common *m, const calc_operator *o, const calc_cost_times *t,
                        calc_pass pass, bool tiles, double link_s)
{
    if (tiles) {
        return calc_cost_tiles_timed(m->context, o + o->beside, t + o->beside, pass,
                                     t->link_s[pass])
            .exposed_s;
    }
    return o->group == CALC_IN_TENSOR ? link_s * m->share_exposed[pass != CALC_PASS_FW] : link_s;
}

/* Inline: its result is summed at once. */
__attribute__((always_inline)) static inline calc_cost_comm
passes_of(const common *m, const calc_operator *o, const calc_cost_times *t, bool edge)
{
    calc_cost_comm x = {0};
    const double *link_s = edge ? t->edge_s : t->link_s;
    bool tiles = m->tiled && o->group == CALC_IN_TENSOR && calc_cost_tiles_has(m->context, o);
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
    if (calc_operator_again(o, m->recompute) > 0) {
        calc_pass again = o->repeats ? CALC_PASS_WGRAD : CALC_PASS_FW;
        /* Times of the third pass are those of the blocks that a backward pass runs through. */
        double touched = again == CALC_PASS_FW ? 1 - o->untouched : 1;
        x.re_bytes = calc_operator_sent_bytes(o, again, edge) * touched;
        x.re_link_s = link_s[again] * touched;
        bool hidden = tiles && (o->repeats || calc_operator_again(&o[o->beside], m->recompute) > 0);
        x.re_exposed_s = hidden  ? x.fw_exposed_s * (1 - o->untouched)
                         : tiles ? x.re_link_s
                                 : exposed[again] * touched;
    }
    return x;
}

calc_cost_comm calc_cost_passes_of(const calc_cost_context *c, const calc_operator *o,
                                   unsigned recompute, bool edge)
{
    enum { BEFORE, SELF, AFTER, PLACES };
    calc_cost_times times[PLACES];
    calc_cost_links known;
    calc_cost_links_start(&known);
    calc_cost_times_of(c, o, 1, &known, &times[SELF]);
    if (calc_cost_tiles_has(c, o)) {
        calc_cost_times_of(c, o + o->beside, 1, &known, &times[SELF + o->beside]);
    }
    common m = common_of(c, recompute);
    return passes_of(&m, o, &times[SELF], edge);
}

static void add_collective(const common *m, const calc_operator *o, const calc_cost_times *t,
                           calc_cost *out)
{
    calc_cost_comm x = passes_of(m, o, t, false);
    add_comm(o->group == CALC_IN_TENSOR    ? &out->tensor
             : o->group == CALC_IN_CONTEXT ? &out->context
                                           : &out->expert,
             &x);
    if (o->hidden_by_attention) {
        out->ring_fw_s += x.fw_link_s;
        out->ring_bw_s += x.bw_link_s;
        out->ring_re_s += x.re_link_s;
    }
    if (o->group == CALC_IN_TENSOR) {
        calc_cost_comm edge = o->has_edge ? passes_of(m, o, t, true) : x;
        add_comm(&out->edge, &edge);
    }
}

/* ---- Kernels --------------------------------------------------------------------------------- */

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
        s[pass] = calc_cost_tiles_timed(m->context, o, t, pass, link_s).time_s;
        /* Bandwidth at which tiles take as long as the matrix beside them. */
        double ranks = m->context->shape->tensor_par;
        double slowed_tile_s = t->work[pass].flop_s / (1 - m->context->usage) / ranks;
        for (int edge = 0; edge < 2 && !third; edge++) {
            double tile_bytes = calc_operator_sent_bytes(tiles, pass, edge) / ranks;
            out->required_bytes_per_s =
                calc_max(out->required_bytes_per_s, tile_bytes / slowed_tile_s);
        }
    }
}

/* @param tiles  communication that runs beside it, or NULL */
static void add_kernel(const common *m, const calc_operator *o, const calc_cost_times *t,
                       const calc_operator *tiles, calc_cost *out)
{
    bool attention = o->kind == CALC_OPERATOR_ATTENTION || o->kind == CALC_OPERATOR_SCORES;
    double s[CALC_PASS_COUNT] = {t->all_s[CALC_PASS_FW], t->all_s[CALC_PASS_AGRAD],
                                 t->all_s[CALC_PASS_WGRAD]};
    if (tiles) {
        slow(m, o, t, tiles, s, out);
    }
    double repeated_s =
        m->context->training ? s[CALC_PASS_FW] * calc_operator_again(o, m->recompute) : 0;
    out->fw_s += s[CALC_PASS_FW];
    out->agrad_s += s[CALC_PASS_AGRAD];
    out->wgrad_s += s[CALC_PASS_WGRAD];
    out->re_s += repeated_s;
    if (attention) {
        out->attention_fw_s += s[CALC_PASS_FW];
        out->attention_bw_s += s[CALC_PASS_AGRAD];
        out->attention_re_s += repeated_s;
    }
    out->expert_wgrad_s += o->expert ? s[CALC_PASS_WGRAD] : 0;
    if (o->shared_expert) {
        out->shared_fw_s += s[CALC_PASS_FW];
        out->shared_bw_s += s[CALC_PASS_AGRAD] + s[CALC_PASS_WGRAD];
        out->shared_re_s += repeated_s;
    }
}

/* ---- Work and memory ------------------------------------------------------------------------- */

/* By rule a repeated layer counts all before it. */
static void add_works(const common *m, const calc_operator *operators, const calc_cost_times *times,
                      size_t first, size_t end, calc_cost *out)
{
    bool all = calc_compat_has(m->context->compat, CALC_COMPAT_RECOMPUTE_SUMS);
    unsigned again = m->context->training ? m->recompute : 0;
    calc_cost_work fw = out->work[CALC_PASS_FW];
    calc_cost_work agrad = out->work[CALC_PASS_AGRAD];
    calc_cost_work wgrad = out->work[CALC_PASS_WGRAD];
    calc_cost_work re = out->re;
    for (size_t i = first; i < end; i++) {
        const calc_cost_times *t = &times[i];
        calc_cost_add_work(&fw, &t->work[CALC_PASS_FW], 1);
        calc_cost_add_work(&agrad, &t->work[CALC_PASS_AGRAD], 1);
        calc_cost_add_work(&wgrad, &t->work[CALC_PASS_WGRAD], 1);
        double share = calc_operator_again(&operators[i], again);
        if (share > 0 && operators[i].kind != CALC_OPERATOR_COLLECTIVE) {
            calc_cost_add_work(&re, all ? &fw : &t->work[CALC_PASS_FW], share);
        }
    }
    out->work[CALC_PASS_FW] = fw;
    out->work[CALC_PASS_AGRAD] = agrad;
    out->work[CALC_PASS_WGRAD] = wgrad;
    out->re = re;
}

static void add_memory(const common *m, const calc_operator *operators, size_t first, size_t end,
                       calc_cost *out)
{
    double dense = out->dense_weights, expert = out->expert_weights;
    double matrix = out->matrix_weights;
    double dense_frozen = out->dense_frozen_bytes, expert_frozen = out->expert_frozen_bytes;
    double whole = out->kept_whole_bytes, kept = out->kept_bytes;
    double working = out->working_bytes, grad = out->grad_bytes;
    for (size_t i = first; i < end; i++) {
        const calc_operator *o = &operators[i];
        double share = calc_operator_share(o);
        dense += o->expert ? 0 : share * o->weights;
        expert += o->expert ? share * o->weights : 0;
        matrix += calc_operator_narrowed(o) ? share * o->weights : 0;
        dense_frozen += o->expert ? 0 : share * o->frozen_bytes;
        expert_frozen += o->expert ? share * o->frozen_bytes : 0;
        double stored = share * (1 - o->untouched);
        whole += stored * o->kept_bytes;
        kept += stored * (o->kept_bytes - (o->dropped_by & m->recompute ? o->dropped_bytes : 0) +
                          (m->recompute & CALC_RECOMPUTE_OP ? o->saved_bytes : 0));
        working += share * o->working_bytes;
        grad += m->context->training ? share * o->grad_bytes : 0;
    }
    out->dense_weights = dense;
    out->expert_weights = expert;
    out->matrix_weights = matrix;
    out->dense_frozen_bytes = dense_frozen;
    out->expert_frozen_bytes = expert_frozen;
    out->kept_whole_bytes = whole;
    out->kept_bytes = kept;
    out->working_bytes = working;
    out->grad_bytes = grad;
}

/* The backward pass goes from the last operator to the first, and frees the data it has used. */
static double passing_bytes(const calc_operator *operators, size_t count)
{
    double dropped = 0;
    double passing = 0;
    for (size_t i = count; i-- > 0;) {
        passing = calc_max(passing, operators[i].passing_bytes - dropped);
        dropped += calc_min(1, calc_operator_share(&operators[i])) * operators[i].kept_bytes;
    }
    return passing;
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
        e->bw_exposed_s *= 1 - share; /* what is repeated runs alone, before its backward pass */
        if (c->strategy->delayed_wgrad) {
            e->bw_exposed_s = over(e->bw_exposed_s, out->expert_wgrad_s);
        }
    }
}

/* A ring runs beside the attention; all-to-alls and all-gathers come before it. */
static double beside_s(double link_s, double ring_s, double window_s)
{
    return link_s - ring_s + over(ring_s, window_s);
}

void calc_cost_hide_context(calc_cost *out)
{
    calc_cost_comm *x = &out->context;
    x->fw_exposed_s = beside_s(x->fw_link_s, out->ring_fw_s, out->attention_fw_s);
    x->bw_exposed_s = beside_s(x->bw_link_s, out->ring_bw_s, out->attention_bw_s);
    x->re_exposed_s = beside_s(x->re_link_s, out->ring_re_s, out->attention_re_s);
}

void calc_cost_times_add(const calc_cost_context *c, const calc_operator *operators,
                         const calc_cost_times *times, size_t first, size_t end, unsigned recompute,
                         calc_cost *sum)
{
    common m = common_of(c, recompute);
    for (size_t i = first; i < end; i++) {
        const calc_operator *o = &operators[i];
        const calc_operator *tiles = m.tiled ? calc_cost_tiles_beside(c, operators, end, i) : NULL;
        if (o->kind == CALC_OPERATOR_COLLECTIVE) {
            add_collective(&m, o, &times[i], sum);
        } else {
            add_kernel(&m, o, &times[i], tiles, sum);
        }
    }
    add_works(&m, operators, times, first, end, sum);
    add_memory(&m, operators, first, end, sum);
}

void calc_cost_times_end(const calc_cost_context *c, const calc_operator *operators, size_t count,
                         calc_cost *sum)
{
    sum->passing_bytes = passing_bytes(operators, count);
    calc_cost_hide_context(sum);
    hide_expert(c, sum);
}

void calc_cost_times_sum(const calc_cost_context *c, const calc_operator *operators,
                         const calc_cost_times *times, size_t count, unsigned recompute,
                         calc_cost *out)
{
    *out = (calc_cost){0};
    calc_cost_times_add(c, operators, times, 0, count, recompute, out);
    calc_cost_times_end(c, operators, count, out);
}

void calc_cost_sum(const calc_cost_context *c, const calc_operator *operators, size_t count,
                   unsigned recompute, calc_cost *out)
{
    calc_cost_times times[CALC_MAX_OPERATORS];
    calc_cost_links known;
    calc_cost_links_start(&known);
    calc_cost_times_of(c, operators, count, &known, times);
    calc_cost_times_sum(c, operators, times, count, recompute, out);
}

/* Activations of single operators in the second memory tier (offload_modules). While a module runs
 * forward, what it saves for the backward pass is copied out, and before its backward pass it is
 * copied back, on a stream per direction. Source: Megatron-LM,
 * core/pipeline_parallel/fine_grained_activation_offload.py and the modules that enter it. */

enum {
    CORE_ATTN = 1 << CALC_RECOMPUTE_MODULES_CORE_ATTN,
    /* These drop an output after the operators behind it have saved it: copied like the others. */
    DROPPED_LATE = 1 << CALC_RECOMPUTE_MODULES_LAYERNORM | 1 << CALC_RECOMPUTE_MODULES_MLA_UP_PROJ
};

calc_offload calc_offload_of(const calc_strategy *strategy, const calc_operator *operators,
                             size_t count, unsigned recompute)
{
    unsigned modules = (unsigned)strategy->offload_modules;
    calc_offload sum = {0, 0};
    if (recompute & CALC_RECOMPUTE_ALL) {
        modules = 0;
    } else if (recompute & CORE_ATTN) {
        /* Attention that runs again saves its inputs outside the module. */
        modules &= ~(1U << CALC_OFFLOAD_MODULES_CORE_ATTN);
    }
    for (size_t i = 0; i < count && modules; i++) {
        const calc_operator *o = &operators[i];
        if (o->moved_by & modules) {
            unsigned drops = o->dropped_by & recompute;
            double share = calc_operator_share(o);
            sum.away_bytes += share * (o->kept_bytes - (drops ? o->dropped_bytes : 0));
            sum.copied_bytes += share * (o->copied_bytes + o->kept_bytes -
                                         (drops & ~(unsigned)DROPPED_LATE ? o->dropped_bytes : 0));
        }
    }
    return sum;
}
