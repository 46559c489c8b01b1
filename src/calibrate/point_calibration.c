#include "calibrate/point_calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "calibrate/point_curve.h"
#include "calibrate/point_time.h"
#include "calibrate/system_text.h"
#include "io/json_save.h"
#include "spec/field.h"

/* ---- Fitting --------------------------------------------------------------------------------- */

static calc_status fit(calc_point_fit *out, const calc_points *points, const bool *skip,
                       const calc_system *system, calc_errors *errors)
{
    calc_status status =
        calc_point_fit_make(out, points->item, points->count, skip, system, errors);
    for (int i = 0; i < CALC_DATATYPE_COUNT && status == CALC_OK; i++) {
        if (system->chip.matrix[i].flop_per_s > 0) {
            status = calc_point_curve_matrix(&out->system, (calc_datatype)i, points->item,
                                             points->count, skip, &out->curve[i], errors);
        }
    }
    return status;
}

static void predict(const calc_points *points, const bool *only, const calc_system *system,
                    double *out_s)
{
    for (size_t i = 0; i < points->count; i++) {
        if (calc_point_is_used(&points->item[i]) && (!only || only[i])) {
            out_s[i] = calc_point_time_s(&points->item[i], system);
        }
    }
}

/* The same with the measured points that are not `only` to look up. */
static calc_status look_up(const calc_points *points, const bool *only, const calc_system *system,
                           calc_point_calibration *out, calc_errors *errors)
{
    calc_point_table table;
    calc_status status =
        calc_point_table_make(&table, points->item, points->count, only, system, errors);
    for (size_t i = 0; i < points->count && status == CALC_OK; i++) {
        if (only[i]) {
            calc_kernel_key key = calc_point_key(&points->item[i], system);
            out->predicted_s[CALC_POINT_LOOKUP][i] = calc_kernel_table_s(
                &table.table, &key, out->predicted_s[CALC_POINT_UNSEEN][i], &out->source[i]);
        }
    }
    calc_point_table_free(&table);
    return status;
}

/* One half of the shapes, by a fit to the other; `half` and `skip` are room to work in. */
static calc_status predict_half(calc_point_calibration *out, const calc_points *points,
                                const calc_system *system, uint32_t which, calc_point_fit *half,
                                bool *skip, calc_errors *errors)
{
    for (size_t i = 0; i < points->count; i++) {
        const calc_point *p = &points->item[i];
        skip[i] = calc_point_is_used(p) && (calc_point_hash(p) & 1) == which;
    }
    calc_status status = fit(half, points, skip, system, errors);
    if (status == CALC_OK) {
        predict(points, skip, &half->system, out->predicted_s[CALC_POINT_UNSEEN]);
        status = look_up(points, skip, &half->system, out, errors);
    }
    return status;
}

static calc_status predict_unseen(calc_point_calibration *out, const calc_points *points,
                                  const calc_system *system, calc_errors *errors)
{
    calc_point_fit *half = calloc(1, sizeof *half);
    bool *skip = calloc(points->count + 1, sizeof *skip);
    calc_status status;
    if (half && skip) {
        status = predict_half(out, points, system, 0, half, skip, errors);
        status =
            status == CALC_OK ? predict_half(out, points, system, 1, half, skip, errors) : status;
    } else {
        status = calc_errors_no_memory(errors);
    }
    free(half);
    free(skip);
    return status;
}

calc_status calc_point_calibrate(calc_point_calibration *out, const calc_points *points,
                                 const char *machine, const calc_system *system,
                                 calc_errors *errors)
{
    out->machine = machine;
    out->source = calloc(points->count + 1, sizeof *out->source);
    for (int v = 0; v < CALC_POINT_VIEWS; v++) {
        out->predicted_s[v] = calloc(points->count + 1, sizeof *out->predicted_s[v]);
        if (!out->predicted_s[v] || !out->source) {
            return calc_errors_no_memory(errors);
        }
        for (size_t i = 0; i < points->count; i++) {
            out->predicted_s[v][i] = (double)NAN;
        }
    }
    predict(points, NULL, system, out->predicted_s[CALC_POINT_FILE]);
    calc_status status = predict_unseen(out, points, system, errors);
    status = status == CALC_OK ? fit(&out->fit, points, NULL, system, errors) : status;
    if (status == CALC_OK) {
        predict(points, NULL, &out->fit.system, out->predicted_s[CALC_POINT_CALIBRATED]);
    }
    return status;
}

