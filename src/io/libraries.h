/** @file libraries.h  The libraries that io is built on. */
#ifndef CALC_IO_LIBRARIES_H
#define CALC_IO_LIBRARIES_H

#include <stddef.h>

/** Their versions: "Jansson 2.14, zlib 1.2.13". @return buffer */
char *calc_libraries_text(char *buffer, size_t size);

#endif
