#include "cli/sweep/sweep_complete.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/shell/complain.h"
#include "cli/shell/find.h"
#include "cli/sweep/sweep_rows.h"
#include "cli/sweep/sweep_study.h"
#include "cli/sweep/sweep_table.h"
#include "io/space_load.h"
#include "plan/sweep_more.h"
#include "report/sweep_data.h"
#include "spec/absent.h"
#include "spec/alias.h"
#include "spec/field.h"
#include "spec/value_text.h"

enum { OTHERS = 5 /* options beside --set */ };

/* What is said, as options of a sweep; owns the words of the document. */
typedef struct said {
    calc_args args;
    char **word;
    size_t words;
} said;

/* "exe.tensor_par=8" of an entry of the document; a set of several is joined by plus signs. */
static char *word_of(const calc_space_entry *entry)
{
    size_t size = strlen("exe.=") + strlen(entry->key) + 1;
    for (size_t i = 0; i < entry->count; i++) {
        size += strlen(entry->item[i]) + 1;
    }
    char *word = malloc(size);
    if (word) {
        snprintf(word, size, "exe.%s=", entry->key);
    }
    for (size_t i = 0; i < entry->count && word; i++) {
        calc_append(word, size, "%s%s", i ? "+" : "", entry->item[i]);
    }
    return word;
}

/* Fields of the document that say "auto", and the note on its source, leave the choice open. An
 * option goes before the field that it sets. */
static bool is_open(const calc_inputs *in, const calc_space_entry *entry)
{
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    const calc_alias *alias = calc_alias_find(table, entry->key);
    const char *key = alias ? alias->field : entry->key;
    const calc_field *field = calc_table_find(table, key);
    bool note = field && field->type == CALC_TYPE_NOTE && !(field->flags & CALC_SOFTWARE);
    return note || strcmp(entry->item[0], "auto") == 0 ||
           (in->procs && strcmp(key, "num_procs") == 0) ||
           (in->batch && strcmp(key, "batch_size") == 0);
}

/* @param objectives  of the front; NULL: the default */
static calc_status read_said(said *s, const calc_inputs *in, const char *const *set,
                             size_t set_count, const char *objectives, calc_errors *errors)
{
    const calc_input *input = &in->input[CALC_KIND_EXEC];
    calc_space_entries file = {0};
    calc_status status = CALC_OK;
    if (input->text.data) {
        status = calc_space_parse(&file, input->text.data, input->text.length, input->path, errors);
    }
    s->args.command = &calc_cmd_sweep;
    s->word = calloc(file.count + 1, sizeof *s->word);
    s->args.use = calloc(file.count + set_count + OTHERS, sizeof *s->args.use);
    bool fits = s->word && s->args.use;
    for (size_t i = 0; i < file.count && fits; i++) {
        if (!is_open(in, &file.entry[i])) {
            char *word = s->word[s->words++] = word_of(&file.entry[i]);
            s->args.use[s->args.use_count++] = (calc_opt_use){CALC_SWEEP_OPT_SET, word};
            fits = word;
        }
    }
    for (size_t i = 0; i < set_count && fits; i++) {
        const char *equals = strchr(set[i], '=');
        s->args.use[s->args.use_count] = (calc_opt_use){CALC_SWEEP_OPT_SET, set[i]};
        s->args.use_count += !equals || strcmp(equals, "=auto") != 0;
    }
    const calc_opt_use others[] = {{CALC_SWEEP_OPT_PROCS, in->procs},
                                   {CALC_SWEEP_OPT_BATCH, in->batch},
                                   {CALC_SWEEP_OPT_COMPAT, in->compat},
                                   {CALC_SWEEP_OPT_FOR, in->framework},
                                   {CALC_SWEEP_OPT_OBJECTIVES, objectives}};
    for (size_t i = 0; i < OTHERS && fits; i++) {
        s->args.use[s->args.use_count] = others[i];
        s->args.use_count += others[i].value != NULL;
    }
    calc_space_entries_free(&file);
    return status == CALC_OK && !fits ? calc_errors_no_memory(errors) : status;
}

