#include "base/error.h"

#include <limits.h>
#include <string.h>

#include "frame.h"

static const char *printed(const calc_error *error)
{
    static char buffer[2048];
    int length = calc_error_print(error, buffer, sizeof buffer);
    ck_assert_int_eq(length, (int)strlen(buffer));
    return buffer;
}

/* ---- Collecting ------------------------------------------------------------------------------ */

CALC_TEST(an_added_error_keeps_its_parts)
{
    calc_errors errors = {0};
    calc_status status = calc_errors_add(&errors, CALC_ERR_RANGE, CALC_KIND_EXEC, "/tensor_par",
                                         "write 8", "%d is out of range", 0);
    ck_assert_int_eq(status, CALC_ERR_RANGE);
    ck_assert_int_eq(errors.count, 1);
    const calc_error *error = &errors.item[0];
    ck_assert_int_eq(error->status, CALC_ERR_RANGE);
    ck_assert_int_eq(error->kind, CALC_KIND_EXEC);
    ck_assert_int_eq(error->line, 0);
    ck_assert_int_eq(error->column, 0);
    ck_assert_str_eq(error->file, "");
    ck_assert_str_eq(error->pointer, "/tensor_par");
    ck_assert_str_eq(error->text, "0 is out of range");
    ck_assert_str_eq(error->hint, "write 8");
}

CALC_TEST(an_error_may_have_a_place_in_a_file)
{
    calc_errors errors = {0};
    char text[64];
    ck_assert_int_eq(
        calc_errors_at(&errors, CALC_ERR_TYPE, "a.csv", 3, 7, "leave it", "%d cells", 2),
        CALC_ERR_TYPE);
    calc_error_print(&errors.item[0], text, sizeof text);
    ck_assert_str_eq(text, "a.csv:3:7: 2 cells\n  hint: leave it");
    ck_assert_int_eq(errors.item[0].status, CALC_ERR_TYPE);
    ck_assert_int_eq(errors.item[0].kind, CALC_KIND_NONE);
    calc_errors_at(&errors, CALC_ERR_IO, "a.csv", 0, 0, NULL, "gone");
    calc_errors_at(&errors, CALC_ERR_IO, NULL, 0, 0, NULL, "gone");
    calc_error_print(&errors.item[1], text, sizeof text);
    ck_assert_str_eq(text, "a.csv: gone");
    calc_error_print(&errors.item[2], text, sizeof text);
    ck_assert_str_eq(text, "gone");
    ck_assert_int_eq(calc_errors_at(NULL, CALC_ERR_IO, "a", 1, 1, NULL, "x"), CALC_ERR_IO);
    for (int i = 0; i < CALC_MAX_ERRORS; i++) {
        calc_errors_at(&errors, CALC_ERR_IO, "b", 1, 1, NULL, "more");
    }
    ck_assert_int_eq(errors.dropped, 3);
    ck_assert_str_eq(errors.item[0].file, "a.csv");
}

CALC_TEST(adding_to_no_list_returns_the_status)
{
    ck_assert_int_eq(calc_errors_add(NULL, CALC_ERR_TYPE, CALC_KIND_NONE, NULL, NULL, "text"),
                     CALC_ERR_TYPE);
}

CALC_TEST(errors_beyond_the_capacity_are_counted_and_the_first_kept)
{
    calc_errors errors = {0};
    for (int i = 0; i < CALC_MAX_ERRORS + 3; i++) {
        calc_errors_add(&errors, CALC_ERR_TYPE, CALC_KIND_APP, NULL, NULL, "error %d", i);
    }
    ck_assert_int_eq(errors.count, CALC_MAX_ERRORS);
    ck_assert_int_eq(errors.dropped, 3);
    ck_assert_str_eq(errors.item[0].text, "error 0");
    ck_assert_str_eq(errors.item[CALC_MAX_ERRORS - 1].text, "error 15");
}

