/** @file opt.h  Sorts the words after a command into options and arguments by the command's rows.
 *  `--name VALUE`, `--name=VALUE`, `-h`; `--` ends the options; `-` is an argument. A command that
 *  takes the command line of another program spells its options as that does: `--yaml_path X`,
 *  `-head_loss 1.5`; in it, all that begins with a dash is an option. */
#ifndef CALC_CLI_SHELL_OPT_H
#define CALC_CLI_SHELL_OPT_H

#include "calc.h"

/* Describes a command in rows of a table. The parser, the help, the manual page
 * and the completion are made from them; to add a command, write cmd_<name>.c and name it in
 * command.c. */

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

/** What the value of an option is. */
typedef enum calc_opt_kind {
    CALC_OPT_TEXT,
    CALC_OPT_WHOLE,  /**< a whole number from .lo to .hi */
    CALC_OPT_NUMBER, /**< any number from .lo to .hi */
    CALC_OPT_BOOL    /**< yes, true, t, y, 1, or no, false, f, n, 0; any case */
} calc_opt_kind;

/** One option. Lists of them end with a row without a name. */
typedef struct calc_opt {
    const char *name;           /**< without the dashes; of another program, with them */
    const char *value;          /**< name of its value: "FILE"; NULL: it takes no value */
    const char *const *choices; /**< values allowed, NULL at the end; NULL: any */
    bool list;                  /**< the value is one or several of the choices, separated by
                                 *  commas */
    const char *preset;         /**< value if it is not given; NULL: none */
    bool repeated;              /**< may be given more than once; otherwise the last one counts */
    const char *section;        /**< section of the help for it and the following options; NULL: the
                                 *  section of the one before */
    bool output;   /**< a file that is written; one of a command's may be "-": standard output */
    bool unlisted; /**< for scripts, tests and studies of calc itself: help and completion leave it
                    *  out */
    const char *also; /**< another spelling; NULL: none */
    const char *was; /**< names before this release, which help and completion leave out: "rows", or
                      *  "band=coverage" for one without a value that stands for this value */
    calc_opt_kind kind;
    double lo, hi; /**< range of numbers */
    bool needed;   /**< must be given */
    bool alone;    /**< with it the arguments are not those of the command */
    bool lone;     /**< its value may be left out and is then "true" */
    bool unused;   /**< of another program, without effect here; .doc says why */
    bool ours;     /**< unknown to the other program; these come last */
    const char *doc;
} calc_opt;

/** Options are listed once, X(NAME, name, value, .doc = "...", other members); their numbers and
 *  their rows are made from the list. */
#define CALC_OPT_NUMBER(id, ...) OPT_##id,
#define CALC_OPT_ROW(id, opt, what, ...) {.name = (opt), .value = (what), __VA_ARGS__},
#define CALC_OPTIONS(LIST)                                                                         \
    enum { LIST(CALC_OPT_NUMBER) };                                                                \
    static const calc_opt opts[] = {LIST(CALC_OPT_ROW){0}}

/** Members of the row of an option that is a number in a range. */
#define CALC_OPT_IS_WHOLE(least, most) .kind = CALC_OPT_WHOLE, .lo = (least), .hi = (most)
#define CALC_OPT_IS_NUMBER(least, most) .kind = CALC_OPT_NUMBER, .lo = (least), .hi = (most)

/** Rows that several commands have. */
#define CALC_OPT_AXIS(X)                                                                           \
    X(AXIS, "axis", "FIELD=VALUES",                                                                \
      .doc = "what to search, as in calc sweep: pp=8,16, microbatch_size=1,2", .repeated = true)
#define CALC_OPT_COLOR(X)                                                                          \
    X(COLOR, "color", "WHEN", .doc = "colour the summary", .choices = calc_opt_when,               \
      .preset = "auto")
#define CALC_OPT_COMPAT(X)                                                                         \
    X(COMPAT, "compat", "RULES",                                                                   \
      .doc = "rules of Calculon to follow, separated by commas; repaired: all but its three "      \
             "known defects; calculon: all (docs/calculon.md)",                                    \
      .choices = calc_compat_words, .list = true, .preset = "none")
#define CALC_OPT_ROWS(X)                                                                           \
    X(ROWS, "rows", "NAME[,NAME...]",                                                              \
      .doc = "use only operators whose column \"system\" is one of these")
#define CALC_OPTS_RUNNING(X)                                                                       \
    X(THREADS, "threads", "N", CALC_OPT_IS_WHOLE(1, 4096), .section = "Running",                   \
      .doc = "threads [as many as the machine has cores]")                                         \
    X(PROGRESS, "progress", "HOW", .doc = "a bar on a terminal, plain lines for logs, or nothing", \
      .choices = calc_opt_progress, .preset = "auto")
extern const char *const calc_opt_when[];     /**< auto, always, never */
extern const char *const calc_opt_progress[]; /**< auto, plain, none */

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
                      .doc = "the model: a path, \"-\" for standard input, or a name in models/; " \
                             "of a script or a configuration of a framework its model, and its "   \
                             "layout if EXE is left out"),                                         \
        CALC_ARG_DOCUMENT("SYS", CALC_KIND_SYSTEM,                                                 \
                          .doc = "the machine: likewise, or a name in systems/")
