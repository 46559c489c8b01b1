/* Any assignment either sets a field or leaves all three structs as they were. */
#include "fuzz_answer.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static struct {
        calc_app app;
        calc_system system;
        calc_exec exec;
    } valid, now;
    static bool loaded;
    char *assignment = malloc(size + 1);
    calc_field_ref where = {.kind = CALC_KIND_NONE};
    calc_errors errors = {0};
    MUST(assignment != NULL);
    memcpy(assignment, data, size);
    assignment[size] = '\0';
    if (!loaded) {
        fuzz_load(CALC_KIND_APP, &valid.app, APP_TEXT);
        fuzz_load(CALC_KIND_SYSTEM, &valid.system, SYSTEM_TEXT);
        fuzz_load(CALC_KIND_EXEC, &valid.exec, EXEC_TEXT);
        loaded = true;
    }
    memcpy(&now, &valid, sizeof now);
    calc_status status = calc_set(&now.app, &now.system, &now.exec, assignment, &where, &errors);
    if (status != CALC_OK) {
        fuzz_check_errors(&errors, status, false);
        MUST(memcmp(&valid, &now, sizeof now) == 0);
        MUST(where.kind == CALC_KIND_NONE);
    } else {
        MUST(errors.count == 0 && where.kind != CALC_KIND_NONE && where.field);
        fuzz_answer(&now.app, &now.system, &now.exec);
    }
    free(assignment);
    return 0;
}
