#include "galvatron/key.h"

#include "base/buffer.h"

#include <inttypes.h>
#include <string.h>

enum { DIGITS = 12 /* most digits of a number */ };

/* Reads a number at *text and advances *text past it. */
static bool number(const char **text, int64_t *out)
{
    size_t digits = strspn(*text, "0123456789");
    *out = 0;
    for (size_t i = 0; i < digits && digits <= DIGITS; i++) {
        *out = *out * 10 + ((*text)[i] - '0');
    }
    *text += digits;
    return digits >= 1 && digits <= DIGITS;
}

/* Reads numbers up to the end of the text, from index `count` on. */
static int list(const char *text, int64_t *values, int count)
{
    bool bracket = *text == '[';
    text += bracket;
    for (;;) {
        if (count == CALC_GALVATRON_KEY_VALUES || !number(&text, &values[count++])) {
            return -1;
        }
        if (*text != (bracket ? ',' : '_')) {
            break;
        }
        text++;
        text += bracket && *text == ' ';
    }
    return strcmp(text, bracket ? "]" : "") == 0 ? count : -1;
}

int calc_galvatron_key(const char *key, const char *pattern, int64_t *values)
{
    int count = 0;
    for (; *pattern; pattern++) {
        if (*pattern == '*') {
            return list(key, values, count);
        }
        if (*pattern == '#') {
            if (count == CALC_GALVATRON_KEY_VALUES || !number(&key, &values[count++])) {
                return -1;
            }
        } else if (*key++ != *pattern) {
            return -1;
        }
    }
    return *key ? -1 : count;
}

bool calc_galvatron_is_sequences(const calc_galvatron_request *request, const int64_t *values,
                                 int count)
{
    for (int type = 0; type < count && type < request->types; type++) {
        if (values[type] != request->layers[type].seq_len) {
            return false;
        }
    }
    return count == request->types;
}

char *calc_galvatron_sequences_text(const calc_galvatron_request *request, char *text, size_t size)
{
    text[0] = '\0';
    for (int type = 0; type < request->types; type++) {
        calc_append(text, size, "%s%" PRId64, type ? "_" : "", request->layers[type].seq_len);
    }
    return text;
}
