/** @file inputs.h  Finds, reads, overrides and checks the three documents of a run; every error has
 *  the place where a person would look for it. */
#ifndef CALC_CLI_SHELL_INPUTS_H
#define CALC_CLI_SHELL_INPUTS_H

#include <stddef.h>

#include "calc.h"
#include "cli/draw/human.h"
#include "cli/shell/find.h"
#include "cli/shell/opt.h"
#include "designs.h"
#include "formats/import.h"
#include "formats/plan.h"
#include "io/json_put.h"
#include "io/remark.h"

/* Identifies the bytes of a document by SHA-256, like sha256sum. The only file
 * that uses libmd. */

enum { CALC_DIGEST_TEXT = 65 /**< 64 hexadecimal digits and the terminating 0 */ };

/** The digest of some bytes in hexadecimal digits. @return text */
char *calc_digest_text(const void *bytes, size_t length, char text[CALC_DIGEST_TEXT]);

/** The row of --set, which means the same in every command. */
#define CALC_INPUTS_SET(X)                                                                         \
    X(SET, "set", "FIELD=VALUE",                                                                   \
      .doc = "override a field of the documents: tp=8, mem1.GiB=141, mem1.GiB=80GB, "              \
             "networks[1].bandwidth=400Gb/s; calc show fields lists them; app.X, sys.X or exe.X "  \
             "says "                                                                               \
             "which document is meant",                                                            \
      .repeated = true)

enum { CALC_INPUTS = 3 /**< APP SYS EXE, in this order: calc_kind counts them */ };

/** One document with its text. */
typedef struct calc_input {
    char path[CALC_FIND_PATH_MAX];
    char name[256]; /**< for people */
    calc_text text; /**< owned */
    bool foreign;   /**< in another planner's format: fields of attention that it lacks come from
                     *  the model */
    const struct calc_framework *framework; /**< of a script: whose it is */
    bool partial; /**< for the caller to set: an execution may leave required keys out ... */
    int absent;   /**< ... of which it leaves out so many */
} calc_input;

/** Systems that stages name, by their index in the list, and the system of the prefill pool last:
 *  as they were read, with their texts; "" for the system of the run. */
typedef struct calc_inputs_other {
    calc_system system[CALC_MAX_CHIPS + 1];
    char sha256[CALC_MAX_CHIPS + 1][CALC_DIGEST_TEXT];
    char remark[CALC_MAX_CHIPS + 1][CALC_REMARK_SIZE]; /**< io/remark.h */
} calc_inputs_other;

typedef struct calc_inputs calc_inputs;
struct calc_inputs {
    calc_app app;
    calc_system system;
    calc_exec exec;
    calc_inputs_other other;       /**< systems that its stages and its prefill pool name */
    calc_input input[CALC_INPUTS]; /**< by calc_kind */
    /** Gives `exec` what its document, if there is one, and assignments do not say, once model and
     *  machine are read. NULL: an execution that leaves required keys out is an error. */
    calc_status (*complete)(calc_inputs *inputs, const char *const *set, size_t set_count,
                            calc_errors *errors);
    const char *procs, *batch, *compat; /**< for complete(): options as typed; NULL: not given */
    const char *framework; /**< for complete(): that runs the layout, as for --for; NULL: any */
    /** Likewise: calc_sweep_options.runs of that framework, if it has to do more; else NULL */
    calc_status (*runs)(const void *context, const calc_app *app, const calc_system *system,
                        const calc_exec *exec, int *known, bool *runs);
    const void *runs_context;
    const char *who; /**< complete() begins what it says with this; NULL: nothing */
    bool silent;     /**< complete() says nothing of what it chose */
    bool fits;       /**< complete() sets it: what it chose can run */
};

/** What is wrong with a file that is neither a table nor settings, nor a document: if it is what a
 * run left behind, that alone, and how it is read.
 *  @param prints  set if it has times of a run and the arguments of its layout, too; the errors
 * then stay. NULL: no difference. It is as it was for other files
 *  @return the status of the first error */
calc_status calc_input_is_log(const char *path, bool *prints, calc_errors *errors);

/** Find and read the systems that an execution names: those of its stages and of its prefill pool.
 *  @param system  of the run, and `path` its file: stages and pool may name it, too
 *  @param other   filled; the caller keeps it as long as the execution is used
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_inputs_systems(calc_exec *exec, const calc_system *system,
                                              const char *path, calc_inputs_other *other,
                                              calc_errors *errors);

/** calc_software_read() of a name in the data directories. */
CALC_MUST_USE calc_status calc_inputs_software(calc_exec *exec, calc_errors *errors);

/** Read and parse one document. The previous contents of `input` are freed: start with {0}. A model
 *  may also be a configuration of Hugging Face, or be part of a script or a configuration of a
 *  framework (below), and an execution a strategy file of Galvatron:
 *  remarks on them go to standard error.
 *  @param object  a calc_app, calc_system or calc_exec, by kind
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_input_load(calc_input *input, calc_kind kind, void *object,
                                          const char *argument, calc_errors *errors);

/** The same, where its text and its name are not needed. */
CALC_MUST_USE calc_status calc_document_load(calc_kind kind, const char *argument, void *object,
                                             calc_errors *errors);

