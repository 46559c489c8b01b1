#include "cli/tune/tune_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/error.h"
#include "spec/field.h"

enum { LINE_SIZE = 1024 };

/* What stands in a column: X(NAME, title, needed). */
#define COLUMN_LIST(X)                                                                             \
    X(LAYOUT, "layout", true)                                                                      \
    X(STEP, "step_s", true)                                                                        \
    X(MEMORY, "memory_gib", false)                                                                 \
    X(OUTCOME, "outcome", true)                                                                    \
    X(NOTE, "note", false)

enum {
#define CALC_X(name, title, needed) COLUMN_##name,
    COLUMN_LIST(CALC_X)
#undef CALC_X
        COLUMNS
};

static const char *const title[] = {
#define CALC_X(name, title, needed) title,
    COLUMN_LIST(CALC_X)
#undef CALC_X
};
static const bool needed[] = {
#define CALC_X(name, title, needed) needed,
    COLUMN_LIST(CALC_X)
#undef CALC_X
};

static calc_status complain(calc_errors *errors, const char *path, const char *hint,
                            const char *text)
{
    return calc_errors_at(errors, CALC_ERR_IO, path, 0, 0, hint, "%s", text);
}

/* ---- Columns --------------------------------------------------------------------------------- */

static int column_of(const char *name)
{
    int i = 0;
    while (i < COLUMNS && strcmp(title[i], name) != 0) {
        i++;
    }
    return i;
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
        j->what[i] = column_of(cell[i]);
        there[j->what[i]] = true;
    }
    for (int i = 0; i < COLUMNS; i++) {
        if (needed[i] && !there[i]) {
            return calc_errors_at(errors, CALC_ERR_FIELD, j->path, 1, 0,
                                  "rows that are added have layout, step_s and outcome",
                                  "column \"%s\" is missing", title[i]);
        }
    }
    return CALC_OK;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

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

/* A note in quotes, without what would end the line. */
static void add_note(char line[LINE_SIZE], const char *note)
{
    calc_append(line, LINE_SIZE, "%s", *note ? "\"" : "");
    for (const char *at = note; *at && strlen(line) < LINE_SIZE - 8; at++) {
        unsigned char byte = (unsigned char)*at;
        calc_append(line, LINE_SIZE, byte == '"' ? "\"\"" : "%c", byte < ' ' ? ' ' : *at);
    }
    calc_append(line, LINE_SIZE, "%s", *note ? "\"" : "");
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
            add_note(line, note);
        }
    }
    calc_append(line, LINE_SIZE, "\n");
    return append(j, line, errors);
}

/* ---- The file -------------------------------------------------------------------------------- */

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
