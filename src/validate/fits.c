#include "validate/fits.h"

#include <math.h>

const char *calc_fits_family(const calc_residuals *measured, const char *machine,
                             const char *calibrated)
{
    const char *own = calc_residuals_family(measured, machine);
    const char *family = own ? own : calc_residuals_family(measured, calibrated);
    return *calibrated && family ? family : "";
}

/* Runs to compare with; whether there may be any. */
static bool runs_like(const calc_fits_query *query, calc_band_query *out)
{
    *out = (calc_band_query){.quantity = CALC_QUANTITY_MEMORY,
                             .traits = calc_traits_of(query->app, query->exec, query->family),
                             .unseen = CALC_UNSEEN_SOURCE};
    return query->exec->training && query->need_bytes > 0 &&
           isfinite(query->system->chip.mem1.capacity_bytes);
}

double calc_fits_share(const calc_residuals *measured, const calc_fits_query *query)
{
    calc_band_query runs;
    double room = query->system->chip.mem1.capacity_bytes / query->need_bytes;
    return runs_like(query, &runs) ? calc_band_share(measured, &runs, log(room)) : (double)NAN;
}

calc_fits calc_fits_of(const calc_residuals *measured, const calc_fits_query *query)
{
    calc_band_query runs;
    if (!runs_like(query, &runs)) {
        return (calc_fits){(double)NAN, (double)NAN};
    }
    const calc_band band = calc_band_of(measured, &runs);
    return (calc_fits){.share = calc_fits_share(measured, query),
                       .sure_bytes = query->system->chip.mem1.capacity_bytes * exp(-band.most)};
}
