/* The fast path is calc_run() to the bit: verification of every point of random spaces, at every
 * CPU level; and a kernel that is wrong in the last bit is caught. */
#include <math.h>
#include <stdlib.h>

#include "frame.h"
#include "kernel.h"
#include "random_space.h"
#include "sampled.h"
#include "units.h"

enum { SPACES = 100, MOST_LAYOUTS = 30000 };

CALC_TEST_LOOP(every_point_of_a_random_space_is_what_calc_run_says, 0, sample_of(SPACES))
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

/* ---- The kernel's shortest step of a lane, and what the lane's points take ------------------- */

static size_t lanes_compared;
static const calc_kernel *tested;

/* The shortest of the steps that are allowed. */
static double best_of(const calc_stage_step *step, bool allowed[2][2])
{
    double best_s = CALC_KERNEL_NEVER_S;
    for (int i = 0; i < 4; i++) {
        best_s = allowed[i / 2][i % 2] ? fmin(best_s, step->total_s[i / 2][i % 2]) : best_s;
    }
    return best_s;
}

/* The kernel under test, checked lane by lane against calc_kernel_lane_step(), and that against
 * the step itself. */
static size_t checked_step(const calc_kernel_job *job, const calc_kernel_chunking *chunking,
                           const calc_stage_links *links, const calc_kernel_needs *needs,
                           const calc_kernel_pipelines *pipelines, bool allowed[2][2],
                           calc_lanes *best_s)
{
    size_t hits = tested->step(job, chunking, links, needs, pipelines, allowed, best_s);
    for (size_t lane = 0; lane < job->panel->count; lane++) {
        calc_stage_links own = *links;
        own.message_s = pipelines->message_s.of[lane];
        own.back_message_s = pipelines->back_message_s.of[lane];
        calc_stage_step least = calc_kernel_lane_step(job, chunking, &own, lane, true);
        calc_stage_step step = calc_kernel_lane_step(job, chunking, &own, lane, false);
        double want_s = best_of(&least, allowed);
        ck_assert_double_le(want_s, best_of(&step, allowed));
        ck_assert_msg(best_s->of[lane] == want_s, "lane %zu of %zu: %.17g, not %.17g", lane,
                      job->panel->count, best_s->of[lane], want_s);
        ck_assert(needs->tier1_bytes.of[lane] == step.tier1_bytes);
        ck_assert(needs->tier2_bytes.of[lane] == step.tier2_bytes);
        lanes_compared++;
    }
    return hits;
}

CALC_TEST_LOOP(the_kernel_agrees_with_its_lanes_at_every_level, 0, sample_of(SPACES))
{
    calc_kernel_level level[4];
    size_t levels = calc_kernel_levels(level);
    random_space s;
    random_space_make(&s, 1000 + (uint64_t)_i, MOST_LAYOUTS);
    calc_sweep_options options = {.no_prune = true,
                                  .compat = _i % 2 ? CALC_COMPAT_CALCULON : CALC_COMPAT_NONE};
    for (size_t i = 0; i < levels; i++) {
        tested = level[i].run;
        calc_kernel checked = *tested;
        checked.step = checked_step;
        lanes_compared = 0;
        calc_worker *w = calc_worker_create(&s.space, &options, &checked, 1);
        calc_units units = {0};
        ck_assert_ptr_nonnull(w);
        calc_worker_begin(w, &s.app[0], &s.system[0], 0);
        ck_assert_int_eq(calc_units_list(&units, &s.space, w->app, w->system, options.compat),
                         CALC_OK);
        for (size_t u = 0; u < units.count; u++) {
            calc_units_run(w, &units, u);
        }
        ck_assert_int_eq(w->status, CALC_OK);
        ck_assert(lanes_compared > 0 || w->counts.feasible == 0);
        calc_units_free(&units);
        calc_worker_free(w);
    }
    random_space_free(&s);
}
