/* Files of measured kernels in calc tune: from rows to layouts in another order, and what is said
 * of a file that is of no use. */
#include "cli/tune/tune_task.h"

#include "frame.h"
#include "point_case.h"
#include "scratch.h"
#include "tune/decision.h"

enum { LAYOUTS = 3 };

static char folder[512];
static calc_app app;
static calc_system machine;
static calc_exec exec[LAYOUTS];
static calc_tune_candidate candidate[LAYOUTS];
static calc_tune_operators operators;
static calc_tune_prior prior;

static calc_exec exec_of(const void *context, size_t i)
{
    return ((const calc_exec *)context)[i];
}

/* Llama 3 70B on 512 B200 by 2, 4 and 8 ways of tensor parallelism. */
static void enter(void)
{
    static const char app_file[] = CALC_DATA_DIR_SOURCE "/models/llama3-70B.json";
    static const char exec_file[] = CALC_DATA_DIR_SOURCE "/executions/llama3-70B_512.json";
    errors = (calc_errors){0};
    ck_assert_int_eq(calc_load(CALC_KIND_APP, &app, app_file, &errors), CALC_OK);
    ck_assert_int_eq(calc_load(CALC_KIND_EXEC, &exec[0], exec_file, &errors), CALC_OK);
    machine = load_system("b200_180g");
    prior = calc_tune_prior_default();
    exec[0].strategy.data_par *= exec[0].strategy.context_par;
    exec[0].strategy.context_par = 1;
    exec[0].strategy.grad_datatype = CALC_FORMAT_FLOAT32;
    int64_t ranks = exec[0].strategy.tensor_par * exec[0].strategy.data_par;
    for (int i = 0; i < LAYOUTS; i++) {
        exec[i] = exec[0];
        exec[i].strategy.tensor_par = 2 << i;
        exec[i].strategy.data_par = ranks / exec[i].strategy.tensor_par;
        ck_assert(calc_tune_candidate_of(&candidate[i], &app, &machine, &exec[i]));
    }
    scratch_enter(folder, sizeof folder);
    start_csv();
}

