/** @file import.h  Reads settings of a framework as a model and its layout. */
#ifndef CALC_FORMATS_IMPORT_H
#define CALC_FORMATS_IMPORT_H

#include "formats/framework.h"
#include "formats/settings.h"
#include "io/text.h"

/** The input. */
typedef struct calc_import {
    const calc_framework *framework;
    const calc_settings *settings;
    const char *name; /**< the file's name in errors; NULL for words of a command line */
    int64_t procs;    /**< processors, overriding the settings; 0: as in the settings */
    bool model;       /**< the model is wanted: a setting that changes it must be read */
    /** Called with each key that is not read; NULL: not called.
     *  @param key      NULL: assumed is said of the whole file
     *  @param assumed  what is assumed for a value that the framework is to compute, or follows
     * from a key that is not read, a sentence; NULL if nothing is */
    void (*unread)(void *context, const char *key, calc_unread what, const char *assumed);
    void *context;
} calc_import;

/** Reads the plan only.
 *  @return CALC_OK, or CALC_ERR_RANGE or CALC_ERR_RULE with errors that name the setting */
CALC_MUST_USE calc_status calc_import_plan(const calc_import *import, calc_plan *plan,
                                           calc_errors *errors);

/** Reads a model and its layout. Sizes that the settings do not give are 0 in *app.
 *  @return CALC_OK, or CALC_ERR_RANGE or CALC_ERR_RULE with errors that name the setting */
CALC_MUST_USE calc_status calc_import_run(const calc_import *import, calc_app *app, calc_exec *exec,
                                          calc_errors *errors);

/** Whether the settings describe a complete model; else an error names the missing sizes. */
CALC_MUST_USE calc_status calc_import_complete(const calc_import *import, const calc_app *app,
                                               calc_errors *errors);

enum { CALC_NAMED_PATH_SIZE = 4096, CALC_UNREAD_TEXT = 160 };

/** Whether a row is of the size of the job, which .procs gives instead. @param row  NULL: none */
bool calc_row_is_of_job(const calc_setting_row *row);

/** Whether a setting names files whose settings come before the text's own: a word of a command, an
 *  option for it, or the files that a file adds to. What calc_detect() leaves of them is not here.
 */
bool calc_setting_names_files(const calc_setting *setting);

/** Opens a file that a setting names: as it says from the folder of the file at hand or one above
 *  it, or beside that by its last name. A text without a name opens none.
 *  @param name  of the file at hand; NULL: a text without one, or words of a command line
 *  @param path  filled with where it is */
CALC_MUST_USE calc_status calc_named_open(const char *name, const calc_setting *setting,
                                          char path[CALC_NAMED_PATH_SIZE], calc_text *text);

/** Adds an error about a setting, with its place or the number of the argument.
 *  @param setting  NULL: none is to blame
 *  @param hint     NULL: none, or that a script's variables are not known */
calc_status calc_import_wrong(const calc_import *import, const calc_setting *setting,
                              calc_status status, const char *hint, const char *text,
                              calc_errors *errors);

/** What a setting without a row changes, also as part of the value of an option, or of a launcher.
 *  @param sentence  filled with what is assumed then, or ""
 *  @param key       set to what tells sentences apart; NULL: there is none */
calc_unread calc_import_unread(const calc_framework *framework, const calc_setting *setting,
                               char sentence[CALC_UNREAD_TEXT], const char **key);

/** Calls .unread, if there is one. */
void calc_import_tell(const calc_import *import, const char *key, calc_unread what,
                      const char *assumed);

/* Reads a text as a file of a framework, and finds of which by the keys it has. */

/** Reads a text: JSON if it begins with a brace, TOML if it begins with a table or "key = value",
 *  else YAML or a script, whichever has more keys that are read. Files that it names are read, too.
 *  @param framework  NULL: set to the framework that reads most of the keys; it knows at least half
 *                    of them
 *  @param name       of the text's file; NULL: it has none, and no file is read
 *  @param settings   start with {0}; free with calc_settings_free()
 *  @return CALC_OK; CALC_ERR_SYNTAX with the place of the first mistake; CALC_ERR_UNSUPPORTED if no
 *  key is read, or several frameworks read as many; CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_detect(const calc_framework **framework, const char *text,
                                      size_t length, const char *name, calc_settings *settings,
                                      calc_errors *errors);

/** The same for the words of a command line. */
CALC_MUST_USE calc_status calc_detect_options(const calc_framework **framework,
                                              const char *const *word, size_t count,
                                              calc_settings *settings, calc_errors *errors);

#endif
