#include "cli/sweep_page.h"

#include <inttypes.h>

#include "cli/sweep_cells.h"
#include "cli/sweep_more.h"
#include "cli/sweep_page_parts.h"
#include "cli/sweep_write.h"
#include "io/json_save.h"
#include "report/page.h"
#include "spec/field.h"

enum {
    FRONT_ROWS = 400, /* of all fronts together, evenly spread, */
    GROUP_ROWS = 20   /* but of each group so many */
};

static calc_sweep_page_columns columns_of(const calc_sweep_study *study)
{
    calc_sweep_page_columns c = calc_sweep_page_usual_columns();
    calc_sweep_page_column(&c, study->options.top_by.field);
    for (size_t i = 0; i < study->options.objectives; i++) {
        calc_sweep_page_column(&c, study->options.objective[i].field);
    }
    return c;
}

/* ---- Rows: layouts with everything ----------------------------------------------------------- */

/* The end of an object that has been begun. */
static void write_found(calc_output *out, const calc_sweep_study *study,
                        const calc_sweep_page_columns *c, const calc_found *found)
{
    calc_sweep_found f;
    calc_app app;
    calc_system system;
    calc_sweep_found_run(study, found, &f);
    study->designs.get(study->designs.context, found->design, &app, &system);
    calc_output_text(out, "\"design\": ");
    calc_sweep_write_design(out, study, f.design);
    calc_output_text(out, ", ");
    calc_sweep_page_layout(out, c, f.exec, &f.stats, study->options.compat == CALC_COMPAT_NONE);
}

static const char *write_list(calc_output *out, const calc_sweep_study *study,
                              const calc_sweep_page_columns *c, const char *name, size_t group,
                              const calc_front *list, size_t most, const char *glue)
{
    size_t shown = list->count < most ? list->count : most;
    for (size_t i = 0; i < shown; i++) {
        size_t at = shown < 2 ? 0 : i * (list->count - 1) / (shown - 1);
        calc_output_printf(out, "%s{\"set\": \"%s\", \"group\": %zu, \"rank\": %zu, ", glue, name,
                           group, at + 1);
        write_found(out, study, c, &list->item[at]);
        glue = ",\n";
    }
    return glue;
}

static void write_rows(calc_output *out, const calc_sweep_study *study,
                       const calc_sweep_page_columns *c, const calc_sweep_result *result)
{
    const char *glue = "\n";
    size_t most = FRONT_ROWS / (result->groups_count > 0 ? result->groups_count : 1);
    most = most > GROUP_ROWS ? most : GROUP_ROWS;
    size_t fronts = 0;
    for (size_t g = 0; g < result->groups_count; g++) {
        fronts += result->group[g].front.count;
    }
    calc_output_printf(out, ",\n\"front\": %zu,\n\"rows\": [", fronts);
    for (size_t g = 0; g < result->groups_count; g++) {
        glue = write_list(out, study, c, "top", g, &result->group[g].top, most, glue);
        glue = write_list(out, study, c, "front", g, &result->group[g].front, most, glue);
    }
    calc_output_text(out, "]");
}

/* ---- The cloud: columns of numbers ----------------------------------------------------------- */

static void write_cloud(calc_output *out, const calc_sweep_page_columns *c,
                        const calc_sweep_cloud *cloud)
{
    calc_output_printf(
        out, ",\n\"cloud\": {\"shown\": %zu, \"seen\": %" PRIu64 ", \"all\": %s, \"design\": [",
        cloud->count, cloud->seen, cloud->all ? "true" : "false");
    for (size_t i = 0; i < cloud->count; i++) {
        calc_output_printf(out, i ? ",%" PRIu64 : "%" PRIu64, cloud->point[i].design);
    }
    calc_output_text(out, "]");
    calc_sweep_page_points(out, c, cloud, cloud->count);
    calc_output_text(out, "}");
}

/* ---- Parts of the space ---------------------------------------------------------------------- */

