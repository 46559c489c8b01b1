/* What is stated and what is wished, and what a layout keeps of the wishes. */
#include "spec/software.h"

#include <stdio.h>
#include <string.h>

#include "frame.h"
#include "io/space_load.h"
#include "spec/field.h"

static calc_app app;
static calc_system system_;
static calc_exec exec;
static calc_errors errors;

static void enter(void)
{
    ck_assert_int_eq(
        calc_load(CALC_KIND_APP, &app, CALC_DATA_DIR_SOURCE "/models/llama3-8B.json", NULL),
        CALC_OK);
    ck_assert_int_eq(
        calc_load(CALC_KIND_SYSTEM, &system_, CALC_DATA_DIR_SOURCE "/systems/h100_sxm.json", NULL),
        CALC_OK);
    ck_assert_int_eq(
        calc_load(CALC_KIND_EXEC, &exec, CALC_DATA_DIR_SOURCE "/executions/llama3-8B_8.json", NULL),
        CALC_OK);
    errors = (calc_errors){0};
}

const calc_test_frame calc_tests = {.setup = enter};

static void set(calc_exec *to, const char *assignment)
{
    ck_assert_msg(calc_set(&app, &system_, to, assignment, NULL, &errors) == CALC_OK, "%s: %s",
                  assignment, errors.item[0].text);
}

static size_t row_of(const char *key)
{
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    return (size_t)(calc_table_find(table, key) - table->rows);
}

static bool is_stated(const char *key)
{
    return calc_exec_rows_has(&exec.stated, row_of(key));
}

static bool is_wished(const char *key)
{
    return calc_exec_rows_has(&exec.wished, row_of(key));
}

CALC_TEST(keys_of_a_file_and_assignments_are_stated_and_auto_is_not)
{
    ck_assert(is_stated("tensor_par") && is_stated("data_par_overlap") && !is_stated("eager"));
    ck_assert(!is_stated("loss_chunks")); /* beyond the first 64 rows, too */
    set(&exec, "loss_chunks=1");
    ck_assert(is_stated("loss_chunks"));
    set(&exec, "eager=false");
    ck_assert(is_stated("eager"));
    set(&exec, "data_par_overlap=auto");
    ck_assert(!is_stated("data_par_overlap"));
    ck_assert(is_stated("grad_datatype"));
    set(&exec, "grad_datatype=auto");
    ck_assert(!is_stated("grad_datatype"));
    set(&exec, "inference.batch=3"); /* a field of another table */
    ck_assert(!is_stated("inference"));
}

CALC_TEST(a_document_gives_what_is_not_stated_and_the_next_one_takes_it_back)
{
    calc_exec first = {.automatic = 0}, second = {.automatic = 0};
    set(&first, "eager=true");
    set(&first, "loss_chunks=4");
    set(&first, "tensor_par=8"); /* the file says it */
    set(&second, "loss_chunks=2");
    calc_software_apply(&exec, &first);
    ck_assert(exec.strategy.eager && is_wished("eager") && !is_wished("tensor_par"));
    ck_assert_int_eq(exec.strategy.loss_chunks, 4);
    ck_assert_int_eq(exec.strategy.tensor_par, 1);
    calc_software_apply(&exec, &second);
    ck_assert(!exec.strategy.eager && !is_wished("eager"));
    ck_assert_int_eq(exec.strategy.loss_chunks, 2);
    set(&exec, "loss_chunks=3");
    calc_software_apply(&exec, &second);
    ck_assert_int_eq(exec.strategy.loss_chunks, 3);
    set(&exec, "software=some");
    set(&exec, "software=null");
    ck_assert_str_eq(exec.software, "");
}

CALC_TEST(what_is_not_legal_is_left_and_what_rests_on_a_later_field_is_not)
{
    calc_exec wish = {.automatic = 0};
    set(&wish, "tensor_par_overlap=fused"); /* of one rank */
    set(&wish, "eager=true");
    set(&wish, "recompute_modules=mlp"); /* without activation_recompute modules */
    calc_software_apply(&exec, &wish);
    calc_resolve(&app, &system_, &exec);
    ck_assert(exec.strategy.eager);
    ck_assert_int_eq(exec.strategy.tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_NONE);
    ck_assert_int_eq(exec.strategy.recompute_modules, 0);
    ck_assert_int_eq(calc_check(&app, &system_, &exec, NULL), CALC_OK);
    ck_assert(is_stated("eager") && is_stated("recompute_modules") && !is_wished("eager"));
}

CALC_TEST(a_name_whose_document_was_not_read_is_an_error)
{
    set(&exec, "software=nanotron");
    ck_assert_int_eq(calc_check(&app, &system_, &exec, &errors), CALC_ERR_UNSUPPORTED);
    ck_assert_str_eq(errors.item[0].pointer, "/software");
    ck_assert_str_eq(errors.item[0].text, "software \"nanotron\" was not given");
    errors = (calc_errors){0};
    ck_assert_int_eq(calc_software_read(&exec, NULL, NULL, &errors), CALC_ERR_NOT_FOUND);
    strcpy(exec.software, CALC_DATA_DIR_SOURCE "/executions/software/nanotron.json");
    ck_assert_int_eq(calc_software_read(&exec, NULL, NULL, &errors), CALC_OK);
    calc_resolve(&app, &system_, &exec);
    ck_assert_int_eq(calc_check(&app, &system_, &exec, NULL), CALC_OK);
    ck_assert(exec.strategy.eager);
}

CALC_TEST(names_that_are_too_long_are_refused)
{
    char text[CALC_SOFTWARE_NAME + 16] = "software=";
    memset(text + strlen(text), 'x', CALC_SOFTWARE_NAME - 1);
    set(&exec, text);
    strcat(text, "x");
    ck_assert_int_eq(calc_set(&app, &system_, &exec, text, NULL, &errors), CALC_ERR_RANGE);
    ck_assert_str_eq(errors.item[0].text, "names of software documents have at most 127 letters");
}

CALC_TEST(names_have_no_control_characters)
{
    static const char *const names[] = {"a\nb", "\x1b[31m", "a\x7f", "\t"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[32];
        snprintf(text, sizeof text, "software=%s", names[i]);
        errors.count = 0;
        ck_assert_int_eq(calc_set(&app, &system_, &exec, text, NULL, &errors), CALC_ERR_RANGE);
        ck_assert_str_eq(errors.item[0].text,
                         "names of software documents have no control characters");
    }
}
