/** @file breakdown.h  Writes the time of a step and the memory of a processor as a total and its
 *  parts, with bars and percentages. */
#ifndef CALC_CLI_DRAW_BREAKDOWN_H
#define CALC_CLI_DRAW_BREAKDOWN_H

#include "calc.h"
#include "cli/draw/human.h"
#include "report/run_data.h"

/* Draws the parts of the time of a step in a bar of one line: shaded by kind, or letters without
 * UTF-8. */

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
typedef enum calc_bars_kind {
    CALC_STACK_KIND_LIST(CALC_STACK_KIND_NAME) CALC_STACK_KINDS
} calc_bars_kind;
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

enum { CALC_BREAKDOWN_LABEL = 28 /**< width of the labels in columns */ };

/** The time of a step in the few kinds that fit in a bar of one line. */
void calc_breakdown_kinds(const calc_stats *stats, double time_s[CALC_STACK_KINDS]);

/** Write the parts of a step's time that are not zero, and their total. */
void calc_breakdown_write_time(calc_output *out, const calc_paint *paint, const calc_stats *stats);

/** The same for parts with labels of their own, at most CALC_BREAKDOWN_TIMES. */
void calc_breakdown_write_parts(calc_output *out, const calc_paint *paint, const char *const *label,
                                const double *time_s, size_t count, double total_s);

/** As calc_breakdown_write_time() for one memory tier, against its capacity.
 *  @param ours  without Calculon's rules: "activation gradients" then include everything that the
 *  block in its backward pass needs beyond stored tensors */
void calc_breakdown_write_memory(calc_output *out, const calc_paint *paint, const calc_exec *exec,
                                 const calc_stats *stats, int tier, bool ours);

enum { CALC_STAGE_WORDS_SIZE = 512 };

/** Their blocks, "3, 7x11"; "as spread evenly" if the list does not say.
 *  @param text  CALC_STAGE_WORDS_SIZE bytes, returned */
char *calc_stage_words_blocks(const calc_exec *exec, char *text);

/** Their systems, "a800, 7x h800", and the number of processors of each: "64 x a800 and 448 x
 *  h800".
 *  @param name  of the system of the run */
char *calc_stage_words_chips(const calc_exec *exec, const char *name, char *text);

char *calc_stage_words_machine(const calc_exec *exec, const char *name, char *text);

/** The ranks of each dimension that has several, "TP 8 PP 2"; as assignments, "tp=8 pp=2"; cut off
 *  at `size` bytes. @return text */
char *calc_stage_words_sizes(const calc_exec *exec, bool assigned, char *text, size_t size);

/** The recomputation of an execution in a block: "none", "full", "core_attn+mlp". */
void calc_stage_words_recomputed(const calc_exec *exec, char *word, size_t size);

/** The recomputation of stages: "none, 7x full of 3 blocks". */
char *calc_stage_words_recompute(const calc_exec *exec, char *text);

/* Describes a list of layers in few words: "14x tp4 zero3 full, 2x tp4". */

enum { CALC_LAYER_WORDS_SIZE = 1024 };

/** The strategy of each run of layers; equal neighbours are joined. Fields that a run leaves out
 *  are those of the execution.
 *  @param text  CALC_LAYER_WORDS_SIZE bytes, returned */
char *calc_layer_words(const calc_exec *exec, char *text);

/** The same for the embedding and the head: "tp8 zero1". */
char *calc_layer_words_ends(const calc_exec *exec, char *text);

/** The strategy of layers key by key: names, NULL at the end, and the words of one key: "14x 4, 2x
 *  1". The last one describes the ends. */
extern const char *const calc_layer_words_keys[];

char *calc_layer_words_of(const calc_exec *exec, int key, char *text);

#endif
