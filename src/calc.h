/** @file calc.h
 *  Analytical performance model of training and serving large language models.
 *
 *  Three plain-value structs say what is asked: calc_app (the model that is trained), calc_system
 *  (the machine) and calc_exec (how the one is laid out on the other). calc_run() answers with
 *  calc_stats. The members of these structs are the rows of the tables calc/<kind>.fields.h; the
 *  same tables drive the JSON reader and writer, `--set`, CSV columns and the documentation.
 *
 *  Units: seconds, bytes, FLOP and their quotients, always as double; counts are int64_t.
 *  Threads: no global state anywhere. calc_run() neither allocates nor prints.
 *  Ownership: structs are copied with `=` and own nothing. Only calc_text owns memory.
 */
#ifndef CALC_H
#define CALC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CALC_VERSION_MAJOR 0
#define CALC_VERSION_MINOR 1
#define CALC_VERSION_PATCH 0
#define CALC_VERSION "0.1.0"

/** Format of the JSON documents, their member "format". It grows when a member changes its meaning
 *  or is no longer there, and not with new members. A document without it has the first; one with
 *  a higher number is an error. */
#define CALC_FORMAT 1

#if defined(CALC_SHARED) && defined(__GNUC__)
#define CALC_API __attribute__((visibility("default")))
#else
#define CALC_API
#endif
#if defined(__GNUC__)
#define CALC_MUST_USE __attribute__((warn_unused_result))
#define CALC_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define CALC_MUST_USE
#define CALC_PRINTF(fmt, args)
#endif

/* ---- Limits: structs are flat, so that copying one is an assignment -------------------------- */

enum {
    CALC_MAX_NETWORKS = 8,           /**< networks of one system */
    CALC_MAX_CURVE_STEPS = 32,       /**< steps of one efficiency curve */
    CALC_MAX_LAYERS = 160,           /**< operators of the kinds of transformer blocks, in tables */
    CALC_MAX_OPERATORS = 320,        /**< of one block, of all kinds of layers that it stands for */
    CALC_MAX_ERRORS = 16,            /**< errors reported in one go */
    CALC_MAX_REASONS = 16,           /**< reasons why a layout is infeasible */
    CALC_MAX_STAGE_RUNS = 48,        /**< runs of equal stages of a pipeline that lists them */
    CALC_MAX_PLACES = 128,           /**< stages times chunks of such a pipeline */
    CALC_MAX_CHIPS = 8,              /**< kinds of processors in one pipeline */
    CALC_MAX_PARTS = 16,             /**< named parts of a model's layers */
    CALC_MAX_LAYER_KINDS = 16,       /**< kinds of layers of a model */
    CALC_MAX_STACK = 512,            /**< layers of a model that lists them */
    CALC_MAX_MTP_LAYERS = 4,         /**< of a depth of multi-token prediction that lists them */
    CALC_MAX_LAYER_RUNS = 96,        /**< runs of equal layers of a model that lists them */
    CALC_SOFTWARE_NAME = 128,        /**< bytes of the name of a software document, of an engine */
    CALC_MAX_EXACT_PASSES = 1 << 22, /**< of a step that is simulated: stages, chunks, micro-batches
                                          multiplied */
    CALC_MAX_EXACT_REQUESTS = 1 << 20, /**< of serving that is simulated, */
    CALC_MAX_EXACT_STEPS = 1 << 26     /**< and its steps */
};

/* ---- Words: each list gives an enum, its texts and its documentation ------------------------- */

/** What went wrong: X(NAME, sentence). */
#define CALC_STATUS_LIST(X)                                                                        \
    X(OK, "fine")                                                                                  \
    X(ERR_NOT_FOUND, "no such file")                                                               \
    X(ERR_IO, "reading or writing failed")                                                         \
    X(ERR_NOMEM, "out of memory")                                                                  \
    X(ERR_SYNTAX, "not valid JSON")                                                                \
    X(ERR_FIELD, "unknown, ambiguous, missing or repeated field")                                  \
    X(ERR_TYPE, "value of the wrong type")                                                         \
    X(ERR_RANGE, "value out of range")                                                             \
    X(ERR_RULE, "fields that contradict each other")                                               \
    X(ERR_UNSUPPORTED, "recognised but not modelled yet")                                          \
    X(ERR_INFEASIBLE, "no layout that is asked for can run")

