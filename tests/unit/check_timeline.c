/* The simulated step of a layout: what its chunks take, and what surrounds the pipeline. */
#include "model/timeline.h"

#include "frame.h"
#include "shipped_case.h"
#include "small_case.h"

enum { MAX_STAGES = 64 };

static void timeline_of(const shipped_case *c, calc_timeline *out)
{
    calc_timeline_of(&c->app, &c->system, &c->exec, CALC_COMPAT_NONE, out);
    ck_assert(out->fits);
}

static double sum(const double parts[CALC_SPENT_PARTS])
{
    double all = 0;
    for (int i = 0; i < CALC_SPENT_PARTS; i++) {
        ck_assert_double_ge(parts[i], 0);
        all += parts[i];
    }
    return all;
}

/* Sums in another order, of parts that were scaled. */
static void assert_close(double got, double want)
{
    ck_assert_msg(fabs(got - want) <= 1e-9 * fabs(want), "%.17g is not %.17g", got, want);
}

/* Chunks of a stage take together what calc_each_stage() says, and their parts take what they do.
 */
static void check_chunks(const shipped_case *c)
{
    static calc_stage_stats row[MAX_STAGES];
    calc_timeline t;
    timeline_of(c, &t);
    size_t count =
        calc_each_stage(&c->app, &c->system, &c->exec, CALC_COMPAT_NONE, row, MAX_STAGES);
    ck_assert_uint_le(count, MAX_STAGES);
    for (size_t i = 0; i < count; i++) {
        double fw_s = 0, bw_s = 0, wgrad_s = 0;
        for (int64_t chunk = 0; chunk < t.shape.chunks; chunk++) {
            calc_stage_spent spent;
            calc_schedule_pass pass = calc_timeline_pass_of(&t, (int64_t)i, chunk);
            calc_timeline_spent_of(&t, (int64_t)i, chunk, &spent);
            assert_close(sum(spent.fw_s), pass.fw_s);
            assert_close(sum(spent.bw_s), pass.bw_s);
            assert_close(sum(spent.wgrad_s), pass.wgrad_s);
            fw_s += pass.fw_s;
            bw_s += pass.bw_s + pass.wgrad_s;
            wgrad_s += pass.wgrad_s;
        }
        assert_close(fw_s, row[i].fw_time);
        assert_close(bw_s, row[i].bw_time);
        assert_close(wgrad_s, row[i].wgrad_time);
        calc_timeline_memory memory = calc_timeline_memory_of(&t, (int64_t)i);
        assert_close(memory.fixed_bytes + memory.flight_bytes * row[i].in_flight, row[i].mem_tier1);
    }
}

CALC_TEST(chunks_add_up_to_their_stage_and_parts_to_their_chunk)
{
    for (int i = 0; i < MODERN_LAYOUTS; i++) {
        shipped_case c = modern_layout(i);
        check_chunks(&c);
        c.exec.strategy.pipeline_par_overlap = !c.exec.strategy.pipeline_par_overlap;
        c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
        c.exec.recompute_blocks = 2;
        check_chunks(&c);
        c.exec.pipeline_interleaving = 1;
        c.exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_ZB_V;
        check_chunks(&c);
    }
}

CALC_TEST(chunks_of_calculon_add_up_too)
{
    shipped_case c = {small_app(), small_system(), small_exec(2, 4, 1)};
    for (int i = 0; i < 16; i++) {
        c.exec.pipeline_interleaving = i & 1 ? 2 : 1;
        c.exec.strategy.activations_offload = i & 2;
        c.exec.strategy.activation_recompute =
            i & 4 ? CALC_ACTIVATION_RECOMPUTE_FULL : CALC_ACTIVATION_RECOMPUTE_NONE;
        c.exec.strategy.tensor_par_overlap = i & 8 ? CALC_TENSOR_PAR_OVERLAP_RING : 0;
        check_chunks(&c);
    }
}