static void leave(void)
{
    calc_tune_operators_free(&operators);
    scratch_leave(folder);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static calc_status read_file(const char *rows)
{
    scratch_write("o.csv", point_csv, strlen(point_csv));
    calc_tune_operators_free(&operators);
    errors = (calc_errors){0};
    return calc_tune_operators_read(&operators, "o.csv", rows, &machine, &errors);
}

static calc_status learn(void)
{
    return calc_tune_operators_learn(&operators, &app, &machine, &prior, candidate, LAYOUTS,
                                     exec_of, exec, &errors);
}

static size_t fastest(const calc_tune_kernels *kernels)
{
    calc_tune_options options = calc_tune_options_default(&prior);
    options.kernels = kernels;
    calc_tune_decision d;
    ck_assert_int_eq(calc_tune_decide(&d, candidate, LAYOUTS, NULL, 0, &options, &errors), CALC_OK);
    size_t best = 0;
    for (size_t i = 0; i < LAYOUTS; i++) {
        best = d.outlook[i].best > d.outlook[best].best ? i : best;
    }
    calc_tune_decision_free(&d);
    return best;
}

/* Rows of a layout's multiplications, which take that many times what calc says. */
static void put_matrices(size_t layout, double factor)
{
    static calc_layout_kernel kernel[CALC_LAYOUT_KERNELS];
    static const char *const pass[] = {"layout=TN", "layout=NN",
                                       "layout=NT accumulate=True out_dtype=fp32"};
    size_t count = calc_layout_kernels(&app, &machine, &exec[layout], kernel);
    for (size_t i = 0; i < count; i++) {
        const calc_kernel_key *k = &kernel[i].key;
        if (kernel[i].keyed && k->kind == CALC_KERNEL_MATRIX) {
            double blocks = (double)app.num_blocks;
            put("b,mm,bf16,m=%.0f k=%.0f n=%.0f %s,time,%.9g,s\n", exp2(k->log2_size[0]),
                exp2(k->log2_size[1]), exp2(k->log2_size[2]), pass[k->pass],
                kernel[i].time_s / blocks * factor);
        }
    }
}

/* On this machine the multiplications of the layout that calc thinks best are half as fast. */
CALC_TEST(measured_kernels_put_an_order_right)
{
    size_t model = fastest(NULL);
    for (size_t i = 0; i < LAYOUTS; i++) {
        put_matrices(i, i == model ? 2 : 1);
    }
    ck_assert_int_eq(read_file(NULL), CALC_OK);
    ck_assert_int_eq(learn(), CALC_OK);
    ck_assert_uint_ne(fastest(&operators.learnt.kernels), model);
    const calc_tune_kernels_class *matrices = NULL;
    for (size_t i = 0; i < operators.learnt.classes; i++) {
        const calc_tune_kernels_class *c = &operators.learnt.class[i];
        matrices = c->class.kind == CALC_KERNEL_MATRIX ? c : matrices;
    }
    ck_assert_ptr_nonnull(matrices);
    ck_assert_uint_eq(matrices->exact, matrices->shapes);
    ck_assert_double_gt(matrices->share, 0.5);
    /* Of the multiplications' share of that cell, a factor of two. Cells are in order of tensor
     * parallelism. */
    double mean = operators.learnt.kernels.mean[model];
    ck_assert_double_gt(mean, 0.5 * log(2));
    ck_assert_double_lt(mean, log(2));
}

CALC_TEST(learning_again_forgets_what_was)
{
    put_matrices(0, 1.2);
    ck_assert_int_eq(read_file(NULL), CALC_OK);
    ck_assert_int_eq(learn(), CALC_OK);
    double mean = operators.learnt.kernels.mean[0];
    ck_assert_int_eq(learn(), CALC_OK);
    ck_assert(operators.learnt.kernels.mean[0] == mean);
    ck_assert_uint_eq(operators.learnt.kernels.cells, LAYOUTS);
}

static void ends(const calc_text *text, calc_output *out, const char *expected)
{
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    ck_assert_msg(strstr(text->data, expected) != NULL, "%s\nis not in\n%s", expected, text->data);
}

CALC_TEST(what_is_not_measured_is_said)
{
    calc_output *out;
    calc_text text = {0};
    put("b,mm,bf16,m=4096 k=8192 n=8192,time,1,ms\n");
    ck_assert_int_eq(read_file(NULL), CALC_OK);
    ck_assert_int_eq(learn(), CALC_OK);
    ck_assert_int_eq(calc_output_open_memory(&out, &text, &errors), CALC_OK);
    calc_tune_operators_write(out, &operators);
    ends(&text, out, "none: as published runs have it\n");
    ck_assert_ptr_nonnull(strstr(text.data, "  causal attention forward in bfloat16"));
    ck_assert_ptr_nonnull(strstr(text.data, "  matrix multiplications in bfloat16"));
    calc_text_free(&text);
    text = (calc_text){0};
    ck_assert_int_eq(calc_output_open_memory(&out, &text, &errors), CALC_OK);
    calc_put object = calc_put_to(out);
    calc_put_object(&object, NULL, CALC_PUT_LINES);
    calc_tune_operators_put(&object, &operators);
    calc_put_end(&object);
    ends(&text, out, "\"class\": \"matrix multiplications in bfloat16\", \"share\": 0.");
    ck_assert_ptr_nonnull(strstr(text.data, "\"measured\": 1, \"exact\": 0, \"log_error\": "));
    ck_assert_ptr_nonnull(strstr(text.data, "\"measured\": 0, \"exact\": 0}"));
    calc_text_free(&text);
}

static void refuses(calc_status got, const char *expected)
{
    ck_assert_int_eq(got, CALC_ERR_FIELD);
    ck_assert_msg(strstr(errors.item[0].text, expected) != NULL, "%s", errors.item[0].text);
    ck_assert_str_eq(errors.item[0].file, "o.csv");
}

CALC_TEST(files_of_no_use)
{
    put("b,all_reduce,bf16,16 MiB ranks=8,time,100,us\n");
    ck_assert_int_eq(read_file(NULL), CALC_OK);
    refuses(learn(), "no row is of kernels that these layouts run: ");
    ck_assert_ptr_nonnull(strstr(errors.item[0].text, "matrix multiplications in bfloat16"));
    put("c,mm,bf16,m=4096 k=8192 n=8192,time,1,ms\n");
    refuses(read_file(NULL), "the measurements are of more than one machine: ");
    refuses(read_file("x"), "no row that can be used is of x");
    ck_assert_int_eq(read_file("c"), CALC_OK);
    ck_assert_int_eq(learn(), CALC_OK);
    put("c,mm,bf16,m=4096 k=8192 n=8192,time,fast,ms\n");
    ck_assert_int_eq(read_file("c"), CALC_ERR_TYPE);
    ck_assert_int_eq(errors.item[0].line, 4);
    snprintf(point_csv, sizeof point_csv, "op,shape\nmm,m=1\n");
    refuses(read_file(NULL), "dtype");
    errors = (calc_errors){0};
    calc_tune_operators_free(&operators);
    ck_assert_int_ne(calc_tune_operators_read(&operators, "none.csv", NULL, &machine, &errors),
                     CALC_OK);
    ck_assert_int_gt(errors.count, 0);
}
