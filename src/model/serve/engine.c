#include "model/serve/engine.h"

#include <math.h>

#include "model/cost/cost.h"
#include "model/operators/processor.h"

double calc_engine_beside_s(const calc_engine_traits *t, double pass_s, double sequences,
                            double ranks, double issued_s)
{
    double host_s =
        (t->host_s + t->host_sequence_s * sequences) * (1 + t->host_growth * log2(ranks));
    double late_s = calc_max(0, issued_s - pass_s);
    return t->gap_s + late_s + (t->overlapped ? calc_max(0, host_s - pass_s - late_s) : host_s);
}

/* An absent efficiency is the one of all widths, or 1. */
static void slow_matrix(calc_serving_matrix *m, double share)
{
    m->efficiency = calc_share_or(m->efficiency, 1) * share;
    m->efficiency_8bit *= share;
    m->efficiency_4bit *= share;
    m->unpacked_efficiency *= share;
}

calc_serving_rates calc_engine_rates_of(const calc_engine_traits *t, const calc_serving_rates *r)
{
    calc_serving_rates own = *r;
    if (t->matrix_share > 0) {
        slow_matrix(&own.matrix, t->matrix_share);
        slow_matrix(&own.grouped, t->matrix_share);
    }
    own.decode.memory_efficiency *= calc_share_or(t->cache_share, 1);
    return own;
}
