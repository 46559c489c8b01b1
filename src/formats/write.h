/** @file write.h  Writes settings as a file of a framework. */
#ifndef CALC_FORMATS_WRITE_H
#define CALC_FORMATS_WRITE_H

#include "formats/framework.h"
#include "formats/settings.h"
#include "io/output.h"

/** Writes the settings in the syntax of the framework. If the syntax has comments, a comment at the
 *  top gives the framework's version. Dotted keys become nested tables. */
void calc_settings_write(calc_output *out, const calc_framework *framework,
                         const calc_settings *settings);

/** Writes the settings of both pools of a disaggregated layout as one script that starts either.
 *  @param framework  has options of pools
 *  @param settings   by pool
 *  @param procs      processors of a server, by pool
 *  @param prefill_system  system of the prefill pool, if it is another one; else "" */
void calc_settings_write_pools(calc_output *out, const calc_framework *framework,
                               const calc_settings settings[CALC_POOL_COUNT],
                               const int64_t procs[CALC_POOL_COUNT], const char *prefill_system);

#endif
