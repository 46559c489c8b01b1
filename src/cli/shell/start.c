#include "cli/shell/start.h"

#include "cli/shell/complain.h"
#include "formats/export.h"

/* The document that an assignment changes. */
static calc_kind kind_of(const calc_start *s, const char *assignment)
{
    calc_app app = *s->app;
    calc_system system = *s->system;
    calc_exec exec = *s->exec;
    calc_field_ref where = {.kind = CALC_KIND_NONE};
    calc_errors ignored = {0};
    return calc_is_yes(calc_set(&app, &system, &exec, assignment, &where, &ignored))
               ? where.kind
               : CALC_KIND_NONE;
}

/* Up to a kind: calc export takes no machine. @param put  NULL: on a line of `out` */
static void put_sets(calc_put *put, calc_output *out, const calc_start *s, calc_kind last)
{
    size_t cursor = 0;
    const char *assignment;
    while ((assignment = calc_opt_next(s->args, s->set, &cursor))) {
        if (kind_of(s, assignment) > last) {
            continue;
        }
        if (put) {
            calc_putf(put, "%s, %s", "--set", assignment);
        } else {
            calc_output_printf(out, " --set %s", assignment);
        }
    }
}

static void put_words(calc_put *put, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        calc_put_text(put, NULL, words[i]);
    }
}

const char *calc_start_framework(const calc_app *app, const calc_system *system,
                                 const calc_exec *exec)
{
    const char *name;
    return calc_is_yes(calc_export_starter(app, system, exec, &name)) ? name : NULL;
}

bool calc_start_exists(const calc_app *app, const calc_system *system, const calc_exec *exec)
{
    bool starts;
    return calc_is_yes(calc_export_starts(app, system, exec, &starts)) && starts;
}

void calc_start_put(calc_put *put, const calc_start *s)
{
    const char *framework = calc_start_framework(s->app, s->system, s->exec);
    const char *const run[] = {"calc", "run", s->names[0], s->names[1], s->names[2]};
    const char *const export[] = {"calc", "export", "--to", framework, s->names[0], s->names[2]};
    calc_put_array(put, "run", CALC_PUT_LINE);
    put_words(put, run, sizeof run / sizeof *run);
    put_sets(put, NULL, s, CALC_KIND_SYSTEM);
    calc_put_close(put);
    if (framework) {
        calc_put_array(put, "export", CALC_PUT_LINE);
        put_words(put, export, sizeof export / sizeof *export);
        put_sets(put, NULL, s, CALC_KIND_APP);
        calc_put_close(put);
    }
}

void calc_start_write(calc_output *out, const calc_start *s)
{
    calc_output_printf(out, "calc run %s %s %s", s->names[0], s->names[1], s->names[2]);
    put_sets(NULL, out, s, CALC_KIND_SYSTEM);
    calc_output_text(out, "\n");
}
