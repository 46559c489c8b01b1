#include "cli/run_page.h"

#include "cli/breakdown.h"
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

static void write_page(calc_output *out, const calc_run_outcome *o,
                       const calc_page_timeline *timeline)
{
    const calc_inputs *in = &o->inputs;
    calc_run_outcome whole = *o;
    whole.stage_count = o->stage_known;
    whole.layer_count = calc_layers(&in->app, &in->system, &in->exec, whole.layer, CALC_MAX_LAYERS);
    calc_page_begin(out);
    calc_output_text(out, "{\"schema\": \"calc-report/1\", \"kind\": \"run\", \"run\": ");
    calc_run_write_json(out, &whole);
    calc_output_text(out, ",\n\"time\": ");
    calc_breakdown_json_time(out, &o->stats);
    for (int tier = 1; tier <= 2; tier++) {
        calc_output_printf(out, ",\n\"memory%d\": ", tier);
        calc_breakdown_json_memory(out, &in->exec, &o->stats, tier, o->extended);
    }
    write_parameters(out, &in->app);
    calc_output_printf(out, ",\n\"extended\": %s,\n\"timeline\": ", o->extended ? "true" : "false");
    calc_page_timeline_write(out, timeline);
    calc_output_text(out, "}\n");
    calc_page_end(out, CALC_PAGE_RUN);
}

calc_status calc_run_page_write(const char *path, const calc_run_outcome *o, calc_errors *errors)
{
    calc_output *out = NULL;
    calc_page_timeline timeline = {0};
    calc_status status =
        calc_page_timeline_make(&timeline, &o->inputs.exec, &o->stats, o->stage, errors);
    status = status == CALC_OK ? calc_output_open(&out, path, errors) : status;
    if (status == CALC_OK) {
        write_page(out, o, &timeline);
        status = calc_output_close(out, errors);
    }
    calc_page_timeline_free(&timeline);
    return status;
}
