#include "cli/calibrate/calibrate_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "calibrate/fit.h"
#include "calibrate/points.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "cli/validate/validate_table.h"
#include "io/utf8.h"
#include "spec/field.h"
#include "validate/error_groups.h"

calc_status calc_calibrate_held_out(const calc_calibrate_task *t, calc_errors *errors)
{
    for (const char *const *name = t->held_out.item; *name; name++) {
        size_t i = 0;
        while (i < t->results.count &&
               !calc_evidence_is_of(&t->results.item[i], (const char *const[]){*name, NULL})) {
            i++;
        }
        if (i == t->results.count) {
            return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL,
                                   t->measured.serves
                                       ? "calc validate --json names the source and the machine of "
                                         "each run"
                                       : "calc validate --json names the source of each run",
                                   "--hold-out: no run of \"%.60s\"", *name);
        }
    }
    return CALC_OK;
}

void calc_calibrate_views_start(calc_calibrate_task *t)
{
    for (int v = 0; v < CALC_CALIBRATE_VIEWS; v++) {
        t->predicted[v] = calc_make(t->results.count + 1, sizeof *t->predicted[v]);
        for (size_t i = 0; i < t->results.count; i++) {
            t->predicted[v][i] = (double)NAN;
        }
    }
}

void calc_calibrate_views_make(calc_calibrate_task *t, const calc_run_sets *sets)
{
    for (int v = 0; v < CALC_CALIBRATE_VIEWS; v++) {
        t->view[v] = t->results;
        t->view[v].item = calc_make(t->results.count + 1, sizeof *t->view[v].item);
        for (size_t i = 0; i < t->results.count; i++) {
            calc_result *r = &t->view[v].item[i];
            *r = t->results.item[i];
            if (!isnan(t->predicted[v][i]) && r->quantity != CALC_QUANTITY_MEMORY) {
                r->predicted = t->predicted[v][i];
                r->error = r->predicted / r->measured - 1;
            } else if (r->use == CALC_USE_SCORED) {
                r->use = CALC_USE_UNSCORED;
            }
        }
        calc_error_groups_make(&t->groups[v], &t->view[v], sets, NULL);
    }
}

void calc_calibrate_views_put(calc_put *put, const calc_calibrate_task *t,
                              const calc_error_group *group)
{
    calc_putf(put, "{by: %s, name: %s, quantity: %s, n: %zu", group->by, group->name,
              calc_quantity_words[group->quantity], group->spread.count);
    for (int v = 0; v < t->views; v++) {
        const calc_error_group *g = calc_error_groups_like(&t->groups[v], group);
        if (g) {
            calc_put_object(put, t->word[v], CALC_PUT_LINE);
            calc_put_spread(put, &g->spread);
            if (g->ranking.pairs > 0) {
                calc_put_ranking(put, &g->ranking);
            }
            calc_put_close(put);
        }
    }
    calc_put_close(put);
}

void calc_calibrate_head(calc_output *out, const char *title, const char *const *word, int views)
{
    calc_output_printf(out, "\n%-36s", title);
    for (int v = 0; v < views; v++) {
        calc_output_printf(out, " | %-*s", v + 1 < views ? 24 : 0, word[v]);
    }
    calc_output_printf(out, "\n%-36s", "errors in %");
    for (int v = 0; v < views; v++) {
        calc_output_text(out, " |     n   bias  mean   med");
    }
    calc_output_text(out, "\n");
}

void calc_calibrate_row(calc_output *out, const char *name, const calc_spread *of, int views)
{
    calc_output_printf(out, "%-36.36s", name);
    for (int v = 0; v < views; v++) {
        if (of[v].count > 0) {
            calc_output_printf(out, " |%6zu%+7.1f%6.1f%6.1f", of[v].count, 100 * of[v].bias,
                               100 * of[v].mean_abs, 100 * of[v].median_abs);
        } else {
            calc_output_printf(out, " |%25s", "");
        }
    }
    calc_output_text(out, "\n");
}

