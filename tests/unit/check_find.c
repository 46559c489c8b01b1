/* Which file an argument means: src/cli/shell/find.c. */
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

const calc_test_frame calc_tests = {.setup = set_up, .teardown = tear_down};

static void assert_found(calc_kind kind, const char *argument, const char *expected)
{
    char path[CALC_FIND_PATH_MAX];
    calc_errors errors = {0};
    ck_assert_int_eq(calc_find(kind, argument, path, &errors), CALC_OK);
    ck_assert_str_eq(path, expected);
    ck_assert_int_eq(errors.count, 0);
}

static void assert_not_found(calc_kind kind, const char *argument, calc_status status,
                             const char *text, const char *hint)
{
    char path[CALC_FIND_PATH_MAX];
    calc_errors errors = {0};
    ck_assert_int_eq(calc_find(kind, argument, path, &errors), status);
    ck_assert_int_eq(errors.count, 1);
    ck_assert_int_eq(errors.item[0].status, status);
    /* Where it looked depends on the machine. */
    ck_assert_mem_eq(errors.item[0].text, text, strlen(text));
    ck_assert_str_eq(errors.item[0].hint, hint);
}

CALC_TEST(paths_are_taken_as_they_are)
{
    assert_found(CALC_KIND_APP, "-", "-");
    assert_found(CALC_KIND_APP, "gpt3-175B.json", "gpt3-175B.json");
    assert_found(CALC_KIND_APP, "none.json.gz", "none.json.gz");
    assert_found(CALC_KIND_APP, "./gpt3-175B", "./gpt3-175B");
    assert_found(CALC_KIND_APP, "second/models/gpt3-175B.json", "second/models/gpt3-175B.json");
}

CALC_TEST(the_first_directory_wins)
{
    assert_found(CALC_KIND_APP, "gpt3-175B", "first/models/gpt3-175B.json");
    setenv("CALC_PATH", "second:first", 1);
    assert_found(CALC_KIND_APP, "gpt3-175B", "second/models/gpt3-175B.json");
}

CALC_TEST(later_directories_are_searched)
{
    assert_found(CALC_KIND_APP, "packed", "second/models/packed.json.gz");
    assert_found(CALC_KIND_EXEC, "here", "second/executions/here.json");
}

CALC_TEST(one_level_of_folders_is_searched)
{
    assert_found(CALC_KIND_EXEC, "lone", "first/executions/a/lone.json");
    assert_found(CALC_KIND_EXEC, "a/lone", "first/executions/a/lone.json");
    assert_found(CALC_KIND_EXEC, "a/lone.json", "first/executions/a/lone.json");
    assert_found(CALC_KIND_EXEC, "b/rival", "first/executions/b/rival.json");
    assert_not_found(CALC_KIND_EXEC, "unseen", CALC_ERR_NOT_FOUND,
                     "no execution named \"unseen\" (looked in first/executions, second/executions",
                     "`calc show names exe` lists all; CALC_PATH adds directories");
}

CALC_TEST(a_file_goes_before_one_in_a_folder)
{
    assert_found(CALC_KIND_EXEC, "twice", "first/executions/twice.json");
    assert_found(CALC_KIND_EXEC, "a/twice", "first/executions/a/twice.json");
}

CALC_TEST(a_name_in_two_folders_is_ambiguous)
{
    assert_not_found(CALC_KIND_EXEC, "rival", CALC_ERR_FIELD,
                     "more than one execution is named \"rival\"",
                     "write \"a/rival\" or \"b/rival\"");
}

CALC_TEST(the_nearest_name_is_offered)
{
    assert_not_found(CALC_KIND_APP, "gpt3-175C", CALC_ERR_NOT_FOUND,
                     "no model named \"gpt3-175C\" (looked in first/models, second/models",
                     "did you mean \"gpt3-175B\"?");
    assert_not_found(CALC_KIND_EXEC, "lnoe", CALC_ERR_NOT_FOUND, "no execution named \"lnoe\"",
                     "did you mean \"lone\"?");
}

