#include "cli/sweep_page_written.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/find.h"
#include "cli/sweep_page_parts.h"
#include "cli/sweep_table.h"
#include "report/page.h"
#include "spec/absent.h"
#include "spec/field.h"

/* Layouts that the page holds, and what is asked again and again of them. */
typedef struct page {
    const calc_written_sweep *sweep;
    calc_sweep_page_columns columns;
    const calc_written_layout **row; /* those that are shown, of the lists one after the other */
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

static void write_layout(calc_output *out, page *p, const calc_written_layout *layout)
{
    load(CALC_KIND_APP, layout->application, p->application, &p->app);
    load(CALC_KIND_SYSTEM, layout->system, p->system, &p->machine);
    calc_output_printf(out, "\"design\": %s, ", layout->design);
    calc_sweep_page_layout(out, &p->columns, &layout->exec, &layout->stats,
                           true);
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
    enum { ROWS = 400, GROUP_ROWS = 20 };
    const calc_written_sweep *s = p->sweep;
    size_t most = ROWS / (s->groups > 0 ? s->groups : 1);
    most = most > GROUP_ROWS ? most : GROUP_ROWS;
    p->row = calloc(s->count + 1, sizeof *p->row);
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
    return CALC_OK;
}

static void write_rows(calc_output *out, page *p)
{
    size_t front = 0;
    for (size_t i = 0; i < p->sweep->count; i++) {
        front += !p->sweep->layout[i].top;
    }
    calc_output_printf(out, ",\n\"front\": %zu,\n\"rows\": [", front);
    for (size_t i = 0; i < p->rows; i++) {
        const calc_written_layout *layout = p->row[i];
        calc_output_printf(out, "%s{\"set\": \"%s\", \"group\": %zu, \"rank\": %zu, ",
                           i > 0 ? ",\n" : "\n", layout->top ? "top" : "front", layout->group,
                           layout->rank);
        write_layout(out, p, layout);
    }
    calc_output_text(out, "]");
}

/* ---- Points ---------------------------------------------------------------------------------- */

/* The page puts the rows among the points, so there are no others: only what their axes are. */
static calc_status write_points(calc_output *out, const page *p, calc_errors *errors)
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
    calc_output_printf(out,
                       ",\n\"cloud\": {\"shown\": 0, \"seen\": %zu, \"all\": false, "
                       "\"source\": \"file\", \"design\": []",
                       p->sweep->count);
    calc_sweep_page_points(out, &p->columns, &cloud, 0);
    calc_output_text(out, "}");
    free(cloud.point);
    return CALC_OK;
}

/* ---- Parts of the space ---------------------------------------------------------------------- */

/* What the layouts of a cell have in common. */
typedef struct key {
    int64_t tensor_par, pipeline_par, num_procs; /* 0: any */
} key;

static key key_of(const calc_written_layout *layout, bool by_procs)
{
    const calc_exec *e = &layout->exec;
    const key size = {.num_procs = e->num_procs};
    const key split = {.tensor_par = e->tensor_par, .pipeline_par = e->pipeline_par};
    return by_procs ? size : split;
}

static int compare_keys(const key *a, const key *b)
{
    const int64_t first[] = {a->num_procs, a->tensor_par, a->pipeline_par};
    const int64_t second[] = {b->num_procs, b->tensor_par, b->pipeline_par};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        if (first[i] != second[i]) {
            return first[i] < second[i] ? -1 : 1;
        }
    }
    return 0;
}

/* The least key above `last`, which is NULL before the first. @return whether there is one */
static bool next_key(const page *p, bool by_procs, const key *last, key *next)
{
    bool found = false;
    for (size_t i = 0; i < p->rows; i++) {
        key k = key_of(p->row[i], by_procs);
        if ((!last || compare_keys(&k, last) > 0) && (!found || compare_keys(&k, next) < 0)) {
            *next = k;
            found = true;
        }
    }
    return found;
}

static double goal_of(const page *p, const calc_written_layout *layout)
{
    const calc_field *field = p->sweep->top_by.field;
    double value = calc_member_number(field, (const char *)&layout->stats + field->offset);
    return p->sweep->top_by.up ? value : -value;
}

static void write_cell(calc_output *out, page *p, bool by_procs, const key *k)
{
    const calc_written_layout *best = p->row[0];
    size_t count = 0;
    for (size_t i = 0; i < p->rows; i++) {
        key other = key_of(p->row[i], by_procs);
        if (compare_keys(&other, k) == 0) {
            bool better = count == 0 || goal_of(p, p->row[i]) > goal_of(p, best);
            best = better ? p->row[i] : best;
            count++;
        }
    }
    calc_output_printf(out,
                       "{\"tensor_par\": %" PRId64 ", \"pipeline_par\": %" PRId64
                       ", \"num_procs\": %" PRId64 ", \"total\": %zu, \"feasible\": %zu, "
                       "\"filtered\": 0, \"rejected\": {}, \"best\": {",
                       k->tensor_par, k->pipeline_par, k->num_procs, count, count);
    write_layout(out, p, best);
    calc_output_text(out, "}");
}

static void write_cells(calc_output *out, page *p, const char *name, bool by_procs, bool wanted)
{
    key last, next;
    const key *after = NULL;
    calc_output_printf(out, ",\n\"%s\": {\"counted\": false, \"items\": [", name);
    while (wanted && next_key(p, by_procs, after, &next)) {
        calc_output_text(out, after ? ",\n" : "");
        write_cell(out, p, by_procs, &next);
        last = next;
        after = &last;
    }
    calc_output_text(out, "]}");
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
        calc_page_begin(out);
        calc_output_printf(out,
                           "{\"schema\": \"calc-report/1\", \"kind\": \"sweep\", \"study\": {%s, "
                           "\"designs\": %zu, \"per_num_procs\": %s},\n\"summary\": ",
                           sweep->study, count_designs(p), sweep->per_num_procs ? "true" : "false");
        calc_output_write(out, summary ? summary->data : "null", summary ? summary->length : 4);
        write_rows(out, p);
        status = write_points(out, p, errors);
        write_cells(out, p, "splits", false, true);
        write_cells(out, p, "procs", true, sweep->per_num_procs);
        calc_output_printf(out, ",\n\"partial\": %s}\n", sweep->partial ? "true" : "false");
        calc_page_end(out, CALC_PAGE_SWEEP);
    }
    free(p->row);
    free(p);
    return status;
}
