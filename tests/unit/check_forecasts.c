/* Files of forecasts: what they say is read, and broken ones are refused. */
#include "validate/residuals.h"

#include <string.h>

#include "frame.h"

static calc_forecasts forecasts;
static calc_errors errors;

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
    const calc_forecast *f = calc_forecasts_find(&forecasts, "a, b");
    ck_assert_ptr_nonnull(f);
    ck_assert_str_eq(f->before, "2026-02");
    ck_assert_double_eq(f->value, 0.5);
    ck_assert_double_eq(calc_forecasts_find(&forecasts, "one")->value, -0.125);
    ck_assert_ptr_null(calc_forecasts_find(&forecasts, "two"));
    calc_forecasts_free(&forecasts);
}

CALC_TEST(a_run_has_one_for_each_month)
{
    ck_assert_int_eq(parse("id,before,forecast\nb,2026-02,0.3\nb,2025-07,0.1\nb,2025-12,0.2\n"
                           "c,2025-10,0.4\n"),
                     CALC_OK);
    ck_assert_double_eq(calc_forecasts_find(&forecasts, "b")->value, 0.3);
    ck_assert_double_eq(calc_forecasts_at(&forecasts, "b", "2025-12")->value, 0.2);
    ck_assert_ptr_null(calc_forecasts_at(&forecasts, "b", "2025-10"));
    ck_assert_ptr_null(calc_forecasts_at(&forecasts, "a", "2025-10"));
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
