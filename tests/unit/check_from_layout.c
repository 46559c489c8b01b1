/* A pipeline of layouts of calc's: for the division that a layout itself has, the step and the
 * memory of every stage are calc's own. */
#include "balance/from_layout.h"

#include "balance/evaluate.h"
#include "frame.h"
#include "model/timeline.h"
#include "shipped_case.h"
#include "small_case.h"

enum { MAX_STAGES = 64 };

/* Sums in another order, of parts that were scaled. */
static void assert_close(double got, double want, const char *what, int stage)
{
    ck_assert_msg(fabs(got - want) <= 1e-9 * fabs(want), "%s of stage %d is %.17g, not %.17g", what,
                  stage, got, want);
}

static calc_balance_problem problem;
static calc_balance_share share[CALC_BALANCE_PLACES];
static calc_layout base, selective;
static calc_exec base_exec;

/* Parts of a layer that are recomputed belong to the problem beside one of its ends. */
static calc_balance_chip make(const shipped_case *c, calc_activation_recompute of)
{
    bool selects = c->exec.strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
    base_exec = c->exec;
    base_exec.recompute_blocks = 0;
    base_exec.strategy.activation_recompute = of;
    calc_layout_of(&c->app, &c->system, &base_exec, CALC_COMPAT_NONE, NULL, NULL, &base);
    calc_layout_of(&c->app, &c->system, &c->exec, CALC_COMPAT_NONE, NULL, NULL, &selective);
    const calc_balance_chip chip = {&base, selects ? &selective : NULL, NULL};
    const char *why = calc_balance_of_layouts(&chip, 1, NULL, &problem);
    ck_assert_msg(why == NULL, "%s", why);
    return chip;
}

/* The layers of a chunk; false if it has parts of some. */
static bool count_layers(const calc_timeline *t, const calc_stage_class *at,
                         int count[CALC_BALANCE_KINDS])
{
    bool alternate = t->placed.recipe[0].shape.moe_every > 1;
    double dense = alternate ? 0 : at->dense;
    double moe = alternate ? at->dense + at->moe : at->moe;
    count[0] = (int)lround(dense);
    count[1] = (int)lround(moe);
    return fabs(dense - count[0]) + fabs(moe - count[1]) < 1e-9;
}

/* The division that the layout itself has; false if a chunk of it has parts of layers. */
static bool divide(const shipped_case *c, const calc_timeline *t)
{
    calc_activation_recompute again = c->exec.strategy.activation_recompute;
    int few = (int)(c->exec.recompute_blocks / t->shape.chunks);
    for (int stage = 0; stage < t->shape.stages; stage++) {
        for (int chunk = 0; chunk < t->shape.chunks; chunk++) {
            calc_stage_class at = calc_timeline_chunk_class(t, stage, chunk);
            calc_balance_share *of = &share[calc_balance_place_of(&problem.shape, stage, chunk)];
            *of = (calc_balance_share){{0}, {0}, {0}};
            if (!count_layers(t, &at, of->layers)) {
                return false;
            }
            for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
                int n = of->layers[kind];
                of->selective[kind] = again == CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY ? n : 0;
                of->full[kind] = again != CALC_ACTIVATION_RECOMPUTE_FULL ? 0
                                 : few > 0 && few < n                    ? few
                                                                         : n;
            }
        }
    }
    return true;
}

static calc_stats exact(const shipped_case *c)
{
    calc_stats stats;
    calc_errors errors = {0};
    size_t bytes;
    ck_assert_int_eq(calc_exact_bytes(&c->exec, &bytes, &errors), CALC_OK);
    void *room = malloc(bytes);
    calc_run_exact(&c->app, &c->system, &c->exec, room, &stats);
    free(room);
    return stats;
}

/* Whether the first layer's forward pass is the same where the host makes layers wait: it waits as
 * long in all, but the wait is spread over the passes as they are. */
static bool same_forward(const calc_layout *a, const calc_layout *b)
{
    return fabs(a->terms.block[0].fw_s - b->terms.block[0].fw_s) < 1e-12 &&
           fabs(a->terms.block[1].fw_s - b->terms.block[1].fw_s) < 1e-12;
}

/* Whether all chunks of a stage hold the same, so that micro-batches in flight are those of the
 * whole stage, as calc counts them. */
static bool chunks_alike(int stage)
{
    int first = calc_balance_place_of(&problem.shape, stage, 0);
    for (int chunk = 1; chunk < problem.shape.chunks; chunk++) {
        int place = calc_balance_place_of(&problem.shape, stage, chunk);
        if (memcmp(&share[place], &share[first], sizeof *share) != 0 ||
            problem.place[place].flight_bytes != problem.place[first].flight_bytes) {
            return false;
        }
    }
    return true;
}

/* The simulated pipeline, the whole step, and the memory of all stages.
 * @return false if layers of the layout are in parts on several stages */
