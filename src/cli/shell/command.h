/** @file command.h  Describes a command in rows of a table. The parser, the help, the manual page
 *  and the completion are made from them; to add a command, write cmd_<name>.c and name it in
 *  command.c. */
#ifndef CALC_CLI_SHELL_COMMAND_H
#define CALC_CLI_SHELL_COMMAND_H

#include "calc.h"

/** Exit codes of calc: X(NAME, meaning). The numbers are a contract, in this order from 0. */
#define CALC_EXIT_LIST(X)                                                                          \
    X(OK, "fine")                                                                                  \
    X(INFEASIBLE, "the layout cannot run, or predictions got worse; the reasons are printed")      \
    X(USAGE, "the command line is wrong, or the value of an option")                               \
    X(INPUT, "an input is wrong, does not exist or is a folder")                                   \
    X(SYSTEM, "reading or writing failed, or memory ran out")                                      \
    X(BUG, "a bug in calc: please report it")                                                      \
    X(INTERRUPTED, "a signal ended it early: what is written is partial, and says so")

typedef enum calc_exit {
#define CALC_X(name, meaning) CALC_EXIT_##name,
    CALC_EXIT_LIST(CALC_X)
#undef CALC_X
        CALC_EXIT_COUNT
} calc_exit;

/** One option. Lists of them end with a row without a name. */
typedef struct calc_opt {
    const char *name;           /**< without the dashes */
    const char *value;          /**< name of its value: "FILE"; NULL: it takes no value */
    const char *const *choices; /**< values allowed, NULL at the end; NULL: any */
    bool list;                  /**< the value is one or several of the choices, separated by
                                 *  commas */
    const char *preset;         /**< value if it is not given; NULL: none */
    bool repeated;              /**< may be given more than once; otherwise the last one counts */
    const char *section;        /**< section of the help for it and the following options; NULL: the
                                 *  section of the one before */
    bool unlisted; /**< handed on to another command of calc: help and completion leave it
                    *  out */
    const char *doc;
} calc_opt;

/** Options are listed once, X(NAME, name, value, .doc = "...", other members); their numbers and
 *  their rows are made from the list. */
#define CALC_OPT_NUMBER(id, ...) OPT_##id,
#define CALC_OPT_ROW(id, opt, what, ...) {.name = (opt), .value = (what), __VA_ARGS__},

/** One argument. Lists of them end with a row without a name. */
typedef struct calc_arg {
    const char *name;    /**< "APP" */
    bool names_document; /**< a path or the bare name of a document of `kind` */
    calc_kind kind;
    const char *const *choices; /**< see calc_opt */
    bool optional;
    bool or_next;  /**< it may be left out, and the next one stand in its place */
    bool repeated; /**< takes all further arguments; only the last row may */
    const char *doc;
} calc_arg;

/** The row of an argument that names a document. */
#define CALC_ARG_DOCUMENT(arg, of, ...)                                                            \
    {                                                                                              \
        .name = (arg), .names_document = true, .kind = (of), __VA_ARGS__                           \
    }

/** The rows of the three documents of a run, and of the first two. */
#define CALC_ARGS_MACHINE                                                                          \
    CALC_ARG_DOCUMENT("APP", CALC_KIND_APP,                                                        \
                      .doc = "the model: a path, \"-\" for standard input, or a name in models/"), \
        CALC_ARG_DOCUMENT("SYS", CALC_KIND_SYSTEM,                                                 \
                          .doc = "the machine: likewise, or a name in systems/")
#define CALC_ARGS_RUN                                                                              \
    CALC_ARGS_MACHINE,                                                                             \
        CALC_ARG_DOCUMENT(                                                                         \
            "EXE", CALC_KIND_EXEC,                                                                 \
            .doc = "how the model is laid out on the machine: likewise, or a name in executions/")

typedef struct calc_args calc_args;

typedef struct calc_command {
    const char *name;
    const char *summary; /**< one line, no full stop */
    const char *detail;  /**< a paragraph */
    const calc_arg *args;
    const calc_opt *opts;
    const char *const *examples; /**< command lines, NULL at the end */
    bool own_words; /**< it parses its words itself: all are arguments except a first -h or
                     *  --help */
    calc_exit (*run)(const calc_args *args);
} calc_command;

extern const calc_command calc_cmd_run, calc_cmd_trace, calc_cmd_sweep, calc_cmd_plan,
    calc_cmd_tune, calc_cmd_rl, calc_cmd_merge, calc_cmd_report, calc_cmd_app, calc_cmd_validate,
    calc_cmd_calibrate, calc_cmd_serve, calc_cmd_explain, calc_cmd_diff, calc_cmd_why,
    calc_cmd_export, calc_cmd_import, calc_cmd_schema, calc_cmd_params, calc_cmd_fields,
    calc_cmd_names, calc_cmd_as, calc_cmd_help;

/** All commands, in the order of the help; NULL at the end. Commands that find the best layout and
 *  start it come first. */
enum { CALC_COMMANDS_FIRST = 9 };
extern const calc_command *const calc_command_list[];

/** The command of that name; NULL if there is none. */
const calc_command *calc_command_find(const char *name);

/** The name of a command nearest to `name`; NULL if none is near. */
const char *calc_command_nearest(const char *name);

#endif
