/* Sweeps of layouts that serve: what they share is computed once, and every statistic of every
 * layout is that of calc_run() to the bit, whatever came before it. */
#include <math.h>
#include <stdlib.h>

#include "engines.h"
#include "frame.h"
#include "random_space.h"
#include "sampled.h"
#include "spec/format.h"

const calc_test_frame calc_tests = {.timeout_s = 600};

enum { SPACES = 90, ASKED_SPACES = 30, LAYOUTS = 10000 };

static random_space space;

static int64_t pick(calc_rng *rng, int64_t a, int64_t b, int64_t c)
{
    const int64_t values[] = {a, b, c};
    return values[calc_rng_below(rng, 3)];
}

static void only(calc_axis axis, int64_t value)
{
    ck_assert_int_eq(calc_space_set(&space.space, axis, &value, 1), CALC_OK);
}

/* What is served: every phase in turn. */
static calc_inference random_inference(calc_rng *rng)
{
    calc_inference i = space.space.inference;
    i.phase = (calc_inference_phase)(1 + calc_rng_below(rng, CALC_INFERENCE_PHASE_COUNT - 1));
    i.engine = shipped_engine(shipped_engine_names[calc_rng_below(rng, SHIPPED_ENGINES)]);
    i.prompt_size = pick(rng, 0, 100, 1000);
    i.generate_size = pick(rng, 2, 30, 500);
    i.chunk_size = pick(rng, 0, 7, 300);
    i.prefill_batch = pick(rng, 0, 1, 3);
    i.page_size = pick(rng, 0, 1, 16);
    i.prefix_hit = calc_rng_below(rng, 2) * 0.5;
    i.traits.gap_s = calc_rng_below(rng, 2) * 1e-4;
    i.speculative_tokens = pick(rng, 0, 0, 2);
    i.speculative_accept = i.speculative_tokens > 0 ? 0.6 : 0;
    i.speculative_cost = i.speculative_tokens > 0 ? calc_rng_below(rng, 2) * 0.1 : 0;
    if (i.phase == CALC_INFERENCE_PHASE_SERVE || i.phase == CALC_INFERENCE_PHASE_DISAGGREGATED) {
        i.arrival_rate = calc_rng_below(rng, 3) == 0 ? 0.5 : 0;
        i.max_sequences = pick(rng, 0, 0, 2);
        i.requests = pick(rng, 0, 0, 5000);
        i.prompt_spread = calc_rng_below(rng, 2) * 0.1;
        i.generate_spread = calc_rng_below(rng, 2) * 0.2;
    }
    if (i.phase == CALC_INFERENCE_PHASE_SERVE) {
        i.hold_steps = pick(rng, 0, 1, 20);
    }
    if (i.phase == CALC_INFERENCE_PHASE_DISAGGREGATED) {
        i.prefill_procs = pick(rng, 16, 48, 64);
        i.prefill_tensor_par = pick(rng, 0, 1, 2);
        i.prefill_expert_par = pick(rng, 0, 1, 2);
    }
    return i;
}

/* Costs of a pass that depend on more than the strategy of a row: a table of words for both ends,
 * where they are on one stage, and experts of the prefill pool on a network of the replicas. */
static void make_special(bool tied)
{
    for (size_t i = 0; i < RANDOM_DESIGNS; i++) {
        calc_app *app = &space.app[i];
        app->tied_embeddings = tied ? CALC_CHOICE_TRUE : app->tied_embeddings;
        app->vocab_size = tied ? 50000 : app->vocab_size;
    }
    calc_space_set_all(&space.space, CALC_AXIS_pipeline_par);
    calc_space_set_all(&space.space, CALC_AXIS_data_par_net);
    if (!tied) {
        space.space.inference.phase = CALC_INFERENCE_PHASE_DISAGGREGATED;
        space.space.inference.prefill_procs = 64;
        space.space.inference.prefill_tensor_par = 1;
        space.space.inference.prefill_expert_par = 2;
        only(CALC_AXIS_rank_order, CALC_RANK_ORDER_NETWORKS);
        only(CALC_AXIS_expert_par, 1);
        only(CALC_AXIS_expert_par_net, -1);
        only(CALC_AXIS_context_par, 1);
    }
}

