#include "io/text.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* The source of bytes: a plain file, or a compressed one. */
typedef struct source {
    int file;
    gzFile gz; /* NULL: plain */
} source;

/* Up to `size` bytes; 0 at the end, -1 on failure. */
static long read_some(const source *from, char *buffer, size_t size)
{
    if (from->gz) {
        return gzread(from->gz, buffer, (unsigned)size);
    }
    ssize_t count;
    do {
        count = read(from->file, buffer, size);
    } while (count < 0 && errno == EINTR);
    return (long)count;
}

/* After the last byte, or a failure: the end of compressed data must be there too. */
static calc_status ended(const source *from, long count, const char *path, calc_errors *errors)
{
    int code = count < 0 ? Z_ERRNO : Z_OK;
    if (from->gz) {
        gzerror(from->gz, &code);
    }
    return code == Z_OK          ? CALC_OK
           : code == Z_MEM_ERROR ? calc_errors_no_memory(errors)
           : code == Z_ERRNO
               ? calc_errors_at(errors, CALC_ERR_IO, path, 0, 0, NULL, "%s", strerror(errno))
               : calc_errors_at(errors, CALC_ERR_SYNTAX, path, 0, 0, NULL,
                                "the compressed data is broken");
}

static calc_status read_all(calc_text *text, const source *from, const char *path,
                            calc_errors *errors)
{
    size_t capacity = 0;
    for (;;) {
        if (text->length + 1 >= capacity) {
            capacity = capacity ? 2 * capacity : 1 << 16;
            char *larger = realloc(text->data, capacity);
            if (!larger) {
                return calc_errors_at(errors, CALC_ERR_NOMEM, path, 0, 0, NULL, "out of memory");
            }
            text->data = larger;
            text->data[text->length] = '\0';
        }
        long count = read_some(from, text->data + text->length, capacity - 1 - text->length);
        if (count <= 0) {
            return ended(from, count, path, errors);
        }
        text->length += (size_t)count;
        text->data[text->length] = '\0';
        if (text->length > CALC_TEXT_MAX) {
            return calc_errors_at(errors, CALC_ERR_SYNTAX, path, 0, 0, NULL,
                                  "the file is larger than 64 MiB");
        }
    }
}

static calc_status read_path(calc_text *text, const char *path, calc_errors *errors)
{
    source from = {.file = open(path, O_RDONLY | O_CLOEXEC)};
    struct stat status;
    if (from.file < 0) {
        bool missing = errno == ENOENT || errno == ENOTDIR;
        return calc_errors_at(errors, missing ? CALC_ERR_NOT_FOUND : CALC_ERR_IO, path, 0, 0, NULL,
                              "%s", missing ? "no such file" : strerror(errno));
    }
    if (fstat(from.file, &status) == 0 && S_ISDIR(status.st_mode)) {
        close(from.file);
        return calc_errors_at(errors, CALC_ERR_NOT_FOUND, path, 0, 0, NULL,
                              "is a folder, not a file");
    }
    size_t length = strlen(path);
    if (length >= 3 && strcmp(path + length - 3, ".gz") == 0) {
        from.gz = gzdopen(from.file, "rb");
        if (!from.gz) {
            close(from.file);
            return calc_errors_at(errors, CALC_ERR_NOMEM, path, 0, 0, NULL, "out of memory");
        }
    }
    calc_status result = read_all(text, &from, path, errors);
    if (from.gz) {
        gzclose(from.gz);
    } else {
        close(from.file);
    }
    return result;
}

calc_status calc_text_read(calc_text *text, const char *path, calc_errors *errors)
{
    *text = (calc_text){0};
    calc_status result;
    if (strcmp(path, "-") == 0) {
        result = read_all(text, &(source){.file = STDIN_FILENO}, "<stdin>", errors);
    } else {
        result = read_path(text, path, errors);
    }
    if (result != CALC_OK) {
        calc_text_free(text);
    }
    return result;
}

void calc_text_free(calc_text *text)
{
    free(text->data);
    *text = (calc_text){0};
}