typedef enum calc_status {
#define CALC_X(name, text) CALC_##name,
    CALC_STATUS_LIST(CALC_X)
#undef CALC_X
        CALC_STATUS_COUNT
} calc_status;

/** Whether the layout can run; every one but `ok` is an answer, not an error. In order of report.
 */
#define CALC_VERDICT_LIST(X)                                                                       \
    X(OK, "ok")                                                                                    \
    X(NETWORK_SIZE, "network_size") /* more ranks on a network than it connects */                 \
    X(NETWORK_FILL, "network_fill") /* a network that must be filled would not be */               \
    X(INTERLEAVING, "interleaving") /* interleaving does not divide the blocks per processor */    \
    X(OFFLOAD_BLOCKS, "offload_blocks") /* offload needs at least 3 blocks per processor */        \
    X(MEM1_CAPACITY, "mem1_capacity")   /* tier 1 memory too small */                              \
    X(MEM2_CAPACITY, "mem2_capacity")   /* tier 2 memory too small */                              \
    X(OVERLOADED, "overloaded")         /* more requests arrive than are served */

typedef enum calc_verdict {
#define CALC_X(name, text) CALC_VERDICT_##name,
    CALC_VERDICT_LIST(CALC_X)
#undef CALC_X
        CALC_VERDICT_COUNT
} calc_verdict;

/* The words of the documents: calc_datatype, calc_attention_type, ... */
#include "calc/words.h"

/** The documents calc reads, and the three kinds of answers it gives. */
typedef enum calc_kind {
    CALC_KIND_APP,
    CALC_KIND_SYSTEM,
    CALC_KIND_EXEC,
    CALC_KIND_STATS,
    CALC_KIND_LAYER,
    CALC_KIND_STAGE,
    CALC_KIND_COUNT,
    CALC_KIND_NONE = CALC_KIND_COUNT
} calc_kind;

/* ---- Values ---------------------------------------------------------------------------------- */

/** Efficiency as a step function of the size of one operation: the first step, from the largest
 *  threshold down, that the size reaches. The last threshold is 0. */
typedef struct calc_curve {
    int64_t count;                           /**< steps in use */
    double threshold[CALC_MAX_CURVE_STEPS];  /**< [FLOP] for engines, [bytes] for memories */
    double efficiency[CALC_MAX_CURVE_STEPS]; /**< fraction of peak, in (0, 1] */
} calc_curve;

/** Cost of one network operation on V bytes and n ranks: it moves scalar * (V + offset * V / n). */
typedef struct calc_network_op {
    double scalar; /**< > 0 */
    double offset; /**< 0 for point-to-point, which JSON writes as null */
} calc_network_op;

/* Members of a struct, made from the rows of its table. */
#define CALC_MEMBER_INT(name, arg) int64_t name;
#define CALC_MEMBER_REAL(name, arg) double name;
#define CALC_MEMBER_BOOL(name, arg) bool name;
#define CALC_MEMBER_ENUM(name, arg) calc_##arg name;
#define CALC_MEMBER_SET(name, arg) calc_##arg name;
#define CALC_MEMBER_CURVE(name, arg) calc_curve name;
#define CALC_MEMBER_OP(name, arg) calc_network_op name;
#define CALC_MEMBER_OBJECT(name, arg) calc_##arg name;
#define CALC_MEMBER_LIST(name, arg)                                                                \
    calc_##arg name[CALC_MAX_NETWORKS];                                                            \
    int64_t name##_count;
