/** @file yaml.h  The files that Taylor makes of the user's configuration: one per candidate, and
 * one small enough to be profiled. */
#ifndef CALC_TAYLOR_YAML_H
#define CALC_TAYLOR_YAML_H

#include "formats/yaml_edit.h"
#include "taylor/pipeline.h"
#include "taylor/space.h"

enum { CALC_TAYLOR_EDITS = 32, CALC_TAYLOR_EDIT_TEXT = 32768 };

/** A list of edits with their texts. Start with {0}; not to be copied. */
typedef struct calc_taylor_edits {
    calc_yaml_edit item[CALC_TAYLOR_EDITS];
    size_t count, used;
    char text[CALC_TAYLOR_EDIT_TEXT];
} calc_taylor_edits;

/** Add one. What does not fit is left out, which a test of the longest lists rules out. */
void calc_taylor_edit(calc_taylor_edits *edits, const char *key, const char *fmt, ...)
    CALC_PRINTF(3, 4);

/** A candidate. */
typedef struct calc_taylor_candidate {
    calc_taylor_layout layout;
    int64_t expert;
    double peak_mb;
} calc_taylor_candidate;

enum { CALC_TAYLOR_NAME_SIZE = 96 };

/** Name of a candidate's file: "DP16_TP4_PP16_EP32_pretrain.yaml". @return name */
char *calc_taylor_file_name(const calc_taylor_candidate *candidate,
                            char name[CALC_TAYLOR_NAME_SIZE]);

/** The layout that a file's name has, the only place where the planner keeps it: the first
 *  DP<n>_TP<n>_PP<n>_EP<n> in it. @return whether there is one */
bool calc_taylor_file_layout(const char *name, calc_taylor_candidate *out);

/** Edits that lay the model out as the candidate says.
 *  @param dataset  path of the data; NULL: stays */
void calc_taylor_edits_layout(const calc_taylor_config *config,
                              const calc_taylor_candidate *candidate, int64_t batch,
                              const char *dataset, calc_taylor_edits *edits);

/** The same for a profile on at most `ranks` processors: fewer stages, then fewer replicas, and few
 *  layers, some of which recompute and some do not.
 *  @return whether there is such a shape: for 2, 4 and 8 stages */
bool calc_taylor_edits_profile(const calc_taylor_config *config,
                               const calc_taylor_candidate *candidate, int64_t batch, int64_t ranks,
                               const char *dataset, const char *small_dataset,
                               calc_taylor_edits *edits);

/** Edits that divide the layers and recompute as a solution says. */
void calc_taylor_edits_balance(const calc_taylor_config *config, const calc_taylor_ask *ask,
                               const calc_balance_share *share, calc_taylor_edits *edits);

#endif
