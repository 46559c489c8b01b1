#include "report/sweep_data.h"

#include <math.h>
#include <stdio.h>

#include "base/buffer.h"
#include "io/json_put.h"
#include "io/remark.h"
#include "plan/sweep_more.h"
#include "report/run_data.h"
#include "spec/compat.h"
#include "spec/field.h"

/* ---- Parts that the file of a sweep has, too ------------------------------------------------- */

size_t calc_sweep_spread(size_t i, size_t shown, size_t count)
{
    return shown < 2 ? 0 : i * (count - 1) / (shown - 1);
}

/* Write model, machine and swept fields of a design as an object in one line. */
static void calc_sweep_put_design(calc_put *put, const char *key, const calc_sweep_study *study,
                                  uint64_t design)
{
    const calc_designs_builder *builder = &study->builder;
    calc_design_parts parts = calc_designs_parts(builder, design);
    calc_put_object(put, key, CALC_PUT_LINE);
    calc_putf(put, "application: %s, system: %s", parts.app->name, parts.system->name);
    for (size_t i = 0; i < builder->axes; i++) {
        bool word = builder->axis[i].ref.field->type == CALC_TYPE_ENUM;
        char text[32];
        calc_designs_value_text(builder, design, i, text);
        (word ? calc_put_text : calc_put_raw)(put, builder->axis[i].path, text);
    }
    calc_put_close(put);
}

/* Write the parts of the time of a step and of the memory of a processor [s, bytes]: members
 * "time", "memory1", "memory2" of the open object. */
static void calc_sweep_put_parts(calc_put *put, const calc_sweep_study *study,
                                 const calc_sweep_found *found)
{
    bool ours = study->options.compat == CALC_COMPAT_NONE;
    calc_breakdown_put_time(put, "time", &found->stats);
    calc_breakdown_put_memory(put, "memory1", &found->exec, &found->stats, 1, ours);
    calc_breakdown_put_memory(put, "memory2", &found->exec, &found->stats, 2, ours);
}

const char *calc_sweep_remark(const calc_sweep_study *study, size_t i, char text[CALC_REMARK_SIZE])
{
    return i < study->documents ? study->document[i].remark
                                : calc_remark_inference(&study->space.inference, false, text);
}

void calc_sweep_put_remarks(calc_put *put, const calc_sweep_study *study)
{
    calc_put_array(put, "remarks", CALC_PUT_LINE);
    for (size_t i = 0; i <= study->documents; i++) {
        char own[CALC_REMARK_SIZE];
        const char *text = calc_sweep_remark(study, i, own);
        if (*text) {
            calc_put_text(put, NULL, text);
        }
    }
    calc_put_close(put);
}

static void put_objective(calc_put *put, const char *key, const calc_objective *objective)
{
    calc_put_object(put, key, CALC_PUT_LINE);
    calc_putf(put, "statistic: %s, direction: %s}", objective->field->key,
              objective->up ? "up" : "down");
}

void calc_sweep_put_study(calc_put *put, const calc_sweep_study *study)
{
    char rules[CALC_COMPAT_TEXT];
    const calc_sweep_options *o = &study->options;
    calc_putf(put, "version: %s, compat: %s, applications: [", CALC_VERSION,
              calc_compat_text(o->compat, rules));
    for (size_t i = 0; i < study->builder.apps; i++) {
        calc_put_text(put, NULL, study->builder.app[i].name);
    }
    calc_putf(put, "], systems: [");
    for (size_t i = 0; i < study->builder.systems; i++) {
        calc_put_text(put, NULL, study->builder.system[i].name);
    }
    calc_putf(put, "], objectives: [");
    for (size_t i = 0; i < o->objectives; i++) {
        put_objective(put, NULL, &o->objective[i]);
    }
    calc_put_close(put);
    put_objective(put, "top_by", &o->top_by);
    calc_sweep_put_remarks(put, study);
}

/* Write the counts of layouts, likewise: feasible, filtered, skipped, and rejected by reason. */
static void calc_sweep_put_counts(calc_put *put, const calc_sweep_counts *c)
{
    calc_putf(put, "feasible: %jd, filtered: %jd, skipped: %jd, rejected: {\n",
              (intmax_t)c->feasible, (intmax_t)c->filtered, (intmax_t)c->skipped);
    for (int v = CALC_VERDICT_OK + 1; v < CALC_VERDICT_COUNT; v++) {
        calc_put_count(put, calc_verdict_text((calc_verdict)v), (int64_t)c->rejected[v]);
    }
    calc_put_close(put);
}

