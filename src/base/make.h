/** @file make.h  Memory of the command, which ends without it. The library does not: it returns
 *  CALC_ERR_NOMEM, and has none of this. */
#ifndef CALC_BASE_MAKE_H
#define CALC_BASE_MAKE_H

#include <stddef.h>

#include "base/buffer.h"

/** End the command with CALC_EXIT_SYSTEM: there is no memory. What it leaves is what a killed one
 *  leaves (base/draft.h). */
_Noreturn void calc_end_without_memory(void);

/** calloc(), and realloc() of a list; without memory the command ends. */
void *calc_make(size_t count, size_t size);
void *calc_longer(void *list, size_t count, size_t size);

/** CALC_PUSH(); without memory the command ends. */
#define CALC_ADD(list, count, capacity, element)                                                   \
    (CALC_PUSH(list, count, capacity, element) ? (void)0 : calc_end_without_memory())

#endif
