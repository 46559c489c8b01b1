#include "io/json_report.h"

#include <ctype.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "calc.h"
#include "io/utf8.h"

size_t calc_json_report_enter(calc_json_report *report, const char *key)
{
    size_t mark = strlen(report->pointer);
    size_t used = mark;
    size_t room = sizeof report->pointer - 1;
    /* Keys of the tables always fit; an unknown one may be cut, its place is found by its number.
     * Behind a cut one there may be no room for anything. */
    if (used < room) {
        report->pointer[used++] = '/';
    }
    for (; *key && used + 2 <= room; key++) {
        bool escape = *key == '~' || *key == '/';
        if (escape) {
            report->pointer[used++] = '~';
        }
        report->pointer[used++] = *key == '~' ? '0' : *key == '/' ? '1' : *key;
    }
    report->pointer[used] = '\0';
    return mark;
}

size_t calc_json_report_enter_index(calc_json_report *report, size_t index)
{
    char word[24];
    snprintf(word, sizeof word, "%zu", index);
    return calc_json_report_enter(report, word);
}

void calc_json_report_leave(calc_json_report *report, size_t mark)
{
    report->pointer[mark] = '\0';
}

/* @param pointer  of the error, NULL: none */
static void add(calc_json_report *report, calc_status status, const char *pointer,
                calc_json_place where, const char *hint, const char *fmt, va_list args)
{
    char text[sizeof report->found.item->text];
    vsnprintf(text, sizeof text, fmt, args);
    calc_errors_add(&report->found, status, report->kind, pointer, hint, "%s", text);
    calc_error_place(&report->found.item[report->found.count - 1], report->name, where.line,
                     where.column);
}

calc_status calc_json_report_add(calc_json_report *report, calc_status status, int member,
                                 const char *hint, const char *fmt, ...)
{
    calc_json_place where = {0, 0};
    if (report->found.count == CALC_MAX_ERRORS) {
        report->found.dropped++;
        return status;
    }
    if (report->text) {
        char pointer[sizeof report->pointer];
        memcpy(pointer, report->pointer, sizeof pointer);
        if (member != CALC_JSON_VALUE) {
            *strrchr(pointer, '/') = '\0'; /* the object that has the key */
        }
        calc_json_locate(report->text, report->length, pointer, member, &where);
    }
    va_list args;
    va_start(args, fmt);
    add(report, status, report->pointer, where, hint, fmt, args);
    va_end(args);
    return status;
}

calc_status calc_json_report_add_at(calc_json_report *report, calc_status status, size_t offset,
                                    const char *hint, const char *fmt, ...)
{
    calc_json_place where = {0, 0};
    if (report->text) {
        where = calc_json_scan_place(report->text, report->length, offset);
    }
    va_list args;
    va_start(args, fmt);
    add(report, status, NULL, where, hint, fmt, args);
    va_end(args);
    return status;
}

void *calc_json_report_made(calc_json_report *report, void *made)
{
    if (!made) {
        calc_json_report_add(report, CALC_ERR_NOMEM, CALC_JSON_VALUE, NULL, "out of memory");
    }
    return made;
}

calc_status calc_json_report_close(calc_json_report *report, calc_errors *errors)
{
    calc_errors *found = &report->found;
    for (int i = 1; i < found->count; i++) {
        calc_error moved = found->item[i];
        int to = i;
        for (; to > 0; to--) {
            const calc_error *before = &found->item[to - 1];
            if (moved.line != before->line ? moved.line > before->line
                                           : moved.column >= before->column) {
                break;
            }
            found->item[to] = *before;
        }
        found->item[to] = moved;
    }
    for (int i = 0; errors && i < found->count; i++) {
        if (errors->count < CALC_MAX_ERRORS) {
            errors->item[errors->count++] = found->item[i];
        } else {
            errors->dropped++;
        }
    }
    if (errors) {
        errors->dropped += found->dropped;
    }
    return calc_errors_first(found);
}

typedef struct document {
    const char *text;
    size_t length;
} document;

static calc_json_token token_after(const document *doc, calc_json_token token)
{
    return calc_json_scan(doc->text, doc->length, token.end);
}

/* The last token of the value that starts with `token`. */
static calc_json_token last_of_value(const document *doc, calc_json_token token)
{
    int depth = 0;
    for (;;) {
        depth += token.type == '{' || token.type == '[';
        depth -= token.type == '}' || token.type == ']';
        if (depth <= 0 || token.type == CALC_JSON_END) {
            return token;
        }
        token = token_after(doc, token);
    }
}

