/* zlib without compression: a module has no files. */
#ifndef CALC_WASM_ZLIB_H
#define CALC_WASM_ZLIB_H

#include <stddef.h>

enum { Z_OK = 0, Z_ERRNO = -1 };

typedef void *gzFile;

static inline gzFile gzdopen(int file, const char *mode)
{
    (void)file;
    (void)mode;
    return NULL;
}

static inline int gzread(gzFile from, void *buffer, unsigned size)
{
    (void)from;
    (void)buffer;
    (void)size;
    return -1;
}

static inline size_t gzfwrite(const void *bytes, size_t size, size_t count, gzFile to)
{
    (void)bytes;
    (void)size;
    (void)count;
    (void)to;
    return 0;
}

static inline const char *gzerror(gzFile file, int *error)
{
    (void)file;
    *error = Z_ERRNO;
    return "there are no files";
}

static inline int gzclose(gzFile file)
{
    (void)file;
    return Z_ERRNO;
}

static inline int gzclose_r(gzFile file)
{
    return gzclose(file);
}

static inline const char *zlibVersion(void)
{
    return "none";
}

#endif
