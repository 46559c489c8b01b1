/* A part of a machine that takes nearly all of a step is nearly all of the step's terms. */
#include "tune/model.h"

#include "frame.h"

static calc_app app;
static calc_system machine;
static calc_exec exec;

/* Experts in 8 bits on several nodes, which have a part of each kind. */
static void enter(void)
{
    calc_errors errors = {0};
    const char *root = CALC_DATA_DIR_SOURCE;
    char path[512];
    snprintf(path, sizeof path, "%s/models/qwen3-235B-A22B.json", root);
    ck_assert_int_eq(calc_load(CALC_KIND_APP, &app, path, &errors), CALC_OK);
    snprintf(path, sizeof path, "%s/systems/h100_sxm.json", root);
    ck_assert_int_eq(calc_load(CALC_KIND_SYSTEM, &machine, path, &errors), CALC_OK);
    snprintf(path, sizeof path, "%s/executions/qwen3-235B-A22B_256_fp8.json", root);
    ck_assert_int_eq(calc_load(CALC_KIND_EXEC, &exec, path, &errors), CALC_OK);
}

const calc_test_frame calc_tests = {.setup = enter};

static double term_of(calc_tune_term term)
{
    calc_tune_candidate c;
    ck_assert(calc_tune_candidate_of(&c, &app, &machine, &exec));
    return c.term[term];
}

CALC_TEST(each_constant_of_a_machine_belongs_to_a_term)
{
    calc_chip *chip = &machine.chip;
    const struct {
        double *constant;
        calc_tune_term term;
        double longest;
    } rows[] = {
        {&chip->host.block_s, CALC_TUNE_TERM_HOST, 10},
        {&chip->host.moe_block_s, CALC_TUNE_TERM_HOST, 10},
        {&chip->host.expert_s, CALC_TUNE_TERM_HOST, 10},
        {&chip->launch.matrix_s, CALC_TUNE_TERM_HOST, 1},
        {&chip->launch.vector_s, CALC_TUNE_TERM_HOST, 1},
        {&machine.networks[0].latency_s, CALC_TUNE_TERM_NETWORK0, 10},
        {&machine.networks[1].latency_s, CALC_TUNE_TERM_NETWORK1, 10},
        {&machine.networks[0].latency_log2_s, CALC_TUNE_TERM_NETWORK0, 10},
        {&machine.networks[1].latency_log2_s, CALC_TUNE_TERM_NETWORK1, 10},
        {&machine.networks[0].bytes_per_s, CALC_TUNE_TERM_NETWORK0, 1e3},
        {&machine.networks[1].bytes_per_s, CALC_TUNE_TERM_NETWORK1, 1e3},
        {&chip->mem1.bytes_per_s, CALC_TUNE_TERM_MEMORY, 1e6},
        {&chip->attention.fw_efficiency, CALC_TUNE_TERM_ATTENTION, 1e-8},
        {&chip->attention.bw_efficiency, CALC_TUNE_TERM_ATTENTION, 1e-8},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double usual = *rows[i].constant, before = term_of(rows[i].term);
        *rows[i].constant = rows[i].longest;
        double after = term_of(rows[i].term);
        ck_assert_msg(after > 0.9 && after < 1.01 && before < 0.7, "row %zu: %g after %g", i, after,
                      before);
        *rows[i].constant = usual;
    }
}

/* Of 94 blocks on eight stages some have one more than others; a single stage has all. */
CALC_TEST(unequal_stages_are_a_term_only_where_stages_are_unequal)
{
    exec.pipeline_balance = CALC_PIPELINE_BALANCE_BLOCKS;
    exec.pipeline_interleaving = 1;
    ck_assert_double_gt(fabs(term_of(CALC_TUNE_TERM_UNEVEN)), 1e-6);
    exec.strategy.data_par *= exec.pipeline_par;
    exec.pipeline_par = 1;
    ck_assert_double_eq_tol(term_of(CALC_TUNE_TERM_UNEVEN), 0, 1e-12);
}
