/* A plan against all divisions there are: every number of blocks and of recomputed ones on every
 * stage, in every place, judged by calc_run(). */
#include "plan/planner.h"

#include "base/rng.h"
#include "frame.h"
#include "plan/planner_place.h"
#include "plan_case.h"
#include "sampled.h"

/* ---- All divisions --------------------------------------------------------------------------- */

/* Blocks and recomputed ones of every stage are counted through. */
typedef struct brute {
    const plan_case *c;
    const calc_planner_place *place;
    int stages;
    bool empty; /* the first and the last may have no blocks */
    bool part;  /* every layer recomputes the part of itself that the layout says, none all */
    int blocks[8], again[8];
    long tried;
    double best_s;
} brute;

static calc_exec exec_of(const brute *b)
{
    const calc_planner *p = &b->c->planner;
    calc_exec e = b->c->only;
    calc_stage_run run[8];
    uint8_t chip[CALC_MAX_CHIPS] = {0};
    memset(&e.stages, 0, sizeof e.stages);
    for (int i = 0; i < b->place->kinds && b->place->kinds > 1; i++) {
        const calc_planner_chip *of = &p->chip[b->place->chip[i]];
        chip[i] = (uint8_t)calc_stage_list_chip(&e.stages, of->name);
        e.stages.system[chip[i] - 1] = &of->system;
    }
    e.stages.join_latency_s = b->place->kinds > 1 ? p->join_latency_s : 0;
    int kind = 0;
    int left = b->place->stages[0];
    for (int i = 0; i < b->stages; i++) {
        while (left == 0) {
            left = b->place->stages[++kind];
        }
        left--;
        run[i] =
            (calc_stage_run){1,
                             (int16_t)b->blocks[i],
                             b->part ? CALC_STAGE_AS_EXEC : (int16_t)b->again[i],
                             b->again[i] > 0 ? CALC_ACTIVATION_RECOMPUTE_FULL : CALC_STAGE_AS_EXEC,
                             chip[kind],
                             0};
    }
    ck_assert(calc_stage_list_pack(run, b->stages, &e.stages));
    return e;
}

static void try_one(brute *b)
{
    const calc_system *system = &b->c->chip[b->place->chip[0]].system;
    calc_exec e = exec_of(b);
    calc_stats stats;
    calc_errors errors = {0};
    calc_resolve(&b->c->app, system, &e);
    ck_assert_msg(calc_check(&b->c->app, system, &e, &errors) == CALC_OK, "%s",
                  errors.item[0].text);
    b->tried++;
    if (calc_run(&b->c->app, system, &e, CALC_COMPAT_NONE, &stats) == CALC_VERDICT_OK &&
        stats.total_time < b->best_s) {
        b->best_s = stats.total_time;
    }
}

/* Whether stages on one chip recompute equally many blocks, or all they have if these are fewer. */
static bool is_alike(const brute *b)
{
    int first = 0;
    for (int k = 0; k < b->place->kinds; first += b->place->stages[k++]) {
        int number = -1;
        int most = 0;
        for (int i = first; i < first + b->place->stages[k]; i++) {
            bool all = b->again[i] == b->blocks[i];
            if (!all && number >= 0 && number != b->again[i]) {
                return false;
            }
            number = all ? number : b->again[i];
            most = b->again[i] > most ? b->again[i] : most;
        }
        if (number >= 0 && most > number) {
            return false;
        }
    }
    return true;
}

static void try_rest(brute *b, int stage, int left)
{
    if (stage == b->stages) {
        if (!b->c->planner.alike_on_chip || is_alike(b)) {
            try_one(b);
        }
        return;
    }
    int later = b->stages - 1 - stage;
    int least = b->empty && (stage == 0 || later == 0) ? 0 : 1;
    int behind = later > 0 && b->empty ? later - 1 : later; /* that they need at least */
    for (int n = later > 0 ? least : left; n >= least && n <= left - behind; n++) {
        for (int again = 0; again <= (b->c->planner.recompute && !b->part ? n : 0); again++) {
            b->blocks[stage] = n;
            b->again[stage] = again;
            try_rest(b, stage + 1, left - n);
        }
    }
}

static bool try_place(void *context, const calc_planner_place *place)
{
    brute *b = context;
    b->place = place;
    try_rest(b, 0, (int)b->c->app.num_blocks);
    return true;
}

