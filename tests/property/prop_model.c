/* Laws of the model, on random layouts. CALC_PROPERTY_CASES says how many (2,000 if not given).
   A failure names the seed and the case: case n is what stream n of the seed gives. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "calc.h"
#include "frame.h"
#include "random_layout.h"

/* What sums in a different order may differ by. */
static const double rounding = 1e-12;

static const uint64_t seed = 20231112;
static uint64_t current_case;

static uint64_t cases(void)
{
    const char *text = getenv("CALC_PROPERTY_CASES");
    return text ? strtoull(text, NULL, 10) : 2000;
}

static void must(bool holds, const char *what, double got, double want)
{
    if (!holds) {
        ck_abort_msg("seed %llu, case %llu: %s: %.17g, against %.17g", (unsigned long long)seed,
                     (unsigned long long)current_case, what, got, want);
    }
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool close_to(double a, double b)
{
    return fabs(a - b) <= rounding * fmax(fabs(a), fabs(b));
}

static calc_stats run(const calc_random_layout *l, calc_compat compat)
{
    calc_errors errors = {0};
    calc_status status = calc_check(&l->app, &l->system, &l->exec, &errors);
    must(status == CALC_OK, errors.item[0].text, status, CALC_OK);
    calc_stats stats;
    calc_verdict verdict = calc_run(&l->app, &l->system, &l->exec, compat, &stats);
    must(verdict == CALC_VERDICT_OK, "verdict", verdict, CALC_VERDICT_OK);
    return stats;
}

/* Every law holds for Calculon's model; some for the others, too. */
static const calc_compat sets[] = {CALC_COMPAT_REPAIRED, CALC_COMPAT_CALCULON, CALC_COMPAT_NONE};
enum { THEIRS = 2, SETS = 3 };

static double stat(const calc_stats *stats, const calc_field *field)
{
    calc_field_ref ref = {CALC_KIND_STATS, field, field->offset};
    return calc_field_number(&ref, stats);
}

/* A law for one layout; it says whether the layout is one it speaks about. */
typedef bool law(const calc_random_layout *l);

/* A law that speaks about fewer than a twentieth of the layouts would prove little. */
static void holds_for_all_layouts(law *holds)
{
    uint64_t spoken = 0;
    for (current_case = 0; current_case < cases(); current_case++) {
        calc_rng rng;
        calc_random_layout l;
        calc_rng_init(&rng, seed, current_case);
        calc_random_layout_make(&rng, &l);
        spoken += holds(&l);
    }
    ck_assert_uint_ge(20 * spoken, cases());
}

/* ---- Times ----------------------------------------------------------------------------------- */

static bool law_total_is_sum(const calc_random_layout *l)
{
    calc_stats s = run(l, CALC_COMPAT_REPAIRED);
    double sum = s.fw_time + s.bw_time + s.optim_step_time + s.fw_offload_exposed_time +
                 s.bw_offload_exposed_time + s.recompute_time + s.recomm_exposed_time +
                 s.bubble_time + s.tp_comm_exposed_time + s.pp_comm_exposed_time +
                 s.dp_comm_exposed_time;
    must(close_to(s.total_time, sum), "total_time", s.total_time, sum);
    return true;
}

CALC_TEST(total_time_is_the_sum_of_its_eleven_terms)
{
    holds_for_all_layouts(law_total_is_sum);
}

/* What a statistic is multiplied by when all rates double. */
static double unit_factor(const char *unit)
{
    if (unit == NULL) {
        return 1;
    }
    static const char *const of_time[] = {"s", "h", "days", "USD", "J"};
    size_t length = strlen(unit);
    for (size_t i = 0; i < sizeof of_time / sizeof *of_time; i++) {
        if (strcmp(unit, of_time[i]) == 0) {
            return 0.5;
        }
    }
    return length > 2 && strcmp(unit + length - 2, "/s") == 0 ? 2 : 1;
}

/* Two is a power of two: not one bit of a fraction may change. */
static bool law_scales(const calc_random_layout *l)
{
    calc_random_layout fast = *l;
    for (int type = 0; type < CALC_DATATYPE_COUNT; type++) {
        fast.system.chip.matrix[type].flop_per_s *= 2;
        fast.system.chip.vector[type].flop_per_s *= 2;
    }
    fast.system.chip.mem1.bytes_per_s *= 2;
    fast.system.chip.mem2.bytes_per_s *= 2;
    for (int64_t i = 0; i < fast.system.networks_count; i++) {
        fast.system.networks[i].bytes_per_s *= 2;
        fast.system.networks[i].latency_s /= 2;
    }
    for (int set = 0; set < THEIRS; set++) {
        calc_stats before = run(l, sets[set]);
        calc_stats after = run(&fast, sets[set]);
        const calc_table *table = calc_table_of(CALC_KIND_STATS);
        for (size_t i = 0; i < table->count; i++) {
            const calc_field *field = &table->rows[i];
            double want = stat(&before, field) * unit_factor(field->unit);
            must(same(stat(&after, field), want), field->key, stat(&after, field), want);
        }
    }
    return true;
}

CALC_TEST(every_statistic_scales_with_its_unit_when_all_rates_double)
{
    holds_for_all_layouts(law_scales);
}

/* Overlap is excluded: where communication is just hidden the equations jump from exposed time to
   slowed computation, and a little more bandwidth may take longer. */
static bool law_bandwidth(const calc_random_layout *l)
{
    if (l->exec.strategy.data_par_overlap ||
        l->exec.strategy.tensor_par_overlap != CALC_TENSOR_PAR_OVERLAP_NONE) {
        return false;
    }
    double before = run(l, CALC_COMPAT_REPAIRED).total_time;
    for (int64_t i = 0; i < l->system.networks_count; i++) {
        calc_random_layout fast = *l;
        fast.system.networks[i].bytes_per_s *= 1.7;
        double after = run(&fast, CALC_COMPAT_REPAIRED).total_time;
        must(after <= before * (1 + rounding), "total_time with more bandwidth", after, before);
    }
    return true;
}

CALC_TEST(more_bandwidth_never_takes_longer_without_overlap)
{
    holds_for_all_layouts(law_bandwidth);
}

static bool law_tensor_par_1(const calc_random_layout *l)
{
    if (l->exec.strategy.tensor_par > 1) {
        return false;
    }
    calc_stats s = run(l, CALC_COMPAT_REPAIRED);
    must(s.tp_comm_link_time == 0, "tp_comm_link_time", s.tp_comm_link_time, 0);
    must(s.tp_comm_exposed_time == 0, "tp_comm_exposed_time", s.tp_comm_exposed_time, 0);
    must(s.recomm_link_time == 0, "recomm_link_time", s.recomm_link_time, 0);
    must(s.recomm_exposed_time == 0, "recomm_exposed_time", s.recomm_exposed_time, 0);
    return true;
}

CALC_TEST(one_tensor_rank_has_no_tensor_parallel_communication)
{
    holds_for_all_layouts(law_tensor_par_1);
}

/* Calculon's latency without a pipeline is in its windows, not in these terms, by that rule alone
   as by all of them. */
static bool law_pipeline_par_1(const calc_random_layout *l)
{
    if (l->exec.pipeline_par > 1) {
        return false;
    }
    for (int i = -SETS; i < CALC_COMPAT_COUNT; i++) {
        calc_stats s = run(l, i < 0 ? sets[i + SETS] : (calc_compat)1 << i);
        must(s.pp_comm_link_time == 0, "pp_comm_link_time", s.pp_comm_link_time, 0);
        must(s.pp_comm_exposed_time == 0, "pp_comm_exposed_time", s.pp_comm_exposed_time, 0);
        must(s.bubble_time == 0, "bubble_time", s.bubble_time, 0);
    }
    return true;
}

CALC_TEST(one_stage_has_no_messages_and_no_bubble)
{
    holds_for_all_layouts(law_pipeline_par_1);
}

static bool law_data_par_1(const calc_random_layout *l)
{
    if (l->exec.strategy.data_par > 1 && l->exec.training) {
        return false;
    }
    calc_stats s = run(l, CALC_COMPAT_REPAIRED);
    must(s.dp_comm_link_time == 0, "dp_comm_link_time", s.dp_comm_link_time, 0);
    must(s.dp_comm_exposed_time == 0, "dp_comm_exposed_time", s.dp_comm_exposed_time, 0);
    must(s.block_dp_size == 0, "block_dp_size", s.block_dp_size, 0);
    return true;
}

CALC_TEST(one_replica_or_inference_has_no_gradient_reduction)
{
    holds_for_all_layouts(law_data_par_1);
}

static bool law_inference(const calc_random_layout *l)
{
    if (l->exec.training) {
        return false;
    }
    calc_stats s = run(l, CALC_COMPAT_REPAIRED);
    must(s.bw_time == 0, "bw_time", s.bw_time, 0);
    must(s.optim_step_time == 0, "optim_step_time", s.optim_step_time, 0);
    must(s.bw_offload_exposed_time == 0, "bw_offload_exposed_time", s.bw_offload_exposed_time, 0);
    must(s.block_bw_pp_size == 0, "block_bw_pp_size", s.block_bw_pp_size, 0);
    must(s.optimizer_space == 0, "optimizer_space", s.optimizer_space, 0);
    must(s.weight_grad_space == 0, "weight_grad_space", s.weight_grad_space, 0);
    return true;
}

CALC_TEST(inference_has_no_backward_pass_and_no_optimizer)
{
    holds_for_all_layouts(law_inference);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static bool law_memory_not_negative(const calc_random_layout *l)
{
    calc_stats s = run(l, CALC_COMPAT_REPAIRED);
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        if (field->unit != NULL && strcmp(field->unit, "bytes") == 0) {
            must(!(stat(&s, field) < 0), field->key, stat(&s, field), 0);
        }
    }
    return true;
}

CALC_TEST(memory_and_messages_are_never_negative)
{
    holds_for_all_layouts(law_memory_not_negative);
}

static bool law_tiers_add_up(const calc_random_layout *l)
{
    calc_stats s = run(l, CALC_COMPAT_REPAIRED);
    const calc_exec *e = &l->exec;
    bool full = e->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
    double tier1 = s.act_grad_space, tier2 = 0;
    tier1 += e->strategy.weight_offload ? s.weight_space_with_offload : s.weight_space;
    tier2 += e->strategy.weight_offload ? s.weight_space : 0;
    tier1 += e->strategy.activations_offload ? s.act_space_with_offload : s.act_space;
    tier2 += e->strategy.activations_offload && !full ? s.act_space : 0;
    if (full) {
        tier1 += e->strategy.activations_offload ? s.act_checkpoint_size_with_offload
                                                 : s.act_checkpoint_size;
        tier2 += e->strategy.activations_offload ? s.act_checkpoint_size : 0;
    }
    if (e->strategy.optimizer_offload) {
        tier1 += s.weight_grad_space_with_offload + s.optimizer_space_with_offload;
        tier2 += s.block_weight_grad_space * s.blocks_per_proc + s.optimizer_space;
    } else {
        tier1 += s.weight_grad_space + s.optimizer_space;
    }
    must(close_to(s.proc_mem_tier1_cap_req, tier1), "tier 1", s.proc_mem_tier1_cap_req, tier1);
    must(close_to(s.proc_mem_tier2_cap_req, tier2), "tier 2", s.proc_mem_tier2_cap_req, tier2);
    return true;
}

CALC_TEST(what_each_tier_holds_adds_up_to_what_it_needs)
{
    holds_for_all_layouts(law_tiers_add_up);
}

/* Inference is excluded: its activations are needed for one block only, while offload buffers two.
 */
static bool law_offload_moves(const calc_random_layout *l)
{
    calc_random_layout off = *l, on = *l;
    bool fits = l->app.num_blocks > 2 * l->exec.pipeline_par; /* 3 blocks per processor */
    if (!l->exec.training || !fits) {
        return false;
    }
    off.exec.strategy.weight_offload = off.exec.strategy.activations_offload =
        off.exec.strategy.optimizer_offload = false;
    on.exec.strategy.weight_offload = on.exec.strategy.activations_offload =
        on.exec.strategy.optimizer_offload = true;
    calc_stats without = run(&off, CALC_COMPAT_REPAIRED), with = run(&on, CALC_COMPAT_REPAIRED);
    double tier1 = without.proc_mem_tier1_cap_req;
    must(without.proc_mem_tier2_cap_req == 0, "tier 2 unused", without.proc_mem_tier2_cap_req, 0);
    must(with.proc_mem_tier1_cap_req <= tier1, "tier 1", with.proc_mem_tier1_cap_req, tier1);
    must(with.proc_mem_tier2_cap_req > 0, "tier 2 used", with.proc_mem_tier2_cap_req, 0);
    must(with.total_time >= without.total_time * (1 - rounding), "total_time with offload",
         with.total_time, without.total_time);
    return true;
}

CALC_TEST(offload_in_training_moves_bytes_from_tier_1_to_tier_2_and_is_never_faster)
{
    holds_for_all_layouts(law_offload_moves);
}

/* One block with one micro-batch in flight is excluded: its checkpoint comes on top of activations
   that are all in use. So is sequence parallelism: it splits activations, but not checkpoints. */
static bool law_full_recompute_saves(const calc_random_layout *l)
{
    calc_random_layout none = *l, full = *l;
    bool one_block = l->app.num_blocks <= l->exec.pipeline_par;
    bool split = l->exec.strategy.tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    if (!l->exec.training || one_block || split || l->exec.strategy.activations_offload) {
        return false;
    }
    none.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    full.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    double need = run(&none, CALC_COMPAT_REPAIRED).proc_mem_tier1_cap_req;
    double saved = run(&full, CALC_COMPAT_REPAIRED).proc_mem_tier1_cap_req;
    must(saved <= need, "tier 1 with full recomputation", saved, need);
    return true;
}

CALC_TEST(full_recomputation_of_two_blocks_or_more_saves_memory)
{
    holds_for_all_layouts(law_full_recompute_saves);
}

/* ---- The two entries and the two modes ------------------------------------------------------- */

static bool law_layers_sum_to_block(const calc_random_layout *l)
{
    calc_layer_stats layers[CALC_MAX_LAYERS], sum = {0};
    calc_stats s = run(l, CALC_COMPAT_REPAIRED);
    size_t count =
        calc_layers(&l->app, &l->system, &l->exec, CALC_COMPAT_REPAIRED, layers, CALC_MAX_LAYERS);
    for (size_t i = 0; i < count; i++) {
        sum.fw_flops += layers[i].fw_flops;
        sum.fw_mem_accessed += layers[i].fw_mem_accessed;
        sum.fw_processing_time += layers[i].fw_processing_time;
        sum.baseblock_fw_tp_comm_size += layers[i].baseblock_fw_tp_comm_size;
        sum.edgeblock_fw_tp_comm_time_exposed += layers[i].edgeblock_fw_tp_comm_time_exposed;
        sum.weight += layers[i].weight;
    }
    must(close_to(sum.fw_flops, s.block_fw_flops), "fw_flops", sum.fw_flops, s.block_fw_flops);
    must(close_to(sum.fw_mem_accessed, s.block_fw_mem_accessed), "fw_mem_accessed",
         sum.fw_mem_accessed, s.block_fw_mem_accessed);
    must(close_to(sum.fw_processing_time, s.block_fw_time), "fw_processing_time",
         sum.fw_processing_time, s.block_fw_time);
    must(close_to(sum.baseblock_fw_tp_comm_size, s.baseblock_fw_tp_size), "fw_tp_comm_size",
         sum.baseblock_fw_tp_comm_size, s.baseblock_fw_tp_size);
    must(close_to(sum.edgeblock_fw_tp_comm_time_exposed, s.edgeblock_fw_tp_time_exposed),
         "fw_tp_comm_time_exposed", sum.edgeblock_fw_tp_comm_time_exposed,
         s.edgeblock_fw_tp_time_exposed);
    must(close_to(sum.weight, s.block_weight_space), "weight", sum.weight, s.block_weight_space);
    return true;
}

CALC_TEST(layers_sum_to_their_block)
{
    holds_for_all_layouts(law_layers_sum_to_block);
}

/* The field in which two answers differ; NULL if in none. */
static const calc_field *first_difference(const calc_stats *a, const calc_stats *b)
{
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    for (size_t i = 0; i < table->count; i++) {
        if (!same(stat(a, &table->rows[i]), stat(b, &table->rows[i]))) {
            return &table->rows[i];
        }
    }
    return NULL;
}

static void must_be_equal(const calc_stats *a, const calc_stats *b)
{
    const calc_field *field = first_difference(a, b);
    must(field == NULL, field ? field->key : "", field ? stat(a, field) : 0,
         field ? stat(b, field) : 0);
}

/* What was in the memory of the answer before must not show in it. */
static bool law_repeats(const calc_random_layout *l)
{
    calc_stats first, second;
    memset(&first, 0, sizeof first);
    memset(&second, 0x5a, sizeof second);
    for (int i = 0; i < SETS; i++) {
        calc_run(&l->app, &l->system, &l->exec, sets[i], &first);
        calc_run(&l->app, &l->system, &l->exec, sets[i], &second);
        must_be_equal(&first, &second);
    }
    return true;
}

CALC_TEST(same_layout_gives_the_same_bits)
{
    holds_for_all_layouts(law_repeats);
}

static bool recomputes(const calc_exec *e)
{
    return e->strategy.activation_recompute != CALC_ACTIVATION_RECOMPUTE_NONE ||
           e->strategy.seq_par_ag_redo;
}

static bool law_modes_agree(const calc_random_layout *l)
{
    if (!l->exec.training || l->exec.pipeline_par == 1 || recomputes(&l->exec)) {
        return false;
    }
    calc_stats ours = run(l, CALC_COMPAT_REPAIRED), calculons = run(l, CALC_COMPAT_CALCULON);
    must_be_equal(&ours, &calculons);
    return true;
}

CALC_TEST(modes_agree_where_no_defect_can_act)
{
    holds_for_all_layouts(law_modes_agree);
}

/* Calculon counts the first layers of a block more than once, never too few times. */
static bool law_modes_differ(const calc_random_layout *l)
{
    if (!l->exec.training ||
        l->exec.strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_NONE) {
        return false;
    }
    calc_stats ours = run(l, CALC_COMPAT_REPAIRED), calculons = run(l, CALC_COMPAT_CALCULON);
    must(ours.block_re_flops < calculons.block_re_flops, "block_re_flops", ours.block_re_flops,
         calculons.block_re_flops);
    must(ours.block_re_flops <= ours.block_fw_flops, "block_re_flops", ours.block_re_flops,
         ours.block_fw_flops);
    return true;
}

CALC_TEST(recomputed_arithmetic_is_at_most_one_forward_pass_and_calculons_is_more)
{
    holds_for_all_layouts(law_modes_differ);
}
