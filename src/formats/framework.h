/** @file framework.h  Tables of frameworks for training and serving: each row gives a framework's
 *  key for a member of the plan and the form of its values. The table drives export, import and the
 *  documentation. */
#ifndef CALC_FORMATS_FRAMEWORK_H
#define CALC_FORMATS_FRAMEWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "formats/plan.h"
#include "formats/settings.h"
#include "spec/serving_engine.h"

typedef enum calc_pool { CALC_POOL_PREFILL, CALC_POOL_DECODE, CALC_POOL_COUNT } calc_pool;

/** The form in which a member is written. */
typedef enum calc_how {
    CALC_HOW_NUMBER,
    CALC_HOW_DECIMAL,    /**< with a decimal point: 0.0 */
    CALC_HOW_SWITCH,     /**< an option, or true, if the member is .value (0 or 1); else false */
    CALC_HOW_IS,         /**< an option, or true, if the member is .value; else not written */
    CALC_HOW_WORDS,      /**< one of .words; other values are not written */
    CALC_HOW_SET,        /**< the .words whose bits are set */
    CALC_HOW_PATTERN,    /**< the blocks with experts: a period or a list of 0 and 1 */
    CALC_HOW_MARKS,      /**< every so many blocks one, or a list of 0 and 1 */
    CALC_HOW_LETTERS,    /**< a letter per layer: plan_layers.h */
    CALC_HOW_STAGES,     /**< the blocks of each stage: stage_text.h */
    CALC_HOW_OFFSETS,    /**< blocks that each stage has beyond an even split */
    CALC_HOW_RECOMPUTED, /**< as IS, or the number of blocks of each stage */
    CALC_HOW_SIZES,      /**< inner and outer size of hierarchical context parallelism */
    CALC_HOW_WINDOW,     /**< tokens before and after the position */
    CALC_HOW_FORMAT,     /**< .text, with the number where it has a '#' */
    CALC_HOW_CONSTANT,   /**< always .text; read if it has .words */
    CALC_HOW_FACTOR,     /**< a number; the member is the product of all its keys */
    CALC_HOW_NAME,       /**< the name of a model that is described elsewhere */
    CALC_HOW_FILE,       /**< one of .words, or the path of a file of the framework .text */
    CALC_HOW_DEFAULT     /**< no key: the framework uses .value unless another row sets it */
} calc_how;

/** What a key changes that is not read. */
typedef enum calc_unread {
    CALC_UNREAD_UNKNOWN,  /**< no row has it */
    CALC_UNREAD_MODEL,    /**< the shape of the model */
    CALC_UNREAD_COST,     /**< time or memory of a step */
    CALC_UNREAD_HARMLESS, /**< neither */
    CALC_UNREAD_BRANCH,   /**< nothing; it is read, though a branch of the script decides */
    CALC_UNREAD_COMPUTED  /**< a key that is read, with a value that the framework computes */
} calc_unread;

/** A word of a row, which is not terminated, and the value it stands for; NaN: the member stays
 *  open. */
typedef struct calc_word {
    const char *text;
    size_t length;
    double value;
} calc_word;

/** One row of a table. */
typedef struct calc_setting_row {
    const char *key; /**< "--hidden-size"; dotted for a nested key of a file: "model.hidden_size" */
    const char *also; /**< a second name, only read; NULL: none */
    calc_how how;
    calc_plan_member member;
    double value;
    /** Words and their values, "bf16=bfloat16 no=float32 float16 other=": a value is a number or a
     *  choice of the member's field, of a set its bit; without "=" it is the word itself, and with
     *  nothing behind it the member stays as it is; "*" is any other word */
    const char *words;
    const char *text;
    calc_plan_member when; /**< written only if this member is not 0 */
    bool read_only;        /**< an alias: read but never written */
    const char *release;   /**< the framework's release needed for it; NULL: any */
    const char *script;    /**< the program that takes it, where it is another; NULL: any */
    bool launcher;         /**< as an option it is the launcher's, which any program may have */
    bool unset;            /**< -1 means not set; with a .value, 0 does, too */
    /** Options without which the program refuses this one, if it is more than 1: words of options,
     * of which any counts, separated by '|': "--use-a|--use-b=1 --c". NULL: it needs none */
    const char *needs;
    /** A sentence: what is assumed where the value is "auto", or a default is taken, which .value
     *  then is */
    const char *assumed;
} calc_setting_row;

/** Rows of a table: CALC_ROW(how, member, key, .words = ... and other members) for a key,
 *  CALC_ROW_CONSTANT for a constant, CALC_ROW_DEFAULT for the framework's behaviour without a
 *  key. */
