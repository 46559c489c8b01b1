/* A text cut into tokens, and what they form: elements between brackets, lines, cells. It holds for
 * JSON, CSV, YAML, TOML and command lines alike, and for what is none of them any more. */
#ifndef CALC_TESTS_FUZZ_TOKENS_H
#define CALC_TESTS_FUZZ_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

enum { FUZZ_TOKENS = 1 << 14, FUZZ_ELEMENTS = 1 << 13 /* what is beyond stays as it is */ };

typedef enum fuzz_type {
    FUZZ_SPACE,
    FUZZ_NEWLINE,
    FUZZ_NUMBER,
    FUZZ_WORD,
    FUZZ_STRING, /* with its quotes */
    FUZZ_MARK    /* one byte: a bracket, a comma, any other */
} fuzz_type;

typedef struct fuzz_token {
    size_t at, length;
    fuzz_type type;
} fuzz_token;

/* What a container holds between two commas: tokens from `first` to `end`, without its comma. */
typedef struct fuzz_element {
    int first, end;
    int value; /* of a member "key": value the first token behind the colon; else `first` */
    bool last; /* no comma follows */
} fuzz_element;

typedef enum fuzz_form { FUZZ_JSON, FUZZ_CSV, FUZZ_LINES, FUZZ_ASSIGNMENT } fuzz_form;

typedef struct fuzz_tokens {
    const char *text;
    size_t length;
    fuzz_form form;
    int count;
    fuzz_token token[FUZZ_TOKENS];
    int elements;
    fuzz_element element[FUZZ_ELEMENTS];
} fuzz_tokens;

void fuzz_tokens_make(fuzz_tokens *tokens, const char *text, size_t length);

/* What a text looks like by its first line. */
fuzz_form fuzz_form_of(const char *text, size_t length);

/* The line that holds byte `at`: [*from, result), its newline included. */
size_t fuzz_line_of(const char *text, size_t length, size_t at, size_t *from);

/* The first byte behind the cell of CSV that begins at `at`: a comma, a newline or the end. */
size_t fuzz_cell_end(const char *text, size_t length, size_t at);

#endif
