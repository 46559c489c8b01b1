/* Broken documents and the exact text of their errors: errors/<case>/{app,sys,exe}.json and
 * errors/<case>/error. With CALC_UPDATE=1 in the environment the texts are written instead. */
#include "calc.h"
#include "io/output.h"
#include "io/text.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

enum { MAX_CASES = 512, TEXT_SIZE = 32768 };

static const char folder[] = CALC_TEST_DATA "/golden/errors";
static char cases[MAX_CASES][64];
static int count;

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Lists them when it is first called. */
static int count_cases(void)
{
    if (count > 0) {
        return count;
    }
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir && (entry = readdir(dir)) && count < MAX_CASES) {
        if (entry->d_name[0] != '.') {
            snprintf(cases[count++], sizeof *cases, "%.63s", entry->d_name);
        }
    }
    if (dir) {
        closedir(dir);
    }
    qsort(cases, (size_t)count, sizeof *cases, by_name);
    return count;
}

/* Parse the one document of a case and print all its errors. */
static void print_errors(const char *name, char *out)
{
    static const char *const files[] = {"app.json", "sys.json", "exe.json"};
    static const calc_kind kinds[] = {CALC_KIND_APP, CALC_KIND_SYSTEM, CALC_KIND_EXEC};
    union {
        calc_app app;
        calc_system system;
        calc_exec exec;
    } object;
    out[0] = '\0';
    for (int i = 0; i < 3; i++) {
        char path[512];
        calc_text text;
        calc_errors errors = {0};
        snprintf(path, sizeof path, "%s/%s/%s", folder, name, files[i]);
        if (calc_text_read(&text, path, NULL) != CALC_OK) {
            continue;
        }
        calc_status status =
            calc_parse(kinds[i], &object, text.data, text.length, files[i], &errors);
        ck_assert_msg(status != CALC_OK, "%s: no error", path);
        ck_assert_int_eq(status, errors.item[0].status);
        for (int k = 0; k < errors.count; k++) {
            size_t used = strlen(out);
            ck_assert_int_ge(errors.item[k].line, 1);
            ck_assert_int_ge(errors.item[k].column, 1);
            calc_error_print(&errors.item[k], out + used, TEXT_SIZE - used - 2);
            strcat(out, "\n");
        }
        if (errors.dropped > 0) {
            size_t used = strlen(out);
            snprintf(out + used, TEXT_SIZE - used, "%d more errors\n", errors.dropped);
        }
        calc_text_free(&text);
    }
}

CALC_TEST_LOOP(error_texts_are_as_recorded, 0, count_cases())
{
    static char actual[TEXT_SIZE];
    char path[512];
    const char *update = getenv("CALC_UPDATE");
    print_errors(cases[_i], actual);
    snprintf(path, sizeof path, "%s/%s/error", folder, cases[_i]);
    if (update && strcmp(update, "1") == 0) {
        calc_output *out;
        ck_assert_int_eq(calc_output_open(&out, path, NULL), CALC_OK);
        calc_output_text(out, actual);
        ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    }
    calc_text expected;
    ck_assert_msg(calc_text_read(&expected, path, NULL) == CALC_OK, "%s is missing", path);
    ck_assert_msg(strcmp(actual, expected.data) == 0, "%s\nexpected:\n%s\ngot:\n%s", cases[_i],
                  expected.data, actual);
    calc_text_free(&expected);
}

CALC_TEST(there_are_enough_cases)
{
    ck_assert_int_ge(count, 45);
    ck_assert_int_lt(count, MAX_CASES);
}
