/** @file alias.h  Fields by their other names (calc_field.also), other words for choices, and the
 *  nearest name to one that no field has. */
#ifndef CALC_SPEC_ALIAS_H
#define CALC_SPEC_ALIAS_H

#include "calc.h"

/** The field with this other key; NULL if there is none. */
const calc_field *calc_alias_find(const calc_table *table, const char *key);

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
