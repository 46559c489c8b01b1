#include "cli/sweep/sweep_page.h"

#include "cli/draw/changes.h"
#include "cli/sweep/sweep_page_cloud.h"
#include "cli/sweep/sweep_read.h"
#include "cli/sweep/sweep_rows.h"
#include "cli/sweep/sweep_write.h"
#include "io/json_save.h"
#include "io/json_scan.h"
#include "plan/sweep_cloud.h"
#include "plan/sweep_more.h"
#include "report/page.h"
#include "spec/field.h"

/* ---- Rows: layouts with all their numbers ---------------------------------------------------- */

/* The members of a layout. */
static void put_found(calc_put *put, const calc_sweep_study *study,
                      const calc_sweep_page_columns *c, const calc_found *found)
{
    calc_sweep_found f;
    calc_sweep_found_run(study, found, &f);
    calc_sweep_put_design(put, "design", study, f.design);
    calc_put_struct(put, "execution", CALC_KIND_EXEC, &f.exec);
    calc_sweep_page_put_stats(put, "stats", c, &f.stats);
    calc_sweep_order_put(put, &c->order, &f);
    calc_put_rounded(put, "fits", calc_sweep_rows_fits(c->measured, study, found).share, 4);
    calc_sweep_put_parts(put, study, &f);
}

static void put_row(calc_put *put, const calc_sweep_study *study, const calc_sweep_page_columns *c,
                    const char *name, size_t group, size_t rank, const calc_found *layout)
{
    calc_put_object(put, NULL, CALC_PUT_LINE);
    calc_put_text(put, "set", name);
    calc_put_count(put, "group", (int64_t)group);
    calc_put_count(put, "rank", (int64_t)rank);
    put_found(put, study, c, layout);
    calc_put_close(put);
}

static void put_list(calc_put *put, const calc_sweep_study *study, const calc_sweep_page_columns *c,
                     const char *name, size_t group, const calc_front *list, size_t most)
{
    size_t shown = list->count < most ? list->count : most;
    for (size_t i = 0; i < shown; i++) {
        size_t at = calc_sweep_rows_spread(i, shown, list->count);
        put_row(put, study, c, name, group, at + 1, &list->item[at]);
    }
}

static void put_rows(calc_put *put, const calc_sweep_study *study, const calc_sweep_page_columns *c,
                     const calc_sweep_result *result, const calc_sweep_row *start)
{
    enum {
        ROWS = 400 /* of all groups together, evenly spread, */,
        GROUP_ROWS = 20 /* but this many of each */
    };
    size_t most = ROWS / (result->groups_count > 0 ? result->groups_count : 1);
    most = most > GROUP_ROWS ? most : GROUP_ROWS;
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
    if (start->layout) {
        put_row(put, study, c, "start", 0, start->number, start->layout);
    }
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
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_count(put, "tensor_par", cell->tensor_par);
        calc_put_count(put, "pipeline_par", cell->pipeline_par);
        calc_put_count(put, "num_procs", cell->num_procs);
        calc_put_count(put, "total", (int64_t)cell->counts.total);
        calc_sweep_put_counts(put, &cell->counts);
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

/* ---- More of each resource ------------------------------------------------------------------- */

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
            const calc_exec exec = calc_found_exec(&item->best);
            calc_put_struct(put, "execution", CALC_KIND_EXEC, &exec);
            calc_sweep_page_put_stats(put, "stats", c, &item->stats);
            calc_put_close(put);
        } else {
            calc_put_raw(put, "best", "null");
        }
        calc_put_close(put);
    }
    calc_put_close(put);
}

/* ---- Advice where nothing fits --------------------------------------------------------------- */

static void put_layout(calc_put *put, const char *key, const calc_sweep_study *study,
                       const calc_sweep_page_columns *c, const calc_sweep_found *f)
{
    calc_put_object(put, key, CALC_PUT_LINE);
    calc_sweep_put_design(put, "design", study, f->design);
    calc_put_struct(put, "execution", CALC_KIND_EXEC, &f->exec);
    calc_sweep_page_put_stats(put, "stats", c, &f->stats);
    calc_put_close(put);
}

static void put_need(calc_put *put, const calc_sweep_study *study, const calc_sweep_page_columns *c,
                     const calc_sweep_need *need)
{
    if (!need->known) {
        calc_put_raw(put, "need", "null");
        return;
    }
    calc_put_object(put, "need", CALC_PUT_LINES);
    put_layout(put, "least", study, c, &need->least);
    if (need->num_procs > 0) {
        put_layout(put, "larger", study, c, &need->larger);
    }
    calc_put_close(put);
}

