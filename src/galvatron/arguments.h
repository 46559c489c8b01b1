/** @file arguments.h  Reads the arguments of Galvatron's search under upstream's names: from a YAML
 *  file with a `search_engine` block, from a JSON file, and from a command line. One table serves
 *  all three. */
#ifndef CALC_GALVATRON_ARGUMENTS_H
#define CALC_GALVATRON_ARGUMENTS_H

#include "calc.h"
#include "galvatron/cost.h"
#include "galvatron/profiles.h"

enum { CALC_GALVATRON_PATH_SIZE = 4096 };

/** The kind of value of an argument. */
typedef enum calc_galvatron_kind {
    CALC_GALVATRON_TAKES_COUNT,  /**< a whole number from .lo to .hi */
    CALC_GALVATRON_TAKES_LIMIT,  /**< as above, or -1: no limit, or all */
    CALC_GALVATRON_TAKES_REAL,   /**< a number from .lo to .hi */
    CALC_GALVATRON_TAKES_TRUTH,  /**< 0, 1, true or false */
    CALC_GALVATRON_TAKES_WORD,   /**< one of .choices */
    CALC_GALVATRON_TAKES_TEXT,   /**< a name or a path, CALC_GALVATRON_PATH_SIZE bytes */
    CALC_GALVATRON_TAKES_LAYERS, /**< a whole number, or one for each type of layers: "24,24" */
    CALC_GALVATRON_TAKES_UNUSED  /**< upstream has it, but it does not affect the search */
} calc_galvatron_kind;

/** A size of the layers, by type. */
typedef struct calc_galvatron_sizes {
    int count;
    int64_t of[CALC_GALVATRON_TYPES];
} calc_galvatron_sizes;

typedef struct calc_galvatron_arguments {
    calc_galvatron_request request;
    calc_galvatron_sizes hidden_size, num_layers, seq_length;
    char model_size[CALC_GALVATRON_PATH_SIZE];
    char hf_model_name_or_path[CALC_GALVATRON_PATH_SIZE];
    char path[CALC_GALVATRON_FILE_COUNT][CALC_GALVATRON_PATH_SIZE]; /**< of profiles, by
                                                    calc_galvatron_file; "": upstream's place */
    char output_config_path[CALC_GALVATRON_PATH_SIZE];
    char unused[512]; /**< given arguments, other than false, that have no effect,
                         separated by commas */
} calc_galvatron_arguments;

/** One argument. */
typedef struct calc_galvatron_argument {
    const char *block; /**< block of a file: "hardware_info" */
    const char *name;
    const char *also; /**< name on the command line of earlier releases: "--disable_sdp"; NULL */
    calc_galvatron_kind kind;
    size_t offset;
    double lo, hi;
    const char *const *choices;
    const char *preset; /**< the default; NULL: none */
    const char *doc;
} calc_galvatron_argument;

/** Words of arguments, in the order of the enums in cost.h. */
extern const char *const calc_galvatron_dp_words[],
    *const calc_galvatron_schedule_words[], *const calc_galvatron_precision_words[],
                                                *const calc_galvatron_time_words[],
                                                    *const calc_galvatron_memory_words[];

/** All arguments, from arguments.fields.h; the last row has no name. */
extern const calc_galvatron_argument calc_galvatron_argument_rows[];

/** Fills in the defaults. */
void calc_galvatron_arguments_start(calc_galvatron_arguments *out);

/** Sets an argument.
 *  @param why  on failure, the allowed and the given value
 *  @return whether the value is allowed */
bool calc_galvatron_arguments_set(calc_galvatron_arguments *out, const calc_galvatron_argument *row,
                                  const char *value, char *why, size_t size);

/** Reads the arguments of a YAML or JSON file.
 *  @param name  of the file, for errors; relative paths in its `profile_dir` and `hardware_dir`
 *  start at its folder
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_galvatron_arguments_read(calc_galvatron_arguments *out,
                                                        const char *text, size_t length,
                                                        const char *name, calc_errors *errors);

/** Combines the arguments that give the layers, the model's name and the paths.
 *  @param why  filled if values contradict one another or are missing */
bool calc_galvatron_arguments_finish(calc_galvatron_arguments *out, char *why, size_t size);

/** The paths of the profiles. Borrows. */
calc_galvatron_paths calc_galvatron_arguments_paths(const calc_galvatron_arguments *arguments);

#endif
