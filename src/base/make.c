#include "base/make.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void calc_end_without_memory(void)
{
    enum { EXIT_SYSTEM = 4 /* CALC_EXIT_SYSTEM */ };
    fputs("calc: out of memory\n", stderr);
    _exit(EXIT_SYSTEM);
}

static void *or_end(void *made)
{
    if (!made) {
        calc_end_without_memory();
    }
    return made;
}

void *calc_make(size_t count, size_t size)
{
    return or_end(calloc(count > 0 ? count : 1, size));
}

void *calc_longer(void *list, size_t count, size_t size)
{
    return or_end(realloc(list, count * size));
}