/* ---- Effect of each choice of the best ------------------------------------------------------- */

static calc_status put_changes(calc_put *put, const calc_sweep_study *study,
                               const calc_sweep_result *result, calc_errors *errors)
{
    const calc_found *best = calc_sweep_found_best_of_all(result);
    if (!best || study->options.compat != CALC_COMPAT_NONE) {
        calc_put_raw(put, "changes", "null");
        return CALC_OK;
    }
    calc_app app;
    calc_system system;
    const calc_exec exec = calc_found_exec(best);
    study->designs.get(study->designs.context, best->design, &app, &system);
    return calc_changes_put(put, "changes", &app, &system, &exec, errors);
}

/* ---- Designs --------------------------------------------------------------------------------- */

/* The meaning of the numbers of designs, if they are few. */
static void put_designs(calc_put *put, const calc_sweep_study *study)
{
    enum { DESIGNS = 1000 };
    calc_put_array(put, "designs", CALC_PUT_LINES);
    for (uint64_t i = 0; i < study->designs.count && study->designs.count <= DESIGNS; i++) {
        calc_sweep_put_design(put, NULL, study, i);
    }
    calc_put_close(put);
}

/* ---- The page -------------------------------------------------------------------------------- */

/* Results of the additional sweep for the page. */
typedef struct extras {
    calc_sweep_cloud cloud;
    calc_sweep_cells splits, procs;
    calc_sweep_more more;
    calc_sweep_need need;
    const calc_sweep_row *start;
    const calc_residuals *measured;
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
    if (status == CALC_OK) {
        status = calc_sweep_more_find(&e->more, study, result, errors);
    }
    return status == CALC_OK ? calc_sweep_need_find(&e->need, study, result, errors) : status;
}

static calc_status put_page(calc_output *out, const calc_sweep_study *study,
                            const calc_sweep_result *result, const extras *e, const calc_args *args,
                            calc_errors *errors)
{
    const calc_sweep_page_columns c =
        calc_sweep_page_columns_of(study, calc_sweep_found_best_of_all(result), e->measured);
    calc_put put = calc_page_begin(out, CALC_PAGE_SWEEP);
    calc_put_object(&put, "study", CALC_PUT_LINES);
    calc_sweep_put_study(&put, study);
    calc_put_count(&put, "designs", (int64_t)study->designs.count);
    calc_put_flag(&put, "per_num_procs", study->options.per_num_procs);
    calc_sweep_read_put(&put, study, args);
    calc_put_close(&put);
    put_designs(&put, study);
    calc_put_key(&put, "summary");
    calc_sweep_write_summary(out, result);
    put_rows(&put, study, &c, result, e->start);
    calc_sweep_page_put_cloud(&put, &c, &e->cloud);
    put_cells(&put, study, &c, "splits", &e->splits);
    put_cells(&put, study, &c, "procs", &e->procs);
    put_more(&put, study, &c, &e->more, result);
    put_need(&put, study, &c, &e->need);
    calc_status status = put_changes(&put, study, result, errors);
    calc_page_end(&put, CALC_PAGE_SWEEP);
    return status;
}

calc_status calc_sweep_page_write(calc_output *out, const calc_sweep_study *study,
                                  const calc_sweep_result *result, const calc_args *args,
                                  const calc_sweep_row *start, const calc_residuals *measured,
                                  calc_errors *errors)
{
    extras e = {.start = start, .measured = measured};
    calc_status status = find_extras(&e, study, result, errors);
    if (status == CALC_OK) {
        status = put_page(out, study, result, &e, args, errors);
    }
    calc_sweep_cells_free(&e.splits);
    calc_sweep_cells_free(&e.procs);
    calc_sweep_cloud_free(&e.cloud);
    return status;
}

static void put_file(calc_put *put, const char *key, const calc_text *json)
{
    /* What readers of JSON skip, browsers do not. */
    size_t mark = json ? calc_json_scan_mark(json->data, json->length) : 0;
    calc_put_key(put, key);
    calc_output_write(put->out, json ? json->data + mark : "null", json ? json->length - mark : 4);
}

void calc_sweep_page_write_written(calc_output *out, const calc_text *sweep,
                                   const calc_text *summary)
{
    calc_put put = calc_page_begin(out, CALC_PAGE_SWEEP);
    put_file(&put, "written", sweep);
    put_file(&put, "summary", summary);
    calc_sweep_page_put_axes(&put, NULL);
    calc_sweep_page_put_names(&put);
    calc_page_end(&put, CALC_PAGE_SWEEP);
}
