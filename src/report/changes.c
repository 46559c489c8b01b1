#include "report/changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formats/refusal.h"
#include "plan/why.h"
#include "spec/field.h"
#include "spec/value_text.h"

/* Statistics that a page compares: time and memory; for serving, latency and throughput. */
static const char *const stat_keys[] = {
    "total_time",  "proc_mem_tier1_cap_req", "proc_mem_tier2_cap_req",
    "sample_rate", "request_time",           "output_tokens_per_s"};

static void put_stats(calc_put *put, const calc_stats *stats)
{
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    calc_put_object(put, "stats", CALC_PUT_LINE);
    for (size_t i = 0; i < sizeof stat_keys / sizeof *stat_keys; i++) {
        const calc_field *field = calc_table_find(table, stat_keys[i]);
        calc_put_number(put, field->key,
                        calc_member_number(field, (const char *)stats + field->offset));
    }
    calc_put_close(put);
}

/* An assignment in the form of --set. */
static void put_assignment(void *context, const char *path, const char *from, const char *to)
{
    char text[CALC_VALUE_TEXT + 64];
    (void)from;
    snprintf(text, sizeof text, "%s=%s", path, *to ? to : "none");
    calc_put_text(context, NULL, text);
}

/* Whether some framework for the machine can start a layout. */
static bool can_start(const calc_app *app, const calc_system *system, const calc_exec *exec)
{
    bool starts;
    return calc_export_starts(app, system, exec, &starts) == CALC_OK && starts;
}

calc_status calc_changes_put(calc_put *put, const char *key, const calc_app *app,
                             const calc_system *system, const calc_exec *exec, calc_errors *errors)
{
    calc_why *why = malloc(sizeof *why);
    if (!why) {
        return calc_errors_no_memory(errors);
    }
    bool starts = can_start(app, system, exec);
    calc_why_find(app, system, exec, why);
    calc_put_object(put, key, CALC_PUT_LINES);
    calc_put_count(put, "tried", (int64_t)why->tried);
    calc_put_array(put, "items", CALC_PUT_LINES);
    for (size_t i = 0; i < why->count; i++) {
        const calc_why_change *change = &why->change[i];
        calc_stats stats;
        calc_run(app, system, &change->exec, CALC_COMPAT_NONE, &stats);
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "change", change->text);
        calc_put_array(put, "set", CALC_PUT_LINE);
        calc_value_differences(CALC_KIND_EXEC, exec, &change->exec, put_assignment, put);
        calc_put_close(put);
        calc_put_flag(put, "starts", !starts || can_start(app, system, &change->exec));
        put_stats(put, &stats);
        calc_put_close(put);
    }
    calc_put_close(put);
    calc_put_close(put);
    free(why);
    return CALC_OK;
}
