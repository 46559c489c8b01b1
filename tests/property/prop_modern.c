/* Laws of the model of modern transformers, on random layouts. CALC_PROPERTY_CASES says how many
   (4,000 if not given). A failure names the seed and the case: case n is what stream n of the seed
   gives. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "calc.h"
#include "cli/draw/breakdown.h"
#include "frame.h"
#include "model/cost/block.h"
#include "model/stages/stage_parts.h"
#include "model/stages/stages.h"
#include "random_modern.h"

/* What sums in a different order may differ by. */
static const double rounding = 1e-12;

static const uint64_t seed = 20240601;
static uint64_t current_case;

static uint64_t cases(void)
{
    const char *text = getenv("CALC_PROPERTY_CASES");
    return text ? strtoull(text, NULL, 10) : 4000;
}

static void must(bool holds, const char *what, double got, double want)
{
    if (!holds) {
        ck_abort_msg("seed %llu, case %llu: %s: %.17g, against %.17g", (unsigned long long)seed,
                     (unsigned long long)current_case, what, got, want);
    }
}

static bool close_to(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

static void must_be_close(const char *what, double got, double want)
{
    must(close_to(got, want, rounding), what, got, want);
}

static calc_stats run(const calc_random_layout *l)
{
    calc_errors errors = {0};
    calc_status status = calc_check(&l->app, &l->system, &l->exec, &errors);
    must(status == CALC_OK, errors.item[0].text, status, CALC_OK);
    calc_stats stats;
    calc_run(&l->app, &l->system, &l->exec, CALC_COMPAT_NONE, &stats);
    return stats;
}

static bool fits(const calc_random_layout *l)
{
    calc_shape shape =
        calc_shape_of(&l->app, &l->exec.strategy, l->exec.microbatch_size, l->exec.seq_size);
    return calc_stages_split(&shape, &l->exec, CALC_COMPAT_NONE).fit;
}

static void must_be_same_stats(const calc_random_layout *a, const calc_random_layout *b)
{
    calc_stats x = run(a), y = run(b);
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    must(x.verdict == y.verdict, "verdict", x.verdict, y.verdict);
    for (size_t i = 0; i < table->count; i++) {
        calc_field_ref ref = {CALC_KIND_STATS, &table->rows[i], table->rows[i].offset};
        double p = calc_field_number(&ref, &x), q = calc_field_number(&ref, &y);
        must(p == q || (isnan(p) && isnan(q)), table->rows[i].key, p, q);
    }
}

/* A law for one layout; it says whether the layout is one it speaks about. */
typedef bool law(const calc_random_layout *l);

typedef void maker(calc_rng *rng, calc_random_layout *out);

/* A law that speaks about fewer than a twentieth of the layouts would prove little. */
static void holds_for_layouts_of(maker *make, law *holds)
{
    uint64_t spoken = 0;
    for (current_case = 0; current_case < cases(); current_case++) {
        calc_rng rng;
        calc_random_layout l;
        calc_rng_init(&rng, seed, current_case);
        make(&rng, &l);
        spoken += holds(&l);
    }
    ck_assert_uint_ge(20 * spoken, cases());
}

static void holds_for_all_layouts(law *holds)
{
    holds_for_layouts_of(calc_random_modern_make, holds);
}

/* ---- Time ------------------------------------------------------------------------------------ */

/* There is memory for everything. */
static calc_verdict expected(const calc_random_layout *l)
{
    const calc_exec *e = &l->exec;
    bool offloads = e->strategy.weight_offload || e->strategy.activations_offload ||
                    e->strategy.optimizer_offload;
    calc_stage_stats stage[8]; /* pipelines are no longer */
    size_t count = calc_each_stage(&l->app, &l->system, e, CALC_COMPAT_NONE, stage, 8);
    bool few = false;
    for (size_t i = 0; i < count; i++) {
        few = few || stage[i].blocks < 3;
    }
    return !fits(l)          ? CALC_VERDICT_INTERLEAVING
           : offloads && few ? CALC_VERDICT_OFFLOAD_BLOCKS
                             : CALC_VERDICT_OK;
}

static bool law_finite(const calc_random_layout *l)
{
    calc_stats s = run(l);
    bool fit = fits(l);
    must(s.verdict == expected(l), "verdict", s.verdict, expected(l));
    must(fit ? isfinite(s.total_time) && s.total_time > 0 : isnan(s.total_time), "total_time",
         s.total_time, fit);
    must(isfinite(s.mem_allocated) && s.mem_allocated > 0, "mem_allocated", s.mem_allocated, fit);
    must(!(s.bubble_time < 0), "bubble_time", s.bubble_time, 0);
    return fit;
}

CALC_TEST(time_is_known_and_positive_where_the_blocks_fit)
{
    holds_for_all_layouts(law_finite);
}

static bool law_total_is_sum(const calc_random_layout *l)
{
    calc_stats s = run(l);
    if (s.verdict != CALC_VERDICT_OK) {
        return false;
    }
    double part[CALC_BREAKDOWN_TIMES], sum = 0;
    calc_breakdown_times(&s, part);
    for (int i = 0; i < CALC_BREAKDOWN_TIMES; i++) {
        sum += part[i];
    }
    must(close_to(s.total_time, sum, 1e-9), "total_time", s.total_time, sum);
    return true;
}

CALC_TEST(total_time_is_the_sum_of_its_parts)
{
    holds_for_all_layouts(law_total_is_sum);
}

static void halve(double *time_s)
{
    *time_s /= 2;
}

static void halve_rate(calc_op_rate *rate)
{
    halve(&rate->latency_fixed_s);
    halve(&rate->latency_step_s);
}

/* Twice the rates, half of every fixed time. */
static void speed_up(calc_system *s)
{
    for (int type = 0; type < CALC_DATATYPE_COUNT; type++) {
        s->chip.matrix[type].flop_per_s *= 2;
        s->chip.vector[type].flop_per_s *= 2;
    }
    s->chip.mem1.bytes_per_s *= 2;
    s->chip.mem2.bytes_per_s *= 2;
    for (int64_t i = 0; i < s->networks_count; i++) {
        calc_network *n = &s->networks[i];
        n->bytes_per_s *= 2;
        halve(&n->latency_s);
        halve(&n->latency_log2_s);
        halve(&n->hop_s);
        halve_rate(&n->op_parameters.p2p);
        halve_rate(&n->op_parameters.reduce_scatter);
        halve_rate(&n->op_parameters.all_gather);
        halve_rate(&n->op_parameters.all_reduce);
        halve_rate(&n->op_parameters.all_to_all);
    }
    halve(&s->chip.attention.launch_s);
    halve(&s->chip.launch.matrix_s);
    halve(&s->chip.launch.vector_s);
    halve(&s->chip.host.block_s);
    halve(&s->chip.host.moe_block_s);
    halve(&s->chip.host.expert_s);
    halve(&s->step_overhead_s);
}

static bool law_scales(const calc_random_layout *l)
{
    calc_random_layout fast = *l;
    speed_up(&fast.system);
    calc_stats before = run(l), after = run(&fast);
    if (before.verdict != CALC_VERDICT_OK) {
        return false;
    }
    double slow_part[CALC_BREAKDOWN_TIMES], fast_part[CALC_BREAKDOWN_TIMES];
    calc_breakdown_times(&before, slow_part);
    calc_breakdown_times(&after, fast_part);
    must_be_close("total_time", after.total_time, before.total_time / 2);
    for (int i = 0; i < CALC_BREAKDOWN_TIMES; i++) {
        double slack = rounding * before.total_time;
        must(fabs(fast_part[i] - slow_part[i] / 2) <= slack, "part", fast_part[i], slow_part[i]);
    }
    must_be_close("MFU", after.model_flops_utilization, before.model_flops_utilization);
    return true;
}

CALC_TEST(twice_the_rates_and_half_the_latencies_are_half_the_time)
{
    holds_for_all_layouts(law_scales);
}

static void must_not_be_slower(const calc_random_layout *fast, double before_s, const char *what)
{
    double after_s = run(fast).total_time;
    must(after_s <= before_s * (1 + rounding), what, after_s, before_s);
}

/* A block that waits for the host takes as long whatever is quicker in it, but its passes share the
   waiting otherwise, and with them the bubble of schedules that are not symmetric, or of stages
   that are not: the first one encodes images. */
static bool host_shapes_bubble(const calc_exec *e, const calc_stats *s)
{
    bool plain = e->pipeline_schedule <= CALC_PIPELINE_SCHEDULE_GPIPE &&
                 e->strategy.images_per_sequence <= 0;
    return s->host_time > 0 && (!plain || e->pipeline_interleaving > 1);
}

/* Where the model itself does not promise it: schedules that fill the bubble with weight gradients,
   quicker ones of which leave more of it; fewer micro-batches than stages, where the bound of
   uneven stages is not one; and gradients or gathered weights that hide behind a stage which is
   not the slowest, or behind a pass that waits for the host. */
static bool may_be_slower(const calc_exec *e, const calc_stats *s)
{
    bool filled = e->pipeline_schedule > CALC_PIPELINE_SCHEDULE_GPIPE;
    bool few = s->num_microbatches < (double)e->pipeline_par;
    bool hides = e->strategy.data_par_overlap ||
                 e->strategy.param_gather_overlap == CALC_CHOICE_TRUE ||
                 (e->strategy.zero_stage == 3 && s->host_time > 0);
    return filled || few || hides || host_shapes_bubble(e, s);
}

static bool law_faster(const calc_random_layout *l)
{
    calc_stats s = run(l);
    if (s.verdict != CALC_VERDICT_OK || may_be_slower(&l->exec, &s)) {
        return false;
    }
    calc_random_layout fast = *l;
    for (int type = 0; type < CALC_DATATYPE_COUNT; type++) {
        fast.system.chip.matrix[type].flop_per_s *= 1.7;
    }
    must_not_be_slower(&fast, s.total_time, "total_time with faster matrices");
    for (int64_t i = 0; i < l->system.networks_count; i++) {
        fast = *l;
        fast.system.networks[i].bytes_per_s *= 1.7;
        must_not_be_slower(&fast, s.total_time, "total_time with more bandwidth");
    }
    fast = *l;
    fast.system.chip.mem1.bytes_per_s *= 1.7;
    must_not_be_slower(&fast, s.total_time, "total_time with faster memory");
    fast = *l;
    fast.system.chip.launch.matrix_s = fast.system.chip.launch.vector_s =
        fast.system.chip.host.block_s = 0;
    fast.system.chip.attention.launch_s = 0;
    must_not_be_slower(&fast, s.total_time, "total_time without launches");
    return true;
}

CALC_TEST(a_faster_machine_is_not_slower)
{
    holds_for_all_layouts(law_faster);
}

/* ---- Sizes of one ---------------------------------------------------------------------------- */

static bool law_ones(const calc_random_layout *l)
{
    calc_random_layout ones = *l, none = *l;
    if (l->exec.strategy.context_par > 1 && l->exec.strategy.expert_par > 1) {
        return false;
    }
    if (l->exec.strategy.context_par <= 1) {
        ones.exec.strategy.context_par = 1;
        none.exec.strategy.context_par = 0;
    }
    if (l->exec.strategy.expert_par <= 1) {
        ones.exec.strategy.expert_par = 1;
        none.exec.strategy.expert_par = 0;
    }
    if (l->exec.strategy.expert_tensor_par <= 1) {
        ones.exec.strategy.expert_tensor_par = 1;
        none.exec.strategy.expert_tensor_par = 0;
    }
    must_be_same_stats(&ones, &none);
    return true;
}

CALC_TEST(a_size_of_one_is_no_parallelism_at_all)
{
    holds_for_all_layouts(law_ones);
}

static bool law_classic_ones(const calc_random_layout *l)
{
    calc_random_layout ones = *l;
    ones.exec.strategy.context_par = ones.exec.strategy.expert_par =
        ones.exec.strategy.expert_tensor_par = 1;
    must_be_same_stats(&ones, l);
    return true;
}

CALC_TEST(sizes_of_one_leave_calculons_layouts_as_they_are)
{
    holds_for_layouts_of(calc_random_layout_make, law_classic_ones);
}

/* Networks that are not named are those of the groups they belong to. */
static bool law_networks(const calc_random_layout *l)
{
    calc_random_layout named = *l;
    calc_exec *e = &named.exec;
    e->strategy.context_par_net =
        e->strategy.context_par_net < 0 ? e->strategy.tensor_par_net : e->strategy.context_par_net;
    e->strategy.expert_par_net =
        e->strategy.expert_par_net < 0 ? e->strategy.data_par_net : e->strategy.expert_par_net;
    e->strategy.expert_tensor_par_net = e->strategy.expert_tensor_par_net < 0
                                            ? e->strategy.tensor_par_net
                                            : e->strategy.expert_tensor_par_net;
    e->strategy.expert_data_par_net = e->strategy.expert_data_par_net < 0
                                          ? e->strategy.data_par_net
                                          : e->strategy.expert_data_par_net;
    must_be_same_stats(&named, l);
    return l->exec.rank_order == CALC_RANK_ORDER_NETWORKS;
}

CALC_TEST(networks_that_are_not_named_are_those_of_the_dense_groups)
{
    holds_for_all_layouts(law_networks);
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static bool law_folding(const calc_random_layout *l)
{
    calc_groups g = calc_groups_of(&l->exec, &l->exec.strategy);
    double procs = (double)l->exec.num_procs, p = (double)l->exec.pipeline_par;
    must(g.tensor.ranks * g.dense_data.ranks * p == procs, "dense ranks", g.dense_data.ranks,
         procs);
    must(g.expert.ranks * g.expert_tensor.ranks * g.expert_data.ranks * p == procs, "expert ranks",
         g.expert_data.ranks, procs);
    must(g.context.ranks * (double)l->exec.strategy.data_par == g.dense_data.ranks, "context ranks",
         g.context.ranks, g.dense_data.ranks);
    bool placed = l->exec.rank_order != CALC_RANK_ORDER_NETWORKS;
    must(placed == (g.tensor.stride > 0), "stride", g.tensor.stride, placed);
    if (placed) { /* a stage's ranks, whichever way they are factored, and all stages fill the line
                   */
        double stage = procs / p;
        bool inside = l->exec.rank_order == CALC_RANK_ORDER_TP_CP_EP_PP_DP;
        must(g.pipeline.stride == (inside ? g.tensor.ranks * g.context.ranks : stage),
             "pipeline stride", g.pipeline.stride, stage);
        must(g.expert_data.stride * g.expert_data.ranks == (inside ? procs : stage),
             "expert replicas", g.expert_data.stride, stage);
    }
    return true;
}

CALC_TEST(experts_fold_into_the_ranks_of_a_stage)
{
    holds_for_all_layouts(law_folding);
}

/* Bytes a rank sends in the context operators of a block in a pass. */
static double context_bytes(const calc_random_layout *l, const calc_shape *shape, bool forward)
{
    calc_operator o[CALC_MAX_OPERATORS];
    calc_block_kind kind = shape->moe_blocks > 0 ? CALC_MOE_BLOCK : CALC_DENSE_BLOCK;
    calc_cost_context context = calc_cost_context_of(&l->system, &l->exec, shape, CALC_COMPAT_NONE);
    size_t count = calc_block_operators(&context, kind, o);
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (o[i].kind != CALC_OPERATOR_COLLECTIVE || o[i].group != CALC_IN_CONTEXT) {
            continue;
        }
        calc_pass first = forward ? CALC_PASS_FW : CALC_PASS_AGRAD;
        calc_pass last = forward ? CALC_PASS_FW : CALC_PASS_WGRAD;
        double ranks = o[i].sub_ranks > 0 ? o[i].sub_ranks : shape->context_par;
        for (calc_pass pass = first; pass <= last; pass++) {
            double share = o[i].op[pass] == CALC_OP_NONE  ? 0
                           : o[i].op[pass] == CALC_OP_P2P ? 1
                                                          : (ranks - 1) / ranks;
            sum += o[i].times[pass] * o[i].message_bytes * share;
        }
    }
    return sum;
}

/* In units of keys and values of a rank's tokens: a ring sends c - 1, and twice that backward; so
   does an all-gather, which gathers once more backward. All-to-alls send (c - 1) / c of queries,
   keys, values and outputs, both ways. */
static bool law_context_bytes(const calc_random_layout *l)
{
    calc_shape s =
        calc_shape_of(&l->app, &l->exec.strategy, l->exec.microbatch_size, l->exec.seq_size);
    double c = s.context_par;
    if (c <= 1 || l->exec.strategy.context_par_type == CALC_CONTEXT_PAR_TYPE_HIERARCHICAL) {
        return false;
    }
    const calc_app *a = &l->app;
    bool latent = a->kv_lora_rank > 0;
    double t = (double)l->exec.strategy.tensor_par;
    double qk = (double)(latent ? a->qk_nope_size + a->qk_rope_size : a->attn_size);
    double v = (double)(latent ? a->v_size : a->attn_size);
    double heads = (double)a->attn_heads / t;
    double groups = latent || a->kv_heads == 0 ? heads : fmax(1, (double)a->kv_heads / t);
    double bytes = l->exec.strategy.datatype == CALC_DATATYPE_FLOAT32 ? 4 : 2;
    double tokens = (double)l->exec.microbatch_size * (double)a->seq_size / c;
    double keys = tokens * groups * (qk + v) * bytes;
    double fw = (c - 1) * keys, bw = 2 * (c - 1) * keys;
    if (l->exec.strategy.context_par_type == CALC_CONTEXT_PAR_TYPE_ULYSSES) {
        fw = bw = (c - 1) / c * (keys + tokens * heads * (qk + v) * bytes);
    }
    must_be_close("forward context bytes", context_bytes(l, &s, true), fw);
    must_be_close("backward context bytes", context_bytes(l, &s, false), bw);
    return true;
}

CALC_TEST(context_ranks_send_what_their_type_says)
{
    holds_for_all_layouts(law_context_bytes);
}

/* ---- Weights --------------------------------------------------------------------------------- */

/* Weights of a block that every tensor-parallel rank has in whole. */
static double replicated_weights(const calc_shape *s, bool moe)
{
    double t = s->tensor_par;
    double norms =
        2 * (s->rms ? 1 : 2) * s->hidden + (s->qk_norm && !s->latent ? 2 * s->qk_size : 0);
    double latents =
        s->latent ? (s->q_rank + s->kv_rank) * (1 + s->hidden) + s->rope_size * s->hidden : 0;
    double keys_again = s->latent ? 0 : t * s->local_kv_heads - s->kv_heads;
    double repeated = keys_again * (s->qk_size + s->v_size) * (s->hidden + s->bias);
    double biases = s->bias ? (moe ? 1 : 2) * s->hidden : 0;
    double router = moe ? s->experts * (s->hidden + s->router_bias + s->bias) : 0;
    double expert_biases = moe && s->bias ? (s->expert_tensor_par - 1) * s->experts * s->hidden : 0;
    return (t - 1) * (norms + latents + biases + router) + repeated + expert_biases;
}

static bool law_weights(const calc_random_layout *l)
{
    calc_shape s =
        calc_shape_of(&l->app, &l->exec.strategy, l->exec.microbatch_size, l->exec.seq_size);
    calc_stages stages = calc_stages_split(&s, &l->exec, CALC_COMPAT_NONE);
    if (!stages.fit || l->exec.strategy.trained != CALC_TRAINED_ALL ||
        l->exec.strategy.encoder_trained != CALC_ENCODER_TRAINED_ALL) {
        return false;
    }
    calc_cost_context context = calc_cost_context_of(&l->system, &l->exec, &s, CALC_COMPAT_NONE);
    calc_stage_parts parts;
    calc_stage_parts_of(&context, &parts);
    calc_stage_lines lines = calc_stage_lines_of(&l->system, &l->exec, &l->exec.strategy,
                                                 &context.groups, calc_stage_message_bytes(&s));
    calc_stage_terms terms;
    calc_stage_links links;
    calc_stage_terms_of(&context, &l->exec, &parts, &lines, &terms, &links);
    double held = 0, t = s.tensor_par;
    for (size_t i = 0; i < stages.count; i++) {
        calc_stage_weights w = calc_stage_weights_sum(&terms, &stages.item[i]);
        held +=
            stages.item[i].stages * (t * w.dense + s.expert_par * s.expert_tensor_par * w.expert);
    }
    calc_parameters count;
    calc_count_parameters(&l->app, &count);
    double norm = (s.rms ? 1 : 2) * s.hidden, moe = s.moe_blocks;
    double want = count.attention + count.mlp + count.experts + count.norm - norm;
    want += (s.blocks - moe) * replicated_weights(&s, false) + moe * replicated_weights(&s, true);
    if (s.vocab > 0) {
        bool one_table = s.tied && l->exec.pipeline_par == 1;
        double positions = s.learned ? t * s.seq : 0; /* every rank has them all */
        want += ((one_table ? 1 : 2) * s.vocab + positions) * s.hidden + t * norm;
    }
    want += t * count.encoder; /* whole on every rank */
    double joined = 2 * s.hidden * s.hidden + 3 * norm;
    want += count.mtp + s.mtp_blocks * ((t - 1) * joined + replicated_weights(&s, s.experts > 0));
    must_be_close("weights of all ranks", held, want);
    return true;
}

CALC_TEST(ranks_have_all_weights_and_what_is_replicated)
{
    holds_for_all_layouts(law_weights);
}

static bool law_blocks(const calc_random_layout *l)
{
    calc_shape s =
        calc_shape_of(&l->app, &l->exec.strategy, l->exec.microbatch_size, l->exec.seq_size);
    calc_stages stages = calc_stages_split(&s, &l->exec, CALC_COMPAT_NONE);
    double blocks = 0, moe = 0, count = 0;
    bool ends = s.vocab > 0 || s.encoder || s.mtp_blocks > 0 ||
                l->exec.pipeline_balance == CALC_PIPELINE_BALANCE_ENDS;
    for (size_t i = 0; i < stages.count; i++) {
        const calc_stage_class *c = &stages.item[i];
        must(c->position == count, "position", c->position, count);
        must(c->dense >= 0 && c->moe >= 0, "blocks of a stage", c->dense, c->moe);
        double share = 1 / (double)l->exec.pipeline_par;
        double first = stages.ends_spread ? share : ends && i == 0;
        double last = stages.ends_spread ? share : ends && i + 1 == stages.count;
        must(c->first == first && c->last == last, "end", c->first, c->last);
        blocks += c->stages * (c->dense + c->moe);
        moe += c->stages * c->moe;
        count += c->stages;
    }
    must(count == (double)l->exec.pipeline_par, "stages", count, (double)l->exec.pipeline_par);
    must_be_close("blocks", blocks, s.blocks);
    must_be_close("blocks with experts", moe, s.moe_blocks);
    return stages.fit;
}

CALC_TEST(stages_have_all_blocks_of_each_kind)
{
    holds_for_all_layouts(law_blocks);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static double sum_of_spaces(const calc_random_layout *l, const calc_stats *s, int tier)
{
    double part[CALC_BREAKDOWN_SPACES], sum = 0;
    calc_breakdown_spaces(&l->exec, s, tier, part);
    for (int i = 0; i < CALC_BREAKDOWN_SPACES; i++) {
        must(part[i] >= 0, "part of a tier", part[i], 0);
        sum += part[i];
    }
    return sum;
}

static bool law_memory(const calc_random_layout *l)
{
    calc_stats s = run(l);
    calc_random_layout bounded = *l;
    double parts = sum_of_spaces(l, &s, 1);
    must_be_close("mem_allocated", s.mem_allocated, parts - s.mem_overhead);
    must_be_close("proc_mem_tier1_cap_req", s.proc_mem_tier1_cap_req, parts);
    must_be_close("proc_mem_tier2_cap_req", s.proc_mem_tier2_cap_req, sum_of_spaces(l, &s, 2));
    if (s.verdict != CALC_VERDICT_OK) {
        return false;
    }
    bounded.system.chip.mem1.capacity_bytes = s.proc_mem_tier1_cap_req;
    calc_stats exact = run(&bounded);
    must(exact.verdict == CALC_VERDICT_OK, "verdict with just enough", exact.verdict, 0);
    must(exact.total_time == s.total_time, "total_time", exact.total_time, s.total_time);
    bounded.system.chip.mem1.capacity_bytes = nextafter(s.proc_mem_tier1_cap_req, 0);
    calc_stats little = run(&bounded);
    must(little.verdict == CALC_VERDICT_MEM1_CAPACITY, "verdict with too little", little.verdict,
         0);
    return true;
}

CALC_TEST(memory_is_the_sum_of_its_parts_and_decides_alone)
{
    holds_for_all_layouts(law_memory);
}

/* Any number of micro-batches that the schedule can do, so that classes of equal stages hold more
   in their middle. */
static void any_schedule(calc_rng *rng, calc_random_layout *l)
{
    calc_random_modern_make(rng, l);
    calc_exec *e = &l->exec;
    bool dual = e->pipeline_schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE ||
                e->pipeline_schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
    e->training = true;
    if (e->strategy.dispatch_type == CALC_DISPATCH_TYPE_REPLICATED) {
        e->strategy.dispatch_type = CALC_DISPATCH_TYPE_ALL_TO_ALL;
    }
    if (!dual) {
        uint32_t most = (uint32_t)(4 * e->pipeline_par);
        e->batch_size = e->strategy.data_par * e->microbatch_size * (1 + calc_rng_below(rng, most));
    }
}

static bool law_fullest(const calc_random_layout *l)
{
    calc_stage_stats stage[8];
    calc_stats s = run(l);
    size_t count = calc_each_stage(&l->app, &l->system, &l->exec, CALC_COMPAT_NONE, stage, 8);
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, stage[i].mem_tier1);
    }
    must(s.proc_mem_tier1_cap_req == most, "the fullest stage", s.proc_mem_tier1_cap_req, most);
    double there = stage[(size_t)s.peak_stage].mem_tier1;
    must(there == most, "the stage of the peak", there, most);
    return count > 1 && l->exec.pipeline_schedule != CALC_PIPELINE_SCHEDULE_1F1B;
}

