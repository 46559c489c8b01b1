/* What the one shared library of all code needs beside it, for scripts/mutate. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Allocations of the library, for which programs have functions of their own -------------- */

void *__real_malloc(size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);

void *__wrap_malloc(size_t size)
{
    return __real_malloc(size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return __real_realloc(old, size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return __real_calloc(count, size);
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
    return __real_aligned_alloc(align, size);
}

/* ---- Which blocks of code a program and its children reach ----------------------------------- */

#ifdef CALC_TRACE
#ifdef __clang__
#define UNTRACED __attribute__((no_sanitize("coverage")))
#else
#define UNTRACED __attribute__((no_sanitize_coverage))
#endif

extern const char __ehdr_start __attribute__((visibility("hidden")));
static unsigned char *reached;
static size_t room;

__attribute__((constructor)) UNTRACED static void open_trace(void)
{
    const char *name = getenv("CALC_TRACE");
    int file = name ? open(name, O_RDWR) : -1;
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) {
        return;
    }
    void *at = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at != MAP_FAILED) {
        room = (size_t)status.st_size;
        reached = at;
    }
    close(file);
}

void __sanitizer_cov_trace_pc(void);

UNTRACED void __sanitizer_cov_trace_pc(void)
{
    size_t at = (size_t)((uintptr_t)__builtin_return_address(0) - (uintptr_t)&__ehdr_start);
    if (reached && at < room && !reached[at]) {
        reached[at] = 1;
    }
}
#endif
