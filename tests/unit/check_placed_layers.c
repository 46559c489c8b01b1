/* Layers that are listed, in the stages of a pipeline. */
#include "model/stages/placed.h"
#include "model/timeline.h"

#include <math.h>
#include <stdlib.h>

#include "frame.h"
#include "shipped_case.h"
#include "spec/layer_list.h"

#define ROUNDING 1e-9

static shipped_case c;

static void set(const char *assignment)
{
    calc_errors errors = {0};
    ck_assert_msg(calc_set(&c.app, &c.system, &c.exec, assignment, NULL, &errors) == CALC_OK, "%s",
                  errors.item[0].text);
}

/* 80 blocks on four stages. */
static void setup(void)
{
    c = load_case("llama3-70B", "h100_sxm", "llama3-70B_512");
    set("tensor_par_overlap=none");
    set("seq_par_ag_redo=false");
    set("pipeline_interleaving=1");
}

const calc_test_frame calc_tests = {.setup = setup};

static calc_stats run(const shipped_case *l)
{
    calc_errors errors = {0};
    calc_stats stats;
    ck_assert_msg(calc_check(&l->app, &l->system, &l->exec, &errors) == CALC_OK, "%s",
                  errors.item[0].text);
    calc_run(&l->app, &l->system, &l->exec, CALC_COMPAT_NONE, &stats);
    return stats;
}

static calc_stats with(const char *assignment)
{
    set("layers=null");
    set("stages=null");
    set(assignment);
    return run(&c);
}

static void near_to(const char *what, double a, double b, double rounding)
{
    ck_assert_msg(fabs(a - b) <= rounding * fmax(fabs(a), fabs(b)), "%s: %.17g is not %.17g", what,
                  a, b);
}

#define NEAR(a, b, member, rounding) near_to(#member, (a).member, (b).member, rounding)

static void same_step(const calc_stats *a, const calc_stats *b, double rounding)
{
    NEAR(*a, *b, total_time, rounding);
    NEAR(*a, *b, fw_time, rounding);
    NEAR(*a, *b, bw_time, rounding);
    NEAR(*a, *b, recompute_time, rounding);
    NEAR(*a, *b, dp_comm_exposed_time, 50 * rounding);
    NEAR(*a, *b, optim_step_time, rounding);
    NEAR(*a, *b, hardware_flops, rounding);
    NEAR(*a, *b, weight_space, rounding);
    NEAR(*a, *b, optimizer_space, rounding);
    NEAR(*a, *b, act_grad_space, rounding);
    NEAR(*a, *b, proc_mem_tier1_cap_req, rounding);
}

/* ---- Beside other ways to say the same ------------------------------------------------------- */

CALC_TEST(layers_of_whole_stages_are_as_a_list_of_stages)
{
    calc_stats a = with("layers={\"blocks\": [40, 40], \"activation_recompute\": [\"full\", "
                        "\"none\"]}");
    calc_stats b = with("stages={\"blocks\": [\"4x20\"], \"activation_recompute\": [\"2xfull\", "
                        "\"2xnone\"]}");
    same_step(&a, &b, ROUNDING);
    NEAR(a, b, bubble_time, ROUNDING);
    set("pipeline_interleaving=5");
    a = with("layers={\"blocks\": [40, 40], \"activation_recompute\": [\"full\", \"none\"]}");
    b = with("stages={\"blocks\": [\"20x4\"], \"activation_recompute\": [\"10xfull\", "
             "\"10xnone\"]}");
    same_step(&a, &b, ROUNDING);
    ck_assert(a.act_checkpoint_size > 0 && a.act_space > 0);
    near_to("activations", a.act_checkpoint_size + a.act_space, b.act_checkpoint_size, ROUNDING);
}

CALC_TEST(layers_of_parts_of_stages_are_as_recompute_blocks)
{
    calc_stats a = with(
        "layers={\"blocks\": [5, 15, 5, 15, 5, 15, 5, 15], \"activation_recompute\": [\"full\", "
        "\"none\", \"full\", \"none\", \"full\", \"none\", \"full\", \"none\"]}");
    set("layers=null");
    set("activation_recompute=full");
    set("recompute_blocks=5");
    calc_stats b = run(&c);
    /* But for what of the host's time is waited for forward. */
    same_step(&a, &b, 1e-5);
}

