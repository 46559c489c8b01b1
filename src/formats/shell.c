#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "formats/read.h"

/* ---- Words ----------------------------------------------------------------------------------- */

bool calc_shell_is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

size_t calc_shell_name(const char *at, const char *end)
{
    size_t length = 0;
    while (at + length < end && calc_shell_is_name(at[length])) {
        length++;
    }
    return length;
}

const char *calc_shell_closing(const char *at, const char *end, char open, char close, int *looks)
{
    const ptrdiff_t most = open == '{' ? 65536 : 4096;
    int depth = 0;
    if ((*looks)++ >= CALC_SHELL_LOOKS) {
        return NULL;
    }
    end = end - at < most ? end : at + most;
    for (; at < end; at++) {
        depth += (*at == open) - (*at == close);
        if (depth == 0) {
            return at;
        }
    }
    return NULL;
}

const char *calc_shell_string_end(const char *at, const char *end)
{
    char quote = *at++;
    while (at < end && *at != quote) {
        at += *at == '\\' && quote == '"' && at + 1 < end ? 2 : 1;
    }
    return at < end ? at : end;
}

bool calc_shell_has_options(const char *at, const char *end)
{
    for (; at + 2 < end; at++) {
        if (at[0] == '-' && at[1] == '-' && isalpha((unsigned char)at[2])) {
            return true;
        }
    }
    return false;
}

const char *calc_shell_options(const char *at, const char *end, int *looks)
{
    bool command = end - at > 6 && memcmp(at, "$(cat", 5) == 0 && !calc_shell_is_name(at[5]);
    const char *close = command ? calc_shell_closing(at + 1, end, '(', ')', looks) : NULL;
    return close && calc_shell_has_options(at, close) ? at + 5 : NULL;
}

const char *calc_shell_value_end(const char *at, const char *end, int *looks)
{
    while (at < end && !isspace((unsigned char)*at) && !strchr(";()&|", *at)) {
        bool string = *at == '"' || *at == '\'' || *at == '`';
        const char *close = at;
        if (string) {
            close = calc_shell_string_end(at, end);
            if (close >= end || (*at != '`' && calc_shell_has_options(at, close))) {
                return NULL;
            }
        } else if (*at == '$' && at + 1 < end && (at[1] == '(' || at[1] == '{')) {
            close = calc_shell_closing(at + 1, end, at[1], at[1] == '(' ? ')' : '}', looks);
        }
        at = close ? close + 1 : at + 1;
    }
    return at;
}

const char *calc_shell_word(const char *at, const char *last, size_t number, const char **end,
                            bool *unsure)
{
    enum { MOST = 16384 }; /* bytes of words in which one is looked for, again for each use */
    if (last - at > MOST) {
        *unsure = true;
        return *end = at;
    }
    for (;; number--) {
        at += strspn(at, " \t\r\n\\");
        if (at >= last) {
            return NULL;
        }
        for (*end = at; *end < last && !isspace((unsigned char)**end); ++*end) {
            bool quoted = **end == '"' || **end == '\'';
            *unsure |= strchr(quoted ? "" : "$`*?{\\", **end) || strncmp(*end, "\"$@", 3) == 0 ||
                       (**end == '\'' && memchr(*end, '$', (size_t)(last - *end)));
            *end = quoted ? calc_shell_string_end(*end, last) : *end;
            *unsure |= *end == last; /* a string that does not end */
            *end -= *end == last;
        }
        if (number == 1 || *unsure) {
            return at;
        }
        at = *end;
    }
}

bool calc_shell_mentions(const char *at, const char *end, const char *name, size_t length)
{
    bool found = false;
    for (; at < end && !found; at++) {
        const char *of = at + 1 + (at[1] == '{');
        found = *at == '$' && strncmp(of, name, length) == 0 && !calc_shell_is_name(of[length]);
    }
    return found;
}

/* ---- Sums of whole numbers ------------------------------------------------------------------- */

