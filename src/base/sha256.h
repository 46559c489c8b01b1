/** @file sha256.h  SHA-256 (FIPS 180-4), as sha256sum has it: which bytes a document had. */
#ifndef CALC_BASE_SHA256_H
#define CALC_BASE_SHA256_H

#include <stddef.h>

enum { CALC_SHA256_TEXT = 65 /**< 64 hexadecimal digits and their end */ };

/** The digest of some bytes in hexadecimal digits. @return text */
char *calc_sha256_text(const void *bytes, size_t length, char text[CALC_SHA256_TEXT]);

#endif
