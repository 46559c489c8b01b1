/* Which file an argument means: unit/check_find.txt. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/shell/find.h"
#include "frame.h"

/* Two data directories, first/ and second/, in a scratch directory that is the current one. */
static char scratch[64];
static const char *const folders[] = {"first",
                                      "first/executions",
                                      "first/executions/a",
                                      "first/executions/a/deep",
                                      "first/executions/b",
                                      "first/models",
                                      "second",
                                      "second/models",
                                      "second/executions"};
static const char *const files[] = {
    "first/executions/twice.json",   "first/executions/a/twice.json",
    "first/executions/a/rival.json", "first/executions/b/rival.json",
    "first/executions/a/lone.json",  "first/executions/a/deep/unseen.json",
    "first/executions/README.md",    "first/executions/.hidden.json",
    "first/models/gpt3-175B.json",   "second/models/gpt3-175B.json",
    "second/models/packed.json.gz",  "second/executions/rival.json",
    "second/executions/here.json"};

enum { FOLDERS = sizeof folders / sizeof *folders, FILES = sizeof files / sizeof *files };

static void set_up(void)
{
    strcpy(scratch, "/tmp/check_find_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(scratch));
    ck_assert_int_eq(chdir(scratch), 0);
    for (size_t i = 0; i < FOLDERS; i++) {
        ck_assert_int_eq(mkdir(folders[i], 0777), 0);
    }
    for (size_t i = 0; i < FILES; i++) {
        FILE *file = fopen(files[i], "w");
        ck_assert_ptr_nonnull(file);
        fclose(file);
    }
    setenv("CALC_PATH", "first::second", 1);
}

static void tear_down(void)
{
    for (size_t i = 0; i < FILES; i++) {
        remove(files[i]);
    }
    for (size_t i = FOLDERS; i-- > 0;) {
        rmdir(folders[i]);
    }
    ck_assert_int_eq(chdir("/"), 0);
    rmdir(scratch);
}

/* KIND NAME, and CALC_PATH where it is another, ROOT where it is that of calc: the path, or what is
 * wrong. Where it looked depends on the machine. */
static void answer(const char *said, FILE *out)
{
    char kind[8], name[64] = "", places[128] = "", path[CALC_FIND_PATH_MAX];
    calc_errors errors = {0};
    ck_assert_int_ge(sscanf(said, "%7s %63s %127s", kind, name, places), 2);
    if (places[0]) {
        setenv("CALC_PATH", strcmp(places, "ROOT") == 0 ? CALC_DATA_DIR_SOURCE : places, 1);
    }
    calc_kind of = strcmp(kind, "app") == 0   ? CALC_KIND_APP
                   : strcmp(kind, "sys") == 0 ? CALC_KIND_SYSTEM
                                              : CALC_KIND_EXEC;
    if (calc_find(of, strcmp(name, "''") == 0 ? "" : name, path, &errors) == CALC_OK) {
        ck_assert_int_eq(errors.count, 0);
        fprintf(out, "%s\n", path);
        return;
    }
    ck_assert_int_eq(errors.count, 1);
    const char *looked = strstr(errors.item[0].text, " (looked in ");
    const char *last = looked ? strstr(looked, "second/") : NULL;
    size_t shown = last ? (size_t)(last - errors.item[0].text) + strcspn(last, ",)") : 0;
    fprintf(out, "%.*s: %s\n",
            (int)(last     ? shown
                  : looked ? (size_t)(looked - errors.item[0].text)
                           : strlen(errors.item[0].text)),
            errors.item[0].text, errors.item[0].hint);
}

const calc_test_frame calc_tests = {
    .setup = set_up, .teardown = tear_down, .cases = "unit/check_find.txt", .answer = answer};

CALC_TEST(names_are_listed_by_directory_then_by_name)
{
    static const char *const expected[] = {"a/lone", "a/rival", "a/twice", "b/rival",
                                           "twice",  "here",    "rival"};
    calc_find_list list = calc_find_names(CALC_KIND_EXEC);
    ck_assert_uint_ge(list.count, 7);
    for (size_t i = 0; i < 7; i++) {
        ck_assert_str_eq(list.entry[i].name, expected[i]);
    }
    ck_assert(list.count == 7 || list.entry[7].place > list.entry[6].place);
    calc_find_free(&list);
    ck_assert_uint_eq(list.count, 0);
    calc_find_free(&list);
}

CALC_TEST(names_for_people_are_short)
{
    char name[16];
    ck_assert_str_eq(calc_find_name("a/b/gpt3.json", name, sizeof name), "gpt3");
    ck_assert_str_eq(calc_find_name("gpt3.json.gz", name, sizeof name), "gpt3");
    ck_assert_str_eq(calc_find_name("gpt3.v1.txt", name, sizeof name), "gpt3.v1.txt");
    ck_assert_str_eq(calc_find_name(".json", name, sizeof name), ".json");
    ck_assert_str_eq(calc_find_name("-", name, sizeof name), "stdin");
    ck_assert_str_eq(calc_find_name("a-name-longer-than-its-room", name, sizeof name),
                     "a-name-longer-t");
}