/* The shortest step of all; INFINITY if nothing fits. */
static double best_of_all(const plan_case *c, brute *b)
{
    *b = (brute){.c = c,
                 .stages = (int)c->only.pipeline_par,
                 .empty = c->planner.ends_alone,
                 .best_s = INFINITY};
    bool part = calc_planner_keeps_part(&c->only);
    for (int i = part && !c->planner.recompute; i <= part; i++) {
        b->part = i > 0;
        calc_planner_places(&c->planner, &c->only, try_place, b);
    }
    return b->best_s;
}

/* ---- What is found --------------------------------------------------------------------------- */

/* The statistics are those of the execution, to the bit. */
static void check_stats(const plan_case *c, const calc_planner_found *f)
{
    static calc_stats stats;
    calc_exec e = f->exec;
    const calc_system *system = &c->chip[f->chip].system;
    memset(&stats, 0, sizeof stats);
    calc_resolve(&c->app, system, &e);
    ck_assert_int_eq(calc_run(&c->app, system, &e, CALC_COMPAT_NONE, &stats), CALC_VERDICT_OK);
    ASSERT_SAME_STATS(&stats, &f->stats);
}

/* The step with its pipeline simulated. */
static double exact_s(const plan_case *c, const calc_system *system, const calc_exec *e)
{
    calc_stats stats;
    calc_errors errors = {0};
    size_t bytes;
    ck_assert_int_eq(calc_exact_bytes(e, &bytes, &errors), CALC_OK);
    void *room = malloc(bytes);
    calc_run_exact(&c->app, system, e, room, &stats);
    free(room);
    return stats.total_time;
}

/* What the planner takes the step for is the simulated step, but for two things. The problem has a
 * head that gathers again in its backward pass (seq_par_ag_redo), that of a stage which recomputes
 * blocks does not; and the reduction is hidden as if all stages could recompute. */
static void check_planned(const plan_case *c, const calc_planner_found *f)
{
    static calc_planner_layouts l;
    double simulated_s = exact_s(c, &c->chip[f->chip].system, &f->exec);
    double gathers_s = 0;
    ck_assert(calc_planner_layouts_of(&c->planner, &f->base, &l));
    for (int i = 0; i < f->place.kinds && l.recompute; i++) {
        int chip = f->place.chip[i];
        const calc_stage_terms *none = &l.of_none[chip].terms;
        double each_s = none->head.agrad_s - l.of_full[chip].terms.head.agrad_s;
        gathers_s = fmax(gathers_s, each_s * none->microbatches * (1 + none->growth));
    }
    ck_assert_double_ge(f->planned_s, simulated_s * (1 - 1e-9));
    ck_assert_double_le(f->planned_s, simulated_s * (1 + 1e-6) + gathers_s);
}

/* @return whether a layout fits */
static bool compare(const plan_case *c)
{
    brute b;
    calc_planner_result r = plan_case_run(&c->planner);
    const calc_planner_found *f = r.found;
    bool fits = best_of_all(c, &b) < INFINITY;
    ck_assert_uint_eq(r.count, fits ? 1 : 0);
    ck_assert(r.complete);
    if (fits) {
        ck_assert_double_eq_tol(f->stats.total_time, b.best_s, 1e-6 * b.best_s);
        ck_assert_double_le(f->bound_s, f->stats.total_time);
        ck_assert_double_ge(f->bound_s, f->stats.total_time * (1 - 1e-6) -
                                            fabs(f->planned_s - f->stats.total_time));
        ck_assert(f->proven);
        ck_assert_int_eq(f->rounds, 0);
        check_stats(c, f);
        check_planned(c, f);
    } else {
        ck_assert_uint_eq(r.infeasible, r.candidates);
        ck_assert_double_gt(r.needs_bytes, r.has_bytes);
        ck_assert_double_gt(r.has_bytes, 0);
    }
    calc_planner_result_free(&r);
    return fits;
}

static void set_memory(plan_case *c, double first_bytes, double second_bytes)
{
    c->chip[0].system.chip.mem1.capacity_bytes = first_bytes;
    c->chip[1].system.chip.mem1.capacity_bytes = second_bytes;
}

