/* Commands that run in this process, in a folder that a test begins empty. */
#ifndef CALC_TESTS_IN_PROCESS_H
#define CALC_TESTS_IN_PROCESS_H

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shell/help.h"
#include "cli/shell/opt.h"
#include "frame.h"
#include "unit/scratch.h"

static char folder[256]; /* in which a test runs */

static void replace(char *text, const char *what, const char *with)
{
    size_t from = strlen(what), to = strlen(with);
    while ((text = strstr(text, what)) != NULL) {
        memmove(text + to, text + from, strlen(text + from) + 1);
        memcpy(text, with, to);
        text += to;
    }
}

/* Whether a line says how long something took. */
static bool is_timed(const char *line, size_t length)
{
    static const char *const words[] = {"evaluations/s", "per core",           "time_s\"",
                                        "elapsed",       "nothing else to do", "of that for "};
    char *text = strndup(line, length);
    bool timed = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        timed |= strstr(text, words[i]) != NULL;
    }
    free(text);
    return timed;
}

/* A text with \n for new lines. */
static void put_lines(const char *text, FILE *file)
{
    for (; *text; text++) {
        bool ends = text[0] == '\\' && text[1] == 'n';
        fputc(ends ? '\n' : *text, file);
        text += ends;
    }
}

/* Runs calc with these words, or bash with a line, with files instead of its streams. */
static int run(size_t count, char **words, const char *line, FILE **files)
{
    int saved[3], status;
    fflush(stdout);
    rewind(files[0]);
    for (int i = 0; i < 3; i++) {
        saved[i] = dup(i);
        ck_assert_int_eq(dup2(fileno(files[i]), i), i);
    }
    rewind(stdin);
    if (line) {
        setenv("LINE", line, 1);
        status = WEXITSTATUS(system("exec bash -c \"$LINE\""));
    } else {
        const char *instead;
        const calc_command *command = calc_command_find(words[0], &instead);
        size_t name = instead ? 0 : 1;
        words[0] = instead ? (char *)instead : words[0];
        status = command ? (int)calc_command_run(command, count - name, words + name) : -1;
    }
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(dup2(saved[i], i), i);
        close(saved[i]);
    }
    return status;
}

static void enter(void)
{
    scratch_enter(folder, sizeof folder);
    ck_assert_int_eq(symlink(CALC_DATA_DIR_SOURCE, "ROOT"), 0);
    setenv("CALC_PATH", "ROOT:ROOT/tests", 1); /* models, and what was measured */
    setenv("LC_ALL", "C.UTF-8", 1);
    setenv("TERM", "xterm", 1);
    unsetenv("COLUMNS");
    unsetenv("NO_COLOR");
}

static void leave(void)
{
    ck_assert_int_eq(chdir("/"), 0);
    char command[300];
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

#endif