/* Whether a sweep chooses the value of a field: nobody says it, and there are several. */
static bool is_chosen(const calc_values *values)
{
    return values->standard && !values->last && (values->all || values->count > 1);
}

/* Names the fields that were chosen, apart from sizes of 1 and what is as if it were absent. */
static void tell(const calc_sweep_study *study, const calc_exec *exec, const char *framework)
{
    bool any = false;
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    char value[CALC_VALUE_TEXT];
    calc_exec plain;
    calc_absent_fill(table, &plain);
    plain.strategy.attention_type = exec->strategy.attention_type; /* the model's */
    calc_say("layout completed as calc sweep%s%s would:", framework ? " --for " : "",
             framework ? framework : "");
    for (int axis = 0; axis < CALC_AXIS_EXEC_COUNT; axis++) {
        const calc_field *field = &table->rows[axis];
        int64_t chosen = calc_axis_get(exec, (calc_axis)axis);
        bool small = field->type == CALC_TYPE_INT && chosen <= 1;
        if (is_chosen(&study->space.axis[axis]) && !small &&
            chosen != calc_axis_get(&plain, (calc_axis)axis)) {
            any = true;
            const calc_alias *alias = calc_alias_of(table, field->key);
            calc_say(" %s=%s", alias ? alias->key : field->key,
                     calc_value_text(field, (const char *)exec + field->offset, value));
        }
    }
    for (int axis = CALC_AXIS_EXEC_COUNT; axis < CALC_AXIS_COUNT; axis++) {
        if (is_chosen(&study->space.axis[axis])) {
            any = true;
            calc_say(" %s=%lld", calc_axis_field((calc_axis)axis)->key,
                     (long long)calc_axis_get(exec, (calc_axis)axis));
        }
    }
    calc_say(any ? "\n" : " with defaults alone\n");
}

/* The layout to start with; if none can run, the one that needs the least memory.
 * @return whether there is one */
static bool choose(const calc_sweep_study *study, calc_sweep_result *result, calc_exec *exec)
{
    calc_residuals measured = {0};
    calc_errors ignored = {0};
    calc_sweep_need need;
    calc_sweep_found_systems(study, result);
    const calc_found *start =
        calc_sweep_rows_advise(calc_known_runs_try(&measured), study, result).start.layout;
    bool found = start != NULL;
    if (start) {
        *exec = calc_found_exec(start);
    } else if (calc_is_yes(calc_sweep_need_find(&need, study, result, &ignored)) && need.known) {
        found = true;
        *exec = need.least.exec;
    }
    calc_residuals_free(&measured);
    return found;
}

/* Sweep; what is said may be of no framework. */
static calc_status sweep(calc_sweep_study *study, calc_sweep_result *result, calc_errors *errors)
{
    calc_sweep_options *o = &study->options;
    calc_status status = calc_sweep(&study->space, &study->designs, o, result, errors);
    if (status == CALC_OK && !calc_sweep_found_best_of_all(result) && o->runs) {
        o->runs = NULL;
        calc_sweep_result_free(result);
        status = calc_sweep(&study->space, &study->designs, o, result, errors);
    }
    return status;
}

/* @param refused  set, and nothing said, if in->runs() refuses the layout; NULL: it was asked */
static calc_status search(calc_sweep_study *study, calc_inputs *in, bool *refused,
                          calc_errors *errors)
{
    calc_sweep_result result = {0};
    calc_status status = sweep(study, &result, errors);
    bool found = status == CALC_OK && choose(study, &result, &in->exec);
    if (found && refused) {
        bool runs;
        status = in->runs(in->runs_context, &in->app, &in->system, &in->exec, &runs);
        *refused = status == CALC_OK && !runs;
        if (*refused) {
            calc_sweep_result_free(&result);
            return CALC_OK;
        }
    }
    if (status == CALC_OK && in->who && !in->silent) {
        calc_say("%s: ", in->who);
    }
    if (found && !in->silent) {
        tell(study, &in->exec, refused ? NULL : in->framework);
    } else if (status == CALC_OK && !found) {
        if (!in->silent) {
            calc_sweep_infeasible(study, &result);
        }
        status = calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, NULL,
                                 "no layout has the values that are said");
    }
    calc_sweep_result_free(&result);
    return status;
}

