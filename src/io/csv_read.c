#include "io/csv_read.h"

#include <string.h>

#include "base/error.h"

void calc_csv_read_start(calc_csv_reader *reader, char *text, size_t length, const char *name)
{
    static const char mark[] = "\xEF\xBB\xBF";
    size_t skip = length >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
    *reader = (calc_csv_reader){text + skip, text + length, 1, name, text + skip};
}

int calc_csv_read_column(const calc_csv_reader *reader, const char *cell)
{
    const char *start = reader->row;
    for (const char *at = start; at < cell; at++) {
        start = *at == '\n' ? at + 1 : start;
    }
    return (int)(cell - start) + 1;
}

static int fail(const calc_csv_reader *reader, int line, const char *text, calc_errors *errors)
{
    calc_errors_at(errors, CALC_ERR_SYNTAX, reader->name, line, 0, NULL, "%s", text);
    return -1;
}

/* LF, CR LF, or CR alone, as old spreadsheets write it; the text ends with a NUL. */
static bool ends_line(const char *at)
{
    return *at == '\n' || (*at == '\r' && at[1] != '\n');
}

/* Decode a quoted cell whose first quote is at reader->next. @return its end, NULL if it has none
 */
static char *quoted(calc_csv_reader *reader)
{
    char *write = ++reader->next;
    while (reader->next < reader->end) {
        if (*reader->next == '"') {
            if (reader->next[1] != '"') {
                reader->next++;
                return write;
            }
            reader->next++;
        }
        reader->line += ends_line(reader->next);
        *write++ = *reader->next++;
    }
    return NULL;
}

/* Step over the end of a cell. @return whether the row ends with it */
static bool step(calc_csv_reader *reader)
{
    if (reader->next >= reader->end) {
        return true;
    }
    if (*reader->next == ',') {
        reader->next++;
        return false;
    }
    reader->next += *reader->next == '\r' && reader->next[1] == '\n';
    reader->line += ends_line(reader->next);
    reader->next++;
    return true;
}

static void skip_empty_lines(calc_csv_reader *reader)
{
    while (reader->next < reader->end && (*reader->next == '\n' || *reader->next == '\r')) {
        reader->line += ends_line(reader->next);
        reader->next++;
    }
}

int calc_csv_read_row(calc_csv_reader *reader, char **cell, int capacity, int *line,
                      calc_errors *errors)
{
    skip_empty_lines(reader);
    *line = reader->line;
    reader->row = reader->next;
    bool done = reader->next >= reader->end;
    int count = 0;
    while (!done) {
        if (count == capacity) {
            return fail(reader, *line, "too many cells in one row", errors);
        }
        int start = reader->line;
        bool quote = *reader->next == '"';
        cell[count] = reader->next + quote;
        char *end = quote ? quoted(reader) : NULL;
        if (quote && !end) {
            return fail(reader, start, "the quote that starts a cell here has no end", errors);
        }
        size_t rest = reader->next < reader->end ? strcspn(reader->next, ",\r\n") : 0;
        if (quote && rest > 0) {
            return fail(reader, reader->line, "a comma must follow the end of a quote", errors);
        }
        reader->next += rest;
        end = quote ? end : reader->next;
        bool zero = reader->next < reader->end && *reader->next == '\0';
        if (zero || memchr(cell[count], '\0', (size_t)(end - cell[count]))) {
            return fail(reader, start, "a zero byte: this is not a text", errors);
        }
        done = step(reader);
        *end = '\0';
        count++;
    }
    return count;
}
