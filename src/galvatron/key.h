/** @file key.h  Keys of Galvatron's profiles: words with numbers in them. */
#ifndef CALC_GALVATRON_KEY_H
#define CALC_GALVATRON_KEY_H

#include "galvatron/request.h"

#include <stddef.h>

enum { CALC_GALVATRON_KEY_VALUES = 8 };

/** Whether a whole key has the form of a pattern: "#" stands for a whole number, "*" at the end for
 *  one or several, as in "512_512" or "[512,512]".
 *  @param values  filled with the numbers, CALC_GALVATRON_KEY_VALUES of them at most
 *  @return how many there are; -1: it has another form */
int calc_galvatron_key(const char *key, const char *pattern, int64_t *values);

/** Whether the numbers of a "*" are the sequences of all types of layers. */
bool calc_galvatron_is_sequences(const calc_galvatron_request *request, const int64_t *values,
                                 int count);

/** These sequences as keys have them: "512_512". @return text */
char *calc_galvatron_sequences_text(const calc_galvatron_request *request, char *text, size_t size);

#endif