double calc_sweep_rate(const calc_sweep_result *result)
{
    return result->elapsed_s > 0 ? (double)result->counts.evaluated / result->elapsed_s : 0;
}

void calc_sweep_put_summary(calc_put *put, const char *key, const calc_sweep_result *result)
{
    double rate = calc_sweep_rate(result);
    if (key) {
        calc_put_object(put, key, CALC_PUT_LINES);
    } else {
        calc_put_document(put);
    }
    calc_putf(put, "version: %s, partial?: %d, counts: {\ntotal: %jd, evaluated: %jd", CALC_VERSION,
              result->partial, (intmax_t)result->counts.total, (intmax_t)result->counts.evaluated);
    calc_sweep_put_counts(put, &result->counts);
    calc_putf(put,
              "}, elapsed_s: %.6g, threads: %d, cpu: %s, evaluations_per_second: %jd, "
              "evaluations_per_second_per_core: %jd}",
              result->elapsed_s, (int)result->threads, result->cpu, (intmax_t)llround(rate),
              (intmax_t)llround(rate / result->threads));
}

/* ---- Front and best -------------------------------------------------------------------------- */

static void put_sure(calc_put *put, const calc_sweep_data *data, const calc_sweep_found *f)
{
    if (data->sure) {
        calc_put_rounded(put, "sure", data->sure(data->context, f->design, &f->exec, &f->stats), 4);
    }
}

static void put_result(calc_put *put, const char *key, const calc_sweep_data *data,
                       const calc_found *layout)
{
    calc_sweep_found found;
    calc_sweep_found_run(data->study, layout, &found);
    calc_put_object(put, key, CALC_PUT_LINES);
    calc_sweep_put_design(put, "design", data->study, found.design);
    calc_put_struct(put, "execution", CALC_KIND_EXEC, &found.exec);
    calc_put_struct(put, "stats", CALC_KIND_STATS, &found.stats);
    put_sure(put, data, &found);
    calc_sweep_put_parts(put, data->study, &found);
    calc_put_close(put);
}

static void put_layouts(calc_put *put, const char *key, const calc_sweep_data *data,
                        const calc_front *list)
{
    calc_put_array(put, key, CALC_PUT_LINES);
    for (size_t i = 0; i < list->count; i++) {
        put_result(put, NULL, data, &list->item[i]);
    }
    calc_put_close(put);
}

static void put_group(calc_put *put, const calc_sweep_data *data, const calc_sweep_group *group)
{
    put_layouts(put, "front", data, &group->front);
    put_layouts(put, "top", data, &group->top);
}

void calc_sweep_put_results(calc_put *put, const calc_sweep_data *data)
{
    const calc_sweep_study *study = data->study;
    const calc_sweep_result *result = data->result;
    calc_sweep_put_study(put, study);
    if (result->partial) {
        calc_put_flag(put, "partial", true);
    }
    if (!study->options.per_num_procs && !study->options.per_design) {
        if (data->start) {
            put_result(put, "start", data, data->start);
        }
        put_group(put, data, &result->group[0]);
        return;
    }
    const calc_values *procs = &study->space.axis[CALC_AXIS_num_procs];
    size_t per_design = study->options.per_num_procs ? procs->count : 1;
    calc_put_array(put, "groups", CALC_PUT_LINES);
    for (size_t g = 0; g < result->groups_count; g++) {
        calc_put_object(put, NULL, CALC_PUT_LINES);
        if (study->options.per_num_procs) {
            calc_put_count(put, "num_procs", procs->value[g % per_design]);
        }
        if (study->options.per_design) {
            calc_sweep_put_design(put, "design", study, g / per_design);
        }
        put_group(put, data, &result->group[g]);
        calc_put_close(put);
    }
    calc_put_close(put);
}

enum { SWEEP_PAGE_COLUMNS = 40 };

/* Statistics of layouts on the page: the page's own and those that the study names. */
typedef struct sweep_page_columns {
    const calc_sweep_data *data;
    size_t count;
    const calc_field *field[SWEEP_PAGE_COLUMNS];
} sweep_page_columns;

/* ---- Statistics that the page shows ---------------------------------------------------------- */

/* Statistics shown besides those that the study names: for every study, and for one that serves. */
static const char stat_keys[] =
    "sample_rate total_time tokens_per_s tokens_per_s_per_proc model_flops_utilization "
    "proc_mem_tier1_cap_req proc_mem_tier2_cap_req mem_tier1_capacity mem_tier2_capacity "
    "bubble_time tp_comm_exposed_time pp_comm_exposed_time dp_comm_exposed_time "
    "cp_comm_exposed_time ep_comm_exposed_time usd_per_trillion_tokens";
