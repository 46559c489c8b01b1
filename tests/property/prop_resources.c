/* A tenth more of any resource does not slow a step: bandwidth of each memory and network, FLOP/s
   of each engine, less latency. On random layouts (CALC_PROPERTY_CASES of them, 10,000 if not
   given) and on all that is shipped. Where the model does not promise it, a name says why, and a
   bound how far it may go. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "frame.h"
#include "random_modern.h"
#include "shipped.h"

static const uint64_t seed = 20240601;
static const double rounding = 1e-12;

/* ---- Resources ------------------------------------------------------------------------------- */

enum { MATRIX, VECTOR, MEM1, MEM2, ENGINES_AND_MEMORIES };

/* Bandwidth and latency of each network come after engines and memories. */
enum { RESOURCES = ENGINES_AND_MEMORIES + 2 * CALC_MAX_NETWORKS };

static const double more = 1.1;

static void faster_engine(calc_engine *engine)
{
    for (int type = 0; type < CALC_DATATYPE_COUNT; type++) {
        engine[type].flop_per_s *= more;
    }
}

static void shorter_latency(calc_network *n)
{
    calc_op_rates *o = &n->op_parameters;
    calc_op_rate *operations[] = {&o->p2p, &o->reduce_scatter, &o->all_gather, &o->all_reduce,
                                  &o->all_to_all};
    n->latency_s /= more;
    n->latency_log2_s /= more;
    n->hop_s /= more;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        operations[i]->latency_fixed_s /= more;
        operations[i]->latency_step_s /= more;
    }
}

/* Whether the system has the resource, of which it then has more. */
static bool add(calc_system *s, int resource)
{
    int64_t network = (resource - ENGINES_AND_MEMORIES) / 2;
    switch (resource) {
    case MATRIX:
        faster_engine(s->chip.matrix);
        return true;
    case VECTOR:
        faster_engine(s->chip.vector);
        return true;
    case MEM1:
        s->chip.mem1.bytes_per_s *= more;
        return true;
    case MEM2:
        s->chip.mem2.bytes_per_s *= more;
        return true;
    default:
        if (network >= s->networks_count) {
            return false;
        }
        if (resource % 2 == ENGINES_AND_MEMORIES % 2) {
            s->networks[network].bytes_per_s *= more;
        } else {
            shorter_latency(&s->networks[network]);
        }
        return true;
    }
}

static const char *name_of(int resource, char buffer[32])
{
    static const char *const names[] = {"matrix", "vector", "mem1", "mem2"};
    if (resource < ENGINES_AND_MEMORIES) {
        return names[resource];
    }
    snprintf(buffer, 32, "networks[%d], %s", (resource - ENGINES_AND_MEMORIES) / 2,
             resource % 2 == ENGINES_AND_MEMORIES % 2 ? "bandwidth" : "latency");
    return buffer;
}

/* ---- Exceptions ------------------------------------------------------------------------------ */

/* Time moves from weight gradients, which fill the bubble, to the passes that others wait for. A
 * link or the host that holds up a whole block is charged to passes of it: traffic of the second
 * tier and of sharded weights, which hides behind both backward passes, to the first of them, and
 * the wait for the host to all in proportion. So where it decides, quicker weight gradients leave
 * the block as long, and what they no longer take is waited for in the other passes: with zb_h2,
 * p - 1 times up to three times that is added to the bubble. Largest with 8 stages and 16
 * micro-batches, the fewest that hide it, and activations or weights in the second tier. To follow
 * it, every pass would need a wait of its own, and blocks whose sum is no longer what measured runs
 * were fitted to. */
static bool fills_bubble(const calc_random_layout *l, const calc_stats *s)
{
    (void)s;
    return l->exec.training && l->exec.pipeline_schedule > CALC_PIPELINE_SCHEDULE_GPIPE;
}

/* Gradients and weights hide behind a stage that is not the slowest, or behind a pass that waits
 * for the host. */
static bool hides_behind_a_stage(const calc_random_layout *l, const calc_stats *s)
{
    (void)s;
    bool sharded = l->exec.strategy.zero_stage > 0 || l->exec.strategy.optimizer_sharding;
    return l->exec.strategy.data_par_overlap ||
           (sharded && l->exec.strategy.param_gather_overlap == CALC_CHOICE_TRUE);
}

