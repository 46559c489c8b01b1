/** @file diff_stages.h  Compares the lists of stages (calc_exec.stages) of two executions. */
#ifndef CALC_CLI_EXPLAIN_DIFF_STAGES_H
#define CALC_CLI_EXPLAIN_DIFF_STAGES_H

#include "calc.h"

enum { CALC_DIFF_STAGES_KEYS = 4 };

/** Describes one key on both sides, in words.
 *  @param which  below CALC_DIFF_STAGES_KEYS
 *  @param text   CALC_STAGE_WORDS_SIZE bytes each, filled
 *  @return the key, "stages.blocks"; NULL if both sides agree */
const char *calc_diff_stages(const calc_exec *a, const calc_exec *b, int which, char *text[2]);

#endif
