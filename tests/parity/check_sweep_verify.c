/* The fast path is calc_run() to the bit: verification of every point of random spaces, at every
 * CPU level; and a kernel that is wrong in the last bit is caught. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "kernel.h"
#include "random_space.h"
#include "sampled.h"
#include "units.h"

enum { SPACES = 100, MOST_LAYOUTS = 30000 };

START_TEST(every_point_of_a_random_space_is_what_calc_run_says)
{
    random_space s;
    calc_kernel_level level[4];
    size_t levels = calc_kernel_levels(level);
    calc_rng rng;
    calc_rng_init(&rng, (uint64_t)_i, 3);
    const calc_compat compat[] = {CALC_COMPAT_NONE, CALC_COMPAT_REPAIRED, CALC_COMPAT_CALCULON,
                                  random_compat(&rng)};
    enum { COMPATS = sizeof compat / sizeof *compat };
    random_space_make(&s, 1000 + (uint64_t)_i, MOST_LAYOUTS);
    for (size_t i = 0; i < levels * COMPATS; i++) {
        calc_sweep_options options = {
            .compat = compat[i % COMPATS],
            .no_prune = true,
            .verify = 1,
            .threads = 1,
            .cpu = level[i / COMPATS].name,
        };
        calc_sweep_result result;
        calc_errors errors = {0};
        calc_status status = calc_sweep(&s.space, &s.designs, &options, &result, &errors);
        if (status != CALC_OK) {
            random_space_print(&s, stderr);
        }
        ck_assert_msg(status == CALC_OK, "%s", errors.item[0].text);
        ck_assert_uint_eq(result.counts.skipped, 0);
        calc_sweep_result_free(&result);
    }
    random_space_free(&s);
}
END_TEST

/* ---- The kernel's shortest step of a lane, and what the lane's points take ------------------- */

static size_t lanes_compared;
static calc_kernel *tested;

/* The shortest of the steps that a tile allows. */
static double best_of(const calc_kernel_tile *tile, const calc_stage_step *step)
{
    double best_s = CALC_KERNEL_NEVER_S;
    for (int i = 0; i < 4; i++) {
        bool allowed = tile->allowed[i / 2][i % 2];
        best_s = allowed ? fmin(best_s, step->total_s[i / 2][i % 2]) : best_s;
    }
    return best_s;
}

/* The kernel under test, checked lane by lane against calc_kernel_lane_least(), and that against
 * the step itself. */
static void checked_kernel(const calc_kernel_tile *tile, calc_kernel_out *out)
{
    tested(tile, out);
    for (size_t lane = tile->first; lane < tile->first + tile->count; lane++) {
        calc_stage_step least = calc_kernel_lane_least(tile, lane);
        calc_stage_step step = calc_kernel_lane_step(tile, lane);
        double best_s = best_of(tile, &least);
        ck_assert_double_le(best_s, best_of(tile, &step));
        ck_assert_msg(out->feasible == 0 || out->best_s[lane] == best_s,
                      "lane %zu of %zu: %.17g, not %.17g", lane, tile->count, out->best_s[lane],
                      best_s);
        lanes_compared++;
    }
}

START_TEST(the_kernel_agrees_with_its_lanes_at_every_level)
{
    calc_kernel_level level[4];
    size_t levels = calc_kernel_levels(level);
    random_space s;
    random_space_make(&s, 1000 + (uint64_t)_i, MOST_LAYOUTS);
    calc_sweep_options options = {.no_prune = true,
                                  .compat = _i % 2 ? CALC_COMPAT_CALCULON : CALC_COMPAT_NONE};
    for (size_t i = 0; i < levels; i++) {
        tested = level[i].run;
        lanes_compared = 0;
        calc_worker *w = calc_worker_create(&s.space, &options, checked_kernel, 1);
        calc_units units = {0};
        ck_assert_ptr_nonnull(w);
        w->app = &s.app[0];
        w->system = &s.system[0];
        ck_assert_int_eq(calc_units_list(&units, &s.space, w->app, w->system, options.compat),
                         CALC_OK);
        for (size_t u = 0; u < units.count; u++) {
            calc_units_run(w, &units, u);
        }
        ck_assert_int_eq(w->status, CALC_OK);
        ck_assert(lanes_compared > 0 || w->counts.evaluated == 0);
        calc_units_free(&units);
        calc_worker_free(w, 1);
    }
    random_space_free(&s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sweep_verify");
    TCase *tests = tcase_create("verify");
    tcase_add_loop_test(tests, every_point_of_a_random_space_is_what_calc_run_says, 0,
                        sample_of(SPACES));
    tcase_add_loop_test(tests, the_kernel_agrees_with_its_lanes_at_every_level, 0,
                        sample_of(SPACES));
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
