/** @file draft.h  Files that appear whole or not at all: a draft is written beside its place and
 *  takes it when it is whole, and stays there when the machine loses power a moment later. What a
 *  killed writer left is removed by the next one of the same place. */
#ifndef CALC_BASE_DRAFT_H
#define CALC_BASE_DRAFT_H

/** A draft under way. Owns what it points to. */
typedef struct calc_draft {
    char *place; /**< where it will be: symbolic links are followed */
    char *path;  /**< where it is */
    int file;    /**< descriptor to write to */
} calc_draft;

/** Start a draft for `path`, which is a regular file or none yet. It gets the mode of the old file,
 *  or obeys the umask.
 *  @return 0; errno if that is impossible: then *out is empty */
int calc_draft_open(calc_draft *out, const char *path);

/** Write it to the disk and put it in its place. The draft is freed, and removed on failure.
 *  @return 0, or errno: then an old file in its place is as it was */
int calc_draft_keep(calc_draft *draft);

/** Remove and free it. Fine on one that was kept. */
void calc_draft_drop(calc_draft *draft);

/** A lock on a place: one process holds it, through the file `path`.lock beside it. The kernel
 * takes it from a process that dies, so a file that is left says nothing. Within one process it
 * does not lock. */
typedef struct calc_lock {
    char *path; /**< of the lock; NULL: not held */
    int file;
} calc_lock;

/** Take the lock on a place. Where locks are not possible, on some network file systems or in a
 *  folder that cannot be written, there is none.
 *  @param owner  the process that holds it, 0 if unknown; set with EBUSY
 *  @return 0; EBUSY if another process holds it; ENOMEM */
int calc_lock_take(calc_lock *out, const char *path, long *owner);

/** Give it back. Fine on {0}. */
void calc_lock_release(calc_lock *lock);

#endif
