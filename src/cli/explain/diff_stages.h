/** @file diff_stages.h  Lists of stages of two executions (calc_exec.stages) beside each other. */
#ifndef CALC_CLI_EXPLAIN_DIFF_STAGES_H
#define CALC_CLI_EXPLAIN_DIFF_STAGES_H

#include "calc.h"

enum { CALC_DIFF_STAGES_KEYS = 4 };

/** What both say of a key, in words.
 *  @param which  below CALC_DIFF_STAGES_KEYS
 *  @param text   CALC_STAGE_WORDS_SIZE bytes each, filled
 *  @return the key, "stages.blocks"; NULL if they say the same */
const char *calc_diff_stages(const calc_exec *a, const calc_exec *b, int which, char *text[2]);

#endif
