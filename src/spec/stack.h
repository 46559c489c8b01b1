/** @file stack.h  A model as a list of layers: its named parts, and the pattern that says which
 *  parts each layer is made of, from the first to the last (docs/models.md).
 *
 *  A pattern lists layers, separated by blanks: `gdn+moe` is a mixer and, behind it, a feed-forward
 *  part; `M` is one part alone; `ssm&attention+mlp` has two mixers side by side. `3xattention+mlp`
 *  is three layers, `12x(3xgdn+moe full+moe)` twelve times four. If all parts have names of one
 *  character, a text without blanks lists a part per character, as Megatron's hybrid patterns do.
 */
#ifndef CALC_SPEC_STACK_H
#define CALC_SPEC_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calc.h"

/** Whether a part lets tokens see each other; the others are feed-forward parts. */
static inline bool calc_part_mixes(calc_part_type type)
{
    return type < CALC_PART_TYPE_MLP;
}

/** Whether a mixer keeps a state of fixed size instead of keys and values. */
static inline bool calc_part_is_linear(calc_part_type type)
{
    return calc_part_mixes(type) && type > CALC_PART_TYPE_COMPRESSED;
}

/** A part of a type with the model's own fields, named as its type. */
calc_part calc_part_of(const calc_app *app, calc_part_type type);

/** Add a part that is declared.
 *  @param name  its name, of at most 23 letters, digits and -_.*; not beginning with a digit and
 * `x`
 *  @return the part, with the model's fields; NULL: the name is not allowed or taken, or there are
 *          too many; *why says which */
calc_part *calc_stack_declare(calc_app *app, const char *name, calc_part_type type,
                              const char **why);

enum { CALC_STACK_WHY = 160 };

/** What is wrong with a pattern. */
typedef struct calc_stack_fault {
    size_t at;                 /**< byte of the pattern */
    char text[CALC_STACK_WHY]; /**< one sentence without a point */
    char hint[CALC_STACK_WHY]; /**< or empty */
} calc_stack_fault;

/** Set the layers of a model from a pattern; parts named as a type need no declaration.
 *  @param mtp  the layers of a depth of multi-token prediction instead of those of the model
 *  @return whether it is one; else the model is as before, and *fault says why */
bool calc_stack_read(calc_app *app, const char *pattern, bool mtp, calc_stack_fault *fault);

/** The kind of layer with these parts, new if there is none; -1: there are too many.
 *  @param mixer, ffn  indices of two parts each, -1: none */
int calc_stack_kind(calc_stack *stack, const int8_t mixer[2], const int8_t ffn[2]);

/** Append layers of a kind. @return whether there is room */
bool calc_stack_append(calc_stack *stack, int kind, int64_t count);

/** Whether a layer of a kind has experts. */
bool calc_stack_kind_has_experts(const calc_stack *stack, int kind);

/** No fewer operators than a list of them for a mean block with experts, one without, or a depth of
 *  multi-token prediction has.
 *  @param adapted  with adapters beside all matrices */
int calc_stack_most_operators(const calc_stack *stack, bool adapted);

/** The shortest pattern that this finds for the layers of a model, or of a depth of multi-token
 *  prediction. @return buffer */
char *calc_stack_text(const calc_stack *stack, bool mtp, char *buffer, size_t size);

enum { CALC_STACK_TEXT = 8192 /**< bytes for any such pattern */ };

/** The name of a kind of layer: "gdn+moe". @return buffer */
char *calc_stack_kind_text(const calc_stack *stack, int kind, char *buffer, size_t size);

/** Let parts follow a field of the model that they did not change: those whose value is the one
 *  before. Both models are of the same stack. */
void calc_stack_follow(const calc_app *before, calc_app *app);

/** Whether two parts have the same name, type and fields. */
bool calc_stack_part_same(const calc_part *a, const calc_part *b);

/** Whether two models list the same layers of the same parts. */
bool calc_stack_same(const calc_stack *a, const calc_stack *b);

/* The blocks of each stage in the notation of Megatron Core
 * (pipeline_parallel_layer_layout.py): "Et*3|(t*4|)*14t*2L", a letter per embedding, block,
 * multi-token prediction and loss, stages between bars. */

/** Blocks spread as evenly as possible, the stages with one more first; with `ends` embedding and
 *  head count as one block each: calc_stages_split() with pipeline_balance blocks or ends. */
typedef struct calc_stage_text {
    int64_t
        stages; /**< at least 1; with chunks the stages of each chunk, one chunk after the other */
    int64_t blocks;
    int64_t mtp_blocks; /**< on the last stage */
    bool ends;
    bool uneven; /**< read only: blocks are spread in another way */
    bool listed; /**< there is room for .block; the first and the last may have none */
    int16_t block[CALC_MAX_PLACES]; /**< by stage */
} calc_stage_text;

/** Blocks of a stage, unless it is uneven and not listed; less than 0 if there are too few for the
 *  embedding or the head. */
int64_t calc_stage_text_blocks(const calc_stage_text *stages, int64_t stage);

/** Write it. @return whether every stage has a number of blocks, and it fits into `size` bytes */
bool calc_stage_text_write(const calc_stage_text *stages, char *text, size_t size);

/** Read it. @return whether it is such a text */
bool calc_stage_text_read(const char *text, calc_stage_text *out);

#endif
