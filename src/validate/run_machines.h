/** @file run_machines.h  The machine of a published run: its name there, and its file in systems/.
 */
#ifndef CALC_VALIDATE_RUN_MACHINES_H
#define CALC_VALIDATE_RUN_MACHINES_H

#include "validate/run_sources.h"

/** One kind of processor. */
typedef struct calc_run_machine {
    const char *contains; /**< its name in the column `hardware` contains this */
    const char *source;   /**< only in the source of this name; NULL: in all */
    const char *system;   /**< name of the file in systems/; NULL: there is none */
    const char *family;   /**< "A100", "H100", "Blackwell", ...: machines alike */
} calc_run_machine;

/** The machine of a row: its own for an own run, otherwise the machine that `hardware` means; NULL
 *  if not known. */
const calc_run_machine *calc_run_machine_of(const calc_runs_row *row,
                                            const calc_run_source *source);

/** The family of a machine's file; "" if no published runs are on it. */
const char *calc_run_machine_family(const char *system);

/** Bandwidth of a processor to other nodes, as printed: "8x HDR IB 200 Gbps per node", "4 x 100
 *  Gb/s", "400 Gb/s per GPU" [bytes/s]; 0 if no rate is. */
double calc_run_machine_network(const calc_runs_row *row);

#endif
