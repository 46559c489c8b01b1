#include "calibrate/point.h"

static const struct {
    const char *name, *size[CALC_POINT_SIZES + 1];
} classes[CALC_POINT_CLASSES] = {
#define CALC_X(name, text, ...) {text, {__VA_ARGS__, NULL}},
    CALC_POINT_CLASS_LIST(CALC_X)
#undef CALC_X
};

const char *calc_point_class_name(calc_point_class class)
{
    return classes[class].name;
}

double calc_point_flop(const calc_point *point)
{
    bool multiplies = point->class == CALC_POINT_MATRIX || point->class == CALC_POINT_GROUPED;
    return multiplies ? 2 * point->size[0] * point->size[1] * point->size[2] * point->size[3] : 0;
}

const char *const *calc_point_size_names(calc_point_class class)
{
    return classes[class].size;
}
