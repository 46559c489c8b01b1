#include "cli/validate/validate_write.h"

#include <math.h>
#include <stdio.h>

#include "cli/validate/put_spread.h"
#include "cli/validate/validate_forecast.h"
#include "cli/validate/validate_table.h"
#include "io/csv.h"
#include "io/json_put.h"
#include "report/page.h"
#include "spec/field.h"
#include "spec/format.h"
#include "validate/result_labels.h"

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_layout(calc_put *put, const calc_result *r)
{
    const calc_exec *e = r->serving ? &r->serving->map.exec : &r->prediction->map.exec;
    const char *reason = r->serving ? r->serving->map.reason : r->prediction->map.reason;
    const struct {
        const char *key;
        int64_t value;
    } sizes[] = {{"gpus", e->num_procs},
                 {"tp", e->strategy.tensor_par},
                 {"pp", e->pipeline_par},
                 {"dp", e->strategy.data_par},
                 {"cp", e->strategy.context_par},
                 {"ep", e->strategy.expert_par},
                 {"micro_batch", e->microbatch_size},
                 {"chunks", e->pipeline_interleaving}};
    for (size_t i = 0; !reason && i < sizeof sizes / sizeof *sizes; i++) {
        calc_put_count(put, sizes[i].key, sizes[i].value);
    }
}

/* Additional columns of serving runs. */
static void put_serving(calc_put *put, const calc_result *r)
{
    const calc_serving_map *map = &r->serving->map;
    calc_put_text(put, "engine", calc_result_engine(r));
    calc_put_text(put, "regime", calc_result_regime(r));
    calc_put_text(put, "period", calc_result_period(r));
    calc_put_number(put, "requests", map->requests);
    calc_put_count(put, "prompt_size", map->exec.inference.prompt_size);
    calc_put_count(put, "generate_size", map->exec.inference.generate_size);
    calc_put_count(put, "prefill_gpus", map->exec.inference.prefill_procs);
}

/* Errors of predictions with constants fitted without the run, and of those fitted to what was
 * published before it; null for runs that nothing was fitted to, or that are older. */
static void put_unseen(calc_put *put, const calc_result *r, const calc_validation *v)
{
    static const char *const keys[] = {
#define CALC_X(name, value, fold) [CALC_UNSEEN_##name] = #value,
        CALC_UNSEEN_LIST(CALC_X)
#undef CALC_X
    };
    const calc_residual *own = calc_residuals_find(v->residuals, calc_result_id(r), r->quantity);
    for (int i = 0; i < CALC_UNSEEN_CROSSED; i++) {
        calc_put_rounded(put, keys[i], own ? exp(-own->value[i]) - 1 : (double)NAN, 4);
    }
    const calc_forecast *forecast = r->quantity == CALC_QUANTITY_STEP_TIME
                                        ? calc_forecasts_find(v->forecasts, calc_result_id(r))
                                        : NULL;
    calc_put_rounded(put, "forecast", forecast ? exp(-forecast->value) - 1 : (double)NAN, 4);
    if (forecast) {
        calc_put_text(put, "forecast_before", forecast->before);
    }
}

/* Number format of matrices. */
static const char *format_of(const calc_prediction *p)
{
    const calc_strategy *s = &p->map.exec.strategy;
    return calc_datatype_names[calc_format_datatype(s->matrix_datatype, s->datatype)];
}

