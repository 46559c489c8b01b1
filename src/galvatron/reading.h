/** @file reading.h  The six files of profiles, one reader each. They fill what the search of the
 *  request needs, and note what is beyond what was measured. */
#ifndef CALC_GALVATRON_READING_H
#define CALC_GALVATRON_READING_H

#include "galvatron/files.h"
#include "galvatron/profiles.h"

/** A file, and what its numbers are for. */
typedef struct calc_galvatron_reading {
    const calc_galvatron_request *request;
    calc_galvatron_profiles *out;
    const char *name; /**< of the file, in errors */
    const char *text;
    size_t length;
    calc_errors *errors;
} calc_galvatron_reading;

/** Doublings of the largest degrees that the search may use. */
typedef struct calc_galvatron_needs {
    int world, pp, tp, sp;
    int ends_tp, ends_sp; /**< of embedding and head */
} calc_galvatron_needs;

calc_galvatron_needs calc_galvatron_needs_of(const calc_galvatron_request *request);

/** Whether the number of GPUs is a power of two, not too large; adds an error. */
CALC_MUST_USE calc_status calc_galvatron_world_check(const calc_galvatron_request *request,
                                                     calc_errors *errors);

/** Read one of them.
 *  @return CALC_OK, or the status of the first error that was added */
CALC_MUST_USE calc_status calc_galvatron_read(const calc_galvatron_reading *r,
                                              calc_galvatron_file file);
CALC_MUST_USE calc_status calc_galvatron_read_compute(const calc_galvatron_reading *r);
CALC_MUST_USE calc_status calc_galvatron_read_memory(const calc_galvatron_reading *r);
CALC_MUST_USE calc_status calc_galvatron_read_allreduce(const calc_galvatron_reading *r);
CALC_MUST_USE calc_status calc_galvatron_read_p2p(const calc_galvatron_reading *r);
CALC_MUST_USE calc_status calc_galvatron_read_overlap(const calc_galvatron_reading *r);
CALC_MUST_USE calc_status calc_galvatron_read_collectives(const calc_galvatron_reading *r);

/** The line of a table, through all of its points. */
void calc_galvatron_collective_fit(calc_galvatron_collective *collective);

/** Times of collectives from bandwidths of all-reduces, without latency; for where there is no file
 *  of theirs. */
void calc_galvatron_collectives_from_bandwidth(const calc_galvatron_request *request,
                                               calc_galvatron_profiles *out);

/** Add "NAME: text" as an error of the file as a whole. @return status */
calc_status calc_galvatron_file_error(const calc_galvatron_reading *r, calc_status status,
                                      const char *hint, const char *fmt, ...) CALC_PRINTF(4, 5);

#endif
