/** @file digest.h  Identifies the bytes of a document by SHA-256, like sha256sum. The only file
 *  that uses libmd. */
#ifndef CALC_CLI_SHELL_DIGEST_H
#define CALC_CLI_SHELL_DIGEST_H

#include <stddef.h>

enum { CALC_DIGEST_TEXT = 65 /**< 64 hexadecimal digits and the terminating 0 */ };

/** The digest of some bytes in hexadecimal digits. @return text */
char *calc_digest_text(const void *bytes, size_t length, char text[CALC_DIGEST_TEXT]);

#endif
