/* Five published models beside an independent count of their parameters, arithmetic and bytes:
   modern/README.md. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calc.h"
#include "classic.h"
#include "frame.h"
#include "model/cost/block.h"

enum { MODELS = 5, NAME_SIZE = 64, SEQ = 4096 };

/* A row of blocks.csv; 0 for a kind of block the model has not. */
typedef struct expected {
    char model[NAME_SIZE];
    double params[CALC_BLOCK_KINDS];
    double fw_linear[CALC_BLOCK_KINDS];
    double fw_attention, bw_attention, fw_head, step_flop;
    double act_bytes[CALC_BLOCK_KINDS];
} expected;

static expected rows[MODELS];

static void read_rows(void)
{
    static const char head[] =
        "model,block_params_dense,block_params_moe,fw_linear_dense,fw_linear_moe,fw_attention,"
        "bw_attention_flash,fw_head,step_flops_per_sequence,act_bytes_dense,act_bytes_moe\n";
    char line[512];
    FILE *file = fopen(CALC_TEST_DATA "/golden/modern/blocks.csv", "r");
    bool good = file != NULL && fgets(line, sizeof line, file) != NULL && strcmp(line, head) == 0;
    for (int i = 0; i < MODELS && good; i++) {
        expected *r = &rows[i];
        int cells = fgets(line, sizeof line, file)
                        ? sscanf(line, "%63[^,],%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", r->model,
                                 &r->params[0], &r->params[1], &r->fw_linear[0], &r->fw_linear[1],
                                 &r->fw_attention, &r->bw_attention, &r->fw_head, &r->step_flop,
                                 &r->act_bytes[0], &r->act_bytes[1])
                        : 0;
        good = cells == 11;
    }
    if (!good) {
        fprintf(stderr, "golden/modern/blocks.csv: missing, or not as expected\n");
        exit(EXIT_FAILURE);
    }
    fclose(file);
}

const calc_test_frame calc_tests = {.setup_once = read_rows};

/* ---- One sequence on one processor ----------------------------------------------------------- */

typedef struct layout {
    calc_app app;
    calc_system system;
    calc_exec exec;
    calc_shape shape;
    calc_cost_context context;
} layout;

static void load(calc_kind kind, void *object, const char *folder, const char *name)
{
    char path[512];
    calc_errors errors = {0};
    snprintf(path, sizeof path, "%s/%s/%s.json", CALC_DATA_DIR_SOURCE, folder, name);
    calc_status status = calc_load(kind, object, path, &errors);
    ck_assert_msg(status == CALC_OK, "%s: %s", path, errors.item[0].text);
}

static void set_up(layout *l, const expected *r)
{
    load(CALC_KIND_APP, &l->app, "models", r->model);
    load(CALC_KIND_SYSTEM, &l->system, "systems", "b200");
    l->exec = (calc_exec){CLASSIC_EXEC,
                          .num_procs = 1,
                          .strategy.tensor_par = 1,
                          .pipeline_par = 1,
                          .strategy.data_par = 1,
                          .batch_size = 1,
                          .microbatch_size = 1,
                          .strategy.datatype = CALC_DATATYPE_BFLOAT16,
                          .strategy.fused_activation = true,
                          .pipeline_interleaving = 1,
                          .training = true,
                          .seq_size = SEQ,
                          .strategy.flash_attention = true};
    l->shape = calc_shape_of(&l->app, &l->exec.strategy, l->exec.microbatch_size, l->exec.seq_size);
    l->context = calc_cost_context_of(&l->system, &l->exec, &l->shape, CALC_COMPAT_NONE);
}

/* To the digit: counts below 2^53 are whole numbers, and their doubles have no room for another. */
static void assert_count(const char *model, const char *what, double got, double want)
{
    double slack = fmax(0.25, 1e-15 * want);
    ck_assert_msg(fabs(got - want) <= slack, "%s: %s is %.17g, not %.17g", model, what, got, want);
}

static double linear_flop(const calc_operator *operators, size_t count, calc_pass pass)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        calc_operator_kind kind = operators[i].kind;
        bool linear = kind == CALC_OPERATOR_MATRIX || kind == CALC_OPERATOR_HEAD ||
                      kind == CALC_OPERATOR_GROUPED;
        sum += linear ? operators[i].flop[pass] : 0;
    }
    return sum;
}

