#include "cli/tune/tune_journal.h"

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

#include "base/buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "cli/shell/complain.h"
#include "io/utf8.h"
#include "spec/field.h"
#include "spec/value_text.h"

enum { LINE_SIZE = 1024 };

/* What stands in a column. */
enum { COLUMN_LAYOUT, COLUMN_STEP, COLUMN_MEMORY, COLUMN_OUTCOME, COLUMN_NOTE, COLUMNS };
static const struct {
    const char *title;
    bool needed;
} heads[COLUMNS] = {
    {"layout", true}, {"step_s", true}, {"memory_gib", false}, {"outcome", true}, {"note", false}};

static calc_status complain(calc_errors *errors, const char *path, const char *hint,
                            const char *text)
{
    return calc_errors_at(errors, CALC_ERR_IO, path, 0, 0, hint, "%s", text);
}

/* The columns of a file that is there. */
static calc_status take_head(calc_tune_journal *j, const char *head, calc_errors *errors)
{
    char text[LINE_SIZE];
    char *cell[CALC_TUNE_JOURNAL_COLUMNS];
    bool there[COLUMNS + 1] = {false};
    calc_csv_reader reader;
    int line;
    size_t length = strlen(head);
    if (length >= sizeof text) {
        return complain(errors, j->path, NULL, "its first line is too long to be added to");
    }
    memcpy(text, head, length + 1);
    calc_csv_read_start(&reader, text, length, j->path);
    j->columns = calc_csv_read_row(&reader, cell, CALC_TUNE_JOURNAL_COLUMNS, &line, errors);
    if (j->columns < 0) {
        return CALC_ERR_SYNTAX;
    }
    for (int i = 0; i < j->columns; i++) {
        int what = 0;
        while (what < COLUMNS && strcmp(heads[what].title, cell[i]) != 0) {
            what++;
        }
        j->what[i] = what;
        there[what] = true;
    }
    for (int i = 0; i < COLUMNS; i++) {
        if (heads[i].needed && !there[i]) {
            return calc_errors_at(errors, CALC_ERR_FIELD, j->path, 1, 0,
                                  "rows that are added have layout, step_s and outcome",
                                  "column \"%s\" is missing", heads[i].title);
        }
    }
    return CALC_OK;
}

/* One write for a whole line: it is there or not, but for a machine that stops in between. */
static calc_status append(const calc_tune_journal *j, const char *line, calc_errors *errors)
{
    size_t length = strlen(line);
    ssize_t written;
    do {
        written = write(j->file, line, length);
    } while (written < 0 && errno == EINTR);
    if (written < 0 || (fsync(j->file) != 0 && errno != EINVAL && errno != EROFS)) {
        return complain(errors, j->path, NULL, strerror(errno));
    }
    return (size_t)written == length
               ? CALC_OK
               : complain(errors, j->path, "remove its last line, which is not whole",
                          "a measurement was written in part only: is the disk full?");
}

calc_status calc_tune_journal_add(const calc_tune_journal *j, const char *layout, calc_tune_end end,
                                  double step_s, double memory_bytes, const char *note,
                                  calc_errors *errors)
{
    char line[LINE_SIZE] = "";
    char number[32];
    for (int i = 0; i < j->columns; i++) {
        calc_append(line, LINE_SIZE, "%s", i > 0 ? "," : "");
        if (j->what[i] == COLUMN_LAYOUT) {
            calc_append(line, LINE_SIZE, "%s", layout);
        } else if (j->what[i] == COLUMN_STEP && end == CALC_TUNE_END_FINE) {
            calc_append(line, LINE_SIZE, "%s", calc_number_text(step_s, 1, number));
        } else if (j->what[i] == COLUMN_MEMORY && !isnan(memory_bytes)) {
            calc_append(line, LINE_SIZE, "%s", calc_number_text(memory_bytes, 0x1p30, number));
        } else if (j->what[i] == COLUMN_OUTCOME) {
            calc_append(line, LINE_SIZE, "%s", calc_tune_end_word(end));
        } else if (j->what[i] == COLUMN_NOTE) {
            /* A note in quotes, without what would end the line. */
            calc_append(line, LINE_SIZE, "%s", *note ? "\"" : "");
            for (const char *at = note; *at && strlen(line) < LINE_SIZE - 8; at++) {
                unsigned char byte = (unsigned char)*at;
                calc_append(line, LINE_SIZE, byte == '"' ? "\"\"" : "%c", byte < ' ' ? ' ' : *at);
            }
            calc_append(line, LINE_SIZE, "%s", *note ? "\"" : "");
        }
    }
    calc_append(line, LINE_SIZE, "\n");
    return append(j, line, errors);
}

