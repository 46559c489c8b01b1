/** @file csv_read.h  Reads comma-separated values (RFC 4180) from a text in memory, row by row. */
#ifndef CALC_IO_CSV_READ_H
#define CALC_IO_CSV_READ_H

#include "calc.h"

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

#endif
