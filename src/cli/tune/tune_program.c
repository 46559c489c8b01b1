#include "cli/tune/tune_program.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/tune/tune_journal.h"
#include "io/utf8.h"

extern char **environ; // NOLINT(readability-redundant-declaration)

#define TICK_MS 100
#define GRACE_S 5 /* between asking to end and killing */
enum { LINE_SIZE = 4096, READS = 32, NOT_RUN = 126, NOT_FOUND = 127 };

typedef enum state { WAITS, RUNS, ENDED } state;

typedef struct job {
    calc_tune_trial *trial;
    size_t slot;
    state state;
    int tries;
    pid_t child;
    int file; /* its standard output; -1: it has no more */
    double deadline_s, killed_s;
    bool late, told;
    size_t length;
    char line[LINE_SIZE]; /* that is being read */
    char last[LINE_SIZE]; /* that was not blank */
} job;

typedef struct jobs {
    const calc_tune_program *program;
    size_t count;
    job *job;
    bool interrupted;
} jobs;

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static calc_status complain(calc_errors *errors, const char *what, int code)
{
    return calc_errors_add(errors, CALC_ERR_IO, CALC_KIND_NONE, NULL, NULL, "%s: %s", what,
                           strerror(code));
}

/* In a group of its own, so that all of it can be ended, and with the signals that calc itself
 * holds back. @return an errno */
