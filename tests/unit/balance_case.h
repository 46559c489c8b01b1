/* Small pipelines with known optima, and a large one. Times are in forwards of a layer of kind 1;
 * the optima are those of HiGHS and GLPK on the programs in golden/pipeline_ilp. */
#ifndef CALC_TESTS_BALANCE_CASE_H
#define CALC_TESTS_BALANCE_CASE_H

#include <math.h>

#include "balance/evaluate.h"

typedef struct balance_case {
    const char *name;
    int stages, chunks, microbatches;
    int dense, others;
    double dense_ratio; /* time of a dense layer */
    double back, head;  /* times of a backward, and of the head forward */
    double again;       /* of a layer that recomputes in full; a dense one takes dense_ratio */
    double first, middle, last; /* limits */
    double dense_held, dense_flight;
    bool may_select;
    double optimum; /* INFINITY: none */
} balance_case;

static const balance_case balance_cases[] = {
    {"e1", 2, 1, 4, 0, 6, .3, 2, 1.5, 1, 40000, 40000, 40000, 3000, 800, false, 57},
    {"e2", 2, 1, 4, 0, 6, .3, 2, 1.5, 1, 14000, 14000, 14000, 3000, 800, false, 63},
    {"e3", 4, 1, 8, 1, 11, .4, 2, 1.5, 1, 22000, 24000, 20000, 1000, 500, false, 112.2},
    {"e4", 2, 2, 4, 0, 8, .3, 2, 1.5, 1, 40000, 40000, 40000, 3000, 800, false, 66.5},
    {"e5", 2, 1, 20, 0, 6, .3, 2, 1.5, 1, 40000, 40000, 40000, 3000, 800, false, 249},
    {"e6", 2, 1, 4, 0, 6, .3, 2, 1.5, 1, 12000, 14000, 14000, 3000, 800, false, 65},
    {"e7", 2, 1, 4, 0, 6, .3, 2, 1.5, 1, 11000, 11000, 11000, 3000, 800, false, 69},
    {"e8", 2, 1, 4, 0, 6, .3, 2, 1.5, 1, 8000, 8000, 8000, 3000, 800, false, INFINITY},
    {"e9", 4, 1, 8, 3, 9, .4, 1.8, 1.2, .9, 13000, 12500, 11500, 1000, 500, false, 103.02},
    {"e10", 2, 1, 4, 0, 6, .3, 2, 1.5, 1, 12000, 14000, 14000, 3000, 800, true, 63.99},
    {"e11", 4, 1, 26, 0, 10, .3, 2, 1.5, 1, 40000, 40000, 40000, 3000, 800, false, 258},
};

enum { BALANCE_CASES = sizeof balance_cases / sizeof balance_cases[0] };

/* All chunks have a layer; chunks take turns with less memory. */
static inline calc_balance_problem balance_problem(const balance_case *c)
{
    calc_balance_problem p = {
        .shape = {CALC_PIPELINE_SCHEDULE_1F1B, c->stages, c->chunks, c->microbatches},
        .less_memory = true,
        .layers = {c->dense, c->others},
        .chips = 1,
        .may_select = c->may_select,
        .may_full = true,
        .least_layers = 1,
    };
    calc_balance_place *end = &p.place[c->stages * c->chunks - 1];
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        double fw_s = kind == 0 ? c->dense_ratio : 1;
        p.layer[0][kind] = (calc_balance_layer){
            .fw_s = fw_s,
            .agrad_s = c->back * fw_s,
            .again_s = {0, .33 * fw_s, kind == 0 ? fw_s : c->again},
            .held_bytes = kind == 0 ? c->dense_held : 3000,
            .flight_bytes = {kind == 0 ? c->dense_flight : 800, 500, 50},
        };
    }
    for (int stage = 0; stage < c->stages; stage++) {
        p.stage[stage].limit_bytes = stage == 0               ? c->first
                                     : stage == c->stages - 1 ? c->last
                                                              : c->middle;
    }
    end->fw_s = c->head;
    end->agrad_s = c->back * c->head;
    return p;
}

/* 62 layers on 16 stages, 64 micro-batches: an optimum that was published within 0.01. */
static inline calc_balance_problem balance_large(void)
{
    const balance_case c = {"c", 16,    1,     64,    3,   59,  .397,  1.839,      1.5,
                            1,   51913, 52914, 46621, 866, 479, false, 1132.662249};
    calc_balance_problem p = balance_problem(&c);
    p.layer[0][1].held_bytes = 10691;
    p.layer[0][1].flight_bytes[CALC_BALANCE_NONE] = 765;
    p.layer[0][0].flight_bytes[CALC_BALANCE_FULL] = 30;
    p.layer[0][1].flight_bytes[CALC_BALANCE_FULL] = 30;
    return p;
}

#endif