/* 8 blocks on 3 stages are 3, 3 and 2; without tensor parallelism or messages all take as long. */
CALC_TEST(later_stages_have_a_block_less)
{
    shipped_case c = {small_app(), small_system(), small_exec(1, 3, 1)};
    calc_timeline t;
    for (int net = 0; net < 2; net++) {
        c.system.networks[net].bytes_per_s = INFINITY;
    }
    timeline_of(&c, &t);
    calc_schedule_pass full = calc_timeline_pass_of(&t, 1, 0);
    calc_schedule_pass less = calc_timeline_pass_of(&t, 2, 0);
    assert_near(less.fw_s, full.fw_s * 2 / 3);
    assert_near(less.bw_s, full.bw_s * 2 / 3);
    assert_near(less.wgrad_s, full.wgrad_s * 2 / 3);
}

/* By rule every stage is charged as the first: 6 blocks on 4 stages are 2, 2, 1 and 1. */
CALC_TEST(the_last_stages_may_have_fewer_blocks)
{
    shipped_case c = {small_app(), small_system(), small_exec(1, 4, 1)};
    c.app.num_blocks = 6;
    calc_timeline t;
    calc_timeline_of(&c.app, &c.system, &c.exec, CALC_COMPAT_CALCULON, &t);
    double fw_s = calc_timeline_pass_of(&t, 0, 0).fw_s;
    ck_assert_double_gt(fw_s, 0);
    assert_close(calc_timeline_pass_of(&t, 1, 0).fw_s, fw_s);
    assert_close(calc_timeline_pass_of(&t, 2, 0).fw_s, fw_s / 2);
    assert_close(calc_timeline_pass_of(&t, 3, 0).fw_s, fw_s / 2);
    calc_schedule_pass pass[4];
    calc_timeline_passes(&t, pass);
    assert_close(pass[1].bw_s, pass[0].bw_s);
    assert_close(pass[2].bw_s, pass[0].bw_s / 2);
}

/* 126 blocks on 16 stages of 8 chunks, embedding and head counting as a block: the first chunk of
 * the first stage is the embedding alone, the last of the last the head. */
CALC_TEST(ends_take_the_place_of_a_block_in_their_chunk)
{
    shipped_case c = modern_layout(0);
    calc_timeline t;
    timeline_of(&c, &t);
    double blocks = 0;
    for (int64_t stage = 0; stage < 16; stage++) {
        for (int64_t chunk = 0; chunk < 8; chunk++) {
            calc_stage_class k = calc_timeline_chunk_class(&t, stage, chunk);
            bool first = stage == 0 && chunk == 0;
            bool last = stage == 15 && chunk == 7;
            ck_assert_double_eq(k.dense, first || last ? 0 : 1);
            ck_assert_double_eq(k.moe, 0);
            ck_assert_double_eq(k.first, first);
            ck_assert_double_eq(k.last, last);
            blocks += k.dense;
        }
    }
    ck_assert_double_eq(blocks, 126);
}

/* 64 blocks, 3 of them dense, on 16 stages of 2 chunks: the first chunk has no other. */
CALC_TEST(dense_blocks_are_in_the_first_chunk)
{
    shipped_case c = modern_layout(3);
    calc_timeline t;
    c.app.num_blocks = 64;
    c.exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_1F1B;
    c.exec.pipeline_balance = CALC_PIPELINE_BALANCE_BLOCKS;
    c.exec.pipeline_interleaving = 2;
    c.exec.batch_size = 2 * c.exec.pipeline_par * c.exec.strategy.data_par * c.exec.microbatch_size;
    timeline_of(&c, &t);
    calc_stage_class first = calc_timeline_chunk_class(&t, 0, 0);
    calc_stage_class second = calc_timeline_chunk_class(&t, 0, 1);
    ck_assert_double_eq(first.dense, 2);
    ck_assert_double_eq(first.moe, 0);
    ck_assert_double_eq(second.dense, 0);
    ck_assert_double_eq(second.moe, 2);
}

static calc_schedule_shape shape(calc_pipeline_schedule kind, int64_t chunks)
{
    return (calc_schedule_shape){kind, 4, chunks, 8};
}

