#include "cli/calibrate/calibrate_files.h"

#include <stdlib.h>

#include "calibrate/system_text.h"
#include "cli/calibrate/calibrate_write.h"
#include "cli/shell/inputs.h"

static calc_status write_machine(const calc_calibration *c, size_t machine, const char *path,
                                 const char *date, calc_errors *errors)
{
    calc_input input = {0};
    calc_system *system = malloc(sizeof *system);
    calc_status status = system ? calc_input_load(&input, CALC_KIND_SYSTEM, system,
                                                  c->family.machine[machine], errors)
                                : CALC_ERR_NOMEM;
    free(system);
    calc_output *out = NULL;
    if (status == CALC_OK) {
        status = calc_output_open(&out, path, errors);
    }
    if (status == CALC_OK) {
        status = calc_system_text_write(out, &input.text, c, machine, date, errors);
        status = calc_output_end(out, status, errors);
    }
    calc_text_free(&input.text);
    return status;
}

calc_status calc_calibrate_files_write(const calc_calibration *family, size_t families,
                                       const char *out, const char *date, calc_errors *errors)
{
    bool one = families == 1 && family[0].family.machines == 1;
    calc_status status = CALC_OK;
    for (size_t f = 0; f < families; f++) {
        for (size_t m = 0; m < family[f].family.machines && status == CALC_OK; m++) {
            char path[CALC_FIND_PATH_MAX];
            calc_calibrate_out_path(out, one, family[f].family.machine[m], path);
            status = write_machine(&family[f], m, path, date, errors);
        }
    }
    return status;
}