CALC_TEST(no_stage_needs_more_than_the_peak)
{
    holds_for_layouts_of(any_schedule, law_fullest);
}

/* Nothing is lost on the way between the tiers, and it takes time; what runs beside a pass may hide
   behind the waiting. */
static bool law_offload(const calc_random_layout *l)
{
    const calc_exec *e = &l->exec;
    if (!e->strategy.weight_offload && !e->strategy.activations_offload &&
        !e->strategy.optimizer_offload && !e->strategy.offload_modules) {
        return false;
    }
    calc_random_layout none = *l;
    none.exec.strategy.offload_modules = 0;
    none.exec.strategy.weight_offload = none.exec.strategy.activations_offload =
        none.exec.strategy.optimizer_offload = false;
    calc_stats with = run(l), without = run(&none);
    double slack = rounding * without.total_time;
    /* With fewer micro-batches than stages the bound of uneven stages is not one. */
    bool hides = e->strategy.data_par_overlap || e->strategy.param_gather_overlap ||
                 e->strategy.zero_stage == 3 || without.num_microbatches < (double)e->pipeline_par;
    must(hides || !(with.total_time < without.total_time - slack), "total_time", with.total_time,
         without.total_time);
    /* Gradients that are whole on every rank are shared in the second tier. */
    bool shared = e->strategy.grad_offload && e->strategy.optimizer_offload;
    must(shared || with.proc_mem_tier1_cap_req + with.proc_mem_tier2_cap_req * 1.2 >=
                       without.proc_mem_tier1_cap_req * (1 - rounding),
         "both tiers", with.proc_mem_tier1_cap_req, without.proc_mem_tier1_cap_req);
    must(without.proc_mem_tier2_cap_req == 0, "tier 2", without.proc_mem_tier2_cap_req, 0);
    return with.verdict == CALC_VERDICT_OK;
}

