/* Commands and all that they print: check_commands_*.txt. They run in this process, one after the
 * other, in a folder that a test begins empty. Of a line each `{a,b}` stands for a and for b, '...'
 * for one word, ROOT for the source tree; `< TEXT` is standard input, with \n for new lines. Behind
 * ` | N` only N lines are shown, behind ` | FILTER` what that command of bash makes of them, and a
 * number made of all. `COLUMNS=N` is the width of the terminal from there on. Any other line is of
 * bash, up to END if it has <<: `cat FILE` shows one, and ` | calc ` behind it gives calc what it
 * prints. */
#ifndef CALC_TESTS_COMMANDS_H
#define CALC_TESTS_COMMANDS_H

#include <ctype.h>
#include <jansson.h>

#include "in_process.h"

enum { WORDS = 64, MOST = 1000 };

static FILE *answers;
static bool several;

/* Where something was looked for is of this machine, and so are the last digits of a number: left
 * out. */
static void forget_machine(char *text)
{
    replace(text, CALC_DATA_DIR_SOURCE, "ROOT");
    replace(text, folder, "HERE");
    char *to = text;
    size_t digits = 0; /* behind the point, which counts */
    for (const char *from = text; *from; from++) {
        bool digit = *from >= '0' && *from <= '9';
        digits = digit && digits > 0 ? digits + 1 : *from == '.';
        if (digits <= 7) {
            *to++ = *from;
        }
    }
    *to = '\0';
    for (char *at = text; (at = strstr(at, " (looked in ")) != NULL;) {
        char *end = at + strcspn(at, ")\n");
        memmove(at, end + (*end == ')'), strlen(end + (*end == ')')) + 1);
    }
}

/* The lines of a file, `most` of them with a number made of all; with -1 there is none. It is
 * closed. */
static void put(FILE *file, const char *before, long most)
{
    char *text = NULL;
    size_t size = 0;
    rewind(file);
    if (getdelim(&text, &size, '\0', file) < 0) {
        text[0] = '\0';
    }
    fclose(file);
    uint64_t digest = 0;
    long lines = 0;
    forget_machine(text);
    for (const char *at = text; *at; lines++) {
        size_t length = strcspn(at, "\n");
        bool timed = is_timed(at, length);
        if (lines < most && !timed) {
            fputs(before, answers);
            fprintf(answers, "%.*s\n", (int)length, at);
        }
        for (size_t i = 0; i < length && !timed; i++) {
            digest = (digest ^ (unsigned char)at[i]) * 1099511628211U;
        }
        at += length + (at[length] == '\n');
    }
    if (lines > most && most >= 0) {
        fprintf(answers, "%s... %ld lines, %016llx\n", before, lines, (unsigned long long)digest);
    }
    free(text);
}

/* No object of JSON that is printed has a member twice. */
static void check_members(FILE *file)
{
    json_error_t error;
    rewind(file);
    json_t *json = json_loadf(file, JSON_DISABLE_EOF_CHECK, &error);
    if (json) {
        json_decref(json);
        rewind(file);
        json = json_loadf(file, JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &error);
        ck_assert_msg(json != NULL, "%s", error.text);
        json_decref(json);
    }
}

/* The same, and what it prints; `filter` shows what it likes of that. */
static void say(size_t count, char **words, const char *line, FILE *input, const char *filter,
                long most)
{
    FILE *files[] = {input ? input : tmpfile(), tmpfile(), tmpfile()};
    int status = run(count, words, line, files);
    if (status != 0) {
        fprintf(answers, "status %d\n", status);
    }
    check_members(files[1]);
    if (filter) {
        FILE *of[] = {files[1], tmpfile(), files[2]};
        run(0, NULL, filter, of);
        put(of[1], "", MOST);
    }
    put(files[1], "", most);
    put(files[2], "! ", MOST);
    fclose(files[0]);
}

/* Where this is first, and not between quotes. */
static char *bare(char *line, const char *what)
{
    for (bool quoted = false; *line; line++) {
        quoted ^= *line == '\'';
        if (!quoted && strncmp(line, what, strlen(what)) == 0) {
            return line;
        }
    }
    return NULL;
}

/* Whether it is there for what it prints. */
static bool speaks(const char *line)
{
    bool shows = strncmp(line, "cat ", 4) == 0 && !strchr(line, '>');
    return shows || strncmp(line, "calc ", 5) == 0 || strstr(line, " | calc ");
}

