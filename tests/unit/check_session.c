/* Requests and answers: the session of calc.h and the requests it reads; those that are wrong:
 * golden/check_commands_errors.txt. */
#include "documents.h"
#include "scratch.h"

#include "calc.h"
#include "frame.h"

#include <jansson.h>

static char folder[256];
static calc_session *session;
static int lookups;

/* Only "model" is a name. */
static calc_status find(void *context, calc_kind kind, const char *name, char *path, size_t size,
                        calc_errors *errors)
{
    (void)errors;
    ck_assert_ptr_eq(context, &lookups);
    lookups++;
    if (kind != CALC_KIND_APP || strcmp(name, "model") != 0) {
        return CALC_ERR_NOT_FOUND;
    }
    snprintf(path, size, "app.json");
    return CALC_OK;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

static void enter(void)
{
    scratch_enter(folder, sizeof folder);
    write_file("app.json", APP_TEXT);
    write_file("sys.json", SYSTEM_TEXT);
    write_file("exe.json", EXEC_TEXT);
    lookups = 0;
    session = calc_session_open(NULL, NULL);
    ck_assert_ptr_nonnull(session);
}

static void leave(void)
{
    calc_session_close(session);
    scratch_leave(folder);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

/* The answer, which is one line of JSON. */
static json_t *ask(const char *request)
{
    char *text = calc_session_ask(session, request, strlen(request));
    ck_assert_ptr_nonnull(text);
    ck_assert_ptr_null(strchr(text, '\n'));
    json_t *answer = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_msg(answer != NULL, "not JSON: %s", text);
    calc_session_release(text);
    return answer;
}

static double stat_of(json_t *answer, const char *name)
{
    return json_real_value(json_object_get(json_object_get(answer, "stats"), name));
}

#define PATHS "\"app\": \"app.json\", \"sys\": \"sys.json\", \"exe\": \"exe.json\""

static double expected_time(const char *assignment)
{
    calc_app app;
    calc_system sys;
    calc_exec exec;
    calc_stats stats;
    ck_assert_int_eq(calc_load(CALC_KIND_APP, &app, "app.json", NULL), CALC_OK);
    ck_assert_int_eq(calc_load(CALC_KIND_SYSTEM, &sys, "sys.json", NULL), CALC_OK);
    ck_assert_int_eq(calc_load(CALC_KIND_EXEC, &exec, "exe.json", NULL), CALC_OK);
    if (assignment) {
        ck_assert_int_eq(calc_set(&app, &sys, &exec, assignment, NULL, NULL), CALC_OK);
    }
    calc_run(&app, &sys, &exec, CALC_COMPAT_NONE, &stats);
    return stats.total_time;
}

CALC_TEST(an_answer_has_id_verdict_reasons_and_the_statistics_asked_for)
{
    json_t *answer = ask("{\"id\": [7, \"x\"], " PATHS ", \"stats\": [\"total_time\"]}");
    json_t *id = json_object_get(answer, "id");
    ck_assert_int_eq(json_integer_value(json_array_get(id, 0)), 7);
    ck_assert_str_eq(json_string_value(json_object_get(answer, "verdict")), "network_size");
    ck_assert_uint_ge(json_array_size(json_object_get(answer, "reasons")), 1);
    ck_assert_uint_eq(json_object_size(json_object_get(answer, "stats")), 1);
    ck_assert(stat_of(answer, "total_time") == expected_time(NULL));
    json_decref(answer);
}

CALC_TEST(what_is_left_out_is_that_of_the_request_before_without_its_changes)
{
    json_decref(ask("{" PATHS ", \"set\": {\"microbatch_size\": 2}}"));
    json_t *answer = ask("{\"stats\": [\"total_time\"]}");
    ck_assert(stat_of(answer, "total_time") == expected_time(NULL));
    json_decref(answer);
    answer = ask("{\"set\": [\"microbatch_size=2\"], \"stats\": [\"total_time\"]}");
    ck_assert(stat_of(answer, "total_time") == expected_time("microbatch_size=2"));
    json_decref(answer);
}

CALC_TEST(a_broken_document_leaves_the_one_before)
{
    json_decref(ask("{" PATHS "}"));
    json_t *answer = ask("{\"exe\": {\"num_procs\": \"x\"}}");
    ck_assert_ptr_nonnull(json_object_get(answer, "errors"));
    json_decref(answer);
    answer = ask("{\"stats\": [\"total_time\"]}");
    ck_assert(stat_of(answer, "total_time") == expected_time(NULL));
    json_decref(answer);
}

/* The text of an execution that leaves keys out is kept with it, and a broken one leaves both. */
CALC_TEST(a_short_execution_is_completed_again_with_each_change)
{
    json_t *first = ask("{\"app\": \"app.json\", \"sys\": \"sys.json\", \"exe\": {\"num_procs\": "
                        "8, \"batch_size\": 16}}");
    ck_assert(json_is_object(json_object_get(first, "completed")));
    json_decref(ask("{\"exe\": {\"num_procs\": \"x\"}}"));
    json_t *again = ask("{}");
    ck_assert(json_equal(first, again));
    json_decref(again);
    again = ask("{\"set\": {\"batch_size\": 32, \"sys.usd_per_hour\": 2}, \"inputs\": true}");
    json_t *exe = json_object_get(again, "exe");
    ck_assert_int_eq(json_integer_value(json_object_get(exe, "batch_size")), 32);
    ck_assert_int_eq(json_integer_value(json_object_get(exe, "num_procs")), 8);
    json_decref(again);
    again = ask("{\"exe\": \"exe.json\"}");
    ck_assert_ptr_null(json_object_get(again, "completed"));
    json_decref(again);
    again = ask("{\"keep\": {\"exe\": {\"short\": {\"num_procs\": 8, \"batch_size\": 16}}}}");
    json_decref(again);
    again = ask("{\"exe\": \"short\"}");
    ck_assert(json_equal(first, again));
    json_decref(again);
    json_decref(first);
}

CALC_TEST(a_document_is_broken_even_if_its_errors_are_too_many_to_keep)
{
    char request[1024] = "{\"app\": {";
    for (int i = 0; i < CALC_MAX_ERRORS; i++) {
        size_t used = strlen(request);
        snprintf(request + used, sizeof request - used, "\"no_%d\": 1, ", i);
    }
    strcat(request, "\"no\": 1}, \"exe\": {\"num_procs\": \"x\"}, \"sys\": \"none.json\"}");
    json_decref(ask("{" PATHS "}"));
    json_t *answer = ask(request);
    ck_assert_uint_eq(json_array_size(json_object_get(answer, "errors")), CALC_MAX_ERRORS);
    json_decref(answer);
    answer = ask("{\"stats\": [\"total_time\"]}");
    ck_assert(stat_of(answer, "total_time") == expected_time(NULL));
    json_decref(answer);
}

CALC_TEST(names_are_looked_up_once)
{
    calc_session_close(session);
    session = calc_session_open(find, &lookups);
    for (int i = 0; i < 3; i++) {
        json_t *answer =
            ask("{\"app\": \"model\", \"sys\": " SYSTEM_TEXT ", \"exe\": " EXEC_TEXT "}");
        ck_assert_ptr_nonnull(json_object_get(answer, "stats"));
        json_decref(answer);
        ck_assert_int_eq(lookups, 1);
    }
    remove("app.json");
    json_t *answer = ask("{\"app\": \"model\"}");
    ck_assert_ptr_nonnull(json_object_get(answer, "stats"));
    json_decref(answer);
    json_decref(ask("{\"app\": \"other\"}"));
    ck_assert_int_eq(lookups, 2);
}

static void keep(const char *kind, const char *name, const char *text, const char *field, int value)
{
    json_t *document = json_loads(text, 0, NULL);
    json_object_set_new(document, field, json_integer(value));
    json_t *request = json_pack("{s:{s:{s:o}}}", "keep", kind, name, document);
    char *line = json_dumps(request, 0);
    json_t *answer = ask(line);
    ck_assert_ptr_null(json_object_get(answer, "errors"));
    json_decref(answer);
    free(line);
    json_decref(request);
}

CALC_TEST(the_last_document_kept_under_a_name_counts)
{
    json_decref(ask("{" PATHS "}"));
    for (int i = 0; i < 2; i++) {
        keep("exe", "mine", EXEC_TEXT, "batch_size", i == 0 ? 6144 : 1536);
        json_t *answer = ask("{\"exe\": \"mine\"}");
        ck_assert(stat_of(answer, "total_time") ==
                  expected_time(i == 0 ? "batch_size=6144" : "batch_size=1536"));
        json_decref(answer);
    }
}

CALC_TEST(of_1025_names_the_first_is_looked_up_again)
{
    char name[16];
    calc_session_close(session);
    session = calc_session_open(find, &lookups);
    json_decref(ask("{\"app\": \"model\", \"sys\": " SYSTEM_TEXT ", \"exe\": " EXEC_TEXT "}"));
    for (int i = 1; i <= 1024; i++) {
        ck_assert_int_eq(lookups, 1);
        json_decref(ask("{\"app\": \"model\"}"));
        snprintf(name, sizeof name, "%d", i);
        keep("app", name, APP_TEXT, "num_blocks", 96 + i);
    }
    json_decref(ask("{\"app\": \"model\"}"));
    ck_assert_int_eq(lookups, 2);
    json_t *answer = ask("{\"app\": \"1024\"}");
    ck_assert(stat_of(answer, "total_time") == expected_time("num_blocks=1120"));
    json_decref(answer);
}

CALC_TEST(an_array_is_answered_by_an_array)
{
    json_t *answer = ask("[{" PATHS ", \"stats\": []}, 3, {\"stats\": [\"total_time\"]}]");
    ck_assert_uint_eq(json_array_size(answer), 3);
    ck_assert_ptr_nonnull(json_object_get(json_array_get(answer, 1), "errors"));
    ck_assert(stat_of(json_array_get(answer, 2), "total_time") == expected_time(NULL));
    json_decref(answer);
    answer = ask("[]");
    ck_assert(json_is_array(answer) && json_array_size(answer) == 0);
    json_decref(answer);
}

CALC_TEST(fields_need_no_documents_and_leave_those_there_are)
{
    json_t *answer = ask("{\"id\": 7, \"fields\": \"exe\"}");
    ck_assert_uint_eq(json_object_size(answer), 2);
    ck_assert_int_eq(json_integer_value(json_object_get(answer, "id")), 7);
    ck_assert_ptr_nonnull(json_object_get(json_object_get(answer, "fields"), "tensor_par"));
    json_decref(answer);
    json_decref(ask("{" PATHS "}"));
    answer = ask("[{\"fields\": \"stats\"}, {\"stats\": [\"total_time\"]}]");
    ck_assert_ptr_nonnull(json_object_get(json_array_get(answer, 0), "fields"));
    ck_assert(stat_of(json_array_get(answer, 1), "total_time") == expected_time(NULL));
    json_decref(answer);
}

CALC_TEST(the_version_is_that_of_the_header)
{
    ck_assert_str_eq(calc_version(), CALC_VERSION);
    calc_session_close(NULL);
}
