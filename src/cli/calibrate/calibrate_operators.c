#include "cli/calibrate/calibrate_write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "calibrate/point_calibration.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "cli/validate/put_spread.h"
#include "io/utf8.h"
#include "spec/field.h"

/* The calibration of one machine. */
typedef struct job {
    calc_input input;
    calc_system system;
    calc_points points;
    calc_point_calibration calibration;
} job;

static void free_job(job *j)
{
    if (j) {
        calc_text_free(&j->input.text);
        calc_points_free(&j->points);
        calc_point_calibration_free(&j->calibration);
    }
    free(j);
}

static calc_status write_machine(const calc_calibrate_operators_task *t, const job *j,
                                 calc_errors *errors)
{
    char path[CALC_FIND_PATH_MAX];
    calc_output *out;
    calc_calibrate_out_path(t->out, t->machines == 1, j->calibration.machine, path);
    calc_status status = calc_output_open(&out, path, errors);
    if (status == CALC_OK) {
        status = calc_point_calibration_write(out, &j->calibration, &j->points, &j->input.text,
                                              t->date, errors);
        status = calc_output_end(out, status, errors);
    }
    return status;
}

static calc_status calibrate(const calc_calibrate_operators_task *t, const char *machine, job *j,
                             calc_errors *errors)
{
    calc_status status = calc_input_load(&j->input, CALC_KIND_SYSTEM, &j->system, machine, errors);
    status = status == CALC_OK ? calc_points_read(&j->points, t->operators, errors) : status;
    status =
        status == CALC_OK ? calc_points_select(&j->points, t->rows, &j->system, errors) : status;
    status = status == CALC_OK
                 ? calc_point_calibrate(&j->calibration, &j->points, machine, &j->system, errors)
                 : status;
    return status == CALC_OK && t->out ? write_machine(t, j, errors) : status;
}

static const char *const views[CALC_POINT_VIEWS] = {"file", "fitted", "unseen", "lookup"};
static const char *const standings[] = {"not determined", "determined", "adjusted"};

/* The errors of a class in a view. */
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

/* Number of rows refused for the same reason as row `i`; 0 if an earlier row has that reason. */
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
            const calc_curve *curve = &f->system.chip.matrix[i].efficiency;
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

static void write_table(calc_output *out, const calc_point_calibration *c,
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

static void put_constants(calc_put *put, const calc_point_fit *f)
{
    calc_put_array(put, "constants", CALC_PUT_LINES);
    for (size_t i = 0; i < f->count; i++) {
        const calc_point_constant *c = &f->item[i];
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "name", c->constant.name);
        calc_put_text(put, "unit", c->constant.unit);
        calc_put_text(put, "standing", standings[c->standing]);
        calc_put_number(put, "file", c->before > 0 ? c->before : (double)NAN);
        calc_put_number(put, "value", c->value > 0 ? c->value : (double)NAN);
        calc_put_number(put, "relative_error", c->relative_error);
        calc_put_close(put);
    }
    calc_put_close(put);
}

static void put_classes(calc_put *put, const calc_point_calibration *c, const calc_points *points)
{
    calc_put_array(put, "classes", CALC_PUT_LINES);
    for (int class = 0; class < CALC_POINT_CLASSES; class ++) {
        calc_spread s = spread_of(c, points, class, 0);
        if (s.count == 0) {
            continue;
        }
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "name", calc_point_class_name((calc_point_class) class));
        calc_put_count(put, "n", (int64_t)s.count);
        for (int v = 0; v < CALC_POINT_VIEWS; v++) {
            s = spread_of(c, points, class, v);
            calc_put_object(put, views[v], CALC_PUT_LINE);
            calc_put_spread(put, &s);
            calc_put_close(put);
        }
        calc_put_close(put);
    }
    calc_put_close(put);
}

static void put_point(calc_put *put, const calc_point_calibration *c, const calc_point *p,
                      size_t index)
{
    static const char *const keys[CALC_POINT_VIEWS] = {"file_s", "fitted_s", "unseen_s",
                                                       "lookup_s"};
    calc_put_object(put, NULL, CALC_PUT_LINE);
    calc_put_count(put, "line", p->line);
    if (!calc_point_is_used(p)) {
        calc_put_text(put, "refused", p->reason);
    } else {
        calc_put_text(put, "class", calc_point_class_name(p->class));
        calc_put_number(put, "measured_s", p->measured_s);
        for (int v = 0; v < CALC_POINT_VIEWS; v++) {
            calc_put_number(put, keys[v], c->predicted_s[v][index]);
        }
        calc_put_text(put, "lookup", calc_kernel_source_text(c->source[index]));
    }
    calc_put_close(put);
}

static void put_machine(calc_put *put, const calc_point_calibration *c, const calc_points *points)
{
    calc_put_object(put, NULL, CALC_PUT_LINES);
    calc_put_text(put, "name", c->machine);
    calc_put_count(put, "points", (int64_t)points->count);
    calc_put_count(put, "used", (int64_t)count_used(points));
    put_constants(put, &c->fit);
    put_classes(put, c, points);
    calc_put_array(put, "operators", CALC_PUT_LINES);
    for (size_t i = 0; i < points->count; i++) {
        put_point(put, c, &points->item[i], i);
    }
    calc_put_close(put);
    calc_put_close(put);
}

/* ---- The report ------------------------------------------------------------------------------ */

static void write_json(calc_output *out, job *const *jobs, size_t count)
{
    calc_put put = calc_put_to(out);
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    calc_put_text(&put, "version", CALC_VERSION);
    calc_put_array(&put, "machines", CALC_PUT_LINES);
    for (size_t i = 0; i < count; i++) {
        put_machine(&put, &jobs[i]->calibration, &jobs[i]->points);
    }
    calc_put_close(&put);
    calc_put_end(&put);
}

static void write_tables(calc_output *out, job *const *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        calc_output_text(out, i ? "\n" : "");
        write_table(out, &jobs[i]->calibration, &jobs[i]->points);
    }
}

/* Writes the report to `path`. */
static calc_status report(const char *path, job *const *jobs, size_t count, bool json,
                          calc_errors *errors)
{
    calc_output *out;
    calc_status status = calc_output_open(&out, path, errors);
    if (status != CALC_OK) {
        return status;
    }
    (json ? write_json : write_tables)(out, jobs, count);
    return calc_output_close(out, errors);
}

calc_exit calc_calibrate_operators(const calc_calibrate_operators_task *t)
{
    calc_errors errors = {0};
    calc_status status = CALC_OK;
    job **jobs = calloc(t->machines + 1, sizeof(job *));
    size_t count = 0;
    if (!jobs) {
        status = CALC_ERR_NOMEM;
    }
    while (status == CALC_OK && count < t->machines) {
        jobs[count] = calloc(1, sizeof *jobs[count]);
        status =
            jobs[count] ? calibrate(t, t->machine[count], jobs[count], &errors) : CALC_ERR_NOMEM;
        count++;
    }
    if (status == CALC_OK && t->json) {
        status = report(t->json, jobs, count, true, &errors);
    }
    if (status == CALC_OK && !(t->json && strcmp(t->json, "-") == 0)) {
        status = report("-", jobs, count, false, &errors);
    }
    for (size_t i = 0; i < count; i++) {
        free_job(jobs[i]);
    }
    free(jobs);
    if (status == CALC_ERR_NOMEM && errors.count == 0) {
        calc_errors_no_memory(&errors);
    }
    return status == CALC_OK ? CALC_EXIT_OK : calc_complain_failure(&errors);
}
