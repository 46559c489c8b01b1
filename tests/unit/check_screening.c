/* What a worker screens by, beside all points that it entered: a point that would be entered is
 * never screened out, whatever is searched for. */
#include "filter.h"

#include "base/rng.h"
#include "frame.h"
#include "point.h"
#include "small_case.h"

enum { ROUNDS = 300, POINTS = 120, SETS = 10, GROUPS = 2 };

/* What is searched for: objectives of the front, and of the list of the best. */
static const struct {
    const char *front[CALC_MAX_OBJECTIVES], *top;
    bool screens;
} sets[SETS] = {
    {{"sample_rate"}, NULL, true},
    {{"total_time"}, NULL, true},
    {{"sample_rate", "mem1"}, NULL, true},
    {{"mem2", "total_time"}, NULL, true},
    {{"mem1", "mem2", "sample_rate"}, "total_time", true},
    {{"total_time", "mem1", "mem2"}, "sample_rate", true},
    {{NULL}, "sample_rate", true},
    {{"sample_rate", "mem1"}, "mem2", false},
    {{"mem1", "mem2"}, "sample_rate", false},
    {{"sample_rate:down", "mem1"}, NULL, false},
};

typedef struct known_point {
    calc_point p;
    double batch;
    size_t group;
} known_point;

static calc_rng rng;
static calc_app app;
static calc_system sys;
static calc_space space;
static calc_sweep_options options;
static calc_worker *worker;
static known_point known[POINTS];

static void begin(void)
{
    app = small_app();
    sys = small_system();
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
}

static void end(void)
{
    calc_worker_free(worker);
    calc_space_free(&space);
}

const calc_test_frame calc_tests = {.setup = begin, .teardown = end};

static void make_worker(size_t set)
{
    calc_kernel_level level[4];
    size_t levels = calc_kernel_levels(level);
    options = (calc_sweep_options){0};
    while (options.objectives < CALC_MAX_OBJECTIVES && sets[set].front[options.objectives]) {
        const char *text = sets[set].front[options.objectives];
        calc_objective *objective = &options.objective[options.objectives++];
        ck_assert_int_eq(calc_objective_parse(objective, text, NULL), CALC_OK);
    }
    if (sets[set].top) {
        options.top = 1 + calc_rng_below(&rng, 6);
        ck_assert_int_eq(calc_objective_parse(&options.top_by, sets[set].top, NULL), CALC_OK);
    }
    worker = calc_worker_create(&space, &options, level[levels - 1].run, GROUPS);
    ck_assert_ptr_nonnull(worker);
    calc_worker_begin(worker, &app, &sys, 0);
}

/* ---- All points ------------------------------------------------------------------------------ */

static double value_of(const calc_objective *objective, const known_point *k)
{
    double rate = k->batch / k->p.total_s;
    double value = objective->kind == CALC_OBJECTIVE_SAMPLE_RATE  ? rate
                   : objective->kind == CALC_OBJECTIVE_TOTAL_TIME ? k->p.total_s
                   : objective->kind == CALC_OBJECTIVE_MEM1       ? k->p.tier1_bytes
                                                                  : k->p.tier2_bytes;
    return objective->up ? -value : value;
}

/* Whether a point is as good in everything and better in something. */
static bool beats(const known_point *a, const known_point *b)
{
    bool worse = a->group != b->group;
    bool better = false;
    for (size_t i = 0; i < options.objectives; i++) {
        double x = value_of(&options.objective[i], a);
        double y = value_of(&options.objective[i], b);
        worse = worse || x > y;
        better = better || x < y;
    }
    return better && !worse;
}

/* Whether a point may be among the best, beside those that are known. */
static bool would_enter(const known_point *k, size_t count)
{
    size_t ahead = 0;
    bool beaten = options.objectives == 0;
    for (size_t i = 0; i < count; i++) {
        beaten = beaten || beats(&known[i], k);
        ahead += options.top > 0 && known[i].group == k->group &&
                 value_of(&options.top_by, &known[i]) < value_of(&options.top_by, k);
    }
    return !beaten || (options.top > 0 && ahead < options.top);
}

/* ---- The worker ------------------------------------------------------------------------------ */

static double random_bytes(double capacity)
{
    switch (calc_rng_below(&rng, 4)) {
    case 0:
        return 0;
    case 1:
        return capacity * calc_rng_below(&rng, 9) / 8;
    default:
        return capacity * calc_rng_real(&rng);
    }
}

/* Few different times and batches, so that ties are many. */
static known_point random_point(void)
{
    double step_s = ldexp(1 + (double)calc_rng_below(&rng, 4) / 4, -(int)calc_rng_below(&rng, 5));
    return (known_point){
        .p = {step_s, random_bytes(sys.chip.mem1.capacity_bytes),
              random_bytes(sys.chip.mem2.capacity_bytes)},
        .batch = ldexp(3, (int)calc_rng_below(&rng, 3)),
        .group = calc_rng_below(&rng, GROUPS),
    };
}

