#include "mindspeed/compose.h"

#include "frame.h"
#include "mindspeed_case.h"

#include <stdlib.h>

enum { SAMPLES = 5 };

static llama_case l;

/* Errors of types that are known exactly. */
static void open_errors(calc_mindspeed_operators *o, double matrices, double norms,
                        double attention)
{
    const calc_mindspeed_sampling sampling = {SAMPLES, 1, 0};
    calc_mindspeed_operators_start(o, &llama_job, &l.app, &l.system, NULL, &sampling);
    for (int type = 0; type < CALC_MINDSPEED_TYPES; type++) {
        double error = type == CALC_MINDSPEED_MATMUL  ? matrices
                       : type >= CALC_MINDSPEED_FLASH ? attention
                                                      : norms;
        calc_process_start(&o->process[type], o->process[type].dimensions, error, 0);
    }
}

static double composed_s(calc_mindspeed_operators *o, calc_mindspeed_comm *comm)
{
    double s[SAMPLES];
    ck_assert_int_eq(calc_mindspeed_compose(&l.layout, o, comm, s, SAMPLES), CALC_OK);
    for (int i = 1; i < SAMPLES; i++) {
        ck_assert_double_eq(s[i], s[0]);
    }
    return s[0];
}

/* Whatever is not measured is calc's, to the bit. */
CALC_TEST_LOOP(nothing_measured_is_the_model, 0, LLAMA_CONFIGS)
{
    open_llama(&l, &llama_configs[_i], "");
    calc_mindspeed_operators o;
    calc_mindspeed_comm comm = {0};
    double expected = calc_says_s(&l);
    open_errors(&o, 0, 0, 0);
    ck_assert_double_eq(composed_s(NULL, NULL), expected);
    ck_assert_double_eq(composed_s(&o, NULL), expected);
    ck_assert_double_eq(composed_s(&o, &comm), expected);
    ck_assert_uint_eq(o.clamped, 0);
    calc_mindspeed_operators_free(&o);
    calc_mindspeed_comm_free(&comm);
}

/* Experts are a batch of multiplications; those shared and the router count, too. */
CALC_TEST(experts)
{
    const calc_mindspeed_config config = {1, 1, 64, 1, 1, 1, 1, 8};
    shipped_case c = load_case("mixtral-8x7B", "h100_sxm", "mixtral-8x7B_64");
    calc_mindspeed_operators o;
    double s[SAMPLES];
    calc_stats stats;
    l.app = c.app;
    l.system = c.system;
    l.exec = c.exec;
    l.config = config;
    l.layout = (calc_mindspeed_layout){&l.config, &l.app, &l.system, &l.exec};
    calc_run(&l.app, &l.system, &l.exec, CALC_COMPAT_NONE, &stats);
    open_errors(&o, 0, 0, 0);
    ck_assert_int_eq(calc_mindspeed_compose(&l.layout, &o, NULL, s, SAMPLES), CALC_OK);
    ck_assert_double_eq(s[0], stats.total_time);
    ck_assert(o.path[CALC_MINDSPEED_MATMUL].count > 0);
    bool grouped = false;
    for (size_t i = 0; i < o.path[CALC_MINDSPEED_MATMUL].count; i++) {
        grouped = grouped || o.path[CALC_MINDSPEED_MATMUL].point[i].at[0] > 0;
    }
    ck_assert(grouped == (c.app.num_experts / c.exec.strategy.expert_par > 1));
    calc_mindspeed_operators_free(&o);
    open_errors(&o, 0.2, 0, 0);
    ck_assert_double_gt(composed_s(&o, NULL), stats.total_time * 1.02);
    calc_mindspeed_operators_free(&o);
}

/* Attention that takes half as long again is that of a chip with two thirds of its rate: rings hide
 * more behind it. */
CALC_TEST_LOOP(slower_attention, 0, LLAMA_CONFIGS)
{
    open_llama(&l, &llama_configs[_i], "");
    calc_mindspeed_operators o;
    open_errors(&o, 0, 0, 0.5);
    double composed = composed_s(&o, NULL);
    calc_attention_rates *rates = &l.system.chip.attention;
    rates->fw_efficiency /= 1.5;
    rates->bw_efficiency /= 1.5;
    rates->launch_s *= 1.5;
    ck_assert_double_eq_tol(composed / calc_says_s(&l), 1, 1e-12);
    calc_mindspeed_operators_free(&o);
}

