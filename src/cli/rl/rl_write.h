/** @file rl_write.h  Writes a step of reinforcement learning: for people, and as JSON. */
#ifndef CALC_CLI_RL_RL_WRITE_H
#define CALC_CLI_RL_RL_WRITE_H

#include "cli/draw/paint.h"
#include "cli/rl/rl_search.h"
#include "cli/rl/rl_task.h"
#include "io/json_put.h"

void calc_rl_write_text(calc_output *out, const calc_paint *paint, const calc_rl_task *task,
                        const calc_rl_step *step);

/** One JSON object: "format" 1, the job's roles, phases, statistics. */
void calc_rl_write_json(calc_output *out, const calc_rl_task *task, const calc_rl_step *step);

/** The page of --html: the same, with a drawing of each pool and of the memory of each phase. */
void calc_rl_write_page(calc_output *out, const calc_rl_words *words, const calc_rl_task *task,
                        const calc_rl_step *step);

/** The placements and layouts that a search found, a row each. */
void calc_rl_write_found(calc_output *out, const calc_rl_words *words, const calc_rl_found *found);
void calc_rl_put_found(calc_output *out, const calc_rl_found *found);

/** "tp=4 pp=1 dp=8": the sizes of a layout above 1, and of training its micro-batch and what it
 *  recomputes. @return text */
char *calc_rl_layout_text(const calc_exec *exec, char *text, size_t size);

#endif
