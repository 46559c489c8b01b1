#define _POSIX_C_SOURCE 200809L
#include "balance/effort.h"

#include <math.h>
#include <time.h>

enum { NODES_PER_EVALUATION = 10, LOOK = 256 };

/* Relative difference that summing in another order may cause. */
#define SAME 4e-12

static double clock_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

calc_balance_effort calc_balance_effort_of(const calc_balance_options *o, int64_t usual)
{
    int64_t most = o->evaluations > 0 ? o->evaluations : usual;
    return (calc_balance_effort){
        .most_evaluations = most,
        .most_nodes = NODES_PER_EVALUATION * most,
        .until_s = o->time_limit_s > 0 ? clock_s() + o->time_limit_s : INFINITY,
        .gap = o->gap,
        .stop = o->stop,
        .context = o->context,
    };
}

static bool count(calc_balance_effort *e, int64_t *so_far, int64_t most)
{
    e->spent = e->spent || *so_far == most;
    if (!e->spent && ++*so_far % LOOK == 0) {
        e->spent = (e->until_s < INFINITY && clock_s() > e->until_s) ||
                   (e->stop != NULL && e->stop(e->context));
    }
    return !e->spent;
}

bool calc_balance_effort_evaluation(calc_balance_effort *e)
{
    return count(e, &e->evaluations, e->most_evaluations);
}

bool calc_balance_effort_node(calc_balance_effort *e)
{
    return count(e, &e->nodes, e->most_nodes);
}

double calc_balance_effort_goal_s(const calc_balance_effort *e, double step_s)
{
    return step_s * (1 - SAME) * (1 - e->gap);
}
