/** @file failing.h  Allocations that fail on purpose, which the linker lets come here (--wrap, in
 *  CMakeLists.txt): the n-th one and all after it, or it alone. */
#ifndef CALC_TEST_FAILING_H
#define CALC_TEST_FAILING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

enum { UNLIMITED = -1 };

static atomic_int left = UNLIMITED; /* allocations that still succeed, of all threads */
static bool fail_once;              /* then all succeed again, and left is UNLIMITED */

static bool may_allocate(void)
{
    int had = atomic_load(&left);
    while ((had > 0 || (had == 0 && fail_once)) &&
           !atomic_compare_exchange_weak(&left, &had, had - 1)) {
        /* had is now what another thread has left */
    }
    return had != 0;
}

void *__wrap_malloc(size_t size)
{
    return may_allocate() ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t count, size_t size)
{
    return may_allocate() ? __real_calloc(count, size) : NULL;
}

void *__wrap_realloc(void *memory, size_t size)
{
    return may_allocate() ? __real_realloc(memory, size) : NULL;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return may_allocate() ? __real_aligned_alloc(alignment, size) : NULL;
}

#endif
