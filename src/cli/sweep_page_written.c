#include "cli/sweep_page_written.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/find.h"
#include "cli/sweep_page_parts.h"
#include "cli/sweep_table.h"
#include "report/page.h"
#include "spec/absent.h"
#include "spec/extended.h"
#include "spec/field.h"

/* Layouts that the page holds, and what is asked again and again of them. */
typedef struct page {
    const calc_written_sweep *sweep;
    calc_sweep_page_columns columns;
    const calc_written_layout **row;  /* those that are shown, of the lists one after the other */
    const calc_written_layout **part; /* the same in another order */
    size_t rows;
    char application[CALC_FIND_PATH_MAX], system[CALC_FIND_PATH_MAX]; /* that were loaded last */
    calc_app app;
    calc_system machine;
} page;

static calc_sweep_page_columns columns_of(const calc_written_sweep *s)
{
    calc_sweep_page_columns c = calc_sweep_page_usual_columns();
    calc_sweep_page_column(&c, s->top_by.field);
    for (size_t i = 0; i < s->objectives; i++) {
        calc_sweep_page_column(&c, s->objective[i].field);
    }
    return c;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Whether a name from a file is one of the catalogue: paths and "-" are for people to give. */
static bool is_bare(const char *name)
{
    return name[0] != '\0' && strcspn(name, "/") == strlen(name) && strcmp(name, "-") != 0 &&
           !strstr(name, ".json");
}

/* The document of a name, or one that says nothing if it is nowhere. */
static void load(calc_kind kind, const char *name, char *loaded, void *object)
{
    char path[CALC_FIND_PATH_MAX];
    calc_errors ignored = {0};
    if (strcmp(loaded, name) == 0) {
        return;
    }
    snprintf(loaded, CALC_FIND_PATH_MAX, "%s", name);
    if (!is_bare(name) || calc_find(kind, name, path, &ignored) != CALC_OK ||
        calc_load(kind, object, path, &ignored) != CALC_OK) {
        calc_absent_fill(calc_table_of(kind), object);
    }
}

static void put_layout(calc_put *put, page *p, const calc_written_layout *layout)
{
    load(CALC_KIND_APP, layout->application, p->application, &p->app);
    load(CALC_KIND_SYSTEM, layout->system, p->system, &p->machine);
    calc_put_raw(put, "design", layout->design);
    calc_sweep_page_put_layout(put, &p->columns, &layout->exec, &layout->stats,
                               calc_extended(&p->app, &p->machine, &layout->exec));
}

/* Layouts of a list that begins at `start`. */
static size_t list_length(const calc_written_sweep *s, size_t start)
{
    size_t end = start;
    while (end < s->count && s->layout[end].group == s->layout[start].group &&
           s->layout[end].top == s->layout[start].top) {
        end++;
    }
    return end - start;
}

/* Of each list as many as a page of the sweep itself has. */
static calc_status choose_rows(page *p, calc_errors *errors)
{
    const calc_written_sweep *s = p->sweep;
    size_t most = calc_sweep_page_most_rows(s->groups);
    p->row = calloc(2 * s->count + 1, sizeof *p->row);
    if (!p->row) {
        return calc_errors_add(errors, CALC_ERR_NOMEM, CALC_KIND_NONE, NULL, NULL, "%s",
                               calc_status_text(CALC_ERR_NOMEM));
    }
    for (size_t start = 0, length; start < s->count; start += length) {
        length = list_length(s, start);
        size_t shown = length < most ? length : most;
        for (size_t i = 0; i < shown; i++) {
            p->row[p->rows++] = &s->layout[start + calc_sweep_table_row(i, shown, length)];
        }
    }
    p->part = p->row + p->rows;
    return CALC_OK;
}

static void put_rows(calc_put *put, page *p)
{
    size_t front = 0;
    for (size_t i = 0; i < p->sweep->count; i++) {
        front += !p->sweep->layout[i].top;
    }
    calc_put_count(put, "front", (int64_t)front);
    calc_put_array(put, "rows", CALC_PUT_LINES);
    for (size_t i = 0; i < p->rows; i++) {
        const calc_written_layout *layout = p->row[i];
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "set", layout->top ? "top" : "front");
        calc_put_count(put, "group", (int64_t)layout->group);
        calc_put_count(put, "rank", (int64_t)layout->rank);
        put_layout(put, p, layout);
        calc_put_close(put);
    }
    calc_put_close(put);
}

/* ---- Points ---------------------------------------------------------------------------------- */

