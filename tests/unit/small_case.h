/** @file small_case.h  A small model, machine and layout to vary from, and how the tests of the
 *  model compare. All sizes and rates are powers of two, so that the expected numbers can be
 *  written down exactly. */
#ifndef CALC_TEST_SMALL_CASE_H
#define CALC_TEST_SMALL_CASE_H

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "calc.h"
#include "classic.h"

/** What sums in another order may differ by. */
#define ROUNDING 1e-13

static inline bool near(double got, double want)
{
    return fabs(got - want) <= ROUNDING * fmax(fabs(got), fabs(want));
}

/** Equal but for the order of the sums. */
#define assert_near(got, want)                                                                     \
    do {                                                                                           \
        double got_ = (got);                                                                       \
        double want_ = (want);                                                                     \
        ck_assert_msg(near(got_, want_), "%s is %.17g, not %s = %.17g", #got, got_, #want, want_); \
    } while (0)

/** 0x1p40 and its like as functions of the exponent. */
static inline double two_to(int exponent)
{
    return ldexp(1, exponent);
}

/** A curve with one step. */
static inline calc_curve flat_curve(double efficiency)
{
    return (calc_curve){.count = 1, .efficiency = {efficiency}};
}

/** A network whose operations are those of a ring, without latency. */
static inline calc_network ring_network(double bytes_per_s, int64_t size)
{
    return (calc_network){.bytes_per_s = bytes_per_s,
                          .efficiency = 1,
                          .size = size,
                          .ops = {.p2p = {1, 0},
                                  .reduce_scatter = {1, -1},
                                  .all_gather = {1, -1},
                                  .all_reduce = {2, -1}}};
}

/** 8 blocks of width 64 with 4 heads of 16, on sequences of 32. */
static inline calc_app small_app(void)
{
    return (calc_app){.hidden = 64,
                      .feedforward = 256,
                      .seq_size = 32,
                      .attn_heads = 4,
                      .attn_size = 16,
                      .num_blocks = 8};
}

/** All datatypes at one rate; network 0 is fast and small, network 1 slow and large. */
static inline calc_system small_system(void)
{
    calc_system system = {.chip.processing_mode = CALC_PROCESSING_MODE_ROOFLINE,
                          .networks_count = 2};
    for (int type = 0; type < CLASSIC_DATATYPES; type++) {
        system.chip.matrix[type] = (calc_engine){two_to(40), flat_curve(1)};
        system.chip.vector[type] = (calc_engine){two_to(36), flat_curve(1)};
    }
    system.chip.mem1 =
        (calc_memory_tier){two_to(33), two_to(38), flat_curve(1), CALC_MEMORY_KIND_UNNAMED};
    system.chip.mem2 =
        (calc_memory_tier){two_to(36), two_to(34), flat_curve(1), CALC_MEMORY_KIND_UNNAMED};
    system.networks[0] = ring_network(two_to(36), 8);
    system.networks[1] = ring_network(two_to(33), 1024);
    return system;
}

/** Training in float16 without any of the options, with 4 micro-batches of one sequence. */
static inline calc_exec small_exec(int64_t tensor_par, int64_t pipeline_par, int64_t data_par)
{
    return (calc_exec){CLASSIC_EXEC,
                       .num_procs = tensor_par * pipeline_par * data_par,
                       .strategy.tensor_par = tensor_par,
                       .pipeline_par = pipeline_par,
                       .strategy.data_par = data_par,
                       .pipeline_par_net = 1,
                       .strategy.data_par_net = 1,
                       .batch_size = 4 * data_par,
                       .microbatch_size = 1,
                       .strategy.datatype = CALC_DATATYPE_FLOAT16,
                       .pipeline_interleaving = 1,
                       .training = true};
}

#endif
