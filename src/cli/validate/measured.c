#include "cli/validate/measured.h"

#include "base/error.h"
#include "cli/shell/inputs.h"

static calc_status load_system(const char *name, calc_system *out, calc_errors *errors)
{
    calc_input input = {0};
    calc_errors own = {0};
    calc_status status = calc_input_load(&input, CALC_KIND_SYSTEM, out, name, &own);
    calc_text_free(&input.text);
    if (status == CALC_ERR_NOT_FOUND) {
        return calc_errors_add(errors, status, CALC_KIND_NONE, NULL, NULL,
                               "no machine systems/%.60s.json", name);
    }
    if (status != CALC_OK) {
        *errors = own;
    }
    return status;
}

static calc_status read_shipped_runs(calc_measured *m, calc_errors *errors)
{
    static const char *const shipped[] = {"measured/runs.csv", "measured/runs_vtrain_single.csv.gz",
                                          "measured/runs_megatron_small.csv.gz"};
    for (size_t i = 0; i < sizeof shipped / sizeof *shipped; i++) {
        char path[CALC_FIND_PATH_MAX];
        calc_status status = calc_find_data(shipped[i], path, errors);
        if (status == CALC_OK) {
            status = calc_runs_read(&m->runs[m->files++], path, errors);
        }
        if (status != CALC_OK) {
            return status;
        }
    }
    return CALC_OK;
}

calc_status calc_measured_read(calc_measured *out, const calc_args *args, calc_errors *errors)
{
    char path[CALC_FIND_PATH_MAX];
    out->systems.load = load_system;
    calc_status status = calc_find_data("measured/remarks.csv", path, errors);
    if (status == CALC_OK) {
        status = calc_remarks_read(&out->remarks, path, errors);
    }
    if (status == CALC_OK && args->argument_count == 0) {
        status = read_shipped_runs(out, errors);
    }
    for (size_t i = 0; i < args->argument_count && status == CALC_OK; i++) {
        status = calc_runs_read(&out->runs[out->files++], args->argument[i], errors);
    }
    return status;
}

void calc_measured_free(calc_measured *measured)
{
    for (size_t i = 0; i < measured->files; i++) {
        calc_runs_free(&measured->runs[i]);
    }
    calc_remarks_free(&measured->remarks);
    measured->files = 0;
}
