#include "cli/sweep/sweep_sample.h"

#include <stdlib.h>

#include "base/error.h"
#include "cli/draw/human.h"
#include "cli/sweep/sweep_opts.h"
#include "estimate.h"
#include "validate/spread.h"

/** Number of points that may be drawn: all are kept in memory. */
#define MOST_POINTS 1000000

/* A whole number of an option; -1 if it is not one. */
static long long whole(const char *text)
{
    char *end;
    long long value = strtoll(text, &end, 10);
    return end != text && *end == '\0' && value >= 0 ? value : -1;
}

const char *calc_sweep_sample_complaint(const calc_args *args)
{
    const char *sample = calc_opt_value(args, CALC_SWEEP_OPT_SAMPLE);
    const char *seed = calc_opt_value(args, CALC_SWEEP_OPT_SEED);
    if (sample && (whole(sample) < 1 || whole(sample) > MOST_POINTS)) {
        return "--sample: expected a number of points from 1 to 1000000";
    }
    return seed && whole(seed) < 0 ? "--seed: expected a whole number, at least 0" : NULL;
}

/* The share of points with a verdict. */
static void write_share(calc_output *out, const char *what, size_t points, size_t drawn)
{
    char number[CALC_HUMAN_MAX];
    char percent[CALC_HUMAN_MAX];
    calc_output_printf(out, "  %14s  %8s  %s\n", calc_human_integer((double)points, number),
                       calc_human_percent((double)points / (double)drawn, percent), what);
}

/* Quantiles of `count` values in ascending order: the value that the given share of them does not
 * exceed. */
static void write_quantiles(calc_output *out, const char *name, const double *value, size_t count)
{
    static const int percents[] = {0, 5, 25, 50, 75, 95, 99, 100};
    calc_output_printf(out, "\n%s of the feasible ones:\n", name);
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
        char number[CALC_HUMAN_MAX];
        size_t at = (count - 1) * (size_t)percents[i] / 100;
        calc_output_printf(out, "  %12d %%  %s\n", percents[i],
                           calc_human_number(value[at], number));
    }
}

static void write_points(calc_output *out, const calc_sweep_study *study,
                         const calc_sample_point *point, size_t drawn, uint64_t total,
                         double *value)
{
    const calc_objective *objective = &study->options.top_by;
    size_t with[CALC_VERDICT_COUNT] = {0};
    char number[CALC_HUMAN_MAX];
    size_t count = 0;
    for (size_t i = 0; i < drawn; i++) {
        with[point[i].verdict]++;
        if (point[i].verdict == CALC_VERDICT_OK) {
            value[count++] =
                calc_objective_value(objective, calc_objective_of(objective, &point[i].stats));
        }
    }
    calc_output_printf(out, "\n  %14s  layouts\n", calc_human_integer((double)total, number));
    calc_output_printf(out, "  %14s  drawn at random\n", calc_human_integer((double)drawn, number));
    write_share(out, "feasible", with[CALC_VERDICT_OK], drawn);
    for (int v = CALC_VERDICT_OK + 1; v < CALC_VERDICT_COUNT; v++) {
        if (with[v] > 0) {
            write_share(out, calc_verdict_text((calc_verdict)v), with[v], drawn);
        }
    }
    if (count > 0) {
        calc_spread_sort(value, count);
        write_quantiles(out, objective->field->key, value, count);
    }
}

calc_status calc_sweep_sample_write(calc_output *out, const calc_sweep_study *study,
                                    const calc_args *args, calc_errors *errors)
{
    const char *seed = calc_opt_value(args, CALC_SWEEP_OPT_SEED);
    size_t drawn = (size_t)whole(calc_opt_value(args, CALC_SWEEP_OPT_SAMPLE));
    calc_sample_point *point = malloc(drawn * sizeof *point);
    double *value = malloc(drawn * sizeof *value);
    uint64_t total;
    calc_status status = CALC_ERR_NOMEM;
    if (!point || !value) {
        calc_errors_no_memory(errors);
        goto done;
    }
    status = calc_sample(&study->space, &study->designs, study->options.compat,
                         seed ? (uint64_t)whole(seed) : 0, drawn, point, &total, errors);
    if (status == CALC_OK) {
        write_points(out, study, point, drawn, total, value);
    }
done:
    free(point);
    free(value);
    return status;
}