CALC_TEST(a_micro_batch_goes_round_down_and_up_or_both_ways)
{
    calc_schedule_shape round = shape(CALC_PIPELINE_SCHEDULE_1F1B, 2);
    ck_assert_int_eq(calc_timeline_next(&round, 3, 0), 0);
    ck_assert_int_eq(calc_timeline_next(&round, 3, 1), -1);
    ck_assert_int_eq(calc_timeline_before(&round, 0, 1), 3);
    ck_assert_int_eq(calc_timeline_before(&round, 0, 0), -1);
    ck_assert_int_eq(calc_schedule_place(&round, 1, 1), 5);
    calc_schedule_shape v = shape(CALC_PIPELINE_SCHEDULE_ZB_V, 2);
    ck_assert_int_eq(calc_timeline_next(&v, 3, 0), -1); /* its own second chunk */
    ck_assert_int_eq(calc_timeline_next(&v, 3, 1), 2);
    ck_assert_int_eq(calc_timeline_before(&v, 2, 1), 3);
    ck_assert_int_eq(calc_timeline_next(&v, 0, 1), -1);
    ck_assert_int_eq(calc_schedule_place(&v, 3, 1), 4);
    calc_schedule_shape dual = shape(CALC_PIPELINE_SCHEDULE_DUALPIPE, 1);
    ck_assert_int_eq(calc_schedule_held(&dual), 2);
    ck_assert_int_eq(calc_timeline_next(&dual, 0, 0), 1);
    ck_assert_int_eq(calc_timeline_next(&dual, 3, 0), -1);
    ck_assert_int_eq(calc_timeline_next(&dual, 3, 1), 2);
    ck_assert_int_eq(calc_timeline_before(&dual, 3, 1), -1);
    ck_assert_int_eq(calc_timeline_before(&dual, 3, 0), 2);
}

CALC_TEST(forward_passes_alone_are_in_the_order_of_1f1b)
{
    shipped_case c = modern_layout(3);
    ck_assert_int_eq(calc_timeline_shape(&c.exec).kind, CALC_PIPELINE_SCHEDULE_DUALPIPE);
    c.exec.training = false;
    ck_assert_int_eq(calc_timeline_shape(&c.exec).kind, CALC_PIPELINE_SCHEDULE_1F1B);
}

CALC_TEST(what_follows_the_pipeline_is_that_of_the_run)
{
    for (int i = 0; i < MODERN_LAYOUTS; i++) {
        shipped_case c = modern_layout(i);
        calc_timeline t;
        calc_stats s;
        timeline_of(&c, &t);
        calc_run(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &s);
        double data_s = 0, optimizer_s = 0, tied_s = 0;
        for (int64_t stage = 0; stage < t.shape.stages; stage++) {
            calc_timeline_end end = calc_timeline_end_of(&t, stage);
            data_s = fmax(data_s, end.reduce_s + end.gather_s);
            optimizer_s = fmax(optimizer_s, end.optimizer_s);
            tied_s = fmax(tied_s, end.tied_s);
        }
        assert_near(optimizer_s, s.optim_step_time);
        double after_s = s.total_time - s.overhead_time - t.closed_s * (1 + t.growth);
        ck_assert_double_eq_tol(data_s + optimizer_s + tied_s, after_s, 1e-9 * s.total_time);
    }
}

/* Pieces in the place of kernels follow one another without a gap; what is on the link may begin
 * in the pipeline, as far as it is hidden. */
CALC_TEST(what_follows_the_pipeline_follows_one_after_the_other)
{
    for (int i = 0; i < MODERN_LAYOUTS; i++) {
        shipped_case c = modern_layout(i);
        calc_timeline t;
        calc_timeline_slice slice[CALC_TIMELINE_AFTER];
        timeline_of(&c, &t);
        double straggler_s = t.closed_s * t.growth;
        calc_timeline_after(&t, 0, t.closed_s, straggler_s, slice);
        calc_timeline_end end = calc_timeline_end_of(&t, 0);
        double at_s = t.closed_s;
        for (int k = 1; k < CALC_TIMELINE_AFTER; k++) {
            ck_assert_double_le(slice[k].start_s, at_s * (1 + 1e-12));
            ck_assert_double_ge(slice[k].end_s, at_s * (1 - 1e-12));
            ck_assert(slice[k].link || slice[k].start_s == at_s);
            at_s = slice[k].end_s;
        }
        double after_s = end.reduce_s + end.tied_s + end.optimizer_s + end.gather_s;
        assert_near(at_s, t.closed_s + straggler_s + after_s);
        ck_assert_double_eq(slice[0].start_s, 0);
    }
}