static bool check(const shipped_case *c, calc_activation_recompute of)
{
    static calc_stage_stats row[MAX_STAGES];
    calc_timeline t;
    calc_timeline_of(&c->app, &c->system, &c->exec, CALC_COMPAT_NONE, &t);
    const calc_balance_chip chip = make(c, of);
    if (!t.fits || !divide(c, &t)) {
        return false;
    }
    calc_stats stats = exact(c);
    calc_balance_answer answer;
    ck_assert_int_eq(calc_balance_evaluate(&problem, share, &answer), CALC_OK);
    if (same_forward(&base, &t.placed.recipe[0])) {
        double total_s = calc_balance_step_of(&chip, &problem, share, answer.step_s).total_s;
        assert_close(answer.step_s, t.closed_s / (1 + stats.pipeline_closed_form_error), "step",
                     -1);
        assert_close(total_s, stats.total_time, "total", -1);
    }
    size_t count =
        calc_each_stage(&c->app, &c->system, &c->exec, CALC_COMPAT_NONE, row, MAX_STAGES);
    ck_assert_uint_eq(count, (size_t)problem.shape.stages);
    int stages = 0;
    for (int i = 0; i < (int)count; i++) {
        double pass_s = 0;
        for (int chunk = 0; chunk < problem.shape.chunks; chunk++) {
            int place = calc_balance_place_of(&problem.shape, i, chunk);
            calc_schedule_pass p = calc_balance_pass_of(&problem, place, &share[place]);
            pass_s += p.fw_s + p.bw_s + p.wgrad_s;
        }
        assert_close(pass_s, row[i].fw_time + row[i].bw_time, "time", i);
        if (chunks_alike(i)) {
            stages++;
            assert_close(answer.peak_bytes[i], row[i].mem_tier1, "memory", i);
        }
    }
    ck_assert_int_ge(stages, (int)count - 2);
    return true;
}

/* All recomputation, from every base that has the same ends: the block of multi-token prediction,
 * which is one of them, recomputes as the base does.
 * @return how many divisions were compared */
static int check_all(shipped_case c)
{
    bool same_ends = c.app.mtp_blocks == 0;
    static const calc_activation_recompute kinds[] = {CALC_ACTIVATION_RECOMPUTE_NONE,
                                                      CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY,
                                                      CALC_ACTIVATION_RECOMPUTE_FULL};
    int compared = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        c.exec.strategy.activation_recompute = kinds[i];
        c.exec.recompute_blocks = 0;
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k += 2) {
            bool reaches = same_ends ? k > 0 || i < 2 : k == i;
            compared += reaches && check(&c, kinds[k]);
        }
    }
    return compared;
}

static shipped_case layout_of(int i)
{
    shipped_case c = modern_layout(i);
    if (c.exec.pipeline_schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE) {
        c.exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_1F1B;
        c.exec.pipeline_balance = CALC_PIPELINE_BALANCE_BLOCKS;
    }
    return c;
}

CALC_TEST(the_division_of_a_layout_takes_and_holds_what_calc_says)
{
    for (int i = 0; i < MODERN_LAYOUTS; i++) {
        shipped_case c = layout_of(i);
        int cases = c.app.mtp_blocks > 0 ? 2 : 5;
        ck_assert_int_eq(check_all(c), cases);
        c.exec.strategy.data_par_overlap = !c.exec.strategy.data_par_overlap;
        c.exec.strategy.pipeline_par_overlap = !c.exec.strategy.pipeline_par_overlap;
        c.exec.pipeline_interleaving = 1;
        ck_assert_int_eq(check_all(c), cases);
    }
}

/* 405B on 16 stages: 6, 14 of 8, 8; 16 or 1 of them recompute. */
CALC_TEST(so_do_given_ends_few_recomputed_layers_and_other_schedules)
{
    shipped_case c = layout_of(0);
    c.exec.pipeline_balance = CALC_PIPELINE_BALANCE_BLOCKS;
    c.exec.pipeline_interleaving = 1;
    c.exec.first_stage_blocks = 6;
    c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    for (c.exec.recompute_blocks = 1; c.exec.recompute_blocks < 4; c.exec.recompute_blocks++) {
        ck_assert(check(&c, CALC_ACTIVATION_RECOMPUTE_FULL));
    }
    ck_assert_int_eq(check_all(c), 5);
    c.app.tied_embeddings = CALC_CHOICE_TRUE;
    ck_assert_int_eq(check_all(c), 5);
    ck_assert_double_gt(base.links.tied_s, 0);
    static const calc_pipeline_schedule others[] = {
        CALC_PIPELINE_SCHEDULE_GPIPE, CALC_PIPELINE_SCHEDULE_ZB_H1, CALC_PIPELINE_SCHEDULE_ZB_H2};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        c.exec.pipeline_schedule = others[i];
        c.exec.batch_size = 128 * 32;
        ck_assert_int_eq(check_all(c), 5);
    }
}