typedef struct sum {
    const char *at;
    bool wrong;
    int depth;
} sum;

static double read_sum(sum *e, int level);

static double read_factor(sum *e)
{
    static const char blanks[] = " \t\n\\";
    char *end;
    double value = 0;
    e->at += strspn(e->at, blanks);
    if (*e->at == '(' && e->depth < 100) {
        e->at++;
        e->depth++;
        value = read_sum(e, 0);
        e->depth--;
        e->wrong = e->wrong || *e->at != ')';
        e->at += *e->at == ')';
    } else {
        value = (double)strtoll(e->at, &end, 10);
        const char *digit = e->at + strspn(e->at, "+-");
        e->wrong = e->wrong || end == e->at || (*digit == '0' && isdigit((unsigned char)digit[1]));
        e->at = end;
    }
    e->at += strspn(e->at, blanks);
    return value;
}

/* @param level  0: terms, 1: factors of a term */
static double read_sum(sum *e, int level)
{
    static const char *const signs[] = {"+-", "*/%"};
    double value = level == 0 ? read_sum(e, 1) : read_factor(e);
    while (!e->wrong && *e->at && strchr(signs[level], *e->at)) {
        char sign = *e->at++;
        double other = level == 0 ? read_sum(e, 1) : read_factor(e);
        e->wrong = e->wrong || (other == 0 && (sign == '/' || sign == '%'));
        value = e->wrong      ? 0
                : sign == '+' ? value + other
                : sign == '-' ? value - other
                : sign == '*' ? value * other
                : sign == '/' ? trunc(value / other)
                              : fmod(value, other);
    }
    return value;
}

double calc_shell_sum(const char *text)
{
    sum e = {.at = text};
    double value = read_sum(&e, 0);
    return e.wrong || *e.at ? (double)NAN : value;
}

/* ---- Branches -------------------------------------------------------------------------------- */

static const char blanks[] = " \t\r\n";

/* Whether the word of so many bytes is in a list, " if case ". */
static bool is(const char *word, size_t length, const char *list)
{
    char copy[8] = "";
    memcpy(copy, word, length < sizeof copy ? length : 0);
    return *copy && calc_is_word(list, copy);
}

/* What ends the branch of an if or a case that *at is in: elif, else, fi, ;; or esac of its own.
 * @param at  moves behind it
 * @return NULL: nothing does */
static char *branch_end(char **at)
{
    enum { MOST = 1000 /* commands: a hostile text costs no more */ };
    int depth = 0;
    for (int i = 0; i < MOST && *(*at += strspn(*at, blanks)); i++) {
        char *word = *at;
        size_t length = *word == ';' ? 1 + (word[1] == ';') : strcspn(word, " \t\r\n;");
        bool closes = is(word, length, " fi esac ");
        if (*word == ';' && word[length] == '&') {
            return NULL; /* the next branch runs as well */
        }
        if (depth == 0 && (closes || is(word, length, " elif else ;; "))) {
            *at = word + length;
            return word;
        }
        depth += is(word, length, " if case ") - closes;
        bool more = *word == ';' || is(word, length, " then else elif do { ");
        *at = word + (more ? length : *word == '#' ? strcspn(word, "\n") : strcspn(word, "\n;"));
    }
    return NULL;
}

static void blank(char *from, const char *to)
{
    for (; from < to; from++) {
        *from = *from == '\n' ? '\n' : ' ';
    }
}

/* The value of the next word of a condition. @return whether it is known */
static bool operand(const char **at, const calc_shell_values *values, char word[CALC_SHELL_WORD])
{
    *at += strspn(*at, " \t");
    const char *end = *at;
    for (char quote = '\0'; *end && (quote || !strchr(" \t\r\n;", *end)); end++) {
        quote = quote == *end ? '\0' : !quote && strchr("\"'", *end) ? *end : quote;
    }
    bool known = values->value(values->context, *at, end, word);
    *at = end;
    return known;
}