static void run_line(char *line)
{
    char *words[WORDS], *calc = strncmp(line, "calc ", 5) == 0 ? line : strstr(line, " | calc ");
    if (several && speaks(line)) {
        fprintf(answers, "$ %s\n", line);
    }
    FILE *input = NULL;
    if (strncmp(line, "COLUMNS=", 8) == 0) {
        setenv("COLUMNS", line + 8, 1);
        return;
    }
    if (calc && calc != line) {
        *calc = '\0';
        calc += 3;
        FILE *files[] = {tmpfile(), tmpfile(), stderr};
        run(0, NULL, line, files);
        fclose(files[0]);
        input = files[1];
    }
    char *text = calc ? bare(calc, " < ") : NULL;
    char *bar = text ? strstr(text, " | ") : bare(calc ? calc : line, " | ");
    long most = MOST;
    while (!calc && bar && !isdigit((unsigned char)bar[3])) {
        bar = bare(bar + 1, " | "); /* bash has its own */
    }
    if (bar) {
        *bar = '\0';
        bar += 3;
        most = isdigit((unsigned char)*bar) ? strtol(bar, &bar, 10) : -1;
        bar = most < 0 ? bar : *bar ? bar + 3 : NULL;
    }
    if (!calc) {
        say(0, NULL, line, NULL, NULL, most);
        return;
    }
    if (text) {
        *text = '\0';
        input = tmpfile();
        put_lines(text + 3, input);
    }
    size_t count = 0;
    bool limited = false;
    for (char *at = calc + 5; *at;) {
        char *start = *at == '\'' ? at + 1 : at,
             *end = start + strcspn(start, *at == '\'' ? "'" : " ");
        at = *end ? end + 1 : end;
        at += strspn(at, " ");
        *end = '\0';
        ck_assert_uint_lt(count, WORDS - 1);
        words[count++] = start;
        limited |= strncmp(start, "--time-limit", 12) == 0 || strcmp(start, "--help") == 0;
    }
    static char limit[] = "--time-limit=600"; /* what a search finds must not depend on the clock */
    if (strcmp(words[0], "plan") == 0 && !limited) {
        words[count++] = limit;
    }
    words[count] = NULL;
    say(count, words, NULL, input, bar, most);
}

/* The line of calc with each choice of its first braces in their place. */
static void each_choice(char *line)
{
    const char *from = strchr(line, '{'), *to = from ? strchr(from, '}') : NULL;
    const char *bar = strstr(line, " | ");
    if (to && strncmp(line, "calc ", 5) == 0 && !(bar && bar < from) &&
        memchr(from, ',', (size_t)(to - from)) && !strchr("\"'", from[1])) {
        several = true;
        for (const char *at = from + 1; at <= to; at += strcspn(at, ",}") + 1) {
            char *made = malloc(strlen(line) + 1);
            sprintf(made, "%.*s%.*s%s", (int)(from - line), line, (int)strcspn(at, ",}"), at,
                    to + 1);
            each_choice(made);
            free(made);
        }
    } else {
        run_line(line);
    }
}

/* The line of a test that begins here, with what it gives bash up to END. */
static char *line_of(const char *at)
{
    char *line = strndup(at, strcspn(at, "\n"));
    if (strstr(line, "<<'END'")) {
        free(line);
        line = strndup(at, (size_t)(strstr(at, "\nEND\n") + 4 - at));
    }
    return line;
}

static void answer(const char *said, FILE *out)
{
    answers = out;
    size_t length;
    int speaking = 0;
    for (const char *at = said; *at; at += length + 1) {
        char *line = line_of(at);
        length = strlen(line);
        speaking += speaks(line);
        free(line);
    }
    several = speaking > 1;
    for (const char *at = said; *at; at += length + 1) {
        char *line = line_of(at);
        length = strlen(line);
        each_choice(line);
        free(line);
    }
}

/** What a program of commands is.
 *  @param some  they take long, so that slow builds run some of them (CALC_SAMPLE) */
#define COMMANDS(file, some)                                                                       \
    const calc_test_frame calc_tests = {.setup = enter,                                            \
                                        .teardown = leave,                                         \
                                        .timeout_s = 300,                                          \
                                        .drawn = some,                                             \
                                        .cases = "golden/" file,                                   \
                                        .answer = answer}

#endif
