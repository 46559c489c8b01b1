/** @file csv_table.h  Reads files of comma-separated values into arrays of structs. The first row
 *  names the columns; columns in the table are read, others are ignored. */
#ifndef CALC_IO_CSV_TABLE_H
#define CALC_IO_CSV_TABLE_H

#include <stddef.h>
#include <string.h>

#include "calc.h"
#include "io/output.h"
#include "io/text.h"

/** Position of the reader. Start with calc_csv_read_start(). Borrows the text. */
typedef struct calc_csv_reader {
    char *next;
    const char *end;
    int line;         /**< line of the next row, from 1 */
    const char *name; /**< what errors call the file; borrowed */
    const char *row;  /**< start of the last row read */
} calc_csv_reader;

/** Begin at the first row; a byte order mark is skipped.
 *  @param text  NUL-terminated after `length` bytes; cells are decoded in place */
void calc_csv_read_start(calc_csv_reader *reader, char *text, size_t length, const char *name);

/** Read a row; empty lines are skipped. Cells point into the text and are NUL-terminated.
 *  @param line  filled with the line the row starts at
 *  @return how many cells it has, 0 at the end; -1 with an error added: a quote without an end,
 *  text after a quote, a zero byte, or more than `capacity` cells */
int calc_csv_read_row(calc_csv_reader *reader, char **cell, int capacity, int *line,
                      calc_errors *errors);

/** The column of a cell of the last row read, counted in bytes from 1 after the last line break
 *  before it; for a quoted cell, the column of the quoted text. */
int calc_csv_read_column(const calc_csv_reader *reader, const char *cell);

/** Whether a cell of a table that people fill is blank, or "-". */
static inline bool calc_csv_is_blank(const char *cell)
{
    return cell[strspn(cell, " ")] == '\0' || strcmp(cell, "-") == 0;
}

/** Type of a cell's value: CALC_CSV_MEMBER() chooses it by the type of the member. */
typedef enum calc_csv_type {
    CALC_CSV_TEXT,   /**< const char *, borrowed from the file; one of `words` if there are any */
    CALC_CSV_NUMBER, /**< double, finite, from lo to hi */
    CALC_CSV_WHOLE,  /**< int, likewise; lo and hi must be ints */
    CALC_CSV_FLAG,   /**< bool: false for the first of two words, true for the second */
    CALC_CSV_WORD    /**< enum: the index in `words` */
} calc_csv_type;

/** Flags of a column; combine them with or. */
enum {
    CALC_CSV_OPTIONAL = 1, /**< there may be none: texts are "" then, as blank ones; numbers
                             need CALC_CSV_BLANK */
    CALC_CSV_BLANK = 2,    /**< a double: blank cells are NaN */
    CALC_CSV_INTEGER = 4   /**< a double without a fraction */
};

/** A column, and the member that it fills. */
typedef struct calc_csv_column {
    const char *name; /**< in the first row; NULL: no column, the line where the row starts */
    const char *also; /**< another name, or NULL */
    calc_csv_type type;
    size_t offset;
    int flags;
    double lo, hi;            /**< range of numbers; both 0: any finite number */
    const char *const *words; /**< NULL at the end */
} calc_csv_column;

/** Type and offset of a member of a row. */
#define CALC_CSV_MEMBER(row, member)                                                               \
    .type = _Generic(((row *)NULL)->member, const char *: CALC_CSV_TEXT, double: CALC_CSV_NUMBER,  \
                     int: CALC_CSV_WHOLE, bool: CALC_CSV_FLAG, default: CALC_CSV_WORD),            \
    .offset = offsetof(row, member)

/** Columns that a table lists, X(TYPE, name, another name or NULL, and more members of
 *  calc_csv_column, if wanted): the member of a row, and the column that fills it. A file may lack
 *  a TEXT; and a NUMBER, which may be blank, up to 1e9: the product of two is a whole number still.
 *  A COUNT is a NUMBER from 1 without a fraction. NEEDED ones must be there. */
#define CALC_CSV_OF_TEXT(name) const char *name;
#define CALC_CSV_OF_NEEDED_TEXT(name) const char *name;
#define CALC_CSV_OF_NUMBER(name) double name;
#define CALC_CSV_OF_NEEDED_NUMBER(name) double name;
#define CALC_CSV_OF_COUNT(name) double name;
#define CALC_CSV_COLUMN(row, member, how, ...)                                                     \
    {                                                                                              \
        .name = #member, CALC_CSV_MEMBER(row, member), .flags = how, .also = __VA_ARGS__           \
    }
#define CALC_CSV_COLUMN_TEXT(row, member, ...)                                                     \
    CALC_CSV_COLUMN(row, member, CALC_CSV_OPTIONAL, __VA_ARGS__)
#define CALC_CSV_COLUMN_NEEDED_TEXT(row, member, ...) CALC_CSV_COLUMN(row, member, 0, __VA_ARGS__)
#define CALC_CSV_COLUMN_NUMBER(row, member, ...)                                                   \
    CALC_CSV_COLUMN(row, member, CALC_CSV_OPTIONAL | CALC_CSV_BLANK, __VA_ARGS__, .hi = 1e9)
#define CALC_CSV_COLUMN_NEEDED_NUMBER(row, member, ...)                                            \
    CALC_CSV_COLUMN(row, member, CALC_CSV_BLANK, __VA_ARGS__, .hi = 1e9)