CALC_TEST(what_is_offloaded_is_in_the_other_tier)
{
    holds_for_all_layouts(law_offload);
}

/* What runs beside it may hide behind the repetition: communication of replicas is excluded; and
   what is not kept need not go to the second tier. */
static bool law_recompute(const calc_random_layout *l)
{
    const calc_exec *e = &l->exec;
    if (e->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_NONE) {
        return false;
    }
    calc_random_layout none = *l;
    none.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    none.exec.strategy.recompute_modules = 0;
    calc_stats with = run(l), without = run(&none);
    /* selective_op also saves results that no backward pass reads. */
    must(with.block_act_storage_space <= without.block_act_storage_space ||
             e->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_SELECTIVE_OP,
         "block_act_storage_space", with.block_act_storage_space, without.block_act_storage_space);
    must(without.recompute_time == 0, "recompute_time", without.recompute_time, 0);
    bool hides = e->strategy.data_par_overlap || e->strategy.param_gather_overlap ||
                 e->strategy.zero_stage == 3 || e->strategy.activations_offload ||
                 e->strategy.offload_modules || e->strategy.weight_offload ||
                 host_shapes_bubble(e, &without);
    must(hides || !(with.total_time < without.total_time * (1 - rounding)), "total_time",
         with.total_time, without.total_time);
    return true;
}

CALC_TEST(recomputation_keeps_less_and_takes_longer)
{
    holds_for_all_layouts(law_recompute);
}
