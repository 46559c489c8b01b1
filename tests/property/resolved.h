/** @file resolved.h  What optional fields mean where they are absent: the one list that the law of
 *  neutral values (prop_neutral.c) goes through. A new optional field needs a row here. */
#ifndef CALC_TESTS_RESOLVED_H
#define CALC_TESTS_RESOLVED_H

#include "random_layout.h"

/** A field somewhere in the three documents. */
typedef struct calc_resolved_at {
    char path[96];           /**< "sys.networks.oversubscription": no indices */
    char place[96];          /**< "sys.networks[1].oversubscription" */
    const calc_field *field; /**< its row */
    void *member;            /**< of the layout that is walked through */
    int64_t network;         /**< index, where it is of one */
} calc_resolved_at;

typedef void calc_resolved_visit(const calc_resolved_at *at, void *context);

/** Call `visit` with every optional field of a layout, however deep; objects are their fields. */
void calc_resolved_walk(calc_random_layout *layout, calc_resolved_visit *visit, void *context);

/** Whether the list has the field. A curve or an operation needs no row. */
bool calc_resolved_known(const calc_resolved_at *at);

/** What the field means where it is absent, as the number its member would have: NaN where nothing
 *  that can be written does, or absence means itself (0: none). */
double calc_resolved_value(const calc_resolved_at *at, const calc_random_layout *layout);

/** Write a number into a member. */
void calc_resolved_write(const calc_field *field, void *member, double number);

/** Make a member what it is where the field is absent. */
void calc_resolved_clear(const calc_field *field, void *member);

/** Paths of the list, one after the other; NULL at the end. */
const char *calc_resolved_path(size_t index);

#endif
