/** @file pattern.h  Reads and writes the blocks with experts as frameworks denote them: a period
 *  ("2"), a list ("0 1 1", "[0, 1, 1]") or sums and multiples of lists ("([0]*3+[1]*58)"). */
#ifndef CALC_FORMATS_PATTERN_H
#define CALC_FORMATS_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CALC_PATTERN_MAX = 4096 /**< most blocks of a list */ };

/** Dense blocks come first; then every `every`-th block has experts. */
typedef struct calc_pattern {
    int64_t dense, every;
} calc_pattern;

/** Reads any of the three forms.
 *  @return whether the text is one of them and `out` can express it */
bool calc_pattern_read(const char *text, calc_pattern *out);

/** Writes it for a model of `blocks`: as a list of numbers ("[0, 1, 1]") or, if that is shorter, as
 *  a multiple of lists.
 *  @return whether it fits into `size` bytes */
bool calc_pattern_write(calc_pattern pattern, int64_t blocks, bool plain, char *text, size_t size);

/** Describes a list of 0 and 1.
 *  @return whether `out` can express it */
bool calc_pattern_of(const char *mark, size_t count, calc_pattern *out);

/** Reads a list of 0 and 1 in either form.
 *  @param mark  filled
 *  @return how many there are; 0: the text is no list */
size_t calc_pattern_list(const char *text, char mark[CALC_PATTERN_MAX]);

/** Writes a list of 0 and 1: "[1, 1, 0]" or, not `plain`, as multiples "([1]*2+[0]*1)".
 *  @return whether it fits into `size` bytes */
bool calc_pattern_list_write(const char *mark, size_t count, bool plain, char *text, size_t size);

#endif
