/** @file stage_words.h  Describes a list of stages in few words: "3, 7x11". */
#ifndef CALC_CLI_DRAW_STAGE_WORDS_H
#define CALC_CLI_DRAW_STAGE_WORDS_H

#include "calc.h"

enum { CALC_STAGE_WORDS_SIZE = 512 };

/** Their blocks, "3, 7x11"; "as spread evenly" if the list does not say.
 *  @param text  CALC_STAGE_WORDS_SIZE bytes, returned */
char *calc_stage_words_blocks(const calc_exec *exec, char *text);

/** Their systems, "a800, 7x h800", and the number of processors of each: "64 x a800 and 448 x
 *  h800".
 *  @param name  of the system of the run */
char *calc_stage_words_chips(const calc_exec *exec, const char *name, char *text);
char *calc_stage_words_machine(const calc_exec *exec, const char *name, char *text);

/** The recomputation of an execution in a block: "none", "full", "core_attn+mlp". */
void calc_stage_words_recomputed(const calc_exec *exec, char *word, size_t size);

/** The recomputation of stages: "none, 7x full of 3 blocks". */
char *calc_stage_words_recompute(const calc_exec *exec, char *text);

/* Describes a list of layers in few words: "14x tp4 zero3 full, 2x tp4". */

enum { CALC_LAYER_WORDS_SIZE = 1024 };

/** The strategy of each run of layers; equal neighbours are joined. Fields that a run leaves out
 *  are those of the execution.
 *  @param text  CALC_LAYER_WORDS_SIZE bytes, returned */
char *calc_layer_words(const calc_exec *exec, char *text);

/** The same for the embedding and the head: "tp8 zero1". */
char *calc_layer_words_ends(const calc_exec *exec, char *text);

/** The strategy of layers key by key: names, NULL at the end, and the words of one key: "14x 4, 2x
 *  1". The last one describes the ends. */
extern const char *const calc_layer_words_keys[];
char *calc_layer_words_of(const calc_exec *exec, int key, char *text);

#endif
