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

/* Finds the places of a key and its value in the text of a YAML file. */

enum { CALC_YAML_SEGMENTS = 8 /* most segments of a path */, CALC_YAML_ANCHOR_SIZE = 128 };

/** The value of a key on the path. */
typedef struct calc_yaml_value {
    bool found, null;
    size_t key_end, start, end; /**< bytes */
    size_t key_line, line;      /**< from 0 */
    size_t column;              /**< as above, in characters */
    char anchor[CALC_YAML_ANCHOR_SIZE];
} calc_yaml_value;

/** A mapping on the path. */
typedef struct calc_yaml_mapping {
    bool found, flow;
    bool filled;   /**< it has keys */
    size_t column; /**< column of its keys */
    size_t last;   /**< byte where its last value ends */
    size_t close;  /**< of its '}' */
} calc_yaml_mapping;

/** A dotted key, segment by segment. Borrows the key. */
typedef struct calc_yaml_path {
    const char *segment[CALC_YAML_SEGMENTS];
    size_t segment_length[CALC_YAML_SEGMENTS];
    int segments;
    calc_yaml_value value[CALC_YAML_SEGMENTS];     /**< value of each segment */
    calc_yaml_mapping mapping[CALC_YAML_SEGMENTS]; /**< mapping in which each segment is a key */
} calc_yaml_path;

#endif
