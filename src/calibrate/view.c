#include "calibrate/view.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"

calc_status calc_view_make(calc_results *out, const calc_results *results, const double *predicted,
                           calc_errors *errors)
{
    *out = *results;
    out->item = calloc(results->count + 1, sizeof *out->item);
    if (!out->item) {
        return calc_errors_no_memory(errors);
    }
    for (size_t i = 0; i < results->count; i++) {
        calc_result *r = &out->item[i];
        *r = results->item[i];
        if (isnan(predicted[i]) || r->quantity == CALC_QUANTITY_MEMORY) {
            r->use = r->use == CALC_USE_SCORED ? CALC_USE_UNSCORED : r->use;
            continue;
        }
        r->predicted = predicted[i];
        r->error = r->predicted / r->measured - 1;
    }
    return CALC_OK;
}
