#include "cli/shell/complain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "io/json_put.h"
#include "io/utf8.h"

static void write_piece(void *file, const char *bytes, size_t length)
{
    fwrite(bytes, 1, length, file);
}

void calc_say(const char *fmt, ...)
{
    char line[4096] = ""; /* longer ones lose their end */
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    calc_utf8_for_terminal(line, strlen(line), write_piece, stderr);
}

static calc_exit exit_of(calc_status status)
{
    switch (status) {
    case CALC_OK:
        return CALC_EXIT_OK;
    case CALC_ERR_IO:
    case CALC_ERR_NOMEM:
        return CALC_EXIT_SYSTEM;
    case CALC_ERR_INFEASIBLE:
        return CALC_EXIT_INFEASIBLE;
    default:
        return CALC_EXIT_INPUT;
    }
}

calc_exit calc_complain_errors(const calc_errors *errors)
{
    for (int i = 0; i < errors->count; i++) {
        char line[1200];
        calc_error_print(&errors->item[i], line, sizeof line);
        calc_say("%s\n", line);
    }
    if (errors->dropped > 0) {
        calc_say("%d more error%s\n", errors->dropped, errors->dropped == 1 ? "" : "s");
    }
    calc_exit result = exit_of(calc_errors_first(errors));
    /* An error that has its place on the command line, "--set tp=x", "--top -3", concerns it. A
     * value in a file that contradicts such a value may have an error, too. */
    for (int i = 0; i < errors->count && result == CALC_EXIT_INPUT; i++) {
        result = strncmp(errors->item[i].file, "--", 2) == 0 ? CALC_EXIT_USAGE : result;
    }
    return result;
}

calc_exit calc_complain_failure(const calc_errors *errors)
{
    calc_exit result = calc_complain_errors(errors);
    if (result == CALC_EXIT_OK) {
        calc_say("calc: it failed without a reason: a bug in calc, please report it\n");
        return CALC_EXIT_BUG;
    }
    return result;
}

calc_output *calc_write_to(const char *path)
{
    calc_output *out = calc_output_to(path);
    if (!out) {
        calc_end_without_memory();
    }
    return out;
}

calc_output *calc_write_to_memory(calc_text *text)
{
    calc_output *out = NULL;
    (void)!calc_output_open_memory(&out, text, NULL);
    if (!out) {
        calc_end_without_memory();
    }
    return out;
}

calc_exit calc_write_end(calc_output *out)
{
    calc_errors errors = {0};
    (void)!calc_output_close(out, &errors);
    return calc_complain_errors(&errors);
}

calc_status calc_save_to(const char *path, calc_kind kind, const void *object, calc_errors *errors)
{
    if (!path || !object) {
        return CALC_OK;
    }
    calc_output *out = calc_write_to(path);
    calc_json_save(out, kind, object, 0);
    calc_output_text(out, "\n");
    return calc_output_close(out, errors);
}

bool calc_is_yes(calc_status status)
{
    if (status == CALC_ERR_NOMEM) {
        calc_end_without_memory();
    }
    return status == CALC_OK;
}

calc_exit calc_complain_usage(const calc_command *command, const char *text)
{
    const char *space = command ? " " : "";
    const char *name = command ? command->name : "";
    calc_say("calc%s%s: %s (see calc%s%s --help)\n", space, name, text, space, name);
    return CALC_EXIT_USAGE;
}

void calc_complain_points(const calc_points *points)
{
    const calc_point *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < points->count; i++) {
        const calc_point *p = &points->item[i];
        first = !first && !calc_point_is_used(p) ? p : first;
        count += !calc_point_is_used(p);
    }
    if (count > 0 && count < points->count) {
        calc_say("warning: %s:%d: %zu of %zu rows are not used; this one: %s\n", points->name,
                 first->line, count, points->count, first->reason);
    }
}
