#include "model/serve/engine.h"

#include <math.h>

calc_engine_traits calc_engine_traits_of(calc_serving_engine engine)
{
    static const calc_engine_traits traits[CALC_SERVING_ENGINE_COUNT] = {0};
    return traits[engine];
}

double calc_engine_step_s(const calc_engine_traits *t, double tensor_par, double sequences)
{
    return t->step_s + t->step_doubling_s * log2(tensor_par) + t->step_sequence_s * sequences;
}
