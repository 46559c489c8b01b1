#include "cli/calibrate/calibrate_write.h"

#include <math.h>
#include <string.h>

#include "calibrate/points.h"
#include "cli/shell/complain.h"
#include "cli/validate/validate_table.h"
#include "io/json_put.h"

static const struct {
    calc_quantity quantity;
    const char *title;
} quantities[] = {{CALC_QUANTITY_TPOT, "time per output token"},
                  {CALC_QUANTITY_TTFT, "time to the first token"},
                  {CALC_QUANTITY_E2E, "whole static batches"},
                  {CALC_QUANTITY_OUTPUT_RATE, "output tokens/s of static batches"},
                  {CALC_QUANTITY_TPOT_SHAPE, "shape over requests"}};

static void write_engine(calc_output *out, const calc_engine_fit *fit)
{
    calc_output_printf(out, "%s: %zu measurements%s\n  %-20s%12s%12s%10s\n", fit->engine->name,
                       fit->points, fit->points > 0 ? "" : ", as other engines have it", "trait",
                       "assumed", "fitted", "s.e.");
    for (int k = 0; k < CALC_ENGINE_TRAITS; k++) {
        calc_engine_traits start = fit->start;
        calc_engine_traits fitted = fit->traits;
        calc_output_printf(out, "  %-20s%12.3g%12.3g%8.0f %%%s\n", calc_engine_trait_name(k),
                           *calc_engine_trait(&start, k), *calc_engine_trait(&fitted, k),
                           100 * fit->relative_error[k], fit->determined[k] ? "" : "*");
    }
    calc_output_text(out, "\n");
}

static void write_table(calc_output *out, const void *of)
{
    static const char *const by[] = {"engine", "machine", "source", "all", NULL};
    const calc_calibrate_task *t = of;
    for (size_t i = 0; i < t->found.count; i++) {
        write_engine(out, &t->found.fit[i]);
    }
    calc_output_text(out, "times in s; * the runs say hardly more than what was assumed\n");
    for (size_t q = 0; q < sizeof quantities / sizeof *quantities; q++) {
        calc_calibrate_groups_write(out, t, quantities[q].quantity, quantities[q].title, by);
    }
}

/* An engine with what was fitted to it, in two digits: the runs support no more. */
static calc_serving_engine fitted_engine(const calc_engine_fit *fit)
{
    calc_serving_engine engine = *fit->engine;
    calc_engine_traits fitted = fit->traits;
    for (int k = 0; k < CALC_ENGINE_TRAITS; k++) {
        *calc_engine_trait(&engine.traits, k) = calc_point_round(*calc_engine_trait(&fitted, k), 2);
    }
    return engine;
}

static void put_engine(calc_put *put, const calc_engine_fit *fit)
{
    calc_serving_engine fitted = fitted_engine(fit);
    calc_putf(put, "{\nengine: %s, traits: {\n", fit->engine->name);
    for (int k = 0; k < CALC_ENGINE_TRAITS; k++) {
        calc_put_number(put, calc_engine_trait_name(k), *calc_engine_trait(&fitted.traits, k));
    }
    calc_putf(put, "}, measurements: %zu, determined: [", fit->points);
    for (int k = 0; k < CALC_ENGINE_TRAITS; k++) {
        if (fit->determined[k]) {
            calc_put_text(put, NULL, calc_engine_trait_name(k));
        }
    }
    calc_putf(put, "], relative_errors: {\n");
    for (int k = 0; k < CALC_ENGINE_TRAITS; k++) {
        calc_put_number(put, calc_engine_trait_name(k), fit->relative_error[k]);
    }
    calc_putf(put, "}}");
}

/* A measurement that a view has. */
static void put_run(calc_put *put, const calc_calibrate_task *t, size_t i)
{
    const calc_result *r = &t->results.item[i];
    if (!isnan(t->predicted[CALC_CALIBRATE_ASSUMED][i])) {
        calc_putf(put, "{id: %s, quantity: %s, measured: %g", calc_result_id(r),
                  calc_quantity_words[r->quantity], r->measured);
        for (int v = 0; v < CALC_CALIBRATE_VIEWS; v++) {
            calc_put_number(put, t->word[v], t->predicted[v][i]);
        }
        calc_put_close(put);
    }
}

static void put_report(calc_put *put, const void *of)
{
    const calc_calibrate_task *t = of;
    calc_putf(put, "engines: [\n");
    for (size_t i = 0; i < t->found.count; i++) {
        put_engine(put, &t->found.fit[i]);
    }
    calc_putf(put, "], groups: [\n");
    for (size_t i = 0; i < t->groups[CALC_CALIBRATE_ASSUMED].count; i++) {
        calc_calibrate_views_put(put, t, &t->groups[CALC_CALIBRATE_ASSUMED].item[i]);
    }
    calc_putf(put, "], runs: [\n");
    for (size_t i = 0; i < t->results.count; i++) {
        put_run(put, t, i);
    }
    calc_put_close(put);
}

/* Writes documents of the engines as they are fitted. */
static calc_status write_files(const calc_calibrate_task *t, calc_errors *errors)
{
    calc_status status = CALC_OK;
    for (size_t i = 0; i < t->found.count && status == CALC_OK; i++) {
        const calc_engine_fit *fit = &t->found.fit[i];
        char path[CALC_FIND_PATH_MAX];
        calc_calibrate_path(t, t->found.count == 1, fit->engine->name, path);
        calc_output *out = calc_write_to(path);
        calc_put put = calc_put_to(out);
        calc_serving_engine engine = fitted_engine(fit);
        calc_put_engine(&put, &engine);
        calc_output_text(out, "\n");
        status = calc_output_close(out, errors);
    }
    return status;
}

calc_status calc_calibrate_engines(calc_calibrate_task *t, calc_errors *errors)
{
    const char *const names[] = {"shipped", "fitted", "unseen"};
    memcpy(t->word, names, sizeof names);
    t->views = CALC_CALIBRATE_VIEWS;
    calc_status status = calc_results_make(&t->results, &t->measured.all, errors);
    status = status == CALC_OK ? calc_calibrate_held_out(t, errors) : status;
    if (status != CALC_OK) {
        return status;
    }
    double **predicted = t->predicted;
    calc_calibrate_views_start(t);
    status =
        calc_engine_calibrate(&t->found, &t->engines, &t->results, predicted[CALC_CALIBRATE_FITTED],
                              predicted[CALC_CALIBRATE_UNSEEN], errors);
    /* Keeps today's predictions only for runs that another view has, too. */
    for (size_t i = 0; i < t->results.count; i++) {
        const calc_result *r = &t->results.item[i];
        for (int v = CALC_CALIBRATE_FITTED;
             r->quantity == CALC_QUANTITY_TPOT_SHAPE && v <= CALC_CALIBRATE_UNSEEN; v++) {
            predicted[v][i] = predicted[v][r->grown] / predicted[v][r->grown_from];
        }
        bool other = !isnan(predicted[CALC_CALIBRATE_FITTED][i]) ||
                     !isnan(predicted[CALC_CALIBRATE_UNSEEN][i]);
        predicted[CALC_CALIBRATE_ASSUMED][i] = other ? r->predicted : (double)NAN;
    }
    calc_calibrate_views_make(t, NULL);
    status = status == CALC_OK && t->into ? write_files(t, errors) : status;
    return status == CALC_OK ? calc_calibrate_report(t, put_report, write_table, t, errors)
                             : status;
}
