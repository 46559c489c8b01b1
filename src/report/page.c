#include "report/page.h"

#include "base/error.h"

#ifndef CALC_BUILD_SOURCE
#define CALC_BUILD_SOURCE "unknown"
#endif

static void write_data(calc_output *out, const calc_page_data *data)
{
    calc_output_write(out, data->bytes, data->length);
}

static void write_element(calc_output *out, const char *tag, const char *attributes,
                          const calc_page_data *data)
{
    calc_output_printf(out, "<%s%s>\n", tag, attributes);
    write_data(out, data);
    calc_output_printf(out, "</%s>\n", tag);
}

calc_status calc_page_check(calc_errors *errors)
{
    return calc_page_charts.length > 0
               ? CALC_OK
               : calc_errors_add(
                     errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL,
                     "install the Debian package node-d3, as scripts/setup does, and build "
                     "calc again",
                     "--html: this calc was built without the library of charts, D3");
}

calc_status calc_page_check_live(calc_errors *errors)
{
    return calc_page_module.length > 0
               ? calc_page_check(errors)
               : calc_errors_add(
                     errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL,
                     "run scripts/setup, which installs what that needs, and build calc again",
                     "this calc was built without the module of pages that compute");
}

calc_put calc_page_begin(calc_output *out, calc_page page)
{
    static const char *const kinds[] = {
        [CALC_PAGE_RUN] = "run",     [CALC_PAGE_PLAN] = "plan",
        [CALC_PAGE_SWEEP] = "sweep", [CALC_PAGE_VALIDATE] = "validate",
        [CALC_PAGE_TUNE] = "tune",   [CALC_PAGE_RL] = "rl",
        [CALC_PAGE_APP] = "app"};
    write_data(out, &calc_page_head);
    write_element(out, "style", "", &calc_page_style);
    write_data(out, &calc_page_body);
    calc_output_text(out, "<script type=\"application/json\" id=\"calc-data\">\n");
    calc_output_in_markup(out, true);
    calc_put put = {.out = out};
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    calc_put_text(&put, "schema", "calc-report/1");
    calc_put_text(&put, "kind", kinds[page]);
    calc_put_text(&put, "program", "calc " CALC_VERSION ", source " CALC_BUILD_SOURCE);
    return put;
}

void calc_page_end(calc_put *put, calc_page page)
{
    enum { PARTS = 8 };
    static const calc_page_data *const scripts[][PARTS] = {
        [CALC_PAGE_RUN] = {&calc_page_changes, &calc_page_run_timeline, &calc_page_pipeline,
                           &calc_page_operators, &calc_page_serving, &calc_page_run},
        [CALC_PAGE_PLAN] = {&calc_page_changes, &calc_page_run_timeline, &calc_page_pipeline,
                            &calc_page_operators, &calc_page_serving, &calc_page_plan_layers,
                            &calc_page_plan, &calc_page_run},
        [CALC_PAGE_SWEEP] = {&calc_page_changes, &calc_page_sweep_data, &calc_page_view,
                             &calc_page_scatter, &calc_page_layouts, &calc_page_sweep},
        [CALC_PAGE_VALIDATE] = {&calc_page_validate},
        [CALC_PAGE_TUNE] = {&calc_page_tune},
        [CALC_PAGE_RL] = {&calc_page_rl},
        [CALC_PAGE_APP] = {&calc_page_changes, &calc_page_sweep_data, &calc_page_view,
                           &calc_page_scatter, &calc_page_layouts, &calc_page_sweep}};
    calc_put_end(put);
    calc_output_in_markup(put->out, false);
    calc_output_text(put->out, "</script>\n");
    write_element(put->out, "script", "", &calc_page_charts);
    write_element(put->out, "script", "", &calc_page_common);
    write_element(put->out, "script", "", &calc_page_figures);
    for (int i = 0; i < PARTS && scripts[page][i]; i++) {
        /* There is nothing to draw before the first answer: those of an app wait for it. */
        write_element(put->out, "script",
                      page == CALC_PAGE_APP ? " type=\"text/plain\" class=\"page\""
                                            : " class=\"page\"",
                      scripts[page][i]);
    }
    bool run = page == CALC_PAGE_RUN || page == CALC_PAGE_PLAN;
    bool live = run || page == CALC_PAGE_SWEEP || page == CALC_PAGE_APP;
    if (live && calc_page_module.length > 0) { /* where this build has it */
        write_element(put->out, "script", " type=\"text/plain\" id=\"calc-module\"",
                      &calc_page_module);
        write_element(put->out, "script", " type=\"text/plain\" id=\"calc-catalogue\"",
                      &calc_page_catalogue);
        write_element(put->out, "script", "", &calc_page_live);
        write_element(put->out, "script", "", run ? &calc_page_live_run : &calc_page_live_sweep);
    }
    calc_output_text(put->out, "</body>\n</html>\n");
}
