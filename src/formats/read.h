/** @file read.h  Reads settings from a command line, a shell script, or a YAML, JSON or TOML
 *  file. */
#ifndef CALC_FORMATS_READ_H
#define CALC_FORMATS_READ_H

#include <stddef.h>
#include <stdint.h>

#include "formats/settings.h"

/** Reads options of all commands of a shell script, or a list of options, with quotes, comments,
 * continued lines, arrays, arithmetic, variables that the text itself sets (TP=8, then $TP, ${TP}
 * or ${TP:-4}), and the size of the job from directives of Slurm
 * (https://slurm.schedmd.com/sbatch.html): options
 *  --nnodes and --nproc-per-node before all others, and Slurm's variables. Of an if and a case
 *  whose words are known only the branch that runs is read; functions are read where they are
 *  called. Nothing is executed: what is not known stays as it is written, and so does a variable
 *  whose value depends on what runs (calc_setting.unsure).
 *  @param name  of its file, beside which scripts are that it reads (source), for their variables;
 *               NULL: none
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_settings_from_script(calc_settings *settings, const char *text,
                                                    size_t length, const char *name);

/** Reads a text in any syntax: nested mappings as dotted keys with scalars and lists of scalars;
 *  tables and dotted keys of TOML are such. Lists in lists add their items to the outer list.
 *  Mappings in lists and tags are skipped, list.0.key only in a whole text; null is no value. An
 *  alias, also of "<<", is what it stands for; one that is not known is its name, "*name". NaN and
 *  Infinity of JSON are values, as Python writes them.
 *  @param name  the text's name in errors
 *  @return CALC_OK, CALC_ERR_SYNTAX with the place of the first mistake, or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_settings_from_text(calc_settings *settings, calc_syntax syntax,
                                                  const char *text, size_t length, const char *name,
                                                  calc_errors *errors);
CALC_MUST_USE calc_status calc_settings_from_toml(calc_settings *settings, const char *text,
                                                  size_t length, const char *name,
                                                  calc_errors *errors);

/** Reads what the containers of a manifest of Kubernetes or of a compose file run, as a script, and
 *  what a configuration of Ray Serve says of its engine. Of another text nothing is read. */
CALC_MUST_USE calc_status calc_settings_from_manifest(calc_settings *settings, const char *text,
                                                      size_t length, const char *name,
                                                      calc_errors *errors);

/** The version of libyaml: "0.2.5". */
const char *calc_settings_yaml_library(void);

/* The size of a job in the directives of a batch script of Slurm, "#SBATCH
 * --nodes=4" (https://slurm.schedmd.com/sbatch.html), and the variables that follow from it. */

/** What the directives ask for; 0: they do not say. Start with {0}. */
typedef struct calc_slurm {
    int64_t nodes, tasks, node_tasks, gpus, node_gpus, task_gpus;
} calc_slurm;

/** Reads the options of a directive, the text from behind "#SBATCH" to the end of the line; others
 *  than those of the size are passed over. */
void calc_slurm_directive(calc_slurm *job, const char *at, const char *end);

/** The value of a variable that Slurm sets for the job, or of WORLD_SIZE; 0: it is another, or the
 *  directives do not say. */
int64_t calc_slurm_value(const calc_slurm *job, const char *name, size_t length);

/** Puts its sizes as options of the launcher. @return false: there is no memory */
bool calc_slurm_put(const calc_slurm *job, calc_settings *settings);

/** Whether a batch script starts with the variable: it does without WORLD_SIZE. */
bool calc_slurm_sets(const char *name, size_t length);

/* Words of a script, in a text that ends with '\0'. */

enum { CALC_SHELL_LOOKS = 10000 };

/** Whether a character may be of the name of a variable. */
bool calc_shell_is_name(char c);

/** How many such characters begin a text. */
size_t calc_shell_name(const char *at, const char *end);

/** The end of what begins with `open` at `at`; NULL if it is 4096 bytes away, of a brace 65536.
 *  @param looks  counts the calls: after CALC_SHELL_LOOKS nothing is found, for texts that are made
 *                to cost time */
const char *calc_shell_closing(const char *at, const char *end, char open, char close, int *looks);

/** The closing quote of a string that begins at `at`; the end of the text if there is none. */
const char *calc_shell_string_end(const char *at, const char *end);

/** Whether a text holds options and is not one value. */
bool calc_shell_has_options(const char *at, const char *end);

/** Where the text of a command begins whose output it is, as of $(cat <<END ...), if that holds
 *  options; else NULL. */
const char *calc_shell_options(const char *at, const char *end, int *looks);

/** The end of a value; NULL if a string in it holds options or does not end. */
const char *calc_shell_value_end(const char *at, const char *end, int *looks);

/** The word of this number, from 1, between `at` and `last`, quotes included.
 *  @param end     filled with where it ends
 *  @param unsure  set where it, or one before it, may be several words, or none; and where all are
 *                 more than 16 KiB
 *  @return NULL: there are fewer */
const char *calc_shell_word(const char *at, const char *last, size_t number, const char **end,
                            bool *unsure);

/** Whether a value has the variable: $NAME or ${NAME...}. */
bool calc_shell_mentions(const char *at, const char *end, const char *name, size_t length);

/** The value of an expression of whole numbers, by the rules of a shell; NaN: it is none. */
double calc_shell_sum(const char *text);

/* Branches of scripts that their own words decide. */

enum { CALC_SHELL_WORD = 256 };

/** Who knows what words of a script are worth. */
typedef struct calc_shell_values {
    /** @param word  filled with the value without quotes, CALC_SHELL_WORD bytes
     *  @return false: it is not known, or does not fit */
    bool (*value)(void *context, const char *at, const char *end, char *word);
    void *context;
} calc_shell_values;

/** Puts what launchers take from variables, as options, and the list of cards of DeepSpeed's.
 *  @return false: there is no memory */
bool calc_launched(calc_settings *settings, const calc_shell_values *values);

/** Blanks what the if or the case that begins at `at` does not run, with the words that decide it,
 *  where one test of known words, or a known word, decides; else leaves the text as it is.
 *  @param at  in a text that ends with '\0' */
void calc_shell_decide(char *at, const calc_shell_values *values);

#endif
