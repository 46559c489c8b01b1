/** @file plan.h  A model and its layout in terms that training frameworks share: every size and
 *  switch is resolved to one number. The tables of the frameworks (framework.h) map these numbers
 *  to keys. */
#ifndef CALC_FORMATS_PLAN_H
#define CALC_FORMATS_PLAN_H

#include <math.h>

#include "calc.h"

typedef enum calc_plan_member {
#define CALC_PLAN(name, field, absent, meaning) CALC_PLAN_##name,
#include "formats/plan.fields.h"
    CALC_PLAN_COUNT
} calc_plan_member;

/** Bits of the members *_SWITCHES and COMPILED: options that a framework takes as words in one
 * text. */
enum {
    CALC_PLAN_TENSOR_REDUCE = 1,    /**< all-reduce overlaps with the backward pass */
    CALC_PLAN_TENSOR_SCATTER = 2,   /**< reduce-scatter overlaps with the backward pass */
    CALC_PLAN_PIPELINE_REDUCE = 1,  /**< gradient reduction overlaps with the passes */
    CALC_PLAN_PIPELINE_MESSAGE = 2, /**< messages between stages overlap */
    CALC_PLAN_PIPELINE_DUALPIPE_V = 4,
    CALC_PLAN_COMPILED_BLOCKS = 1,
    CALC_PLAN_COMPILED_LOSS = 2,
    CALC_PLAN_SHARDING_REDUCE = 1, /**< as above without stages, only the optimizer is sharded */
    CALC_PLAN_SHARDING_REDUCE_GRAD = 2, /**< as above where gradients are sharded too */
    CALC_PLAN_SHARDING_SPLIT = 4,       /**< tensors are split between ranks */
    CALC_PLAN_SHARDING_GATHER = 8       /**< all-gather of weights overlaps; needs the split */
};

/** Value of the member LOSS_PARALLEL: of logits gathered over tensor-parallel ranks. */
enum { CALC_PLAN_LOSS_GATHERED = 2 };

/** Value of the member LOOPED for 1F1B with several chunks. */
enum { CALC_PLAN_LOOPED_CHUNKS = 100 };

/** Added to the member SHARDED: within a node only, with copies on other nodes. */
enum { CALC_PLAN_SHARDED_IN_NODES = 10 };

/** Values of the member NARROW. */
enum {
    CALC_PLAN_NARROW_8 = 1,        /**< weights and their multiplications in 8 bits */
    CALC_PLAN_NARROW_4_STORED = 2, /**< weights stored in 4 bits, multiplied as the others */
    CALC_PLAN_NARROW_4 = 3         /**< both in 4 bits */
};

/** Bits of the member LORA_MODULES beside those of the field: queries that latent attention does
 * not compress; and those of the field shifted by so many, of matrices that are multiplied together
 *  and have an adapter each. */
enum { CALC_PLAN_LATENT_QUERY = 1 << CALC_LORA_MODULES_COUNT, CALC_PLAN_LORA_APART = 16 };

/** Values of the member LORA_CLASS. */
enum { CALC_PLAN_LORA_TOGETHER = 1, CALC_PLAN_LORA_EACH = 2, CALC_PLAN_LORA_DORA = 3 };

/** A number for every stage, or every chunk of every stage, along the model. */
typedef struct calc_plan_list {
    int32_t count; /**< 0: not given */
    int16_t number[CALC_MAX_PLACES];
} calc_plan_list;

/** A mark for every block; count 0: not given, a number says which blocks have it. */
typedef struct calc_plan_marks {
    int32_t count;
    char mark[CALC_MAX_STACK]; /**< 0 or 1 */
} calc_plan_marks;

enum { CALC_PLAN_LETTERS_SIZE = 2 * CALC_MAX_STACK + 512 /**< bytes of letters */ };

/** Each number is a count, a rate, 0 or 1, or the index of an enumerated value; NaN: not given. */
typedef struct calc_plan {
    double value[CALC_PLAN_COUNT];
    calc_plan_list blocks;     /**< of chunks, if STAGE_BLOCKS is 3 */
    calc_plan_list offsets;    /**< of chunks, as a difference from an even split; read only */
    calc_plan_list recomputed; /**< first blocks of each chunk that recompute fully, with RECOMPUTE
                                *  2 */
    /** Blocks with experts, with the gated delta rule, with windows, without positions, where
     *  MOE_EVERY and DENSE_BLOCKS, LINEAR_EVERY, GLOBAL_EVERY, UNROTATED do not say it */
    calc_plan_marks experts, linear, windows, unrotated;
    char letters[CALC_PLAN_LETTERS_SIZE];      /**< with LETTERS */
    char mtp_letters[CALC_MAX_MTP_LAYERS + 1]; /**< with MTP_LETTERS */
    /** What people must know of what is not in the settings: sentences; NULL: no more */
    const char *note[4];
} calc_plan;

/** Adds a sentence; text lives as long as the plan. */
void calc_plan_note(calc_plan *plan, const char *text);

/** The field a member stands for ("exe.tensor_par"); NULL if it is derived from others. */
const char *calc_plan_field(calc_plan_member member);

/** That field, of a model, a layout, a part of a layer or a job.
 *  @return whether there is one */
bool calc_plan_find_field(calc_plan_member member, calc_field_ref *ref);

/** The meaning of a member, in a few words. */
const char *calc_plan_meaning(calc_plan_member member);