#define CALC_MEMBER_MAP(name, arg) calc_##arg name[CALC_DATATYPE_COUNT];
#define CALC_MEMBER_NOTE(name, arg)
#define CALC_MEMBER_SYSTEM(name, arg) calc_other_system name;
#define CALC_MEMBER_ENGINE(name, arg) calc_serving_engine name;

#define CALC_TABLE(name, label) typedef struct calc_##name {
#define CALC_TABLE_ROW(of, name, type, arg, ...) CALC_MEMBER_##type(name, arg)
#define CALC_END(name, label)                                                                      \
    }                                                                                              \
    calc_##name;
#include "calc/parts.fields.h"
#undef CALC_TABLE
#undef CALC_TABLE_ROW
#undef CALC_END

#define CALC_FIELD(name, type, arg, ...)
#define CALC_PART_FIELD(name, type, arg, ...) CALC_MEMBER_##type(name, arg)
/** A part of a layer, a mixer or a feed-forward part, with all of its fields: those of the model
 *  that it does not change, too. */
typedef struct calc_part {
    char name[24];
    calc_part_type type;
#include "calc/app.fields.h"
#undef CALC_FIELD
#define CALC_FIELD(name, type, arg, ...) CALC_MEMBER_##type(name, arg)
#include "calc/part.fields.h"
} calc_part;
/** A kind of layers: indices of its parts, -1 where it has none. The second of a pair stands beside
 *  the first: both read the same input, and their outputs are added. */
typedef struct calc_layer_kind {
    int8_t mixer[2], ffn[2];
    int16_t count; /**< layers of this kind */
} calc_layer_kind;
/** The layers of a model that lists them, from the first to the last. */
typedef struct calc_stack {
    int32_t layers; /**< 0: no list; the model's own fields say what its blocks are */
    int32_t parts;  /**< in use */
    int32_t kinds;  /**< of layers */
    int32_t mtp;    /**< layers of one depth of multi-token prediction; 0: as the last layer */
    calc_part part[CALC_MAX_PARTS];
    calc_layer_kind kind[CALC_MAX_LAYER_KINDS];
    uint8_t layer[CALC_MAX_STACK]; /**< index of the kind */
    uint8_t mtp_layer[CALC_MAX_MTP_LAYERS];
} calc_stack;
/** The model that is trained or served. */
typedef struct calc_app {
#include "calc/app.fields.h"
    calc_stack stack;
} calc_app;
#undef CALC_PART_FIELD
#undef CALC_FIELD

/* A row of a part of a struct is a member of that part, not of the struct itself. */
#define CALC_FIELD(name, type, arg, ...)
#define CALC_CHIP_FIELD(name, type, arg, ...) CALC_MEMBER_##type(name, arg)
/** One processor: its engines, its memory tiers and the host that issues its kernels. */
typedef struct calc_chip {
#include "calc/system.fields.h"
} calc_chip;
#undef CALC_FIELD
#define CALC_FIELD(name, type, arg, ...) CALC_MEMBER_##type(name, arg)
#define CALC_CHIP_FIELD(name, type, arg, ...)
/** The machine: one kind of processor, and the networks between them. */
typedef struct calc_system {
    calc_chip chip;
#include "calc/system.fields.h"
} calc_system;
/** A system beside that of the run. */
typedef struct calc_other_system {
    char name[32];             /**< of its file; "": there is none */
    const calc_system *system; /**< borrowed: the caller gives it */
} calc_other_system;
/** What a serving engine takes beside the model. */
typedef struct calc_engine_traits {
#include "calc/engine_traits.fields.h"
} calc_engine_traits;
/** A serving engine: the name of its document, and what that says. */
typedef struct calc_serving_engine {
    char name[CALC_SOFTWARE_NAME]; /**< "": none, and all else is 0 */
    int32_t read;                  /**< whether the document was read: spec/serving_engine.h */
    calc_engine_traits traits;
#include "calc/serving_engine.fields.h"
} calc_serving_engine;
/** What is served, where the model is not trained. */
typedef struct calc_inference {
#include "calc/inference.fields.h"
} calc_inference;
#undef CALC_FIELD
#define CALC_FIELD(name, type, arg, ...)
#define CALC_STRATEGY_FIELD(name, type, arg, ...) CALC_MEMBER_##type(name, arg)
/** How a layer is split, computed, kept and sent. */
typedef struct calc_strategy {
#include "calc/exec.fields.h"
} calc_strategy;
#undef CALC_FIELD
#define CALC_FIELD(name, type, arg, ...) CALC_MEMBER_##type(name, arg)
#define CALC_STRATEGY_FIELD(name, type, arg, ...)
/** What a run of stages leaves to the execution. */
enum { CALC_STAGE_AS_EXEC = -1 };
/** Equal stages that follow one another, or chunks of stages along the model. */
typedef struct calc_stage_run {
    int16_t places;           /**< how many */
    int16_t blocks;           /**< of each; CALC_STAGE_AS_EXEC: spread evenly */
    int16_t recompute_blocks; /**< of them that recompute, the first ones; 0: none;
                                   CALC_STAGE_AS_EXEC */
    int16_t recompute;        /**< calc_activation_recompute, or CALC_STAGE_AS_EXEC */
    int16_t chip;             /**< 0: on the system of the run; else 1 + index in .system */
    int16_t modules;          /**< recompute_modules, where .recompute is given */
} calc_stage_run;
/** A pipeline whose stages are listed (stages): they may differ in their blocks, in what they
 *  recompute and in the processors that they run on. What a list leaves out is the execution's. */
