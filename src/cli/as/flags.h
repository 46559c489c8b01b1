/** @file flags.h  Parses the command lines of other planners' programs. A row of cmd_as.c adds a
 *  program. Flags are spelt as the program spells them: `--yaml_path X`, `-head_loss 1.5`,
 *  `--gbs=1024`. If a flag is repeated, the last one counts. */
#ifndef CALC_CLI_AS_FLAGS_H
#define CALC_CLI_AS_FLAGS_H

#include "cli/shell/opt.h"
#include "io/output.h"
#include "io/text.h"

typedef enum calc_flag_kind {
    CALC_FLAG_TEXT,
    CALC_FLAG_WHOLE,  /**< a whole number from .lo to .hi */
    CALC_FLAG_NUMBER, /**< any number from .lo to .hi */
    CALC_FLAG_BOOL    /**< yes, true, t, y, 1, or no, false, f, n, 0; any case */
} calc_flag_kind;

/** One flag. A list of flags ends with a row without a name. */
typedef struct calc_flag {
    const char *name;  /**< with its dashes: "--yaml_path", "-t" */
    const char *value; /**< placeholder for its value: "FILE"; NULL: it takes none */
    calc_flag_kind kind;
    const char *also;           /**< another spelling; NULL: none */
    const char *preset;         /**< value if it is not given; NULL: none */
    bool needed;                /**< must be given */
    bool unused;                /**< accepted, without effect here; .doc says why */
    bool lone;                  /**< its value may be left out and is then "true" */
    bool ours;                  /**< calc's own flag, unknown to the program; these come last */
    double lo, hi;              /**< range of numbers */
    const char *const *choices; /**< allowed values, NULL at the end; NULL: any */
    const char *doc;
} calc_flag;

/** Each flag is listed once as X(NAME, name, value, kind, .doc = "...", other members). The list
 *  generates the enum and the rows. */
#define CALC_FLAG_NUMBER_OF(id, ...) FLAG_##id,
#define CALC_FLAG_ROW(id, flag, what, of, ...)                                                     \
    {.name = (flag), .value = (what), .kind = CALC_FLAG_##of, __VA_ARGS__},

typedef struct calc_flags calc_flags;

/** One program. */
typedef struct calc_as_tool {
    const char *planner; /**< calc as PLANNER */
    const char *program; /**< calc as PLANNER PROGRAM; NULL: the planner has only one */
    const char *theirs;  /**< the original's name: "parallel_tool.py" */
    const char *summary; /**< one line, no full stop */
    const char *detail;  /**< a paragraph */
    const calc_flag *flags;
    const char *const *examples; /**< command lines, NULL at the end */
    const char *file; /**< placeholder for the one word without a dash: "FILE"; NULL: none
                       *  allowed */
    bool passes;      /**< keeps flags that have no row, with the words behind them */
    calc_exit (*run)(const calc_flags *flags);
} calc_as_tool;

enum { CALC_FLAGS_MAX = 80 /**< most flags of a program */, CALC_FLAGS_OTHERS = 1024 };

/** A parsed command line. Borrows the texts. */
struct calc_flags {
    const calc_as_tool *tool;
    const char *value[CALC_FLAGS_MAX]; /**< by row; the default, or NULL, if it is not given */
    bool given[CALC_FLAGS_MAX];
    const char *file;                     /**< the word that is no flag; NULL: there is none */
    const char *other[CALC_FLAGS_OTHERS]; /**< words to pass on, in their order */
    size_t others;
    bool help;           /**< -h or --help: show the help and do nothing else */
    char complaint[512]; /**< mistake on the command line, one line */
};

/** Parses the words after the program's name and checks all values.
 *  @return false with out->complaint filled if they are wrong */
bool calc_flags_parse(calc_flags *out, const calc_as_tool *tool, size_t count,
                      const char *const *words);

/** The value of a row; NULL if there is none. */
const char *calc_flags_text(const calc_flags *flags, int row);

/** The value of a row of numbers; NaN if there is none. */
double calc_flags_number(const calc_flags *flags, int row);

/** The value of a row of kind BOOL; false if there is none. */
bool calc_flags_bool(const calc_flags *flags, int row);

/** Lists on standard error the given flags that have no effect here. */
void calc_flags_tell_unused(const calc_flags *flags);

/** Prints one line about a wrong value of a flag and where to find the help.
 *  @return CALC_EXIT_USAGE */
calc_exit calc_flags_complain(const calc_flags *flags, const char *text);

enum { CALC_AS_PATH_SIZE = 4096 };

/** Creates a folder, with its parents, if it does not exist.
 *  @return CALC_OK, or CALC_ERR_IO with an error that names it */
CALC_MUST_USE calc_status calc_as_make_folder(const char *path, calc_errors *errors);

/** Writes a text to folder/name. */
CALC_MUST_USE calc_status calc_as_write(const char *folder, const char *name, const char *text,
                                        size_t length, calc_errors *errors);

/** Joins "folder/name" with one slash. @return path */
char *calc_as_path(const char *folder, const char *name, char path[CALC_AS_PATH_SIZE]);

extern const calc_as_tool calc_as_taylor_nd, calc_as_taylor_rank, calc_as_taylor_balance;
extern const calc_as_tool calc_as_aiak;
extern const calc_as_tool calc_as_galvatron, calc_as_galvatron_paddle;
extern const calc_as_tool calc_as_mindspeed;

#endif