#define CALC_CSV_COLUMN_COUNT(row, member, ...)                                                    \
    CALC_CSV_COLUMN(row, member, CALC_CSV_OPTIONAL | CALC_CSV_BLANK | CALC_CSV_INTEGER,            \
                    __VA_ARGS__, .lo = 1, .hi = 1e9)

/** Whether a name is that of a column, or its other one. */
bool calc_csv_has_column(const calc_csv_column *column, size_t columns, const char *name);

/** A row of a file, for columns that a table cannot list. Borrowed. */
typedef struct calc_csv_row {
    const calc_csv_reader *reader; /**< name of the file, columns of cells */
    char *const *title;            /**< cells of the first row, `titles` of them */
    char *const *cell;             /**< of this row, `cells`: at most `titles` */
    int titles, cells, line;
} calc_csv_row;

/** Called with each row that was read into its struct. @return CALC_OK, or a status with an error
 *  added: the row is left out */
typedef calc_status (*calc_csv_finish)(void *context, void *row, const calc_csv_row *from,
                                       calc_errors *errors);

typedef struct calc_csv_table {
    const calc_csv_column *column;
    int columns;      /**< at most CALC_CSV_COLUMNS_MAX */
    size_t row_bytes; /**< sizeof the struct */
    const char *hint; /**< what such a file is, where a column or a cell is missing; NULL: none */
    calc_csv_finish finish; /**< NULL: nothing more is done with a row */
    void *context;          /**< of finish */
    bool nearly; /**< a column that is not known, but nearly one that the file lacks, is an error */
} calc_csv_table;

enum { CALC_CSV_COLUMNS_MAX = 64, CALC_CSV_CELLS_MAX = 256 /* of a row */ };

/** The table of an array of columns for rows of a type. */
#define CALC_CSV_TABLE(array, row, what)                                                           \
    {                                                                                              \
        array, sizeof(array) / sizeof *(array), sizeof(row), what, NULL, NULL, false               \
    }

/** The rows that were read. Owns everything; start with {0}. Texts in rows point into `text`, so
 *  that rows and text may be moved elsewhere together. */
typedef struct calc_csv_rows {
    void *item;
    size_t count;
    calc_text text;
} calc_csv_rows;

/** Read a file, or standard input if path is "-"; names ending in .gz are decompressed. Every
 *  row with an error is reported, once, and left out.
 *  @return CALC_OK; CALC_ERR_FIELD for a column that is missing or there twice, or a row with too
 *  few or too many cells; CALC_ERR_TYPE for a cell that is not what it should be; CALC_ERR_SYNTAX,
 *  CALC_ERR_NOMEM, or what calc_text_read() returns. Errors name file, line and column. *out must
 *  be freed by calc_csv_rows_free() in any case. */
CALC_MUST_USE calc_status calc_csv_table_read(calc_csv_rows *out, const calc_csv_table *table,
                                              const char *path, calc_errors *errors);

/** The same from a text, which *out owns from now on; `name` is what errors call it. */
CALC_MUST_USE calc_status calc_csv_table_parse(calc_csv_rows *out, const calc_csv_table *table,
                                               calc_text text, const char *name,
                                               calc_errors *errors);

void calc_csv_rows_free(calc_csv_rows *rows);

/** Declares a list of rows that owns everything, with the members of calc_csv_rows, and start with
 *  {0}; the function that reads it from a file, and returns CALC_OK or the status of the first
 *  error; and the one that frees it, which must be called in any case. */
#define CALC_CSV_LIST(list, row, read, frees)                                                      \
    typedef struct list {                                                                          \
        row *item;                                                                                 \
        size_t count;                                                                              \
        calc_text text;                                                                            \
    } list;                                                                                        \
    CALC_MUST_USE calc_status read(list *out, const char *path, calc_errors *errors);              \
    void frees(list *of)

/** Defines the functions of such a list. */
#define CALC_CSV_LIST_READS(list, read, frees, table)                                              \
    calc_status read(list *out, const char *path, calc_errors *errors)                             \
    {                                                                                              \
        calc_csv_rows rows;                                                                        \
        calc_status status = calc_csv_table_read(&rows, &(table), path, errors);                   \
        *out = (list){rows.item, rows.count, rows.text};                                           \
        return status;                                                                             \
    }                                                                                              \
    CALC_FREES(frees, list, of->item, of->text.data)

/** Defines a function that reads a file as another one does its text. */
#define CALC_CSV_READS_AS(function, list, parse)                                                   \
    calc_status function(list *out, const char *path, calc_errors *errors)                         \
    {                                                                                              \
        calc_text text = {0};                                                                      \
        *out = (list){0};                                                                          \
        calc_status status = calc_text_read(&text, path, errors);                                  \
        return status == CALC_OK ? parse(out, text, path, errors) : status;                        \
    }

/* Writes rows of comma-separated values (RFC 4180) from the tables of fields. */

/** Column names of a kind: its scalar fields in row order, nested ones by path ("mem1.GiB").
 *  Curves, ops, maps, lists and notes have no column. A `,` goes before each unless `first`. */
void calc_csv_header(calc_output *out, calc_kind kind, bool first);

/** The values under that header; NaN is empty, enumerations are their text, sets too
 *  ("core_attn+mlp"; empty without a member), booleans true/false. */
void calc_csv_values(calc_output *out, calc_kind kind, const void *object, bool first);

/** One text cell, quoted if it needs to be. */
void calc_csv_text(calc_output *out, const char *text, bool first);

#endif
