/** @file space_load.h  Reads space files: an execution in which a field may have many values, and
 *  keys of a study. Keys and values are handed on as text; their meaning is not known here. */
#ifndef CALC_IO_SPACE_LOAD_H
#define CALC_IO_SPACE_LOAD_H

#include "calc.h"
#include "io/text.h"

/** One key of the file. A scalar is one item, {"max": N} is "<=N", true is "true". The members of a
 *  field of the execution that is an object are entries of their own: "inference.phase". */
typedef struct calc_space_entry {
    char *key;
    char pointer[128]; /**< "/tensor_par", "/inference/phase" */
    int position;      /**< of the key in the file; -1 for a key inside of an object */
    bool list;         /**< item 2 is at "/tensor_par/2" */
    size_t count;      /**< at least 1 */
    char **item;
} calc_space_entry;

/** The file. Owns everything. Start with {0}; free with calc_space_entries_free(). */
typedef struct calc_space_entries {
    size_t count;
    calc_space_entry *entry; /**< in the order of the file */
    char *name;              /**< what errors call the file */
    calc_text text;
} calc_space_entries;

/** An option of `calc sweep` without its dashes, and its value: "procs" and "256"; "" where it has
 *  none. */
typedef struct calc_space_option {
    const char *name, *value;
} calc_space_option;

/** The options that define a sweep: its space, its goals and how it runs. NULL ends them. */
extern const char *const calc_space_options[];

/** Read a space file, or standard input if path is "-".
 *  @return CALC_OK, or the status of the first of its errors, all of which are added; *out must be
 *  freed in any case */
CALC_MUST_USE calc_status calc_space_load(calc_space_entries *out, const char *path,
                                          calc_errors *errors);

/** The same from `length` bytes of text; `name` is what errors call it. */
CALC_MUST_USE calc_status calc_space_parse(calc_space_entries *out, const char *text, size_t length,
                                           const char *name, calc_errors *errors);

/** Read an execution that may leave required keys out, as a space may.
 *  @param absent  how many of them it leaves out; with any, *exec is not a whole execution
 *  @return as calc_parse(), which has an error for each */
CALC_MUST_USE calc_status calc_space_parse_exec(calc_exec *exec, int *absent, const char *text,
                                                size_t length, const char *name,
                                                calc_errors *errors);

/** The pointer of an item: "/where/0", or "/where" if it is not in a list. @return buffer */
char *calc_space_entry_pointer(const calc_space_entry *entry, size_t item, char buffer[128]);

/** Give errors from `first` on that have a pointer but no place their file, line and column.
 *  CALC_ERR_FIELD at a key is about the key, everything else about the value. */
void calc_space_entries_locate(const calc_space_entries *entries, calc_errors *errors, int first);

/** Free what it owns. Fine on {0}. */
void calc_space_entries_free(calc_space_entries *entries);

/** Fill an engine, but for its name, from `length` bytes of JSON; `name` is what errors call them.
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_engine_parse(calc_serving_engine *engine, const char *text,
                                            size_t length, const char *name, calc_errors *errors);

/** Read the documents that an execution names, and apply its software; again, if that was done, so
 *  that the last name counts, and what was stated since. Without names nothing is done.
 *  @param find  finds a bare name as an execution "software/NAME" or "engines/NAME"; NULL: names
 *               are paths
 *  @return CALC_OK; what `find` returns; as calc_load(), and CALC_ERR_FIELD for a list, for what is
 *  served, and for other software */
CALC_MUST_USE calc_status calc_software_read(calc_exec *exec, calc_session_find *find,
                                             void *context, calc_errors *errors);

#endif
