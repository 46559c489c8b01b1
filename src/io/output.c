#include "io/output.h"

#include "base/draft.h"
#include "base/error.h"
#include "io/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* A row has hundreds of cells: they are collected before calling a library that locks. */
enum { ROOM = 1 << 16, FIRST_ROOM = 1 << 9 };

struct calc_output {
    FILE *file;      /* NULL when compressed or in memory */
    gzFile gz;       /* NULL when plain or in memory */
    calc_text *text; /* where the memory text goes in the end; NULL: it is taken */
    char *data;      /* written but not in the file yet */
    size_t used, room;
    char *name;       /* as the caller gave it */
    calc_draft draft; /* where the file is until it is whole; empty: written in place */
    int failure;      /* errno of the first failure, 0 if none */
    bool is_shown;    /* on a terminal */
    bool in_markup;   /* '<' is written as JSON escapes it */
};

static calc_status fail_to_write(calc_errors *errors, const char *path, int code)
{
    char text[128];
    snprintf(text, sizeof text, "cannot write: %s", strerror(code));
    return calc_errors_at(errors, code == ENOMEM ? CALC_ERR_NOMEM : CALC_ERR_IO, path, 0, 0, NULL,
                          "%s", text);
}

static bool is_stdout(const char *path)
{
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
}

/* Open the file to write to: a draft, or the target itself when it is a device or a pipe. @return
 * descriptor, -1 with errno */
static int open_target(calc_output *out, const char *path)
{
    struct stat old;
    if (stat(path, &old) == 0 && !S_ISREG(old.st_mode) && !S_ISDIR(old.st_mode)) {
        return open(path, O_WRONLY | O_CLOEXEC);
    }
    int code = calc_draft_open(&out->draft, path);
    int file = code == 0 ? fcntl(out->draft.file, F_DUPFD_CLOEXEC, 0) : -1;
    if (code != 0) {
        errno = code;
    }
    return file;
}

static void release(calc_output *out)
{
    calc_draft_drop(&out->draft);
    free(out->name);
    free(out->data);
    free(out);
}

calc_output *calc_output_to(const char *path)
{
    calc_output *made = calloc(1, sizeof *made);
    if (!made || !(made->name = strdup(is_stdout(path) ? "<stdout>" : path))) {
        free(made);
        return NULL;
    }
    if (is_stdout(path)) {
        made->file = stdout;
        calc_output_for_stdout(made);
        return made;
    }
    errno = 0;
    int file = open_target(made, path);
    if (file < 0) {
        made->failure = errno ? errno : ENOMEM;
        return made;
    }
    made->is_shown = !made->draft.path && isatty(file);
    size_t length = strlen(path);
    if (length >= 3 && strcmp(path + length - 3, ".gz") == 0) {
        made->gz = gzdopen(file, "wb");
    } else {
        made->file = fdopen(file, "w");
    }
    if (!made->gz && !made->file) {
        close(file);
        made->failure = ENOMEM;
    }
    return made;
}

calc_status calc_output_open(calc_output **out, const char *path, calc_errors *errors)
{
    *out = calc_output_to(path);
    int code = *out ? (*out)->failure : ENOMEM;
    if (code) {
        calc_output_discard(*out);
        *out = NULL;
        return fail_to_write(errors, path, code);
    }
    return CALC_OK;
}

calc_status calc_output_open_memory(calc_output **out, calc_text *text, calc_errors *errors)
{
    if (text) {
        *text = (calc_text){0};
    }
    *out = calloc(1, sizeof **out);
    if (!*out) {
        return fail_to_write(errors, "<memory>", ENOMEM);
    }
    (*out)->text = text;
    return CALC_OK;
}

/* Remember the first failure; zlib does not always leave an errno. */
static void remember(calc_output *out)
{
    if (!out->failure) {
        out->failure = errno ? errno : EIO;
    }
}

static bool is_memory(const calc_output *out)
{
    return !out->file && !out->gz;
}

static void write_through(calc_output *out, const char *bytes, size_t length)
{
    errno = 0;
    size_t written =
        out->gz ? gzfwrite(bytes, 1, length, out->gz) : fwrite(bytes, 1, length, out->file);
    if (written != length) {
        remember(out);
    }
}

static void flush(calc_output *out)
{
    if (out->used > 0 && !is_memory(out)) {
        write_through(out, out->data, out->used);
        out->used = 0;
    }
}

