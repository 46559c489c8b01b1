#include "io/libraries.h"

#include <jansson.h>
#include <stdio.h>
#include <zlib.h>

char *calc_libraries_text(char *buffer, size_t size)
{
    snprintf(buffer, size, "Jansson %s, zlib %s", jansson_version_str(), zlibVersion());
    return buffer;
}
