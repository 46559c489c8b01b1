/** @file run_assume.h  A published run in the terms of the model, under construction, and the
 *  assumptions made for it. */
#ifndef CALC_VALIDATE_RUN_ASSUME_H
#define CALC_VALIDATE_RUN_ASSUME_H

#include "validate/run_machines.h"
#include "validate/run_words.h"

/* Assumptions made about a measured run in order to predict it. */

enum { CALC_ASSUMPTIONS_MAX = 24 };

/** Texts are static. Start with {0}. */
typedef struct calc_assumptions {
    const char *text[CALC_ASSUMPTIONS_MAX];
    int count;
} calc_assumptions;

/** Add something assumed, once. A list that is full stays as it is. */
void calc_assumptions_add(calc_assumptions *assumed, const char *text);

/** One run. Texts are static or borrowed from the row. */
typedef struct calc_run_map {
    const calc_runs_row *row;
    const calc_run_source *source;
    const calc_run_machine *machine; /**< NULL: not known */
    calc_run_words words;            /**< what its free words say */
    calc_app app;
    calc_exec exec;
    double network;      /**< calc_run_machine_network(); 0: the machine's [bytes/s] */
    bool search;         /**< micro-batch and interleaving are to be found (evaluate.h) */
    double step_s;       /**< measured time of a step; NaN: none */
    const char *printed; /**< the column that time comes from; NULL: none */
    double memory_bytes; /**< measured peak; NaN: none */
    const char *reason;  /**< why it is not predicted; NULL: it is. app and exec are unspecified */
    calc_assumptions assumed;
} calc_run_map;

/** Add something assumed, once. A list that is full stays as it is. */
void calc_run_assume(calc_run_map *map, const char *text);

/** Whether the source of the run has a trait. If so and `applies`, that is an assumption. */
bool calc_run_assume_trait(calc_run_map *map, int trait, bool applies);

/** Whether the words of the run say something; where they say nothing, whether a trait does. */
bool calc_run_assume_word(calc_run_map *map, calc_run_word word, int trait, bool applies);

#endif