static double attention_flop(const calc_operator *operators, size_t count, calc_pass pass)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += operators[i].kind == CALC_OPERATOR_ATTENTION ? operators[i].flop[pass] : 0;
    }
    return sum;
}

static void block_is(layout *l, const expected *r, calc_block_kind kind)
{
    calc_operator operators[CALC_MAX_OPERATORS];
    size_t count = calc_block_operators(&l->context, kind, operators);
    calc_cost cost;
    calc_cost_sum(&l->context, operators, count, 0, &cost);
    assert_count(r->model, "parameters", cost.dense_weights + cost.expert_weights, r->params[kind]);
    for (calc_pass pass = CALC_PASS_FW; pass < CALC_PASS_COUNT; pass++) {
        assert_count(r->model, "linear", linear_flop(operators, count, pass), r->fw_linear[kind]);
    }
    assert_count(r->model, "attention", attention_flop(operators, count, CALC_PASS_FW),
                 r->fw_attention);
    assert_count(r->model, "attention backward", attention_flop(operators, count, CALC_PASS_AGRAD),
                 r->bw_attention);
    assert_count(r->model, "activations", cost.kept_whole_bytes, r->act_bytes[kind]);
    assert_count(r->model, "activations kept", cost.kept_bytes, r->act_bytes[kind]);
}

CALC_TEST_LOOP(blocks_are_as_counted_elsewhere, 0, MODELS)
{
    const expected *r = &rows[_i];
    layout l;
    set_up(&l, r);
    int kinds = 0;
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        if (r->params[kind] > 0) {
            block_is(&l, r, kind);
            kinds++;
        }
    }
    ck_assert_int_ge(kinds, 1);
}

CALC_TEST_LOOP(the_head_is_as_counted_elsewhere, 0, MODELS)
{
    layout l;
    set_up(&l, &rows[_i]);
    calc_operator operators[CALC_MAX_OPERATORS];
    size_t count = calc_transformer_head(&l.shape, &l.exec.strategy, l.exec.training, operators);
    for (calc_pass pass = CALC_PASS_FW; pass < CALC_PASS_COUNT; pass++) {
        assert_count(rows[_i].model, "head", linear_flop(operators, count, pass), rows[_i].fw_head);
    }
}

CALC_TEST_LOOP(a_step_is_as_counted_elsewhere, 0, MODELS)
{
    layout l;
    set_up(&l, &rows[_i]);
    calc_stats s;
    calc_run(&l.app, &l.system, &l.exec, CALC_COMPAT_NONE, &s);
    assert_count(rows[_i].model, "hardware_flops", s.hardware_flops, rows[_i].step_flop);
    /* The model needs no scores twice: backward attention is twice forward, not 2.5 times. */
    double repeated =
        (double)l.app.num_blocks * (rows[_i].bw_attention - 2 * rows[_i].fw_attention);
    assert_count(rows[_i].model, "model_flops", s.model_flops, rows[_i].step_flop - repeated);
    double whole =
        (double)l.app.num_blocks * 3 * rows[_i].fw_attention * (2.0 * SEQ / (SEQ + 1) - 1);
    ck_assert_double_eq_tol(s.model_flops_square / (s.model_flops + whole), 1, 1e-12);
}

/* The vocabulary of DeepSeek and the others is a multiple of 128 already: nothing is padded. */
CALC_TEST_LOOP(block_counts_are_those_of_the_parameter_count, 0, MODELS)
{
    const expected *r = &rows[_i];
    layout l;
    set_up(&l, r);
    calc_parameters count;
    calc_count_parameters(&l.app, &count);
    double moe = l.shape.moe_blocks;
    double blocks =
        (l.shape.blocks - moe) * r->params[CALC_DENSE_BLOCK] + moe * r->params[CALC_MOE_BLOCK];
    double ends = 2 * l.shape.vocab * l.shape.hidden + l.shape.hidden;
    assert_count(r->model, "parameters of the model", count.total, blocks + ends);
}