/* Likewise multiplications, the head's too, of which attention's rate is a share. */
CALC_TEST_LOOP(slower_multiplications, 0, LLAMA_CONFIGS)
{
    open_llama(&l, &llama_configs[_i], "");
    calc_mindspeed_operators o;
    open_errors(&o, 0.1, 0, 0);
    double composed = composed_s(&o, NULL), before = calc_says_s(&l);
    l.system.chip.matrix[CALC_DATATYPE_BFLOAT16].flop_per_s /= 1.1;
    l.system.chip.attention.fw_efficiency *= 1.1;
    l.system.chip.attention.bw_efficiency *= 1.1;
    ck_assert_double_eq_tol(composed / calc_says_s(&l), 1, 1e-12);
    ck_assert_double_gt(composed, before * 1.01);
    calc_mindspeed_operators_free(&o);
}

CALC_TEST(slower_multiplications_that_are_repeated)
{
    open_llama(&l, &llama_configs[2], "");
    l.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    calc_mindspeed_operators o;
    open_errors(&o, 0.1, 0, 0.5);
    double composed = composed_s(&o, NULL);
    l.system.chip.matrix[CALC_DATATYPE_BFLOAT16].flop_per_s /= 1.1;
    l.system.chip.attention.fw_efficiency *= 1.1 / 1.5;
    l.system.chip.attention.bw_efficiency *= 1.1 / 1.5;
    l.system.chip.attention.launch_s *= 1.5;
    ck_assert_double_eq_tol(composed / calc_says_s(&l), 1, 1e-12);
    calc_mindspeed_operators_free(&o);
}

/* Two norms of each of 32 layers and the last one, forward and backward, for 64 micro-batches. */
CALC_TEST(slower_norms)
{
    open_llama(&l, &llama_configs[0], "");
    calc_mindspeed_operators o;
    calc_layer_stats layer[CALC_MAX_LAYERS];
    open_errors(&o, 0, 0.25, 0);
    size_t count =
        calc_layers(&l.app, &l.system, &l.exec, CALC_COMPAT_NONE, layer, CALC_MAX_LAYERS);
    double norms_s = 0;
    for (size_t i = 0; i < count; i++) {
        double times = strcmp(layer[i].name, "final norm") == 0 ? 1 : 32;
        norms_s += strstr(layer[i].name, " norm")
                       ? times * (layer[i].fw_processing_time + layer[i].agrad_processing_time)
                       : 0;
    }
    ck_assert_double_eq_tol((composed_s(&o, NULL) - calc_says_s(&l)) / (64 * 0.25 * norms_s), 1,
                            1e-9);
    calc_mindspeed_operators_free(&o);
}

CALC_TEST(times_are_not_negative)
{
    open_llama(&l, &llama_configs[0], "");
    calc_mindspeed_operators o;
    open_errors(&o, 0, 0, -1.5);
    double none_s = composed_s(&o, NULL);
    ck_assert_uint_eq(o.clamped, 2 * SAMPLES); /* attention and its gradient */
    calc_mindspeed_operators_free(&o);
    open_errors(&o, 0, 0, -1);
    ck_assert_double_eq(composed_s(&o, NULL), none_s);
    calc_mindspeed_operators_free(&o);
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
    ck_assert_double_eq(composed_s(NULL, &asked), calc_says_s(&l));
    ck_assert_uint_ge(asked.missing_count, 2); /* all-gather and reduce-scatter */
    for (size_t i = 0; i < asked.missing_count; i++) {
        const calc_mindspeed_message *m = &asked.missing[i];
        ck_assert_int_eq(m->ranks, 8);
        double gather = m->op == CALC_OP_ALL_GATHER ? 2 : 1;
        ck_assert_double_eq(m->bytes, 2.0 * 8192 * 4096);
        sent[comm.count++] =
            (calc_mindspeed_sent){*m, gather * calc_collective_s(&l.system, m->op, &all, m->bytes)};
    }
    double composed = composed_s(NULL, &comm);
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
    calc_mindspeed_module_times m = {.layer_s = 0.01, .backward = 2.5};
    double once = calc_mindspeed_compose_modules_s(&l.layout, &m);
    m.layer_s = 0.02;
    double twice = calc_mindspeed_compose_modules_s(&l.layout, &m);
    ck_assert_double_eq_tol((twice - once) / ((64 + 3) * 8 * 3.5 * 0.01), 1, 1e-9);
    m.norm_s = 0.001;
    m.head_s = 0.02;
    m.loss_s = 0.004;
    double head = calc_mindspeed_compose_modules_s(&l.layout, &m);
    ck_assert_double_eq_tol((head - twice) / (64 * 3.5 * 0.025), 1, 1e-9);
}