CALC_TEST(the_first_status_is_that_of_the_first_error)
{
    calc_errors errors = {0};
    ck_assert_int_eq(calc_errors_first(NULL), CALC_OK);
    ck_assert_int_eq(calc_errors_first(&errors), CALC_OK);
    calc_errors_add(&errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, NULL, "first");
    calc_errors_add(&errors, CALC_ERR_TYPE, CALC_KIND_NONE, NULL, NULL, "second");
    ck_assert_int_eq(calc_errors_first(&errors), CALC_ERR_RULE);
}

CALC_TEST(texts_that_are_too_long_are_cut_inside_their_array)
{
    calc_errors errors = {0};
    char text[1024];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    calc_errors_add(&errors, CALC_ERR_TYPE, CALC_KIND_NONE, text, text, "%s", text);
    const calc_error *error = &errors.item[0];
    ck_assert_uint_eq(strlen(error->text), sizeof error->text - 1);
    ck_assert_uint_eq(strlen(error->pointer), sizeof error->pointer - 1);
    ck_assert_uint_eq(strlen(error->hint), sizeof error->hint - 1);
}

/* ---- Places and printing --------------------------------------------------------------------- */

CALC_TEST(a_long_file_name_loses_its_beginning)
{
    calc_error error = {0};
    char name[400];
    memset(name, 'a', sizeof name);
    strcpy(name + 300, "/exe.json");
    calc_error_place(&error, name, 3, 4);
    ck_assert_uint_eq(strlen(error.file), sizeof error.file - 1);
    ck_assert_int_eq(strncmp(error.file, "...a", 4), 0);
    ck_assert_str_eq(strrchr(error.file, '/'), "/exe.json");
    ck_assert_int_eq(error.line, 3);
    ck_assert_int_eq(error.column, 4);
}

CALC_TEST(the_longest_file_name_that_fits_is_kept_whole)
{
    calc_error error = {0};
    char name[sizeof error.file + 1];
    memset(name, 'a', sizeof name);
    name[sizeof error.file - 1] = '\0';
    calc_error_place(&error, name, 1, 1);
    ck_assert_str_eq(error.file, name);
    name[sizeof error.file - 1] = 'a';
    name[sizeof error.file] = '\0';
    calc_error_place(&error, name, 1, 1);
    ck_assert_int_eq(strncmp(error.file, "...a", 4), 0);
}

CALC_TEST(printing_leaves_out_what_is_unknown)
{
    calc_errors errors = {0};
    calc_errors_add(&errors, CALC_ERR_RULE, CALC_KIND_EXEC, NULL, NULL, "the text");
    calc_error *error = &errors.item[0];
    ck_assert_str_eq(printed(error), "the text");
    strcpy(error->pointer, "/data_par");
    ck_assert_str_eq(printed(error), "/data_par: the text");
    calc_error_place(error, "exe.json", 0, 0);
    ck_assert_str_eq(printed(error), "exe.json: /data_par: the text");
    calc_error_place(error, "exe.json", 12, 0);
    ck_assert_str_eq(printed(error), "exe.json:12: /data_par: the text");
    calc_error_place(error, "exe.json", 12, 19);
    ck_assert_str_eq(printed(error), "exe.json:12:19: /data_par: the text");
    strcpy(error->hint, "the hint");
    ck_assert_str_eq(printed(error), "exe.json:12:19: /data_par: the text\n  hint: the hint");
}

CALC_TEST(printing_into_too_small_a_buffer_cuts_and_tells_the_length)
{
    calc_error error = {.text = "twelve chars"};
    char buffer[7] = "------";
    ck_assert_int_eq(calc_error_print(&error, buffer, sizeof buffer), 12);
    ck_assert_str_eq(buffer, "twelve");
    ck_assert_int_eq(calc_error_print(&error, NULL, 0), 12);
}

CALC_TEST(every_status_has_a_text_and_others_say_so)
{
    ck_assert_str_eq(calc_status_text(CALC_OK), "fine");
    ck_assert_str_eq(calc_status_text(CALC_ERR_UNSUPPORTED), "recognised but not modelled yet");
    for (int i = 0; i < CALC_STATUS_COUNT; i++) {
        ck_assert_uint_gt(strlen(calc_status_text((calc_status)i)), 0);
    }
    ck_assert_str_eq(calc_status_text(CALC_STATUS_COUNT), "unknown status");
    ck_assert_str_eq(calc_status_text((calc_status)-1), "unknown status");
}