/* The machines that come with calc: another number is another machine. */
CALC_TEST(a_name_of_a_machine_is_like_others_of_its_kind)
{
    static const struct {
        const char *name, *hint;
    } rows[] = {
        {"l4x", "there is \"l4\""},
        {"a10g", "there is \"a10\""},
        {"4090", "did you mean \"rtx_4090\"?"},
        {"RTX-4090", "did you mean \"rtx_4090\"?"},
        {"mi300a", "there is \"mi300x\""},
        {"tranium2", "did you mean \"trainium2\"?"},
        {"tpu_v5", "did you mean \"tpu_v5e\" or \"tpu_v5p\"?"},
        {"rtx_3080", "there is \"rtx_3090\""},
        {"gaudi4", "there are \"gaudi2\" or \"gaudi3\""},
        {"h300", "there is \"b300\""},
        {"p800", "there is \"kunlun3\""},
        {"trn2", "there is \"trainium2\""},
        {"b100", "there are \"b200\", \"b200_180g\" or \"b300\""},
        {"a6000", "there are \"rtx_6000_ada\" or \"rtx_pro_6000\""},
        {"t4", "there is \"l4\""},
        {"x", "`calc show names sys` lists all; CALC_PATH adds directories"},
        {"", "`calc show names sys` lists all; CALC_PATH adds directories"},
    };
    setenv("CALC_PATH", CALC_DATA_DIR_SOURCE, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_not_found(CALC_KIND_SYSTEM, rows[i].name, CALC_ERR_NOT_FOUND, "no system named ",
                         rows[i].hint);
    }
}

/* Another version, another size or a word more is another architecture, which nobody meant. */
CALC_TEST(a_name_of_a_model_is_no_other_model)
{
    static const struct {
        const char *name, *hint;
    } rows[] = {
        {"qwn3-8B", "did you mean \"qwen3-8B\"?"},
        {"gemma3n", "did you mean \"gemma-3n-E4B\"?"},
        {"gemma-3n-4B", "did you mean \"gemma-3n-E4B\"?"},
        {"gemma-4-31B", "there is \"gemma-4-26B-A4B\""},
        {"qwen3.6-27B", "there is \"qwen3.6-35B-A3B\""},
        {"deepseek_v3.3", "there are \"deepseek-v3-671B\" or \"deepseek-v3.2-671B\""},
        {"kimi-k2.7", "there are \"kimi-k2-1T\" or \"kimi-k2.5-1T\""},
        {"falcon-h2", "there is \"falcon-h1-34B\""},
        {"qwen3-asr-8B", "`calc show names app` lists all; CALC_PATH adds directories"},
    };
    setenv("CALC_PATH", CALC_DATA_DIR_SOURCE, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_not_found(CALC_KIND_APP, rows[i].name, CALC_ERR_NOT_FOUND, "no model named ",
                         rows[i].hint);
    }
}

CALC_TEST(a_name_of_another_kind_tells_the_order)
{
    assert_not_found(CALC_KIND_EXEC, "gpt3-175B", CALC_ERR_NOT_FOUND,
                     "no execution named \"gpt3-175B\"",
                     "it is a model: arguments are APP SYS EXE");
    assert_not_found(CALC_KIND_SYSTEM, "lone", CALC_ERR_NOT_FOUND, "no system named \"lone\"",
                     "it is an execution: arguments are APP SYS EXE");
}

CALC_TEST(names_are_listed_by_directory_then_by_name)
{
    static const char *const expected[] = {"a/lone", "a/rival", "a/twice", "b/rival",
                                           "twice",  "here",    "rival"};
    calc_find_list list = {0};
    calc_errors errors = {0};
    ck_assert_int_eq(calc_find_names(CALC_KIND_EXEC, &list, &errors), CALC_OK);
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
