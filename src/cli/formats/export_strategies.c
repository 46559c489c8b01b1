#include "cli/formats/export_strategies.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "galvatron/layout.h"

static calc_status write_file(const calc_galvatron_layout *layout, const char *path,
                              calc_errors *errors)
{
    calc_output *out;
    int64_t multiple = calc_galvatron_layout_multiple(layout);
    calc_status status = calc_output_open(&out, path, errors);
    if (status != CALC_OK) {
        return status;
    }
    if (layout->gbsz % multiple != 0) {
        fprintf(stderr, CALC_GALVATRON_MULTIPLE "\n", (long long)layout->gbsz, (long long)multiple);
    }
    calc_galvatron_layout_write(layout, out);
    return calc_output_close(out, errors);
}

calc_status calc_export_strategies(const calc_app *app, const calc_exec *exec, const char *path,
                                   bool *refused, calc_errors *errors)
{
    calc_galvatron_layout *layout = malloc(sizeof *layout);
    calc_errors reasons = {0};
    if (!layout) {
        return calc_errors_no_memory(errors);
    }
    calc_status status = CALC_OK;
    *refused = calc_galvatron_layout_from(layout, app, exec, &reasons) != CALC_OK;
    if (*refused) {
        fprintf(stderr, "%s\n", reasons.item[0].text);
    } else {
        status = write_file(layout, path, errors);
    }
    free(layout);
    return status;
}
