/** @file main.c  Finds the command named by the first argument and runs it. */
#define _DEFAULT_SOURCE /* on_exit() */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/shell/complain.h"
#include "cli/shell/help.h"
#include "cli/shell/opt.h"
#include "io/json_load.h"

static calc_exit unknown_word(const char *word)
{
    const char *what = word[0] == '-' ? "option" : "command";
    static const char *const options[] = {"--help", "--version", NULL};
    const char *nearest = word[0] == '-' ? calc_nearest(word, options) : calc_command_nearest(word);
    if (strcmp(word, "report") == 0) {
        return calc_complain_usage(
            NULL, "calc report is gone: --html FILE of run, sweep, plan, tune, validate and rl "
                  "writes the page");
    }
    return calc_complain_usage(
        NULL, CALC_TEXT(256, "unknown %s \"%.100s\"%s", what, word,
                        nearest ? CALC_TEXT(128, ", did you mean \"%s\"?", nearest) : ""));
}

static void *allocate(size_t size)
{
    void *memory = malloc(size);
    if (!memory) {
        calc_end_without_memory();
    }
    return memory;
}

#ifdef __GLIBC__
/* libgomp ends a process that has no memory with status 1, which would say "infeasible". */
static void end_with_status(int status, void *ours)
{
    if (status != CALC_EXIT_OK && !*(bool *)ours) {
        _exit(CALC_EXIT_SYSTEM);
    }
}
#endif

static calc_exit run(int argc, char **argv)
{
    /* If the caller closed a standard stream, the next file opened would get its number and receive
     * our messages. We open it for the wrong direction, so that using it fails. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) {
            return CALC_EXIT_SYSTEM;
        }
    }
    if (argc < 2) {
        fputs(calc_help_brief, stderr);
        return CALC_EXIT_USAGE;
    }
    if (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0) {
        return calc_help_show(calc_help_text, NULL);
    }
    if (strcmp(argv[1], "--version") == 0) {
        return calc_help_show(calc_help_version, NULL);
    }
    const char *instead;
    const calc_command *command = calc_command_find(argv[1], &instead);
    if (!command) {
        return unknown_word(argv[1]);
    }
    int words = 2;
    if (instead) {
        argv[--words] = (char *)instead;
    }
    return calc_command_run(command, (size_t)(argc - words), argv + words);
}

int main(int argc, char **argv)
{
    bool ours = false;
    calc_json_allocate(allocate);
#ifdef __GLIBC__
    if (on_exit(end_with_status, &ours) != 0) {
        calc_end_without_memory();
    }
#endif
    calc_exit result = run(argc, argv);
    ours = true;
    exit((int)result); /* while `ours` lives */
}
