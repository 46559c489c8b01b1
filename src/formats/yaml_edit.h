/** @file yaml_edit.h  Changes values in the text of a YAML file and keeps its order, its comments
 *  and everything else byte for byte. */
#ifndef CALC_FORMATS_YAML_EDIT_H
#define CALC_FORMATS_YAML_EDIT_H

#include "calc.h"
#include "io/text.h"

/** A key and its new value. */
typedef struct calc_yaml_edit {
    const char *key;   /**< dotted: "model.model_config.offset" */
    const char *value; /**< as written in the file: "[[1, 0]]", "true" */
} calc_yaml_edit;

/** Replaces values in the text of a mapping, one edit after the other. A missing key is added after
 *  the last key of its mapping, and so is a missing mapping. An anchor stays at its value. If keys
 *  are repeated, the last one is changed.
 *
 *  A value that begins on the line of its key is replaced in place. A value below its key is
 *  removed, with the comments on its lines, and the new value is written on the line of the key.
 *  @param name  the text's name in errors
 *  @param out   filled on CALC_OK
 *  @return CALC_OK; CALC_ERR_SYNTAX with line and column if the text is not a YAML mapping, a
 *  parent of the key holds another value than a mapping, or the result would not be a mapping;
 *  CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_yaml_edit_text(const char *text, size_t length, const char *name,
                                              const calc_yaml_edit *edits, size_t count,
                                              calc_text *out, calc_errors *errors);

#endif