static const char served_keys[] =
    "output_tokens_per_s_per_proc tokens_per_s_per_user output_tokens_per_s requests_per_s "
    "ttft ttft_p99 tpot request_time decode_sequences max_batch "
    "usd_per_million_output_tokens";
static void add_column(sweep_page_columns *c, const calc_field *field)
{
    for (size_t i = 0; i < c->count; i++) {
        if (c->field[i] == field) {
            return;
        }
    }
    c->field[c->count++] = field;
}

static void add_columns(sweep_page_columns *c, const char *keys)
{
    for (size_t length; (length = calc_next_word(&keys, " ")) > 0;) {
        const char *key = CALC_TEXT(64, "%.*s", (int)length, keys - length);
        add_column(c, calc_table_find(calc_table_of(CALC_KIND_STATS), key));
    }
}

static sweep_page_columns sweep_page_columns_of(const calc_sweep_data *data)
{
    const calc_sweep_study *study = data->study;
    sweep_page_columns c = {.data = data};
    add_columns(&c, stat_keys);
    if (study->space.inference.phase != CALC_INFERENCE_PHASE_NONE) {
        add_columns(&c, served_keys);
    }
    add_column(&c, study->options.top_by.field);
    for (size_t i = 0; i < study->options.objectives; i++) {
        add_column(&c, study->options.objective[i].field);
    }
    return c;
}

static double stat_of(const calc_field *field, const calc_stats *stats)
{
    return calc_member_number(field, (const char *)stats + field->offset);
}

/* Write the statistics of a layout as an object. */
static void sweep_page_put_stats(calc_put *put, const char *key, const sweep_page_columns *c,
                                 const calc_stats *stats)
{
    calc_put_object(put, key, CALC_PUT_LINE);
    for (size_t i = 0; i < c->count; i++) {
        calc_put_number(put, c->field[i]->key, stat_of(c->field[i], stats));
    }
    calc_put_close(put);
}

/* ---- The cloud: columns of numbers ----------------------------------------------------------- */

/* A field of the execution, or of an object in it. */
typedef struct axis {
    char key[64]; /* "inference.chunk_size" */
    const calc_field *field;
    size_t offset;
} axis;

static double exec_of(const axis *a, const calc_sweep_cloud_point *p)
{
    return calc_member_number(a->field, (const char *)&p->exec + a->offset);
}

/* An axis, with its values if there is a cloud. */
static void put_axis(calc_put *put, const axis *a, const calc_sweep_cloud *cloud)
{
    calc_putf(put, "{key: %s, choices: [", a->key);
    for (size_t i = 0; a->field->choices && a->field->choices[i]; i++) {
        calc_put_text(put, NULL, a->field->choices[i]);
    }
    calc_putf(put, "], type: %d, values: [", (int)a->field->type);
    for (size_t i = 0; i < cloud->count; i++) {
        calc_put_rounded(put, NULL, exec_of(a, &cloud->point[i]), 9);
    }
    calc_putf(put, "]}");
}

/* Fields of a table in which the points differ. */
static void put_table(calc_put *put, const calc_table *table, const char *before, size_t offset,
                      const calc_sweep_cloud *cloud)
{
    for (size_t f = 0; f < table->count; f++) {
        const calc_field *field = &table->rows[f];
        axis a = {.field = field, .offset = offset + field->offset};
        snprintf(a.key, sizeof a.key, "%s%s", before, field->key);
        size_t i = field->type <= CALC_TYPE_SET ? 1 : cloud->count; /* no curve, object or list */
        while (i < cloud->count && exec_of(&a, &cloud->point[i]) == exec_of(&a, cloud->point)) {
            i++;
        }
        if (i < cloud->count) {
            put_axis(put, &a, cloud);
        }
    }
}

