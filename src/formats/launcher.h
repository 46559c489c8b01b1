/** @file launcher.h  Puts the script or the file of an export into a job of a cluster, by the
 * templates in launchers/: LAUNCHER_FRAMEWORK.txt; else LAUNCHER_serve.txt of the engines that it
 * names, and LAUNCHER_train.txt of scripts that train, and of files for which the framework has a
 * .command. A new launcher is a file; for another engine it is lines of one.
 *
 * In a template these words stand for: @NAME@, @TITLE@ the framework; @NODES@, @OTHERS@, @PER_NODE@
 * nodes, those but the first, processors of one; @SERVERS@ servers that do not know of each other,
 * as replicas are that share no experts, and nodes are those of one; @LOCAL@, @RANKS@ replicas on a
 * node, processors that each has there; @RESOURCE@ what Kubernetes calls a processor;
 * @COMMAND@ and @SUFFIX@ the framework's .command and the ending of its files; @SCRIPT@ the script
 * or the file of a server, indented as the word is; @OPTIONS@ its options as a list.
 *
 * A line that begins with the name of a framework, as @vllm@, is for it alone, with @script@ and
 * @file@ for those. A line that begins with marks, or has them next, is for some layouts: @ONE@ on
 * one node, @MANY@ on several; of these
 * @SPLIT@ every replica on several, @WIDE@ more than one such, which share experts, @SHARED@ such
 * that are each on a node; @SEVERAL@ several servers. What is SHARED, WIDE or SEVERAL is only
 * started by a template that says so. Lines from @EACH@ to @END@ are written for each pool of a
 * disaggregated layout, which only such a template starts, with the words of the pool; @PREFILL@
 * and @DECODE@ lines are for one of them, @POOL@ for both, and @ALONE@ for layouts without pools.
 */
#ifndef CALC_FORMATS_LAUNCHER_H
#define CALC_FORMATS_LAUNCHER_H

#include "base/buffer.h"
#include "formats/framework.h"
#include "io/output.h"

/** The templates, "slurm_train", and the launchers that there are: values of --launcher, NULL at
 *  the end. */
extern const calc_embedded calc_launcher_list[];
extern const char *const calc_launcher_names[];

/** What is to be launched: a layout, or the servers of its pools. */
typedef struct calc_launched {
    const calc_framework *framework;
    const char *launcher; /**< one of calc_launcher_names */
    int64_t node_procs;   /**< processors of a node */
    const calc_app *app;
    const calc_exec *exec;
} calc_launched;

/** Whether a template starts the layout, if there is one of the framework. */
bool calc_launcher_starts(const calc_launched *launched);

/** Writes the job.
 *  @return CALC_OK; CALC_ERR_UNSUPPORTED with an error if no template starts the layout;
 * CALC_ERR_RULE with one if it, or a replica, is on more than a node, and not on whole nodes;
 * CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_launcher_write(calc_output *out, const calc_launched *launched,
                                              calc_errors *errors);

#endif
