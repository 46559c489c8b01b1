/** @file buffer.h  Texts in buffers of a fixed size, and lists that grow. */
#ifndef CALC_BASE_BUFFER_H
#define CALC_BASE_BUFFER_H

#include "calc.h"

/** Append to a text in a buffer of `size` bytes; text that does not fit is cut off. @return the
 *  text */
char *calc_append(char *text, size_t size, const char *fmt, ...) CALC_PRINTF(3, 4);

/** Append words as choices: "a, b or c". @param words  NULL at the end; NULL: none */
char *calc_append_choices(char *text, size_t size, const char *const *words);

/** A list with room for one element more: itself, or moved to one of twice the capacity.
 *  @param capacity  elements that it has room for, 0 at first
 *  @param size      of an element
 *  @return NULL if memory is short; the list is then as it was */
CALC_MUST_USE void *calc_grown(void *list, size_t count, size_t *capacity, size_t size);

/** Add an element behind the others of such a list. @param list  where the pointer to it is
 *  @return false if memory is short; the list is then as it was */
CALC_MUST_USE bool calc_push(void *list, size_t *count, size_t *capacity, const void *element,
                             size_t size);

/** calc_push() of an element of the list's type. */
#define CALC_PUSH(list, count, capacity, element)                                                  \
    calc_push(&(list), &(count), &(capacity), (element), sizeof *(true ? (list) : (element)))

#endif
