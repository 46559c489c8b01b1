/** @file reading.h  Readers of the six files of profiles. They fill the values that the search of
 *  the request needs, and note values outside the measured range. */
#ifndef CALC_GALVATRON_READING_H
#define CALC_GALVATRON_READING_H

#include <stddef.h>

#include "galvatron/profiles.h"
#include "galvatron/request.h"

/** A file and the destination of its numbers. */
typedef struct calc_galvatron_reading {
    const calc_galvatron_request *request;
    calc_galvatron_profiles *out;
    const char *name; /**< name of the file in errors */
    const char *text;
    size_t length;
    calc_errors *errors;
} calc_galvatron_reading;

/** log2 of the largest degrees that the search may use. */
typedef struct calc_galvatron_needs {
    int world, pp, tp, sp;
    int ends_tp, ends_sp; /**< degrees of embedding and head */
} calc_galvatron_needs;

calc_galvatron_needs calc_galvatron_needs_of(const calc_galvatron_request *request);

/** Checks that the number of GPUs is a power of two and not too large; else adds an error. */
CALC_MUST_USE calc_status calc_galvatron_world_check(const calc_galvatron_request *request,
                                                     calc_errors *errors);

/** Reads one of the files.
 *  @return CALC_OK, or the status of the first error that was added */
CALC_MUST_USE calc_status calc_galvatron_read(const calc_galvatron_reading *r,
                                              calc_galvatron_file file);
CALC_MUST_USE calc_status calc_galvatron_read_compute(const calc_galvatron_reading *r);
CALC_MUST_USE calc_status calc_galvatron_read_memory(const calc_galvatron_reading *r);
CALC_MUST_USE calc_status calc_galvatron_read_allreduce(const calc_galvatron_reading *r);
CALC_MUST_USE calc_status calc_galvatron_read_p2p(const calc_galvatron_reading *r);
CALC_MUST_USE calc_status calc_galvatron_read_overlap(const calc_galvatron_reading *r);
CALC_MUST_USE calc_status calc_galvatron_read_collectives(const calc_galvatron_reading *r);

/** Derives times of collectives from bandwidths of all-reduces, without latency, if there is no
 *  file of measured times. */
void calc_galvatron_collectives_from_bandwidth(const calc_galvatron_request *request,
                                               calc_galvatron_profiles *out);

/** The line with the least sum of squares through measured points, with their range of x; with bend
 *  not NULL the parabola offset + slope x + bend x^2. What the points do not determine is 0. */
calc_galvatron_line calc_galvatron_fit(const double *x, const double *y, size_t count,
                                       double *bend);

/** Adds "NAME: text" as an error of the whole file. @return status */
calc_status calc_galvatron_file_error(const calc_galvatron_reading *r, calc_status status,
                                      const char *hint, const char *fmt, ...) CALC_PRINTF(4, 5);

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
