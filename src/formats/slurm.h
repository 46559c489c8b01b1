/** @file slurm.h  The size of a job in the directives of a batch script of Slurm, "#SBATCH
 * --nodes=4" (https://slurm.schedmd.com/sbatch.html), and the variables that follow from it. */
#ifndef CALC_FORMATS_SLURM_H
#define CALC_FORMATS_SLURM_H

#include <stddef.h>
#include <stdint.h>

/** What the directives ask for; 0: they do not say. Start with {0}. */
typedef struct calc_slurm {
    int64_t nodes, tasks, node_tasks, gpus, node_gpus, task_gpus;
} calc_slurm;

#endif
