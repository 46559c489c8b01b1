#include "validate/fits.h"

#include <math.h>

const char *calc_fits_family(const calc_residuals *measured, const char *machine,
                             const char *calibrated)
{
    const char *own = calc_residuals_family(measured, machine);
    const char *family = own ? own : calc_residuals_family(measured, calibrated);
    return *calibrated && family ? family : "";
}

calc_fits calc_fits_of(const calc_residuals *measured, const calc_fits_query *query)
{
    const calc_fits unknown = {(double)NAN, (double)NAN};
    double capacity_bytes = query->system->chip.mem1.capacity_bytes;
    if (!query->exec->training || !(query->need_bytes > 0) || !isfinite(capacity_bytes)) {
        return unknown;
    }
    const calc_band_query runs = {.quantity = CALC_QUANTITY_MEMORY,
                                  .traits = calc_traits_of(query->app, query->exec, query->family),
                                  .unseen = CALC_UNSEEN_SOURCE,
                                  .without = -1};
    const calc_band band = calc_band_of(measured, &runs);
    return (calc_fits){
        .share = calc_band_share(measured, &runs, log(capacity_bytes / query->need_bytes)),
        .sure_bytes = capacity_bytes * exp(-band.most)};
}
