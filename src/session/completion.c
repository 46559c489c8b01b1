#include "session/completion.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "report/sweep_data.h"
#include "session/sweep_order.h"
#include "spec/absent.h"
#include "spec/alias.h"
#include "spec/field.h"

enum { OTHERS = 5 /* options beside "set" */ };

/* What is said, as options of a sweep; owns the words of the document. */
typedef struct said {
    calc_space_option *use;
    size_t uses;
    char **word;
    size_t words;
} said;

/* "exe.tensor_par=8" of an entry of the document; a set of several is joined by plus signs. NULL:
 * memory is short. */
static char *word_of(const calc_space_entry *entry)
{
    size_t size = strlen("exe.=") + strlen(entry->key) + 1;
    for (size_t i = 0; i < entry->count; i++) {
        size += strlen(entry->item[i]) + 1;
    }
    char *word = malloc(size);
    if (word) {
        snprintf(word, size, "exe.%s=", entry->key);
        for (size_t i = 0; i < entry->count; i++) {
            calc_append(word, size, "%s%s", i ? "+" : "", entry->item[i]);
        }
    }
    return word;
}

/* Fields of the document that say "auto", and the note on its source, leave the choice open. An
 * option goes before the field that it sets. */
static bool is_open(const calc_completion *in, const calc_space_entry *entry)
{
    const calc_field *field = calc_table_find(calc_table_of(CALC_KIND_EXEC), entry->key);
    const char *key = field ? field->key : entry->key;
    bool note = field && field->type == CALC_TYPE_NOTE && !(field->flags & CALC_SOFTWARE);
    return note || strcmp(entry->item[0], "auto") == 0 ||
           (in->procs && strcmp(key, "num_procs") == 0) ||
           (in->batch && strcmp(key, "batch_size") == 0);
}

static calc_status read_said(said *s, const calc_completion *in, calc_errors *errors)
{
    calc_space_entries file = {0};
    calc_status status =
        in->text ? calc_space_parse(&file, in->text, in->length, in->path, errors) : CALC_OK;
    if (status == CALC_OK && in->batch && strpbrk(in->batch, ",:*")) {
        status =
            calc_errors_at(errors, CALC_ERR_TYPE, NULL, 0, 0, "one number: 1536, or 4Mitokens",
                           "--batch: expected a number of sequences, found \"%.40s\"", in->batch);
    }
    const calc_space_option others[OTHERS] = {{"procs", in->procs},
                                              {"batch", in->batch},
                                              {"compat", in->compat},
                                              {"for", in->framework},
                                              {"objectives", in->objectives}};
    s->word = calloc(file.count + 1, sizeof *s->word);
    s->use = calloc(file.count + in->set_count + OTHERS, sizeof *s->use);
    bool memory = s->word && s->use;
    for (size_t i = 0; i < file.count && memory && status == CALC_OK; i++) {
        if (!is_open(in, &file.entry[i])) {
            char *word = word_of(&file.entry[i]);
            memory = word != NULL;
            s->word[s->words++] = word;
            s->use[s->uses++] = (calc_space_option){"set", word};
        }
    }
    for (size_t i = 0; i < in->set_count && memory; i++) {
        const char *equals = strchr(in->set[i], '=');
        s->use[s->uses] = (calc_space_option){"set", in->set[i]};
        s->uses += !equals || strcmp(equals, "=auto") != 0;
    }
    for (size_t i = 0; i < OTHERS && memory; i++) {
        s->use[s->uses] = others[i];
        s->uses += others[i].value != NULL;
    }
    calc_space_entries_free(&file);
    return memory ? status : calc_errors_no_memory(errors);
}

static calc_status load(calc_sweep_study *study, const calc_completion *in, calc_errors *errors)
{
    said s = {0};
    calc_study_source source = in->source;
    calc_status status = read_said(&s, in, errors);
    source.use = s.use;
    source.uses = s.uses;
    status = status == CALC_OK ? calc_study_load(study, &source, errors) : status;
    for (size_t i = 0; i < s.words; i++) {
        free(s.word[i]);
    }
    free(s.word);
    free(s.use);
    return status;
}

/* Sweep; what is said may be of no framework. */
static calc_status sweep(calc_completed *c, calc_errors *errors)
{
    calc_sweep_options *o = &c->study.options;
    calc_status status = calc_sweep(&c->study.space, &c->study.designs, o, &c->result, errors);
    if (status == CALC_OK && !calc_sweep_found_best_of_all(&c->result) && o->runs) {
        o->runs = NULL;
        calc_sweep_result_free(&c->result);
        status = calc_sweep(&c->study.space, &c->study.designs, o, &c->result, errors);
    }
    return status;
}