static void write_cells(calc_output *out, const calc_sweep_study *study,
                        const calc_sweep_page_columns *c, const char *key,
                        const calc_sweep_cells *cells)
{
    calc_output_printf(out, ",\n\"%s\": {\"counted\": %s, \"items\": [", key,
                       cells->counted ? "true" : "false");
    for (size_t i = 0; i < cells->count; i++) {
        const calc_sweep_cell *cell = &cells->item[i];
        calc_output_printf(
            out,
            "%s{\"tensor_par\": %" PRId64 ", \"pipeline_par\": %" PRId64 ", \"num_procs\": %" PRId64
            ", \"total\": %" PRIu64 ", \"feasible\": %" PRIu64 ", \"filtered\": %" PRIu64
            ", \"rejected\": {",
            i > 0 ? ",\n" : "", cell->tensor_par, cell->pipeline_par, cell->num_procs,
            cell->counts.total, cell->counts.feasible, cell->counts.filtered);
        for (int v = CALC_VERDICT_OK + 1; v < CALC_VERDICT_COUNT; v++) {
            calc_output_printf(out, "%s\"%s\": %" PRIu64, v > CALC_VERDICT_OK + 1 ? ", " : "",
                               calc_verdict_text((calc_verdict)v), cell->counts.rejected[v]);
        }
        calc_output_text(out, "}, \"best\": ");
        if (cell->found) {
            calc_output_text(out, "{");
            write_found(out, study, c, &cell->best);
        } else {
            calc_output_text(out, "null");
        }
        calc_output_text(out, "}");
    }
    calc_output_text(out, "]}");
}

/* ---- More of each resource ---------------------------------------------------------------------
 */

static void write_more(calc_output *out, const calc_sweep_study *study,
                       const calc_sweep_page_columns *c, const calc_sweep_more *more,
                       const calc_sweep_result *result)
{
    const calc_found *before = calc_sweep_found_best_of_all(result);
    calc_output_text(out, ",\n\"ten_percent_more\": [");
    for (size_t i = 0; i < more->count; i++) {
        const calc_sweep_more_item *item = &more->item[i];
        calc_output_printf(out, "%s\n{\"resource\": \"%s\", \"same\": ", i > 0 ? "," : "",
                           item->text);
        calc_sweep_page_stats(out, c, &item->same);
        calc_output_text(out, ", \"best\": ");
        if (item->found) {
            calc_output_printf(out, "{\"unchanged\": %s, \"design\": ",
                               calc_found_compare(&item->best, before) == 0 ? "true" : "false");
            calc_sweep_write_design(out, study, item->best.design);
            calc_output_text(out, ", \"execution\": ");
            calc_json_save(out, CALC_KIND_EXEC, &item->best.exec, 0);
            calc_output_text(out, ", \"stats\": ");
            calc_sweep_page_stats(out, c, &item->stats);
            calc_output_text(out, "}");
        } else {
            calc_output_text(out, "null");
        }
        calc_output_text(out, "}");
    }
    calc_output_text(out, "]");
}

/* ---- The page -------------------------------------------------------------------------------- */

static void write_study(calc_output *out, const calc_sweep_study *study)
{
    const calc_sweep_options *o = &study->options;
    calc_output_text(out, "{\"schema\": \"calc-report/1\", \"kind\": \"sweep\", \"study\": ");
    calc_sweep_write_study(out, study);
    calc_output_printf(out, ", \"designs\": %" PRIu64 ", \"per_num_procs\": %s}",
                       study->designs.count, o->per_num_procs ? "true" : "false");
}

calc_status calc_sweep_page_write(calc_output *out, const calc_sweep_study *study,
                                  const calc_sweep_result *result, calc_errors *errors)
{
    calc_sweep_cloud cloud = {0};
    calc_sweep_cells splits = {0}, procs = {0};
    calc_sweep_more more;
    const calc_sweep_page_columns c = columns_of(study);
    calc_status status = calc_sweep_cloud_make(&cloud, study, errors);
    if (status == CALC_OK) {
        status = calc_sweep_cells_splits(&splits, study, result, &cloud, errors);
    }
    if (status == CALC_OK) {
        status = calc_sweep_cells_procs(&procs, study, result, errors);
    }
    if (status == CALC_OK) {
        status = calc_sweep_more_find(&more, study, result, errors);
    }
    if (status == CALC_OK) {
        calc_page_begin(out);
        write_study(out, study);
        calc_output_text(out, ",\n\"summary\": ");
        calc_sweep_write_summary(out, result);
        write_rows(out, study, &c, result);
        write_cloud(out, &c, &cloud);
        write_cells(out, study, &c, "splits", &splits);
        write_cells(out, study, &c, "procs", &procs);
        write_more(out, study, &c, &more, result);
        calc_output_text(out, "}\n");
        calc_page_end(out, CALC_PAGE_SWEEP);
    }
    calc_sweep_cells_free(&splits);
    calc_sweep_cells_free(&procs);
    calc_sweep_cloud_free(&cloud);
    return status;
}