/* The page puts the rows among the points, so there are no others: only what their axes are. */
static calc_status put_points(calc_put *put, const page *p, calc_errors *errors)
{
    calc_sweep_cloud cloud = {.count = p->rows};
    cloud.point = calloc(p->rows + 1, sizeof *cloud.point);
    if (!cloud.point) {
        return calc_errors_add(errors, CALC_ERR_NOMEM, CALC_KIND_NONE, NULL, NULL, "%s",
                               calc_status_text(CALC_ERR_NOMEM));
    }
    for (size_t i = 0; i < p->rows; i++) {
        cloud.point[i] =
            (calc_sweep_cloud_point){.exec = p->row[i]->exec, .stats = p->row[i]->stats};
    }
    calc_put_object(put, "cloud", CALC_PUT_LINES);
    calc_put_count(put, "shown", 0);
    calc_put_count(put, "seen", (int64_t)p->sweep->count);
    calc_put_flag(put, "all", false);
    calc_put_text(put, "source", "file");
    calc_put_raw(put, "design", "[]");
    calc_sweep_page_put_points(put, &p->columns, &cloud, 0);
    calc_put_close(put);
    free(cloud.point);
    return CALC_OK;
}

/* ---- Parts of the space ---------------------------------------------------------------------- */

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_split(const calc_written_layout *a, const calc_written_layout *b)
{
    int tensor = compare(a->exec.tensor_par, b->exec.tensor_par);
    return tensor ? tensor : compare(a->exec.pipeline_par, b->exec.pipeline_par);
}

static int by_procs(const calc_written_layout *a, const calc_written_layout *b)
{
    return compare(a->exec.num_procs, b->exec.num_procs);
}

static double goal_of(const page *p, const calc_written_layout *layout)
{
    const calc_field *field = p->sweep->top_by.field;
    double value = calc_member_number(field, (const char *)&layout->stats + field->offset);
    return p->sweep->top_by.up ? value : -value;
}

/* The layouts that are alike to the one at `start`. @return where others begin */
static size_t put_cell(calc_put *put, page *p, size_t start,
                       int (*order)(const calc_written_layout *a, const calc_written_layout *b))
{
    const calc_written_layout *best = p->part[start];
    size_t end = start + 1;
    for (; end < p->rows && order(p->part[start], p->part[end]) == 0; end++) {
        best = goal_of(p, p->part[end]) > goal_of(p, best) ? p->part[end] : best;
    }
    const calc_exec *e = &best->exec;
    bool splits = order == by_split;
    const calc_sweep_counts counts = {.total = end - start, .feasible = end - start};
    calc_sweep_page_open_cell(put, splits ? e->tensor_par : 0, splits ? e->pipeline_par : 0,
                              splits ? 0 : e->num_procs, &counts);
    calc_put_object(put, "best", CALC_PUT_LINE);
    put_layout(put, p, best);
    calc_put_close(put);
    calc_put_close(put);
    return end;
}

/* Sorted by insertion, so that of equals the first stays the first. */
static void put_cells(calc_put *put, page *p, const char *name, bool wanted,
                      int (*order)(const calc_written_layout *a, const calc_written_layout *b))
{
    for (size_t i = 0; i < p->rows; i++) {
        size_t at = i;
        for (; at > 0 && order(p->part[at - 1], p->row[i]) > 0; at--) {
            p->part[at] = p->part[at - 1];
        }
        p->part[at] = p->row[i];
    }
    calc_put_object(put, name, CALC_PUT_LINE);
    calc_put_flag(put, "counted", false);
    calc_put_array(put, "items", CALC_PUT_LINES);
    for (size_t i = 0; wanted && i < p->rows;) {
        i = put_cell(put, p, i, order);
    }
    calc_put_close(put);
    calc_put_close(put);
}

/* ---- The page -------------------------------------------------------------------------------- */

/* Designs, as they are told apart by their texts. */
static size_t count_designs(const page *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->rows; i++) {
        size_t k = 0;
        while (k < i && strcmp(p->row[k]->design, p->row[i]->design) != 0) {
            k++;
        }
        count += k == i;
    }
    return count;
}

calc_status calc_sweep_page_write_written(calc_output *out, const calc_written_sweep *sweep,
                                          const calc_text *summary, calc_errors *errors)
{
    page *p = calloc(1, sizeof *p);
    if (!p) {
        return calc_errors_add(errors, CALC_ERR_NOMEM, CALC_KIND_NONE, NULL, NULL, "%s",
                               calc_status_text(CALC_ERR_NOMEM));
    }
    p->sweep = sweep;
    p->columns = columns_of(sweep);
    calc_status status = choose_rows(p, errors);
    if (status == CALC_OK) {
        calc_put put = calc_page_begin(out, CALC_PAGE_SWEEP);
        calc_put_key(&put, "study");
        calc_output_printf(out, "{%s, \"designs\": %zu, \"per_num_procs\": %s}", sweep->study,
                           count_designs(p), sweep->per_num_procs ? "true" : "false");
        calc_put_key(&put, "summary");
        calc_output_write(out, summary ? summary->data : "null", summary ? summary->length : 4);
        put_rows(&put, p);
        status = put_points(&put, p, errors);
        put_cells(&put, p, "splits", true, by_split);
        put_cells(&put, p, "procs", sweep->per_num_procs, by_procs);
        calc_put_flag(&put, "partial", sweep->partial);
        calc_page_end(&put, CALC_PAGE_SWEEP);
    }
    free(p->row);
    free(p);
    return status;
}
