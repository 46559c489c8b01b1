/** @file field_each.h  Every field of a table, however deep, with its path. */
#ifndef CALC_SPEC_FIELD_EACH_H
#define CALC_SPEC_FIELD_EACH_H

#include "calc.h"

/** @param table  whose row the field is
 *  @param path   as --set takes it from the root of the struct; "networks[N].size" for the elements
 *                of a list, "matrix.DATATYPE.tflops" for those of a map. Valid during the call */
typedef void calc_field_visitor(void *context, const calc_table *table, const char *path,
                                const calc_field *field);

/** Visit the fields that have no table of their own, in the order of the rows. */
void calc_field_each(const calc_table *table, calc_field_visitor *visit, void *context);

#endif