calc_status calc_tune_journal_open(calc_tune_journal *j, const char *path,
                                   const calc_tune_rows *rows, calc_errors *errors)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    *j = (calc_tune_journal){.path = path, .file = -1};
    calc_status status = CALC_OK;
    if (!rows->ends) {
        return calc_errors_at(errors, CALC_ERR_SYNTAX, path, 0, 0,
                              "complete the line, or remove it",
                              "its last line has no end: a measurement may be cut off");
    }
    if (rows->head) {
        status = take_head(j, rows->head, errors);
    } else {
        j->columns = COLUMNS;
        for (int i = 0; i < COLUMNS; i++) {
            j->what[i] = i;
        }
    }
    if (status != CALC_OK) {
        return status;
    }
    j->file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (j->file < 0) {
        return complain(errors, path, NULL, strerror(errno));
    }
    if (fcntl(j->file, F_SETLK, &lock) != 0 && (errno == EAGAIN || errno == EACCES)) {
        return complain(errors, path, "wait until it ends", "another calc tune measures into it");
    }
    return rows->head ? CALC_OK : append(j, "layout,step_s,memory_gib,outcome,note\n", errors);
}

void calc_tune_journal_close(calc_tune_journal *j)
{
    if (j->file >= 0) {
        close(j->file);
    }
    j->file = -1;
}

/* A run without end, and a processor that no one has. */
#define MOST 1e9 /* s, GiB */

static const calc_csv_column columns[] = {
    {NULL, NULL, CALC_CSV_MEMBER(calc_tune_row, line)},
    {"layout", NULL, CALC_CSV_MEMBER(calc_tune_row, layout), .flags = CALC_CSV_OPTIONAL},
    {"exe", NULL, CALC_CSV_MEMBER(calc_tune_row, exe), .flags = CALC_CSV_OPTIONAL},
    {"step_s", NULL, CALC_CSV_MEMBER(calc_tune_row, step)},
    {"memory_gib", NULL, CALC_CSV_MEMBER(calc_tune_row, memory), .flags = CALC_CSV_OPTIONAL},
    {"outcome", NULL, CALC_CSV_MEMBER(calc_tune_row, outcome), .flags = CALC_CSV_OPTIONAL},
    {"note", NULL, CALC_CSV_MEMBER(calc_tune_row, note), .flags = CALC_CSV_OPTIONAL},
    {"id", NULL, CALC_CSV_MEMBER(calc_tune_row, id), .flags = CALC_CSV_OPTIONAL},
};

static const char hint[] = "the first row is layout,step_s,memory_gib,outcome,note";

/* Read a time of a step, "1.53", "1530ms", or a need of memory, "61.2", "61.2GiB".
 * @return NULL, or what was expected */
static const char *read_amount(const char *text, bool memory, double *value)
{
    static const char *const expected[2][3] = {
        {"a time: 1.53, 1.53s or 1530ms", "seconds, or a unit of time: s, ms, us, min or h",
         "a time above 0, of at most 1e9 s"},
        {"an amount of memory: 61.2, 61.2GiB or 65.7GB",
         "GiB, or a unit of memory: GiB, GB, MiB or B", "an amount above 0, of at most 1e9 GiB"}};
    double number;
    calc_amount read = calc_amount_read(text, memory ? "GiB" : "s", &number);
    if (read == CALC_AMOUNT_NO_NUMBER || read == CALC_AMOUNT_WRONG_UNIT) {
        return expected[memory][read == CALC_AMOUNT_WRONG_UNIT];
    }
    *value = memory ? number * 0x1p30 : number;
    return number > 0 && number <= MOST ? NULL : expected[memory][2];
}

/* The end that a word means. @return whether there is one */
static bool tune_end(const char *word, calc_tune_end *end)
{
    for (int i = 0; i < CALC_TUNE_ENDS; i++) {
        if (strcmp(word, calc_tune_end_word((calc_tune_end)i)) == 0) {
            *end = (calc_tune_end)i;
            return true;
        }
    }
    return false;
}

/* Column of a cell of the row, as errors count. */
static int tune_rows_column_of(const calc_csv_row *from, const char *cell)
{
    return *cell ? calc_csv_read_column(from->reader, cell) : 0;
}

static calc_status refuse(const calc_csv_row *from, const char *title, const char *cell,
                          const char *expected, calc_errors *errors)
{
    return calc_errors_at(errors, CALC_ERR_TYPE, from->reader->name, from->line,
                          tune_rows_column_of(from, cell), NULL, "%s: expected %s, found \"%s\"",
                          title, expected, calc_utf8_shown(cell, strlen(cell)));
}

