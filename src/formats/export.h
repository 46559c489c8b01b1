/** @file export.h  Turns a model and its layout into settings of a framework, and lists the fields
 *  that the settings cannot carry. */
#ifndef CALC_FORMATS_EXPORT_H
#define CALC_FORMATS_EXPORT_H

#include "calc.h"
#include "formats/framework.h"
#include "formats/settings.h"
#include "spec/field.h"
#include "spec/value_text.h"

/** Builds the settings of a framework for a model and its layout.
 *  @param node_procs  processors of one node, at least 1
 *  @param settings    start with {0}; free with calc_settings_free()
 *  @return CALC_OK; CALC_ERR_RULE if sizes contradict each other; CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_export(const calc_framework *framework, const calc_app *app,
                                      const calc_exec *exec, int64_t node_procs,
                                      calc_settings *settings, calc_errors *errors);

/** Calls `tell` with each field that the settings do not carry, because reading them back gives
 *  another value. Four groups are not reported: fields that are absent from the files, network
 *  indices, fields of the model and of requests and the number of processors where they are set
 *  elsewhere (calc_framework.elsewhere), and fields of the model if the framework's files do not
 *  describe a model. What the code of the model decides of the layout is reported, but is none that
 *  the framework cannot have.
 *  @return CALC_OK, or CALC_ERR_NOMEM: nothing is told */
CALC_MUST_USE calc_status calc_export_lost(const calc_framework *framework, const calc_app *app,
                                           const calc_exec *exec, const calc_settings *settings,
                                           calc_tell_lost *tell, void *context);

/** Finds what a framework's software does whatever it is told: the fields of kernels, overlap and
 *  memory that come back from its settings with another value than a layout asks for, as
 *  calc_import_plan() reads them. Fields that say which rank holds and computes what are left out:
 *  a framework that cannot be told these does not run the layout.
 *  @param software  those fields are set and stated (calc_software_state()), the others stay
 *  @return CALC_OK, also if the settings cannot be read back: nothing is stated; CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_export_software(const calc_framework *framework, const calc_app *app,
                                               const calc_exec *exec, calc_exec *software);

/* Explains why a framework cannot run a layout: the checks of its arguments
 * refuse the combination, or its settings lack a field without which it is another layout. A
 * layout can be legal for calc and still not start. */

/* Each answers CALC_OK, or CALC_ERR_NOMEM: without memory nothing is said of a layout. */

/** Calls `tell` with each reason for which the framework cannot run this layout, a sentence that
 *  uses our field names. Depends on the arguments only.
 *  @param count  set to the number of reasons; 0: the framework starts with the settings of
 *  calc_export() */
CALC_MUST_USE calc_status calc_export_refused(const calc_framework *framework, const calc_app *app,
                                              const calc_exec *exec,
                                              void (*tell)(void *context, const char *reason),
                                              void *context, size_t *count);

/** Calls `tell` with each rule of a framework by which it refuses a layout that was imported, with
 *  its model; what its settings cannot say is none. */
void calc_import_refused(const calc_framework *framework, const calc_app *app,
                         const calc_exec *exec, void (*tell)(void *context, const char *reason),
                         void *context);

/** Whether a framework can train or serve a layout on all of its systems.
 *  @param system  for parts of the layout that name no other; NULL: any
 *  @param runs    set */
CALC_MUST_USE calc_status calc_export_runs(const calc_framework *framework, const calc_app *app,
                                           const calc_system *system, const calc_exec *exec,
                                           bool *runs);

/** The first framework that can train or serve a layout on all of its systems, as a value of `calc
 *  export --to`.
 *  @param system     for parts of the layout that name no other
 *  @param any_model  what a framework cannot be told of the model does not count
 *  @param name       set; NULL if there is none */
CALC_MUST_USE calc_status calc_export_starter(const calc_app *app, const calc_system *system,
                                              const calc_exec *exec, bool any_model,
                                              const char **name);

/** Whether a framework for the system has a setting of such a form: CALC_HOW_RECOMPUTED for the
 *  number of recomputed blocks of each stage, CALC_HOW_STAGES for their blocks, even if an end of
 *  the model stands alone. */
bool calc_export_says(const calc_system *system, calc_how how);

/** Whether there is one. Where no framework known here trains, or serves, on the platform of the
 *  system at all, or a part of the weights is frozen, nobody's rules refuse the layout: true.
 *  @param known  notes what frameworks can be told of the model, which takes longest, for another
 *                layout of it on a system; 0: not yet known. NULL: this is the only layout */
CALC_MUST_USE calc_status calc_export_starts(const calc_app *app, const calc_system *system,
                                             const calc_exec *exec, int *known, bool *starts);

#endif
