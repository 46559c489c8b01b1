/** @file oracle.h  The plainest sweep there can be: nested loops over every value of every axis,
 *  calc_check() for what is legal, calc_run() for each layout, and comparing all with all. */
#ifndef CALC_TEST_ORACLE_H
#define CALC_TEST_ORACLE_H

#include "random_space.h"

/** A layout of the space and what calc_run() says of it. */
typedef struct oracle_layout {
    calc_found found; /**< without objectives */
    calc_verdict verdict;
    calc_stats stats;
} oracle_layout;

/** Every layout of a space, as often as the space names it. */
typedef struct oracle {
    size_t count, capacity;
    oracle_layout *layout;
} oracle;

/** List the layouts of all designs. Free with oracle_free(). */
void oracle_make(oracle *out, const random_space *s, calc_compat compat);
void oracle_free(oracle *o);

/** What calc_sweep() must find with these options and no_prune: groups and counts. Free with
 *  calc_sweep_result_free(). */
void oracle_sweep(const oracle *o, const random_space *s, const calc_sweep_options *options,
                  calc_sweep_result *out);

/** Fail unless two results agree: the same groups, entry by entry. */
void assert_same_groups(const random_space *s, const calc_sweep_result *got,
                        const calc_sweep_result *want, const char *what);

/** Fail unless two results have the same counts. */
void assert_same_counts(const random_space *s, const calc_sweep_counts *got,
                        const calc_sweep_counts *want, const char *what);

#endif
