/* Tables of runs of serving, and how they are known. */
#include "validate/serving_map.h"

#include <math.h>
#include <string.h>

#include "frame.h"

static calc_serving_rows rows;
static calc_errors errors;

static void enter(void)
{
    rows = (calc_serving_rows){0};
    errors = (calc_errors){0};
}

static void leave(void)
{
    calc_serving_rows_free(&rows);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static calc_text text_of(const char *text)
{
    return (calc_text){strdup(text), strlen(text)};
}

static calc_status parse(const char *text)
{
    return calc_serving_rows_parse(&rows, text_of(text), "r.csv", &errors);
}

static bool is_serving(const char *text)
{
    calc_text copy = text_of(text);
    bool is = calc_serving_rows_has(&copy);
    calc_text_free(&copy);
    return is;
}

CALC_TEST(the_first_line_tells)
{
    ck_assert(is_serving("id,isl,osl\n"));
    ck_assert(is_serving("osl,\"isl\"\r\n"));
    ck_assert(is_serving("\xef\xbb\xbfisl,osl"));
    ck_assert(!is_serving("id,isl\n1,osl\n"));
    ck_assert(!is_serving("isl_tokens,osl\n"));
    ck_assert(!is_serving("app,sys,exe,measured_s\n"));
    ck_assert(!is_serving(""));
}

CALC_TEST(cells_are_read_and_blank_ones_are_nan)
{
    ck_assert_int_eq(parse("osl,model,gpu,isl,tp,other,ttft_ms\n128,m,g,1024.5,8,x,\n"), CALC_OK);
    ck_assert_uint_eq(rows.count, 1);
    const calc_serving_row *r = &rows.row[0];
    ck_assert_str_eq(r->app, "m");
    ck_assert_str_eq(r->sys, "g");
    ck_assert(r->isl == 1024.5 && r->osl == 128 && r->tp == 8);
    ck_assert(isnan(r->ttft_ms) && isnan(r->ep));
    ck_assert_str_eq(r->software, "");
    ck_assert_int_eq(r->line, 2);
    ck_assert_str_eq(r->id, "r:2"); /* of the file and its line */
    ck_assert_str_eq(r->source, "r");
}

CALC_TEST(a_column_beside_its_neighbour_is_another)
{
    ck_assert_int_eq(parse("model,gpu,isl,osl,ttft_ms,ttft_stat,tpot_stat\nm,g,1,2,3,mean,y\n"),
                     CALC_OK);
}

CALC_TEST(a_column_may_be_a_field_that_is_a_set)
{
    ck_assert_int_eq(parse("app,sys,isl,osl,lora_modules\nm,g,1,2,q_proj+v_proj\n"), CALC_OK);
    ck_assert_int_eq(rows.fields->count, 1);
    ck_assert_double_eq(rows.row[0].value[0],
                        1 << CALC_LORA_MODULES_Q_PROJ | 1 << CALC_LORA_MODULES_V_PROJ);
}
