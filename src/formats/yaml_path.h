/** @file yaml_path.h  Finds the places of a key and its value in the text of a YAML file. */
#ifndef CALC_FORMATS_YAML_PATH_H
#define CALC_FORMATS_YAML_PATH_H

#include "calc.h"

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

/** Finds a key in the first document of a text that calc_settings_from_yaml() has accepted. If the
 *  key is repeated, the last one counts.
 *  @return CALC_OK, found or not; CALC_ERR_SYNTAX if the text is nested too deeply or was not
 *  accepted; CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_yaml_path_find(calc_yaml_path *out, const char *key,
                                              const char *text, size_t length);

#endif