/* Stand in the cell of a point. */
static void go_to(const known_point *k)
{
    worker->cell.exec.batch_size = (int64_t)k->batch;
    worker->group = &worker->groups[k->group];
    worker->screen = &worker->screens[k->group];
    worker->job.tier1_capacity_bytes = sys.chip.mem1.capacity_bytes;
    worker->job.tier2_capacity_bytes = sys.chip.mem2.capacity_bytes;
    worker->job.most_s = CALC_KERNEL_NEVER_S;
    calc_screening_cell(worker);
}

/* Whether the kernel takes a step for too long. */
static bool screened(const known_point *k)
{
    go_to(k);
    calc_panel *p = &worker->alive;
    p->count = 1;
    worker->job.panel = p;
    for (size_t i = 0; i < calc_panel_whole(p->count); i++) {
        worker->needs.tier1_bytes.of[i] = k->p.tier1_bytes;
        worker->needs.tier2_bytes.of[i] = k->p.tier2_bytes;
    }
    worker->kernel->screen(&worker->job, &worker->needs);
    return k->p.total_s > worker->needs.longest_s.of[0];
}

/* Offer a point, as another layout than all before it. */
static void offer(size_t n)
{
    calc_exec exec = {.batch_size = (int64_t)known[n].batch, .num_procs = (int64_t)n + 1};
    go_to(&known[n]);
    calc_point_enter(worker, &exec, &known[n].p);
    ck_assert_int_eq(worker->status, CALC_OK);
}

/* Another design, whose machine has more or less memory. */
static void change_machine(void)
{
    sys.chip.mem1.capacity_bytes = ldexp(1, 30 + (int)calc_rng_below(&rng, 6));
    sys.chip.mem2.capacity_bytes =
        calc_rng_below(&rng, 3) ? ldexp(1, 30 + (int)calc_rng_below(&rng, 6)) : 0;
    calc_worker_begin(worker, &app, &sys, worker->design + 1);
}

CALC_TEST_LOOP(what_would_be_entered_is_never_screened_out, 0, ROUNDS)
{
    calc_rng_init(&rng, (uint64_t)_i, 1);
    size_t set = (size_t)_i % SETS;
    size_t hidden = 0;
    make_worker(set);
    for (size_t n = 0; n < POINTS; n++) {
        if (calc_rng_below(&rng, 40) == 0) {
            change_machine();
        }
        known[n] = random_point();
        bool out = screened(&known[n]);
        hidden += out;
        ck_assert_msg(!out || !would_enter(&known[n], n), "set %zu, point %zu", set, n);
        offer(n);
    }
    ck_assert(sets[set].screens || hidden == 0);
}

/* After many points most others are seen to be dominated without a look at the front. */
CALC_TEST_LOOP(most_of_what_would_not_be_entered_is_screened_out, 0, SETS)
{
    size_t useless = 0;
    size_t hidden = 0;
    calc_rng_init(&rng, (uint64_t)_i, 2);
    make_worker((size_t)_i);
    for (size_t n = 0; n < POINTS; n++) {
        known[n] = random_point();
        bool out = screened(&known[n]);
        hidden += n >= POINTS / 2 && out;
        useless += n >= POINTS / 2 && !would_enter(&known[n], n);
        offer(n);
    }
    ck_assert_uint_gt(useless, POINTS / 4);
    ck_assert_uint_le(hidden, useless);
    ck_assert(sets[_i].screens ? hidden > useless / 2 : hidden == 0);
}

/* What was found before is forgotten where it is no more in the groups of a new design. */
CALC_TEST_LOOP(a_design_begins_with_what_is_in_its_groups, 0, SETS)
{
    calc_rng_init(&rng, (uint64_t)_i, 3);
    make_worker((size_t)_i);
    for (size_t n = 0; n < POINTS; n++) {
        known[n] = random_point();
        offer(n);
    }
    size_t hidden = 0;
    calc_worker_begin(worker, &app, &sys, 1);
    for (size_t n = 0; n < POINTS; n++) {
        known_point k = random_point();
        hidden += screened(&k);
    }
    ck_assert(sets[_i].screens ? hidden > POINTS / 4 : hidden == 0);
    for (size_t g = 0; g < GROUPS; g++) {
        calc_front_clear(&worker->groups[g].front);
        calc_front_clear(&worker->groups[g].top);
    }
    calc_worker_begin(worker, &app, &sys, 2);
    for (size_t n = 0; n < POINTS; n++) {
        known_point k = random_point();
        ck_assert(!screened(&k));
    }
}
