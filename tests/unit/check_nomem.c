/* Out of memory, from the n-th allocation on, for every n: a status, no crash, nothing left over.
 * Our own allocations are reached by the linker (--wrap), Jansson's by its hooks. */
#include "documents.h"
#include "failing.h"
#include "scratch.h"

#include "base/error.h"
#include "formats/export.h"
#include "frame.h"
#include "io/output.h"

#include <jansson.h>

static bool starts; /* what ask_frameworks() found */
static int live;    /* blocks that Jansson holds */

static void *hook_malloc(size_t size)
{
    void *memory = __wrap_malloc(size);
    live += memory != NULL;
    return memory;
}

static void hook_free(void *memory)
{
    live -= memory != NULL;
    free(memory);
}

static calc_app app;
static calc_system sys;
static calc_exec exec;

static calc_status parse_app(calc_errors *errors)
{
    return calc_parse(CALC_KIND_APP, &app, APP_TEXT, strlen(APP_TEXT), "a", errors);
}

static calc_status parse_system(calc_errors *errors)
{
    return calc_parse(CALC_KIND_SYSTEM, &sys, SYSTEM_TEXT, strlen(SYSTEM_TEXT), "s", errors);
}

static calc_status parse_exec(calc_errors *errors)
{
    return calc_parse(CALC_KIND_EXEC, &exec, EXEC_TEXT, strlen(EXEC_TEXT), "e", errors);
}

static calc_status load_app(calc_errors *errors)
{
    return calc_load(CALC_KIND_APP, &app, "app.json", errors);
}

static calc_status set_number(calc_errors *errors)
{
    return calc_set(&app, &sys, &exec, "tensor_par=8", NULL, errors);
}

static calc_status set_word(calc_errors *errors)
{
    return calc_set(&app, &sys, &exec, "datatype=bfloat16", NULL, errors);
}

static calc_status set_list(calc_errors *errors)
{
    return calc_set(&app, &sys, &exec, "networks[0].ops.all_reduce=[1, 0]", NULL, errors);
}

static calc_status set_unit(calc_errors *errors)
{
    return calc_set(&app, &sys, &exec, "mem1.GiB=80GiB", NULL, errors);
}

static calc_status set_stages(calc_errors *errors)
{
    return calc_set(&app, &sys, &exec, "stages=3,7x11", NULL, errors);
}

static calc_status ask_frameworks(calc_errors *errors)
{
    return calc_errors_status(errors, calc_export_starts(&app, &sys, &exec, NULL, &starts));
}

static calc_status write_file(calc_errors *errors)
{
    calc_output *out;
    calc_status status = calc_output_open(&out, "out", errors);
    if (status == CALC_OK) {
        calc_output_printf(out, "%2000d", 1);
        status = calc_output_close(out, errors);
    }
    return status;
}

static const struct {
    calc_status (*call)(calc_errors *errors);
    int at_least; /* allocations it needs */
    bool jansson; /* reads long tokens: of those Jansson 2.14 drops what it has no memory for */
} calls[] = {
    {parse_app, 20, true},      {parse_system, 100, true}, {parse_exec, 60, true},
    {load_app, 20, true},       {set_number, 2, false},    {set_word, 2, false},
    {set_list, 4, false},       {set_unit, 3, false},      {set_stages, 3, false},
    {ask_frameworks, 9, false}, {write_file, 3, false},
};

enum { CALLS = sizeof calls / sizeof *calls };

/* All after the n-th, and the n-th alone. */
CALC_TEST_LOOP(every_allocation_may_fail, 0, 2 * CALLS)
{
    const int call = _i % CALLS;
    calc_app app_read;
    calc_system sys_read;
    calc_exec exec_read;
    char folder[256];
    calc_status status;
    bool failed;
    int n = 0;
    scratch_enter(folder, sizeof folder);
    scratch_write("app.json", APP_TEXT, strlen(APP_TEXT));
    json_set_alloc_funcs(hook_malloc, hook_free);
    ck_assert_int_eq(parse_app(NULL), CALC_OK);
    ck_assert_int_eq(parse_system(NULL), CALC_OK);
    ck_assert_int_eq(parse_exec(NULL), CALC_OK);
    fail_once = _i >= CALLS && !calls[call].jansson;
    ck_assert_int_eq(calls[call].call(NULL), CALC_OK);
    bool starts_read = starts;
    app_read = app;
    sys_read = sys;
    exec_read = exec;
    do {
        calc_errors errors = {0};
        remove("out");
        left = n;
        status = calls[call].call(&errors);
        failed = fail_once ? left == UNLIMITED : status != CALC_OK;
        left = UNLIMITED;
        ck_assert_int_eq(live, 0);
        ck_assert_msg(status == CALC_OK || status == CALC_ERR_NOMEM, "allocation %d: %s", n,
                      errors.item[0].text);
        ck_assert_msg(errors.count == (status == CALC_OK ? 0 : 1), "allocation %d: %s, %s", n,
                      errors.item[0].text, errors.item[1].text);
        ck_assert_int_eq(access("out", F_OK) == 0,
                         status == CALC_OK && calls[call].call == write_file);
        /* It did not matter, or nothing else is said. */
        ck_assert(starts == starts_read || status != CALC_OK);
        ck_assert(memcmp(&app, &app_read, sizeof app) == 0 || status != CALC_OK);
        ck_assert(memcmp(&sys, &sys_read, sizeof sys) == 0 || status != CALC_OK);
        ck_assert(memcmp(&exec, &exec_read, sizeof exec) == 0 || status != CALC_OK);
        n++;
    } while (failed);
    ck_assert_int_eq(status, CALC_OK);
    ck_assert_int_gt(n, calls[call].at_least);
    scratch_leave(folder);
}

/* Of a request, memory may be short for the answer itself: there is none then. A layout that was
 * completed without it is never another one. */
CALC_TEST(a_short_layout_is_completed_or_memory_is_what_lacks)
{
    static const char request[] = "{\"app\": " APP_TEXT ", \"sys\": " SYSTEM_TEXT
                                  ", \"exe\": {\"num_procs\": 8, \"batch_size\": 16}, "
                                  "\"set\": {\"tensor_par\": 2, \"recompute_modules\": [\"mlp\"]}, "
                                  "\"inputs\": true, \"stats\": [\"total_time\"]}";
    char *whole = NULL;
    json_set_alloc_funcs(__wrap_malloc, free);
    for (int n = UNLIMITED, last = 0; !last;) {
        calc_session *session = calc_session_open(NULL, NULL);
        ck_assert_ptr_nonnull(session);
        atomic_store(&left, n);
        char *answer = calc_session_ask(session, request, strlen(request));
        last = n > 0 && atomic_load(&left) > 0;
        atomic_store(&left, UNLIMITED);
        calc_session_close(session);
        if (n == UNLIMITED) {
            whole = answer;
            ck_assert_ptr_nonnull(strstr(whole, "\"completed\""));
            answer = NULL;
        } else if (answer && !strstr(answer, "\"errors\"")) {
            ck_assert_str_eq(answer, whole);
        }
        calc_session_release(answer);
        n = n == UNLIMITED ? 0 : n + 1 + n / 16;
    }
    calc_session_release(whole);
}