/** The remark on a model or a machine that was loaded: empty, or what to know before using its
 *  numbers (io/remark.h), and which similar machine is calibrated.
 *  @param object  a calc_app or a calc_system, by kind
 *  @param text    filled, CALC_REMARK_SIZE bytes
 *  @return text */
char *calc_input_remark(const calc_input *input, calc_kind kind, const void *object, char *text);

/** The remarks on all documents of a run, each once. */
typedef struct calc_inputs_remarks {
    size_t count;
    char text[CALC_INPUTS + CALC_MAX_CHIPS + 1][CALC_REMARK_SIZE];
} calc_inputs_remarks;

/** Write them, a line each. */
void calc_inputs_write_remarks(calc_output *out, const calc_inputs *inputs);

/** Write them as the member "remarks", an array. */
void calc_inputs_put_remarks(calc_put *put, const calc_inputs *inputs);

/** Load all three, apply the assignments in order and check the rules. All errors are collected;
 *  later steps are left out once a step fails. With inputs->complete, argument EXE may be NULL: the
 *  layout is then that of APP if it is a script, and SYS may be an execution that names the systems
 * of its stages, the first of which is SYS.
 *  @param set  assignments FIELD=VALUE
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_inputs_load(calc_inputs *inputs,
                                           const char *const argument[CALC_INPUTS],
                                           const char *const *set, size_t set_count,
                                           calc_errors *errors);

/** The same for a command whose arguments are APP SYS EXE.
 *  @param first  the index of APP
 *  @param set    row of its option --set */
CALC_MUST_USE calc_status calc_inputs_load_args(calc_inputs *inputs, const calc_args *args,
                                                size_t first, int set, calc_errors *errors);

/** Apply the assignments of an option to loaded documents.
 *  @param opt  row of the option --set
 *  @param app, system, exec  NULL: there is none, and a field of it is an error
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_inputs_set(const calc_args *args, int opt, calc_app *app,
                                          calc_system *system, calc_exec *exec,
                                          calc_errors *errors);

/** Check that at most one of them is standard input. @return the mistake; NULL if there is none */
const char *calc_inputs_check_stdin(const calc_args *args);

/** Free the texts; fine on {0}. */
void calc_inputs_free(calc_inputs *inputs);

enum { CALC_SCRIPT_PARAMETERS = 2 * CALC_HUMAN_MAX + 40 };

/** Keys that are not read. Start with {.title = that of the framework}. */
typedef struct calc_script_unread {
    const char *title;
    size_t told, harmless;
} calc_script_unread;

/** Names a key that is not read, or counts it: calc_import.unread.
 *  @param context  a calc_script_unread */
void calc_script_tell_unread(void *context, const char *key, calc_unread what, const char *assumed);

/** Says how many were not named. */
void calc_script_tell_rest(const calc_script_unread *unread);

/** "70.55 B parameters". @return text */
char *calc_script_parameters(const calc_app *app, char text[CALC_SCRIPT_PARAMETERS]);

/** Says what was read: the framework, sizes, processors, batch.
 *  @param app  NULL: the model was not read */
void calc_script_tell(const calc_framework *framework, const calc_app *app, const calc_exec *exec);

/** Says what a server is not told, and a run needs. @param app  NULL: it is not known */
void calc_script_tell_requests(const calc_plan *plan, const calc_app *app, const calc_exec *exec);

/** The model that the settings describe, or that they name and models/ has, if it is wanted; the
 *  layout takes what a published name says of frozen weights, or of served ones without a model.
 *  @return CALC_OK, or an error that says what is missing */
CALC_MUST_USE calc_status calc_script_model(const calc_import *import, const calc_plan *plan,
                                            calc_app *app, calc_exec *exec, calc_errors *errors);

/** A layout, and the names of the three documents on a command line. Borrows everything. */
typedef struct calc_start {
    const calc_args *args; /**< of the command that found it */
    int set;               /**< row of its option --set */
    const calc_app *app;
    const calc_system *system;
    const calc_exec *exec;
    const char *names[3];                /**< APP SYS EXE; EXE "-": standard input */
    const calc_designs_builder *designs; /**< swept fields of models and machines; NULL: none */
    uint64_t design;                     /**< whose values the layout was found with */
} calc_start;

/** calc_export_starter() and calc_export_starts(), where they answer (calc_is_yes()). */
const char *calc_start_framework(const calc_app *app, const calc_system *system,
                                 const calc_exec *exec);

bool calc_start_exists(const calc_app *app, const calc_system *system, const calc_exec *exec);

/** Members of the open object, each an array of words: "run", and "export" if a framework can start
 *  the layout. They include assignments of model and machine; assignments of the layout are part of
 *  its execution already. */
void calc_start_put(calc_put *put, const calc_start *start);

/** The first of them on a line. */
void calc_start_write(calc_output *out, const calc_start *start);

#endif
