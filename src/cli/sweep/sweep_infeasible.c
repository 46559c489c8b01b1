#include "cli/sweep/sweep_infeasible.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "plan/sweep_found.h"
#include "plan/sweep_more.h"
#include "spec/field.h"
#include "spec/value_text.h"

enum { TEXT_SIZE = 192, MOST_COUNTED = 5000000 };

/* The size of the largest network among all designs, in words. */
static const char *largest_network(const calc_sweep_study *study, char text[TEXT_SIZE])
{
    calc_app app;
    calc_system system;
    int64_t size = 0;
    for (uint64_t d = 0; d < study->designs.count; d++) {
        study->designs.get(study->designs.context, d, &app, &system);
        for (int64_t i = 0; i < system.networks_count; i++) {
            if (system.networks[i].size > size) {
                size = system.networks[i].size;
                snprintf(text, TEXT_SIZE,
                         "at most %lld processors are on a network: --procs %lld, or --set "
                         "networks[%lld].size",
                         (long long)size, (long long)size, (long long)i);
            }
        }
    }
    return text;
}

/* Advice if a single reason excludes all layouts; NULL: no short advice. */
static const char *help_with(const calc_sweep_study *study, const calc_sweep_counts *counts,
                             char text[TEXT_SIZE])
{
    bool served = study->space.inference.phase != CALC_INFERENCE_PHASE_NONE;
    bool narrow = !calc_space_has(&study->space, CALC_AXIS_weight_datatype, CALC_FORMAT_AUTO);
    if (counts->total > 0 && counts->rejected[CALC_VERDICT_MEM1_CAPACITY] == counts->total) {
        return served && narrow ? "use more processors"
               : served ? "use more processors, or narrower weights (--axis weight_datatype=float8)"
                        : "use more processors, or a narrower optimizer (--axis "
                          "optimizer_moment_datatype=bfloat16)";
    }
    if (counts->total > 0 && counts->rejected[CALC_VERDICT_NETWORK_SIZE] == counts->total) {
        return largest_network(study, text);
    }
    if (counts->rejected[CALC_VERDICT_OVERLOADED] > 0 && counts->feasible == 0) {
        return "use more processors";
    }
    return NULL;
}

/* Names the layout that needs the least memory and its need, and the number of processors that
 * would help. */
static void write_need(const calc_sweep_need *need, const calc_space *space, const char *otherwise)
{
    char have[CALC_HUMAN_MAX], least[CALC_HUMAN_MAX];
    const calc_exec *e = &need->least.exec;
    const calc_stats *s = &need->least.stats;
    calc_say("; the least needs %s of %s: tp/pp/dp %lld/%lld/%lld, micro-batch %lld; hint: --set "
             "mem1.GiB=%.0f lets it run",
             calc_human_bytes(s->proc_mem_tier1_cap_req, least),
             calc_human_bytes(s->mem_tier1_capacity, have), (long long)e->strategy.tensor_par,
             (long long)e->pipeline_par, (long long)e->strategy.data_par,
             (long long)e->microbatch_size, ceil(s->proc_mem_tier1_cap_req / 0x1p30));
    const char *before = ", ";
    for (size_t i = 0; need->spares && calc_sweep_need_axes[i] > 0; i++) {
        calc_axis axis = calc_sweep_need_axes[i];
        if (!calc_sweep_need_has(need, space, axis)) {
            const calc_field *field = &calc_table_of(CALC_KIND_EXEC)->rows[axis];
            const char *exec = (const char *)&need->sparing.exec;
            char value[CALC_VALUE_TEXT];
            calc_say("%s--axis %s=%s", before, field->key,
                     calc_value_text(field, exec + field->offset, value));
            before = " ";
        }
    }
    calc_say("%s", *before == ' ' ? " another one" : "");
    if (need->num_procs > 0) {
        calc_say(", --procs %lld another one", (long long)need->num_procs);
    } else if (otherwise) {
        calc_say("; %s", otherwise);
    }
}

/* Layouts skipped by bounds are counted by their reason, where that takes a second at most. */
static calc_sweep_counts count_all(const calc_sweep_study *study, const calc_sweep_result *result)
{
    const calc_sweep_counts *counts = &result->counts;
    calc_sweep_counts all = *counts;
    calc_errors errors = {0};
    calc_found best;
    bool found;
    if (!result->partial && counts->skipped > 0 && counts->total <= MOST_COUNTED &&
        study->options.constraints == 0 &&
        calc_sweep_found_search(study, true, &all, &found, &best, &errors) != CALC_OK) {
        return *counts;
    }
    return all;
}

/* How near layouts come to a condition on a statistic that meet all others; or, if none does, among
 * all that can run. */
