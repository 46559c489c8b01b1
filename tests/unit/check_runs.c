#include "validate/runs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "frame.h"

static calc_runs runs;
static calc_errors errors;

/* All columns, from the last to the first, and one that nobody asks for. */
static void put_header(char *out, const char *left_out)
{
    static const char *const names[] = {
#define CALC_X(type, name) #name,
        CALC_RUNS_COLUMN_LIST(CALC_X)
#undef CALC_X
    };
    strcpy(out, "extra");
    for (size_t i = sizeof names / sizeof *names; i-- > 0;) {
        if (!left_out || strcmp(names[i], left_out) != 0) {
            strcat(strcat(out, ","), names[i]);
        }
    }
    strcat(out, "\n");
}

/* A row with the same text in every number, and its column's number of letters x in every text. */
static void put_row(char *out, const char *number, const char *words)
{
    strcat(out, "x");
    static const bool is_number[] = {
#define IS_TEXT false
#define IS_NUMBER true
#define CALC_X(type, name) IS_##type,
        CALC_RUNS_COLUMN_LIST(CALC_X)
#undef CALC_X
    };
    for (size_t i = sizeof is_number / sizeof *is_number; i-- > 0;) {
        strcat(strcat(out, ","), is_number[i] ? number : words);
    }
    strcat(out, "\n");
}

static calc_status parse(const char *csv)
{
    errors = (calc_errors){0};
    calc_text text = {.data = strdup(csv), .length = strlen(csv)};
    return calc_runs_parse(&runs, text, "r.csv", NULL, NULL, &errors);
}

static void leave(void)
{
    calc_runs_free(&runs);
}

const calc_test_frame calc_tests = {.teardown = leave};

static char csv[8192];

CALC_TEST(rows_are_read_in_any_order_of_columns)
{
    put_header(csv, NULL);
    put_row(csv, "2", "word");
    put_row(csv, "", "");
    ck_assert_int_eq(parse(csv), CALC_OK);
    ck_assert_uint_eq(runs.count, 2);
    ck_assert_str_eq(runs.row[0].id, "word");
    ck_assert_str_eq(runs.row[0].confidence, "word");
    ck_assert(runs.row[0].num_gpus == 2 && runs.row[0].measured_memory_gib == 2);
    ck_assert_int_eq(runs.row[0].line, 2);
    ck_assert_str_eq(runs.row[1].id, "");
    ck_assert(isnan(runs.row[1].num_gpus));
    ck_assert_int_eq(runs.row[1].line, 3);
}

CALC_TEST(any_column_may_be_missing)
{
    ck_assert_int_eq(parse("layers\n3\n"), CALC_OK);
    ck_assert(runs.row[0].layers == 3 && isnan(runs.row[0].heads));
    ck_assert_str_eq(runs.row[0].id, "");
    ck_assert_str_eq(runs.row[0].confidence, "");
    ck_assert_ptr_null(runs.row[0].own);
    calc_runs_free(&runs);
}

CALC_TEST(a_file_without_columns_or_rows_is_refused)
{
    static const char *const none[] = {"", "{", "42", "<html>", "<html>\n<body>\n", "aaaa,bbbb\n"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        ck_assert_int_eq(parse(none[i]), CALC_ERR_FIELD);
        ck_assert_str_eq(errors.item[0].text,
                         "none of the columns is known: the first row names them");
        calc_runs_free(&runs);
    }
    ck_assert_int_eq(parse("layers,heads\n\n"), CALC_ERR_FIELD);
    ck_assert_str_eq(errors.item[0].text, "it has no rows");
}

CALC_TEST(counts_are_whole_and_times_take_time)
{
    static const struct {
        const char *column, *right, *wrong[3];
    } cell[] = {{"procs", "1", {"0", "3072.5", "0x10"}},
                {"tp", "8", {"0", "-1", "1e-300"}},
                {"hidden", "12288", {"12288.7", "0", "0x3000"}},
                {"dp", "0", {"0.5", "-1", "0x1"}},
                {"measured_s", "0.25", {"0", "1e-300", "0x10"}},
                {"measured_tflops_per_gpu", "140.5", {"-1", "0x10", "nan"}}};
    for (size_t i = 0; i < sizeof cell / sizeof *cell; i++) {
        for (size_t k = 0; k < 4; k++) {
            const char *text = k < 3 ? cell[i].wrong[k] : cell[i].right;
            snprintf(csv, sizeof csv, "id,%s\nx,%s\n", cell[i].column, text);
            ck_assert_int_eq(parse(csv), k < 3 ? CALC_ERR_TYPE : CALC_OK);
            calc_runs_free(&runs);
        }
    }
}