#define CALC_ROW(how_, member_, ...)                                                               \
    {.how = CALC_HOW_##how_, .member = CALC_PLAN_##member_, .key = __VA_ARGS__},
#define CALC_ROW_CONSTANT(...) {.how = CALC_HOW_CONSTANT, .key = __VA_ARGS__},
#define CALC_ROW_DEFAULT(member_, value_)                                                          \
    {.how = CALC_HOW_DEFAULT, .member = CALC_PLAN_##member_, .value = (value_)},
/* clang-format off */
/** Rows for a framework whose models are like Llama, whatever Megatron-LM has without a key. */
#define CALC_ROWS_LLAMA                                                                            \
    CALC_ROW_DEFAULT(FFN_TYPE, CALC_FFN_TYPE_SWIGLU) CALC_ROW_DEFAULT(NORM, CALC_NORM_TYPE_RMS)    \
    CALC_ROW_DEFAULT(POSITION, CALC_POSITION_TYPE_ROPE) CALC_ROW_DEFAULT(BIAS, 0)                  \
    CALC_ROW_DEFAULT(DROPOUT, 0) CALC_ROW_DEFAULT(TIED, 0)
/** Rows for a framework that trains with FSDP of PyTorch: it reduces gradients in float32 beside the
 *  backward pass and compiles nothing, 8-bit multiplications quantize what is stored in 16, and a
 *  loss is of logits that plans of tensor parallelism gather ("colwise_gather_output" of lm_head). */
#define CALC_ROWS_FSDP                                                                             \
    CALC_ROW_DEFAULT(GRAD, CALC_FORMAT_FLOAT32) CALC_ROW_DEFAULT(GRAD_OVERLAP, 1)                  \
    CALC_ROW_DEFAULT(EAGER, 1) CALC_ROW_DEFAULT(ACTIVATIONS, CALC_FORMAT_BFLOAT16)                 \
    CALC_ROW_DEFAULT(LOSS_PARALLEL, CALC_PLAN_LOSS_GATHERED)
/* clang-format on */

/** Names of matrices with adapters (LORA_MODULES): of Hugging Face's models, and of Megatron Core's
 *  where they are multiplied together or each has its own. */
#define CALC_LORA_WORDS                                                                            \
    "q_proj k_proj v_proj o_proj q_a_proj q_b_proj kv_a_proj_with_mqa=kv_a_proj kv_b_proj "        \
    "in_proj "                                                                                     \
    "out_proj gate_proj up_proj down_proj lm_head=head all=0 *=0 all-linear=0 *_proj=0 "           \
    "qkv_proj=7 "                                                                                  \
    "query_key_value=7 c_attn=7 gate_up_proj=3072 fc1=up_proj fc2=down_proj w1=gate_proj "         \
    "w2=down_proj w3=up_proj"
#define CALC_LORA_WORDS_CORE                                                                       \
    "linear_qkv=7 linear_fc1=3072 linear_q=65536 linear_k=131072 linear_v=262144 "                 \
    "linear_fc1_gate=67108864 linear_fc1_up=134217728 linear_proj=o_proj "                         \
    "linear_q_down_proj=q_a_proj linear_q_up_proj=q_b_proj linear_kv_down_proj=kv_a_proj "         \
    "linear_kv_up_proj=kv_b_proj linear_q_proj=16384 in_proj out_proj linear_fc2=down_proj "       \
    "output_layer=head all-linear=0"

/** The files of unread/: keys that are not read, as patterns separated by blanks below a line with
 * what they change, "model", "cost" or "harmless", and behind a colon what is assumed then; the
 * first that matches counts. '*' is any text. A pattern without a dot is of the last part of a key,
 *  without the dashes before it. "name=value" has the framework's default, which changes nothing,
 * or a pattern of its first word; without it, 0 and false change nothing. '#' begins a comment. */
extern const calc_embedded calc_unread_list[];

/** Bit of a calc_platform. */
#define CALC_ON(platform) (1U << CALC_PLATFORM_##platform)

/** One framework. */
typedef struct calc_framework calc_framework;
struct calc_framework {
    const char *name;    /**< on the command line: "megatron-bridge" */
    const char *title;   /**< display name: "Megatron-LM" */
    const char *version; /**< release that the keys belong to */
    const char *launch;  /**< one line about using the file */
    const char
        *command; /**< a line of shell that starts a node of a job with the file "$FILE" and the
                       words "$@"; torchrun takes the nodes from its variables PET_*. NULL: none */
    const char *script;  /**< SHELL: the program that takes the options; with serves all of the
                              command, and the model follows */
    const char *program; /**< words of the command, "swift sft|swift pt", where its options are
                            those of others, too */
    calc_syntax syntax;
    /** Frameworks whose rows follow its own; ends with NULL. NULL: none */
    const calc_framework *const *bases;
    /** Beginnings of keys that the bases have by another name, "optim.=optimizer. data.=train.";
     * the first that a key begins with counts. NULL: none */
    const char *renamed;
    /** SHELL: options of the servers of the two pools of a disaggregated layout, and the prefix of
     *  these options; NULL: the framework has no such layout, or its servers are started
     *  otherwise */
    const char *pool[CALC_POOL_COUNT], *router;
    unsigned platforms; /**< platforms it runs on: CALC_ON() of each */
    bool has_model;     /**< the file describes the model */
    bool serves;        /**< it serves a model and does not train it */
    bool one_replica;   /**< of servers: its file starts one replica, or those that share experts,
                             and others are started with it again */
    bool options;       /**< options of its command, too, have rows, --key or words key=value; its
                             syntax is another */
    bool alone;         /**< only its program has its options */
    bool launched;      /**< the launcher, not the file, sets the number of processors */
    /** Our fields that are set elsewhere, in the code of the model, the tokenizer or the launcher,
     * or by whoever sends requests, separated by blanks. NULL: none */
    const char *elsewhere;
    const calc_setting_row *rows;
    size_t count;
    const char *unread; /**< its file of unread/, beside those of the bases. NULL: none */
    /** The layouts that it refuses; ends with NULL */
    calc_refusals *const *refusals;
    /** Sets members that follow from others by rules of this framework only, after all settings are
     *  read and before its defaults; as its first base, if there is neither of these two */
    void (*settle)(calc_plan *plan);
    /** The same where what is said may contradict itself: CALC_ERR_RULE with an error added */
    calc_status (*reconcile)(calc_plan *plan, calc_errors *errors);
};

/** Values of calc_framework.rows, .count and .unread, of .bases, and of .refusals. */
#define CALC_FRAMEWORK_ROWS(table, file)                                                           \
    .rows = (table), .count = sizeof(table) / sizeof *(table), .unread = #file
#define CALC_FRAMEWORK_BASES(...)                                                                  \
    .bases = (const calc_framework *const[])                                                       \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
#define CALC_FRAMEWORK_REFUSALS(...)                                                               \
    .refusals = (calc_refusals *const[])                                                           \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

enum { CALC_ROW_TEXT_SIZE = 2048 /**< bytes of a written value */ };

/** The frameworks that export writes: X(its table, its name on the command line, the file that
 *  defines it). Where several run a layout, the first is suggested. src/CMakeLists.txt takes the
 *  files from here. */
#define CALC_FRAMEWORKS(X)                                                                         \
    X(calc_framework_megatron, "megatron", mcore)                                                  \
    X(calc_framework_nemo, "nemo", mcore)                                                          \
    X(calc_framework_bridge, "megatron-bridge", mcore)                                             \
    X(calc_framework_deepspeed, "deepspeed", deepspeed)                                            \
    X(calc_framework_torchtitan, "torchtitan", torchtitan)                                         \
    X(calc_framework_mindspeed, "mindspeed", mcore)                                                \
    X(calc_framework_mindformers, "mindformers", mindformers)                                      \
    X(calc_framework_paddle, "paddle", paddle)                                                     \
    X(calc_framework_vllm, "vllm", serving)                                                        \
    X(calc_framework_sglang, "sglang", serving)                                                    \
    X(calc_framework_tensorrt_llm, "tensorrt-llm", serving)

/** Those that only import reads. */
#define CALC_FRAMEWORKS_READ(X)                                                                    \
    X(calc_framework_accelerate, "accelerate", trainer)                                            \
    X(calc_framework_transformers, "transformers", trainer)                                        \
    X(calc_framework_llama_factory, "llama-factory", trainer)                                      \
    X(calc_framework_axolotl, "axolotl", trainer)                                                  \
    X(calc_framework_trl, "trl", trainer)                                                          \
    X(calc_framework_swift, "ms-swift", trainer)                                                   \
    X(calc_framework_swift_core, "megatron-swift", trainer)                                        \
    X(calc_framework_megatron_deepspeed, "megatron-deepspeed", read_only)                          \
    X(calc_framework_primus, "primus", read_only)                                                  \
    X(calc_framework_flagscale, "flagscale", read_only)                                            \
    X(calc_framework_automodel, "automodel", read_only)                                            \
    X(calc_framework_nemo2, "nemo2", read_only)                                                    \
    X(calc_framework_nanotron, "nanotron", read_only)                                              \
    X(calc_framework_maxtext, "maxtext", read_only)                                                \
    X(calc_framework_gpt_neox, "gpt-neox", read_only)                                              \
    X(calc_framework_llm_foundry, "llm-foundry", read_only)                                        \
    X(calc_framework_verl, "verl", verl)                                                           \
    X(calc_framework_slime, "slime", verl)                                                         \
    X(calc_framework_nemo_rl, "nemo-rl", launch_keys)                                              \
    X(calc_framework_openrlhf, "openrlhf", launch_keys)

/** Their names, as the first words of an option. */
#define CALC_FRAMEWORK_NAME(table, name, file) name,
#define CALC_FRAMEWORK_NAMES CALC_FRAMEWORKS(CALC_FRAMEWORK_NAME)
#define CALC_FRAMEWORK_NAMES_READ CALC_FRAMEWORKS_READ(CALC_FRAMEWORK_NAME)

/** The frameworks that export writes; all frameworks. NULL at the end. */
extern const calc_framework *const calc_framework_list[];
extern const calc_framework *const calc_framework_all[];

#define CALC_FRAMEWORK_EXTERN(table, name, file) extern const calc_framework table;
CALC_FRAMEWORKS(CALC_FRAMEWORK_EXTERN)
CALC_FRAMEWORKS_READ(CALC_FRAMEWORK_EXTERN)
#undef CALC_FRAMEWORK_EXTERN

/** The framework of that name; NULL if there is none. */
const calc_framework *calc_framework_find(const char *name);

/** Whether a layout consists of two servers that the framework's file starts. */
bool calc_framework_has_pools(const calc_framework *framework, const calc_exec *exec);

/** Fills the layouts of the servers that a framework's file starts: the layout itself, or those of
 *  its pools. The prefill pool runs only prompts, one pass at a time; the decode pool only decodes.
 *  @return how many there are: 1 or CALC_POOL_COUNT */
int calc_export_servers(const calc_framework *framework, const calc_exec *exec,
                        calc_exec server[CALC_POOL_COUNT]);

/** Row of a key, also of the bases; NULL if there is none. */
const calc_setting_row *calc_framework_row(const calc_framework *framework, const char *key);

/** Takes the next of a row's words.
 *  @param at  begins as row->words and moves on
 *  @return false if there are no more */
bool calc_word_next(const calc_setting_row *row, const char **at, calc_word *word);

/** Reads a regular expression of names of modules: those of a row's words that it means in every
 *  layer.
 *  @param set     filled with the bits of these
 *  @param expect  what would be right
 *  @return false if it is none, means no word, or means one in some layers alone */
bool calc_adapters_read(const calc_setting_row *row, const char *text, int64_t *set, char *expect,
                        size_t size);

/** What a key without a row of its own changes, with this value.
 *  @param assumed  set to what is assumed then, up to the end of its line, or to NULL */
calc_unread calc_framework_unread(const calc_framework *framework, const char *key,
                                  const char *value, const char **assumed);

/** Fills members that the plan leaves open with the framework's defaults. */
void calc_framework_defaults(const calc_framework *framework, calc_plan *plan);

/** Writes the value of a row.
 *  @param text  filled, CALC_ROW_TEXT_SIZE bytes; empty for an option without a value
 *  @return whether the row is to be written */
bool calc_row_write(const calc_setting_row *row, calc_syntax syntax, const calc_plan *plan,
                    char *text);

/** Reads a value into the plan.
 *  @param text    as in the file; "" for an option without a value
 *  @param expect  filled with the allowed values if the value is not one
 *  @return whether it was understood */
bool calc_row_read(const calc_setting_row *row, const char *text, calc_plan *plan, char *expect,
                   size_t size);

/* Reads and writes the blocks with experts as frameworks denote them: a period
 * ("2"), a list ("0 1 1", "[0, 1, 1]") or sums and multiples of lists ("([0]*3+[1]*58)"). */

enum { CALC_PATTERN_MAX = 4096 /**< most blocks of a list */ };

/** Dense blocks come first; then every `every`-th block has experts. */
typedef struct calc_pattern {
    int64_t dense, every;
} calc_pattern;

/** Reads any of the three forms.
 *  @return whether the text is one of them and `out` can express it */
bool calc_pattern_read(const char *text, calc_pattern *out);

/** Writes it for a model of `blocks`: as a list of numbers ("[0, 1, 1]") or, if that is shorter, as
 *  a multiple of lists.
 *  @return whether it fits into `size` bytes */
bool calc_pattern_write(calc_pattern pattern, int64_t blocks, bool plain, char *text, size_t size);

/** Describes a list of 0 and 1.
 *  @return whether `out` can express it */
bool calc_pattern_of(const char *mark, size_t count, calc_pattern *out);

#endif