typedef struct calc_stage_list {
    int32_t count;                             /**< runs; 0: no list */
    int32_t chips;                             /**< systems that are named */
    char name[CALC_MAX_CHIPS][32];             /**< as the list names them */
    const calc_system *system[CALC_MAX_CHIPS]; /**< borrowed: the caller gives them */
    double join_latency_s; /**< of messages between different chips, beside the slower network's */
    calc_stage_run run[CALC_MAX_STAGE_RUNS];
} calc_stage_list;
/** What a run of layers leaves to the execution. */
enum { CALC_LAYER_AS_EXEC = -1 };
/** What layers may have of their own. The ranks of a stage are the same for all layers, and so are
 *  the sequences that they share: data parallelism takes the ranks that are left, and a rank's
 *  micro-batch follows from it. CALC_LAYER_AS_EXEC: as the execution has it. */
typedef struct calc_layer_strategy {
    int16_t tensor_par, context_par, expert_par;
    int16_t context_par_type; /**< calc_context_par_type */
    int16_t zero_stage;       /**< 0: the state is whole on every rank */
    int16_t recompute;        /**< calc_activation_recompute */
    int16_t modules;          /**< recompute_modules, where .recompute is given */
} calc_layer_strategy;
enum { CALC_MAX_RUN_BLOCKS = 10000 /**< of equal layers, and of a stage */ };
/** Equal layers that follow one another. */
typedef struct calc_layer_run {
    int16_t blocks; /**< how many */
    calc_layer_strategy strategy;
} calc_layer_run;
/** A model whose layers are listed (layers): from its first block to its last one. */
typedef struct calc_layer_list {
    int32_t count;            /**< runs; 0: no list */
    calc_layer_strategy ends; /**< of the embedding and the head */
    calc_layer_run run[CALC_MAX_LAYER_RUNS];
} calc_layer_list;
/** A set of fields of an execution, a bit for each row of its table. */
typedef struct calc_exec_rows {
    uint64_t bits[2];
} calc_exec_rows;
/** How the model is laid out and run: ranks, batch and pipeline, and the strategy of its layers. */
typedef struct calc_exec {
    calc_strategy strategy;
#include "calc/exec.fields.h"
    uint32_t automatic;    /**< fields that say "auto", a bit each, until calc_resolve() */
    int32_t software_read; /**< whether the document of that name was applied: spec/software.h */
    calc_exec_rows stated; /**< fields that a file, an assignment or calc_resolve() has given */
    calc_exec_rows wished; /**< fields that the software gives, until calc_resolve() */
    char software[CALC_SOFTWARE_NAME]; /**< name of a document; "": none */
    calc_stage_list stages;            /**< unless all stages are alike */
    calc_layer_list layers;            /**< unless all layers are alike */
} calc_exec;
/** The answer. A statistic that cannot be computed for the layout is NaN (JSON null). */
typedef struct calc_stats {
    calc_verdict verdict; /**< the first reason of infeasibility, or CALC_VERDICT_OK */
#include "calc/stats.fields.h"
} calc_stats;
/** The answer for one layer of the block, `name` first. */
typedef struct calc_layer_stats {
    const char *name; /**< static text */
#include "calc/layer.fields.h"
} calc_layer_stats;
/** The answer for one stage of the pipeline. */
typedef struct calc_stage_stats {
#include "calc/stage.fields.h"
} calc_stage_stats;
#undef CALC_FIELD

