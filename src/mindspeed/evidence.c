#include "mindspeed/evidence.h"

#include "mindspeed/exec.h"
#include "mindspeed/modules.h"

static bool exec_of(const void *context, const calc_mindspeed_config *config, calc_app *app,
                    calc_exec *exec)
{
    const calc_mindspeed_evidence *e = context;
    calc_errors ignored = {0};
    return calc_mindspeed_exec_of(&e->study->arguments->plan, config, app, exec, &ignored) ==
           CALC_OK;
}

/* Profiles that calc_mindspeed_evidence_time() has read. */
static bool modules_of(const void *context, const calc_mindspeed_config *config,
                       calc_mindspeed_module_times *out)
{
    const calc_mindspeed_evidence *e = context;
    (void)config;
    *out = e->modules;
    return e->has_modules;
}

calc_status calc_mindspeed_evidence_start(calc_mindspeed_evidence *out,
                                          const calc_mindspeed_study *study,
                                          const calc_mindspeed_sampling *sampling,
                                          calc_errors *errors)
{
    const calc_mindspeed_arguments *a = study->arguments;
    *out = (calc_mindspeed_evidence){.study = study};
    calc_status status = calc_mindspeed_folder_read(&out->folder, study->profiles, errors);
    if (status != CALC_OK) {
        return status;
    }
    const calc_mindspeed_cache *cache = out->folder.cache.count > 0 ? &out->folder.cache : NULL;
    calc_mindspeed_operators_start(&out->operators, &a->job, &a->app, study->system, cache,
                                   sampling);
    out->started = true;
    out->judge = (calc_mindspeed_judge){.job = &a->job,
                                        .system = study->system,
                                        .exec = exec_of,
                                        .exec_context = out,
                                        .operators = &out->operators,
                                        .comm = &out->folder.comm,
                                        .modules = modules_of,
                                        .modules_context = out};
    if (out->folder.kernels.count == 0) {
        calc_notes_add(&out->notes, "%s has no kernels: operators are calc's", study->profiles);
    }
    if (out->folder.comm.count == 0) {
        calc_notes_add(&out->notes, "%s has no comm_prof.csv: collectives are calc's",
                       study->profiles);
    }
    status = calc_mindspeed_operators_learn(&out->operators, out->folder.kernels.item,
                                            out->folder.kernels.count, errors);
    return status ? status : calc_mindspeed_operators_fit(&out->operators, errors);
}

/* @return true if the configuration has no profile or a valid one */
static bool read_modules(calc_mindspeed_evidence *e, const calc_mindspeed_config *config)
{
    const calc_mindspeed_study *s = e->study;
    calc_mindspeed_profile p;
    calc_errors errors = {0};
    e->has_modules = false;
    if (s->generation != CALC_MINDSPEED_GEN2) {
        return true;
    }
    calc_status status = calc_mindspeed_modules_read(&p, s->profiles, &s->arguments->job,
                                                     s->generation, config, &errors);
    if (status == CALC_OK) {
        e->modules = (calc_mindspeed_module_times){
            .embedding_s = p.time_s[CALC_MINDSPEED_EMBEDDING],
            .layer_s = p.time_s[CALC_MINDSPEED_LAYER],
            .norm_s = p.time_s[CALC_MINDSPEED_FINAL_NORM],
            .head_s = p.time_s[CALC_MINDSPEED_OUTPUT],
            .loss_s = p.time_s[CALC_MINDSPEED_LOSS],
            .backward = p.forward_s > 0 ? p.backward_s / p.forward_s : 2};
        e->has_modules = true;
        e->profiled++;
    }
    calc_notes_take(&e->notes, &errors);
    return status == CALC_OK || status == CALC_ERR_NOT_FOUND;
}

bool calc_mindspeed_evidence_time(void *evidence, const calc_mindspeed_config *config,
                                  double *samples_s, size_t count)
{
    calc_mindspeed_evidence *e = evidence;
    return read_modules(e, config) && calc_mindspeed_time(&e->judge, config, samples_s, count);
}

void calc_mindspeed_evidence_free(calc_mindspeed_evidence *evidence)
{
    if (evidence->started) {
        calc_mindspeed_operators_free(&evidence->operators);
    }
    calc_mindspeed_folder_free(&evidence->folder);
}
