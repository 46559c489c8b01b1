/** @file yaml.h  Edits of the user's configuration for the files that Taylor writes: one per
 *  candidate, and one small enough to be profiled. */
#ifndef CALC_TAYLOR_YAML_H
#define CALC_TAYLOR_YAML_H

#include "formats/yaml_edit.h"
#include "taylor/config.h"
#include "taylor/memory.h"

enum { CALC_TAYLOR_EDITS = 32, CALC_TAYLOR_EDIT_TEXT = 32768 };

/** A list of edits with their texts. Start with {0}; must not be copied. */
typedef struct calc_taylor_edits {
    calc_yaml_edit item[CALC_TAYLOR_EDITS];
    size_t count, used;
    char text[CALC_TAYLOR_EDIT_TEXT];
} calc_taylor_edits;

enum { CALC_TAYLOR_NAME_SIZE = 96 };

/** The name of a candidate's file: "DP16_TP4_PP16_EP32_pretrain.yaml". @return name */
char *calc_taylor_file_name(const calc_taylor_candidate *candidate,
                            char name[CALC_TAYLOR_NAME_SIZE]);

/** Reads the layout from a file's name, the only place where the planner stores it: the first
 *  DP<n>_TP<n>_PP<n>_EP<n> in it. @return whether there is one */
bool calc_taylor_file_layout(const char *name, calc_taylor_candidate *out);

/** Edits that set the layout of a candidate.
 *  @param dataset  path of the data; NULL: unchanged */
void calc_taylor_edits_layout(const calc_taylor_config *config,
                              const calc_taylor_candidate *candidate, int64_t batch,
                              const char *dataset, calc_taylor_edits *edits);

/** As above, for a profile on at most `ranks` processors: fewer stages, then fewer replicas, and
 *  few layers, some with and some without recomputation.
 *  @return whether there is such a shape: for 2, 4 and 8 stages */
bool calc_taylor_edits_profile(const calc_taylor_config *config,
                               const calc_taylor_candidate *candidate, int64_t batch, int64_t ranks,
                               const char *dataset, const char *small_dataset,
                               calc_taylor_edits *edits);

/** Edits that set the division of the layers and the recomputation of a solution. */
void calc_taylor_edits_balance(const calc_taylor_config *config, const calc_taylor_ask *ask,
                               const calc_balance_share *share, calc_taylor_edits *edits);

#endif