/* ---- Nearest word ---------------------------------------------------------------------------- */

CALC_TEST(each_edit_costs_one)
{
    ck_assert_int_eq(calc_edit_distance("", ""), 0);
    ck_assert_int_eq(calc_edit_distance("", "abc"), 3);
    ck_assert_int_eq(calc_edit_distance("tensor", "tensor"), 0);
    ck_assert_int_eq(calc_edit_distance("tensor", "tensors"), 1);
    ck_assert_int_eq(calc_edit_distance("tensor", "tenor"), 1);
    ck_assert_int_eq(calc_edit_distance("tensor", "tendor"), 1);
    ck_assert_int_eq(calc_edit_distance("tensor", "tesnor"), 1);
    ck_assert_int_eq(calc_edit_distance("kitten", "sitting"), 3);
}

CALC_TEST(words_of_64_bytes_are_infinitely_far)
{
    char word[65];
    memset(word, 'w', sizeof word);
    word[63] = '\0';
    ck_assert_int_eq(calc_edit_distance(word, word), 0);
    word[63] = 'w';
    word[64] = '\0';
    ck_assert_int_eq(calc_edit_distance(word, word), INT_MAX);
    ck_assert_int_eq(calc_edit_distance("w", word), INT_MAX);
    ck_assert_ptr_null(calc_nearest(word, (const char *const[]){"w", NULL}));
}

CALC_TEST(the_nearest_word_is_at_most_a_third_away)
{
    static const char *const words[] = {"tensor_par", "pipeline_par", "pipeline_interleaving",
                                        NULL};
    ck_assert_str_eq(calc_nearest("tensor_part", words), "tensor_par");
    ck_assert_str_eq(calc_nearest("tonsor_pur", words), "tensor_par");
    ck_assert_str_eq(calc_nearest("pip", (const char *const[]){"pipes", "piped", "pipeline", NULL}),
                     "pipes"); /* the first of the shortest that begin so */
    ck_assert_ptr_null(calc_nearest("x", words));
    ck_assert_ptr_null(calc_nearest("tonsor", words));
    /* One of two letters is another word, and so are two of four or five. */
    ck_assert_ptr_null(calc_nearest("tp", (const char *const[]){"cp", "ep", NULL}));
    ck_assert_ptr_null(calc_nearest("a10g", (const char *const[]){"a800", NULL}));
    ck_assert_str_eq(calc_nearest("rnu", (const char *const[]){"run", NULL}), "run");
    ck_assert_str_eq(calc_nearest("se", (const char *const[]){"serve", "set", NULL}), "set");
    ck_assert_ptr_null(calc_nearest("tp", (const char *const[]){"tpot", NULL}));
    /* 18 letters allow 6 edits. */
    ck_assert_str_eq(calc_nearest("pipeline_interleav", words), "pipeline_interleaving");
    ck_assert_ptr_null(calc_nearest("tensor_par", (const char *const[]){NULL}));
}

/* "a100" is two letters from a800, but what a person means begins with it. */
CALC_TEST(a_word_that_begins_so_is_nearer_than_any_other)
{
    static const char *const words[] = {"a800", "a100_sxm_80g", "a100_80g", NULL};
    ck_assert_str_eq(calc_nearest("a100", words), "a100_80g");
    ck_assert_str_eq(calc_nearest("A100_SXM", words), "a100_sxm_80g");
    ck_assert_str_eq(calc_nearest("a80", words), "a800");
    ck_assert_ptr_null(calc_nearest("a", words)); /* of no meaning: all of them */
}

CALC_TEST(of_equally_near_words_the_first_is_taken)
{
    ck_assert_str_eq(calc_nearest("abd", (const char *const[]){"abc", "abe", NULL}), "abc");
    ck_assert_str_eq(calc_nearest("abd", (const char *const[]){"abc", "abd", NULL}), "abd");
}
