#include "report/page.h"

#include "base/error.h"

#ifndef CALC_BUILD_SOURCE
#define CALC_BUILD_SOURCE "unknown"
#endif

static bool is_there(const char *part)
{
    return calc_embedded_find(calc_page_list, part)->length > 0;
}

static void write_part(calc_output *out, const char *part)
{
    const calc_embedded *file = calc_embedded_find(calc_page_list, part);
    calc_output_write(out, file->bytes, file->length);
}

static void write_element(calc_output *out, const char *tag, const char *attributes,
                          const char *part)
{
    calc_output_printf(out, "<%s%s>\n", tag, attributes);
    write_part(out, part);
    calc_output_printf(out, "</%s>\n", tag);
}

calc_status calc_page_check(calc_errors *errors)
{
    return is_there("charts")
               ? CALC_OK
               : calc_errors_add(
                     errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL,
                     "install the Debian package node-d3, as scripts/setup does, and build "
                     "calc again",
                     "--html: this calc was built without the library of charts, D3");
}

calc_status calc_page_check_live(calc_errors *errors)
{
    return is_there("module")
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
    write_part(out, "head");
    write_element(out, "style", "", "style");
    write_part(out, "body");
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
    static const char *const scripts[][PARTS] = {
        [CALC_PAGE_RUN] = {"changes", "run_timeline", "pipeline", "operators", "serving", "run"},
        [CALC_PAGE_PLAN] = {"changes", "run_timeline", "pipeline", "operators", "serving",
                            "plan_layers", "plan", "run"},
        [CALC_PAGE_SWEEP] = {"changes", "sweep_data", "view", "scatter", "layouts", "sweep"},
        [CALC_PAGE_VALIDATE] = {"validate"},
        [CALC_PAGE_TUNE] = {"tune"},
        [CALC_PAGE_RL] = {"rl"},
        [CALC_PAGE_APP] = {"changes", "sweep_data", "view", "scatter", "layouts", "sweep"}};
    calc_put_end(put);
    calc_output_in_markup(put->out, false);
    calc_output_text(put->out, "</script>\n");
    write_element(put->out, "script", "", "charts");
    write_element(put->out, "script", "", "common");
    write_element(put->out, "script", "", "figures");
    for (int i = 0; i < PARTS && scripts[page][i]; i++) {
        /* There is nothing to draw before the first answer: those of an app wait for it. */
        write_element(put->out, "script",
                      page == CALC_PAGE_APP ? " type=\"text/plain\" class=\"page\""
                                            : " class=\"page\"",
                      scripts[page][i]);
    }
    bool run = page == CALC_PAGE_RUN || page == CALC_PAGE_PLAN;
    bool live = run || page == CALC_PAGE_SWEEP || page == CALC_PAGE_APP;
    if (live && is_there("module")) { /* where this build has it */
        write_element(put->out, "script", " type=\"text/plain\" id=\"calc-module\"", "module");
        write_element(put->out, "script", " type=\"text/plain\" id=\"calc-catalogue\"",
                      "catalogue");
        write_element(put->out, "script", "", "live");
        write_element(put->out, "script", "", run ? "live_run" : "live_sweep");
    }
    calc_output_text(put->out, "</body>\n</html>\n");
}