/* A machine for prefill pools that has whatever a design's has: as many networks, and engines. */
static void make_other(void)
{
    static calc_system other;
    other = space.system[0];
    for (size_t i = 1; i < RANDOM_DESIGNS; i++) {
        other = space.system[i].networks_count > other.networks_count ? space.system[i] : other;
    }
    for (int d = 0; d < CALC_DATATYPE_COUNT; d++) {
        for (size_t i = 0; i < RANDOM_DESIGNS; i++) {
            const calc_chip *chip = &space.system[i].chip;
            bool lacks = other.chip.matrix[d].flop_per_s <= 0;
            other.chip.matrix[d] = lacks ? chip->matrix[d] : other.chip.matrix[d];
            lacks = other.chip.vector[d].flop_per_s <= 0;
            other.chip.vector[d] = lacks ? chip->vector[d] : other.chip.vector[d];
        }
    }
    other.chip.mem1.bytes_per_s *= 0.75;
    space.space.inference.prefill_system = (calc_other_system){"other", &other};
}

static void list(calc_axis axis, int64_t a, int64_t b, int64_t c)
{
    const int64_t values[] = {a, b, c};
    ck_assert_int_eq(calc_space_set(&space.space, axis, values, 3), CALC_OK);
}

/* Fields of what is served that vary: in some spaces two phases, in most chunks. */
static void vary(calc_rng *rng)
{
    const calc_inference *i = &space.space.inference;
    bool disaggregated = i->phase == CALC_INFERENCE_PHASE_DISAGGREGATED;
    if (calc_rng_below(rng, 3) > 0) {
        list(CALC_AXIS_inference_chunk_size, i->chunk_size, 5, 64);
    }
    if (calc_rng_below(rng, 3) == 0) {
        list(CALC_AXIS_inference_kv_datatype, i->kv_datatype, CALC_FORMAT_FLOAT8, CALC_FORMAT_AUTO);
    }
    if (disaggregated && calc_rng_below(rng, 2) == 0) {
        list(CALC_AXIS_inference_phase, CALC_INFERENCE_PHASE_SERVE, i->phase, i->phase);
        list(CALC_AXIS_inference_prefill_procs, i->prefill_procs, 32, 16);
    }
}

/* A random space, changed into one that serves. */
static void make(uint64_t seed)
{
    calc_rng rng;
    calc_rng_init(&rng, seed, 7);
    random_space_make_modern(&space, seed, LAYOUTS);
    space.space.inference = random_inference(&rng);
    only(CALC_AXIS_training, false);
    only(CALC_AXIS_activation_recompute, CALC_ACTIVATION_RECOMPUTE_NONE);
    only(CALC_AXIS_recompute_modules, 0);
    only(CALC_AXIS_recompute_blocks, 0);
    only(CALC_AXIS_offload_modules, 0);
    only(CALC_AXIS_pipeline_interleaving, 1);
    only(CALC_AXIS_pipeline_schedule, CALC_PIPELINE_SCHEDULE_1F1B);
    only(CALC_AXIS_weight_offload, false);
    only(CALC_AXIS_activations_offload, false);
    only(CALC_AXIS_optimizer_offload, false);
    if (seed % 3 > 0) {
        make_special(seed % 3 == 1);
    }
    vary(&rng);
    for (size_t i = 0; i < RANDOM_DESIGNS && seed % 2 == 1; i++) {
        space.app[i].checkpoint = (calc_checkpoint_formats){
            .weight_datatype = CALC_FORMAT_FLOAT8,
            .matrix_datatype = i % 2 ? CALC_FORMAT_FLOAT8 : CALC_FORMAT_AUTO,
            .scaling = CALC_SCALING_BLOCK,
            .kv_datatype = i % 3 ? CALC_FORMAT_FLOAT8 : CALC_FORMAT_AUTO,
            .wide_attention = i % 3 ? CALC_WIDE_ATTENTION_NONE : CALC_WIDE_ATTENTION_ALL};
    }
    if (space.space.inference.phase == CALC_INFERENCE_PHASE_DISAGGREGATED && seed % 2 == 0) {
        make_other();
    }
}