/* What the quickest division needs, and less of it, until nothing fits. */
CALC_TEST(the_plan_is_the_best_of_all_divisions)
{
    static const int sizes[][3] = {{6, 2, 4}, {7, 3, 6}, {8, 4, 8}, {9, 3, 2}, {10, 2, 12}};
    int fit = 0;
    int binds = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int chips = 1; chips <= 2; chips++) {
            plan_case c;
            plan_case_init(&c, sizes[i][0], sizes[i][1], sizes[i][2], chips);
            ck_assert(compare(&c));
            calc_planner_result r = plan_case_run(&c.planner);
            double peak_bytes = r.found[0].stats.proc_mem_tier1_cap_req;
            double free_s = r.found[0].stats.total_time;
            calc_planner_result_free(&r);
            for (int less = 1; less<6; less += sample_step()> 1 ? 2 : 1) {
                set_memory(&c, peak_bytes * (1.01 - .05 * less), peak_bytes * (1.01 - .06 * less));
                bool fits = compare(&c);
                r = plan_case_run(&c.planner);
                fit += fits;
                binds += fits && r.found[0].stats.total_time > free_s;
                calc_planner_result_free(&r);
            }
        }
    }
    ck_assert_int_ge(fit, sample_step() > 1 ? 18 : 30);
    ck_assert_int_ge(binds, sample_step() > 1 ? 18 : 30);
}

CALC_TEST(so_it_is_without_recomputation_in_one_order_and_with_latency_between_chips)
{
    plan_case c;
    plan_case_init(&c, 8, 3, 6, 2);
    c.planner.join_latency_s = .01;
    ck_assert(compare(&c));
    c.planner.keep_order = true;
    ck_assert(compare(&c));
    c.chip[0].most_procs = 16;
    c.chip[1].most_procs = 8;
    ck_assert(compare(&c));
    c.planner.recompute = false;
    ck_assert(compare(&c));
    calc_planner_result r = plan_case_run(&c.planner);
    double peak_bytes = r.found[0].stats.proc_mem_tier1_cap_req;
    calc_planner_result_free(&r);
    set_memory(&c, peak_bytes * .8, peak_bytes * .8);
    ck_assert(!compare(&c));
    c.planner.recompute = true;
    ck_assert(compare(&c));
}

/* Two stages of 3 blocks: what fits with a byte more does not with a byte less. */
CALC_TEST(what_does_not_fit_says_what_a_stage_needs)
{
    plan_case c;
    plan_case_init(&c, 6, 2, 4, 1);
    set_memory(&c, 0x1p30, 0);
    calc_planner_result r = plan_case_run(&c.planner);
    ck_assert_uint_eq(r.count, 0);
    ck_assert_uint_eq(r.candidates, 1);
    ck_assert_uint_eq(r.balanced, 1);
    ck_assert_uint_eq(r.infeasible, 1);
    ck_assert(r.complete);
    ck_assert_double_eq(r.has_bytes, 0x1p30);
    ck_assert_int_ge(r.lacking_stage, 0);
    ck_assert_int_le(r.lacking_stage, 1);
    ck_assert_int_eq(r.lacking.pipeline_par, 2);
    double needs_bytes = r.needs_bytes;
    calc_planner_result_free(&r);
    set_memory(&c, needs_bytes * (1 + 1e-6), 0);
    ck_assert(compare(&c));
    set_memory(&c, needs_bytes * (1 - 1e-6), 0);
    ck_assert(!compare(&c));
}

/* Two stages of 3 blocks; the first recomputes all of its blocks. */
CALC_TEST(what_a_stage_holds_does_not_depend_on_what_others_recompute)
{
    static const calc_planner_place place = {.kinds = 1, .stages = {2}};
    double first_bytes[4];
    double second_bytes[4];
    plan_case c;
    plan_case_init(&c, 6, 2, 4, 1);
    for (int again = 0; again < 4; again++) {
        brute b = {.c = &c, .place = &place, .stages = 2, .blocks = {3, 3}, .again = {3, again}};
        calc_stage_stats stage[2];
        calc_exec e = exec_of(&b);
        calc_resolve(&c.app, &c.chip[0].system, &e);
        ck_assert_uint_eq(
            calc_each_stage(&c.app, &c.chip[0].system, &e, CALC_COMPAT_NONE, stage, 2), 2);
        first_bytes[again] = stage[0].mem_tier1;
        second_bytes[again] = stage[1].mem_tier1;
    }
    for (int again = 1; again < 4; again++) {
        ck_assert_double_eq_tol(first_bytes[again], first_bytes[0], 1e-9 * first_bytes[0]);
    }
    /* Each block that recomputes saves the same, beside the room for the one at hand. */
    double saved_bytes = second_bytes[1] - second_bytes[2];
    ck_assert_double_gt(saved_bytes, 0);
    ck_assert_double_eq_tol(second_bytes[2] - second_bytes[3], saved_bytes, 1e-9 * first_bytes[0]);
}

