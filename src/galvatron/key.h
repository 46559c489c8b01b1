/** @file key.h  Parses keys of Galvatron's profiles: words that contain numbers. */
#ifndef CALC_GALVATRON_KEY_H
#define CALC_GALVATRON_KEY_H

#include "galvatron/request.h"

#include <stddef.h>

enum { CALC_GALVATRON_KEY_VALUES = 8 };

/** Matches a whole key against a pattern. "#" stands for a whole number; "*" at the end stands for
 *  one or several, as in "512_512" or "[512,512]".
 *  @param values  filled with the numbers, at most CALC_GALVATRON_KEY_VALUES
 *  @return how many numbers there are; -1 if the key does not match */
int calc_galvatron_key(const char *key, const char *pattern, int64_t *values);

/** Whether the numbers of a "*" are the sequence lengths of all types of layers. */
bool calc_galvatron_is_sequences(const calc_galvatron_request *request, const int64_t *values,
                                 int count);

/** Writes these sequence lengths in the form of a key: "512_512". @return text */
char *calc_galvatron_sequences_text(const calc_galvatron_request *request, char *text, size_t size);

#endif
