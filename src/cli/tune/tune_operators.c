#include "cli/tune/tune_operators.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"

calc_status calc_tune_operators_read(calc_tune_operators *out, const char *path, const char *rows,
                                     const calc_system *system, calc_errors *errors)
{
    *out = (calc_tune_operators){0};
    calc_status status = calc_points_read(&out->points, path, errors);
    if (status == CALC_OK) {
        status = calc_points_select(&out->points, rows, system, errors);
    }
    if (status == CALC_OK) {
        status = calc_point_table_make(&out->table, out->points.item, out->points.count, NULL,
                                       system, errors);
    }
    return status;
}

/* A file that says nothing of any layout was meant for something else. */
static calc_status check(const calc_tune_operators *o, calc_errors *errors)
{
    enum { MOST = 400 };
    char names[MOST] = "";
    char words[CALC_TUNE_KERNEL_WORDS];
    const calc_tune_kernels_learnt *l = &o->learnt;
    size_t measured = 0, used = 0;
    for (size_t i = 0; i < l->classes; i++) {
        measured += l->class[i].measured;
        if (used + CALC_TUNE_KERNEL_WORDS + 2 < MOST) {
            used += (size_t)snprintf(names + used, MOST - used, "%s%s", i > 0 ? ", " : "",
                                     calc_tune_kernel_class_words(&l->class[i].class, words));
        }
    }
    return measured > 0 || l->classes == 0
               ? CALC_OK
               : calc_errors_at(errors, CALC_ERR_FIELD, o->points.name, 0, 0, NULL,
                                "no row is of kernels that these layouts run: %s", names);
}

calc_status calc_tune_operators_learn(calc_tune_operators *o, const calc_app *app,
                                      const calc_system *system, const calc_tune_prior *prior,
                                      const calc_tune_candidate *candidate, size_t count,
                                      calc_tune_exec_of exec, const void *context,
                                      calc_errors *errors)
{
    calc_tune_kernel_cells cells;
    calc_tune_kernels_free(&o->learnt);
    calc_status status =
        calc_tune_kernel_cells_make(&cells, app, system, candidate, count, exec, context, errors);
    if (status == CALC_OK) {
        status = calc_tune_kernels_learn(&o->learnt, prior, &o->table.table, cells.cell,
                                         cells.count, errors);
    }
    calc_tune_kernel_cells_free(&cells);
    return status == CALC_OK ? check(o, errors) : status;
}

void calc_tune_operators_free(calc_tune_operators *o)
{
    calc_points_free(&o->points);
    calc_point_table_free(&o->table);
    calc_tune_kernels_free(&o->learnt);
}

/* ---- For people ------------------------------------------------------------------------------ */

static void write_class(calc_output *out, const calc_tune_kernels_class *c)
{
    char words[CALC_TUNE_KERNEL_WORDS];
    calc_output_printf(out, "  %-38s%7.0f %%%9zu", calc_tune_kernel_class_words(&c->class, words),
                       100 * c->share, c->shapes);
    if (c->measured > 0) {
        calc_output_printf(out, "%10zu%10zu%+11.1f %%\n", c->measured, c->exact,
                           100 * expm1(c->error));
    } else {
        calc_output_text(out, "      none: as published runs have it\n");
    }
}

void calc_tune_operators_write(calc_output *out, const calc_tune_operators *o)
{
    const calc_tune_kernels_learnt *l = &o->learnt;
    calc_output_printf(out, "\n%-40s%9s%9s%10s%10s%13s\n", "Kernels", "time", "shapes", "measured",
                       "the same", "slower");
    for (size_t i = 0; i < l->classes; i++) {
        write_class(out, &l->class[i]);
    }
    calc_output_printf(out, "  %-38s%7.0f %%\n", "other kernels, and hosts", 100 * l->unmeasured);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

void calc_tune_operators_put(calc_put *put, const calc_tune_operators *o)
{
    char words[CALC_TUNE_KERNEL_WORDS];
    calc_put_array(put, "kernels", CALC_PUT_LINES);
    for (size_t i = 0; i < o->learnt.classes; i++) {
        const calc_tune_kernels_class *c = &o->learnt.class[i];
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "class", calc_tune_kernel_class_words(&c->class, words));
        calc_put_number(put, "share", c->share);
        calc_put_count(put, "shapes", (int64_t)c->shapes);
        calc_put_count(put, "measured", (int64_t)c->measured);
        calc_put_count(put, "exact", (int64_t)c->exact);
        if (c->measured > 0) {
            calc_put_number(put, "log_error", c->error);
        }
        calc_put_close(put);
    }
    calc_put_close(put);
}