CALC_TEST(some_columns_have_shorter_names)
{
    ck_assert_int_eq(parse("name,procs,measured_s,measured_mem_gib\nx,8,2.5,70\n"), CALC_OK);
    ck_assert_str_eq(runs.row[0].id, "x");
    ck_assert(runs.row[0].num_gpus == 8 && runs.row[0].measured_iteration_s == 2.5);
    ck_assert(runs.row[0].measured_memory_gib == 70);
    calc_runs_free(&runs);
    ck_assert_int_eq(parse("name,measured_s\nx,fast\n"), CALC_ERR_TYPE);
    ck_assert_str_eq(errors.item[0].text,
                     "measured_s: expected a number from 1e-06 to 1e9, found \"fast\"");
    ck_assert_int_eq(errors.item[0].column, 3);
}

CALC_TEST(what_is_no_number_is_an_error_in_its_line)
{
    static const char *const bad[] = {"8x", "-1", "inf", "nan", "1e999", "1000000001"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put_header(csv, NULL);
        put_row(csv, "1", "a");
        put_row(csv, bad[i], "a");
        ck_assert_int_eq(parse(csv), CALC_ERR_TYPE);
        ck_assert_int_eq(errors.count, 1);
        ck_assert_int_eq(errors.item[0].line, 3);
        char words[96];
        snprintf(words, sizeof words,
                 "num_gpus: expected a whole number from 1 to 1e9, found \"%s\"", bad[i]);
        ck_assert_str_eq(errors.item[0].text, words);
        /* the columns stand in reverse: it comes after some of them */
        char *last = strrchr(csv, '\n');
        *last = '\0';
        const char *begin = strrchr(csv, '\n') + 1;
        ck_assert_int_eq(strncmp(begin + errors.item[0].column - 1, bad[i], strlen(bad[i])), 0);
        ck_assert_int_eq(begin[errors.item[0].column - 2], ',');
        calc_runs_free(&runs);
    }
}

CALC_TEST(a_column_that_may_be_absent_is_blank_then)
{
    put_header(csv, NULL);
    put_row(csv, "1", "a");
    ck_assert_int_eq(parse(csv), CALC_OK);
    ck_assert_str_eq(runs.row[0].arguments, "");
    calc_runs_free(&runs);
    put_header(csv, NULL);
    csv[strlen(csv) - 1] = '\0';
    strcat(csv, ",arguments\n");
    put_row(csv, "1", "a");
    csv[strlen(csv) - 1] = '\0';
    strcat(csv, ",--swiglu\n");
    ck_assert_int_eq(parse(csv), CALC_OK);
    ck_assert_str_eq(runs.row[0].arguments, "--swiglu");
}

CALC_TEST(a_row_with_too_few_cells_is_an_error)
{
    put_header(csv, NULL);
    strcat(csv, "x,high\n");
    ck_assert_int_eq(parse(csv), CALC_ERR_FIELD);
    ck_assert_int_eq(errors.item[0].line, 2);
    ck_assert_ptr_nonnull(strstr(errors.item[0].text, "the row has 2 cells, \"id\" is the"));
}

CALC_TEST(a_broken_quote_is_an_error)
{
    put_header(csv, NULL);
    strcat(csv, "\"x\n");
    ck_assert_int_eq(parse(csv), CALC_ERR_SYNTAX);
    ck_assert_int_eq(errors.item[0].line, 2);
}

CALC_TEST(a_file_that_does_not_exist_is_named)
{
    errors = (calc_errors){0};
    ck_assert_int_eq(calc_runs_read(&runs, "no/such.csv", NULL, NULL, &errors), CALC_ERR_NOT_FOUND);
    ck_assert_str_eq(errors.item[0].file, "no/such.csv");
}

CALC_TEST(words_are_found_with_and_without_regard_to_case)
{
    ck_assert(calc_runs_has("FSDP2 full", "FSDP"));
    ck_assert(!calc_runs_has("FSDP2 full", "fsdp"));
    ck_assert(calc_runs_has_any_case("FSDP2 full", "fsdp2 F"));
    ck_assert(!calc_runs_has_any_case("FSD", "fsdp"));
    ck_assert(calc_runs_starts("vtrain_multi_1", "vtrain_multi"));
    ck_assert(!calc_runs_starts("vtrain", "vtrain_multi"));
    ck_assert(calc_runs_or((double)NAN, 3) == 3 && calc_runs_or(2, 3) == 2);
}