/* ---- Every statistic ------------------------------------------------------------------------- */

typedef struct seen {
    uint64_t points, phases[CALC_INFERENCE_PHASE_COUNT], sharded, staged, experts, tied, published;
} seen;

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool compare(void *context, const calc_sweep_point *p)
{
    const calc_table *fields = calc_table_of(CALC_KIND_STATS);
    seen *all = context;
    calc_stats want;
    calc_exec taken = *p->exec;
    calc_checkpoint_formats_take(&space.app[p->design], &space.system[p->design], &taken);
    if (memcmp(&taken, p->exec, sizeof taken) != 0) {
        ck_abort_msg("seed %d: not in the formats of the checkpoint", (int)space.seed);
    }
    calc_verdict verdict =
        calc_run(&space.app[p->design], &space.system[p->design], p->exec, CALC_COMPAT_NONE, &want);
    if (verdict != CALC_VERDICT_OK) {
        ck_abort_msg("seed %d: verdict %d", (int)space.seed, (int)verdict);
    }
    for (size_t i = 0; i < fields->count; i++) {
        size_t at = fields->rows[i].offset;
        double a = *(const double *)(const void *)((const char *)p->stats + at);
        double b = *(const double *)(const void *)((const char *)&want + at);
        if (!same(a, b)) { /* Check takes its time for each assertion */
            ck_abort_msg("seed %d: %s is %.17g, not %.17g", (int)space.seed, fields->rows[i].key, a,
                         b);
        }
    }
    all->points++;
    all->phases[p->exec->inference.phase]++;
    all->sharded += p->exec->strategy.zero_stage >= 3;
    all->tied += space.app[p->design].tied_embeddings == CALC_CHOICE_TRUE;
    all->staged += p->exec->pipeline_par > 1;
    all->published += p->exec->strategy.weight_datatype == CALC_FORMAT_FLOAT8;
    all->experts += p->exec->strategy.expert_par > 1;
    return true;
}

static void sweep(const calc_sweep_options *options, calc_sweep_counts *counts)
{
    calc_errors errors = {0};
    calc_sweep_result result;
    calc_status status = calc_sweep(&space.space, &space.designs, options, &result, &errors);
    *counts = result.counts;
    calc_sweep_result_free(&result);
    if (status != CALC_OK) {
        random_space_print(&space, stderr);
    }
    ck_assert_msg(status == CALC_OK, "seed %d: %s", (int)space.seed, errors.item[0].text);
}

CALC_TEST(every_statistic_is_that_of_calc_run)
{
    seen all = {0};
    uint64_t infeasible = 0;
    uint64_t step = (uint64_t)sample_step();
    for (uint64_t seed = 0; seed < SPACES; seed += step) {
        calc_sweep_counts shown;
        calc_sweep_counts verified;
        make(seed);
        uint64_t before = all.points;
        sweep(&(calc_sweep_options){.point = compare, .point_context = &all, .threads = 1}, &shown);
        ck_assert_uint_eq(shown.feasible, all.points - before);
        /* Those that do not fit have a verdict. */
        sweep(&(calc_sweep_options){.verify = 1, .threads = seed % 10 == 4 ? 2 : 1}, &verified);
        ck_assert_uint_eq(verified.feasible, shown.feasible);
        infeasible += verified.evaluated - verified.feasible;
        random_space_free(&space);
    }
    if (step > 1) {
        return;
    }
    /* The spaces have some of everything. */
    ck_assert_uint_gt(all.points, 20000);
    for (int phase = 1; phase < CALC_INFERENCE_PHASE_COUNT; phase++) {
        ck_assert_msg(all.phases[phase] > 500, "phase %d: %d", phase, (int)all.phases[phase]);
    }
    ck_assert_uint_gt(all.sharded, 500);
    ck_assert_uint_gt(all.staged, 5000);
    ck_assert_uint_gt(all.experts, 500);
    ck_assert_uint_gt(all.published, 1000);
    ck_assert_uint_gt(all.tied, 1000);
    ck_assert_uint_gt(infeasible, 100);
}

