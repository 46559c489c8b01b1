#include "cli/sweep/sweep_tokens.h"

#include <inttypes.h>
#include <math.h>

#include "cli/draw/human.h"
#include "cli/sweep/sweep_opts.h"
#include "plan/sweep_found.h"
#include "session/study_load.h"

#define TRILLION 1e12

/* A positive amount; 0 if there is none, negative if the value is wrong. */
static double amount_of(const calc_args *args, calc_sweep_opt opt, const char *unit)
{
    return calc_study_amount(calc_opt_value(args, (int)opt), unit);
}

const char *calc_sweep_tokens_complaint(const calc_args *args)
{
    double tokens = amount_of(args, CALC_SWEEP_OPT_TOKENS, "tokens");
    double days = amount_of(args, CALC_SWEEP_OPT_DAYS, "days");
    return tokens < 0                ? "--tokens: expected a number of tokens: 15T, 300B"
           : days < 0                ? "--days: expected a time: 60, 36h"
           : days > 0 && tokens == 0 ? "--days goes with --tokens, which it limits the time of"
                                     : NULL;
}

static void write_row(calc_output *out, const calc_sweep_study *study, const calc_found *best,
                      double trillions)
{
    calc_sweep_found found;
    char design[160], days[CALC_HUMAN_MAX], hours[CALC_HUMAN_MAX], usd[CALC_HUMAN_MAX];
    calc_sweep_found_run(study, best, &found);
    const calc_stats *s = &found.stats;
    calc_designs_describe(&study->builder, found.design, design, sizeof design);
    double price = s->usd_per_trillion_tokens * trillions;
    calc_output_printf(out, "%10s  %14s  %14s  %8" PRId64 "  %s\n",
                       calc_human_number(s->days_per_trillion_tokens * trillions, days),
                       calc_human_number(s->proc_hours_per_trillion_tokens * trillions, hours),
                       isnan(price) ? "no price" : calc_human_number(price, usd),
                       found.exec.num_procs, design);
}

void calc_sweep_tokens_write(calc_output *out, const calc_sweep_study *study,
                             const calc_sweep_result *result, const calc_args *args)
{
    double tokens = amount_of(args, CALC_SWEEP_OPT_TOKENS, "tokens");
    if (!(tokens > 0) || !calc_sweep_found_best_of_all(result)) {
        return;
    }
    calc_output_printf(
        out, "\nTraining on %s tokens with the best%s:\n%10s  %14s  %14s  %8s  design\n",
        calc_opt_value(args, CALC_SWEEP_OPT_TOKENS),
        result->groups_count > 1 ? " of each group" : "", "days", "proc.-hours", "USD", "procs");
    for (size_t g = 0; g < result->groups_count; g++) {
        const calc_found *best = calc_sweep_found_best(&result->group[g]);
        if (best) {
            write_row(out, study, best, tokens / TRILLION);
        }
    }
}
