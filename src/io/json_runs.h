/** @file json_runs.h  The JSON syntax shared by lists of stages and of layers: "7x11" for seven
 *  times 11, recomputed modules, and lists written in as few elements as possible. */
#ifndef CALC_IO_JSON_RUNS_H
#define CALC_IO_JSON_RUNS_H

#include <jansson.h>
#include <stdbool.h>

#include "io/json_put.h"
#include "io/json_report.h"
#include "spec/value_text.h"

/** How often a text says its value, and the value; once, if it says nothing of that.
 *  @param number  the value is one
 *  @param most    times at most; a text that says more is a text
 *  @return a new reference, NULL without memory */
json_t *calc_json_runs_repeated(json_t *value, bool number, int64_t most, int64_t *times);

/** Elements of a list, each as often as it says. */
int64_t calc_json_runs_length(json_t *list, int64_t most);

/** Read the recomputation, or report why not: activation_recompute, recompute_modules. */
void calc_json_runs_recompute(calc_json_report *report, const json_t *value, int8_t *recompute);
void calc_json_runs_modules(calc_json_report *report, const json_t *value, uint16_t *modules);

/** The words of these fields.
 *  @param text  CALC_CHOICE_SET_SIZE bytes, filled */
void calc_json_runs_recompute_text(int recompute, char *text);
void calc_json_runs_modules_text(unsigned modules, char *text);

/** A list of runs to be written. */
typedef struct calc_json_runs {
    const void *list;
    int64_t count;
    /** The text of a run as JSON, without quotes if it is one; then true. */
    bool (*text)(const void *list, int64_t run, int key, char text[CALC_CHOICE_SET_SIZE]);
    int64_t (*times)(const void *list, int64_t run); /**< that an element of it counts */
} calc_json_runs;

/** Whether all runs have the same value of a key. */
bool calc_json_runs_agree(const calc_json_runs *runs, int key);

/** Write the value if all runs share it, or else a list of the values, equal neighbours once:
 *  "7x11". */
void calc_json_runs_put_all(calc_put *put, const char *name, const calc_json_runs *runs, int key);
void calc_json_runs_put_each(calc_put *put, const char *name, const calc_json_runs *runs, int key);

/** Write the value of one run, that many times.
 *  @param always  say how often, also if it is once */
void calc_json_runs_put(calc_put *put, const char *name, const char *text, bool word, int64_t times,
                        bool always);

/* Reads and writes the lists of an execution (stages, layers) and of an application (parts,
 * layers), and the name of its software, by their row in the table of fields. */

/** Whether a row is one. */
static inline bool calc_json_is_list(const calc_field *field)
{
    return field->flags & (CALC_STAGES | CALC_LAYERS | CALC_STACK | CALC_SOFTWARE);
}

/** No list at all. */
void calc_json_lists_clear(calc_kind kind, void *object);

/** Fill the list of a row, or report why not.
 *  @param object  calc_exec or calc_app, whose other fields are filled */
void calc_json_lists_bind(calc_json_report *report, const calc_field *field, json_t *value,
                          void *object);

/** Clear the list of a row. */
void calc_json_lists_take(const calc_field *field, void *object);

/** Write the list of a row, if there is one.
 *  @return whether the row is one of a list */
bool calc_json_lists_put(calc_put *put, const calc_field *field, const void *object);

#endif
