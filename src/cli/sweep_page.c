#include "cli/sweep_page.h"

#include "cli/sweep_cells.h"
#include "cli/sweep_more.h"
#include "cli/sweep_page_parts.h"
#include "cli/sweep_table.h"
#include "cli/sweep_write.h"
#include "report/page.h"
#include "spec/extended.h"
#include "spec/field.h"

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

/* The members of a layout. */
static void put_found(calc_put *put, const calc_sweep_study *study,
                      const calc_sweep_page_columns *c, const calc_found *found)
{
    calc_sweep_found f;
    calc_app app;
    calc_system system;
    calc_sweep_found_run(study, found, &f);
    study->designs.get(study->designs.context, found->design, &app, &system);
    bool extended = calc_extended(&app, &system, f.exec);
    calc_sweep_put_design(put, "design", study, f.design);
    calc_sweep_page_put_layout(put, c, f.exec, &f.stats, extended);
}

static void put_list(calc_put *put, const calc_sweep_study *study, const calc_sweep_page_columns *c,
                     const char *name, size_t group, const calc_front *list, size_t most)
{
    size_t shown = list->count < most ? list->count : most;
    for (size_t i = 0; i < shown; i++) {
        size_t at = calc_sweep_table_row(i, shown, list->count);
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "set", name);
        calc_put_count(put, "group", (int64_t)group);
        calc_put_count(put, "rank", (int64_t)at + 1);
        put_found(put, study, c, &list->item[at]);
        calc_put_close(put);
    }
}

static void put_rows(calc_put *put, const calc_sweep_study *study, const calc_sweep_page_columns *c,
                     const calc_sweep_result *result)
{
    size_t most = calc_sweep_page_most_rows(result->groups_count);
    size_t fronts = 0;
    for (size_t g = 0; g < result->groups_count; g++) {
        fronts += result->group[g].front.count;
    }
    calc_put_count(put, "front", (int64_t)fronts);
    calc_put_array(put, "rows", CALC_PUT_LINES);
    for (size_t g = 0; g < result->groups_count; g++) {
        put_list(put, study, c, "top", g, &result->group[g].top, most);
        put_list(put, study, c, "front", g, &result->group[g].front, most);
    }
    calc_put_close(put);
}

/* ---- The cloud: columns of numbers ----------------------------------------------------------- */

static void put_cloud(calc_put *put, const calc_sweep_page_columns *c,
                      const calc_sweep_cloud *cloud)
{
    calc_put_object(put, "cloud", CALC_PUT_LINES);
    calc_put_count(put, "shown", (int64_t)cloud->count);
    calc_put_count(put, "seen", (int64_t)cloud->seen);
    calc_put_flag(put, "all", cloud->all);
    calc_put_array(put, "design", CALC_PUT_LINE);
    for (size_t i = 0; i < cloud->count; i++) {
        calc_put_count(put, NULL, (int64_t)cloud->point[i].design);
    }
    calc_put_close(put);
    calc_sweep_page_put_points(put, c, cloud, cloud->count);
    calc_put_close(put);
}

/* ---- Parts of the space ---------------------------------------------------------------------- */

static void put_cells(calc_put *put, const calc_sweep_study *study,
                      const calc_sweep_page_columns *c, const char *key,
                      const calc_sweep_cells *cells)
{
    calc_put_object(put, key, CALC_PUT_LINE);
    calc_put_flag(put, "counted", cells->counted);
    calc_put_array(put, "items", CALC_PUT_LINES);
    for (size_t i = 0; i < cells->count; i++) {
        const calc_sweep_cell *cell = &cells->item[i];
        calc_sweep_page_open_cell(put, cell->tensor_par, cell->pipeline_par, cell->num_procs,
                                  &cell->counts);
        if (cell->found) {
            calc_put_object(put, "best", CALC_PUT_LINE);
            put_found(put, study, c, &cell->best);
            calc_put_close(put);
        } else {
            calc_put_raw(put, "best", "null");
        }
        calc_put_close(put);
    }
    calc_put_close(put);
    calc_put_close(put);
}

/* ---- More of each resource ---------------------------------------------------------------------
 */

static void put_more(calc_put *put, const calc_sweep_study *study, const calc_sweep_page_columns *c,
                     const calc_sweep_more *more, const calc_sweep_result *result)
{
    const calc_found *before = calc_sweep_found_best_of_all(result);
    calc_put_array(put, "ten_percent_more", CALC_PUT_LINES);
    for (size_t i = 0; i < more->count; i++) {
        const calc_sweep_more_item *item = &more->item[i];
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "resource", item->text);
        calc_sweep_page_put_stats(put, "same", c, &item->same);
        if (item->found) {
            calc_put_object(put, "best", CALC_PUT_LINE);
            calc_put_flag(put, "unchanged", calc_found_compare(&item->best, before) == 0);
            calc_sweep_put_design(put, "design", study, item->best.design);
            calc_put_struct(put, "execution", CALC_KIND_EXEC, &item->best.exec);
            calc_sweep_page_put_stats(put, "stats", c, &item->stats);
            calc_put_close(put);
        } else {
            calc_put_raw(put, "best", "null");
        }
        calc_put_close(put);
    }
    calc_put_close(put);
}

/* ---- The page -------------------------------------------------------------------------------- */

/* What is found once more for the page. */
typedef struct extras {
    calc_sweep_cloud cloud;
    calc_sweep_cells splits, procs;
    calc_sweep_more more;
} extras;

static calc_status find_extras(extras *e, const calc_sweep_study *study,
                               const calc_sweep_result *result, calc_errors *errors)
{
    calc_status status = calc_sweep_cloud_make(&e->cloud, study, errors);
    if (status == CALC_OK) {
        status = calc_sweep_cells_splits(&e->splits, study, result, &e->cloud, errors);
    }
    if (status == CALC_OK) {
        status = calc_sweep_cells_procs(&e->procs, study, result, errors);
    }
    return status == CALC_OK ? calc_sweep_more_find(&e->more, study, result, errors) : status;
}

static void put_page(calc_output *out, const calc_sweep_study *study,
                     const calc_sweep_result *result, const extras *e)
{
    const calc_sweep_page_columns c = columns_of(study);
    calc_put put = calc_page_begin(out, CALC_PAGE_SWEEP);
    calc_put_object(&put, "study", CALC_PUT_LINES);
    calc_sweep_put_study(&put, study);
    calc_put_count(&put, "designs", (int64_t)study->designs.count);
    calc_put_flag(&put, "per_num_procs", study->options.per_num_procs);
    calc_put_close(&put);
    calc_put_key(&put, "summary");
    calc_sweep_write_summary(out, result);
    put_rows(&put, study, &c, result);
    put_cloud(&put, &c, &e->cloud);
    put_cells(&put, study, &c, "splits", &e->splits);
    put_cells(&put, study, &c, "procs", &e->procs);
    put_more(&put, study, &c, &e->more, result);
    calc_page_end(&put, CALC_PAGE_SWEEP);
}

calc_status calc_sweep_page_write(calc_output *out, const calc_sweep_study *study,
                                  const calc_sweep_result *result, calc_errors *errors)
{
    extras e = {0};
    calc_status status = find_extras(&e, study, result, errors);
    if (status == CALC_OK) {
        put_page(out, study, result, &e);
    }
    calc_sweep_cells_free(&e.splits);
    calc_sweep_cells_free(&e.procs);
    calc_sweep_cloud_free(&e.cloud);
    return status;
}