/* What replicas answered before is taken for others of them: what is asked for is that of
 * calc_run(), and so is what is found. */
CALC_TEST(answers_of_replicas_are_those_of_calc_run)
{
    static const char *const asked[][3] = {
        {"output_tokens_per_s_per_proc", "tokens_per_s_per_user", "tpot <= 1"},
        {"ttft_p99", "requests_per_s", "data_par < 8"},
        {"max_batch", "usd_per_million_output_tokens", "ttft <= 10"},
    };
    uint64_t feasible = 0;
    uint64_t skipped = 0;
    uint64_t step = (uint64_t)sample_step();
    for (uint64_t seed = 0; seed < ASKED_SPACES; seed += step) {
        const char *const *words = asked[seed / step % 3];
        calc_errors errors = {0};
        calc_constraint condition;
        calc_sweep_counts counted;
        calc_sweep_counts counts[2];
        calc_sweep_options options = {
            .objectives = 2, .top = 5, .constraints = 1, .constraint = &condition};
        make(seed);
        space.space.inference.phase = CALC_INFERENCE_PHASE_SERVE;
        space.space.inference.prefill_procs = 0;
        space.space.inference.prefill_tensor_par = 0;
        space.space.inference.prefill_expert_par = 0;
        for (int i = CALC_AXIS_EXEC_COUNT; i < CALC_AXIS_COUNT; i++) {
            space.space.axis[i].count *=
                i != CALC_AXIS_inference_phase && i != CALC_AXIS_inference_prefill_procs;
        }
        calc_space_set_all(&space.space, CALC_AXIS_data_par);
        ck_assert_int_eq(calc_objective_parse(&options.objective[0], words[0], &errors), CALC_OK);
        ck_assert_int_eq(calc_objective_parse(&options.objective[1], words[1], &errors), CALC_OK);
        ck_assert_int_eq(calc_objective_parse(&options.top_by, words[0], &errors), CALC_OK);
        ck_assert_int_eq(calc_constraint_parse(&condition, words[2], &errors), CALC_OK);
        ck_assert_int_eq(calc_sweep_count(&space.space, &space.designs, CALC_COMPAT_NONE, &counted),
                         CALC_OK);
        for (int again = 0; again < 2; again++) {
            options.verify = 1;
            options.threads = 1 + again;
            options.no_prune = again;
            sweep(&options, &counts[again]);
            ck_assert_uint_eq(counts[again].total, counted.total);
            uint64_t known = counts[again].feasible + counts[again].skipped;
            for (int v = 0; v < CALC_VERDICT_COUNT; v++) {
                known += counts[again].rejected[v];
            }
            ck_assert_uint_eq(counts[again].total, known);
        }
        ck_assert_uint_eq(counts[0].feasible - counts[0].filtered,
                          counts[1].feasible - counts[1].filtered);
        ck_assert_uint_eq(counts[1].skipped, 0);
        feasible += counts[1].feasible;
        skipped += counts[0].skipped;
        random_space_free(&space);
    }
    if (step == 1) {
        ck_assert_uint_gt(feasible, 10000);
        ck_assert_uint_gt(skipped, 50);
    }
}
