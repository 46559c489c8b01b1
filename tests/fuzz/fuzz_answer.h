/* A document that was read is used: what the rules allow has an answer. */
#ifndef CALC_TESTS_FUZZ_ANSWER_H
#define CALC_TESTS_FUZZ_ANSWER_H

#include "../unit/documents.h"
#include "fuzz.h"

#include <math.h>

static inline void fuzz_load(calc_kind kind, void *object, const char *text)
{
    MUST(calc_parse(kind, object, text, strlen(text), "valid", NULL) == CALC_OK);
}

/* Of these documents; a small valid one stands for each that is NULL. */
static inline void fuzz_answer(const calc_app *with_app, const calc_system *with_system,
                               const calc_exec *with_exec)
{
    static calc_app valid_app, app;
    static calc_system valid_system, system;
    static calc_exec valid_exec, exec;
    static calc_stats stats;
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    calc_errors errors = {0};
    if (valid_app.hidden == 0) {
        fuzz_load(CALC_KIND_APP, &valid_app, APP_TEXT);
        fuzz_load(CALC_KIND_SYSTEM, &valid_system, SYSTEM_TEXT);
        fuzz_load(CALC_KIND_EXEC, &valid_exec, EXEC_TEXT);
    }
    memcpy(&app, with_app ? with_app : &valid_app, sizeof app);
    memcpy(&system, with_system ? with_system : &valid_system, sizeof system);
    memcpy(&exec, with_exec ? with_exec : &valid_exec, sizeof exec);
    calc_resolve(&app, &system, &exec);
    if (calc_check(&app, &system, &exec, &errors) != CALC_OK) {
        fuzz_check_errors(&errors, errors.item[0].status, false);
        return;
    }
    MUST(errors.count == 0);
    calc_verdict verdict = calc_run(&app, &system, &exec, CALC_COMPAT_NONE, &stats);
    MUST(verdict == stats.verdict && verdict >= 0 && verdict < CALC_VERDICT_COUNT);
    for (size_t i = 0; i < table->count; i++) {
        const calc_field_ref ref = {CALC_KIND_STATS, &table->rows[i], table->rows[i].offset};
        double value = calc_field_number(&ref, &stats);
        MUST(!isinf(value) && !(value < 0));
    }
}

#endif
