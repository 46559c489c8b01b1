#include "cli/run_page.h"

#include "cli/breakdown.h"
#include "cli/resources.h"
#include "report/page.h"
#include "report/page_timeline.h"
#include "spec/field.h"

static void write_parameters(calc_output *out, const calc_app *app)
{
    calc_parameters p;
    char total[32], active[32];
    calc_count_parameters(app, &p);
    calc_output_printf(out, ",\n\"parameters\": {\"total\": %s, \"active\": %s}",
                       calc_number_text(p.total, 1, total), calc_number_text(p.active, 1, active));
}

/* The time of a step with 10 % more of each rate. */
static calc_status write_more(calc_output *out, const calc_run_outcome *o, calc_errors *errors)
{
    const char *glue = "";
    calc_status status = CALC_OK;
    calc_output_text(out, ",\n\"ten_percent_more\": [");
    for (size_t i = 0; i < calc_resources_rates(&o->inputs.system) && status == CALC_OK; i++) {
        calc_run_outcome more = {.inputs = o->inputs, .compat = o->compat, .exact = o->exact};
        char text[CALC_RESOURCE_TEXT], number[32];
        if (!calc_resource_there(&o->inputs.system, i)) {
            continue;
        }
        calc_resource_grow(&more.inputs.system, i);
        status = calc_run_outcome_evaluate(&more, false, errors);
        calc_output_printf(out, "%s\n{\"resource\": \"%s\", \"total_time\": %s}", glue,
                           calc_resource_text(&o->inputs.system, i, text),
                           calc_number_text(more.stats.total_time, 1, number));
        glue = ",";
    }
    calc_output_text(out, "]");
    return status;
}

static calc_status write_page(calc_output *out, const calc_run_outcome *o,
                              const calc_page_timeline *timeline, calc_errors *errors)
{
    const calc_inputs *in = &o->inputs;
    calc_run_outcome whole = *o;
    whole.stage_count = o->stage_known;
    whole.layer_count = calc_layers(&in->app, &in->system, &in->exec, o->compat, whole.layer,
                                    CALC_MAX_LAYERS);
    calc_page_begin(out);
    calc_output_text(out, "{\"schema\": \"calc-report/1\", \"kind\": \"run\", \"run\": ");
    calc_run_write_json(out, &whole);
    calc_output_text(out, ",\n\"time\": ");
    calc_breakdown_json_time(out, &o->stats);
    for (int tier = 1; tier <= 2; tier++) {
        calc_output_printf(out, ",\n\"memory%d\": ", tier);
        calc_breakdown_json_memory(out, &in->exec, &o->stats, tier, o->compat == CALC_COMPAT_NONE);
    }
    write_parameters(out, &in->app);
    calc_status status = write_more(out, o, errors);
    calc_output_printf(out, ",\n\"extended\": %s,\n\"timeline\": ", o->compat == CALC_COMPAT_NONE ? "true" : "false");
    calc_page_timeline_write(out, timeline);
    calc_output_text(out, "}\n");
    calc_page_end(out, CALC_PAGE_RUN);
    return status;
}

calc_status calc_run_page_write(const char *path, const calc_run_outcome *o, calc_errors *errors)
{
    calc_output *out = NULL;
    calc_page_timeline timeline = {0};
    calc_status status =
        calc_page_timeline_make(&timeline, &o->inputs.exec, &o->stats, o->stage, errors);
    status = status == CALC_OK ? calc_output_open(&out, path, errors) : status;
    if (status == CALC_OK) {
        status = write_page(out, o, &timeline, errors);
        if (status == CALC_OK) {
            status = calc_output_close(out, errors);
        } else {
            calc_output_discard(out);
        }
    }
    calc_page_timeline_free(&timeline);
    return status;
}
