#include "model/serve/engine.h"

#include <math.h>

#include "model/operators/processor.h"

calc_engine_traits calc_engine_traits_of(calc_serving_engine engine)
{
    static const calc_engine_traits traits[CALC_SERVING_ENGINE_COUNT] = {{0}};
    return traits[engine];
}

double calc_engine_beside_s(const calc_engine_traits *t, double pass_s, double sequences,
                            double ranks)
{
    double host_s =
        (t->host_s + t->host_sequence_s * sequences) * (1 + t->host_growth * log2(ranks));
    return t->gap_s + (t->overlapped ? calc_max(0, host_s - pass_s) : host_s);
}
