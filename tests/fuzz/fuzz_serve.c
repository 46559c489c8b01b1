/* Any line is answered with one line of JSON; what was asked before does not matter to its form. */
#include "fuzz.h"

#include <jansson.h>

/* The only files: no input of the fuzzer opens another one. */
static calc_status find(void *context, calc_kind kind, const char *name, char *path, size_t size,
                        calc_errors *errors)
{
    static const char *const paths[] = {CALC_DATA_DIR_SOURCE "/models/gpt3-175B.json",
                                        CALC_DATA_DIR_SOURCE "/systems/a100_80g.json",
                                        CALC_DATA_DIR_SOURCE
                                        "/executions/3072_t4_p64_d12_mbs4_full.json"};
    (void)context;
    (void)name;
    (void)errors;
    if (kind == CALC_KIND_NONE) { /* measured runs are not read */
        return CALC_ERR_IO;
    }
    snprintf(path, size, "%s", paths[kind]);
    return CALC_OK;
}

static void check_answer(const char *answer)
{
    MUST(answer && !strchr(answer, '\n'));
    json_t *value = json_loads(answer, JSON_REJECT_DUPLICATES, NULL);
    static const char *const answers[] = {"stats", "fields", "sweep", "kept", "app"};
    bool known = json_is_array(value) || json_array_size(json_object_get(value, "errors")) > 0;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        known = known || json_object_get(value, answers[i]);
    }
    MUST(known);
    json_decref(value);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static const char first[] = "{\"app\": \"a\", \"sys\": \"s\", \"exe\": \"e\"}";
    calc_session *session = calc_session_open(find, NULL);
    MUST(session);
    char *answer = calc_session_ask(session, first, strlen(first));
    check_answer(answer);
    calc_session_release(answer);
    answer = calc_session_ask(session, (const char *)data, size);
    check_answer(answer);
    calc_session_release(answer);
    calc_session_close(session);
    return 0;
}
