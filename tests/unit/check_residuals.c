/* Files of residuals: what is written is read, in order of size, and broken ones are refused. */
#include "residuals_case.h"

#include <string.h>

#include "frame.h"
#include "validate/residuals.h"

static calc_errors errors;

static void enter(void)
{
    case_residuals = (calc_residuals){0};
    errors = (calc_errors){0};
}

static void leave(void)
{
    calc_residuals_free(&case_residuals);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

CALC_TEST(what_is_written_is_read)
{
    case_begin();
    calc_residual run = case_run("a, b", -0.25);
    run.quantity = CALC_QUANTITY_MEMORY;
    run.traits = (calc_traits){"910B", true, 4, 2048};
    run.fold[CALC_UNSEEN_WIDTH] = 3;
    run.fold[CALC_UNSEEN_SOURCE] = 5;
    case_add(run);
    case_add(case_run("other", 0.125));
    case_end();
    const calc_residual *r = &case_residuals.item[0];
    ck_assert_str_eq(r->id, "run_0");
    ck_assert_str_eq(r->source, "a, b");
    ck_assert_str_eq(r->machine, "h100_sxm");
    ck_assert_str_eq(r->traits.family, "910B");
    ck_assert(r->quantity == CALC_QUANTITY_MEMORY && r->traits.experts);
    ck_assert(r->traits.bits == 4 && r->traits.processors == 2048);
    ck_assert(r->fold[CALC_UNSEEN_WIDTH] == 3 && r->fold[CALC_UNSEEN_SOURCE] == 5);
    ck_assert(r->value[CALC_UNSEEN_WIDTH] == -0.25 && r->value[CALC_UNSEEN_SOURCE] == -0.5);
    ck_assert(!case_residuals.item[1].traits.experts);
}

CALC_TEST(tables_and_families_are_numbered_and_values_ordered)
{
    static const double values[] = {0.3, -0.1, 0.2};
    case_begin();
    for (int i = 0; i < 3; i++) {
        calc_residual run = case_run(i == 1 ? "one" : "two", values[i]);
        run.traits.family = i == 2 ? "A100" : "H100";
        case_add(run);
    }
    case_end();
    const calc_residual *r = case_residuals.item;
    ck_assert_int_eq(case_residuals.tables, 2);
    ck_assert(r[0].table == 0 && r[1].table == 1 && r[2].table == 0);
    ck_assert(r[0].family == 0 && r[1].family == 0 && r[2].family == 1);
    ck_assert_ptr_eq(case_residuals.list[CALC_QUANTITY_STEP_TIME][CALC_UNSEEN_WIDTH].item[0].run,
                     &r[1]);
    ck_assert_ptr_eq(case_residuals.list[CALC_QUANTITY_STEP_TIME][CALC_UNSEEN_WIDTH].item[1].run,
                     &r[2]);
    ck_assert_ptr_eq(case_residuals.list[CALC_QUANTITY_STEP_TIME][CALC_UNSEEN_SOURCE].item[2].run,
                     &r[0]);
}

CALC_TEST(a_measurement_and_a_family_are_found)
{
    case_begin();
    case_add(case_run("one", 0.1));
    calc_residual memory = case_run("one", 0.1);
    memory.quantity = CALC_QUANTITY_MEMORY;
    memory.machine = "only_memory";
    case_add(memory);
    case_end();
    const calc_residuals *all = &case_residuals;
    ck_assert_ptr_eq(calc_residuals_find(all, "run_0", CALC_QUANTITY_STEP_TIME), &all->item[0]);
    ck_assert_ptr_null(calc_residuals_find(all, "run_0", CALC_QUANTITY_MEMORY));
    ck_assert_ptr_null(calc_residuals_find(all, "run_2", CALC_QUANTITY_STEP_TIME));
    ck_assert_str_eq(calc_residuals_family(all, "h100_sxm"), "H100");
    ck_assert_ptr_null(calc_residuals_family(all, "h100")); /* a start is not the name */
    ck_assert_ptr_null(calc_residuals_family(all, "only_memory"));
}

CALC_TEST(traits_are_those_of_a_layout)
{
    calc_app app = {.num_experts = 8};
    calc_exec exec = {.num_procs = 64, .strategy.datatype = CALC_DATATYPE_BFLOAT16};
    calc_traits t = calc_traits_of(&app, &exec, "A100");
    ck_assert(t.experts && t.bits == 16 && t.processors == 64);
    ck_assert_str_eq(t.family, "A100");
    app.num_experts = 0;
    exec.strategy.matrix_datatype = CALC_FORMAT_FLOAT8;
    t = calc_traits_of(&app, &exec, "A100");
    ck_assert(!t.experts && t.bits == 8);
    exec.strategy.matrix_datatype = CALC_FORMAT_FLOAT4;
    ck_assert_int_eq(calc_traits_of(&app, &exec, "").bits, 4);
    exec.strategy.matrix_datatype = CALC_FORMAT_AUTO;
    exec.strategy.datatype = CALC_DATATYPE_FLOAT32;
    ck_assert_int_eq(calc_traits_of(&app, &exec, "").bits, 32);
}

#define HEAD                                                                                       \
    "id,quantity,source,machine,family,kind,bits,processors,width_fold,source_fold,unseen_width,"  \
    "unseen_source\n"

CALC_TEST(what_is_wrong_is_said_with_its_line)
{
    static const struct {
        const char *csv, *text;
        calc_status status;
        int line;
    } cases[] = {
        {"id,quantity\n", "column \"source\" is missing", CALC_ERR_FIELD, 1},
        {HEAD "a,time,s,m,H,dense,16,8,0,0,0,0\n",
         "quantity: expected step_time or memory, found \"time\"", CALC_ERR_TYPE, 2},
        {HEAD "a,memory,s,m,H,sparse,16,8,0,0,0,0\n",
         "kind: expected dense or MoE, found \"sparse\"", CALC_ERR_TYPE, 2},
        {HEAD "a,memory,s,m,H,MoE,many,8,0,0,0,0\n",
         "bits: expected a whole number from 1 to 1e9, found \"many\"", CALC_ERR_TYPE, 2},
        {HEAD "a,memory,s,m,H,MoE,16,0,0,0,0,0\n",
         "processors: expected a number from 1 to 1e9, found \"0\"", CALC_ERR_TYPE, 2},
        {HEAD "\na,memory,s,m,H,MoE,16,8,-1,0,0,0\n",
         "width_fold: expected a whole number from 0 to 1e9, found \"-1\"", CALC_ERR_TYPE, 3},
        {HEAD "a,memory,s,m,H,MoE,16,8,0,1e10,0,0\n",
         "source_fold: expected a whole number from 0 to 1e9, found \"1e10\"", CALC_ERR_TYPE, 2},
        {HEAD "a,memory,s,m,H,MoE,16,8,0,0,,0\n",
         "unseen_width: expected a number from -10 to 10, found \"\"", CALC_ERR_TYPE, 2},
        {HEAD "a,memory,s,m,H,MoE,16,8,0,0,0,nan\n",
         "unseen_source: expected a number from -10 to 10, found \"nan\"", CALC_ERR_TYPE, 2},
        {HEAD "a,memory,s\n", "the row has 3 cells, \"machine\" is the 4. column", CALC_ERR_FIELD,
         2},
        {HEAD "\"a\n", NULL, CALC_ERR_SYNTAX, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        calc_text text = {strdup(cases[i].csv), strlen(cases[i].csv)};
        errors = (calc_errors){0};
        ck_assert_int_eq(calc_residuals_parse(&case_residuals, text, "r.csv", &errors),
                         cases[i].status);
        ck_assert_int_eq(errors.item[0].line, cases[i].line);
        if (cases[i].text) {
            ck_assert_str_eq(errors.item[0].text, cases[i].text);
        }
        calc_residuals_free(&case_residuals);
    }
    ck_assert_int_eq(calc_residuals_read(&case_residuals, "no_such.csv", &errors),
                     CALC_ERR_NOT_FOUND);
}

/* Files of forecasts: what they say is read, and broken ones are refused. */

static calc_forecasts forecasts;

static calc_status parse(const char *text)
{
    calc_forecasts_free(&forecasts);
    errors = (calc_errors){0};
    const calc_text own = {.data = strdup(text), .length = strlen(text)};
    ck_assert_ptr_nonnull(own.data);
    return calc_forecasts_parse(&forecasts, own, "forecasts.csv", &errors);
}

CALC_TEST(what_is_said_is_read)
{
    ck_assert_int_eq(parse("id,before,forecast\none,2025-07,-0.1250\n\"a, b\",2026-02,0.5\n"),
                     CALC_OK);
    ck_assert_uint_eq(forecasts.count, 2);
    const calc_forecast *f = calc_forecasts_find(&forecasts, "a, b", NULL);
    ck_assert_ptr_nonnull(f);
    ck_assert_str_eq(f->before, "2026-02");
    ck_assert_double_eq(f->value, 0.5);
    ck_assert_double_eq(calc_forecasts_find(&forecasts, "one", NULL)->value, -0.125);
    ck_assert_ptr_null(calc_forecasts_find(&forecasts, "two", NULL));
    calc_forecasts_free(&forecasts);
}

CALC_TEST(a_run_has_one_for_each_month)
{
    ck_assert_int_eq(parse("id,before,forecast\nb,2026-02,0.3\nb,2025-07,0.1\nb,2025-12,0.2\n"
                           "c,2025-10,0.4\n"),
                     CALC_OK);
    ck_assert_double_eq(calc_forecasts_find(&forecasts, "b", NULL)->value, 0.3);
    ck_assert_double_eq(calc_forecasts_find(&forecasts, "b", "2025-12")->value, 0.2);
    ck_assert_ptr_null(calc_forecasts_find(&forecasts, "b", "2025-10"));
    ck_assert_ptr_null(calc_forecasts_find(&forecasts, "a", "2025-10"));
    const char *month = "";
    static const char *const months[] = {"2025-07", "2025-10", "2025-12", "2026-02"};
    for (size_t i = 0; i < sizeof months / sizeof *months; i++) {
        month = calc_forecasts_next(&forecasts, month);
        ck_assert_str_eq(month, months[i]);
    }
    ck_assert_ptr_null(calc_forecasts_next(&forecasts, month));
    calc_forecasts_free(&forecasts);
}

CALC_TEST(what_is_broken_is_refused)
{
    static const struct {
        const char *text;
        int line;
    } broken[] = {{"id,before\none,2025-07\n", 1},
                  {"id,before,forecast\none,2025,0.1\n", 2},
                  {"id,before,forecast\none,2025-07,\n", 2},
                  {"id,before,forecast\none,2025-07,0.1\ntwo,2025-07,11\n", 3}};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        ck_assert_int_ne(parse(broken[i].text), CALC_OK);
        ck_assert_int_eq(errors.item[0].line, broken[i].line);
        ck_assert_str_eq(errors.item[0].file, "forecasts.csv");
    }
    calc_forecasts_free(&forecasts);
}

CALC_TEST(no_file_is_said)
{
    errors = (calc_errors){0};
    ck_assert_int_eq(calc_forecasts_read(&forecasts, "no/such/file.csv", &errors),
                     CALC_ERR_NOT_FOUND);
    calc_forecasts_free(&forecasts);
}