/* The layout to start with; if none can run, the one that needs the least memory. */
static calc_status choose(calc_completed *c, const calc_residuals *measured, calc_errors *errors)
{
    calc_errors ignored = {0};
    calc_sweep_need need;
    calc_sweep_found_systems(&c->study, &c->result);
    const calc_sweep_advice advice = calc_sweep_order_advise(measured, &c->study, &c->result);
    calc_status status = advice.status;
    c->found = c->fits = advice.start.layout != NULL;
    if (c->found) {
        c->exec = calc_found_exec(advice.start.layout);
    } else {
        status = calc_sweep_need_find(&need, &c->study, &c->result, &ignored);
        c->found = status == CALC_OK && need.known;
        if (c->found) {
            c->exec = need.least.exec;
        }
    }
    return status == CALC_ERR_NOMEM ? calc_errors_no_memory(errors) : CALC_OK;
}

static calc_status find(calc_completed *out, const calc_completion *in, calc_errors *errors)
{
    calc_status status = load(&out->study, in, errors);
    if (in->runs && in->framework) {
        out->study.options.runs = in->runs;
        out->study.options.runs_context = in->runs_context;
    }
    status = status == CALC_OK ? sweep(out, errors) : status;
    out->framework = in->framework;
    return status == CALC_OK ? choose(out, in->measured, errors) : status;
}

calc_status calc_completion_find(calc_completed *out, const calc_completion *in,
                                 calc_errors *errors)
{
    enum { NODE = 8, MOST = 4096, EACH = 4 };
    bool empty = !in->text || !in->text[strspn(in->text, " \t\r\n{}")]; /* of a JSON object */
    bool alone = !in->procs && !in->batch && in->set_count == 0 && empty;
    calc_completion more = *in;
    calc_errors found = {0};
    calc_status status = alone ? CALC_OK : find(out, in, &found);
    const calc_values *axis = out->study.space.axis;
    bool only_procs = found.count == 1 && axis[CALC_AXIS_num_procs].count == 0 &&
                      axis[CALC_AXIS_batch_size].count > 0; /* are missing */
    if (!alone && (status == CALC_OK || !only_procs)) {
        *errors = found.count > 0 ? found : *errors;
        return status;
    }
    char procs[sizeof out->procs], batch[sizeof out->batch] = "";
    int64_t node = in->system->networks[0].size;
    bool over = false;
    more.procs = procs;
    more.batch = alone ? batch : in->batch;
    for (int64_t n = node < NODE ? node : NODE; !over; n *= 2) {
        calc_completed_free(out);
        found = (calc_errors){0};
        snprintf(procs, sizeof procs, "%" PRId64, n);
        snprintf(batch, sizeof batch, "%" PRId64, EACH * n);
        status = find(out, &more, &found);
        over = (status == CALC_OK && out->fits) || status == CALC_ERR_NOMEM || n > MOST / 2;
    }
    snprintf(out->procs, sizeof out->procs, "%s", procs);
    snprintf(out->batch, sizeof out->batch, "%s", alone ? batch : "");
    *errors = status != CALC_OK ? found : *errors;
    return status;
}

calc_status calc_completion_front(const calc_completion *in, size_t most, calc_exec **found,
                                  size_t *count, calc_errors *errors)
{
    calc_completed c = {0};
    *found = NULL;
    *count = 0;
    calc_status status = load(&c.study, in, errors);
    status = status == CALC_OK ? sweep(&c, errors) : status;
    if (status == CALC_OK && c.result.groups_count > 0) {
        const calc_front *front = &c.result.group[0].front;
        size_t shown = front->count < most ? front->count : most;
        status = choose(&c, in->measured, errors);
        *found = calloc(shown + 1, sizeof **found);
        for (size_t i = 0; *found && i <= shown; i++) {
            if (i > 0 || c.found) {
                (*found)[(*count)++] =
                    i == 0 ? c.exec
                           : calc_found_exec(
                                 &front->item[calc_sweep_spread(i - 1, shown, front->count)]);
            }
        }
        status = *found ? status : calc_errors_no_memory(errors);
    }
    calc_completed_free(&c);
    return status;
}

bool calc_completed_each(const calc_completed *c,
                         void (*tell)(void *context, const calc_exec *exec, calc_axis axis),
                         void *context)
{
    bool any = false;
    calc_exec plain;
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), &plain);
    plain.strategy.attention_type = c->exec.strategy.attention_type; /* the model's */
    for (int i = 0; i < CALC_AXIS_COUNT; i++) {
        const calc_axis axis = (calc_axis)i;
        const calc_values *values = &c->study.space.axis[i];
        int64_t value = calc_axis_get(&c->exec, axis);
        bool small = calc_axis_field(axis)->type == CALC_TYPE_INT && value <= 1;
        bool usual = i < CALC_AXIS_EXEC_COUNT && (small || value == calc_axis_get(&plain, axis));
        /* A sweep chose it: nobody says it, and there are several. */
        if (values->standard && !values->last && (values->all || values->count > 1) && !usual) {
            any = true;
            tell(context, &c->exec, axis);
        }
    }
    return any;
}

void calc_completed_free(calc_completed *c)
{
    calc_sweep_result_free(&c->result);
    calc_study_free(&c->study);
    *c = (calc_completed){0};
}
