/** @file serving_layout.h  The layout of a run of serving: sizes of one pool or two, as publishers
 *  print them. */
#ifndef CALC_VALIDATE_SERVING_LAYOUT_H
#define CALC_VALIDATE_SERVING_LAYOUT_H

#include "validate/serving_map.h"

/** Fill the sizes of exec and the count of GPUs; the ranks of experts are filled for dense models,
 *  too. @return why that is not possible; NULL: done */
const char *calc_serving_layout_fill(calc_serving_map *map);

#endif