/* The token after the value that starts with `token`. */
static calc_json_token skip_value(const document *doc, calc_json_token token)
{
    return token_after(doc, last_of_value(doc, token));
}

/* The next component of a pointer, unescaped. False if it does not fit. */
static bool next_component(const char **pointer, char *word, size_t size)
{
    size_t used = 0;
    const char *at = *pointer + 1;
    for (; *at && *at != '/'; at++) {
        if (used + 1 >= size) {
            return false;
        }
        char byte = *at;
        if (byte == '~' && (at[1] == '0' || at[1] == '1')) {
            at++;
            byte = *at == '0' ? '~' : '/';
        }
        word[used++] = byte;
    }
    word[used] = '\0';
    *pointer = at;
    return true;
}

static bool key_is(const document *doc, calc_json_token token, const char *key)
{
    const char *quoted = doc->text + token.start;
    size_t length = token.end - token.start;
    if (!memchr(quoted, '\\', length)) {
        return length == strlen(key) + 2 && memcmp(quoted + 1, key, length - 2) == 0;
    }
    json_t *decoded = json_loadb(quoted, length, JSON_DECODE_ANY, NULL);
    bool same = json_is_string(decoded) && strcmp(json_string_value(decoded), key) == 0;
    json_decref(decoded);
    return same;
}

/* Step from the container at *value into its member or element `word`. */
static bool step_into(const document *doc, calc_json_token *value, const char *word)
{
    bool object = value->type == '{';
    if (!object && value->type != '[') {
        return false;
    }
    calc_json_token token = token_after(doc, *value);
    for (size_t index = 0; token.type != CALC_JSON_END && token.type != '}' && token.type != ']';
         index++) {
        bool found;
        if (object) {
            found = key_is(doc, token, word);
            token = token_after(doc, token_after(doc, token)); /* over the colon */
        } else {
            char number[24];
            snprintf(number, sizeof number, "%zu", index);
            found = strcmp(number, word) == 0;
        }
        if (found) {
            *value = token;
            return true;
        }
        token = skip_value(doc, token);
        if (token.type == ',') {
            token = token_after(doc, token);
        }
    }
    return false;
}

/* The key of the n-th member of the object at `value`; `value` itself if there is none. */
static calc_json_token member_key(const document *doc, calc_json_token value, int n)
{
    calc_json_token key = token_after(doc, value);
    for (int i = 0; i < n && key.type == CALC_JSON_STRING; i++) {
        key = skip_value(doc, token_after(doc, token_after(doc, key)));
        if (key.type == ',') {
            key = token_after(doc, key);
        }
    }
    return key.type == CALC_JSON_STRING ? key : value;
}

/* The first token of the value at `pointer`, or of the deepest existing value on the way. */
static bool walk(const document *doc, const char *pointer, calc_json_token *value)
{
    char word[128];
    bool found = true;
    *value = calc_json_scan(doc->text, doc->length, 0);
    while (found && *pointer == '/') {
        found = next_component(&pointer, word, sizeof word) && step_into(doc, value, word);
    }
    return found;
}

bool calc_json_span(const char *text, size_t length, const char *pointer, size_t *start,
                    size_t *end)
{
    document doc = {text, length};
    calc_json_token value;
    bool found = walk(&doc, pointer, &value);
    *start = value.start;
    *end = last_of_value(&doc, value).end;
    return found;
}

bool calc_json_locate(const char *text, size_t length, const char *pointer, int member,
                      calc_json_place *out)
{
    document doc = {text, length};
    calc_json_token value;
    bool found = walk(&doc, pointer, &value);
    if (found && member >= 0 && value.type == '{') {
        value = member_key(&doc, value, member);
    }
    *out = calc_json_scan_place(text, length, value.start);
    return found;
}

void calc_errors_locate(calc_errors *errors, calc_kind kind, const char *text, size_t length,
                        const char *name)
{
    for (int i = 0; errors && i < errors->count; i++) {
        calc_error *error = &errors->item[i];
        if (error->kind == kind && !error->file[0]) {
            calc_json_place place;
            calc_json_locate(text, length, error->pointer, CALC_JSON_VALUE, &place);
            calc_error_place(error, name, place.line, place.column);
        }
    }
}

