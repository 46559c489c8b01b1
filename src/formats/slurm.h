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

/** Read the options of a directive, which are the text from behind "#SBATCH" to the end of the
 * line. Others than those of the size are passed over. */
void calc_slurm_directive(calc_slurm *job, const char *at, const char *end);

/** The value of a variable that Slurm sets for the job, or of WORLD_SIZE.
 *  @param name  SLURM_NNODES and so on, `length` bytes
 *  @return 0: it is another variable, or the directives do not say */
int64_t calc_slurm_value(const calc_slurm *job, const char *name, size_t length);

#endif
