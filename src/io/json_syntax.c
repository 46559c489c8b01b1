#include "io/json_syntax.h"

#include "calc.h"
#include "io/json_scan.h"
#include "io/utf8.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MAX_DEPTH = JSON_PARSER_MAX_DEPTH };

/* Tokens that may come next. */
typedef enum state {
    VALUE,
    VALUE_OR_CLOSE,
    KEY,
    KEY_OR_CLOSE,
    COLON,
    COMMA_OR_CLOSE,
    NOTHING
} state;

typedef struct checker {
    const char *text;
    size_t length;
    calc_json_mistake *out;
    bool not_finite; /* NaN and the like are values */
    state state;
    calc_json_token token, before; /* this one and the last one */
    size_t depth;
    size_t open[MAX_DEPTH]; /* offsets of the brackets that are still open */
} checker;

static bool mistake(checker *check, size_t offset, const char *hint, const char *fmt, ...)
    CALC_PRINTF(4, 5);

/* Report a mistake; always true. */
static bool mistake(checker *check, size_t offset, const char *hint, const char *fmt, ...)
{
    check->out->offset = offset;
    snprintf(check->out->hint, sizeof check->out->hint, "%s", hint);
    va_list args;
    va_start(args, fmt);
    vsnprintf(check->out->text, sizeof check->out->text, fmt, args);
    va_end(args);
    return true;
}

/* ---- Inside a token ------------------------------------------------------------------------- */

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static size_t skip_digits(const char *word, size_t length, size_t at)
{
    while (at < length && is_digit(word[at])) {
        at++;
    }
    return at;
}

static bool is_number(const char *word, size_t length)
{
    size_t at = word[0] == '-';
    size_t digits = at;
    at = skip_digits(word, length, at);
    if (at == digits || (word[digits] == '0' && at > digits + 1)) {
        return false;
    }
    if (at < length && word[at] == '.') {
        digits = ++at;
        at = skip_digits(word, length, at);
        if (at == digits) {
            return false;
        }
    }
    if (at < length && (word[at] == 'e' || word[at] == 'E')) {
        at++;
        at += at < length && (word[at] == '+' || word[at] == '-');
        digits = at;
        at = skip_digits(word, length, at);
        if (at == digits) {
            return false;
        }
    }
    return at == length;
}

static bool word_is(const checker *check, const char *word)
{
    size_t length = check->token.end - check->token.start;
    return strlen(word) == length &&
           strncasecmp(check->text + check->token.start, word, length) == 0;
}

static bool word_begins(const checker *check, const char *prefix)
{
    size_t length = check->token.end - check->token.start;
    return strlen(prefix) <= length &&
           memcmp(check->text + check->token.start, prefix, strlen(prefix)) == 0;
}

/* A word that can stand nowhere in JSON: true if its kind is known, and reported. */
static bool foreign_word(checker *check, const char *shown)
{
    static const char *const not_finite[] = {"nan",  "-nan",     "+nan",      "inf",       "-inf",
                                             "+inf", "infinity", "-infinity", "+infinity", NULL};
    static const char *const literals[][2] = {
        {"true", "true"}, {"false", "false"}, {"null", "null"}, {"none", "null"}};
    size_t start = check->token.start;
    if (word_begins(check, "//") || word_begins(check, "/*") || word_begins(check, "#")) {
        return mistake(check, start, "put it into the field \"source\", or remove it",
                       "JSON has no comments");
    }
    if (word_begins(check, "'") || word_begins(check, "\xe2\x80\x98") ||
        word_begins(check, "\xe2\x80\x9c") || word_begins(check, "\xe2\x80\x9d")) {
        return mistake(check, start, "use plain double quotes: \"...\"",
                       "JSON does not know these quotes: %s", shown);
    }
    for (size_t i = 0; not_finite[i]; i++) {
        if (word_is(check, not_finite[i])) {
            return mistake(check, start, "give a finite number", "%s is not a number in JSON",
                           shown);
        }
    }
    for (size_t i = 0; i < sizeof literals / sizeof *literals; i++) {
        if (word_is(check, literals[i][0])) {
            char hint[32];
            snprintf(hint, sizeof hint, "write %s", literals[i][1]);
            return mistake(check, start, hint, "JSON does not know the word %s", shown);
        }
    }
    char first = check->text[start];
    if (is_digit(first) || first == '-' || first == '+' || first == '.') {
        return mistake(check, start, "numbers look like 8, -0.5 or 1e9",
                       "%s is not a number in JSON", shown);
    }
    return false;
}