static void put_row(calc_put *put, const calc_result *r, const calc_validation *v)
{
    const calc_assumptions *assumed =
        r->serving ? &r->serving->map.assumed : &r->prediction->map.assumed;
    calc_put_object(put, NULL, CALC_PUT_LINE);
    calc_put_text(put, "id", calc_result_id(r));
    calc_put_text(put, "status", calc_use_word(r->use));
    calc_put_text(put, "quantity", calc_quantity_word(r->quantity));
    calc_put_number(put, "measured", r->measured);
    calc_put_number(put, "predicted", r->predicted);
    calc_put_number(put, "error", r->error);
    put_unseen(put, r, v);
    calc_put_text(put, "source", calc_result_source(r));
    calc_put_text(put, "machine", calc_result_machine(r));
    calc_put_text(put, "model", calc_result_model(r));
    calc_put_text(put, "kind", calc_result_kind(r));
    calc_put_text(put, "dtype",
                  r->serving ? r->serving->map.row->weight_dtype : format_of(r->prediction));
    calc_put_text(put, "confidence", calc_result_confidence(r));
    put_layout(put, r);
    if (r->serving && !r->serving->map.reason) {
        put_serving(put, r);
    }
    calc_put_text(put, "remark", r->remark);
    calc_put_array(put, "assumptions", CALC_PUT_LINE);
    for (int i = 0; i < assumed->count; i++) {
        calc_put_text(put, NULL, assumed->text[i]);
    }
    calc_put_close(put);
    calc_put_close(put);
}

static void put_group(calc_put *put, const calc_error_group *g)
{
    calc_put_object(put, NULL, CALC_PUT_LINE);
    calc_put_text(put, "by", g->by);
    calc_put_text(put, "name", g->name);
    calc_put_text(put, "quantity", calc_quantity_word(g->quantity));
    calc_put_spread(put, &g->spread);
    calc_put_number(put, "kendall_tau", g->ranking.tau);
    calc_put_count(put, "pairs", (int64_t)g->ranking.pairs);
    calc_put_count(put, "choices", (int64_t)g->ranking.choices);
    calc_put_number(put, "regret_mean", g->ranking.regret_mean);
    calc_put_number(put, "regret_worst", g->ranking.regret_worst);
    if (g->shared > 0) {
        calc_put_count(put, "shared", (int64_t)g->shared);
        calc_put_number(put, "mean_abs_shared", g->mean_abs_now);
        calc_put_number(put, "mean_abs_baseline", g->mean_abs_then);
    }
    calc_put_close(put);
}

static const char *id_of(const calc_features *f, size_t cell)
{
    return f->cell[cell].first->prediction->map.row->id;
}

static void put_wrong(calc_put *put, const calc_features *f, const calc_features_pair *p)
{
    calc_put_object(put, "wrong", CALC_PUT_LINE);
    calc_put_text(put, "from", id_of(f, p->from));
    calc_put_text(put, "to", id_of(f, p->to));
    calc_put_number(put, "measured", p->measured);
    calc_put_number(put, "predicted", p->predicted);
    calc_put_close(put);
}

static void put_features(calc_put *put, const calc_features *f)
{
    for (size_t i = 0; i < f->options; i++) {
        const calc_features_option *o = &f->option[i];
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "quantity", calc_quantity_word(f->quantity));
        calc_put_text(put, "option", o->name);
        calc_put_count(put, "moved", (int64_t)o->moved);
        calc_put_count(put, "agreed", (int64_t)o->agreed);
        calc_put_count(put, "missed", (int64_t)o->missed);
        calc_put_count(put, "still", (int64_t)o->still);
        calc_put_count(put, "stayed", (int64_t)o->stayed);
        calc_put_number(put, "kendall_tau", o->tau);
        calc_put_number(put, "ratio_median", o->ratio);
        calc_put_number(put, "regret_mean", o->regret);
        if (o->has_wrong) {
            put_wrong(put, f, &f->pair[o->wrong]);
        }
        calc_put_close(put);
    }
}

static void put_peers(calc_put *put, const calc_peers *peers)
{
    calc_put_array(put, "peers", CALC_PUT_LINES);
    for (size_t i = 0; i < peers->count; i++) {
        const calc_peer *p = &peers->item[i];
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "simulator", p->simulator);
        calc_put_text(put, "machine", p->machine);
        calc_put_text(put, "quantity", calc_quantity_word(p->quantity));
        calc_put_count(put, "n", (int64_t)p->rows);
        calc_put_number(put, "mean_abs", p->mean_abs);
        calc_put_number(put, "worst_abs", p->worst_abs);
        calc_put_count(put, "calc_n", (int64_t)p->ours.count);
        calc_put_number(put, "calc_mean_abs", p->ours.mean_abs);
        calc_put_number(put, "calc_worst_abs", p->ours.worst_abs);
        calc_put_text(put, "note", p->note);
        calc_put_close(put);
    }
    calc_put_close(put);
}