/* Every other layer of Mixtral with experts: a layer of the problem is half of each. */
CALC_TEST(layers_of_alternating_kinds_are_their_mean)
{
    shipped_case c = layout_of(4);
    c.app.moe_every = 2;
    ck_assert_int_eq(check_all(c), 5);
    ck_assert_int_eq(problem.layers[0], 0);
    ck_assert_int_eq(problem.layers[1], c.app.num_blocks);
}

/* Two stages on a fast machine between slow ones: each has the layers of its own; a message between
 * different ones is the slower one's. */
CALC_TEST(stages_are_those_of_their_chips)
{
    static const int of[] = {1, 0, 0, 1};
    shipped_case c = layout_of(4);
    calc_system slow = c.system;
    calc_layout fast_layout;
    calc_layout slow_layout;
    c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    slow.chip.mem1.capacity_bytes /= 2;
    slow.step_overhead_s = 1;
    for (int64_t i = 0; i < slow.networks_count; i++) {
        slow.networks[i].bytes_per_s /= 4;
    }
    calc_layout_of(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, NULL, NULL, &fast_layout);
    calc_layout_of(&c.app, &slow, &c.exec, CALC_COMPAT_NONE, NULL, NULL, &slow_layout);
    const calc_balance_chip chip[] = {{&fast_layout, NULL, NULL}, {&slow_layout, NULL, NULL}};
    ck_assert_int_eq(c.exec.pipeline_par, 4);
    ck_assert_ptr_null(calc_balance_of_layouts(chip, 2, of, &problem));
    ck_assert_int_eq(problem.chips, 2);
    ck_assert_double_gt(problem.layer[1][1].fw_s, problem.layer[0][1].fw_s);
    double fast_s = fast_layout.links.message_s * fast_layout.exposed;
    double slow_s = slow_layout.links.message_s * slow_layout.exposed;
    ck_assert_double_gt(slow_s, 2 * fast_s);
    assert_near(problem.place[1].fw_s, fast_s);
    assert_near(problem.place[1].agrad_s, slow_s);
    assert_near(problem.place[2].fw_s, slow_s);
    assert_near(problem.place[2].agrad_s, fast_s);
    for (int i = 0; i < 4; i++) {
        double capacity = of[i] ? slow.chip.mem1.capacity_bytes : c.system.chip.mem1.capacity_bytes;
        ck_assert_int_eq(problem.stage[i].chip, of[i]);
        ck_assert_double_eq(problem.stage[i].limit_bytes, capacity);
    }
    /* All stages on the fast one but for the fixed time and the slowest reduction. */
    memset(share, 0, sizeof share);
    for (int i = 0; i < 4; i++) {
        share[i].layers[1] = 8;
    }
    double reduced_s = calc_balance_step_of(chip, &problem, share, 0).total_s;
    ck_assert_ptr_null(calc_balance_of_layouts(chip, 1, NULL, &problem));
    double fast_reduced_s = calc_balance_step_of(chip, &problem, share, 0).total_s;
    ck_assert_double_gt(reduced_s - slow.step_overhead_s,
                        2 * (fast_reduced_s - c.system.step_overhead_s));
}

CALC_TEST(layouts_that_are_not_linear_in_their_layers_are_refused)
{
    shipped_case c = layout_of(0);
    const calc_balance_chip chip = {&base, NULL, NULL};
    calc_layout_of(&c.app, &c.system, &c.exec, CALC_COMPAT_CALCULON, NULL, NULL, &base);
    ck_assert_ptr_nonnull(strstr(calc_balance_of_layouts(&chip, 1, NULL, &problem), "Calculon"));
    c.exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_DUALPIPE;
    calc_layout_of(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, NULL, NULL, &base);
    ck_assert_ptr_nonnull(strstr(calc_balance_of_layouts(&chip, 1, NULL, &problem), "DualPipe"));
    c = layout_of(0);
    c.exec.strategy.weight_offload = true;
    calc_layout_of(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, NULL, NULL, &base);
    ck_assert_ptr_nonnull(strstr(calc_balance_of_layouts(&chip, 1, NULL, &problem), "second"));
    c = layout_of(0);
    c.exec.training = false;
    calc_layout_of(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, NULL, NULL, &base);
    ck_assert_ptr_nonnull(strstr(calc_balance_of_layouts(&chip, 1, NULL, &problem), "train"));
    c = layout_of(0);
    c.exec.pipeline_interleaving = 64;
    calc_layout_of(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, NULL, NULL, &base);
    ck_assert_ptr_nonnull(strstr(calc_balance_of_layouts(&chip, 1, NULL, &problem), "more stages"));
}