static bool is_word(const checker *check)
{
    static const char *const words[] = {"true",     "false",     "null", "NaN",
                                        "Infinity", "-Infinity", NULL};
    const char *word = check->text + check->token.start;
    size_t length = check->token.end - check->token.start;
    bool is = is_number(word, length);
    for (size_t i = 0; words[i] && !is && (i < 3 || check->not_finite); i++) {
        is = strlen(words[i]) == length && memcmp(word, words[i], length) == 0;
    }
    return is;
}

/* The code unit of a \uXXXX escape at byte `at`, or -1. */
static int escaped_unit(const checker *check, size_t at)
{
    const char *text = check->text + at;
    if (at + 6 > check->token.end || text[0] != '\\' || text[1] != 'u') {
        return -1;
    }
    int unit = 0;
    for (int i = 2; i < 6; i++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *digit = text[i] ? strchr(digits, text[i]) : NULL;
        if (!digit) {
            return -1;
        }
        unit = unit * 16 + (int)((digit - digits) & 15);
    }
    return unit;
}

/* Bytes of the escape at byte `at`; 0 if it is not one. */
static size_t escape_length(const checker *check, size_t at)
{
    char letter = at + 1 < check->token.end ? check->text[at + 1] : '\0';
    if (letter != 'u') {
        return letter && strchr("\"\\/bfnrt", letter) ? 2 : 0;
    }
    int unit = escaped_unit(check, at);
    if (unit >= 0xd800 && unit <= 0xdbff) {
        int low = escaped_unit(check, at + 6);
        return low >= 0xdc00 && low <= 0xdfff ? 12 : 0;
    }
    return unit < 0 || (unit >= 0xdc00 && unit <= 0xdfff) ? 0 : 6;
}

static bool bad_string(checker *check)
{
    size_t at = check->token.start + 1;
    while (at < check->token.end && check->text[at] != '"') {
        unsigned char byte = (unsigned char)check->text[at];
        size_t step = 1;
        if (byte < 0x20) {
            return mistake(check, at, byte == '\t' ? "write \\t" : "write it as \\uXXXX",
                           "control character 0x%02x in a string", byte);
        }
        if (byte == '\\') {
            step = escape_length(check, at);
            if (step == 0 && at + 1 < check->token.end) {
                return mistake(check, at, "for a backslash, write two",
                               "a backslash that does not begin a JSON escape");
            }
        }
        at += step ? step : 1;
    }
    if (at >= check->token.end) {
        return mistake(check, check->token.start, "add the closing quote",
                       "a string that does not end on its line");
    }
    return false;
}

static bool bad_encoding(checker *check)
{
    for (size_t at = check->token.start; at < check->token.end;) {
        size_t step = calc_utf8_length(check->text + at, check->token.end - at);
        if (step == 0) {
            return mistake(check, at, "save it as UTF-8", "byte 0x%02x is not UTF-8",
                           (unsigned char)check->text[at]);
        }
        at += step;
    }
    return false;
}

/* ---- Between tokens ------------------------------------------------------------------------- */

static char closing(const checker *check)
{
    return check->text[check->open[check->depth - 1]] == '{' ? '}' : ']';
}

static bool wrong_key(checker *check, const char *shown)
{
    char hint[CALC_UTF8_SHOW_SIZE + 16] = "";
    if (check->token.type == CALC_JSON_WORD && is_digit(shown[0]) && check->before.type == ',') {
        snprintf(hint, sizeof hint, "numbers have no thousands separators");
    } else if (check->token.type == CALC_JSON_WORD && !strpbrk(shown, "'\\")) {
        snprintf(hint, sizeof hint, "write \"%s\"", shown);
    }
    return mistake(check, check->token.start, hint, "expected a key in double quotes, found %s",
                   shown);
}

static bool wrong_follower(checker *check, const char *shown)
{
    bool value = check->token.type == CALC_JSON_STRING || check->token.type == CALC_JSON_WORD ||
                 check->token.type == '{' || check->token.type == '[';
    return mistake(check, check->token.start, value ? "a comma is missing before it" : "",
                   "expected \",\" or \"%c\", found %s", closing(check), shown);
}

