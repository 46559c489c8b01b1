#include "cli/sweep_page_parts.h"

#include <math.h>
#include <string.h>

#include "cli/breakdown.h"
#include "io/json_save.h"
#include "spec/field.h"

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
enum { STAT_KEYS = sizeof stat_keys / sizeof *stat_keys };

void calc_sweep_page_column(calc_sweep_page_columns *c, const calc_field *field)
{
    for (size_t i = 0; i < c->count; i++) {
        if (c->field[i] == field) {
            return;
        }
    }
    c->field[c->count++] = field;
}

calc_sweep_page_columns calc_sweep_page_usual_columns(void)
{
    calc_sweep_page_columns c = {0};
    for (size_t i = 0; i < STAT_KEYS; i++) {
        calc_sweep_page_column(&c, calc_table_find(calc_table_of(CALC_KIND_STATS), stat_keys[i]));
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

void calc_sweep_page_stats(calc_output *out, const calc_sweep_page_columns *c,
                           const calc_stats *stats)
{
    calc_output_text(out, "{");
    for (size_t i = 0; i < c->count; i++) {
        calc_output_printf(out, "%s\"%s\": ", i > 0 ? ", " : "", c->field[i]->key);
        write_number(out, stat_of(c->field[i], stats), "%.17g");
    }
    calc_output_text(out, "}");
}

void calc_sweep_page_layout(calc_output *out, const calc_sweep_page_columns *c,
                            const calc_exec *exec, const calc_stats *stats, bool extended)
{
    calc_output_text(out, "\"execution\": ");
    calc_json_save(out, CALC_KIND_EXEC, exec, 0);
    calc_output_text(out, ",\n\"stats\": ");
    calc_sweep_page_stats(out, c, stats);
    calc_output_text(out, ",\n\"time\": ");
    calc_breakdown_json_time(out, stats);
    for (int tier = 1; tier <= 2; tier++) {
        calc_output_printf(out, ", \"memory%d\": ", tier);
        calc_breakdown_json_memory(out, exec, stats, tier, extended);
    }
    calc_output_text(out, "}");
}

/* ---- Points: columns of numbers ----------------------------------------------------------------
 */

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

static void write_axes(calc_output *out, const calc_sweep_cloud *cloud, size_t shown)
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
        for (size_t i = 0; i < shown; i++) {
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

static void write_metrics(calc_output *out, const calc_sweep_page_columns *c,
                          const calc_sweep_cloud *cloud, size_t shown)
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
        for (size_t i = 0; i < shown; i++) {
            calc_output_text(out, i ? "," : "");
            write_number(out, stat_of(c->field[f], &cloud->point[i].stats), "%.7g");
        }
        calc_output_text(out, "]}");
    }
    calc_output_text(out, "]");
}

void calc_sweep_page_points(calc_output *out, const calc_sweep_page_columns *c,
                            const calc_sweep_cloud *cloud, size_t shown)
{
    write_axes(out, cloud, shown);
    write_metrics(out, c, cloud, shown);
}
