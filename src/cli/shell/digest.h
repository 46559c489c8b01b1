/** @file digest.h  Which bytes a document had: SHA-256 as sha256sum has it. The door of libmd. */
#ifndef CALC_CLI_SHELL_DIGEST_H
#define CALC_CLI_SHELL_DIGEST_H

#include <stddef.h>

enum { CALC_DIGEST_TEXT = 65 /**< 64 hexadecimal digits and their end */ };

/** The digest of some bytes in hexadecimal digits. @return text */
char *calc_digest_text(const void *bytes, size_t length, char text[CALC_DIGEST_TEXT]);

#endif
