#include "cli/sweep_page.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/breakdown.h"
#include "cli/sweep_cells.h"
#include "cli/sweep_cloud.h"
#include "cli/sweep_write.h"
#include "io/json_save.h"
#include "report/page.h"
#include "spec/extended.h"
#include "spec/field.h"

enum {
    FRONT_ROWS = 400, /* of all fronts together, evenly spread, */
    GROUP_ROWS = 20   /* but of each group so many */
};

/* Statistics of a layout that the page shows, besides those that the study names. */
static const char *const stat_keys[] = {"sample_rate",
                                        "total_time",
                                        "tokens_per_s",
                                        "tokens_per_s_per_proc",
                                        "model_flops_utilization",
                                        "proc_mem_tier1_cap_req",
                                        "proc_mem_tier2_cap_req",
                                        "mem_tier1_capacity",
                                        "mem_tier2_capacity",
                                        "bubble_time",
                                        "tp_comm_exposed_time",
                                        "pp_comm_exposed_time",
                                        "dp_comm_exposed_time",
                                        "cp_comm_exposed_time",
                                        "ep_comm_exposed_time",
                                        "usd_per_trillion_tokens"};
enum { STAT_KEYS = sizeof stat_keys / sizeof *stat_keys, MOST_STATS = STAT_KEYS + 5 };

/* Rows of the statistics, each once. */
typedef struct columns {
    size_t count;
    const calc_field *field[MOST_STATS];
} columns;

static void add_column(columns *c, const calc_field *field)
{
    for (size_t i = 0; i < c->count; i++) {
        if (c->field[i] == field) {
            return;
        }
    }
    c->field[c->count++] = field;
}

