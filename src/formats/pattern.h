/** @file pattern.h  Which blocks have experts, as frameworks say it: a period ("2"), a list
 *  ("0 1 1", "[0, 1, 1]") or sums and multiples of lists ("([0]*3+[1]*58)"). */
#ifndef CALC_FORMATS_PATTERN_H
#define CALC_FORMATS_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CALC_PATTERN_MAX = 4096 /**< blocks of a list */ };

/** Dense blocks first, then one block with experts in every `every`. */
typedef struct calc_pattern {
    int64_t dense, every;
} calc_pattern;

/** Read any of the three.
 *  @return whether it is one, and one that `out` can say */
bool calc_pattern_read(const char *text, calc_pattern *out);

/** Write it for a model of `blocks`: as a list of numbers ("[0, 1, 1]") or, shorter, as a multiple
 *  of lists.
 *  @return whether it fits into `size` bytes */
bool calc_pattern_write(calc_pattern pattern, int64_t blocks, bool plain, char *text, size_t size);

#endif