size_t calc_json_scan_mark(const char *text, size_t length)
{
    return length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Whether `byte` is one of `set`; NUL never is. */
static bool is_one_of(char byte, const char *set)
{
    return byte && strchr(set, byte);
}

static size_t string_end(const char *text, size_t length, size_t start)
{
    size_t i = start + 1;
    while (i < length && text[i] != '\n') {
        if (text[i] == '"') {
            return i + 1;
        }
        bool escape = text[i] == '\\' && i + 1 < length && text[i + 1] != '\n';
        i += escape ? 2 : 1;
    }
    return i;
}

calc_json_token calc_json_scan(const char *text, size_t length, size_t from)
{
    size_t start = from == 0 ? calc_json_scan_mark(text, length) : from;
    while (start < length && is_one_of(text[start], " \t\r\n")) {
        start++;
    }
    if (start >= length) {
        return (calc_json_token){CALC_JSON_END, length, length};
    }
    if (is_one_of(text[start], "{}[]:,")) {
        return (calc_json_token){text[start], start, start + 1};
    }
    if (text[start] == '"') {
        return (calc_json_token){CALC_JSON_STRING, start, string_end(text, length, start)};
    }
    size_t end = start + 1;
    while (end < length && !is_one_of(text[end], " \t\r\n{}[]:,\"")) {
        end++;
    }
    return (calc_json_token){CALC_JSON_WORD, start, end};
}

calc_json_place calc_json_scan_place(const char *text, size_t length, size_t offset)
{
    calc_json_place place = {1, 1};
    for (size_t i = calc_json_scan_mark(text, length); i < offset && i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte == '\n') {
            place.line++;
            place.column = 1;
        } else if ((byte & 0xc0) != 0x80) {
            place.column++;
        }
    }
    return place;
}

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

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_number(const char *word, size_t length)
{
    static const char *const begins[] = {"", ".", "eE"}; /* the whole, its fraction, its exponent */
    size_t at = word[0] == '-';
    for (int part = 0; part < 3; part++) {
        if (part > 0 && (at == length || !is_one_of(word[at], begins[part]))) {
            continue;
        }
        at += part > 0;
        at += part == 2 && at < length && is_one_of(word[at], "+-");
        size_t digits = at;
        while (at < length && is_digit(word[at])) {
            at++;
        }
        if (at == digits || (part == 0 && word[digits] == '0' && at > digits + 1)) {
            return false;
        }
    }
    return at == length;
}

/* A word that can stand nowhere in JSON: true if its kind is known, and reported. */
static bool foreign_word(checker *check, const char *shown)
{
    static const struct {
        const char *words;
        bool begin; /* or are all of it, whatever their capitals */
        const char *hint, *text;
    } known[] = {
        {"// /* #", true, "put it into the field \"source\", or remove it", "JSON has no comments"},
        {"' \xe2\x80\x98 \xe2\x80\x9c \xe2\x80\x9d", true, "use plain double quotes: \"...\"",
         "JSON does not know these quotes: %s"},
        {"nan -nan +nan inf -inf +inf infinity -infinity +infinity", false, "give a finite number",
         "%s is not a number in JSON"},
        {"true", false, "write true", "JSON does not know the word %s"},
        {"false", false, "write false", "JSON does not know the word %s"},
        {"null none", false, "write null", "JSON does not know the word %s"},
        {"0 1 2 3 4 5 6 7 8 9 - + .", true, "numbers look like 8, -0.5 or 1e9",
         "%s is not a number in JSON"}};
    char word[16] = ""; /* longer ones are none of these */
    size_t start = check->token.start, length = check->token.end - start;
    for (size_t i = 0; i < length && i + 1 < sizeof word; i++) {
        word[i] = (char)tolower((unsigned char)check->text[start + i]);
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].begin ? calc_word_begins(known[i].words, word)
                           : length < sizeof word && calc_is_word(known[i].words, word)) {
            return mistake(check, start, known[i].hint, known[i].text, shown);
        }
    }
    return false;
}

static bool is_word(const checker *check)
{
    const char *word = check->text + check->token.start;
    size_t length = check->token.end - check->token.start;
    return is_number(word, length) || calc_word_in("true false null", word, length) ||
           (check->not_finite && calc_word_in("NaN Infinity -Infinity", word, length));
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

/* The token cannot stand here. */
static bool misplaced(checker *check, const char *shown)
{
    int type = check->token.type;
    bool value = type == CALC_JSON_STRING || type == CALC_JSON_WORD || type == '{' || type == '[';
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
        return mistake(check, check->token.start, value ? "a comma is missing before it" : "",
                       "expected \",\" or \"%c\", found %s", closing(check), shown);
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
