/** @file framework.h  Training frameworks, each a table: what a framework calls a member of the
 * plan, and how its values are written. The table drives export, import and the documentation. */
#ifndef CALC_FORMATS_FRAMEWORK_H
#define CALC_FORMATS_FRAMEWORK_H

#include "formats/export_pool.h"
#include "formats/plan.h"

/** Files that frameworks read. */
typedef enum calc_syntax {
    CALC_SYNTAX_SHELL, /**< options of a command: --key value */
    CALC_SYNTAX_YAML,
    CALC_SYNTAX_TOML,
    CALC_SYNTAX_JSON
} calc_syntax;

/** How a member is written. */
typedef enum calc_how {
    CALC_HOW_NUMBER,
    CALC_HOW_DECIMAL,    /**< with a decimal point: 0.0 */
    CALC_HOW_SWITCH,     /**< an option, or true, if the member is .value (0 or 1); else false */
    CALC_HOW_IS,         /**< an option, or true, if the member is .value; else nothing */
    CALC_HOW_WORDS,      /**< one of .words; other values are not written */
    CALC_HOW_SET,        /**< the .words whose bits are set */
    CALC_HOW_PATTERN,    /**< which blocks have experts: a period or a list of 0 and 1 */
    CALC_HOW_STAGES,     /**< which blocks each stage has: stage_text.h */
    CALC_HOW_OFFSETS,    /**< how many blocks more than others each stage has */
    CALC_HOW_RECOMPUTED, /**< as IS, or how many blocks of each stage */
    CALC_HOW_SIZES,      /**< inner and outer size of hierarchical context parallelism */
    CALC_HOW_WINDOW,     /**< tokens before and after */
    CALC_HOW_FORMAT,     /**< .text, with the number where it has a '#' */
    CALC_HOW_CONSTANT,   /**< always .text; not read */
    CALC_HOW_DEFAULT     /**< no key: the framework does .value where nothing else is said */
} calc_how;

/** A word and its value. */
typedef struct calc_word {
    const char *word;
    double value;
} calc_word;

/** One row. */
typedef struct calc_row {
    const char *key; /**< "--hidden-size"; dotted for a place in a file: "model.hidden_size" */
    calc_how how;
    calc_plan_member member;
    double value;
    const calc_word *words; /**< ends with a row without a word */
    const char *text;
    calc_plan_member when; /**< written only if this member is not 0 */
    bool read_only;        /**< another name, understood but never written */
    bool unset;            /**< -1 says nothing */
} calc_row;

/** Rows of a table: CALC_ROW(how, member, key, .words = ... and what else there is), a constant,
 * and what is done without a key. */
#define CALC_ROW(how_, member_, ...)                                                               \
    {.how = CALC_HOW_##how_, .member = CALC_PLAN_##member_, .key = __VA_ARGS__},
#define CALC_ROW_CONSTANT(...) {.how = CALC_HOW_CONSTANT, .key = __VA_ARGS__},
#define CALC_ROW_DEFAULT(member_, value_)                                                          \
    {.how = CALC_HOW_DEFAULT, .member = CALC_PLAN_##member_, .value = (value_)},

/** Bit of a calc_platform. */
#define CALC_ON(platform) (1U << CALC_PLATFORM_##platform)

/** One framework. */
typedef struct calc_framework {
    const char *name;    /**< on the command line: "megatron" */
    const char *title;   /**< for people: "Megatron-LM" */
    const char *version; /**< release whose keys these are */
    const char *launch;  /**< how to use the file, one line */
    const char *script;  /**< SHELL: the program that takes the options; with serves all of the
                              command, and the model follows */
    calc_syntax syntax;
    /** SHELL: options of the servers of the two pools of a disaggregated layout, and what is put in
     *  front of them; NULL: it has none, or they are started otherwise */
    const char *pool[CALC_POOL_COUNT], *router;
    unsigned platforms; /**< that it runs on: CALC_ON() of each */
    bool has_model;     /**< the file says what the model is */
    bool serves;        /**< it serves a model instead of training it */
    bool reads;         /**< import reads it */
    bool launched;      /**< its launcher says how many processors there are, not its file */
    /** Fields of ours, each between blanks, that are said elsewhere: by the code of the model, the
     *  tokenizer, the launcher. NULL: none */
    const char *elsewhere;
    const calc_row *rows;
    size_t count;
} calc_framework;

enum { CALC_ROW_TEXT_SIZE = 2048 /**< bytes of a written value */ };

/** All frameworks; NULL at the end. */
extern const calc_framework *const calc_framework_list[];

extern const calc_framework calc_framework_megatron, calc_framework_mindspeed, calc_framework_nemo,
    calc_framework_bridge, calc_framework_deepspeed, calc_framework_torchtitan,
    calc_framework_mindformers, calc_framework_paddle, calc_framework_vllm, calc_framework_sglang,
    calc_framework_tensorrt_llm;

/** The framework of that name; NULL if there is none. */
const calc_framework *calc_framework_find(const char *name);

/** Whether a layout is two servers, which the framework's file starts. */
bool calc_framework_has_pools(const calc_framework *framework, const calc_exec *exec);

/** Row of a key; NULL if the framework's table has none. */
const calc_row *calc_framework_row(const calc_framework *framework, const char *key);

/** Say what the framework does where the plan says nothing. */
void calc_framework_defaults(const calc_framework *framework, calc_plan *plan);

/** Write the value of a row.
 *  @param text  filled, CALC_ROW_TEXT_SIZE bytes; empty for an option without a value
 *  @return whether the row is to be written */
bool calc_row_write(const calc_row *row, calc_syntax syntax, const calc_plan *plan, char *text);

/** Read a value into the plan.
 *  @param text    as in the file; "" for an option without a value
 *  @param expect  filled with what is allowed if the value is not
 *  @return whether it was understood */
bool calc_row_read(const calc_row *row, const char *text, calc_plan *plan, char *expect,
                   size_t size);

#endif