static calc_status lacks(const calc_csv_row *from, const char *cell, const char *what,
                         const char *help, calc_errors *errors)
{
    return calc_errors_at(errors, CALC_ERR_FIELD, from->reader->name, from->line,
                          tune_rows_column_of(from, cell), help, "%s", what);
}

static calc_status read_numbers(calc_tune_row *row, const calc_csv_row *from, calc_errors *errors)
{
    bool timed = !calc_csv_is_blank(row->step);
    const char *wrong = timed ? read_amount(row->step, false, &row->step_s) : NULL;
    if (wrong) {
        return refuse(from, "step_s", row->step, wrong, errors);
    }
    wrong =
        calc_csv_is_blank(row->memory) ? NULL : read_amount(row->memory, true, &row->memory_bytes);
    if (wrong) {
        return refuse(from, "memory_gib", row->memory, wrong, errors);
    }
    if (timed && row->end != CALC_TUNE_END_FINE) {
        return lacks(from, row->step, "a run that is not ok has no time of a step",
                     "leave step_s blank, or write ok", errors);
    }
    return !timed && row->end == CALC_TUNE_END_FINE
               ? lacks(from, row->outcome, "the row has neither a time nor another outcome than ok",
                       "outcome may be oom or failed", errors)
               : CALC_OK;
}

static calc_status finish_row(void *context, void *object, const calc_csv_row *from,
                              calc_errors *errors)
{
    calc_tune_row *row = object;
    (void)context;
    row->end = CALC_TUNE_END_FINE;
    row->step_s = row->memory_bytes = (double)NAN;
    row->layout_column = tune_rows_column_of(from, row->layout);
    row->exe_column = tune_rows_column_of(from, row->exe);
    bool layout = !calc_csv_is_blank(row->layout);
    bool exe = !calc_csv_is_blank(row->exe);
    if (layout == exe) {
        return lacks(from, row->exe,
                     exe ? "layout and exe: one of them says which layout it is"
                         : "the row names no layout",
                     hint, errors);
    }
    row->layout = layout ? row->layout : "";
    row->exe = exe ? row->exe : "";
    if (!calc_csv_is_blank(row->outcome) && !tune_end(row->outcome, &row->end)) {
        return refuse(from, "outcome", row->outcome, "ok, oom or failed", errors);
    }
    return read_numbers(row, from, errors);
}

static int compare_ids(const void *a, const void *b)
{
    const calc_tune_row *x = *(const calc_tune_row *const *)a;
    const calc_tune_row *y = *(const calc_tune_row *const *)b;
    int order = strcmp(x->id, y->id);
    return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

static calc_status check_ids(const calc_tune_rows *rows, const char *name, calc_errors *errors)
{
    const calc_tune_row **named = calc_make(rows->count + 1, sizeof *named);
    size_t count = 0;
    calc_status status = CALC_OK;
    for (size_t i = 0; i < rows->count; i++) {
        if (!calc_csv_is_blank(rows->row[i].id)) {
            named[count++] = &rows->row[i];
        }
    }
    CALC_SORT(named, count, compare_ids);
    for (size_t i = 1; i < count; i++) {
        if (strcmp(named[i]->id, named[i - 1]->id) == 0) {
            status = calc_errors_at(
                errors, CALC_ERR_FIELD, name, named[i]->line, 0, "a measurement is there once",
                "the id \"%s\" is that of line %d, too",
                calc_utf8_shown(named[i]->id, strlen(named[i]->id)), named[i - 1]->line);
        }
    }
    free(named);
    return status;
}

calc_status calc_tune_rows_parse(calc_tune_rows *out, calc_text text, const char *name,
                                 calc_errors *errors)
{
    static const calc_csv_table plain = CALC_CSV_TABLE(columns, calc_tune_row, hint);
    calc_csv_table table = plain;
    int first = errors ? errors->count : 0;
    int lines = 1;
    for (size_t i = 0; i < text.length; i++) {
        lines += text.data[i] == '\n';
    }
    table.finish = finish_row;
    *out = (calc_tune_rows){.csv = {.text = text}};
    out->ends = text.length == 0 || text.data[text.length - 1] == '\n';
    if (text.length == 0) {
        return CALC_OK;
    }
    size_t length = strcspn(text.data, "\r\n");
    out->head = length > 0 ? strndup(text.data, length) : NULL;
    calc_status status = calc_csv_table_parse(&out->csv, &table, text, name, errors);
    out->row = out->csv.item;
    out->count = out->csv.count;
    status = status == CALC_OK ? check_ids(out, name, errors) : status;
    if (errors && status != CALC_OK) {
        /* What a kill in the middle of writing leaves is said to be that. */
        for (int i = first; i < errors->count && !out->ends; i++) {
            calc_error *error = &errors->item[i];
            if (error->line == lines) {
                strcpy(error->hint, "the file ends within this line: complete it, or remove it");
            }
        }
    }
    return status;
}

calc_status calc_tune_rows_read(calc_tune_rows *out, const char *path, bool absent,
                                calc_errors *errors)
{
    calc_text text = {0};
    calc_errors found = {0};
    *out = (calc_tune_rows){.ends = true};
    calc_status status = calc_text_read(&text, path, &found);
    if (status == CALC_OK) {
        return calc_tune_rows_parse(out, text, path, errors);
    }
    if (absent && access(path, F_OK) != 0 && errno == ENOENT) {
        return CALC_OK;
    }
    const calc_error *error = &found.item[0];
    return calc_errors_at(errors, status, error->file, 0, 0,
                          status == CALC_ERR_NOT_FOUND
                              ? "--next and --command begin with a file that is not there yet"
                              : error->hint,
                          "%s", error->text);
}

void calc_tune_rows_free(calc_tune_rows *rows)
{
    calc_csv_rows_free(&rows->csv);
    free(rows->head);
    *rows = (calc_tune_rows){0};
}

extern char **environ; // NOLINT(readability-redundant-declaration)

#define TICK_MS 100
#define GRACE_S 5 /* between asking to end and killing */
enum { PROGRAM_LINE_SIZE = 4096, READS = 32, NOT_RUN = 126, NOT_FOUND = 127 };

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
    char line[PROGRAM_LINE_SIZE]; /* that is being read */
    char last[PROGRAM_LINE_SIZE]; /* that was not blank */
} job;

