#include "mindspeed/compose.h"

#include "frame.h"
#include "mindspeed_case.h"

#include <stdlib.h>

static llama_case l;

static double composed_s(calc_mindspeed_comm *comm)
{
    return calc_mindspeed_compose_s(&l.layout, comm);
}

/* Whatever is not measured is calc's, to the bit. */
CALC_TEST_LOOP(nothing_measured_is_the_model, 0, LLAMA_CONFIGS)
{
    open_llama(&l, &llama_configs[_i], "");
    calc_mindspeed_comm comm = {0};
    ck_assert_double_eq(composed_s(&comm), calc_says_s(&l));
    calc_mindspeed_comm_free(&comm);
}

/* What is asked for is what is to be measured; all-gathers of twice the time are those of a network
 * that takes twice as long. */
CALC_TEST(measured_collectives)
{
    open_llama(&l, &llama_configs[0], "");
    l.system.networks[0].latency_s = 0;
    calc_mindspeed_sent sent[8] = {0};
    calc_mindspeed_comm asked = {0}, comm = {.item = sent};
    const calc_group all = {.ranks = 8, .stride = 1};
    ck_assert_double_eq(composed_s(&asked), calc_says_s(&l));
    ck_assert_uint_ge(asked.missing_count, 2); /* all-gather and reduce-scatter */
    for (size_t i = 0; i < asked.missing_count; i++) {
        const calc_mindspeed_message *m = &asked.missing[i];
        ck_assert_int_eq(m->ranks, 8);
        double gather = m->op == CALC_OP_ALL_GATHER ? 2 : 1;
        ck_assert_double_eq(m->bytes, 2.0 * 8192 * 4096);
        sent[comm.count++] =
            (calc_mindspeed_sent){*m, gather * calc_collective_s(&l.system, m->op, &all, m->bytes)};
    }
    double composed = composed_s(&comm);
    ck_assert_uint_eq(comm.missing_count, 0);
    l.system.networks[0].ops.all_gather.scalar *= 2;
    ck_assert_double_eq_tol(composed / calc_says_s(&l), 1, 1e-12);
    calc_mindspeed_comm_free(&asked);
    free(comm.missing);
}

/* A layer more of a module's time is a pass over it of every micro-batch on the stage, and of the
 * stages that fill the pipeline; the ends are on one stage each. */
CALC_TEST(modules_in_a_pipeline)
{
    const calc_mindspeed_config config = {4, 2, 1, 1, 1, 1, 1, 0};
    open_llama(&l, &config, "");
    calc_mindspeed_profile m = {
        .forward_s = 2, .backward_s = 5, .time_s = {[CALC_MINDSPEED_LAYER] = 0.01}};
    double once = calc_mindspeed_compose_modules_s(&l.layout, &m);
    m.time_s[CALC_MINDSPEED_LAYER] = 0.02;
    double twice = calc_mindspeed_compose_modules_s(&l.layout, &m);
    ck_assert_double_eq_tol((twice - once) / ((64 + 3) * 8 * 3.5 * 0.01), 1, 1e-9);
    m.time_s[CALC_MINDSPEED_FINAL_NORM] = 0.001;
    m.time_s[CALC_MINDSPEED_OUTPUT] = 0.02;
    m.time_s[CALC_MINDSPEED_LOSS] = 0.004;
    double head = calc_mindspeed_compose_modules_s(&l.layout, &m);
    ck_assert_double_eq_tol((head - twice) / (64 * 3.5 * 0.025), 1, 1e-9);
}
