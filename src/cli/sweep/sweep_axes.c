#include "cli/sweep/sweep_axes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axis.h"
#include "base/error.h"
#include "cli/shell/inputs.h"
#include "cli/sweep/sweep_opts.h"
#include "cli/sweep/sweep_tokens.h"
#include "defaults.h"
#include "io/utf8.h"
#include "spec/absent.h"

enum { NAME_SIZE = 128 };

/* "--batch 512", the name used in errors; NULL if it is not given. */
static const char *name_of(const calc_args *args, calc_sweep_opt opt, char name[NAME_SIZE])
{
    char shown[CALC_UTF8_SHOW_SIZE];
    const char *value = calc_opt_value(args, (int)opt);
    if (!value) {
        return NULL;
    }
    snprintf(name, NAME_SIZE, "--%s %s", calc_sweep_opts[opt].name,
             calc_utf8_show(shown, value, strlen(value)));
    return name;
}

static void set_axis(calc_sweep_study *study, const char *key, const char *item, const char *name,
                     calc_errors *errors)
{
    const calc_axis_text text = {.key = key, .item = &item, .count = 1, .name = name};
    (void)!calc_axis_set(&study->space, &study->builder, &text, errors);
}

/* Sets the axes of --axis and --set, in the order given. */
static void take_assignments(calc_sweep_study *study, const calc_args *args, calc_errors *errors)
{
    for (size_t i = 0; i < args->use_count; i++) {
        const calc_opt_use *use = &args->use[i];
        if (use->opt == CALC_SWEEP_OPT_SET) {
            (void)!calc_axis_assign_one(&study->space, &study->builder, use->value, errors);
        } else if (use->opt == CALC_SWEEP_OPT_AXIS) {
            (void)!calc_axis_assign(&study->space, &study->builder, use->value, errors);
        }
    }
}

static void take_batch(calc_sweep_study *study, const calc_args *args, calc_errors *errors)
{
    char name[NAME_SIZE];
    char item[CALC_SWEEP_TOKENS_ITEM];
    int first = errors->count;
    if (!name_of(args, CALC_SWEEP_OPT_BATCH, name)) {
        return;
    }
    if (calc_sweep_tokens_batch(study, calc_opt_value(args, CALC_SWEEP_OPT_BATCH), item, errors) ==
        CALC_OK) {
        set_axis(study, "batch_size", item, name, errors);
    } else if (errors->count > first) {
        calc_error_place(&errors->item[first], name, 0, 0);
    }
}

void calc_sweep_axes_options(calc_sweep_study *study, const calc_args *args, calc_errors *errors)
{
    char name[NAME_SIZE];
    if (name_of(args, CALC_SWEEP_OPT_PROCS, name)) {
        set_axis(study, "num_procs", calc_opt_value(args, CALC_SWEEP_OPT_PROCS), name, errors);
    }
    /* --batch may be in tokens; an axis may set the length of a sequence, or the batch itself. */
    calc_values *batch = &study->space.axis[CALC_AXIS_batch_size];
    calc_values before = *batch;
    *batch = (calc_values){0};
    take_assignments(study, args, errors);
    if (batch->count > 0) {
        free(before.value);
        return;
    }
    *batch = before;
    take_batch(study, args, errors);
}

void calc_sweep_axes_software(calc_space *space, calc_errors *errors)
{
    calc_exec software;
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), &software);
    strcpy(software.software, space->software);
    software.inference.engine = space->inference.engine;
    if (calc_inputs_software(&software, errors) == CALC_OK &&
        calc_defaults_software(space, &software) != CALC_OK) {
        calc_errors_no_memory(errors);
    }
    space->inference.engine = software.inference.engine;
}
