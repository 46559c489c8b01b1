#include "cli/sweep/sweep_page_cloud.h"

#include <math.h>
#include <stdio.h>

#include "io/json_save.h"
#include "spec/field.h"

/* ---- Statistics that the page shows ---------------------------------------------------------- */

/* Statistics shown besides those that the study names: for every study, and for one that serves. */
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
static const char *const served_keys[] = {"output_tokens_per_s_per_proc",
                                          "tokens_per_s_per_user",
                                          "output_tokens_per_s",
                                          "requests_per_s",
                                          "ttft",
                                          "ttft_p99",
                                          "tpot",
                                          "request_time",
                                          "decode_sequences",
                                          "max_batch",
                                          "usd_per_million_output_tokens"};
enum {
    STAT_KEYS = sizeof stat_keys / sizeof *stat_keys,
    SERVED_KEYS = sizeof served_keys / sizeof *served_keys
};

static void add_column(calc_sweep_page_columns *c, const calc_field *field)
{
    for (size_t i = 0; i < c->count; i++) {
        if (c->field[i] == field) {
            return;
        }
    }
    c->field[c->count++] = field;
}

calc_sweep_page_columns calc_sweep_page_columns_of(const calc_sweep_study *study,
                                                   const calc_found *best,
                                                   const calc_residuals *measured)
{
    calc_sweep_page_columns c = {.order = calc_sweep_order_of(study, best), .measured = measured};
    for (size_t i = 0; i < STAT_KEYS; i++) {
        add_column(&c, calc_table_find(calc_table_of(CALC_KIND_STATS), stat_keys[i]));
    }
    for (size_t i = 0; i < SERVED_KEYS && study->space.inference.phase != CALC_INFERENCE_PHASE_NONE;
         i++) {
        add_column(&c, calc_table_find(calc_table_of(CALC_KIND_STATS), served_keys[i]));
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

void calc_sweep_page_put_stats(calc_put *put, const char *key, const calc_sweep_page_columns *c,
                               const calc_stats *stats)
{
    calc_put_object(put, key, CALC_PUT_LINE);
    for (size_t i = 0; i < c->count; i++) {
        calc_put_number(put, c->field[i]->key, stat_of(c->field[i], stats));
    }
    calc_put_close(put);
}

void calc_sweep_page_put_names(calc_put *put)
{
    calc_put_array(put, "statistics", CALC_PUT_LINE);
    for (size_t i = 0; i < STAT_KEYS; i++) {
        calc_put_text(put, NULL, stat_keys[i]);
    }
    for (size_t i = 0; i < SERVED_KEYS; i++) {
        calc_put_text(put, NULL, served_keys[i]);
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

/* Whether the points differ in it. */
static bool varies(const axis *a, const calc_sweep_cloud *cloud)
{
    for (size_t i = 1; i < cloud->count; i++) {
        if (exec_of(a, &cloud->point[i]) != exec_of(a, &cloud->point[0])) {
            return true;
        }
    }
    return false;
}

/* An axis, with its values if there is a cloud. */
static void put_axis(calc_put *put, const axis *a, const calc_sweep_cloud *cloud)
{
    calc_put_object(put, NULL, CALC_PUT_LINE);
    calc_put_text(put, "key", a->key);
    calc_put_array(put, "choices", CALC_PUT_LINE);
    for (size_t i = 0; a->field->choices && a->field->choices[i]; i++) {
        calc_put_text(put, NULL, a->field->choices[i]);
    }
    calc_put_close(put);
    calc_put_count(put, "type", a->field->type);
    calc_put_array(put, "values", CALC_PUT_LINE);
    for (size_t i = 0; cloud && i < cloud->count; i++) {
        calc_put_rounded(put, NULL, exec_of(a, &cloud->point[i]), 9);
    }
    calc_put_close(put);
    calc_put_close(put);
}

/* Fields of a table in which the points differ; without a cloud, all. */
static void put_table(calc_put *put, const calc_table *table, const char *before, size_t offset,
                      const calc_sweep_cloud *cloud)
{
    for (size_t f = 0; f < table->count; f++) {
        const calc_field *field = &table->rows[f];
        axis a = {.field = field, .offset = offset + field->offset};
        snprintf(a.key, sizeof a.key, "%s%s", before, field->key);
        bool value = field->type <= CALC_TYPE_SET; /* not a curve, an object or a list */
        if (value && (!cloud || varies(&a, cloud))) {
            put_axis(put, &a, cloud);
        }
    }
}

void calc_sweep_page_put_axes(calc_put *put, const calc_sweep_cloud *cloud)
{
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    const calc_field *inference = calc_table_find(table, "inference");
    calc_put_array(put, "axes", CALC_PUT_LINES);
    put_table(put, table, "", 0, cloud);
    put_table(put, inference->table, "inference.", inference->offset, cloud);
    calc_put_close(put);
}

/* Whether a statistic is worth showing: the points differ in it. */
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

/* How sure it is that the best is better than a point. */
static void put_sure(calc_put *put, const calc_sweep_order *order, const calc_sweep_cloud *cloud)
{
    calc_put_object(put, NULL, CALC_PUT_LINE);
    calc_put_text(put, "key", "sure");
    calc_put_array(put, "values", CALC_PUT_LINE);
    for (size_t i = 0; i < cloud->count; i++) {
        const calc_sweep_cloud_point *p = &cloud->point[i];
        calc_put_rounded(put, NULL, calc_sweep_order_sure(order, p->design, &p->exec, &p->stats),
                         4);
    }
    calc_put_close(put);
    calc_put_close(put);
}

static void put_metrics(calc_put *put, const calc_sweep_page_columns *c,
                        const calc_sweep_cloud *cloud)
{
    calc_put_array(put, "metrics", CALC_PUT_LINES);
    for (size_t f = 0; f < c->count; f++) {
        if (!tells(c->field[f], cloud)) {
            continue;
        }
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "key", c->field[f]->key);
        calc_put_array(put, "values", CALC_PUT_LINE);
        for (size_t i = 0; i < cloud->count; i++) {
            calc_put_rounded(put, NULL, stat_of(c->field[f], &cloud->point[i].stats), 7);
        }
        calc_put_close(put);
        calc_put_close(put);
    }
    if (c->order.known) {
        put_sure(put, &c->order, cloud);
    }
    calc_put_close(put);
}

void calc_sweep_page_put_cloud(calc_put *put, const calc_sweep_page_columns *c,
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
    if (cloud->count > 0) { /* fields in which all points agree */
        calc_put_struct(put, "base", CALC_KIND_EXEC, &cloud->point[0].exec);
    }
    calc_sweep_page_put_axes(put, cloud);
    put_metrics(put, c, cloud);
    calc_put_close(put);
}
