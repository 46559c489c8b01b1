/** @file comm.h  Reads measured collectives: comm_prof.csv, columns type, domains, datasize and
 *  time. */
#ifndef CALC_MINDSPEED_COMM_H
#define CALC_MINDSPEED_COMM_H

#include "model/operators/collective.h"

/** A collective of a group on a buffer. */
typedef struct calc_mindspeed_message {
    calc_collective_op op;
    int64_t ranks; /**< column domains */
    double bytes;  /**< column datasize: the whole, unsharded buffer; for an all-to-all the bytes
                    *  that a rank sends */
} calc_mindspeed_message;

typedef struct calc_mindspeed_sent {
    calc_mindspeed_message message;
    double time_s;
} calc_mindspeed_sent;

/** Measured collectives. Owns its lists; start with {0}. */
typedef struct calc_mindspeed_comm {
    calc_mindspeed_sent *item; /**< one per message */
    size_t count;
    calc_mindspeed_message *missing; /**< messages that were requested and not found, each once */
    size_t missing_count, missing_capacity;
    size_t found; /**< successful look-ups */
} calc_mindspeed_comm;

/** Reads a file. Time is in us. If a message has three or more rows, the shortest and the longest
 *  are left out; the others are averaged.
 *  @return CALC_OK; CALC_ERR_TYPE for a malformed collective, size or time, or the status of
 *  calc_csv_table_read(). Errors name file, line and column. *out must be freed in any case. */
CALC_MUST_USE calc_status calc_mindspeed_comm_read(calc_mindspeed_comm *out, const char *path,
                                                   calc_errors *errors);

/** Time [s] of a message that was measured with exactly this number of bytes; 0 for any other,
 *  which is noted. */
double calc_mindspeed_comm_s(calc_mindspeed_comm *comm, const calc_mindspeed_message *message);

/** Frees the lists; {0} is allowed. */
void calc_mindspeed_comm_free(calc_mindspeed_comm *comm);

#endif