static void put_counts(calc_put *put, const calc_results *results)
{
    calc_put_object(put, "counts", CALC_PUT_LINE);
    calc_put_count(put, "runs", (int64_t)(results->predictions + results->servings));
    for (int use = 0; use < CALC_USE_COUNT; use++) {
        calc_put_count(put, calc_use_word((calc_use)use),
                       (int64_t)calc_results_count(results, (calc_use)use));
    }
    calc_put_close(put);
}

/* The tables of the rows, and the measured operators. */
static void put_read(calc_put *put, const calc_measured *measured)
{
    calc_put_array(put, "read", CALC_PUT_LINE);
    for (size_t i = 0; i <= measured->files; i++) {
        const calc_measured_file *file =
            i < measured->files ? &measured->file[i] : &measured->operators;
        if (*file->name) {
            calc_put_object(put, NULL, CALC_PUT_LINE);
            calc_put_text(put, "name", file->name);
            calc_put_text(put, "sha256", file->sha256);
            calc_put_close(put);
        }
    }
    calc_put_close(put);
}

void calc_validate_write_json(calc_output *out, const calc_validation *v)
{
    calc_put put = calc_put_to(out);
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    calc_put_text(&put, "version", CALC_VERSION);
    put_read(&put, v->measured);
    put_counts(&put, v->results);
    calc_put_array(&put, "rows", CALC_PUT_LINES);
    for (size_t i = 0; i < v->results->count; i++) {
        put_row(&put, &v->results->item[i], v);
    }
    calc_put_close(&put);
    calc_put_array(&put, "groups", CALC_PUT_LINES);
    for (size_t i = 0; i < v->groups->count; i++) {
        put_group(&put, &v->groups->item[i]);
    }
    calc_put_close(&put);
    calc_validate_worst_put(&put, v->results, v->systems);
    calc_put_array(&put, "features", CALC_PUT_LINES);
    put_features(&put, v->features);
    put_features(&put, v->time_features);
    calc_put_close(&put);
    put_peers(&put, v->peers);
    if (v->bands) {
        calc_validate_bands_put(&put, v->results, v->bands);
    }
    if (v->over_dates) {
        calc_validate_forecast_put(&put, v->results, v->forecasts);
    }
    calc_put_end(&put);
}

/* ---- The page -------------------------------------------------------------------------------- */

void calc_validate_write_page(calc_output *out, const calc_validation *validation)
{
    calc_put put = calc_page_begin(out, CALC_PAGE_VALIDATE);
    calc_put_key(&put, "validate");
    calc_validate_write_json(out, validation);
    calc_page_end(&put, CALC_PAGE_VALIDATE);
}

void calc_validate_write_page_of(calc_output *out, const calc_text *json)
{
    calc_put put = calc_page_begin(out, CALC_PAGE_VALIDATE);
    calc_put_key(&put, "validate");
    calc_output_write(out, json->data, json->length);
    calc_page_end(&put, CALC_PAGE_VALIDATE);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void write_csv_number(calc_output *out, double value)
{
    char buffer[32];
    calc_output_printf(out, ",%s", isfinite(value) ? calc_number_text(value, 1, buffer) : "");
}

static void write_csv_row(calc_output *out, const calc_result *r)
{
    calc_csv_text(out, calc_result_id(r), true);
    const char *const texts[] = {
        calc_quantity_word(r->quantity), calc_use_word(r->use), calc_result_source(r),
        calc_result_machine(r),          calc_result_model(r),  calc_result_kind(r),
        calc_result_confidence(r)};
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