static int spawn(job *j, const calc_tune_program *program, char *text, int out)
{
    char shell[] = "sh";
    char flag[] = "-c";
    char *const arguments[] = {shell, flag, text, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &program->mask);
    int code = posix_spawn_file_actions_init(&actions);
    if (code == 0) {
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
        code = posix_spawn(&j->child, "/bin/sh", &actions, &attributes, arguments, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    posix_spawnattr_destroy(&attributes);
    return code;
}

static calc_status start(job *j, const calc_tune_program *program, calc_errors *errors)
{
    int ends[2];
    char *text = calc_tune_trial_command(program->command, j->trial, j->slot);
    if (!text) {
        return calc_errors_no_memory(errors);
    }
    if (pipe(ends) != 0) {
        free(text);
        return complain(errors, "cannot run a program", errno);
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    int code = spawn(j, program, text, ends[1]);
    close(ends[1]);
    free(text);
    if (code != 0) {
        close(ends[0]);
        return complain(errors, "cannot run /bin/sh", code);
    }
    j->file = ends[0];
    j->state = RUNS;
    j->tries++;
    j->late = j->told = false;
    j->length = 0;
    j->last[0] = '\0';
    j->deadline_s = now_s() + program->timeout_s;
    return CALC_OK;
}

static void end_line(job *j)
{
    j->line[j->length] = '\0';
    if (j->line[strspn(j->line, " \t\r")] != '\0') {
        memcpy(j->last, j->line, j->length + 1);
    }
    j->length = 0;
}

/* Reads its output so far. Only the beginning of a line too long to be a result is kept. */
static void read_output(job *j)
{
    char bytes[LINE_SIZE];
    ssize_t count = 1;
    /* At most as much as a pipe holds, in case it never stops printing. */
    for (int reads = 0; j->file >= 0 && reads < READS; reads++) {
        count = read(j->file, bytes, sizeof bytes);
        if (count <= 0) {
            break;
        }
        for (ssize_t i = 0; i < count; i++) {
            if (bytes[i] == '\n') {
                end_line(j);
            } else if (j->length < LINE_SIZE - 1) {
                j->line[j->length++] = bytes[i] ? bytes[i] : '?';
            }
        }
    }
    if (j->file >= 0 && (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))) {
        close(j->file);
        j->file = -1;
    }
}

static void fail(calc_tune_trial *trial, const char *note)
{
    trial->end = CALC_TUNE_END_FAILED;
    trial->step_s = trial->memory_bytes = (double)NAN;
    snprintf(trial->note, sizeof trial->note, "%s", note);
}

/* A time counts if the program was fine. */
static void judge(job *j, int status)
{
    calc_tune_trial *trial = j->trial;
    char shown[CALC_UTF8_SHOW_SIZE];
    char note[CALC_TUNE_NOTE_SIZE];
    bool fine = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    trial->note[0] = '\0';
    if (j->late) {
        fail(trial, "timeout");
        return;
    }
    bool said = calc_tune_trial_read(j->last, trial);
    if (said && (fine || trial->end != CALC_TUNE_END_FINE)) {
        return;
    }
    calc_utf8_show(shown, j->last, strlen(j->last));
    if (WIFSIGNALED(status)) {
        snprintf(note, sizeof note, "ended by signal %d", WTERMSIG(status));
    } else if (!fine) {
        snprintf(note, sizeof note, "exit status %d", WEXITSTATUS(status));
    } else {
        snprintf(note, sizeof note,
                 *j->last ? "no time in its last line: %s" : "it printed nothing", shown);
    }
    fail(trial, note);
}

/* Look whether a program has ended. */
static calc_status look(jobs *all, job *j, calc_errors *errors)
{
    int status = 0;
    read_output(j);
    pid_t ended = waitpid(j->child, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) {
        return CALC_OK;
    }
    read_output(j);
    if (j->file >= 0) { /* what it has left running holds it open */
        close(j->file);
        j->file = -1;
    }
    end_line(j);
    j->state = ENDED;
    if (j->told && !j->late) {
        return CALC_OK; /* it was ended: it has no result */
    }
    judge(j, status);
    bool failed = j->trial->end == CALC_TUNE_END_FAILED;
    if (failed && (WIFEXITED(status) &&
                   (WEXITSTATUS(status) == NOT_RUN || WEXITSTATUS(status) == NOT_FOUND))) {
        return calc_errors_add(errors, CALC_ERR_IO, CALC_KIND_NONE, NULL,
                               "is the command there, and may it be executed?",
                               "--command: the shell cannot run it: exit status %d",
                               WEXITSTATUS(status));
    }
    if (failed && !j->late && j->tries <= all->program->retries && !all->interrupted) {
        return start(j, all->program, errors);
    }
    return CALC_OK;
}

/* Ask it to end; once more, and it is killed. */
static void end(job *j)
{
    if (j->state == RUNS) {
        kill(-j->child, j->told ? SIGKILL : SIGTERM);
        j->killed_s = now_s() + GRACE_S;
        j->told = true;
    }
}

static void watch_signals(jobs *all)
{
    const struct timespec no_time = {0};
    while (sigtimedwait(&all->program->signals, NULL, &no_time) > 0) {
        all->interrupted = true;
        for (size_t i = 0; i < all->count; i++) {
            all->job[i].late = false;
            end(&all->job[i]);
        }
    }
}

/* Until something is printed, or for a moment. */
static void pause_for(const jobs *all)
{
    struct pollfd open[CALC_TUNE_PICKS];
    nfds_t count = 0;
    bool silent = false;
    for (size_t i = 0; i < all->count; i++) {
        const job *j = &all->job[i];
        if (j->state == RUNS && j->file >= 0) {
            open[count++] = (struct pollfd){.fd = j->file, .events = POLLIN};
        }
        silent = silent || (j->state == RUNS && j->file < 0); /* it is about to end */
    }
    poll(open, count, silent ? TICK_MS / 10 : TICK_MS);
}

static bool any_runs(const jobs *all)
{
    for (size_t i = 0; i < all->count; i++) {
        if (all->job[i].state == RUNS) {
            return true;
        }
    }
    return false;
}

calc_status calc_tune_program_run(const calc_tune_program *program, calc_tune_trial *trial,
                                  size_t count,
                                  calc_status (*ended)(void *context, const calc_tune_trial *trial,
                                                       calc_errors *errors),
                                  void *context, bool *interrupted, calc_errors *errors)
{
    jobs all = {program, count, calloc(count + 1, sizeof *all.job), false};
    calc_status status = all.job ? CALC_OK : calc_errors_no_memory(errors);
    for (size_t i = 0; i < count && all.job; i++) {
        all.job[i] = (job){.trial = &trial[i], .slot = i, .file = -1};
        status = status == CALC_OK ? start(&all.job[i], program, errors) : status;
    }
    bool stopped = false;
    while (all.job && any_runs(&all)) {
        pause_for(&all);
        watch_signals(&all);
        for (size_t i = 0; i < count; i++) {
            job *j = &all.job[i];
            if (j->state == RUNS) {
                double at_s = now_s();
                if (!j->told && at_s >= j->deadline_s) {
                    j->late = true;
                    end(j);
                } else if (j->told && at_s >= j->killed_s) {
                    end(j);
                }
                calc_status one = look(&all, j, errors);
                one = one == CALC_OK && (j->state == ENDED && (!j->told || j->late))
                          ? ended(context, j->trial, errors)
                          : one;
                status = status == CALC_OK ? one : status;
            }
        }
        for (size_t i = 0; i < count && status != CALC_OK && !stopped; i++) {
            all.job[i].late = false;
            end(&all.job[i]);
        }
        stopped = status != CALC_OK;
    }
    free(all.job);
    *interrupted = all.interrupted;
    return status;
}

enum { TUNE_TRIAL_LINE_SIZE = 4096, WORDS = 4 };

enum { PLACE_EXE, PLACE_LAYOUT, PLACE_SLOT, PLACES };
static const char *const place[PLACES] = {"{exe}", "{layout}", "{slot}"};

bool calc_tune_trial_names_layout(const char *command)
{
    return strstr(command, place[PLACE_EXE]) || strstr(command, place[PLACE_LAYOUT]);
}

/* A text that the shell takes for one word. @return room for it: 4 bytes for each and 3 more */
static void quote(char *out, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._-+=:,@%";
    if (*text && text[strspn(text, plain)] == '\0') {
        strcpy(out, text);
        return;
    }
    *out++ = '\'';
    for (; *text; text++) {
        if (*text == '\'') {
            strcpy(out, "'\\''");
            out += 4;
        } else {
            *out++ = *text;
        }
    }
    strcpy(out, "'");
}

char *calc_tune_trial_command(const char *command, const calc_tune_trial *trial, size_t slot)
{
    char number[32];
    snprintf(number, sizeof number, "%zu", slot);
    const char *const value[PLACES] = {trial->exe, trial->layout, number};
    size_t size = strlen(command) + 1;
    size_t longest = 4 * (strlen(trial->exe) + strlen(trial->layout) + sizeof number) + 3;
    for (const char *at = strchr(command, '{'); at; at = strchr(at + 1, '{')) {
        size += longest;
    }
    char *text = malloc(size);
    char *out = text;
    while (text && *command) {
        int which = 0;
        while (which < PLACES && strncmp(command, place[which], strlen(place[which])) != 0) {
            which++;
        }
        if (which == PLACES) {
            *out++ = *command++;
            continue;
        }
        quote(out, value[which]);
        out += strlen(out);
        command += strlen(place[which]);
    }
    if (text) {
        *out = '\0';
    }
    return text;
}

/* Words of a line; a unit that stands alone belongs to the number before it.
 * @return how many; more than WORDS: too many */
static size_t split(char *line, char word[WORDS][64])
{
    size_t count = 0;
    char *rest = NULL;
    for (char *w = strtok_r(line, " \t\r,", &rest); w; w = strtok_r(NULL, " \t\r,", &rest)) {
        bool letter = (*w >= 'a' && *w <= 'z') || (*w >= 'A' && *w <= 'Z');
        if (count > 0 && letter) {
            size_t used = strlen(word[count - 1]);
            snprintf(word[count - 1] + used, sizeof word[0] - used, "%s", w);
        } else if (count == WORDS) {
            return WORDS + 1;
        } else {
            snprintf(word[count++], sizeof word[0], "%s", w);
        }
    }
    return count;
}

bool calc_tune_trial_read(const char *line, calc_tune_trial *trial)
{
    char text[TUNE_TRIAL_LINE_SIZE];
    char word[WORDS][64];
    double step_s = (double)NAN;
    double memory_bytes = (double)NAN;
    calc_tune_end end;
    snprintf(text, sizeof text, "%s", line);
    size_t count = split(text, word);
    if (count == 0 || count > 2) {
        return false;
    }
    if (count == 1 && calc_tune_rows_end(word[0], &end) && end != CALC_TUNE_END_FINE) {
        trial->end = end;
        trial->step_s = trial->memory_bytes = (double)NAN;
        return true;
    }
    if (calc_tune_rows_time(word[0], &step_s) ||
        (count == 2 && calc_tune_rows_memory(word[1], &memory_bytes))) {
        return false;
    }
    trial->end = CALC_TUNE_END_FINE;
    trial->step_s = step_s;
    trial->memory_bytes = memory_bytes;
    return true;
}
