/** @file buffer.h  Texts in buffers of a fixed size, and lists: how they grow, are freed and
 *  sorted. */
#ifndef CALC_BASE_BUFFER_H
#define CALC_BASE_BUFFER_H

#include "calc.h"

/** Append to a text in a buffer of `size` bytes; text that does not fit is cut off. @return the
 *  text */
char *calc_append(char *text, size_t size, const char *fmt, ...) CALC_PRINTF(3, 4);

/** A text of less than `size` bytes, made where it is used; it lives as long as the block around.
 */
#define CALC_TEXT(size, ...) calc_append((char[size]){""}, size, __VA_ARGS__)

/** The next word of a list of words, which moves on behind it.
 *  @param gaps  characters between words: " "
 *  @return its length, and it begins so many bytes before *at; 0: there are no more */
size_t calc_next_word(const char **at, const char *gaps);

/** Whether a word of `length` bytes is one of the words between blanks. @param words  NULL: none */
bool calc_word_in(const char *words, const char *word, size_t length);

/** The same of a whole text. */
bool calc_is_word(const char *words, const char *word);

/** The length of the first of the words between blanks with which a text begins; 0: with none.
 *  @param words  NULL: none */
size_t calc_word_begins(const char *words, const char *text);

/** Whether a text has one of the words between '|' somewhere. @param words  NULL: none */
bool calc_text_has(const char *words, const char *text, size_t length);

/** Append words as choices: "a, b or c". @param words  NULL at the end; NULL: none */
char *calc_append_choices(char *text, size_t size, const char *const *words);

/** A file that the build puts into the program (cmake/embed.cmake), with a 0 behind its bytes. */
typedef struct calc_embedded {
    const char *name, *bytes; /**< NULL at the end of a list */
    size_t length;
} calc_embedded;

/** The file of that name; the end of the list if there is none. */
const calc_embedded *calc_embedded_find(const calc_embedded *list, const char *name);

/** The word of a row of a list of names with their words, X(NAME, word), for an array of all. */
#define CALC_WORD_OF(name, word) word,

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

/** Free each of these lists. */
void calc_free_all(void *const *list, size_t count);

/** Defines a function that frees the lists that a struct owns, members of `of`, and empties it. */
#define CALC_FREES(function, type, ...)                                                            \
    void function(type *of)                                                                        \
    {                                                                                              \
        void *const owned[] = {__VA_ARGS__};                                                       \
        calc_free_all(owned, sizeof owned / sizeof *owned);                                        \
        *of = (type){0};                                                                           \
    }

/** Sort `count` elements of `size` bytes. As qsort(), but a list without elements may be NULL. */
void calc_sort(void *list, size_t count, size_t size, int (*compare)(const void *, const void *));

/** Sorts the first `count` elements of a list, of the size that the list's type says. */
#define CALC_SORT(list, count, compare) calc_sort((list), (count), sizeof *(list), (compare))

/** Below 0 if a number is less than another, above if it is greater, as calc_sort() asks. */
#define CALC_ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/** Defines a comparison of structs for calc_sort(): by a member, and by another where it is equal.
 */
#define CALC_ORDER_BY(function, type, member, then)                                                \
    int function(const void *a, const void *b)                                                     \
    {                                                                                              \
        const type *x = a, *y = b;                                                                 \
        return x->member != y->member ? CALC_ORDER(x->member, y->member)                           \
                                      : CALC_ORDER(x->then, y->then);                              \
    }

/** Compares doubles for calc_sort(). */
int calc_order_numbers(const void *a, const void *b);

/** Compares texts for calc_sort(), byte by byte. */
int calc_order_texts(const void *a, const void *b);

#endif