static void resolves(const char *assignment, int64_t blocks)
{
    shipped_case before = c;
    set(assignment);
    run(&c);
    calc_resolve(&c.app, &c.system, &c.exec);
    ck_assert_msg(c.exec.layers.count == 0 ? c.exec.recompute_blocks == blocks : blocks == -1,
                  "%s: %lld", assignment, (long long)c.exec.recompute_blocks);
    c = before;
}

CALC_TEST(the_first_blocks_of_every_stage_are_recompute_blocks)
{
    const char *four = "layers={\"blocks\": [5, 15, 5, 15, 5, 15, 5, 15], "
                       "\"activation_recompute\": [\"full\", \"none\", \"full\", \"none\", "
                       "\"full\", \"none\", \"full\", \"none\"]}";
    resolves(four, 5);
    resolves("layers={\"blocks\": 80, \"activation_recompute\": \"full\"}", 0);
    resolves("layers={\"blocks\": [5, 75], \"activation_recompute\": [\"full\", \"none\"]}", -1);
    resolves("layers={\"blocks\": [5, 15, 5, 15, 5, 15, 4, 16], "
             "\"activation_recompute\": [\"full\", \"none\", \"full\", \"none\", "
             "\"full\", \"none\", \"full\", \"none\"]}",
             -1);
    set("pipeline_par=1");
    set("data_par=64");
    resolves("layers={\"blocks\": [5, 75], \"activation_recompute\": [\"full\", \"none\"]}", 5);
    resolves("layers={\"blocks\": [75, 5], \"activation_recompute\": [\"none\", \"full\"]}", -1);
    resolves("layers={\"blocks\": [5, 75], \"activation_recompute\": [\"attn_only\", "
             "\"none\"]}",
             5);
    set("seq_par_ag_redo=true");
    resolves("layers={\"blocks\": [5, 75], \"activation_recompute\": [\"full\", \"none\"]}", -1);
    set("seq_par_ag_redo=false");
    set("first_stage_blocks=0");
    resolves("layers={\"blocks\": [5, 75], \"activation_recompute\": [\"full\", \"none\"], "
             "\"zero_stage\": [3, null]}",
             -1);
}

CALC_TEST(stages_and_layers_may_be_listed_together)
{
    calc_stats a =
        with("layers={\"blocks\": [20, 60], \"activation_recompute\": [\"full\", \"none\"]}");
    set("stages=4x20");
    calc_stats b = run(&c);
    same_step(&a, &b, ROUNDING);
    set("stages=10,30,30,10");
    b = run(&c);
    ck_assert(b.total_time > a.total_time); /* the longest stages have more blocks */
}

CALC_TEST(on_two_systems_layers_are_of_that_of_their_stage)
{
    calc_system slow = c.system;
    for (int i = 0; i < CALC_DATATYPE_COUNT; i++) {
        slow.chip.matrix[i].flop_per_s /= 2;
    }
    calc_stage_stats fast_row[4], slow_row[4], row[4];
    set("layers={\"blocks\": [40, 40], \"tensor_par\": [8, 4], \"ends\": {\"tensor_par\": 8}}");
    run(&c);
    calc_each_stage(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, fast_row, 4);
    calc_each_stage(&c.app, &slow, &c.exec, CALC_COMPAT_NONE, slow_row, 4);
    set("stages={\"blocks\": [\"4x20\"], \"system\": [\"3xfast\", \"1xslow\"]}");
    c.exec.stages.system[0] = &c.system;
    c.exec.stages.system[1] = &slow;
    run(&c);
    calc_each_stage(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, row, 4);
    for (int i = 0; i < 4; i++) {
        const calc_stage_stats *want = i < 3 ? &fast_row[i] : &slow_row[i];
        near_to("forward", row[i].fw_time, want->fw_time, ROUNDING);
        near_to("backward", row[i].bw_time, want->bw_time, ROUNDING);
        near_to("memory", row[i].mem_tier1, want->mem_tier1, ROUNDING);
    }
}

/* ---- Rearranging ----------------------------------------------------------------------------- */

/* What is gathered between runs is what tensor parallelism takes more than the runs apart, and it
 * is there for every micro-batch, on the stage of the later layers. */
