/* Commands and all that they print: check_commands_*.txt. They run in this process, one after the
 * other. Of a line each `{a,b}` stands for a and for b, '...' for one word, ROOT for the source
 * tree; `< TEXT` is standard input, with \n for new lines; behind ` | N` only N lines are shown,
 * and a number made of all. `show FILE` prints one. */
#ifndef CALC_TESTS_COMMANDS_H
#define CALC_TESTS_COMMANDS_H

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shell/help.h"
#include "cli/shell/opt.h"
#include "frame.h"
#include "unit/scratch.h"

enum { WORDS = 64, LINE = 4096 };

static FILE *answers;
static bool several;

/* What is in a file, from its beginning; freed by the caller. */
static char *content(FILE *file)
{
    char *text = NULL;
    size_t size = 0;
    rewind(file);
    if (getdelim(&text, &size, '\0', file) < 0) {
        text[0] = '\0';
    }
    fclose(file);
    return text;
}

/* Where something was looked for is of this machine, and so are the last digits of a number: left
 * out. */
static void forget_machine(char *text)
{
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

/* Whether a line says how long something took. */
static bool is_timed(const char *line, size_t length)
{
    static const char *const words[] = {"evaluations/s", "per core", "time_s\"", "elapsed"};
    char text[LINE];
    bool timed = false;
    snprintf(text, LINE, "%.*s", (int)length, line);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        timed |= strstr(text, words[i]) != NULL;
    }
    return timed;
}

/* The lines of a text, `most` of them with a number made of all. */
static void put(char *text, const char *before, long most)
{
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
    if (lines > most) {
        fprintf(answers, "%s... %ld lines, %016llx\n", before, lines, (unsigned long long)digest);
    }
    free(text);
}

static FILE *stand_in(int number, int *saved)
{
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    *saved = dup(number);
    ck_assert_int_eq(dup2(fileno(file), number), number);
    return file;
}

static void restore(int number, int saved)
{
    ck_assert_int_eq(dup2(saved, number), number);
    close(saved);
}

static void run_words(size_t count, char **words, const char *input, long most)
{
    int saved[3], status;
    FILE *files[3];
    const char *instead;
    const calc_command *command = calc_command_find(words[0], &instead);
    size_t name = instead ? 0 : 1;
    fflush(stdout);
    for (int i = 0; i < 3; i++) {
        files[i] = stand_in(i, &saved[i]);
    }
    for (; *input; input++) {
        bool line = input[0] == '\\' && input[1] == 'n';
        fputc(line ? '\n' : *input, files[0]);
        input += line;
    }
    rewind(files[0]);
    rewind(stdin);
    words[0] = instead ? (char *)instead : words[0];
    status = command ? (int)calc_command_run(command, count - name, words + name) : -1;
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 3; i++) {
        restore(i, saved[i]);
    }
    fclose(files[0]);
    if (status != 0) {
        fprintf(answers, "status %d\n", status);
    }
    put(content(files[1]), "", most);
    put(content(files[2]), "! ", 1000);
}

static void run_line(char *line)
{
    char *words[WORDS], *input = strstr(line, " < "), *bar = strstr(line, " | ");
    size_t count = 0;
    if (several) {
        fprintf(answers, "$ %s\n", line);
    }
    long most = bar ? strtol(bar + 3, NULL, 10) : 1000;
    *(bar ? bar : line + strlen(line)) = '\0';
    *(input ? input : line + strlen(line)) = '\0';
    for (char *at = line; *at;) {
        char *start = *at == '\'' ? at + 1 : at,
             *end = start + strcspn(start, *at == '\'' ? "'" : " ");
        at = *end ? end + 1 : end;
        at += strspn(at, " ");
        *end = '\0';
        ck_assert_uint_lt(count, WORDS - 1);
        words[count++] = start;
    }
    words[count] = NULL;
    if (strcmp(words[0], "show") == 0) {
        FILE *file = fopen(words[1], "r");
        ck_assert_msg(file != NULL, "%s", words[1]);
        put(content(file), "", most);
    } else {
        ck_assert_str_eq(words[0], "calc");
        run_words(count - 1, words + 1, input ? input + 3 : "", most);
    }
}

/* The line with each choice of its first braces in their place. */
static void each_choice(const char *line)
{
    char made[LINE];
    const char *from = strchr(line, '{'), *to = from ? strchr(from, '}') : NULL;
    if (to && memchr(from, ',', (size_t)(to - from)) && !strchr("\"'", from[1])) {
        several = true;
        for (const char *at = from + 1; at <= to; at += strcspn(at, ",}") + 1) {
            snprintf(made, LINE, "%.*s%.*s%s", (int)(from - line), line, (int)strcspn(at, ",}"), at,
                     to + 1);
            each_choice(made);
        }
    } else {
        snprintf(made, LINE, "%s", line);
        run_line(made);
    }
}

static void answer(const char *said, FILE *out)
{
    answers = out;
    several = strchr(said, '\n') != NULL && strchr(said, '\n')[1] != '\0';
    char folder[256];
    scratch_enter(folder, sizeof folder);
    ck_assert_int_eq(symlink(CALC_DATA_DIR_SOURCE, "ROOT"), 0);
    setenv("CALC_PATH", "ROOT:ROOT/tests", 1); /* models, and what was measured */
    setenv("LC_ALL", "C.UTF-8", 1);
    setenv("TERM", "xterm", 1);
    unsetenv("COLUMNS");
    unsetenv("NO_COLOR");
    for (const char *at = said; *at; at += strcspn(at, "\n") + 1) {
        char line[LINE];
        snprintf(line, LINE, "%.*s", (int)strcspn(at, "\n"), at);
        each_choice(line);
    }
    ck_assert_int_eq(chdir("/"), 0);
    char command[300];
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/** What a program of commands is. */
#define COMMANDS(file)                                                                             \
    const calc_test_frame calc_tests = {.timeout_s = 60, .cases = "golden/" file, .answer = answer}

#endif
