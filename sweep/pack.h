/** @file pack.h  Results of a sweep as bytes: the same on every machine, whatever its byte order.
 */
#ifndef CALC_SWEEP_PACK_H
#define CALC_SWEEP_PACK_H

#include "sweep.h"

/** Bytes that grow. Start with {0}; free `data`. */
typedef struct calc_pack {
    unsigned char *data;
    size_t size, capacity;
    bool failed; /**< memory was short; nothing was added since */
} calc_pack;

void calc_pack_u64(calc_pack *out, uint64_t value);
/** Length and bytes. */
void calc_pack_bytes(calc_pack *out, const void *bytes, size_t size);
/** Counts and groups. */
void calc_pack_result(calc_pack *out, const calc_sweep_result *result);

/** Bytes that are read: from `at` to `end`. */
typedef struct calc_unpack {
    const unsigned char *at, *end;
    bool failed; /**< the bytes do not make sense; whatever is read then is 0 */
} calc_unpack;

uint64_t calc_unpack_u64(calc_unpack *in);
/** Borrowed from the input. */
const unsigned char *calc_unpack_bytes(calc_unpack *in, size_t *size);
/** Counts and groups; *result must be freed in any case.
 *  @return CALC_OK, CALC_ERR_NOMEM, or CALC_ERR_SYNTAX if the bytes do not make sense */
CALC_MUST_USE calc_status calc_unpack_result(calc_unpack *in, calc_sweep_result *result);

#endif
