/** @file stage_text.h  The blocks of each stage in the notation of Megatron Core
 *  (pipeline_parallel_layer_layout.py): "Et*3|(t*4|)*14t*2L", a letter per embedding, block,
 *  multi-token prediction and loss, stages between bars. */
#ifndef CALC_SPEC_STAGE_TEXT_H
#define CALC_SPEC_STAGE_TEXT_H

#include "calc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Blocks spread as evenly as possible, the stages with one more first; with `ends` embedding and
 *  head count as one block each: calc_stages_split() with pipeline_balance blocks or ends. */
typedef struct calc_stage_text {
    int64_t
        stages; /**< at least 1; with chunks the stages of each chunk, one chunk after the other */
    int64_t blocks;
    int64_t mtp_blocks; /**< on the last stage */
    bool ends;
    bool uneven; /**< read only: blocks are spread in another way */
    bool listed; /**< there is room for .block; the first and the last may have none */
    int16_t block[CALC_MAX_PLACES]; /**< by stage */
} calc_stage_text;

/** Blocks of a stage, unless it is uneven and not listed; less than 0 if there are too few for the
 *  embedding or the head. */
int64_t calc_stage_text_blocks(const calc_stage_text *stages, int64_t stage);

/** Write it. @return whether every stage has a number of blocks, and it fits into `size` bytes */
bool calc_stage_text_write(const calc_stage_text *stages, char *text, size_t size);

/** Read it. @return whether it is such a text */
bool calc_stage_text_read(const char *text, calc_stage_text *out);

#endif
