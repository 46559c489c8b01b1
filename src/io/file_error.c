#include "io/file_error.h"

#include "base/error.h"

calc_status calc_file_error(calc_errors *errors, calc_status status, const char *path,
                            const char *text)
{
    bool full = errors && errors->count == CALC_MAX_ERRORS;
    calc_errors_add(errors, status, CALC_KIND_NONE, NULL, NULL, "%s", text);
    if (errors && !full) {
        calc_error_place(&errors->item[errors->count - 1], path, 0, 0);
    }
    return status;
}
