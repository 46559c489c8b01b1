/** @file launcher.h  Puts the script of an export into a job of a cluster, by the templates in
 * launchers/. */
#ifndef CALC_FORMATS_LAUNCHER_H
#define CALC_FORMATS_LAUNCHER_H

#include "formats/framework.h"
#include "io/output.h"

#define CALC_LAUNCHERS "slurm", "kubernetes"

/** Writes a job that runs the script of a framework (calc_settings_write()) on its nodes. Of a
 * template, lines that begin with @MANY@ or @ONE@ are for several nodes or for one; @SCRIPT@ is
 * indented as it stands there.
 *  @param launcher  one of CALC_LAUNCHERS
 *  @return CALC_OK; CALC_ERR_UNSUPPORTED with an error if no single script starts the layout;
 * CALC_ERR_RULE with one if it is on more than a node, and not on whole nodes; CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_launcher_write(calc_output *out, const calc_framework *framework,
                                              const char *launcher, const calc_exec *exec,
                                              const calc_settings *settings, int64_t node_procs,
                                              calc_errors *errors);

/** Templates, by launcher and framework. */
extern const calc_unread_keys calc_launcher_slurm_train, calc_launcher_slurm_vllm,
    calc_launcher_slurm_sglang, calc_launcher_kubernetes_train, calc_launcher_kubernetes_vllm,
    calc_launcher_kubernetes_sglang;

#endif
