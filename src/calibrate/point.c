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

const char *const *calc_point_size_names(calc_point_class class)
{
    return classes[class].size;
}
