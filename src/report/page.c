#include "report/page.h"

#include "base/error.h"
#include "report/page_data.h"

static void write_data(calc_output *out, const calc_page_data *data)
{
    calc_output_write(out, data->bytes, data->length);
}

static void write_element(calc_output *out, const char *tag, const calc_page_data *data)
{
    calc_output_printf(out, "<%s>\n", tag);
    write_data(out, data);
    calc_output_printf(out, "</%s>\n", tag);
}

calc_status calc_page_check(calc_errors *errors)
{
    if (calc_page_charts.length > 0) {
        return CALC_OK;
    }
    return calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL,
                           "install the Debian package node-d3, as scripts/setup does, and build "
                           "calc again",
                           "--html: this calc was built without the library of charts, D3");
}

void calc_page_begin(calc_output *out)
{
    write_data(out, &calc_page_head);
    write_element(out, "style", &calc_page_style);
    write_data(out, &calc_page_body);
    calc_output_text(out, "<script type=\"application/json\" id=\"calc-data\">\n");
    calc_output_in_markup(out, true);
}

void calc_page_end(calc_output *out, calc_page page)
{
    static const calc_page_data *const scripts[] = {[CALC_PAGE_RUN] = &calc_page_run,
                                                    [CALC_PAGE_SWEEP] = &calc_page_sweep,
                                                    [CALC_PAGE_VALIDATE] = &calc_page_validate};
    calc_output_in_markup(out, false);
    calc_output_text(out, "</script>\n");
    write_element(out, "script", &calc_page_charts);
    write_element(out, "script", &calc_page_common);
    write_element(out, "script", scripts[page]);
    calc_output_text(out, "</body>\n</html>\n");
}
