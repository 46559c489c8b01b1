/* Which configurations are measured. */
#include "mindspeed/memory.h"

#include <math.h>

#include "frame.h"
#include "gauss/process.h"
#include "mindspeed_jobs.h"

static calc_mindspeed_space space;

static calc_mindspeed_probes choose(const calc_mindspeed_job *job)
{
    calc_mindspeed_probes probes;
    ck_assert_int_eq(calc_mindspeed_space_list(job, CALC_MINDSPEED_GEN1, &space), CALC_OK);
    ck_assert_int_eq(calc_mindspeed_probes_choose(&space, &probes), CALC_OK);
    calc_mindspeed_space_free(&space);
    return probes;
}

/* Largest eigenvalue of the normal matrix by powers of it, and least by powers of its inverse. */
static double condition(const calc_mindspeed_probes *p)
{
    double a[16] = {0}, term[4], x[4] = {1, 0.7, 0.5, 0.3}, y[4] = {1, -0.7, 0.5, -0.3};
    double largest = 0, inverse = 0;
    for (int i = 0; i < p->count; i++) {
        calc_mindspeed_regression_terms(&p->config[i], term);
        for (int j = 0; j < 16; j++) {
            a[j] += term[j / 4] * term[j % 4];
        }
    }
    for (int step = 0; step < 2000; step++) {
        double next[4] = {0};
        largest = 0;
        for (int j = 0; j < 16; j++) {
            next[j / 4] += a[j] * x[j % 4];
        }
        for (int j = 0; j < 4; j++) {
            largest = fmax(largest, fabs(next[j]));
        }
        for (int j = 0; j < 4; j++) {
            x[j] = next[j] / largest;
        }
    }
    ck_assert(calc_gauss_factor(a, 4));
    for (int step = 0; step < 2000; step++) {
        calc_gauss_solve(a, 4, y);
        inverse = 0;
        for (int j = 0; j < 4; j++) {
            inverse = fmax(inverse, fabs(y[j]));
        }
        for (int j = 0; j < 4; j++) {
            y[j] /= inverse;
        }
    }
    return largest * inverse;
}

CALC_TEST(one_of_each_group)
{
    calc_mindspeed_job job = mindspeed_7b();
    calc_mindspeed_probes p = choose(&job);
    const calc_mindspeed_config *c = p.config;
    ck_assert_int_eq(p.count, 5);
    ck_assert_int_eq(p.empty, 0);
    ck_assert(c[0].cp == 1 && c[0].up == 1 && c[0].tp == 8);
    ck_assert(c[1].tp == 1 && c[1].up == 1 && c[1].pp > 1 && c[1].cp > 1);
    ck_assert(c[2].tp == 1 && c[2].cp == 1 && c[2].pp > 1 && c[2].up > 1);
    ck_assert(c[3].tp == 1 && c[3].cp > 1 && c[3].up > 1);
    ck_assert(c[4].tp > 1 && c[4].cp > 1 && c[4].up > 1);
    int differ = 0;
    for (int i = 0; i < 5; i++) {
        ck_assert_int_lt(c[i].mbs, 8);
        differ += c[i].mbs != c[0].mbs;
    }
    ck_assert_int_gt(differ, 0);
    ck_assert_double_lt(p.condition, 100); /* the first that is good enough */
    ck_assert_double_eq_tol(p.condition / condition(&p), 1, 1e-9);
}

CALC_TEST(of_many_nodes)
{
    calc_mindspeed_job job = mindspeed_65b();
    calc_mindspeed_probes p = choose(&job);
    ck_assert_int_eq(p.count, 5);
    ck_assert_double_eq_tol(p.condition / condition(&p), 1, 1e-9);
}

/* With four devices none has all three. */
CALC_TEST(a_group_without_any)
{
    calc_mindspeed_job job = mindspeed_7b();
    job.per_node = 4;
    calc_mindspeed_probes p = choose(&job);
    ck_assert_int_eq(p.count, 0);
    ck_assert_int_eq(p.empty, 5);
}

/* A batch of 1 has one micro-batch only. */
CALC_TEST(micro_batches_must_differ)
{
    calc_mindspeed_job job = mindspeed_7b();
    job.batch = 1;
    calc_mindspeed_probes p = choose(&job);
    ck_assert_int_eq(p.count, 0);
    ck_assert_int_eq(p.empty, 0);
    ck_assert(isinf(p.condition));
}