void calc_calibrate_groups_write(calc_output *out, const calc_calibrate_task *t,
                                 calc_quantity quantity, const char *title, const char *const *by)
{
    const calc_error_groups *all = &t->groups[CALC_CALIBRATE_ASSUMED];
    bool head = false;
    for (; *by; by++) {
        for (const calc_error_group *g = all->item; g < all->item + all->count; g++) {
            bool set = strcmp(g->by, "set") == 0 && strcmp(g->name, *by) == 0;
            calc_spread of[CALC_CALIBRATE_VIEWS] = {{0}};
            if (g->quantity != quantity || (!set && strcmp(g->by, *by) != 0)) {
                continue;
            }
            for (int v = 0; v < t->views; v++) {
                const calc_error_group *like = calc_error_groups_like(&t->groups[v], g);
                of[v] = like ? like->spread : of[v];
            }
            if (!head) {
                calc_calibrate_head(out, title, t->word, t->views);
                head = true;
            }
            calc_calibrate_row(out, g->name, of, t->views);
        }
    }
}

void calc_calibrate_free(calc_calibrate_task *t)
{
    for (int v = 0; v < CALC_CALIBRATE_VIEWS; v++) {
        free(t->predicted[v]);
        free(t->view[v].item);
        calc_error_groups_free(&t->groups[v]);
    }
    free(t->found.fit);
    calc_results_free(&t->results);
    calc_measured_free(&t->measured);
    calc_constant_starts_free(&t->starts);
}

calc_status calc_calibrate_report(const calc_calibrate_task *t,
                                  void (*json)(calc_put *put, const void *of),
                                  void (*table)(calc_output *out, const void *of), const void *of,
                                  calc_errors *errors)
{
    calc_status status = CALC_OK;
    if (t->json) {
        calc_output *out = calc_write_to(t->json);
        calc_put put = calc_put_to(out);
        calc_put_document(&put);
        calc_put_text(&put, "version", CALC_VERSION);
        json(&put, of);
        calc_put_end(&put);
        status = calc_output_close(out, errors);
    }
    if (status == CALC_OK && !calc_opt_takes_stdout(t->args)) {
        calc_output *out = calc_write_to("-");
        table(out, of);
        status = calc_output_close(out, errors);
    }
    return status;
}

void calc_calibrate_path(const calc_calibrate_task *t, bool one, const char *name, char *path)
{
    size_t length = strlen(t->into);
    if (one && length > 5 && strcmp(t->into + length - 5, ".json") == 0) {
        snprintf(path, CALC_FIND_PATH_MAX, "%s", t->into);
    } else {
        char found[151];
        snprintf(path, CALC_FIND_PATH_MAX, "%.3900s/%s.json", t->into,
                 calc_find_name(name, found, sizeof found));
    }
}

/* The calibration of one machine to operators. */
typedef struct job {
    calc_input input;
    calc_system system;
    calc_points points;
    calc_point_calibration calibration;
} job;

/* Those of all machines, each made on its own: large. */
typedef struct jobs {
    job **item;
    size_t count;
} jobs;

static calc_status calibrate(const calc_calibrate_task *t, const char *machine, job *j,
                             calc_errors *errors)
{
    calc_status status = calc_input_load(&j->input, CALC_KIND_SYSTEM, &j->system, machine, errors);
    status = status == CALC_OK ? calc_points_read(&j->points, t->operators, errors) : status;
    status =
        status == CALC_OK ? calc_points_select(&j->points, t->rows, &j->system, errors) : status;
    status = status == CALC_OK
                 ? calc_point_calibrate(&j->calibration, &j->points, machine, &j->system, errors)
                 : status;
    if (status != CALC_OK || !t->into) {
        return status;
    }
    char path[CALC_FIND_PATH_MAX];
    calc_calibrate_path(t, t->machines[0].count == 1, machine, path);
    calc_output *out = calc_write_to(path);
    calc_point_calibration_write(out, &j->calibration, &j->points, &j->input.text, t->date);
    return calc_output_close(out, errors);
}

static const char *const views[CALC_POINT_VIEWS] = {"file", "fitted", "unseen", "lookup"};
static const char *const standings[] = {"not determined", "determined", "adjusted"};

/* The errors of a class in a view. */
static calc_spread spread_of(const calc_point_calibration *c, const calc_points *points, int class,
                             int view)
{
    double *error = calc_make(points->count + 1, sizeof *error);
    size_t count = 0;
    for (size_t i = 0; i < points->count; i++) {
        const calc_point *p = &points->item[i];
        if (calc_point_is_used(p) && (int)p->class == class) {
            error[count++] = c->predicted_s[view][i] / p->measured_s - 1;
        }
    }
    const calc_spread spread = calc_spread_of(error, count);
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
            calc_output_printf(out, "  matrix.%s by size: %jd steps, %.3g to %.3g\n",
                               calc_datatype_names[i], curve->count,
                               curve->efficiency[curve->count - 1], curve->efficiency[0]);
        }
    }
}