static void put_metrics(calc_put *put, const sweep_page_columns *c, const calc_sweep_cloud *cloud)
{
    calc_put_array(put, "metrics", CALC_PUT_LINES);
    for (size_t f = 0; f < c->count; f++) {
        bool tells = cloud->count <= 1; /* the points differ in it */
        for (size_t i = 1; i < cloud->count && !tells; i++) {
            double b = stat_of(c->field[f], &cloud->point[i].stats);
            tells = isfinite(b) && stat_of(c->field[f], &cloud->point[i - 1].stats) != b;
        }
        if (!tells) {
            continue;
        }
        calc_putf(put, "{key: %s, values: [", c->field[f]->key);
        for (size_t i = 0; i < cloud->count; i++) {
            calc_put_rounded(put, NULL, stat_of(c->field[f], &cloud->point[i].stats), 7);
        }
        calc_putf(put, "]}");
    }
    const calc_sweep_data *data = c->data;
    if (data->sure) { /* how sure it is that the best is better than a point */
        calc_putf(put, "{key: %s, values: [", "sure");
        for (size_t i = 0; i < cloud->count; i++) {
            const calc_sweep_cloud_point *p = &cloud->point[i];
            calc_put_rounded(put, NULL, data->sure(data->context, p->design, &p->exec, &p->stats),
                             4);
        }
        calc_putf(put, "]}");
    }
    calc_put_close(put);
}

/* Write the member "cloud": the number of points, the fields in which all agree, and columns of
 * those in which they differ; among these "sure", calc_sweep_order_sure(), where it is known. */
static void sweep_page_put_cloud(calc_put *put, const sweep_page_columns *c,
                                 const calc_sweep_cloud *cloud)
{
    calc_putf(put, "cloud: {\nshown: %zu, seen: %jd, all?: %d, design: [", cloud->count,
              (intmax_t)cloud->seen, cloud->all);
    for (size_t i = 0; i < cloud->count; i++) {
        calc_put_count(put, NULL, (int64_t)cloud->point[i].design);
    }
    calc_put_close(put);
    if (cloud->count > 0) { /* fields in which all points agree */
        calc_put_struct(put, "base", CALC_KIND_EXEC, &cloud->point[0].exec);
    }
    /* The member "axes": every field of an execution and of its inference that is a number or a
     * choice and differs among the points, with its values. */
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    const calc_field *inference = calc_table_find(table, "inference");
    calc_put_array(put, "axes", CALC_PUT_LINES);
    put_table(put, table, "", 0, cloud);
    put_table(put, inference->table, "inference.", inference->offset, cloud);
    calc_put_close(put);
    put_metrics(put, c, cloud);
    calc_put_close(put);
}

/* ---- Rows: layouts with all their numbers ---------------------------------------------------- */

/* The first members of a layout. */
static void put_layout(calc_put *put, const sweep_page_columns *c, uint64_t design,
                       const calc_exec *exec, const calc_stats *stats)
{
    calc_sweep_put_design(put, "design", c->data->study, design);
    calc_put_struct(put, "execution", CALC_KIND_EXEC, exec);
    sweep_page_put_stats(put, "stats", c, stats);
}

/* The members of a layout. */
static void put_found(calc_put *put, const sweep_page_columns *c, const calc_found *found)
{
    const calc_sweep_data *data = c->data;
    calc_sweep_found f;
    calc_sweep_found_run(data->study, found, &f);
    put_layout(put, c, f.design, &f.exec, &f.stats);
    put_sure(put, data, &f);
    calc_put_rounded(put, "fits", data->fits ? data->fits(data->context, found) : (double)NAN, 4);
    calc_sweep_put_parts(put, data->study, &f);
}

static void put_row(calc_put *put, const sweep_page_columns *c, const char *name, size_t group,
                    size_t rank, const calc_found *layout)
{
    calc_putf(put, "{set: %s, group: %zu, rank: %zu", name, group, rank);
    put_found(put, c, layout);
    calc_put_close(put);
}

static void put_list(calc_put *put, const sweep_page_columns *c, const char *name, size_t group,
                     const calc_front *list, size_t most)
{
    size_t shown = list->count < most ? list->count : most;
    for (size_t i = 0; i < shown; i++) {
        size_t at = calc_sweep_spread(i, shown, list->count);
        put_row(put, c, name, group, at + 1, &list->item[at]);
    }
}

static void put_rows(calc_put *put, const sweep_page_columns *c)
{
    const calc_sweep_result *result = c->data->result;
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
        put_list(put, c, "top", g, &result->group[g].top, most);
        put_list(put, c, "front", g, &result->group[g].front, most);
    }
    if (c->data->start) {
        put_row(put, c, "start", 0, c->data->start_rank, c->data->start);
    }
    calc_put_close(put);
}

/* ---- Parts of the space ---------------------------------------------------------------------- */