static int compare(const char *a, const char *sign, const char *b)
{
    static const char *const signs[] = {"-eq", "-ne", "-gt", "-ge", "-lt", "-le"};
    char *end[2];
    const long x = strtol(a, &end[0], 10), y = strtol(b, &end[1], 10);
    const bool are[] = {x == y, x != y, x > y, x >= y, x < y, x <= y};
    if (calc_is_word(" = == != ", sign)) {
        return (fnmatch(b, a, 0) == 0) == (*sign == '=');
    }
    for (size_t i = 0; i < sizeof are / sizeof *are && *a && *b && !*end[0] && !*end[1]; i++) {
        if (strcmp(sign, signs[i]) == 0) {
            return are[i];
        }
    }
    return -1;
}

/* One test, [ A = B ]. @return 0 or 1; -1: what it tests is not known */
static int test(const char *at, const calc_shell_values *values)
{
    enum { WORDS = 6 };
    char word[WORDS][CALC_SHELL_WORD], (*a)[CALC_SHELL_WORD] = word;
    int count = 0;
    for (; count < WORDS && !strchr("\r\n;", at[strspn(at, " \t")]); count++) {
        if (!operand(&at, values, word[count])) {
            return -1;
        }
    }
    bool negates = count > 0 && strcmp(*a, "!") == 0;
    a += negates;
    count -= negates + 1;
    if (count < 1 || !calc_is_word(" [ [[ test ", *a)) {
        return -1;
    }
    count -= **a++ == '['; /* its end */
    bool empty = count == 2 && strcmp(a[0], "-z") == 0;
    bool full = count == 2 && strcmp(a[0], "-n") == 0;
    int is = count == 1      ? *a[0] != '\0'
             : empty || full ? (*a[1] == '\0') == empty
             : count == 3    ? compare(a[0], a[1], a[2])
                             : -1;
    return is < 0 ? -1 : is != negates;
}

/* Whether a word is of the patterns before `close`, A|B. @return 0 or 1; -1: it is not known */
static int fits(const char *at, const char *close, const char *word,
                const calc_shell_values *values)
{
    char pattern[CALC_SHELL_WORD];
    bool found = false;
    for (at += *at == '('; at < close; at += strcspn(at, "|)") + 1) {
        if (!values->value(values->context, at, at + strcspn(at, "|)"), pattern)) {
            return -1;
        }
        found = found || fnmatch(pattern, word, 0) == 0;
    }
    return found;
}

void calc_shell_decide(char *at, const calc_shell_values *values)
{
    char word[CALC_SHELL_WORD], *end = at, *from = NULL, *to = NULL;
    bool cases = strncmp(at, "case ", 5) == 0;
    const char *behind = at + 5;
    char *here = at + 3;
    if (cases ? !operand(&behind, values, word) : strncmp(at, "if ", 3) != 0) {
        return;
    }
    if (cases) { /* behind "in" */
        here = at + (behind - at) + strspn(behind, blanks);
        here += strncmp(here, "in", 2) == 0 ? 2 : 0;
    }
    do {
        int holds = 1; /* else */
        here += strspn(here, blanks);
        if (cases && strncmp(here, "esac", 4) == 0) {
            here += 4;
            break;
        }
        char *body = here + strcspn(here, cases ? ")\n" : ";\n");
        if (cases) {
            holds = from ? 0 : *body == ')' ? fits(here, body, word, values) : -1;
            body += *body == ')';
        } else if (end == at || end[2] == 'i') { /* if, elif */
            body += strspn(body, " \t\r\n;");
            holds = strncmp(body, "then", 4) != 0 ? -1 : from ? 0 : test(here, values);
            body += 4;
        } else {
            body = here;
        }
        here = body;
        end = holds < 0 ? NULL : branch_end(&here);
        if (!end) {
            return;
        }
        to = holds && !from ? end : to;
        from = holds && !from ? body : from;
    } while (*end != 'f' && end[1] != 's');
    blank(at, from ? from : here);
    blank(from ? to : here, here);
}