static bool grow(calc_output *out, size_t length)
{
    size_t room = 2 * out->room + FIRST_ROOM;
    while (room - out->used <= length) {
        room *= 2;
    }
    char *data = realloc(out->data, room);
    out->data = data ? data : out->data;
    out->room = data ? room : out->room;
    return data != NULL;
}

/* Make room for that many more bytes, and for the 0 at the end of a text. */
static bool has_room(calc_output *out, size_t length)
{
    if (length < out->room - out->used) {
        return true;
    }
    if (is_memory(out)) {
        return grow(out, length);
    }
    flush(out);
    if (!out->data) {
        out->data = malloc(ROOM);
        out->room = out->data ? ROOM : 0;
    }
    return length < out->room;
}

static void write_bytes(calc_output *out, const char *bytes, size_t length)
{
    if (out->failure || length == 0) {
        return;
    }
    /* Others write to standard output, too; the order is kept. */
    if (out->file != stdout && has_room(out, length)) {
        memcpy(out->data + out->used, bytes, length);
        out->used += length;
    } else if (is_memory(out)) {
        out->failure = ENOMEM;
    } else {
        write_through(out, bytes, length);
    }
}

const char *calc_output_take(calc_output *out, size_t *length)
{
    *length = out->failure ? 0 : out->used;
    out->used = 0;
    return out->failure ? NULL : out->data;
}

static void write_piece(void *out, const char *bytes, size_t length)
{
    write_bytes(out, bytes, length);
}

void calc_output_raw(calc_output *out, const char *bytes, size_t length)
{
    write_bytes(out, bytes, length);
}

void calc_output_for_stdout(calc_output *out)
{
    out->is_shown = isatty(STDOUT_FILENO);
}

void calc_output_write(calc_output *out, const char *bytes, size_t length)
{
    if (out->is_shown) {
        calc_utf8_for_terminal(bytes, length, write_piece, out);
        return;
    }
    const char *less;
    while (out->in_markup && length > 0 && (less = memchr(bytes, '<', length))) {
        write_bytes(out, bytes, (size_t)(less - bytes));
        write_bytes(out, "\\u003c", 6);
        length -= (size_t)(less - bytes) + 1;
        bytes = less + 1;
    }
    write_bytes(out, bytes, length);
}

void calc_output_in_markup(calc_output *out, bool in_markup)
{
    out->in_markup = in_markup;
}

void calc_output_text(calc_output *out, const char *text)
{
    calc_output_write(out, text, strlen(text));
}

void calc_output_printf(calc_output *out, const char *fmt, ...)
{
    char line[1024];
    char *text = line;
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    if (length >= (int)sizeof line && (text = malloc((size_t)length + 1))) {
        va_start(args, fmt);
        vsnprintf(text, (size_t)length + 1, fmt, args);
        va_end(args);
    }
    if (!text) {
        errno = ENOMEM;
        remember(out);
    } else {
        calc_output_write(out, text, (size_t)length);
    }
    if (text != line) {
        free(text);
    }
}

/* Flush and close the opened file; standard output stays open. */
static void finish(calc_output *out)
{
    flush(out);
    errno = 0;
    if (is_memory(out)) {
        /* Text written to memory belongs to the caller. */
        if (out->text && !out->failure && has_room(out, 0)) {
            out->data[out->used] = '\0';
            *out->text = (calc_text){out->data, out->used};
            out->data = NULL;
        } else if (out->text) {
            out->failure = ENOMEM;
        }
    } else if (out->gz) {
        if (gzclose(out->gz) != Z_OK) {
            remember(out);
        }
    } else if (out->file == stdout) {
        if (fflush(stdout) != 0 || ferror(stdout)) {
            remember(out);
        }
    } else if (fclose(out->file) != 0) {
        remember(out);
    }
}

calc_status calc_output_close(calc_output *out, calc_errors *errors)
{
    if (!out) {
        return CALC_OK;
    }
    finish(out);
    if (!out->failure && out->draft.path) {
        out->failure = calc_draft_keep(&out->draft);
    }
    calc_status status =
        out->failure ? fail_to_write(errors, out->name ? out->name : "<memory>", out->failure)
                     : CALC_OK;
    release(out);
    return status;
}

void calc_output_discard(calc_output *out)
{
    if (out) {
        finish(out);
        release(out);
    }
}

calc_status calc_output_end(calc_output *out, calc_status status, calc_errors *errors)
{
    if (status == CALC_OK) {
        return calc_output_close(out, errors);
    }
    calc_output_discard(out);
    return status;
}
