#include "cli/operators_write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/json_save.h"
#include "io/utf8.h"
#include "spec/field.h"
#include "validate/spread.h"

static const char *const views[CALC_POINT_VIEWS] = {"file", "fitted", "unseen", "lookup"};
static const char *const standings[] = {"not determined", "determined", "adjusted"};

/* Errors of a class in a view. */
static calc_spread spread_of(const calc_point_calibration *c, const calc_points *points, int class,
                             int view)
{
    double *error = calloc(points->count + 1, sizeof *error);
    calc_spread spread = {.count = 0};
    size_t count = 0;
    for (size_t i = 0; error && i < points->count; i++) {
        const calc_point *p = &points->item[i];
        if (calc_point_is_used(p) && (int)p->class == class) {
            error[count++] = c->predicted_s[view][i] / p->measured_s - 1;
        }
    }
    if (error) {
        spread = calc_spread_of(error, count);
    }
    free(error);
    return spread;
}

/* Rows that are refused for the same reason as row `i`; 0 if one before it has that. */
static size_t refused_like(const calc_points *points, size_t i)
{
    size_t count = 0;
    for (size_t k = 0; k < points->count; k++) {
        bool same = strcmp(points->item[k].reason, points->item[i].reason) == 0;
        if (same && k < i) {
            return 0;
        }
        count += same;
    }
    return count;
}

static size_t count_used(const calc_points *points)
{
    size_t used = 0;
    for (size_t i = 0; i < points->count; i++) {
        used += calc_point_is_used(&points->item[i]);
    }
    return used;
}

/* ---- For people ------------------------------------------------------------------------------ */

static void write_constants(calc_output *out, const calc_point_fit *f)
{
    calc_output_printf(out, "  %-50s%12s%12s%9s\n", "constant", "file", "fitted", "s.e.");
    for (size_t i = 0; i < f->count; i++) {
        const calc_point_constant *c = &f->item[i];
        calc_output_printf(out, "  %-50s", c->constant.name);
        if (c->before > 0) {
            calc_output_printf(out, "%12.4g", c->before);
        } else {
            calc_output_printf(out, "%12s", "-");
        }
        if (c->standing == CALC_POINT_STAYS) {
            calc_output_text(out, "    not determined, stays\n");
        } else {
            calc_output_printf(out, "%12.4g%7.1f %%%s\n", c->value, 100 * c->relative_error,
                               c->standing == CALC_POINT_ADJUSTED ? " *" : "");
        }
    }
    for (int i = 0; i < CALC_DATATYPE_COUNT; i++) {
        if (f->curve[i]) {
            const calc_curve *curve = &f->system.matrix[i].efficiency;
            calc_output_printf(out, "  matrix.%s by size: %lld steps, %.3g to %.3g\n",
                               calc_datatype_names[i], (long long)curve->count,
                               curve->efficiency[curve->count - 1], curve->efficiency[0]);
        }
    }
}

static void write_classes(calc_output *out, const calc_point_calibration *c,
                          const calc_points *points)
{
    calc_output_printf(out, "  %-28s", "errors in %");
    for (int v = 0; v < CALC_POINT_VIEWS; v++) {
        calc_output_printf(out, " | %-17s", views[v]);
    }
    calc_output_printf(out, "\n  %-22s%6s", "", "n");
    for (int v = 0; v < CALC_POINT_VIEWS; v++) {
        calc_output_text(out, " |  mean   med worst");
    }
    calc_output_text(out, "\n");
    for (int class = 0; class < CALC_POINT_CLASSES; class ++) {
        calc_spread first = spread_of(c, points, class, 0);
        if (first.count == 0) {
            continue;
        }
        calc_output_printf(out, "  %-22s%6zu", calc_point_class_name((calc_point_class) class),
                           first.count);
        for (int v = 0; v < CALC_POINT_VIEWS; v++) {
            calc_spread s = spread_of(c, points, class, v);
            calc_output_printf(out, " |%6.1f%6.1f%6.1f", 100 * s.mean_abs, 100 * s.median_abs,
                               100 * s.worst_abs);
        }
        calc_output_text(out, "\n");
    }
    size_t count[CALC_KERNEL_SOURCES] = {0};
    for (size_t i = 0; i < points->count; i++) {
        count[c->source[i]] += calc_point_is_used(&points->item[i]);
    }
    calc_output_text(out,
                     "  unseen: by a fit to the other half of the shapes; lookup: the same with "
                     "that half to look up:");
    for (int s = CALC_KERNEL_SOURCES; s-- > 0;) {
        calc_output_printf(out, " %s %zu%s", calc_kernel_source_text((calc_kernel_source)s),
                           count[s], s ? "," : "\n");
    }
}