/* ---- Fields by name -------------------------------------------------------------------------- */

typedef enum calc_field_type {
    CALC_TYPE_INT,
    CALC_TYPE_REAL,
    CALC_TYPE_BOOL,
    CALC_TYPE_ENUM,
    CALC_TYPE_SET,    /**< choices, any number of them: ["core_attn", "mlp"] */
    CALC_TYPE_CURVE,  /**< [[size, efficiency], ...] */
    CALC_TYPE_OP,     /**< [scalar, offset] */
    CALC_TYPE_OBJECT, /**< a struct with a table of its own */
    CALC_TYPE_LIST,   /**< up to CALC_MAX_NETWORKS such structs */
    CALC_TYPE_MAP,    /**< one such struct per datatype */
    CALC_TYPE_NOTE,   /**< text for people: read, checked to be text, not kept */
    CALC_TYPE_SYSTEM, /**< name of another system: calc_other_system */
    CALC_TYPE_ENGINE  /**< name of a serving engine: calc_serving_engine */
} calc_field_type;

enum {
    CALC_OPTIONAL = 1,       /**< may be absent: then 0, false, the first choice or .absent */
    CALC_OR_ZERO = 2,        /**< 0 is allowed below .lo: it means what an absent key means */
    CALC_BELOW_HI = 4,       /**< .hi itself is not allowed */
    CALC_POINT_TO_POINT = 8, /**< OP: the offset must be null */
    CALC_EXTRA = 16,         /**< STATS and LAYER: ours, not among Calculon's statistics */
    CALC_MORE = 32,          /**< STATS: more is better, not less */
    CALC_AUTO = 64,          /**< EXEC: "auto" is allowed: what follows from the other fields */
    CALC_STAGES = 128,       /**< EXEC, NOTE: the list of stages, kept in calc_exec.stages */
    CALC_LAYERS = 256,       /**< EXEC, NOTE: the list of layers, kept in calc_exec.layers */
    CALC_STACK = 512,        /**< APP, NOTE: parts and layers, kept in calc_app.stack */
    CALC_SOFTWARE = 1024     /**< EXEC, NOTE: name of a document, kept in calc_exec.software */
};

typedef struct calc_table calc_table;

/** One row of a table. */
typedef struct calc_field {
    const char *name;     /**< member of the struct, or of a part of it (calc_exec.strategy) */
    const char *key;      /**< key in JSON and CSV, and name for people */
    const char *also[3];  /**< other keys, as programs and people call it, NULL at the end; of STATS
                               also labels of summaries and heads of tables */
    const char *times[2]; /**< NULL, or its other key counts these: the first that is not 0 */
    calc_field_type type;
    unsigned flags;             /**< CALC_OPTIONAL ... */
    size_t offset;              /**< of the member in its struct */
    size_t element;             /**< LIST, MAP: bytes of one element */
    size_t count;               /**< LIST: offset of the member that counts the elements */
    const calc_table *table;    /**< OBJECT, LIST, MAP: rows of the element */
    const char *const *choices; /**< ENUM, and keys of a MAP: texts, NULL at the end */
    double lo, hi;              /**< INT, REAL: range in file units; both 0: any finite value */
    double absent;              /**< OPTIONAL INT, REAL: when the key is absent; OP: [1, absent] */
    double scale;               /**< file unit in SI units (GiB: 2^30); 0 means 1 */
    const char *unit;           /**< in the file: "GB/s"; NULL: a pure number */
    const char *where;          /**< STATS, LAYER: the function that computes it */
    const char *doc;            /**< one sentence */
    const char *equation;       /**< how it is computed or enters: names of fields and statistics,
                                     exact where it has nothing else (a test evaluates it); or NULL */
    const char *source;         /**< where the equation comes from; or NULL */
} calc_field;

