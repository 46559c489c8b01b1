/** @file checkpoint.h  A part of a sweep as a file: the results so far, their shard, and the
 *  position to go on from. Made by `calc sweep --checkpoint` and `--shard`; read by `--resume` and
 *  `calc sweep --merge`.
 *
 *  The file is written beside its place and renamed: a reader sees the old part or the new one,
 * never half of one, whenever the writer is killed. This layer does not see io, whose files are for
 *  people; a part is for calc alone, so it reads and writes with the C library itself. */
#ifndef CALC_SWEEP_CHECKPOINT_H
#define CALC_SWEEP_CHECKPOINT_H

#include "calc.h"
#include "sweep.h"

/* ---- Shards ---------------------------------------------------------------------------------- */

/** Parse "2/4": the second of four, nothing done. "1/1" is the whole sweep. At most a million.
 *  @return CALC_OK or CALC_ERR_RANGE with an error */
CALC_MUST_USE calc_status calc_shard_parse(calc_shard *out, const char *text, calc_errors *errors);

/* ---- Parts as files -------------------------------------------------------------------------- */

/** What the parts of one sweep have in common. */
typedef struct calc_sweep_mark {
    uint64_t fingerprint; /**< calc_fingerprint() */
    uint64_t designs;
    size_t groups; /**< calc_sweep_groups() */
} calc_sweep_mark;

calc_sweep_mark calc_sweep_mark_of(const calc_space *space, const calc_designs *designs,
                                   const calc_sweep_options *options);

/** A part of a sweep. Free with calc_checkpoint_free(). */
typedef struct calc_checkpoint {
    uint64_t fingerprint;     /**< calc_fingerprint() of the sweep */
    calc_shard shard;         /**< which units are done: those of the shard before shard.next */
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
 *  @return CALC_OK; CALC_ERR_RANGE with an error; CALC_ERR_SYNTAX with one if it has other groups
 *  or designs than the sweep */
CALC_MUST_USE calc_status calc_checkpoint_belongs(const calc_checkpoint *part, const char *path,
                                                  const calc_sweep_mark *sweep,
                                                  const calc_shard *shard, calc_errors *errors);

/** Free what the part owns, words too. Fine on {0}. */
void calc_checkpoint_free(calc_checkpoint *part);

/* ---- Sweeps that are saved ------------------------------------------------------------------- */

/* Sweeps that survive: one shard, with checkpoints, and going on from one. */

/** Where a sweep is saved; how often, options.checkpoint_s says. */
typedef struct calc_saving {
    const char *path; /**< the checkpoint (checkpoint.h); NULL: none */
    bool resume;      /**< go on from it; from the start if there is no file */
    calc_shard shard; /**< part to sweep; calc_shard_parse("1/1") is all */
    char *words;      /**< the command line, as in calc_checkpoint; borrowed */
    size_t words_size;
    void (*unsaved)(const calc_error *error); /**< told once, at the first checkpoint in between
                                                 that cannot be written; NULL: nobody */
} calc_saving;

/** calc_sweep() of one shard; sets shard, checkpoint and resumed of `options`. The checkpoint is
 *  written once before the sweep starts, so that a path that cannot be written costs no work, and
 *  when it ends. One that cannot be written in between is no failure: the next may succeed. Until
 *  then the checkpoint is locked (base/draft.h): another process that would save there gets
 *  CALC_ERR_IO.
 *  @return as calc_sweep() and calc_checkpoint_read(); CALC_ERR_IO too if the first or the last
 *  checkpoint cannot be written: after the last, *result is whole (partial is false). Errors are
 *  added. *result must be freed in any case. */
CALC_MUST_USE calc_status calc_saved_sweep(const calc_space *space, const calc_designs *designs,
                                           const calc_sweep_options *options,
                                           const calc_saving *saving, calc_sweep_result *result,
                                           calc_errors *errors);

/* ---- Parts of a sweep, put together ---------------------------------------------------------- */

/* The parts of a sweep (checkpoint.h), put together. */

/** Merge the shards of a sweep, which must all be there, once, and finished.
 *  @param path         their files, in any order
 *  @param sweep        calc_sweep_mark_of() the sweep
 *  @param options      of the sweep
 *  @param result       filled with the result of one sweep of everything; must be freed in any case
 *  @return CALC_OK; what calc_checkpoint_read() and _belongs() return; CALC_ERR_RANGE if shards are
 *  missing, repeated, not finished or of another division; CALC_ERR_NOMEM; with an error */
CALC_MUST_USE calc_status calc_parts_merge(const char *const *path, size_t count,
                                           const calc_sweep_mark *sweep,
                                           const calc_sweep_options *options,
                                           calc_sweep_result *result, calc_errors *errors);

/* One number for all inputs that determine a sweep's result. Parts of a sweep
 * are merged only if their numbers agree. */

/** Hash of calc's version, the space, every design, and those options that change the result or its
 *  counts; threads, CPU level, verification and callbacks do not. */
uint64_t calc_fingerprint(const calc_space *space, const calc_designs *designs,
                          const calc_sweep_options *options);

#endif