typedef struct jobs {
    const calc_tune_program *program;
    size_t count;
    job *job;
    bool interrupted;
} jobs;

static calc_status program_complain(calc_errors *errors, const char *what, int code)
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
    if (pipe(ends) != 0) {
        free(text);
        return program_complain(errors, "cannot run a program", errno);
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    int code = spawn(j, program, text, ends[1]);
    close(ends[1]);
    free(text);
    if (code != 0) {
        close(ends[0]);
        return program_complain(errors, "cannot run /bin/sh", code);
    }
    j->file = ends[0];
    j->state = RUNS;
    j->tries++;
    j->late = j->told = false;
    j->length = 0;
    j->last[0] = '\0';
    j->deadline_s = calc_clock_s(CLOCK_MONOTONIC) + program->timeout_s;
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
    char bytes[PROGRAM_LINE_SIZE];
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
            } else if (j->length < PROGRAM_LINE_SIZE - 1) {
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
    const char *shown = calc_utf8_shown(j->last, strlen(j->last));
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
    return failed && !j->late && j->tries <= all->program->retries && !all->interrupted
               ? start(j, all->program, errors)
               : CALC_OK;
}

/* Ask it to end; once more, and it is killed. */
static void end(job *j)
{
    if (j->state == RUNS) {
        kill(-j->child, j->told ? SIGKILL : SIGTERM);
        j->killed_s = calc_clock_s(CLOCK_MONOTONIC) + GRACE_S;
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
    jobs all = {program, count, calc_make(count + 1, sizeof *all.job), false};
    calc_status status = CALC_OK;
    for (size_t i = 0; i < count; i++) {
        all.job[i] = (job){.trial = &trial[i], .slot = i, .file = -1};
        status = status == CALC_OK ? start(&all.job[i], program, errors) : status;
    }
    bool stopped = false;
    while (any_runs(&all)) {
        pause_for(&all);
        watch_signals(&all);
        for (size_t i = 0; i < count; i++) {
            job *j = &all.job[i];
            if (j->state == RUNS) {
                double at_s = calc_clock_s(CLOCK_MONOTONIC);
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
    char *text = calc_make(1, size);
    char *out = text;
    while (*command) {
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
    *out = '\0';
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
    char word[WORDS][64];
    double step_s = (double)NAN;
    double memory_bytes = (double)NAN;
    calc_tune_end end;
    size_t count = split(CALC_TEXT(TUNE_TRIAL_LINE_SIZE, "%s", line), word);
    if (count == 0 || count > 2) {
        return false;
    }
    if (count == 1 && tune_end(word[0], &end) && end != CALC_TUNE_END_FINE) {
        trial->end = end;
        trial->step_s = trial->memory_bytes = (double)NAN;
        return true;
    }
    if (read_amount(word[0], false, &step_s) ||
        (count == 2 && read_amount(word[1], true, &memory_bytes))) {
        return false;
    }
    trial->end = CALC_TUNE_END_FINE;
    trial->step_s = step_s;
    trial->memory_bytes = memory_bytes;
    return true;
}
