/** @file checkpoint.h  A part of a sweep as a file: the results so far, their shard, and the
 *  position to go on from. Made by `calc sweep --checkpoint` and `--shard`; read by `--resume` and
 *  `calc merge`.
 *
 *  The file is written beside its place and renamed: a reader sees the old part or the new one,
 * never half of one, whenever the writer is killed. This layer does not see io, whose files are for
 *  people; a part is for calc alone, so it reads and writes with the C library itself. */
#ifndef CALC_SWEEP_CHECKPOINT_H
#define CALC_SWEEP_CHECKPOINT_H

#include "shard.h"
#include "sweep.h"

/** A part of a sweep. Free with calc_checkpoint_free(). */
typedef struct calc_checkpoint {
    uint64_t fingerprint;     /**< calc_fingerprint() of the sweep */
    calc_shard shard;         /**< which chunks are done: those of the shard before shard.next */
    char *words;              /**< the command line: texts, each with its 0 at the end */
    size_t words_size;        /**< bytes of them all */
    calc_sweep_result result; /**< counts and groups */
} calc_checkpoint;

/** Replace the file at `path` by this part. An old file stays as it was if that fails.
 *  @return CALC_OK; CALC_ERR_IO or CALC_ERR_NOMEM with an error */
CALC_MUST_USE calc_status calc_checkpoint_write(const calc_checkpoint *part, const char *path,
                                                calc_errors *errors);

/** Read a part. *out must be freed in any case.
 *  @return CALC_OK; CALC_ERR_NOT_FOUND if there is no file; CALC_ERR_SYNTAX if it is not a part, is
 *  damaged or of another version; CALC_ERR_IO; CALC_ERR_NOMEM; with an error each */
CALC_MUST_USE calc_status calc_checkpoint_read(calc_checkpoint *out, const char *path,
                                               calc_errors *errors);

/** Whether a part that was read from `path` is one of this sweep and, unless `shard` is NULL, of
 *  this shard.
 *  @return CALC_OK, or CALC_ERR_RANGE with an error */
CALC_MUST_USE calc_status calc_checkpoint_belongs(const calc_checkpoint *part, const char *path,
                                                  uint64_t fingerprint, const calc_shard *shard,
                                                  calc_errors *errors);

/** Free what the part owns, words too. Fine on {0}. */
void calc_checkpoint_free(calc_checkpoint *part);

#endif