CALC_TEST(activations_are_rearranged_where_the_split_changes)
{
    calc_stage_stats one[4], other[4], mixed[4];
    calc_layer_strategy eight = calc_layer_as_exec;
    eight.tensor_par = 8;
    calc_exec a = calc_layer_list_exec(&c.exec, &eight);
    calc_exec b = calc_layer_list_exec(&c.exec, &calc_layer_as_exec);
    calc_reshard x = calc_reshard_of(&c.app, &c.system, &a, &b);
    ck_assert(x.fw_s > 0 && x.bw_s > 0);
    set("layers={\"blocks\": [40, 40], \"tensor_par\": [8, 4]}");
    run(&c);
    calc_each_stage(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, mixed, 4);
    set("layers={\"blocks\": 80, \"tensor_par\": 8, \"ends\": {\"tensor_par\": 8}}");
    run(&c);
    calc_each_stage(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, one, 4);
    set("layers=null");
    run(&c);
    calc_each_stage(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, other, 4);
    near_to("forward, stage 1", mixed[1].fw_time, one[1].fw_time, ROUNDING);
    near_to("backward, stage 1", mixed[1].bw_time, one[1].bw_time, ROUNDING);
    near_to("forward, stage 2", mixed[2].fw_time, other[2].fw_time + x.fw_s, ROUNDING);
    near_to("backward, stage 2", mixed[2].bw_time, other[2].bw_time + x.bw_s, ROUNDING);
    near_to("exposed, stage 2", mixed[2].comm_exposed_time,
            other[2].comm_exposed_time + x.fw_s + x.bw_s, ROUNDING);
    near_to("forward, stage 3", mixed[3].fw_time, other[3].fw_time, ROUNDING);
    near_to("memory, stage 1", mixed[1].mem_tier1, one[1].mem_tier1, ROUNDING);
    near_to("memory, stage 2", mixed[2].mem_tier1, other[2].mem_tier1, ROUNDING);
}

CALC_TEST(the_ends_have_a_strategy_of_their_own)
{
    calc_stage_stats plain[4], ends[4];
    run(&c);
    calc_each_stage(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, plain, 4);
    set("layers={\"blocks\": 80, \"ends\": {\"tensor_par\": 8}}");
    run(&c);
    calc_each_stage(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, ends, 4);
    ck_assert(ends[0].head_time != plain[0].head_time);
    ck_assert(ends[3].head_time != plain[3].head_time);
    ck_assert(ends[0].weight_space < plain[0].weight_space); /* the embedding over eight ranks */
    for (int i = 1; i < 3; i++) {
        near_to("forward", ends[i].fw_time, plain[i].fw_time, ROUNDING);
        near_to("memory", ends[i].mem_tier1, plain[i].mem_tier1, ROUNDING);
    }
}

/* ---- What is reported ------------------------------------------------------------------------ */

CALC_TEST(the_parts_of_a_step_add_up)
{
    const char *lists[] = {
        "layers={\"blocks\": [40, 40], \"tensor_par\": [8, 4], \"ends\": {\"tensor_par\": 8}}",
        "layers={\"blocks\": [4, 36, 40], \"zero_stage\": [3, 1, 2], \"activation_recompute\": "
        "[\"full\", \"none\", \"attn_only\"]}",
        "layers={\"blocks\": [50, 30], \"tensor_par\": [4, 2], \"context_par\": [2, 4], "
        "\"context_par_type\": [\"ring\", \"ulysses\"], \"zero_stage\": [3, 1]}",
    };
    for (int chunks = 1; chunks <= 5; chunks += 4) {
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
            set(chunks == 1 ? "pipeline_interleaving=1" : "pipeline_interleaving=5");
            calc_stats s = with(lists[i]);
            double sum = s.fw_time + s.bw_time + s.recompute_time + s.recomm_exposed_time +
                         s.tp_comm_exposed_time + s.cp_comm_exposed_time + s.ep_comm_exposed_time +
                         s.pp_comm_exposed_time + s.dp_comm_exposed_time + s.head_time +
                         s.host_time + s.bubble_time + s.optim_step_time + s.straggler_time +
                         s.overhead_time;
            near_to("time", sum, s.total_time, ROUNDING);
            double bytes = s.weight_space + s.weight_grad_space + s.optimizer_space + s.act_space +
                           s.act_checkpoint_size + s.act_grad_space + s.head_space +
                           s.framework_space + s.mem_overhead;
            near_to("memory", bytes, s.proc_mem_tier1_cap_req, ROUNDING);
        }
    }
}

