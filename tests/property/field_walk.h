/** @file field_walk.h  Every field of the three documents of a layout, however deep. */
#ifndef CALC_TESTS_FIELD_WALK_H
#define CALC_TESTS_FIELD_WALK_H

#include "random_layout.h"

/** A field somewhere in the three documents. */
typedef struct calc_field_at {
    char path[96];           /**< "sys.networks.oversubscription": no indices */
    char place[96];          /**< "sys.networks[1].oversubscription" */
    const calc_field *field; /**< its row */
    void *member;            /**< of the layout that is walked through */
    int64_t network;         /**< index, where it is of one */
} calc_field_at;

typedef void calc_field_visit(const calc_field_at *at, void *context);

/** Call `visit` with every field of a layout but notes; objects are their fields. */
void calc_field_walk(calc_random_layout *layout, calc_field_visit *visit, void *context);

/** Write a number into a member. A curve has it at every size, an operation as its scalar. */
void calc_field_write(const calc_field *field, void *member, double number);

/** Make a member what it is where the field is absent. */
void calc_field_clear(const calc_field *field, void *member);

enum { CALC_FIELD_VALUES = 64 };

/** Other values that a field may have by its range: all choices, numbers near its own and at its
 *  ends. @return how many */
int calc_field_others(const calc_field_at *at, double values[CALC_FIELD_VALUES]);

#endif
