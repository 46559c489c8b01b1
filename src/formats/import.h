/** @file import.h  Settings of a framework as a model and its layout. */
#ifndef CALC_FORMATS_IMPORT_H
#define CALC_FORMATS_IMPORT_H

#include "formats/framework.h"
#include "formats/settings.h"

/** What is read. */
typedef struct calc_import {
    const calc_framework *framework;
    const calc_settings *settings;
    const char *name; /**< what errors call a file; NULL for words of a command line */
    int64_t procs;    /**< processors, whatever the settings say; 0: as they say */
    /** Called with each key that the framework's table does not have, and with those whose value
     *  the framework computes; NULL: not called. */
    void (*ignored)(void *context, const char *key);
    void *context;
} calc_import;

/** Read the plan only.
 *  @return CALC_OK, or CALC_ERR_RANGE or CALC_ERR_RULE with errors that name the setting */
CALC_MUST_USE calc_status calc_import_plan(const calc_import *import, calc_plan *plan,
                                           calc_errors *errors);

/** Read a model and its layout. Sizes that the settings do not say are 0 in *app.
 *  @return CALC_OK, or CALC_ERR_RANGE or CALC_ERR_RULE with errors that name the setting */
CALC_MUST_USE calc_status calc_import_run(const calc_import *import, calc_app *app, calc_exec *exec,
                                          calc_errors *errors);

/** Whether the settings said all that a model needs; else an error names what is missing. */
CALC_MUST_USE calc_status calc_import_complete(const calc_import *import, const calc_app *app,
                                               calc_errors *errors);

#endif
