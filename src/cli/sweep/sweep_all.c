#include "cli/sweep/sweep_all.h"

#include <stdlib.h>

#include "base/error.h"
#include "cli/sweep/sweep_write.h"

/* calc_sweep_options.prepare: the text of a row. */
static void make_row(void *context, const calc_sweep_point *point)
{
    const calc_sweep_all *all = context;
    const calc_sweep_found found = {point->design, *point->exec, *point->stats};
    calc_sweep_write_row(all->row[point->place], all->study, &found, true);
}

/* calc_sweep_options.point: starts the next row. False if memory is short. */
static bool write_row(void *context, const calc_sweep_point *point)
{
    const calc_sweep_all *all = context;
    size_t length;
    const char *text = calc_output_take(all->row[point->place], &length);
    if (text) {
        calc_output_write(all->file, text, length);
    }
    return text != NULL;
}

calc_status calc_sweep_all_begin(calc_sweep_all *all, const calc_sweep_study *study,
                                 calc_output *file, calc_sweep_options *options,
                                 calc_errors *errors)
{
    *all = (calc_sweep_all){.study = study, .file = file};
    all->row = calloc(CALC_SWEEP_PLACES, sizeof *all->row);
    calc_status status = all->row ? CALC_OK : calc_errors_no_memory(errors);
    for (size_t i = 0; i < CALC_SWEEP_PLACES && status == CALC_OK; i++) {
        status = calc_output_open_memory(&all->row[i], NULL, errors);
    }
    calc_sweep_write_header(file, study, NULL);
    options->prepare = make_row;
    options->point = write_row;
    options->point_context = all;
    return status;
}

void calc_sweep_all_free(calc_sweep_all *all)
{
    for (size_t i = 0; all->row && i < CALC_SWEEP_PLACES; i++) {
        calc_output_discard(all->row[i]);
    }
    free(all->row);
    *all = (calc_sweep_all){0};
}