/** The rows of one struct. */
struct calc_table {
    const char *name; /**< "exe", "networks", ... */
    size_t size;      /**< bytes of the struct */
    size_t count;     /**< rows */
    const calc_field *rows;
};

/** A field inside a struct, however deep: networks[1].bandwidth. */
typedef struct calc_field_ref {
    calc_kind kind;
    const calc_field *field; /**< its row */
    size_t offset;           /**< from the start of the outermost struct */
} calc_field_ref;

/** The table of a kind; borrowed, static. NULL for CALC_KIND_NONE. */
CALC_API const calc_table *calc_table_of(calc_kind kind);

/** Short name of a kind: "app", "sys", "exe", "stats", "layer", "stage". */
CALC_API const char *calc_kind_name(calc_kind kind);

/** Find a field by its dotted path from the struct's root, in JSON keys: "tensor_par",
 *  "mem1.GiB", "networks[0].ops.all_reduce", "matrix.float16.tflops".
 *  @return CALC_OK, or CALC_ERR_FIELD when there is none (*out is then untouched). */
CALC_API CALC_MUST_USE calc_status calc_field_find(calc_kind kind, const char *path,
                                                   calc_field_ref *out);

/** Value of an INT, REAL, BOOL, ENUM or SET field as a number in file units; NaN for other types.
 */
CALC_API double calc_field_number(const calc_field_ref *ref, const void *object);

/** Text of a status, a verdict, and of the choices of an enumerated field. */
CALC_API const char *calc_status_text(calc_status status);
CALC_API const char *calc_verdict_text(calc_verdict verdict);

/* ---- Errors ---------------------------------------------------------------------------------- */

/** One error, for people: `file:line:column: pointer: text` and then the hint. */
typedef struct calc_error {
    calc_status status;
    calc_kind kind;    /**< document the pointer is in, CALC_KIND_NONE if in none */
    int line, column;  /**< 1-based; 0 when unknown */
    char file[256];    /**< name of the document; shortened from the left */
    char pointer[128]; /**< JSON pointer: "/networks/0/size" */
    char text[320];    /**< what was found and what is allowed */
    char hint[256];    /**< what to do; may be empty */
} calc_error;

/** Errors in the order they were found. Start with `calc_errors errors = {0};`. */
typedef struct calc_errors {
    int count;   /**< of item */
    int dropped; /**< found beyond CALC_MAX_ERRORS */
    calc_error item[CALC_MAX_ERRORS];
} calc_errors;

/** Print one error, without a newline at its end, as snprintf would.
 *  @return the length it needs. */
CALC_API int calc_error_print(const calc_error *error, char *buffer, size_t size);

/* ---- Input ----------------------------------------------------------------------------------- */

/** Fill *object (a calc_app, calc_system or calc_exec, by kind) from a JSON file.
 *  All errors of the file are collected, with line and column.
 *  @return CALC_OK, or the status of the first error; *object is then unspecified. */
CALC_API CALC_MUST_USE calc_status calc_load(calc_kind kind, void *object, const char *path,
                                             calc_errors *errors);

/** The same from `length` bytes of text; `name` is what errors call it. */
CALC_API CALC_MUST_USE calc_status calc_parse(calc_kind kind, void *object, const char *text,
                                              size_t length, const char *name, calc_errors *errors);

