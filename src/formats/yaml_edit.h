/** @file yaml_edit.h  Values of a YAML file changed in its text, so that its order, its comments
 * and all that is not changed stay byte for byte. */
#ifndef CALC_FORMATS_YAML_EDIT_H
#define CALC_FORMATS_YAML_EDIT_H

#include "calc.h"
#include "io/text.h"

/** A key and its new value. */
typedef struct calc_yaml_edit {
    const char *key;   /**< dotted: "model.model_config.offset" */
    const char *value; /**< as it is written: "[[1, 0]]", "true" */
} calc_yaml_edit;

/** The text of a mapping with values replaced, one edit after the other. A key that is not there is
 *  added behind the last one of its mapping, and so are mappings. An anchor stays at its value. The
 *  last of equal keys is meant.
 *
 *  A value that begins on the line of its key is replaced in place. One below its key is replaced
 *  by one beside it, and its lines go, with the comments on them.
 *  @param name  what errors call the text
 *  @param out   filled on CALC_OK
 *  @return CALC_OK; CALC_ERR_SYNTAX if the text is no mapping in YAML, or a key is below one that
 *  has another value than a mapping, or the text would be none any more, with line and column;
 *  CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_yaml_edit_text(const char *text, size_t length, const char *name,
                                              const calc_yaml_edit *edits, size_t count,
                                              calc_text *out, calc_errors *errors);

#endif