static void write_nearest(const calc_sweep_study *study, calc_constraint *others, size_t index)
{
    const calc_constraint *c = &study->options.constraint[index];
    bool up = c->relation == CALC_RELATION_GE || c->relation == CALC_RELATION_GT;
    bool down = c->relation == CALC_RELATION_LE || c->relation == CALC_RELATION_LT;
    calc_sweep_study with = *study;
    calc_found nearest;
    calc_errors errors = {0};
    bool found = false;
    char text[128];
    if (c->kind != CALC_KIND_STATS || !(up || down)) {
        return;
    }
    size_t count = 0;
    for (size_t i = 0; i < study->options.constraints; i++) {
        others[count] = study->options.constraint[i];
        count += i != index;
    }
    snprintf(text, sizeof text, "%s:%s", c->field->key, up ? "up" : "down");
    with.options.constraint = others;
    with.options.constraints = count;
    if (calc_objective_parse(&with.options.top_by, text, &errors) != CALC_OK ||
        calc_sweep_found_search(&with, false, NULL, &found, &nearest, &errors) != CALC_OK) {
        return;
    }
    bool alone = !found && count > 0;
    with.options.constraints = 0;
    if (alone &&
        calc_sweep_found_search(&with, false, NULL, &found, &nearest, &errors) != CALC_OK) {
        return;
    }
    if (!found) {
        return;
    }
    calc_sweep_found run;
    calc_sweep_found_run(study, &nearest, &run);
    double value = calc_constraint_value(c, &run.exec, &run.stats);
    const char *unit = c->field->unit ? c->field->unit : "";
    char best[CALC_HUMAN_MAX];
    if (strcmp(unit, "s") == 0) {
        calc_human_seconds(value, best);
    } else if (strcmp(unit, "bytes") == 0) {
        calc_human_bytes(value, best);
    } else {
        calc_human_number(value / (c->field->scale > 0 ? c->field->scale : 1), best);
    }
    calc_say("\n  %s is %s at best%s: tp/pp/dp %lld/%lld/%lld on %lld processors", c->field->key,
             best, alone ? " without the other conditions" : "",
             (long long)run.exec.strategy.tensor_par, (long long)run.exec.pipeline_par,
             (long long)run.exec.strategy.data_par, (long long)run.exec.num_procs);
}

/* The same of every condition, where that does not take long. */
static void write_conditions(const calc_sweep_study *study, const calc_sweep_result *result)
{
    size_t count = study->options.constraints;
    calc_constraint *others = malloc((count > 0 ? count : 1) * sizeof *others);
    for (size_t i = 0; others && i < count && !result->partial &&
                       result->elapsed_s * (double)count <= CALC_SWEEP_MORE_LONGEST_S;
         i++) {
        write_nearest(study, others, i);
    }
    free(others);
}

void calc_sweep_infeasible(const calc_sweep_study *study, const calc_sweep_result *result)
{
    const calc_sweep_counts all = count_all(study, result);
    const calc_sweep_counts *counts = &all;
    char number[CALC_HUMAN_MAX];
    char text[TEXT_SIZE];
    calc_errors errors = {0};
    if (counts->total == 0 && calc_sweep_empty(study, &errors)) {
        calc_say("infeasible: no layout of the space is legal:\n");
        (void)calc_complain_errors(&errors);
        return;
    }
    const char *hint = help_with(study, counts, text);
    calc_say("infeasible: none of %s layouts can run",
             calc_human_integer((double)counts->total, number));
    const char *glue = ": ";
    for (int v = CALC_VERDICT_OK + 1; v < CALC_VERDICT_COUNT; v++) {
        if (counts->rejected[v] > 0) {
            calc_say("%s%s %s", glue, calc_verdict_text((calc_verdict)v),
                     calc_human_integer((double)counts->rejected[v], number));
            glue = ", ";
        }
    }
    if (counts->filtered > 0) {
        calc_say("%s--where %s", glue, calc_human_integer((double)counts->filtered, number));
        glue = ", ";
    }
    if (counts->refused > 0) {
        calc_say("%s--for %s %s", glue, study->options.runs_name,
                 calc_human_integer((double)counts->refused, number));
        glue = ", ";
    }
    if (counts->skipped > 0) {
        calc_say("%sskipped%s %s", glue,
                 study->options.constraints > 0 ? " by --where or bounds" : "",
                 calc_human_integer((double)counts->skipped, number));
    }
    calc_sweep_need need;
    calc_errors ignored = {0};
    if (counts->refused > 0 && study->options.constraints == 0) {
        calc_say("; hint: --for none shows what %s",
                 study->options.runs_context ? "it does not run" : "no framework runs");
    } else if (calc_is_yes(calc_sweep_need_find(&need, study, result, &ignored)) && need.known) {
        write_need(&need, &study->space, hint);
    } else if (hint) {
        calc_say("; hint: %s", hint);
    }
    write_conditions(study, result);
    calc_say("\n");
}
