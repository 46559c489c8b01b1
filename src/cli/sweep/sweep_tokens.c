#include "cli/sweep/sweep_tokens.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/draw/human.h"
#include "cli/sweep/sweep_opts.h"
#include "plan/sweep_found.h"
#include "spec/amount.h"

#define TRILLION 1e12

/* A positive amount; 0 if there is none, negative if the value is wrong. */
static double amount_of(const calc_args *args, calc_sweep_opt opt, const char *unit)
{
    const char *text = calc_opt_value(args, (int)opt);
    double number = 0;
    if (!text) {
        return 0;
    }
    bool fine = calc_amount_read(text, unit, &number) <= CALC_AMOUNT_UNIT && number > 0;
    return fine ? number : -1;
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

/* ---- Sequences ------------------------------------------------------------------------------- */

/* Tokens per sequence if they are the same in all layouts; else 0. */
static int64_t sequence_tokens(const calc_sweep_study *study)
{
    const calc_values *own = &study->space.axis[CALC_AXIS_seq_size];
    const calc_designs_builder *b = &study->builder;
    int64_t same = own->count == 1 ? own->value[0] : 0;
    if (same > 0 || own->count > 1 || own->all) {
        return same;
    }
    for (size_t i = 0; i < b->axes; i++) {
        if (b->axis[i].ref.kind == CALC_KIND_APP &&
            b->axis[i].ref.field->offset == offsetof(calc_app, seq_size)) {
            return b->axis[i].count == 1 ? (int64_t)b->axis[i].value[0] : 0;
        }
    }
    for (size_t i = 0; i < b->apps; i++) {
        if (i > 0 && b->app[i].app.seq_size != same) {
            return 0;
        }
        same = b->app[i].app.seq_size;
    }
    return same;
}

calc_status calc_sweep_tokens_batch(const calc_sweep_study *study, const char *text,
                                    char item[CALC_SWEEP_TOKENS_ITEM], calc_errors *errors)
{
    double tokens, sequences;
    char number[CALC_HUMAN_MAX], length[CALC_HUMAN_MAX], hint[128];
    bool of_tokens = strstr(text, "tok") != NULL;
    if (!of_tokens && calc_amount_read(text, NULL, &sequences) == CALC_AMOUNT_UNIT) {
        snprintf(hint, sizeof hint, "write %.40stokens, or the number of sequences", text);
        return calc_errors_add(errors, CALC_ERR_TYPE, CALC_KIND_NONE, NULL, hint,
                               "sequences or tokens?");
    }
    if (!of_tokens || calc_amount_read(text, "tokens", &tokens) != CALC_AMOUNT_UNIT) {
        snprintf(item, CALC_SWEEP_TOKENS_ITEM, "<=%.29s", text);
        return CALC_OK;
    }
    int64_t each = sequence_tokens(study);
    if (each == 0) {
        return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL,
                               "give the number of sequences",
                               "the sequences of these layouts do not have one length");
    }
    sequences = tokens / (double)each;
    if (sequences < 1 || sequences != floor(sequences) || sequences > 1e12) {
        double below = fmax(1, floor(sequences));
        snprintf(hint, sizeof hint, "%.0f sequences are %s tokens; Mi is 1,048,576", below,
                 calc_human_integer(below * (double)each, number));
        char all[CALC_HUMAN_MAX];
        return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, hint,
                               "%s tokens are no whole number of sequences of %s",
                               calc_human_integer(tokens, all),
                               calc_human_integer((double)each, length));
    }
    snprintf(item, CALC_SWEEP_TOKENS_ITEM, "<=%.0f", sequences);
    return CALC_OK;
}

/* ---- A training ------------------------------------------------------------------------------ */

calc_status calc_sweep_tokens_limit(calc_sweep_study *study, const calc_args *args,
                                    calc_errors *errors)
{
    double tokens = amount_of(args, CALC_SWEEP_OPT_TOKENS, "tokens");
    double days = amount_of(args, CALC_SWEEP_OPT_DAYS, "days");
    if (!(tokens > 0 && days > 0)) {
        return CALC_OK;
    }
    calc_constraint *list =
        realloc(study->constraint, (study->constraints + 1) * sizeof *study->constraint);
    if (!list) {
        return calc_errors_no_memory(errors);
    }
    char text[96];
    study->constraint = list;
    snprintf(text, sizeof text, "days_per_trillion_tokens <= %.17g", days / (tokens / TRILLION));
    calc_status status = calc_constraint_parse(&list[study->constraints], text, errors);
    study->constraints += status == CALC_OK;
    study->options.constraint = study->constraint;
    study->options.constraints = study->constraints;
    return status;
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