static void write_classes(calc_output *out, const calc_point_calibration *c,
                          const calc_points *points)
{
    calc_calibrate_head(out, "measured operators", views, CALC_POINT_VIEWS);
    for (int class = 0; class < CALC_POINT_CLASSES; class ++) {
        calc_spread of[CALC_POINT_VIEWS];
        for (int v = 0; v < CALC_POINT_VIEWS; v++) {
            of[v] = spread_of(c, points, class, v);
        }
        if (of[0].count > 0) {
            calc_calibrate_row(out, calc_point_class_name((calc_point_class) class), of,
                               CALC_POINT_VIEWS);
        }
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
    write_classes(out, c, points);
    for (size_t i = 0; i < points->count; i++) {
        const calc_point *p = &points->item[i];
        size_t alike = calc_point_is_used(p) ? 0 : refused_like(points, i);
        if (alike > 0) {
            calc_output_printf(out, "  %zu not used: %s (line %d, \"%s\"%s)\n", alike, p->reason,
                               p->line, calc_utf8_shown(p->op, strlen(p->op)),
                               alike > 1 ? ", and others" : "");
        }
    }
}

static void put_constants(calc_put *put, const calc_point_fit *f)
{
    calc_put_array(put, "constants", CALC_PUT_LINES);
    for (size_t i = 0; i < f->count; i++) {
        const calc_point_constant *c = &f->item[i];
        calc_putf(put,
                  "{name: %s, unit: %s, standing: %s, file: %g, value: %g, relative_error: %g}",
                  c->constant.name, c->constant.unit, standings[c->standing],
                  c->before > 0 ? c->before : (double)NAN, c->value > 0 ? c->value : (double)NAN,
                  c->relative_error);
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
        calc_putf(put, "{name: %s, n: %zu", calc_point_class_name((calc_point_class) class),
                  s.count);
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
    calc_putf(put, "{line: %d", p->line);
    if (!calc_point_is_used(p)) {
        calc_put_text(put, "refused", p->reason);
    } else {
        calc_putf(put, "class: %s, measured_s: %g", calc_point_class_name(p->class), p->measured_s);
        for (int v = 0; v < CALC_POINT_VIEWS; v++) {
            calc_put_number(put, keys[v], c->predicted_s[v][index]);
        }
        calc_put_text(put, "lookup", calc_kernel_source_text(c->source[index]));
    }
    calc_put_close(put);
}

static void put_machine(calc_put *put, const calc_point_calibration *c, const calc_points *points)
{
    calc_putf(put, "{\nname: %s, points: %zu, used: %zu", c->machine, points->count,
              count_used(points));
    put_constants(put, &c->fit);
    put_classes(put, c, points);
    calc_put_array(put, "operators", CALC_PUT_LINES);
    for (size_t i = 0; i < points->count; i++) {
        put_point(put, c, &points->item[i], i);
    }
    calc_putf(put, "]}");
}

static void put_jobs(calc_put *put, const void *of)
{
    const jobs *all = of;
    calc_putf(put, "machines: [\n");
    for (size_t i = 0; i < all->count; i++) {
        put_machine(put, &all->item[i]->calibration, &all->item[i]->points);
    }
    calc_put_close(put);
}

static void write_jobs(calc_output *out, const void *of)
{
    const jobs *all = of;
    for (size_t i = 0; i < all->count; i++) {
        calc_output_text(out, i ? "\n" : "");
        write_table(out, &all->item[i]->calibration, &all->item[i]->points);
    }
}

calc_status calc_calibrate_operators(const calc_calibrate_task *t, calc_errors *errors)
{
    calc_status status = CALC_OK;
    jobs all = {calc_make(t->machines[0].count, sizeof(job *)), 0};
    for (; status == CALC_OK && all.count < t->machines[0].count; all.count++) {
        all.item[all.count] = calc_make(1, sizeof(job));
        status = calibrate(t, t->machines[0].item[all.count], all.item[all.count], errors);
    }
    status =
        status == CALC_OK ? calc_calibrate_report(t, put_jobs, write_jobs, &all, errors) : status;
    for (size_t i = 0; i < all.count; i++) {
        calc_text_free(&all.item[i]->input.text);
        calc_points_free(&all.item[i]->points);
        calc_point_calibration_free(&all.item[i]->calibration);
        free(all.item[i]);
    }
    free(all.item);
    return status;
}