void calc_operators_write_table(calc_output *out, const calc_point_calibration *c,
                                const calc_points *points)
{
    size_t used = count_used(points);
    calc_output_printf(out, "%s: %zu of %zu measured operators\n", c->machine, used, points->count);
    write_constants(out, &c->fit);
    calc_output_text(out, "\n");
    write_classes(out, c, points);
    for (size_t i = 0; i < points->count; i++) {
        const calc_point *p = &points->item[i];
        size_t alike = calc_point_is_used(p) ? 0 : refused_like(points, i);
        char op[CALC_UTF8_SHOW_SIZE];
        if (alike > 0) {
            calc_output_printf(out, "  %zu not used: %s (line %d, \"%s\"%s)\n", alike, p->reason,
                               p->line, calc_utf8_show(op, p->op, strlen(p->op)),
                               alike > 1 ? ", and others" : "");
        }
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_number(calc_output *out, const char *key, double value)
{
    char text[32];
    calc_output_printf(out, ", \"%s\": %s", key, calc_number_text(value, 1, text));
}

static void put_constants(calc_output *out, const calc_point_fit *f)
{
    for (size_t i = 0; i < f->count; i++) {
        const calc_point_constant *c = &f->item[i];
        calc_output_printf(out, "%s      {\"name\": \"%s\", \"unit\": \"%s\", \"standing\": \"%s\"",
                           i ? ",\n" : "\n", c->constant.name, c->constant.unit,
                           standings[c->standing]);
        put_number(out, "file", c->before > 0 ? c->before : (double)NAN);
        put_number(out, "value", c->value > 0 ? c->value : (double)NAN);
        put_number(out, "relative_error", c->relative_error);
        calc_output_text(out, "}");
    }
}

static void put_classes(calc_output *out, const calc_point_calibration *c,
                        const calc_points *points)
{
    const char *comma = "\n";
    for (int class = 0; class < CALC_POINT_CLASSES; class ++) {
        calc_spread s = spread_of(c, points, class, 0);
        if (s.count == 0) {
            continue;
        }
        calc_output_printf(out, "%s      {\"name\": \"%s\", \"n\": %zu", comma,
                           calc_point_class_name((calc_point_class) class), s.count);
        comma = ",\n";
        for (int v = 0; v < CALC_POINT_VIEWS; v++) {
            s = spread_of(c, points, class, v);
            calc_output_printf(out, ", \"%s\": {\"n\": %zu", views[v], s.count);
            put_number(out, "bias", s.bias);
            put_number(out, "mean_abs", s.mean_abs);
            put_number(out, "median_abs", s.median_abs);
            put_number(out, "p90_abs", s.p90_abs);
            put_number(out, "worst_abs", s.worst_abs);
            calc_output_text(out, "}");
        }
        calc_output_text(out, "}");
    }
}

static void put_point(calc_output *out, const calc_point_calibration *c, const calc_point *p,
                      size_t index)
{
    calc_output_printf(out, "      {\"line\": %d, ", p->line);
    if (!calc_point_is_used(p)) {
        calc_output_text(out, "\"refused\": ");
        calc_json_string(out, p->reason);
    } else {
        calc_output_printf(out, "\"class\": \"%s\"", calc_point_class_name(p->class));
        put_number(out, "measured_s", p->measured_s);
        put_number(out, "file_s", c->predicted_s[CALC_POINT_FILE][index]);
        put_number(out, "fitted_s", c->predicted_s[CALC_POINT_CALIBRATED][index]);
        put_number(out, "unseen_s", c->predicted_s[CALC_POINT_UNSEEN][index]);
        put_number(out, "lookup_s", c->predicted_s[CALC_POINT_LOOKUP][index]);
        calc_output_printf(out, ", \"lookup\": \"%s\"", calc_kernel_source_text(c->source[index]));
    }
    calc_output_text(out, "}");
}

void calc_operators_write_json(calc_output *out, const calc_point_calibration *c,
                               const calc_points *points)
{
    calc_output_text(out, "    {\"name\": ");
    calc_json_string(out, c->machine);
    calc_output_printf(out, ", \"points\": %zu, \"used\": %zu,\n     \"constants\": [",
                       points->count, count_used(points));
    put_constants(out, &c->fit);
    calc_output_text(out, "],\n     \"classes\": [");
    put_classes(out, c, points);
    calc_output_text(out, "],\n     \"operators\": [");
    for (size_t i = 0; i < points->count; i++) {
        calc_output_text(out, i ? ",\n" : "\n");
        put_point(out, c, &points->item[i], i);
    }
    calc_output_text(out, "]}");
}
