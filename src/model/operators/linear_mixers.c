#include "model/operators/linear_mixers.h"

void calc_linear_mixer(calc_build *b)
{
    (void)b;
}