CALC_TEST(a_layout_that_is_not_linear_is_refused)
{
    plan_case c;
    calc_errors errors = {0};
    calc_planner_result r;
    plan_case_init(&c, 6, 2, 4, 1);
    c.only.strategy.weight_offload = true;
    ck_assert_int_eq(calc_planner_run(&c.planner, &r, &errors), CALC_ERR_RULE);
    ck_assert_int_eq(errors.count, 1);
    ck_assert_str_eq(errors.item[0].text,
                     "nothing to balance: a layout that keeps something in the second memory tier "
                     "has layers that wait for it");
    calc_planner_result_free(&r);
}

/* calc_planner.progress: says to stop when it is asked again. */
static bool at_the_second_call(void *context, const calc_planner_progress *progress)
{
    (void)progress;
    return ++*(int *)context > 1;
}

CALC_TEST(a_search_ends_amid_a_division_that_takes_long)
{
    int calls = 0;
    plan_case c;
    plan_case_init(&c, 48, 4, 1 << 24, 1);
    c.only.pipeline_interleaving = 3;
    c.planner.progress = at_the_second_call;
    c.planner.context = &calls;
    calc_planner_result r = plan_case_run(&c.planner);
    ck_assert_int_ge(calls, 2);
    ck_assert(!r.complete);
    calc_planner_result_free(&r);
}

/* ---- Random instances -------------------------------------------------------------------------
 */

static int64_t one_of(calc_rng *rng, int count, const int *value)
{
    return value[calc_rng_below(rng, (uint32_t)count)];
}
#define ONE_OF(rng, ...)                                                                           \
    one_of(rng, sizeof((int[]){__VA_ARGS__}) / sizeof(int), (int[]){__VA_ARGS__})

static double real_between(calc_rng *rng, double least, double most)
{
    return least + (most - least) * calc_rng_real(rng);
}

/* Up to nine blocks on up to four stages: dense, with experts, with multi-token prediction or with
 * heads that do not divide; on one chip or two; as much memory as about the quickest needs. */
