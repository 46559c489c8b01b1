/** @file json_load.h  Parses JSON text to Jansson values, with errors for people. Public part:
 *  calc_load() and calc_parse() in calc.h. */
#ifndef CALC_IO_JSON_LOAD_H
#define CALC_IO_JSON_LOAD_H

#include <jansson.h>
#include <stddef.h>

#include "io/json_report.h"

/** Parse any JSON value, or report what is wrong with the text.
 *  @return a new reference; NULL if an error was added */
json_t *calc_json_load_text(calc_json_report *report, const char *text, size_t length);

/** Have Jansson allocate by a function of the process, which does not return without memory. After
 *  one failed allocation Jansson 2.14 drops characters of a long key or number, or crashes. For
 *  commands, not for libraries: there is one allocator per process. */
void calc_json_allocate(void *(*allocate)(size_t size));

/* Reads scalar members from JSON values, and shows values in words. */

enum { CALC_JSON_VALUE_NUMBER_SIZE = 32 /**< bytes for the text of a number */ };

/** Fill the name of a document, or report why not.
 *  @param of  what it is the name of: "system" */
bool calc_json_value_name(calc_json_report *report, const json_t *value, const char *of, char *name,
                          size_t size);

/** Fill an INT, REAL, BOOL, ENUM or SET member, check a NOTE, or report why not. */
void calc_json_value_scalar(calc_json_report *report, const calc_field *field, const json_t *value,
                            void *member);

/** Read a finite number, without the sign of a zero, or report that it is none.
 *  @return whether *out is filled */
bool calc_json_value_number(calc_json_report *report, const json_t *value, double *out);

/** Read the Calculon rules in use (text as in spec/compat.h), or report why not. */
void calc_json_value_compat(calc_json_report *report, const json_t *value, calc_compat *compat);

/** A number as JSON would write it; a real one keeps a point, so that it does not look whole.
 *  @return buffer, CALC_JSON_VALUE_NUMBER_SIZE bytes */
char *calc_json_value_number_text(const json_t *value, char *buffer);
#define calc_json_value_number_shown(value)                                                        \
    calc_json_value_number_text(value, (char[CALC_JSON_VALUE_NUMBER_SIZE]){""})

/** A value as people write it: a text without quotes, a number as above, else as JSON has it.
 *  @return owned; NULL: memory is short */
char *calc_json_value_words(const json_t *value);

/** Report "expected EXPECTED, found VALUE"; `hint` may be NULL. */
void calc_json_value_type_error(calc_json_report *report, const char *expected, const json_t *value,
                                const char *hint);

/* Converts a parsed JSON value into the member of a struct, by its row in the
 * table. */

/** Checks the member "format" of a document. @return false with an error if it is of a newer calc
 */
bool calc_json_bind_format(calc_json_report *report, const json_t *document);

/** Fill the struct of `table` from `value`, or report why not. */
void calc_json_bind_table(calc_json_report *report, const calc_table *table, json_t *value,
                          void *object);

/** The same of the text that is reported on. */
void calc_json_bind_document(calc_json_report *report, const calc_table *table, void *object);

/** Fill one member from `value`, or report why not. */
void calc_json_bind_field(calc_json_report *report, const calc_field *field, json_t *value,
                          void *member);

/** Note that a member of a calc_exec is "auto", if its row allows that; clear the note for any
 *  other value. @return whether it is "auto": then there is nothing more to fill */
bool calc_json_bind_automatic(const calc_field *field, const json_t *value, void *object);

/** The key of the table that `word` is another name of, or else the nearest; NULL if none is near.
 */
const char *calc_json_bind_nearest(const calc_table *table, const char *word);

/** Report a key of an object that nothing knows.
 *  @param nearest  the key that may be meant, or NULL */
void calc_json_bind_unknown(calc_json_report *report, json_t *object, const char *key,
                            const char *nearest);

/* The libraries that io is built on. */

/** Their versions: "Jansson 2.14, zlib 1.2.13". @return buffer */
char *calc_libraries_text(char *buffer, size_t size);

enum { CALC_ASSIGN_KINDS = 3 /**< application, system, execution: as calc_kind counts them */ };

/** Set the field that `path` names, as calc_set() does, or report why not; the objects are then
 *  untouched. The report's pointer is where the value is.
 *  @param object  a calc_app, a calc_system and a calc_exec */
void calc_assign(calc_json_report *report, void *const object[CALC_ASSIGN_KINDS], const char *path,
                 json_t *value);

/** Do what calc_set() does, with the field that it found for such a text before.
 *  @param object  a calc_app, a calc_system and a calc_exec */
CALC_MUST_USE calc_status calc_assign_again(void *const object[CALC_ASSIGN_KINDS],
                                            const calc_field_ref *field, const char *text,
                                            calc_errors *errors);

#endif
