/** @file comm.h  Measured collectives: comm_prof.csv, columns type, domains, datasize and time. */
#ifndef CALC_MINDSPEED_COMM_H
#define CALC_MINDSPEED_COMM_H

#include "model/operators/collective.h"

/** A collective of a group on a buffer. */
typedef struct calc_mindspeed_message {
    calc_collective_op op;
    int64_t ranks; /**< column domains */
    double bytes;  /**< column datasize: the whole, unsharded buffer; of an all-to-all what a rank
                        sends */
} calc_mindspeed_message;

typedef struct calc_mindspeed_sent {
    calc_mindspeed_message message;
    double time_s;
} calc_mindspeed_sent;

/** Owns its lists; start with {0}. */
typedef struct calc_mindspeed_comm {
    calc_mindspeed_sent *item; /**< one of each message */
    size_t count;
    calc_mindspeed_message *missing; /**< asked for and not there, each once */
    size_t missing_count, missing_capacity;
    size_t found; /**< questions that were answered */
} calc_mindspeed_comm;

/** Read a file. Time is in us. Of three or more rows of a message the shortest and the longest are
 *  left out; the mean of the others counts.
 *  @return CALC_OK; CALC_ERR_TYPE for what is no collective, no size or no time, or what
 *  calc_csv_table_read() returns. Errors name file, line and column. *out must be freed in any
 *  case. */
CALC_MUST_USE calc_status calc_mindspeed_comm_read(calc_mindspeed_comm *out, const char *path,
                                                   calc_errors *errors);

/** Time of a message that was measured, to the byte [s]; 0 for any other, which is noted. */
double calc_mindspeed_comm_s(calc_mindspeed_comm *comm, const calc_mindspeed_message *message);

/** Free them; fine on {0}. */
void calc_mindspeed_comm_free(calc_mindspeed_comm *comm);

#endif