/* The token cannot stand here. */
static bool misplaced(checker *check, const char *shown)
{
    int type = check->token.type;
    if ((type == '}' || type == ']') && check->before.type == ',') {
        return mistake(check, check->before.start, "remove the comma",
                       "a comma with nothing between it and \"%c\"", type);
    }
    if (type == CALC_JSON_WORD && !is_word(check) && foreign_word(check, shown)) {
        return true;
    }
    switch (check->state) {
    case KEY:
    case KEY_OR_CLOSE:
        return wrong_key(check, shown);
    case COLON:
        return mistake(check, check->token.start, "", "expected \":\" after the key, found %s",
                       shown);
    case COMMA_OR_CLOSE:
        return wrong_follower(check, shown);
    case NOTHING:
        return mistake(check, check->token.start, "a document is one object",
                       "expected the end of the text, found %s", shown);
    default:
        return mistake(check, check->token.start,
                       type == CALC_JSON_WORD && check->depth > 0 ? "text must be in double quotes"
                                                                  : "",
                       "expected %s, found %s", check->depth > 0 ? "a value" : "an object", shown);
    }
}

static bool ended_early(checker *check)
{
    if (check->depth == 0) {
        return mistake(check, 0, "", "the file is empty");
    }
    size_t open = check->open[check->depth - 1];
    calc_json_place place = calc_json_scan_place(check->text, check->length, open);
    char hint[64];
    snprintf(hint, sizeof hint, "the \"%c\" of line %d is not closed", check->text[open],
             place.line);
    size_t last = check->before.end > 0 ? check->before.end - 1 : 0;
    return mistake(check, last, hint, "the text ends too early");
}

/* Whether the token may stand here; then the state moves on. */
static bool accept(checker *check)
{
    int type = check->token.type;
    bool value = check->state == VALUE || check->state == VALUE_OR_CLOSE;
    bool first = check->state == VALUE_OR_CLOSE || check->state == KEY_OR_CLOSE;
    if (value && (type == '{' || type == '[')) {
        check->open[check->depth++] = check->token.start;
        check->state = type == '{' ? KEY_OR_CLOSE : VALUE_OR_CLOSE;
    } else if (value && (type == CALC_JSON_STRING || (type == CALC_JSON_WORD && is_word(check)))) {
        check->state = check->depth > 0 ? COMMA_OR_CLOSE : NOTHING;
    } else if ((check->state == KEY || check->state == KEY_OR_CLOSE) && type == CALC_JSON_STRING) {
        check->state = COLON;
    } else if (check->state == COLON && type == ':') {
        check->state = VALUE;
    } else if (check->state == COMMA_OR_CLOSE && type == ',') {
        check->state = closing(check) == '}' ? KEY : VALUE;
    } else if ((check->state == COMMA_OR_CLOSE || first) && type == closing(check)) {
        check->depth--;
        check->state = check->depth > 0 ? COMMA_OR_CLOSE : NOTHING;
    } else {
        return false;
    }
    return true;
}

/* A byte that is never text: reported first, because the other errors would be noise. */
static bool binary(checker *check)
{
    const char *text = check->text;
    size_t length = check->length;
    if (length >= 2 && memcmp(text, "\x1f\x8b", 2) == 0) {
        return mistake(check, 0, "give it a name that ends in .gz", "this is compressed data");
    }
    if (length >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0)) {
        return mistake(check, 0, "save it as UTF-8", "this is UTF-16 text");
    }
    const char *nul = memchr(text, '\0', length);
    if (nul) {
        return mistake(check, (size_t)(nul - text), "",
                       "this is not a text file: it has a NUL byte");
    }
    return false;
}

bool calc_json_syntax_check(const char *text, size_t length, bool not_finite,
                            calc_json_mistake *out)
{
    checker check = {.text = text, .length = length, .not_finite = not_finite, .out = out};
    if (binary(&check)) {
        return true;
    }
    for (;;) {
        check.token = calc_json_scan(text, length, check.token.end);
        if (check.token.type == CALC_JSON_END) {
            return check.state != NOTHING && ended_early(&check);
        }
        if (bad_encoding(&check) || (check.token.type == CALC_JSON_STRING && bad_string(&check))) {
            return true;
        }
        bool value = check.state == VALUE || check.state == VALUE_OR_CLOSE;
        if (check.depth == MAX_DEPTH && value && check.token.type != ']') {
            return mistake(&check, check.token.start, "", "brackets nested more than %d deep",
                           MAX_DEPTH);
        }
        if (!accept(&check)) {
            char shown[CALC_UTF8_SHOW_SIZE] = {'"', text[check.token.start], '"', '\0'};
            if (check.token.type == CALC_JSON_STRING || check.token.type == CALC_JSON_WORD) {
                calc_utf8_show(shown, text + check.token.start,
                               check.token.end - check.token.start);
            }
            return misplaced(&check, shown);
        }
        check.before = check.token;
    }
}
