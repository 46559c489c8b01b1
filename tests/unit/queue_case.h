/** @file queue_case.h  Llama 3 70B on H200 with requests that queue, in closed form and simulated.
 */
#ifndef CALC_TEST_QUEUE_CASE_H
#define CALC_TEST_QUEUE_CASE_H

#include <stdlib.h>
#include <string.h>

#include "model/serve/sim_step.h"
#include "serving_case.h"

/** A shipped machine, with everything that takes time. */
static inline calc_system queue_system(void)
{
    calc_system system;
    char path[512];
    snprintf(path, sizeof path, "%s/systems/h200.json", CALC_DATA_DIR_SOURCE);
    ck_assert_int_eq(calc_load(CALC_KIND_SYSTEM, &system, path, NULL), CALC_OK);
    return system;
}

/** Both answers for one execution. */
typedef struct queue_answers {
    calc_stats closed, exact;
} queue_answers;

/** Room to simulate a legal layout in, filled with anything. */
static inline void *queue_workspace(const calc_app *app, const calc_system *system,
                                    const calc_exec *exec)
{
    calc_errors errors = {0};
    size_t bytes;
    calc_status status = calc_check(app, system, exec, &errors);
    ck_assert_msg(status == CALC_OK, "%s: %s", errors.item[0].pointer, errors.item[0].text);
    ck_assert_int_eq(calc_exact_bytes(exec, &bytes, &errors), CALC_OK);
    void *workspace = malloc(bytes);
    ck_assert_ptr_nonnull(workspace);
    memset(workspace, 0xa5, bytes);
    return workspace;
}

/** Evaluate a legal layout of a model. */
static inline queue_answers queue_run_of(const char *model, const calc_exec *exec)
{
    calc_app app = shipped_app(model);
    calc_system system = queue_system();
    queue_answers out;
    void *workspace = queue_workspace(&app, &system, exec);
    calc_run(&app, &system, exec, CALC_COMPAT_NONE, &out.closed);
    calc_run_exact(&app, &system, exec, workspace, &out.exact);
    free(workspace);
    return out;
}

static inline queue_answers queue_run(const calc_exec *exec)
{
    return queue_run_of("llama3-70B", exec);
}

/** Simulate one that fits. */
static inline calc_serve_sim_result queue_simulate(const calc_exec *exec)
{
    static calc_serving serving;
    calc_app app = shipped_app("llama3-70B");
    calc_system system = queue_system();
    calc_serve_sim_result sim;
    void *workspace = queue_workspace(&app, &system, exec);
    calc_serving_of(&app, &system, exec, &serving);
    calc_serve_sim_run(&serving, workspace, &sim);
    free(workspace);
    return sim;
}

/** 8 processors with chunks of 2,048 tokens. */
static inline calc_exec queue_exec(int64_t batch, int64_t prompt, int64_t generate)
{
    calc_exec e = serving_exec(CALC_INFERENCE_PHASE_SERVE, 8, 1, 1, batch);
    e.inference.prompt_size = prompt;
    e.inference.generate_size = generate;
    e.inference.chunk_size = 2048;
    return e;
}

#endif
