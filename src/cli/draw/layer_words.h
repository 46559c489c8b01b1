/** @file layer_words.h  Describes a list of layers in few words: "14x tp4 zero3 full, 2x tp4". */
#ifndef CALC_CLI_DRAW_LAYER_WORDS_H
#define CALC_CLI_DRAW_LAYER_WORDS_H

#include "calc.h"

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
