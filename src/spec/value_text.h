/** @file value_text.h  Values of fields as text. */
#ifndef CALC_SPEC_VALUE_TEXT_H
#define CALC_SPEC_VALUE_TEXT_H

#include "calc.h"

enum { CALC_VALUE_TEXT = 1024 /**< bytes; a longer curve is cut */ };

/** The value of a member, in file units; "" for objects, lists, maps and notes. @return buffer */
char *calc_value_text(const calc_field *field, const void *member, char buffer[CALC_VALUE_TEXT]);

/** A field in which two objects differ: its name as --set takes it, and both values in words:
 * "none" of a set without members or an empty name, "-" on the side that lacks the element of a
 * list. */
typedef void calc_value_visitor(void *context, const char *path, const calc_field *field,
                                const char *from, const char *to);

/** Visit the fields in which two objects of a kind differ, in the order of their table. Notes do
 * not count, nor do lists of stages and of layers. */
void calc_value_differences(calc_kind kind, const void *from, const void *to,
                            calc_value_visitor *visit, void *context);

/* Any number of choices as bits, in the order of the choices, and as text:
 * "core_attn+mlp". */

enum { CALC_CHOICE_SET_SIZE = 256 /**< bytes for the text of a set */ };

/** A hint: how several of them are written. */
#define CALC_JOINED(choices)                                                                       \
    CALC_TEXT(96, "several are joined by +: %s+%s", *(choices), (choices)[1])

/** Choices joined by "+", in their order; "" for none of them. At most 62 choices.
 *  @param buffer  CALC_CHOICE_SET_SIZE bytes
 *  @return buffer */
char *calc_choice_set_text(const char *const *choices, int64_t set, char *buffer);

/** Read such a text, in any order, with "," for "+", too; "" and "none" have no member.
 *  @param bad  filled with the first word that is no choice, CALC_CHOICE_SET_SIZE bytes; a longer
 *  one is cut
 *  @return whether *set is filled */
bool calc_choice_set_parse(const char *const *choices, const char *text, int64_t *set, char *bad);

enum { CALC_JOINED_WORD = 160 /**< bytes of a word of a list */ };

/** The word of item `i` of a list. @return how many places the item stands for */
typedef int64_t calc_word_at(const void *context, int64_t i, char word[CALC_JOINED_WORD]);

/** The words of a list, neighbours that are equal joined: "3, 7x11".
 *  @param times  between the number of places and the word, "x"
 *  @param least  the smallest number that is written
 *  @return text */
char *calc_join_words(char *text, size_t size, int64_t count, calc_word_at *word_at,
                      const void *context, const char *times, int64_t least);

/** Result of reading a text. */
typedef enum calc_amount {
    CALC_AMOUNT_BARE, /**< a number without a unit: it is in the unit of the field */
    CALC_AMOUNT_UNIT, /**< a number with a unit that fits */
    CALC_AMOUNT_WRONG_UNIT,
    CALC_AMOUNT_NO_NUMBER
} calc_amount;

/** Read a number and its unit. Prefixes are K (or k), M, G, T, P of 1000 and Ki, Mi, Gi, Ti of
 *  1024, for times m, u, n; a prefix without a unit counts bytes, tokens, FLOP ... A capital B is a
 *  byte, b a bit; of tokens B is 1e9. A percentage is a pure number. Spaces may stand before the
 *  unit.
 *  @param unit    target unit, usually that of a field, "GiB"; NULL: a pure number
 *  @param number  filled for the first two: the decimal number that was meant, rounded once where
 *                 the units differ by powers of 10 and 2 */
calc_amount calc_amount_read(const char *text, const char *unit, double *number);

/** Units that may be written instead of one that does not fit: "units are s, ms, us, ns, min, h and
 *  days". */
const char *calc_amount_units(const char *unit);

/** Whether a number in this unit means little without one beside it: bytes, bytes/s, FLOP ... */
bool calc_amount_is_large(const char *unit);

#endif