/* Computation loses time by the communication beside it. */
static bool contends(const calc_random_layout *l, const calc_stats *s)
{
    return l->system.chip.overlap.contention > 0 &&
           (l->exec.strategy.zero_stage == 3 || hides_behind_a_stage(l, s));
}

/* A block that waits for the host takes as long whatever is quicker in it, but its passes share the
 * waiting otherwise, and stages fill and drain by them. */
static bool shares_the_wait(const calc_random_layout *l, const calc_stats *s)
{
    return l->exec.pipeline_par > 1 && s->host_time > 0;
}

static const struct {
    const char *name;
    bool (*speaks)(const calc_random_layout *l, const calc_stats *s);
    double bound; /* of the growth of a step */
} exceptions[] = {
    {"weight gradients fill the bubble", fills_bubble, 0.011},
    {"gradients hide behind another stage", hides_behind_a_stage, 0.005},
    {"communication slows computation", contends, 0.005},
    {"passes share the wait for the host", shares_the_wait, 0.0005},
};

enum { EXCEPTIONS = sizeof exceptions / sizeof *exceptions };

static double allowed(const calc_random_layout *l, const calc_stats *s)
{
    double most = rounding;
    for (int i = 0; i < EXCEPTIONS; i++) {
        most = fmax(most, exceptions[i].speaks(l, s) ? exceptions[i].bound : 0);
    }
    return most;
}

/* ---- The law --------------------------------------------------------------------------------- */

static uint64_t strict, spoken;

/* What takes less with more: a step, or, where both phases of serving run, a request: prompts that
 * are prefilled sooner leave more sequences to decode in a step. */
static double taken_s(const calc_random_layout *l, const calc_stats *s)
{
    calc_inference_phase phase = l->exec.inference.phase;
    bool both = phase == CALC_INFERENCE_PHASE_SERVE || phase == CALC_INFERENCE_PHASE_DISAGGREGATED;
    return both ? 1 / s->requests_per_s : s->total_time;
}

static void is_not_slower(const char *name, const calc_random_layout *l)
{
    calc_stats before, after;
    calc_run(&l->app, &l->system, &l->exec, CALC_COMPAT_NONE, &before);
    if (isnan(before.total_time)) {
        return; /* the blocks do not fit the chunks */
    }
    double most = allowed(l, &before);
    spoken++;
    strict += most == rounding;
    for (int resource = 0; resource < RESOURCES; resource++) {
        calc_random_layout fast = *l;
        char buffer[32];
        if (!add(&fast.system, resource)) {
            continue;
        }
        calc_run(&fast.app, &fast.system, &fast.exec, CALC_COMPAT_NONE, &after);
        double growth = taken_s(&fast, &after) / taken_s(l, &before) - 1;
        if (!(growth <= most)) {
            ck_abort_msg("%s: a step is slower by %.3g with more of %s, allowed %.3g", name, growth,
                         name_of(resource, buffer), most);
        }
    }
}

CALC_TEST(a_tenth_more_of_a_resource_does_not_slow_a_step)
{
    const char *text = getenv("CALC_PROPERTY_CASES");
    uint64_t cases = text ? strtoull(text, NULL, 10) : 10000;
    for (uint64_t i = 0; i < cases; i++) {
        calc_rng rng;
        calc_random_layout l;
        char name[64];
        calc_rng_init(&rng, seed, i);
        (i % 3 == 0 ? calc_random_layout_make : calc_random_modern_make)(&rng, &l);
        snprintf(name, sizeof name, "seed %llu, case %llu", (unsigned long long)seed,
                 (unsigned long long)i);
        is_not_slower(name, &l);
    }
    ck_assert_uint_gt(10 * spoken, 9 * cases);
    ck_assert_uint_gt(4 * strict, spoken); /* exceptions are not the rule */
}

CALC_TEST(nor_a_step_of_what_is_shipped)
{
    calc_shipped_all(is_not_slower);
    ck_assert_uint_gt(spoken, 300);
}