static columns columns_of(const calc_sweep_study *study)
{
    columns c = {0};
    for (size_t i = 0; i < STAT_KEYS; i++) {
        add_column(&c, calc_table_find(calc_table_of(CALC_KIND_STATS), stat_keys[i]));
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

static void write_number(calc_output *out, double value, const char *format)
{
    if (isfinite(value)) {
        calc_output_printf(out, format, value);
    } else {
        calc_output_text(out, "null");
    }
}

/* ---- Rows: layouts with everything ----------------------------------------------------------- */

static void write_stats(calc_output *out, const columns *c, const calc_stats *stats)
{
    calc_output_text(out, "{");
    for (size_t i = 0; i < c->count; i++) {
        calc_output_printf(out, "%s\"%s\": ", i > 0 ? ", " : "", c->field[i]->key);
        write_number(out, stat_of(c->field[i], stats), "%.17g");
    }
    calc_output_text(out, "}");
}

/* The end of an object that has been begun. */
static void write_found(calc_output *out, const calc_sweep_study *study, const columns *c,
                        const calc_found *found)
{
    calc_sweep_found f;
    calc_app app;
    calc_system system;
    calc_sweep_found_run(study, found, &f);
    study->designs.get(study->designs.context, found->design, &app, &system);
    bool extended = calc_extended(&app, &system, f.exec);
    calc_output_text(out, "\"design\": ");
    calc_sweep_write_design(out, study, f.design);
    calc_output_text(out, ", \"execution\": ");
    calc_json_save(out, CALC_KIND_EXEC, f.exec, 0);
    calc_output_text(out, ",\n\"stats\": ");
    write_stats(out, c, &f.stats);
    calc_output_text(out, ",\n\"time\": ");
    calc_breakdown_json_time(out, &f.stats);
    for (int tier = 1; tier <= 2; tier++) {
        calc_output_printf(out, ", \"memory%d\": ", tier);
        calc_breakdown_json_memory(out, f.exec, &f.stats, tier, extended);
    }
    calc_output_text(out, "}");
}

static const char *write_list(calc_output *out, const calc_sweep_study *study, const columns *c,
                              const char *name, size_t group, const calc_front *list, size_t most,
                              const char *glue)
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

static void write_rows(calc_output *out, const calc_sweep_study *study, const columns *c,
                       const calc_sweep_result *result)
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

static double exec_of(const calc_field *field, const calc_sweep_cloud_point *p)
{
    return calc_member_number(field, (const char *)&p->exec + field->offset);
}

/* Whether a field of the execution is not the same for all. */
static bool varies(const calc_field *field, const calc_sweep_cloud *cloud)
{
    for (size_t i = 1; i < cloud->count; i++) {
        if (exec_of(field, &cloud->point[i]) != exec_of(field, &cloud->point[0])) {
            return true;
        }
    }
    return false;
}

static void write_choices(calc_output *out, const calc_field *field)
{
    calc_output_text(out, ", \"choices\": [");
    for (size_t i = 0; field->choices && field->choices[i]; i++) {
        calc_output_printf(out, "%s\"%s\"", i > 0 ? ", " : "", field->choices[i]);
    }
    calc_output_printf(out, "], \"type\": %d", (int)field->type);
}

static void write_axes(calc_output *out, const calc_sweep_cloud *cloud)
{
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    const char *glue = "";
    calc_output_text(out, ",\n\"axes\": [");
    for (size_t f = 0; f < table->count; f++) {
        const calc_field *field = &table->rows[f];
        bool value = field->type != CALC_TYPE_NOTE && field->type != CALC_TYPE_OBJECT;
        if (!value || !varies(field, cloud)) {
            continue;
        }
        calc_output_printf(out, "%s{\"key\": \"%s\"", glue, field->key);
        write_choices(out, field);
        calc_output_text(out, ", \"values\": [");
        for (size_t i = 0; i < cloud->count; i++) {
            calc_output_printf(out, i ? ",%.9g" : "%.9g", exec_of(field, &cloud->point[i]));
        }
        calc_output_text(out, "]}");
        glue = ",\n";
    }
    calc_output_text(out, "]");
}

/* Whether a statistic says something: it is not the same for all, or not known. */
static bool tells(const calc_field *field, const calc_sweep_cloud *cloud)
{
    for (size_t i = 1; i < cloud->count; i++) {
        double a = stat_of(field, &cloud->point[i - 1].stats);
        double b = stat_of(field, &cloud->point[i].stats);
        if (isfinite(b) && a != b) {
            return true;
        }
    }
    return cloud->count <= 1;
}

static void write_metrics(calc_output *out, const columns *c, const calc_sweep_cloud *cloud)
{
    const char *glue = "";
    calc_output_text(out, ",\n\"metrics\": [");
    for (size_t f = 0; f < c->count; f++) {
        if (!tells(c->field[f], cloud)) {
            continue;
        }
        calc_output_printf(out, "%s{\"key\": \"%s\", \"unit\": \"%s\", \"values\": [", glue,
                           c->field[f]->key, c->field[f]->unit ? c->field[f]->unit : "");
        glue = ",\n";
        for (size_t i = 0; i < cloud->count; i++) {
            calc_output_text(out, i ? "," : "");
            write_number(out, stat_of(c->field[f], &cloud->point[i].stats), "%.7g");
        }
        calc_output_text(out, "]}");
    }
    calc_output_text(out, "]");
}

static void write_cloud(calc_output *out, const columns *c, const calc_sweep_cloud *cloud)
{
    calc_output_printf(
        out, ",\n\"cloud\": {\"shown\": %zu, \"seen\": %" PRIu64 ", \"all\": %s, \"design\": [",
        cloud->count, cloud->seen, cloud->all ? "true" : "false");
    for (size_t i = 0; i < cloud->count; i++) {
        calc_output_printf(out, i ? ",%" PRIu64 : "%" PRIu64, cloud->point[i].design);
    }
    calc_output_text(out, "]");
    write_axes(out, cloud);
    write_metrics(out, c, cloud);
    calc_output_text(out, "}");
}

/* ---- Parts of the space ---------------------------------------------------------------------- */

static void write_cells(calc_output *out, const calc_sweep_study *study, const columns *c,
                        const char *key, const calc_sweep_cells *cells)
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
    const columns c = columns_of(study);
    calc_status status = calc_sweep_cloud_make(&cloud, study, errors);
    if (status == CALC_OK) {
        status = calc_sweep_cells_splits(&splits, study, result, &cloud, errors);
    }
    if (status == CALC_OK) {
        status = calc_sweep_cells_procs(&procs, study, result, errors);
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
        calc_output_text(out, "}\n");
        calc_page_end(out, CALC_PAGE_SWEEP);
    }
    calc_sweep_cells_free(&splits);
    calc_sweep_cells_free(&procs);
    calc_sweep_cloud_free(&cloud);
    return status;
}
