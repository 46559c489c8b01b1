#include "io/json_numbers.h"

#include <stdio.h>
#include <string.h>

#include "frame.h"

const calc_test_frame calc_tests = {.timeout_s = 60};

/* Keys beginning with "n" are numbers, with "o" objects, with "x" wrong. */
static calc_json_number_use use(const char *const *key, int depth)
{
    switch (key[depth - 1][0]) {
    case 'n':
        return CALC_JSON_NUMBER_TAKEN;
    case 'o':
        return CALC_JSON_NUMBER_INSIDE;
    case 'x':
        return CALC_JSON_NUMBER_REFUSED;
    default:
        return CALC_JSON_NUMBER_IGNORED;
    }
}

static calc_json_number_use take(void *context, const char *const *key, int depth,
                                 const double *value)
{
    char *out = context;
    if (!value) {
        return use(key, depth);
    }
    for (int i = 0; i < depth; i++) {
        sprintf(out + strlen(out), "%s%s", i ? "." : "", key[i]);
    }
    sprintf(out + strlen(out), "=%g ", *value);
    return CALC_JSON_NUMBER_TAKEN;
}

/* What was taken, and the first error behind it. */
static const char *read_text(const char *text)
{
    static char found[512];
    calc_errors errors = {0};
    const calc_json_numbers reader = {
        .context = found, .take = take, .least = 1, .keys = "keys are n"};
    found[0] = '\0';
    calc_status status = calc_json_numbers_parse(&reader, text, strlen(text), "f", &errors);
    ck_assert_int_eq(status, errors.count ? errors.item[0].status : CALC_OK);
    if (errors.count) {
        calc_error_print(&errors.item[0], found + strlen(found), 256);
    }
    return found;
}

CALC_TEST(numbers_are_taken_in_their_order)
{
    ck_assert_str_eq(read_text("{\"n2\": 2, \"a\": {\"n\": \"?\"}, \"o\": {\"b\": [], \"n\": 1.5},"
                               "\"n1\": 1}"),
                     "n2=2 o.n=1.5 n1=1 ");
    ck_assert_str_eq(read_text("{}"), "");
}

CALC_TEST(ranges_hold_on_both_sides)
{
    ck_assert_str_eq(read_text("{\"n\": 1}"), "n=1 ");
    ck_assert_str_eq(read_text("{\"n\": 0.5}"),
                     "f:1:7: /n: 0.5 is out of range, expected at least 1");
    ck_assert_str_eq(read_text("{\"n\": 1e12}"), "n=1e+12 ");
    ck_assert_str_eq(read_text("{\"n\": 3e24}"),
                     "f:1:7: /n: 3e+24 is out of range, expected at most 1e+12");
}

CALC_TEST(what_is_wrong_has_its_place)
{
    ck_assert_str_eq(read_text("{\"n\": true,\n \"n2\": 3}"),
                     "n2=3 f:1:7: /n: expected a number, found true");
    ck_assert_str_eq(read_text("{\"o\": 4}"), "f:1:7: /o: expected an object, found 4");
    ck_assert_str_eq(read_text("{\"a\": 1,\n  \"x/y\": 3}"),
                     "f:2:3: /x~1y: key \"x/y\" is not understood\n  hint: keys are n");
    ck_assert_str_eq(read_text("[1]"), "f:1:1: expected an object, found an array of 1");
    ck_assert_ptr_nonnull(strstr(read_text("{\"n\": 2,"), "f:1:"));
}

CALC_TEST(depth_has_an_end)
{
    ck_assert_str_eq(read_text("{\"o\": {\"o\": {\"o\": {\"n\": 4, \"o\": {\"n\": 5}}}}}"),
                     "o.o.o.n=4 ");
}
