#include "calibrate/standard_errors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/system_text.h"
#include "io/json_locate.h"

/* One name "(x %)" at `from`, at most `length` bytes. */
static void read_one(calc_standard_errors *out, const char *from, size_t length,
                     const char *percent)
{
    char name[64];
    char *end;
    double value = strtod(percent, &end);
    if (length >= sizeof name || strncmp(end, " %)", 3) != 0 || !(value >= 0) || value > 1e6) {
        return;
    }
    snprintf(name, sizeof name, "%.*s", (int)length, from);
    const calc_constant *constant = calc_constant_find(name);
    if (constant && out->count < CALC_STANDARD_ERRORS_MAX) {
        out->item[out->count++] = (calc_standard_error){constant, value / 100};
    }
}

void calc_standard_errors_read(calc_standard_errors *out, const calc_text *text)
{
    static const char on[] = ") on ";
    size_t start, end;
    *out = (calc_standard_errors){.count = 0};
    if (!text->data || !calc_json_span(text->data, text->length, "/source", &start, &end)) {
        return;
    }
    const char *last = text->data + end;
    const char *at = strstr(text->data + start, CALC_SYSTEM_TEXT_MARKER);
    at = at && at < last ? strstr(at, on) : NULL;
    if (!at || at >= last) {
        return;
    }
    at += sizeof on - 1;
    snprintf(out->machine, sizeof out->machine, "%.*s", (int)strcspn(at, ",.\""), at);
    for (const char *open = strstr(at, " ("); open && open < last; open = strstr(open + 1, " (")) {
        const char *name = open;
        while (name > at && name[-1] != ' ') {
            name--;
        }
        read_one(out, name, (size_t)(open - name), open + 2);
    }
}

/* Log of the time of a step with a constant that is `shift` standard errors off. */
static double log_time(const calc_standard_error *e, double shift, const calc_app *app,
                       const calc_system *system, const calc_exec *exec)
{
    const calc_constant *c = e->constant;
    double value = calc_constant_get(c, system);
    double error = c->scale == CALC_CONSTANT_LOG ? e->relative : e->relative / (1 - value);
    double number = calc_constant_to_free(c, value) + shift * error;
    calc_stats stats;
    calc_system other = *system;
    calc_constant_set(c, &other, calc_constant_from_free(c, number));
    calc_run(app, &other, exec, CALC_COMPAT_NONE, &stats);
    return log(stats.total_time);
}

double calc_standard_errors_of_time(const calc_standard_errors *errors, const calc_app *app,
                                    const calc_system *system, const calc_exec *exec)
{
    double sum = 0;
    for (size_t i = 0; i < errors->count; i++) {
        const calc_standard_error *e = &errors->item[i];
        double value = calc_constant_get(e->constant, system);
        if (!(value > 0) || (e->constant->scale == CALC_CONSTANT_LOGIT && !(value < 1))) {
            continue;
        }
        double effect =
            (log_time(e, 1, app, system, exec) - log_time(e, -1, app, system, exec)) / 2;
        sum += effect * effect;
    }
    return sqrt(sum);
}