void calc_point_calibration_free(calc_point_calibration *calibration)
{
    for (int v = 0; v < CALC_POINT_VIEWS; v++) {
        free(calibration->predicted_s[v]);
        calibration->predicted_s[v] = NULL;
    }
    free(calibration->source);
    calibration->source = NULL;
}

/* ---- The file -------------------------------------------------------------------------------- */

static const char marker[] = "Operators: fitted on ";

static void write_standing(calc_output *out, const calc_point_fit *f, calc_point_standing which,
                           const char *title)
{
    const char *before = title;
    for (size_t i = 0; i < f->count; i++) {
        const calc_point_constant *c = &f->item[i];
        if (c->standing == which) {
            calc_output_printf(out, "%s%s", before, c->constant.name);
            if (which != CALC_POINT_STAYS) {
                calc_output_printf(out, " (%.2g %%)", 100 * c->relative_error);
            }
            before = ", ";
        }
    }
    calc_output_text(out, before == title ? "" : ".");
}

static void write_fitted(calc_output *out, const calc_point_calibration *c,
                         const calc_points *points, const char *date)
{
    const char *comma = "";
    calc_output_printf(out, "%s%s to measured operators (", marker, date);
    for (int class = 0; class < CALC_POINT_CLASSES; class ++) {
        size_t count = 0;
        for (size_t i = 0; i < points->count; i++) {
            const calc_point *p = &points->item[i];
            count += calc_point_is_used(p) && (int)p->class == class;
        }
        if (count > 0) {
            calc_output_printf(out, "%s%s %zu", comma,
                               calc_point_class_name((calc_point_class) class), count);
            comma = ", ";
        }
    }
    calc_output_text(out, ").");
    write_standing(out, &c->fit, CALC_POINT_FITTED, " Determined by them (standard error): ");
    write_standing(out, &c->fit, CALC_POINT_ADJUSTED,
                   " Adjusted, though they do not determine it: ");
    write_standing(out, &c->fit, CALC_POINT_STAYS, " Not determined, left as it was: ");
    for (int i = 0; i < CALC_DATATYPE_COUNT; i++) {
        if (c->fit.curve[i]) {
            calc_output_printf(out, " Efficiency by size: matrix.%s.", calc_datatype_names[i]);
        }
    }
}

calc_status calc_point_calibration_write(calc_output *out, const calc_point_calibration *c,
                                         const calc_points *points, const calc_text *old,
                                         const char *date, calc_errors *errors)
{
    calc_text text = {0};
    calc_output *memory;
    calc_status status = calc_output_open_memory(&memory, &text, errors);
    if (status != CALC_OK) {
        return status;
    }
    calc_json_save(memory, CALC_KIND_SYSTEM, &c->fit.system, 0);
    status = calc_output_close(memory, errors);
    if (status == CALC_OK) {
        size_t length;
        const char *before = calc_system_text_source(old, marker, &length);
        /* Before the brace that ends it. */
        size_t end = text.length - (text.length > 0);
        while (end > 0 && strchr(" \n", text.data[end - 1])) {
            end--;
        }
        calc_output_write(out, text.data, end);
        calc_output_text(out, ",\n  \"source\": \"");
        if (length > 0) {
            calc_output_write(out, before, length);
            calc_output_text(out, " ");
        }
        write_fitted(out, c, points, date);
        calc_output_text(out, "\"\n}\n");
    }
    calc_text_free(&text);
    return status;
}
