/** @file stack.h  Draws the parts of the time of a step in a bar of one line: shaded by kind, or
 *  letters without UTF-8. */
#ifndef CALC_CLI_DRAW_STACK_H
#define CALC_CLI_DRAW_STACK_H

#include "cli/draw/paint.h"

/** Kinds of pieces of a bar: X(NAME, words, block character, letter, colour). */
#define CALC_STACK_KIND_LIST(X)                                                                    \
    X(FORWARD, "forward", "░", "F", CALC_PAINT_GREEN)                                              \
    X(BACKWARD, "backward", "█", "B", CALC_PAINT_BLUE)                                             \
    X(RECOMPUTE, "recompute", "▒", "R", CALC_PAINT_BLUE)                                           \
    X(HEAD, "embedding, head", "▌", "H", CALC_PAINT_GREEN)                                         \
    X(OPTIMIZER, "optimizer", "▪", "O", CALC_PAINT_GREEN)                                          \
    X(COMMUNICATION, "communication", "▓", "C", CALC_PAINT_MAGENTA)                                \
    X(BUBBLE, "bubble", "·", ".", CALC_PAINT_YELLOW)                                               \
    X(OTHER, "other", "-", "-", CALC_PAINT_RED)

#define CALC_STACK_KIND_NAME(name, words, block, letter, color) CALC_STACK_##name,
typedef enum calc_stack_kind {
    CALC_STACK_KIND_LIST(CALC_STACK_KIND_NAME) CALC_STACK_KINDS
} calc_stack_kind;
#undef CALC_STACK_KIND_NAME

/** Write a bar of `width` columns, blanks included. Its pieces are rounded so that they add up to
 *  the columns of the total, at least one.
 *  @param value  of each kind; values below 0 count as 0
 *  @param full   value that fills the width; above 0 */
void calc_stack_write(calc_output *out, const calc_paint *paint,
                      const double value[CALC_STACK_KINDS], double full, int width);

/** Write the legend of the kinds that occurred, in lines that fit. */
void calc_stack_write_key(calc_output *out, const calc_paint *paint,
                          const bool seen[CALC_STACK_KINDS], int columns);

#endif
