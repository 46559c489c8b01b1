#include "cli/validate_write.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cli/validate_features.h"
#include "cli/validate_peers.h"
#include "cli/validate_worst.h"
#include "io/csv.h"
#include "io/json_save.h"
#include "spec/field.h"

/* A number as JSON: null if it is none. */
static const char *number(double value, char buffer[32])
{
    return isfinite(value) ? calc_number_text(value, 1, buffer) : "null";
}

static void write_text(calc_output *out, const char *key, const char *text)
{
    calc_output_printf(out, ", \"%s\": ", key);
    calc_json_string(out, text);
}

static void write_number(calc_output *out, const char *key, double value)
{
    char buffer[32];
    calc_output_printf(out, ", \"%s\": %s", key, number(value, buffer));
}

static const char *machine_of(const calc_run_map *map)
{
    return map->machine ? map->machine->system : "";
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void write_layout(calc_output *out, const calc_run_map *map)
{
    const calc_exec *e = &map->exec;
    const struct {
        const char *key;
        int64_t value;
    } sizes[] = {{"gpus", e->num_procs},
                 {"tp", e->tensor_par},
                 {"pp", e->pipeline_par},
                 {"dp", e->data_par},
                 {"cp", e->context_par},
                 {"ep", e->expert_par},
                 {"micro_batch", e->microbatch_size},
                 {"chunks", e->pipeline_interleaving}};
    for (size_t i = 0; !map->reason && i < sizeof sizes / sizeof *sizes; i++) {
        calc_output_printf(out, ", \"%s\": %" PRId64, sizes[i].key, sizes[i].value);
    }
}

static void write_assumptions(calc_output *out, const calc_run_map *map)
{
    calc_output_text(out, ", \"assumptions\": [");
    for (int i = 0; i < map->assumptions; i++) {
        calc_output_text(out, i ? ", " : "");
        calc_json_string(out, map->assumption[i]);
    }
    calc_output_text(out, "]");
}

static void write_row(calc_output *out, const calc_result *r)
{
    const calc_run_map *map = &r->prediction->map;
    calc_output_text(out, "    {\"id\": ");
    calc_json_string(out, map->row->id);
    write_text(out, "status", calc_use_word(r->use));
    write_text(out, "quantity", calc_quantity_word(r->quantity));
    write_number(out, "measured", r->measured);
    write_number(out, "predicted", r->predicted);
    write_number(out, "error", r->error);
    write_text(out, "source", map->source->name);
    write_text(out, "machine", machine_of(map));
    write_text(out, "model", map->row->model);
    write_text(out, "kind", calc_error_groups_kind(r));
    write_text(out, "dtype", map->row->dtype);
    write_text(out, "confidence", map->row->confidence);
    write_layout(out, map);
    write_text(out, "remark", r->remark);
    write_assumptions(out, map);
    calc_output_text(out, "}");
}

static void write_group(calc_output *out, const calc_error_group *g)
{
    calc_output_printf(out, "    {\"by\": \"%s\"", g->by);
    write_text(out, "name", g->name);
    write_text(out, "quantity", calc_quantity_word(g->quantity));
    write_number(out, "n", (double)g->spread.count);
    write_number(out, "bias", g->spread.bias);
    write_number(out, "mean_abs", g->spread.mean_abs);
    write_number(out, "median_abs", g->spread.median_abs);
    write_number(out, "p90_abs", g->spread.p90_abs);
    write_number(out, "worst_abs", g->spread.worst_abs);
    write_number(out, "kendall_tau", g->ranking.tau);
    write_number(out, "pairs", (double)g->ranking.pairs);
    write_number(out, "choices", (double)g->ranking.choices);
    write_number(out, "regret_mean", g->ranking.regret_mean);
    write_number(out, "regret_worst", g->ranking.regret_worst);
    if (g->shared > 0) {
        write_number(out, "shared", (double)g->shared);
        write_number(out, "mean_abs_shared", g->mean_abs_now);
        write_number(out, "mean_abs_baseline", g->mean_abs_then);
    }
    calc_output_text(out, "}");
}

void calc_validate_write_json(calc_output *out, const calc_validation *v)
{
    const calc_results *results = v->results;
    const calc_error_groups *groups = v->groups;
    calc_output_printf(out, "{\n  \"version\": \"%s\",\n  \"counts\": {\"runs\": %zu", CALC_VERSION,
                       results->predictions);
    for (int use = 0; use < CALC_USE_COUNT; use++) {
        calc_output_printf(out, ", \"%s\": %zu", calc_use_word((calc_use)use),
                           calc_results_count(results, (calc_use)use));
    }
    calc_output_text(out, "},\n  \"rows\": [");
    for (size_t i = 0; i < results->count; i++) {
        calc_output_text(out, i ? ",\n" : "\n");
        write_row(out, &results->item[i]);
    }
    calc_output_text(out, "\n  ],\n  \"groups\": [");
    for (size_t i = 0; i < groups->count; i++) {
        calc_output_text(out, i ? ",\n" : "\n");
        write_group(out, &groups->item[i]);
    }
    calc_output_text(out, "\n  ],\n  \"worst\": ");
    calc_validate_worst_write(out, v->results, v->systems);
    calc_validate_features_json(out, v->features);
    calc_validate_peers_json(out, v->peers);
    if (v->bands) {
        calc_validate_bands_json(out, v->results, v->bands);
    }
    calc_output_text(out, "\n}\n");
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void write_csv_number(calc_output *out, double value)
{
    char buffer[32];
    calc_output_printf(out, ",%s", isfinite(value) ? number(value, buffer) : "");
}

static void write_csv_row(calc_output *out, const calc_result *r)
{
    const calc_run_map *map = &r->prediction->map;
    calc_csv_text(out, map->row->id, true);
    const char *const texts[] = {calc_quantity_word(r->quantity),
                                 calc_use_word(r->use),
                                 map->source->name,
                                 machine_of(map),
                                 map->row->model,
                                 calc_error_groups_kind(r),
                                 map->row->confidence};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        calc_csv_text(out, texts[i], false);
    }
    write_csv_number(out, r->measured);
    write_csv_number(out, r->predicted);
    write_csv_number(out, r->error);
    calc_csv_text(out, r->remark, false);
    calc_output_text(out, "\n");
}

void calc_validate_write_csv(calc_output *out, const calc_results *results)
{
    calc_output_text(out, "id,quantity,status,source,machine,model,kind,confidence,measured,"
                          "predicted,error,remark\n");
    for (size_t i = 0; i < results->count; i++) {
        write_csv_row(out, &results->item[i]);
    }
}