/** Set one field by name: "tensor_par=8", "sys.mem1.GiB=141", "exe.structure_type=gpt",
 *  "networks[0].ops.all_reduce=[2.0,-1]", "recompute_modules=core_attn+mlp". A name that more than
 * one of the three structs has must be qualified by `app.`, `sys.` or `exe.`.
 *  @param where  NULL or filled with the field that was set
 *  @return CALC_OK, or CALC_ERR_FIELD, _TYPE, _RANGE, _SYNTAX, _NOMEM; the structs are then
 *  untouched. */
CALC_API CALC_MUST_USE calc_status calc_set(calc_app *app, calc_system *system, calc_exec *exec,
                                            const char *assignment, calc_field_ref *where,
                                            calc_errors *errors);

/** Give fields of the execution that say "auto" the value that follows from the others (see each
 *  one's documentation), and number formats of what is served those of app.checkpoint. What follows
 * from nothing legal is left as it asks least: calc_check() then says what is wrong. Call it after
 * calc_load() and calc_set(), before calc_check(). */
CALC_API void calc_resolve(const calc_app *app, const calc_system *system, calc_exec *exec);

/** Check the rules between fields and between the three documents. Errors carry the document's
 *  kind and the JSON pointer; calc_errors_locate() adds the place.
 *  @return CALC_OK or CALC_ERR_RULE. */
CALC_API CALC_MUST_USE calc_status calc_check(const calc_app *app, const calc_system *system,
                                              const calc_exec *exec, calc_errors *errors);

/** Give errors of a document that lack a place their file, line and column, from its text. */
CALC_API void calc_errors_locate(calc_errors *errors, calc_kind kind, const char *text,
                                 size_t length, const char *name);

/* ---- The model ------------------------------------------------------------------------------- */

/** Evaluate one layout. Pure: the same inputs give the same bits. The inputs must have passed
 *  calc_check(), and calc_compat_check() with rules. "Does not fit" is not a failure: see the
 *  verdict.
 *  @param compat  rules of Calculon's to follow, CALC_COMPAT_NONE for ours; not read where a model
 * is served
 *  @return stats->verdict */
CALC_API calc_verdict calc_run(const calc_app *app, const calc_system *system,
                               const calc_exec *exec, calc_compat compat, calc_stats *stats);

/** Whether Calculon's rules can be applied to a layout: its list of layers (rule `layers`) has no
 *  experts, gates or other parts of models of today, and no rule knows serving.
 *  @return CALC_OK, or CALC_ERR_UNSUPPORTED with an error that says what the layout has */
CALC_API CALC_MUST_USE calc_status calc_compat_check(const calc_app *app, const calc_exec *exec,
                                                     calc_compat compat, calc_errors *errors);

/** Memory that calc_run_exact() works in [bytes].
 *  @param bytes   filled on CALC_OK
 *  @return CALC_OK; CALC_ERR_UNSUPPORTED if the schedule does not run on so many stages and
 *  micro-batches, or CALC_ERR_RANGE beyond CALC_MAX_EXACT_PASSES, ..._REQUESTS or ..._STEPS, with
 * an error that says so */
CALC_API CALC_MUST_USE calc_status calc_exact_bytes(const calc_exec *exec, size_t *bytes,
                                                    calc_errors *errors);

/** calc_run() with the pipeline simulated operation by operation instead of its closed form; all
 *  else is as calc_run() has it. Statistic pipeline_closed_form_error says how far the two are
 *  apart. Where requests are served and queue, they are simulated one by one instead: times of
 *  requests and steps, and rates, are what was measured of them. A layout whose chunks do not
 * divide its blocks has no step: then this is calc_run().
 *  @param workspace  calc_exact_bytes(), aligned as malloc() does
 *  @return stats->verdict */
CALC_API calc_verdict calc_run_exact(const calc_app *app, const calc_system *system,
                                     const calc_exec *exec, void *workspace, calc_stats *stats);

