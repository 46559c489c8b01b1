#include "cli/validate_page.h"

#include "cli/validate_write.h"
#include "report/page.h"

static void begin(calc_output *out)
{
    calc_page_begin(out);
    calc_output_text(out, "{\"schema\": \"calc-report/1\", \"kind\": \"validate\", \"validate\": ");
}

static void end(calc_output *out)
{
    calc_output_text(out, "}\n");
    calc_page_end(out, CALC_PAGE_VALIDATE);
}

void calc_validate_page_write(calc_output *out, const calc_validation *validation)
{
    begin(out);
    calc_validate_write_json(out, validation);
    end(out);
}

void calc_validate_page_write_written(calc_output *out, const calc_text *json)
{
    begin(out);
    calc_output_write(out, json->data, json->length);
    end(out);
}
