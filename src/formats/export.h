/** @file export.h  A model and its layout as settings of a framework, and what it cannot be told.
 */
#ifndef CALC_FORMATS_EXPORT_H
#define CALC_FORMATS_EXPORT_H

#include "formats/framework.h"
#include "formats/settings.h"

/** The settings of a framework for a model and its layout.
 *  @param node_procs  processors of one node, at least 1
 *  @param settings    start with {0}; free with calc_settings_free()
 *  @return CALC_OK; CALC_ERR_RULE if sizes contradict each other; CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_export(const calc_framework *framework, const calc_app *app,
                                      const calc_exec *exec, int64_t node_procs,
                                      calc_settings *settings, calc_errors *errors);

/** Call `tell` with each field that the settings do not carry: reading them back gives another
 *  value. Fields that are absent from the files, network indices, what is said elsewhere
 *  (calc_framework.elsewhere), and the fields of the model where the framework's files do not
 *  describe one, are not told.
 *  @param value   as in a file
 *  @param layout  without it this would be another layout, or another model; false: constants of
 *                 calc's own, kernels, overlaps, formats on the way
 *  @return how many there are */
size_t calc_export_lost(const calc_framework *framework, const calc_app *app, const calc_exec *exec,
                        const calc_settings *settings,
                        void (*tell)(void *context, const char *field, const char *value,
                                     bool layout),
                        void *context);

#endif
