#include "cli/shell/digest.h"

#include <sha256.h>

char *calc_digest_text(const void *bytes, size_t length, char text[CALC_DIGEST_TEXT])
{
    return SHA256Data(bytes, length, text);
}