#define CALC_ARGS_RUN                                                                              \
    CALC_ARGS_MACHINE,                                                                             \
        CALC_ARG_DOCUMENT(                                                                         \
            "EXE", CALC_KIND_EXEC,                                                                 \
            .doc = "how the model is laid out on the machine: likewise, or a name in executions/")

typedef struct calc_args calc_args;

typedef struct calc_command {
    const char *name;    /**< "run", or of one that `calc show` starts "show names" */
    const char *summary; /**< one line, no full stop */
    const char *detail;  /**< a paragraph */
    const calc_arg *args;
    const calc_opt *opts;
    const char *const *examples; /**< command lines, NULL at the end */
    bool own_words;     /**< it parses its words itself: all are arguments except a first -h or
                         *  --help */
    const char *theirs; /**< the program whose command line it takes; NULL: it is calc's own */
    bool passes;        /**< keeps options that have no row, with the words behind them */
    calc_exit (*run)(const calc_args *args);
} calc_command;

/** The parts of a command by the names that they have in its file. */
#define CALC_COMMAND_PARTS .args = rows, .opts = opts, .examples = examples, .run = run

extern const calc_command calc_cmd_run, calc_cmd_sweep, calc_cmd_plan, calc_cmd_tune, calc_cmd_rl,
    calc_cmd_why, calc_cmd_export, calc_cmd_import, calc_cmd_validate, calc_cmd_calibrate,
    calc_cmd_diff, calc_cmd_show, calc_cmd_serve, calc_cmd_as, calc_cmd_help, calc_cmd_names,
    calc_cmd_fields, calc_cmd_explain, calc_cmd_params, calc_cmd_schema, calc_cmd_app;

/** All commands, in the order of the help; NULL at the end. Commands that find the best layout and
 *  start it come first; those that `calc show` starts are last, and have no row in the help. */
enum { CALC_COMMANDS_FIRST = 9, CALC_COMMANDS_SHOWN = 15 };
extern const calc_command *const calc_command_list[];

/** The name of a command without "show ". */
const char *calc_command_word(const calc_command *command);

/** The command of that name, also one of before this release: NULL if there is none.
 *  @param instead  NULL, or set to the option that the name stands for: NULL for none */
const calc_command *calc_command_find(const char *name, const char **instead);

/** The name of a command nearest to `name`; NULL if none is near. */
const char *calc_command_nearest(const char *name);

/** One option on the command line. */
typedef struct calc_opt_use {
    int opt;           /**< index of its row */
    const char *value; /**< "" for an option without a value */
} calc_opt_use;

/** Options and arguments; owns the three lists, borrows the texts. Start with {0}. */
struct calc_args {
    const calc_command *command;
    const char **argument; /**< in order */
    size_t argument_count;
    calc_opt_use *use; /**< in order */
    size_t use_count;
    const char **passed; /**< words to pass on, in order */
    size_t passed_count;
    bool help;           /**< -h or --help: show the help and do nothing else */
    char complaint[512]; /**< the mistake in the words, one line */
};

/** Sort the words.
 *  @return CALC_EXIT_OK, or CALC_EXIT_USAGE with args->complaint filled */
calc_exit calc_opt_parse(calc_args *args, const calc_command *command, size_t count,
                         char *const *words);

/** The field of a document that FIELD=VALUE means, in any of the three; NULL if none has it. */
const calc_field *calc_opt_field(const char *text, calc_field_ref *out);

/** Free the lists; fine on {0}. */
void calc_opt_free(calc_args *args);

/** Last value given for the row `opt` of the command's options, or its preset; NULL if neither. */
const char *calc_opt_value(const calc_args *args, int opt);

/** Whether a value is given for that row. */
bool calc_opt_given(const calc_args *args, int opt);

/** The value of a row of numbers; 0 if there is none. */
double calc_opt_real(const calc_args *args, int opt);

/** The value of a row of kind BOOL, or whether an option without a value is given. */
bool calc_opt_truth(const calc_args *args, int opt);

/** The values given for that row, one per call; NULL after the last.
 *  @param cursor  0 before the first call */
const char *calc_opt_next(const calc_args *args, int opt, size_t *cursor);

/** Whether a value given for that row of lists names a choice. */
bool calc_opt_lists(const calc_args *args, int opt, const char *word);

/** Whether a value of that row is "-": standard output. */
bool calc_opt_is_stdout(const calc_args *args, int opt);

/** Whether one of the command's outputs is. */
bool calc_opt_takes_stdout(const calc_args *args);

/* Splits values of options that are lists: "a,b,c". */

enum { CALC_LIST_MAX = 64, CALC_LIST_SIZE = 1024 };

/** A list in parts; its items point into its text, so it must not be copied. */
typedef struct calc_list {
    char text[CALC_LIST_SIZE];
    const char *item[CALC_LIST_MAX + 1]; /**< NULL at the end */
    size_t count;
} calc_list;

/** Split a text at its commas.
 *  @param out  {0} before
 *  @return false if it is too long, or an item is empty */
bool calc_list_split(calc_list *out, const char *text);

#endif
