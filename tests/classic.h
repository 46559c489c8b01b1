/* What Calculon knows: the choices and fields that layouts of its kind are drawn from. */
#ifndef CALC_TESTS_CLASSIC_H
#define CALC_TESTS_CLASSIC_H

#include "calc.h"

/* How many choices of each enumeration are Calculon's; its come first. */
enum {
    CLASSIC_DATATYPES = CALC_DATATYPE_FLOAT32 + 1,
    CLASSIC_RECOMPUTES = CALC_ACTIVATION_RECOMPUTE_FULL + 1,
    CLASSIC_OVERLAPS = CALC_TENSOR_PAR_OVERLAP_PIPE + 1
};

/* First in the braces of an execution: optional fields that are not 0 when they are absent. */
#define CLASSIC_EXEC                                                                               \
    .strategy.context_par_net = -1, .strategy.expert_par_net = -1,                                 \
    .strategy.expert_tensor_par_net = -1, .strategy.expert_data_par_net = -1

#endif
