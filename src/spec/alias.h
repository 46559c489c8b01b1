/** @file alias.h  Other names of fields, statistics and choices: from files in circulation, short
 *  names that people type (tp, mfu), and labels in the summary of a run ("time per step"); and the
 *  nearest name to one that no field has. */
#ifndef CALC_SPEC_ALIAS_H
#define CALC_SPEC_ALIAS_H

#include "calc.h"

/** Another key of a field. */
typedef struct calc_alias {
    const char *table;    /**< name of the table of fields that it is in */
    const char *key;      /**< the other key */
    const char *field;    /**< key of the field that it means */
    const char *times[2]; /**< NULL, or its value counts these: fields, the first that is not 0 */
} calc_alias;

/** The alias with this key in a table; NULL if there is none. */
const calc_alias *calc_alias_find(const calc_table *table, const char *key);

/** The alias of a field of a document (at most one); NULL if there is none, or if the table
 *  describes answers. */
const calc_alias *calc_alias_of(const calc_table *table, const char *field);

/** The aliases of a field or a statistic, one call after the other; NULL after the last.
 *  @param before  the one before, NULL for the first */
const calc_alias *calc_alias_next(const calc_table *table, const char *field,
                                  const calc_alias *before);

/** The path of the field of a layout over whose column tables print a word that is no key: "chunk"
 *  is inference.chunk_size. @return the word itself if it heads none */
const char *calc_alias_head(const char *word);

/** The choice meant by another word: "multi_latent" for "mla"; NULL if there is none. */
const char *calc_alias_choice(const char *word);

/** The other word for a choice; NULL if there is none. */
const char *calc_alias_of_choice(const char *choice);

/** A hint for a path that leads to no field: 'did you mean "sys.mem1.GiB"?', by the nearest path of
 *  a field that can be set; empty if none is near.
 *  @param only    the document that the name began with; CALC_KIND_NONE: none, any of the three
 *  @param path    behind that
 *  @param others  more names that would do, NULL at the end; NULL: none */
void calc_alias_hint(calc_kind only, const char *path, const char *const *others, char *hint,
                     size_t size);

#endif
