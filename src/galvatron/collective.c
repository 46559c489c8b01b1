#include "galvatron/reading.h"

#include "galvatron/marquardt.h"

#include <math.h>
#include <string.h>

void calc_galvatron_collective_fit(calc_galvatron_collective *collective)
{
    double terms[2];
    calc_galvatron_fit(collective->mb, collective->ms, (size_t)collective->count, 1, terms);
    collective->line =
        (calc_galvatron_line){.slope = terms[1], .offset = terms[0], .least = INFINITY};
    for (int i = 0; i < collective->count; i++) {
        collective->line.least = fmin(collective->line.least, collective->mb[i]);
        collective->line.most = fmax(collective->line.most, collective->mb[i]);
    }
}

void calc_galvatron_collectives_from_bandwidth(const calc_galvatron_request *request,
                                               calc_galvatron_profiles *out)
{
    calc_galvatron_needs needs = calc_galvatron_needs_of(request);
    memset(out->all_gather, 0, sizeof out->all_gather);
    memset(out->all_to_all, 0, sizeof out->all_to_all);
    for (int k = 1; k <= needs.world; k++) {
        double ranks = (double)((int64_t)1 << k);
        double ms_per_mb = (ranks - 1) / ranks * out->consecutive[k];
        out->all_gather[k].line.slope = ms_per_mb; /* half of an all-reduce: once around */
        out->all_to_all[k].line.slope = ms_per_mb;
    }
}
