#include "cli/shell/known_runs.h"

#include "cli/shell/complain.h"
#include "cli/shell/find.h"

calc_status calc_known_runs_read(calc_residuals *out, calc_errors *errors)
{
    char path[CALC_FIND_PATH_MAX];
    calc_forecasts forecasts = {0};
    calc_status status = calc_find_data(CALC_FIND_RESIDUALS, path, errors);
    status = status == CALC_OK ? calc_residuals_read(out, path, errors) : status;
    status = status == CALC_OK ? calc_find_data(CALC_FIND_FORECASTS, path, errors) : status;
    status = status == CALC_OK ? calc_forecasts_read(&forecasts, path, errors) : status;
    status = status == CALC_OK ? calc_residuals_take_forecasts(out, &forecasts, errors) : status;
    calc_forecasts_free(&forecasts);
    calc_text text = {0};
    status = status == CALC_OK ? calc_find_data(CALC_FIND_UNSEEN_SOFTWARE, path, errors) : status;
    status = status == CALC_OK ? calc_text_read(&text, path, errors) : status;
    return status == CALC_OK ? calc_residuals_add_software(out, text, path, errors) : status;
}

const calc_residuals *calc_known_runs_try(calc_residuals *out)
{
    calc_errors ignored = {0};
    return calc_is_yes(calc_known_runs_read(out, &ignored)) ? out : NULL;
}