/** Statistics of each operator of the blocks, for one micro-batch on one processor: those that
 * kinds of blocks share once, then those of embedding, head and multi-token prediction; with the
 * rule `layers` of each of Calculon's layers. The statistics of communication are those of a
 * collective's own group; exposed is NaN in context and expert parallelism, where all collectives
 * of a group hide together. Where a model is served: of a decoding step, or with inference phase
 * prefill of a chunk of a prompt.
 *  @param out  filled with up to `capacity` rows (CALC_MAX_LAYERS always suffice)
 *  @return how many layers there are */
CALC_API size_t calc_layers(const calc_app *app, const calc_system *system, const calc_exec *exec,
                            calc_compat compat, calc_layer_stats *out, size_t capacity);

/** Statistics of each stage of the pipeline, in order; with the rule `even-stages` all are charged
 *  the same.
 *  @param out  filled with up to `capacity` rows
 *  @return how many stages there are: pipeline_par; 0 where a stage would have no block, and where
 * a model is served, whose micro-batches change from pass to pass */
CALC_API size_t calc_each_stage(const calc_app *app, const calc_system *system,
                                const calc_exec *exec, calc_compat compat, calc_stage_stats *out,
                                size_t capacity);

/** Why a layout is infeasible, with the numbers and what would fix it. */
typedef struct calc_reason {
    calc_verdict verdict;
    char text[256];
    char hint[256];
} calc_reason;

/** All reasons, not only the first.
 *  @param stats  what calc_run() gave for the same inputs
 *  @return how many there are; 0 for a feasible layout */
CALC_API size_t calc_reasons(const calc_app *app, const calc_system *system, const calc_exec *exec,
                             calc_compat compat, const calc_stats *stats,
                             calc_reason out[CALC_MAX_REASONS]);

/** Trainable parameters of a model, and of its parts; parts sum to the total. */
typedef struct calc_parameters {
    double total;     /**< all */
    double active;    /**< used by one token; equals total without experts */
    double attention; /**< query, key, value and output projections, with biases */
    double mlp;       /**< feed-forward matrices, with biases; shared experts */
    double experts;   /**< routed experts and routers */
    double norm;      /**< norms */
    double embedding; /**< token and position tables, and the head where it is not tied */
    double mtp;       /**< blocks of multi-token prediction; not part of the total */
    double encoder;   /**< of images, with its projector; not part of the total */
} calc_parameters;

/** Count parameters. A file with Calculon's keys only counts as in Narayanan et al. 2021 (arXiv
 *  2104.04473, eq. 2, with the exact attention width): a 51,200-word vocabulary, learned positions,
 *  biases. Any other as it says, down to the last norm. */
CALC_API void calc_count_parameters(const calc_app *app, calc_parameters *out);

/* ---- JSON in, JSON out: for other languages -------------------------------------------------- */

/** Requests one after the other; remembers the documents they name. One thread at a time. */
typedef struct calc_session calc_session;

/** Which file a document's name means.
 *  @param kind  CALC_KIND_NONE: none of the three, but a file of a data directory, as it is named
 *  there: "measured/residuals.csv"
 *  @param path  filled on CALC_OK, `size` bytes */
typedef calc_status calc_session_find(void *context, calc_kind kind, const char *name, char *path,
                                      size_t size, calc_errors *errors);

/** @param find  NULL: names are paths. @return NULL if memory is short */
CALC_API calc_session *calc_session_open(calc_session_find *find, void *context);

/** Answer a request, or an array of requests (docs/programs.md), with JSON text. A wrong request is
 *  answered too: with "errors".
 *  @return the answer, for calc_session_release(); NULL if memory is short */
CALC_API char *calc_session_ask(calc_session *session, const char *request, size_t length);
CALC_API void calc_session_release(char *answer);

/** Forget everything. NULL is fine. */
CALC_API void calc_session_close(calc_session *session);

/** CALC_VERSION of the library. */
CALC_API const char *calc_version(void);

#ifdef __cplusplus
}
#endif
#endif /* CALC_H */
