/* Preloaded: allocation number $FAIL_AT of a process fails, and all after it with $FAIL_ALL. With
 * $FAIL_COUNT their number is written to that file at the end. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_long made;
static long fail_at;
static bool all;

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("FAIL_AT");
    all = getenv("FAIL_ALL") != NULL;
    made = 0;
    fail_at = text ? atol(text) : 0;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAIL_COUNT");
    long count = made;
    fail_at = 0;
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%ld\n", count);
        fclose(file);
    }
}

static bool fails(void)
{
    long number = atomic_fetch_add(&made, 1) + 1;
    bool failed = fail_at > 0 && (number == fail_at || (all && number > fail_at));
    if (failed) {
        errno = ENOMEM;
    }
    return failed;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails() ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}