static void put_cells(calc_put *put, const sweep_page_columns *c, const char *key,
                      const calc_sweep_cells *cells)
{
    calc_put_object(put, key, CALC_PUT_LINE);
    calc_putf(put, "counted?: %d, items: [\n", cells->counted);
    for (size_t i = 0; i < cells->count; i++) {
        const calc_sweep_cell *cell = &cells->item[i];
        calc_putf(put, "{tensor_par: %jd, pipeline_par: %jd, num_procs: %jd, total: %jd",
                  (intmax_t)cell->tensor_par, (intmax_t)cell->pipeline_par,
                  (intmax_t)cell->num_procs, (intmax_t)cell->counts.total);
        calc_sweep_put_counts(put, &cell->counts);
        if (cell->found) {
            calc_put_object(put, "best", CALC_PUT_LINE);
            put_found(put, c, &cell->best);
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

static void put_more(calc_put *put, const sweep_page_columns *c, const calc_sweep_more *more)
{
    const calc_found *before = calc_sweep_found_best_of_all(c->data->result);
    calc_put_array(put, "ten_percent_more", CALC_PUT_LINES);
    for (size_t i = 0; i < more->count; i++) {
        const calc_sweep_more_item *item = &more->item[i];
        calc_putf(put, "{resource: %s", item->text);
        sweep_page_put_stats(put, "same", c, &item->same);
        if (item->found) {
            calc_put_object(put, "best", CALC_PUT_LINE);
            calc_put_flag(put, "unchanged", calc_found_compare(&item->best, before) == 0);
            const calc_exec exec = calc_found_exec(&item->best);
            put_layout(put, c, item->best.design, &exec, &item->stats);
            calc_put_close(put);
        } else {
            calc_put_raw(put, "best", "null");
        }
        calc_put_close(put);
    }
    calc_put_close(put);
}

/* ---- Advice where nothing fits --------------------------------------------------------------- */

static void put_need(calc_put *put, const sweep_page_columns *c, const calc_sweep_need *need)
{
    const calc_sweep_found *const found[] = {&need->least, &need->larger};
    if (!need->known) {
        calc_put_raw(put, "need", "null");
        return;
    }
    calc_put_object(put, "need", CALC_PUT_LINES);
    for (int i = 0; i < (need->num_procs > 0 ? 2 : 1); i++) {
        calc_put_object(put, i ? "larger" : "least", CALC_PUT_LINE);
        put_layout(put, c, found[i]->design, &found[i]->exec, &found[i]->stats);
        calc_put_close(put);
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

/* ---- The page -------------------------------------------------------------------------------- */

/* Results of the additional sweep for the page. */
typedef struct extras {
    calc_sweep_cloud cloud;
    calc_sweep_cells splits, procs;
    calc_sweep_more more;
    calc_sweep_need need;
} extras;

calc_status calc_sweep_data_put(calc_put *put, const calc_sweep_data *data, calc_errors *errors)
{
    extras e = {.need = {.known = false}};
    const calc_sweep_study *study = data->study;
    const calc_sweep_result *result = data->result;
    const sweep_page_columns c = sweep_page_columns_of(data);
    bool cloud = data->parts != CALC_PAGE_REST;
    bool rest = data->parts != CALC_PAGE_CLOUD;
    calc_status status = cloud ? calc_sweep_cloud_make(&e.cloud, study, errors) : CALC_OK;
    if (status == CALC_OK && cloud) {
        status = calc_sweep_cells_splits(&e.splits, study, result, &e.cloud, errors);
    }
    if (status == CALC_OK && rest) {
        status = calc_sweep_cells_procs(&e.procs, study, result, errors);
        status = status == CALC_OK ? calc_sweep_more_find(&e.more, study, result, errors) : status;
        status = status == CALC_OK ? calc_sweep_need_find(&e.need, study, result, errors) : status;
    }
    if (status == CALC_OK && rest) {
        /* The meaning of the numbers of designs, if they are few. */
        enum { DESIGNS = 1000 };
        calc_put_array(put, "designs", CALC_PUT_LINES);
        const uint64_t designs = study->designs.count;
        for (uint64_t i = 0; i < designs && designs <= DESIGNS; i++) {
            calc_sweep_put_design(put, NULL, study, i);
        }
        calc_put_close(put);
        calc_sweep_put_summary(put, "summary", result);
        put_rows(put, &c);
    }
    if (status == CALC_OK && cloud) {
        sweep_page_put_cloud(put, &c, &e.cloud);
        put_cells(put, &c, "splits", &e.splits);
    }
    if (status == CALC_OK && rest) {
        put_cells(put, &c, "procs", &e.procs);
        put_more(put, &c, &e.more);
        put_need(put, &c, &e.need);
        status = put_changes(put, study, result, errors);
    }
    calc_sweep_cells_free(&e.splits);
    calc_sweep_cells_free(&e.procs);
    calc_sweep_cloud_free(&e.cloud);
    return status;
}