static double sum_of(const double parts[CALC_SPENT_PARTS])
{
    double sum = 0;
    for (int i = 0; i < CALC_SPENT_PARTS; i++) {
        ck_assert(parts[i] >= 0);
        sum += parts[i];
    }
    return sum;
}

CALC_TEST(so_do_the_parts_of_a_timeline)
{
    static calc_timeline t;
    set("pipeline_interleaving=5");
    set("layers={\"blocks\": [30, 50], \"tensor_par\": [8, 4], \"activation_recompute\": "
        "[\"none\", \"full\"], \"ends\": {\"zero_stage\": 3}}");
    run(&c);
    calc_timeline_of(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &t);
    int rearranged = 0;
    for (int stage = 0; stage < 4; stage++) {
        for (int chunk = 0; chunk < 5; chunk++) {
            calc_schedule_pass pass = calc_timeline_pass_of(&t, stage, chunk);
            calc_stage_spent spent;
            calc_timeline_spent_of(&t, stage, chunk, &spent);
            near_to("forward", sum_of(spent.fw_s), pass.fw_s, ROUNDING);
            near_to("backward", sum_of(spent.bw_s), pass.bw_s, ROUNDING);
            near_to("weights", sum_of(spent.wgrad_s), pass.wgrad_s, ROUNDING);
            rearranged += spent.fw_s[CALC_SPENT_RESHARD] > 0;
        }
    }
    ck_assert_int_eq(rearranged, 2); /* behind the embedding, and after 30 layers */
}

CALC_TEST(a_network_that_one_strategy_does_not_fit_on_is_told)
{
    set("rank_order=networks");
    set("tensor_par=2");
    set("context_par=2");
    set("data_par=32");
    set("context_par_net=0");
    calc_stats s = with("layers={\"blocks\": [40, 40], \"tensor_par\": [4, 2]}");
    ck_assert_int_ne(s.verdict, CALC_VERDICT_NETWORK_SIZE);
    s = with("layers={\"blocks\": [40, 40], \"tensor_par\": [8, 2]}");
    ck_assert_int_eq(s.verdict, CALC_VERDICT_NETWORK_SIZE);
    calc_reason reason[CALC_MAX_REASONS];
    ck_assert_uint_ge(calc_reasons(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &s, reason), 1);
    ck_assert_str_eq(reason[0].text, "network 0 connects 8 processors, the layout puts 16 on it");
}

/* ---- Slices ---------------------------------------------------------------------------------- */

CALC_TEST(a_stage_has_a_slice_for_each_of_its_strategies)
{
    static calc_placed p;
    calc_placed_stage slice;
    set("layers={\"blocks\": [10, 5, 65], \"tensor_par\": [8, 4, 8], \"ends\": {\"tensor_par\": "
        "2}}");
    set("microbatch_size=2");
    run(&c);
    calc_placed_of(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, NULL, NULL, &p);
    ck_assert_uint_eq(p.count, 3);
    ck_assert(calc_placed_slice_of(&p, 0, 2, &slice));
    ck_assert(!calc_placed_slice_of(&p, 0, 3, &slice));
    ck_assert(calc_placed_slice_of(&p, 1, 0, &slice));
    ck_assert(!calc_placed_slice_of(&p, 1, 1, &slice));
    ck_assert(calc_placed_slice_of(&p, 3, 1, &slice));
    ck_assert(!calc_placed_slice_of(&p, 3, 2, &slice));
    static const double want[][4] = {{2, 0, 1, 0}, {8, 15, 0, 0}, {4, 5, 0, 0}};
    for (size_t i = 0; i < 3; i++) {
        calc_placed_slice_of(&p, 0, i, &slice);
        ck_assert_double_eq(slice.layout->shape.tensor_par, want[i][0]);
        ck_assert_double_eq(slice.class.dense, want[i][1]);
        ck_assert_double_eq(slice.class.first, want[i][2]);
        ck_assert_double_eq(slice.class.last, want[i][3]);
    }
    calc_placed_stage_of(&p, 0, &slice);
    ck_assert_double_eq(slice.layout->shape.tensor_par, 8);
    ck_assert_double_eq(slice.class.dense, 20);
    set("layers=null");
    calc_placed_of(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, NULL, NULL, &p);
    ck_assert(calc_placed_slice_of(&p, 0, 0, &slice));
    ck_assert(!calc_placed_slice_of(&p, 0, 1, &slice));
}