static void random_case(plan_case *c, int seed)
{
    static const char *const chips[] = {"a800", "h800", "h100_sxm", "ascend_910b"};
    static const char *const models[] = {"llama2-7B", "llama2-7B", "mixtral-8x7B",
                                         "deepseek-v2-lite"};
    calc_rng rng;
    calc_rng_init(&rng, 38, (uint64_t)seed);
    int stages = (int)ONE_OF(&rng, 2, 3, 4, 4);
    int kinds = 1 + (int)calc_rng_below(&rng, 2);
    plan_case_init(c, 1, stages, 1, kinds);
    load_shipped(CALC_KIND_APP, &c->app, "models", models[calc_rng_below(&rng, 4)]);
    calc_app *app = &c->app;
    app->num_blocks = stages + 1 + (int)calc_rng_below(&rng, stages < 4 ? 9 - (uint32_t)stages : 4);
    app->seq_size = ONE_OF(&rng, 2048, 4096);
    app->vocab_size = ONE_OF(&rng, 32000, 128000, 256000);
    if (app->num_experts > 0) {
        app->dense_blocks = ONE_OF(&rng, 0, 1, 2);
        app->mtp_blocks = ONE_OF(&rng, 0, 1);
    }
    int first = (int)calc_rng_below(&rng, 4);
    for (int i = 0; i < kinds; i++) {
        const char *name = chips[(first + i) % 4];
        snprintf(c->chip[i].name, sizeof c->chip[i].name, "%s", name);
        load_shipped(CALC_KIND_SYSTEM, &c->chip[i].system, "systems", name);
    }
    calc_exec *e = &c->only;
    int64_t tp = ONE_OF(&rng, 1, 2, 4);
    int64_t dp = ONE_OF(&rng, 1, 2);
    int64_t m = ONE_OF(&rng, stages, stages + 1, 2 * stages, 8);
    e->strategy.tensor_par = tp;
    e->strategy.data_par = dp;
    e->microbatch_size = ONE_OF(&rng, 1, 2);
    e->num_procs = tp * dp * stages;
    e->batch_size = dp * e->microbatch_size * m;
    e->strategy.attention_type = app->kv_lora_rank > 0 ? CALC_ATTENTION_TYPE_MULTI_LATENT
                                 : app->kv_heads > 0   ? CALC_ATTENTION_TYPE_GROUPED_QUERY
                                                       : CALC_ATTENTION_TYPE_MULTIHEAD;
    if (tp == 1) {
        e->strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_NONE;
    }
    if (dp == 1) {
        e->strategy.optimizer_sharding = e->strategy.data_par_overlap = false;
    }
    e->strategy.zero_stage = dp > 1 ? ONE_OF(&rng, 1, 1, 2, 3) : 0;
    e->strategy.expert_par = app->num_experts > 0 ? dp : 0;
    e->strategy.seq_par_ag_redo = tp > 1 && calc_rng_below(&rng, 2) > 0;
    if (kinds > 1) {
        int64_t of_first = 1 + (int64_t)calc_rng_below(&rng, (uint32_t)stages - 1);
        c->chip[0].most_procs = tp * dp * of_first;
        c->chip[1].most_procs = tp * dp * (stages - of_first + ONE_OF(&rng, 0, 0, 1));
    }
    c->planner.recompute = calc_rng_below(&rng, 4) > 0;
    c->planner.alike_on_chip = c->planner.recompute && calc_rng_below(&rng, 3) == 0;
    c->planner.ends_alone = calc_rng_below(&rng, 2) > 0;
    set_memory(c, 0x1p50, 0x1p50);
    calc_planner_result r = plan_case_run(&c->planner);
    double peak_bytes = r.count > 0 ? r.found[0].stats.proc_mem_tier1_cap_req : 0x1p40;
    calc_planner_result_free(&r);
    double tight = real_between(&rng, .7, 1.1);
    double first_bytes = peak_bytes * tight * real_between(&rng, .9, 1.15);
    set_memory(c, first_bytes, peak_bytes * tight * real_between(&rng, .9, 1.15));
}

/* How many of the random instances: one in CALC_SAMPLE of 300, or all of CALC_PROPERTY_CASES. */
static int instances(void)
{
    const char *text = getenv("CALC_PROPERTY_CASES");
    return text ? atoi(text) : sample_of(300);
}

/* The gap that is printed, 1 - bound / step, is one to whatever calc_run() says of any division:
 * none is quicker than the bound, nothing fits where nothing was found, and few are quicker than
 * what was found. */
CALC_TEST(no_division_is_quicker_than_the_gap_allows)
{
    int found = 0;
    int worse = 0;
    for (int k = -1; k < instances(); k++) {
        int i = k < 0 ? 16339 : k; /* one whose best stage recomputes one layer of four */
        plan_case c;
        brute b;
        random_case(&c, i);
        if (i % 3 == 0) { /* a part of every layer recomputes, or what else is better */
            c.only.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_MODULES;
            c.only.strategy.recompute_modules =
                1 << (i % 2 ? CALC_RECOMPUTE_MODULES_LAYERNORM : CALC_RECOMPUTE_MODULES_MLP);
            c.planner.recompute = c.planner.recompute && i % 2; /* then the part alone saves */
            c.planner.alike_on_chip = c.planner.alike_on_chip && i % 2;
        }
        double best_s = best_of_all(&c, &b);
        calc_planner_result r = plan_case_run(&c.planner);
        const calc_planner_found *f = r.found;
        ck_assert_msg(r.count > 0 || best_s == INFINITY, "instance %d: refused", i);
        if (r.count > 0) {
            double step_s = f->stats.total_time;
            ck_assert_msg(fmin(step_s, best_s) >= f->bound_s * (1 - 1e-9),
                          "instance %d: %.9g s, of %.9g s and a bound of %.9g s", i, best_s, step_s,
                          f->bound_s);
            ck_assert_msg(!f->proven || best_s >= step_s * (1 - 2.1e-4), "instance %d: proven", i);
            worse += best_s < step_s * (1 - 1e-9);
            found++;
        }
        calc_planner_result_free(&r);
    }
    ck_assert_int_ge(2 * found, instances());
    ck_assert_int_le(200 * worse, found + 200);
}
