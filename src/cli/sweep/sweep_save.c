#include "cli/sweep/sweep_save.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "checkpoint.h"
#include "cli/shell/complain.h"
#include "cli/sweep/sweep_opts.h"

/* ---- The command line of a part: the words from which calc merge knows the sweep ------------- */

bool calc_sweep_save_defines(int opt)
{
    switch (opt) {
    case CALC_SWEEP_OPT_AXIS:
    case CALC_SWEEP_OPT_SET:
    case CALC_SWEEP_OPT_PROCS:
    case CALC_SWEEP_OPT_BATCH:
    case CALC_SWEEP_OPT_TOKENS:
    case CALC_SWEEP_OPT_DAYS:
    case CALC_SWEEP_OPT_OBJECTIVES:
    case CALC_SWEEP_OPT_TOP:
    case CALC_SWEEP_OPT_TOP_BY:
    case CALC_SWEEP_OPT_PER:
    case CALC_SWEEP_OPT_WHERE:
    case CALC_SWEEP_OPT_COMPAT:
    case CALC_SWEEP_OPT_FOR:
    case CALC_SWEEP_OPT_NO_PRUNE:
        return true;
    default:
        return false;
    }
}

/* Append the pieces as one word. @param at  NULL: only count. @return its bytes */
static size_t put_word(char *at, const char *a, const char *b, const char *c, const char *d)
{
    const char *piece[] = {a, b, c, d};
    size_t size = 0;
    for (size_t i = 0; i < sizeof piece / sizeof *piece; i++) {
        size_t length = strlen(piece[i]);
        if (at) {
            memcpy(at + size, piece[i], length);
        }
        size += length;
    }
    if (at) {
        at[size] = '\0';
    }
    return size + 1;
}

/* The words that define the space. @param out  NULL: only count. @return bytes of them all */
static size_t put_words(char *out, const calc_args *args)
{
    size_t size = 0;
    for (size_t i = 0; i < args->use_count; i++) {
        const calc_opt *opt = &args->command->opts[args->use[i].opt];
        if (calc_sweep_save_defines(args->use[i].opt)) {
            size += put_word(out ? out + size : NULL, "--", opt->name, opt->value ? "=" : "",
                             args->use[i].value);
        }
    }
    size += put_word(out ? out + size : NULL, "--", "", "", "");
    for (size_t i = 0; i < args->argument_count; i++) {
        size += put_word(out ? out + size : NULL, args->argument[i], "", "", "");
    }
    return size;
}

/* ---- Options --------------------------------------------------------------------------------- */

/* Seconds of --checkpoint-every; negative if the value is not a time. */
static double every_s(const calc_args *args)
{
    const char *text = calc_opt_value(args, CALC_SWEEP_OPT_EVERY);
    double seconds;
    return calc_opt_number(text, false, 0, HUGE_VAL, &seconds) ? seconds : -1;
}

const char *calc_sweep_save_complaint(const calc_args *args, int ranks)
{
    bool all = calc_opt_value(args, CALC_SWEEP_OPT_ALL) != NULL;
    bool shard = calc_opt_value(args, CALC_SWEEP_OPT_SHARD) != NULL;
    bool checkpoint = calc_opt_value(args, CALC_SWEEP_OPT_CHECKPOINT) != NULL;
    bool from_stdin = false;
    for (size_t i = 0; i < args->argument_count; i++) {
        from_stdin |= strcmp(args->argument[i], "-") == 0;
    }
    if (shard && checkpoint) {
        return "--shard makes --out FILE its checkpoint: leave --checkpoint out";
    }
    if (shard && (!calc_opt_value(args, CALC_SWEEP_OPT_OUT) ||
                  calc_opt_is_stdout(args, CALC_SWEEP_OPT_OUT))) {
        return "--shard needs --out FILE for its part of the result";
    }
    if (calc_opt_value(args, CALC_SWEEP_OPT_RESUME) && !shard && !checkpoint) {
        return "--resume needs --checkpoint FILE or --shard";
    }
    if (all && (shard || checkpoint || ranks > 1)) {
        return "--all needs a sweep in one piece: no --checkpoint, no --shard, no mpirun";
    }
    if (shard && calc_opt_value(args, CALC_SWEEP_OPT_HTML)) {
        return "--html needs the whole sweep: leave --shard out";
    }
    if (shard && ranks > 1) {
        return "--shard and mpirun both divide the sweep: use one of them";
    }
    if (every_s(args) < 0) {
        return "--checkpoint-every: expected a number of seconds from 0";
    }
    return shard && from_stdin ? "--shard needs files: calc merge reads them again" : NULL;
}

static void warn_of(const calc_error *error)
{
    calc_say("warning: %s: %s; the sweep goes on and tries again\n", error->file, error->text);
}

calc_status calc_sweep_save_load(calc_sweep_save *save, const calc_args *args, calc_errors *errors)
{
    const char *shard = calc_opt_value(args, CALC_SWEEP_OPT_SHARD);
    size_t cursor = 0;
    const char *part;
    save->is_part = shard != NULL;
    save->every_s = every_s(args);
    save->saving.path =
        calc_opt_value(args, shard ? CALC_SWEEP_OPT_OUT : CALC_SWEEP_OPT_CHECKPOINT);
    save->saving.unsaved = warn_of;
    save->saving.resume = calc_opt_value(args, CALC_SWEEP_OPT_RESUME) != NULL;
    save->saving.words_size = put_words(NULL, args);
    save->saving.words = malloc(save->saving.words_size);
    save->part = calloc(args->use_count + 1, sizeof *save->part);
    if (!save->saving.words || !save->part) {
        return calc_errors_no_memory(errors);
    }
    put_words(save->saving.words, args);
    while ((part = calc_opt_next(args, CALC_SWEEP_OPT_MERGE, &cursor))) {
        save->part[save->parts++] = part;
    }
    return calc_shard_parse(&save->saving.shard, shard ? shard : "1/1", errors);
}

void calc_sweep_save_free(calc_sweep_save *save)
{
    free(save->saving.words);
    free(save->part);
    *save = (calc_sweep_save){0};
}

/* ---- Sweeping and merging -------------------------------------------------------------------- */

calc_status calc_sweep_save_run(const calc_sweep_save *save, const calc_sweep_study *study,
                                const calc_sweep_options *options, calc_ranks *ranks,
                                calc_sweep_result *result, calc_errors *errors)
{
    if (save->parts > 0) {
        calc_sweep_mark sweep = calc_sweep_mark_of(&study->space, &study->designs, options);
        return calc_parts_merge(save->part, save->parts, &sweep, options, result, errors);
    }
    calc_sweep_options own = *options;
    own.checkpoint_s = save->every_s;
    return calc_ranks_sweep(ranks, &study->space, &study->designs, &own, &save->saving, result,
                            errors);
}