static void free_said(said *s)
{
    free(s->args.use);
    for (size_t i = 0; i < s->words; i++) {
        free(s->word[i]);
    }
    free(s->word);
}

static calc_status complete_for(calc_inputs *in, const char *const *set, size_t set_count,
                                bool *refused, calc_errors *errors)
{
    said s = {0};
    calc_sweep_study study = {0};
    calc_input *input = &in->input[CALC_KIND_EXEC];
    calc_status status = read_said(&s, in, set, set_count, NULL, errors);
    if (status == CALC_OK) {
        status = calc_sweep_study_load(&study, &s.args, in, errors);
    }
    if (in->runs && !refused) {
        study.options.runs = in->runs;
        study.options.runs_context = in->runs_context;
    }
    status = status == CALC_OK ? search(&study, in, refused, errors) : status;
    strcpy(in->exec.software, study.space.software);
    if (!input->name[0]) {
        snprintf(input->name, sizeof input->name, "as calc sweep would start");
    }
    calc_study_free(&study);
    free_said(&s);
    return status;
}

/* As calc run does, unless the program that it is for refuses that; then among what this runs. */
static calc_status complete(calc_inputs *in, const char *const *set, size_t set_count,
                            calc_errors *errors)
{
    const char *framework = in->framework;
    bool refused = false;
    calc_status status = CALC_OK;
    if (in->runs) {
        in->framework = NULL;
        status = complete_for(in, set, set_count, &refused, errors);
        in->framework = framework;
    }
    return in->runs && !refused ? status : complete_for(in, set, set_count, NULL, errors);
}

/* The layouts of a front, the one to start with first. */
static calc_status take_front(const calc_sweep_study *study, calc_sweep_result *result, size_t most,
                              calc_exec **found, size_t *count, calc_errors *errors)
{
    const calc_front *front = &result->group[0].front;
    size_t shown = front->count < most ? front->count : most;
    *found = calloc(shown + 1, sizeof **found);
    if (!*found) {
        return calc_errors_no_memory(errors);
    }
    *count = choose(study, result, &(*found)[0]);
    for (size_t i = 0; i < shown; i++) {
        size_t at = calc_sweep_spread(i, shown, front->count);
        (*found)[(*count)++] = calc_found_exec(&front->item[at]);
    }
    return CALC_OK;
}

calc_status calc_sweep_front_of(const calc_inputs *in, const char *const *set, size_t set_count,
                                const char *objectives, size_t most, calc_exec **found,
                                size_t *count, calc_errors *errors)
{
    said s = {0};
    calc_sweep_study study = {0};
    calc_sweep_result result = {0};
    *found = NULL;
    *count = 0;
    calc_status status = read_said(&s, in, set, set_count, objectives, errors);
    status = status == CALC_OK ? calc_sweep_study_load(&study, &s.args, in, errors) : status;
    status = status == CALC_OK ? sweep(&study, &result, errors) : status;
    if (status == CALC_OK && result.groups_count > 0) {
        status = take_front(&study, &result, most, found, count, errors);
    }
    calc_sweep_result_free(&result);
    calc_study_free(&study);
    free_said(&s);
    return status;
}

void calc_sweep_completes_with(calc_inputs *inputs, const char *procs, const char *batch)
{
    inputs->complete = complete;
    inputs->procs = procs;
    inputs->batch = batch;
    inputs->compat = NULL;
}

void calc_sweep_completes(calc_inputs *inputs, const calc_args *args, int procs, int batch,
                          const char *compat)
{
    calc_sweep_completes_with(inputs, calc_opt_value(args, procs), calc_opt_value(args, batch));
    inputs->compat = compat;
}
