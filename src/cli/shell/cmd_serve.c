#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/shell/complain.h"
#include "cli/shell/find.h"
#include "cli/shell/opt.h"
#include "io/request.h"
#include "session/session.h"

#define OPTIONS(X) X(STDIO, "stdio", NULL, .doc = "read standard input and write standard output")

CALC_OPTIONS(OPTIONS);
static const calc_arg rows[] = {{0}};
static const char *const examples[] = {
    "echo '{\"app\": \"llama3-8B\", \"sys\": \"h100_sxm\", \"exe\": \"llama3-8B_8\"}' | "
    "calc serve --stdio",
    NULL};

enum { LINE_MAX_BYTES = 32 << 20 };

/* Lines as they arrive. */
typedef struct lines {
    char *data;
    size_t start, used, capacity; /* data[start..used) is not answered yet */
    size_t seen;                  /* bytes from start on that contain no end of a line */
    bool too_long;                /* the beginning of the line was dropped */
    bool ended, failed;           /* reading or memory failed, see errno */
} lines;

/* The next line without its end; NULL if it is not complete yet. */
static const char *next_line(lines *in, size_t *length)
{
    if (!in->data) {
        return NULL; /* before the first byte comes there is no buffer */
    }
    char *line = in->data + in->start;
    size_t left = in->used - in->start;
    char *end = left > in->seen ? memchr(line + in->seen, '\n', left - in->seen) : NULL;
    in->seen = left;
    if (!end && left > LINE_MAX_BYTES) {
        /* Discard the received part of a line that is too long. */
        in->too_long = true;
        in->start = in->used;
        in->seen = 0;
        left = 0;
    }
    if (!end && !(in->ended && (left > 0 || in->too_long))) {
        return NULL;
    }
    *length = end ? (size_t)(end - line) : left;
    in->start += *length + (end != NULL);
    in->seen = 0;
    return line;
}

/* Wait for more bytes. */
static void read_more(lines *in)
{
    enum { ROOM = 1 << 16 };
    if (in->start > 0) {
        memmove(in->data, in->data + in->start, in->used - in->start);
        in->used -= in->start;
        in->start = 0;
    }
    if (in->capacity - in->used < ROOM) {
        size_t capacity = 2 * in->capacity + ROOM;
        char *data = capacity <= CALC_TEXT_MAX ? realloc(in->data, capacity) : NULL;
        if (!data) {
            errno = ENOMEM;
            in->failed = true;
            return;
        }
        in->data = data;
        in->capacity = capacity;
    }
    ssize_t count = read(STDIN_FILENO, in->data + in->used, in->capacity - in->used);
    if (count >= 0) {
        in->used += (size_t)count;
        in->ended = count == 0;
    } else if (errno != EINTR) {
        in->failed = true;
    }
}

static bool is_blank(const char *line, size_t length)
{
    while (length > 0 && strchr(" \t\r", line[length - 1]) && line[length - 1]) {
        length--;
    }
    return length == 0;
}

static void answer_too_long(calc_output *out)
{
    calc_errors errors = {0};
    calc_errors_add(&errors, CALC_ERR_IO, CALC_KIND_NONE, NULL, "send an array in parts",
                    "a request of more than %d MiB", LINE_MAX_BYTES >> 20);
    calc_put put = calc_put_to(out);
    calc_putf(&put, "{errors: [");
    calc_request_put_error(&put, &errors.item[0]);
    calc_put_close(&put);
    calc_put_end(&put);
}

/* Answers are held back until all received requests are answered. */
static void answer_all(lines *in, calc_session *session, calc_output *out)
{
    bool heard = true;
    while (heard && !in->failed && !(in->ended && in->start == in->used && !in->too_long)) {
        size_t length;
        const char *line = next_line(in, &length);
        if (!line) {
            heard = fflush(stdout) == 0;
            read_more(in);
        } else if (in->too_long) {
            in->too_long = false;
            answer_too_long(out);
        } else if (!is_blank(line, length)) {
            calc_session_answer(session, line, length, out);
            calc_output_text(out, "\n");
        }
    }
}

static calc_exit run(const calc_args *args)
{
    calc_errors errors = {0};
    lines in = {0};
    if (!calc_opt_value(args, OPT_STDIO)) {
        return calc_complain_usage(args->command, "say where requests come from: --stdio");
    }
    calc_session *session = calc_session_open(calc_find_document, NULL);
    if (!session) {
        calc_end_without_memory();
    }
    calc_output *out = calc_write_to("-");
    answer_all(&in, session, out);
    if (in.failed) {
        calc_errors_add(&errors, errno == ENOMEM ? CALC_ERR_NOMEM : CALC_ERR_IO, CALC_KIND_NONE,
                        NULL, NULL, "cannot read a request: %s", strerror(errno));
    }
    (void)!calc_output_close(out, &errors);
    calc_session_close(session);
    free(in.data);
    return calc_complain_errors(&errors);
}

const calc_command calc_cmd_serve = {
    .name = "serve",
    .summary = "answer requests of another program, one JSON object per line",
    .detail =
        "Reads requests, one JSON object (or an array of them) per line, and answers each with "
        "one line of JSON, in order, until the input ends. A request names or holds the three "
        "documents (app, sys, exe; what it leaves out is that of the request before), changes of "
        "their fields (set) and the statistics wanted (stats; none: all), or the options of a "
        "sweep "
        "of model and machine (sweep). Documents are read once. "
        "A request that is wrong is answered with errors.",
    CALC_COMMAND_PARTS};