/** The member's value in the plan, or `absent` of its row in plan.fields.h. */
double calc_plan_value(const calc_plan *plan, calc_plan_member member);

/** An empty plan. */
void calc_plan_clear(calc_plan *plan);

/** Whether the plan sets the member. */
static inline bool calc_plan_says(const calc_plan *plan, calc_plan_member member)
{
    return !isnan(plan->value[member]);
}

/** The member's value in the plan, or `absent`, which follows from others. */
static inline double calc_plan_get(const calc_plan *plan, calc_plan_member member, double absent)
{
    return calc_plan_says(plan, member) ? plan->value[member] : absent;
}

/** Builds the plan of a model and its layout. Settings that equal a framework's defaults are left
 *  out.
 *  @param node_procs  processors of one node, at least 1 */
void calc_plan_from(calc_plan *plan, const calc_app *app, const calc_exec *exec,
                    int64_t node_procs);

/** A model that frameworks know by name. */
typedef struct calc_plan_model {
    const char *name; /**< in models/ */
    int64_t hidden, blocks, feedforward, vocab;
    bool experts;
} calc_plan_model;

/** The model of the member MODEL; NULL if the plan does not set it. */
const calc_plan_model *calc_plan_model_of(const calc_plan *plan);

/** The one of these sizes; NULL if there is none.
 *  @param app  resolved */
const calc_plan_model *calc_plan_model_like(const calc_app *app);

/** Repeats the settings in the members that only some frameworks use.
 *  @param exec  resolved */
void calc_plan_split(calc_plan *plan, const calc_exec *exec);

/** Resolves CALC_PLAN_SHARDED_IN_NODES; where the size of a node is not known, says that it is
 * taken as 8. */
void calc_plan_shard_in_nodes(calc_plan *plan);

/** The inverse: fills the members that calc_plan_apply() reads from those members. */
void calc_plan_join(calc_plan *plan);

/** Adds the settings of serving; does nothing for a layout that trains.
 *  @param exec  resolved */
void calc_plan_serve(calc_plan *plan, const calc_app *app, const calc_exec *exec);

/** The inverse: what a server is told. The lengths of requests and their number beyond its slots
 * are not among it.
 *  @param exec  of the plan, otherwise finished */
void calc_plan_serve_apply(const calc_plan *plan, calc_exec *exec);

/** The choice that comes to `yes`: none where the preset of a structure has it. */
static inline calc_choice calc_plan_choice(bool yes, bool preset)
{
    return yes == preset ? CALC_CHOICE_AUTO : yes ? CALC_CHOICE_TRUE : CALC_CHOICE_FALSE;
}

/** Builds the model and the layout of a plan; the inverse of calc_plan_from(). Members that the
 *  plan does not set have Megatron-LM's defaults. Sizes that the model needs and the plan lacks are
 *  0. Network indices are 0 for tensor parallelism and 1 for the others.
 *  @return CALC_OK, or CALC_ERR_RULE or CALC_ERR_RANGE with an error added */
CALC_MUST_USE calc_status calc_plan_apply(const calc_plan *said, calc_app *app, calc_exec *exec,
                                          calc_errors *errors);

/** Resolves every preset, "auto" and equivalent spelling of a model and layout, so that equal
 *  meanings become equal values. */
void calc_plan_resolve(calc_app *app, calc_exec *exec);

/* Converts listed stages (calc_exec.stages) to and from the form of
 * frameworks: the chunks of all stages along the model, with all values explicit. */

/** Lists every chunk of every stage along the model: its blocks, its kind of recomputation and the
 *  number of blocks that recompute. Stages that are not listed hold equally many blocks.
 *  @param out  room for CALC_MAX_PLACES
 *  @return the number of chunks; 0 if there are too many, or a chunk is not a whole number of
 *  blocks */
int64_t calc_plan_places(const calc_app *app, const calc_exec *exec, calc_stage_run *out);

/** Moves values common to all stages into the execution and keeps the rest in the list; removes the
 *  list if nothing is left. */
void calc_plan_stages_resolve(const calc_app *app, calc_exec *exec);

/** The inverse: adds the list to an execution that is otherwise finished.
 *  @return CALC_OK, or CALC_ERR_RULE with an error added */
CALC_MUST_USE calc_status calc_plan_stages_apply(const calc_plan *plan, const calc_app *app,
                                                 calc_exec *exec, calc_errors *errors);

/** Receives a field that settings do not carry, and its value as in a file.
 *  @param layout  true: without the field this would be another layout or another model; false: the
 *  field is a constant of calc's own, a kernel, an overlap, or a number format of messages */
typedef void calc_tell_lost(void *context, const char *field, const char *value, bool layout);

/** Reports the parts of the stages that another execution does not have, where either lists them.
 *  Both are resolved. */
void calc_plan_stages_lost(const calc_app *app, const calc_exec *exec, const calc_exec *back,
                           calc_tell_lost *tell, void *context);

/** The blocks of the listed chunks, as a difference from an even split. */
calc_plan_list calc_plan_offsets(const calc_plan *plan);

/** Reads and writes lists in texts for rows of frameworks, one list per chunk if there are several.
 *  Both forms can be read.
 *  @param text  CALC_ROW_TEXT_SIZE bytes
 *  @return writing: whether there is something to write; reading: whether it was understood */
bool calc_plan_list_write(const calc_plan_list *list, int64_t stages, char *text);
bool calc_plan_list_read(const char *text, calc_plan_list *list);

#endif
