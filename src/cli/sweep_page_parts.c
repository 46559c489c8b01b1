#include "cli/sweep_page_parts.h"

#include <math.h>
#include <string.h>

#include "cli/breakdown.h"
#include "cli/sweep_write.h"
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

size_t calc_sweep_page_most_rows(size_t groups)
{
    enum { ROWS = 400, GROUP_ROWS = 20 };
    size_t most = ROWS / (groups > 0 ? groups : 1);
    return most > GROUP_ROWS ? most : GROUP_ROWS;
}

static double stat_of(const calc_field *field, const calc_stats *stats)
{
    return calc_member_number(field, (const char *)stats + field->offset);
}

void calc_sweep_page_put_stats(calc_put *put, const char *key, const calc_sweep_page_columns *c,
                               const calc_stats *stats)
{
    calc_put_object(put, key, CALC_PUT_LINE);
    for (size_t i = 0; i < c->count; i++) {
        calc_put_number(put, c->field[i]->key, stat_of(c->field[i], stats));
    }
    calc_put_close(put);
}

void calc_sweep_page_put_layout(calc_put *put, const calc_sweep_page_columns *c,
                                const calc_exec *exec, const calc_stats *stats, bool extended)
{
    calc_put_struct(put, "execution", CALC_KIND_EXEC, exec);
    calc_sweep_page_put_stats(put, "stats", c, stats);
    calc_breakdown_put_time(put, "time", stats);
    calc_breakdown_put_memory(put, "memory1", exec, stats, 1, extended);
    calc_breakdown_put_memory(put, "memory2", exec, stats, 2, extended);
}

void calc_sweep_page_open_cell(calc_put *put, int64_t tensor_par, int64_t pipeline_par,
                               int64_t num_procs, const calc_sweep_counts *counts)
{
    calc_put_object(put, NULL, CALC_PUT_LINE);
    calc_put_count(put, "tensor_par", tensor_par);
    calc_put_count(put, "pipeline_par", pipeline_par);
    calc_put_count(put, "num_procs", num_procs);
    calc_put_count(put, "total", (int64_t)counts->total);
    calc_sweep_put_counts(put, counts);
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

static void put_axis(calc_put *put, const calc_field *field, const calc_sweep_cloud *cloud,
                     size_t shown)
{
    calc_put_object(put, NULL, CALC_PUT_LINE);
    calc_put_text(put, "key", field->key);
    calc_put_array(put, "choices", CALC_PUT_LINE);
    for (size_t i = 0; field->choices && field->choices[i]; i++) {
        calc_put_text(put, NULL, field->choices[i]);
    }
    calc_put_close(put);
    calc_put_count(put, "type", field->type);
    calc_put_array(put, "values", CALC_PUT_LINE);
    for (size_t i = 0; i < shown; i++) {
        calc_put_rounded(put, NULL, exec_of(field, &cloud->point[i]), 9);
    }
    calc_put_close(put);
    calc_put_close(put);
}

static void put_axes(calc_put *put, const calc_sweep_cloud *cloud, size_t shown)
{
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    calc_put_array(put, "axes", CALC_PUT_LINES);
    for (size_t f = 0; f < table->count; f++) {
        const calc_field *field = &table->rows[f];
        bool value = field->type != CALC_TYPE_NOTE && field->type != CALC_TYPE_OBJECT;
        if (value && varies(field, cloud)) {
            put_axis(put, field, cloud, shown);
        }
    }
    calc_put_close(put);
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

void calc_sweep_page_put_points(calc_put *put, const calc_sweep_page_columns *c,
                                const calc_sweep_cloud *cloud, size_t shown)
{
    put_axes(put, cloud, shown);
    calc_put_array(put, "metrics", CALC_PUT_LINES);
    for (size_t f = 0; f < c->count; f++) {
        if (!tells(c->field[f], cloud)) {
            continue;
        }
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "key", c->field[f]->key);
        calc_put_text(put, "unit", c->field[f]->unit ? c->field[f]->unit : "");
        calc_put_array(put, "values", CALC_PUT_LINE);
        for (size_t i = 0; i < shown; i++) {
            calc_put_rounded(put, NULL, stat_of(c->field[f], &cloud->point[i].stats), 7);
        }
        calc_put_close(put);
        calc_put_close(put);
    }
    calc_put_close(put);
}
