#include "cli/run/run_page.h"

#include "calc.h"
#include "cli/draw/stage_words.h"
#include "cli/shell/complain.h"
#include "io/json_put.h"
#include "report/page.h"
#include "report/run_data.h"
#include "spec/stage_list.h"
#include "validate/same_runs.h"

/* The band if the machine or its family was measured, else null. */
static calc_status put_band(calc_put *put, const calc_run_outcome *o, calc_errors *errors)
{
    calc_run_band band = {0};
    char path[CALC_FIND_PATH_MAX];
    calc_errors ignored = {0};
    bool asked = o->compat == CALC_COMPAT_NONE && o->stats.verdict == CALC_VERDICT_OK &&
                 calc_is_yes(calc_find_data(CALC_FIND_RESIDUALS, path, &ignored));
    calc_status status = asked ? calc_run_band_make(&band, &o->inputs, errors) : CALC_OK;
    if (asked && status == CALC_OK && band.machine != CALC_RUN_BAND_MACHINE_UNMEASURED) {
        calc_run_band_put(put, &band, &o->stats);
    } else {
        calc_put_raw(put, "band", "null");
    }
    calc_run_band_free(&band);
    return status;
}

/* Published runs of the same sizes, and their times. */
static void put_measured(calc_put *put, const calc_run_outcome *o)
{
    enum { MOST = 8 };
    const calc_inputs *in = &o->inputs;
    calc_same_run same[MOST];
    calc_runs runs = {0};
    calc_errors ignored = {0};
    char path[CALC_FIND_PATH_MAX];
    bool there = o->compat == CALC_COMPAT_NONE &&
                 calc_is_yes(calc_find_data("measured/runs.csv", path, &ignored)) &&
                 calc_is_yes(calc_runs_read(&runs, path, NULL, &ignored));
    size_t count = there ? calc_same_runs_find(same, MOST, &runs, &in->app,
                                               in->input[CALC_KIND_SYSTEM].name, &in->exec)
                         : 0;
    calc_put_array(put, "measured", CALC_PUT_LINES);
    for (size_t i = 0; i < count && i < MOST; i++) {
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "id", same[i].row->id);
        calc_put_text(put, "source", same[i].source);
        calc_put_number(put, "step_s", same[i].step_s);
        calc_put_close(put);
    }
    calc_put_close(put);
    calc_runs_free(&runs);
}

/* System and recomputation of each stage, if stages list them; otherwise null. */
static void put_listed(calc_put *put, const calc_inputs *in)
{
    const calc_exec *e = &in->exec;
    const char *name = in->input[CALC_KIND_SYSTEM].name;
    char text[CALC_STAGE_WORDS_SIZE];
    calc_stage_run place[CALC_MAX_PLACES];
    if (e->stages.count == 0) {
        calc_put_raw(put, "listed", "null");
        return;
    }
    int64_t places = calc_stage_list_expand(&e->stages, place);
    calc_put_object(put, "listed", CALC_PUT_LINES);
    calc_put_text(put, "machine", calc_stage_words_machine(e, name, text));
    calc_put_array(put, "stages", CALC_PUT_LINES);
    for (int64_t stage = 0; stage < e->pipeline_par; stage++) {
        calc_exec own = *e;
        own.stages.count = 0;
        for (int64_t i = stage; i < places && own.stages.count < CALC_MAX_STAGE_RUNS;
             i += e->pipeline_par) {
            own.stages.run[own.stages.count++] = place[i];
        }
        int chip = place[stage].chip;
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "system", chip > 0 ? e->stages.name[chip - 1] : name);
        calc_put_text(put, "recompute", calc_stage_words_recompute(&own, text));
        calc_put_close(put);
    }
    calc_put_close(put);
    calc_put_close(put);
}

/* A run on a changed machine, simulated if the page's own is. */
static calc_status run_again(const void *context, const calc_system *system, const calc_exec *exec,
                             calc_stats *stats, calc_errors *errors)
{
    const calc_run_outcome *o = context;
    calc_run_outcome more = {.inputs = o->inputs, .compat = o->compat, .exact = o->exact};
    more.inputs.system = *system;
    more.inputs.exec = *exec;
    calc_status status = calc_run_outcome_evaluate(&more, false, errors);
    *stats = more.stats;
    return status;
}

static calc_status write_page(calc_output *out, const calc_run_outcome *o, const calc_text *json,
                              const calc_text *plan, calc_errors *errors)
{
    const calc_inputs *in = &o->inputs;
    calc_page page = plan ? CALC_PAGE_PLAN : CALC_PAGE_RUN;
    calc_exec own;
    const calc_run_data data = {.app = &in->app,
                                .system = &in->system,
                                .exec = &in->exec,
                                .compat = o->compat,
                                .stats = &o->stats,
                                .stage = o->stage,
                                .stages = o->stage_known,
                                .own = calc_inputs_own_stages(in, &own) ? &own : NULL,
                                .run = run_again,
                                .context = o};
    calc_put put = calc_page_begin(out, page);
    if (plan) {
        calc_put_key(&put, "plan");
        calc_output_write(out, plan->data, plan->length);
    }
    calc_put_key(&put, "run");
    if (json) {
        calc_output_write(out, json->data, json->length);
    } else {
        calc_run_write_json(out, o);
    }
    put_listed(&put, in);
    put_measured(&put, o);
    calc_status status = put_band(&put, o, errors);
    status = status == CALC_OK ? calc_run_data_put(&put, &data, errors) : status;
    calc_page_end(&put, page);
    return status;
}

calc_status calc_run_page_write(const char *path, const calc_run_outcome *o, const calc_text *json,
                                const calc_text *plan, calc_errors *errors)
{
    calc_output *out = NULL;
    calc_status status = calc_output_open(&out, path, errors);
    return status == CALC_OK ? calc_output_end(out, write_page(out, o, json, plan, errors), errors)
                             : status;
}
