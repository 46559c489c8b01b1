/* Numbers for people: src/cli/draw/human.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "cli/draw/human.h"
#include "frame.h"
#include "io/text.h"

CALC_TEST(the_largest_remainders_are_rounded_up)
{
    const double thirds[] = {1, 1, 1};
    const double mixed[] = {2, 0, 5.6, 2.4};
    int64_t share[4];
    calc_human_apportion(thirds, 3, 1000, share);
    ck_assert_int_eq(share[0], 334);
    ck_assert_int_eq(share[1], 333);
    ck_assert_int_eq(share[2], 333);
    calc_human_apportion(mixed, 4, 10, share);
    ck_assert_int_eq(share[0], 2);
    ck_assert_int_eq(share[1], 0);
    ck_assert_int_eq(share[2], 6);
    ck_assert_int_eq(share[3], 2);
}

CALC_TEST(a_negative_part_keeps_the_sum)
{
    const double parts[] = {-0.25, 1.0, 0.5};
    int64_t share[3];
    calc_human_apportion(parts, 3, 1000, share);
    ck_assert_int_eq(share[0], -200);
    ck_assert_int_eq(share[1], 800);
    ck_assert_int_eq(share[2], 400);
}

CALC_TEST(shares_add_up_and_are_less_than_one_step_off)
{
    enum { PARTS = 11, CASES = 10000 };
    calc_rng rng;
    calc_rng_init(&rng, 1, 2);
    for (int i = 0; i < CASES; i++) {
        double part[PARTS];
        double sum = 0;
        int64_t share[PARTS];
        int64_t total = 0;
        for (int k = 0; k < PARTS; k++) {
            /* Zeros and very different sizes are the rule in a breakdown. */
            double size = pow(10, -(double)calc_rng_below(&rng, 12));
            part[k] = calc_rng_below(&rng, 3) == 0 ? 0 : size * calc_rng_real(&rng);
            sum += part[k];
        }
        if (sum == 0) {
            continue;
        }
        calc_human_apportion(part, PARTS, 1000, share);
        for (int k = 0; k < PARTS; k++) {
            total += share[k];
            ck_assert_msg(fabs((double)share[k] - part[k] / sum * 1000) < 1, "case %d, part %d", i,
                          k);
            ck_assert_msg(part[k] > 0 || share[k] == 0, "case %d: part %d is 0", i, k);
        }
        ck_assert_msg(total == 1000, "case %d: the sum is %lld", i, (long long)total);
    }
}

/* The lines of a listing at a width. */
static char *written(calc_listing *l, int width)
{
    calc_errors errors = {0};
    calc_output *out;
    calc_text text = {0};
    ck_assert_int_eq(calc_output_open_memory(&out, &text, &errors), CALC_OK);
    calc_listing_fit(l, width);
    calc_listing_write_row(l, out, 0, 0);
    calc_listing_write_row(l, out, 1, 0);
    calc_listing_write_row(l, out, 2, 2);
    calc_listing_free(l);
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    return text.data;
}

static void answer_list(int width, int gap, FILE *out)
{
    calc_listing_column column[] = {CALC_COLUMN("name", .left = true), CALC_COLUMN("s"),
                                    CALC_COLUMN("GiB", .order = 1), CALC_COLUMN("MFU", .order = 2),
                                    CALC_COLUMN("words", .left = true, .cut = true)};
    calc_listing l = CALC_LISTING(column, gap);
    static const char *const cells[] = {
        "a",     "1.25", "80", "50", "as short as it is",
        "bcdef", "10",   "7",  "",   "words that go on, and on, and on"};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        calc_listing_add(&l, cells[i]);
    }
    char *text = written(&l, width);
    fputs(text, out);
    free(text);
}

static void answer_fold(int columns, const char *text, FILE *to)
{
    calc_output *out;
    calc_text folded = {0};
    ck_assert_int_eq(calc_output_open_memory(&out, &folded, NULL), CALC_OK);
    calc_fold_write(out, text, strlen(text), columns);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    for (const char *at = folded.data; *at; at++) {
        fprintf(to, *at == '\033' ? "<1B>" : "%c", *at);
    }
    calc_text_free(&folded);
}

/* A function and its number; "list WIDTH GAP"; "fold COLUMNS", and lines. */
static void answer(const char *said, FILE *out)
{
    static const struct {
        const char *name;
        char *(*text)(double value, char *buffer);
    } functions[] = {{"integer", calc_human_integer_in}, {"number", calc_human_number_in},
                     {"seconds", calc_human_seconds_in}, {"bytes", calc_human_bytes_in},
                     {"count", calc_human_count_in},     {"percent", calc_human_percent_in}};
    char name[16], buffer[CALC_HUMAN_MAX];
    double value, second = 0;
    ck_assert_int_ge(sscanf(said, "%15s %lf %lf", name, &value, &second), 2);
    if (strcmp(name, "list") == 0) {
        answer_list((int)value, (int)second, out);
    } else if (strcmp(name, "fold") == 0) {
        answer_fold((int)value, strchr(said, '\n') + 1, out);
    } else if (strcmp(name, "counted") == 0) {
        fprintf(out, "%s\n", calc_human_counted(value, "block"));
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(name, functions[i].name) == 0) {
            fprintf(out, "%s\n", functions[i].text(value, buffer));
        }
    }
}

const calc_test_frame calc_tests = {.cases = "unit/check_human.txt", .answer = answer};

CALC_TEST(a_cut_leaves_characters_whole)
{
    calc_listing_column column[] = {CALC_COLUMN("t", .left = true, .cut = true)};
    calc_listing l = CALC_LISTING(column, 1);
    calc_listing_add(&l, "0123456789012345678\xc3\xa9 and more than fits");
    calc_listing_add(&l, "short");
    char *text = written(&l, 1);
    ck_assert_str_eq(text, "t\n0123456789012345678 ...\n  short\n");
    free(text);
}

CALC_TEST(a_column_varies_if_two_rows_differ)
{
    calc_listing_column column[] = {CALC_COLUMN("a"), CALC_COLUMN("b")};
    calc_listing l = CALC_LISTING(column, 1);
    calc_listing_add(&l, "1");
    calc_listing_add(&l, "1");
    calc_listing_addf(&l, "%d\t%s", 1, "2"); /* with a tab between cells */
    ck_assert_uint_eq(l.cells, 4);
    ck_assert_str_eq(calc_listing_cell(&l, 1, 1), "2");
    ck_assert(!column[0].varies);
    ck_assert(column[1].varies);
    ck_assert_str_eq(calc_listing_cell(&l, 1, 1), "2");
    calc_listing_free(&l);
}
