#include "cli/validate/validate_page.h"

#include "cli/validate/validate_write.h"
#include "report/page.h"

void calc_validate_page_write(calc_output *out, const calc_validation *validation)
{
    calc_put put = calc_page_begin(out, CALC_PAGE_VALIDATE);
    calc_put_key(&put, "validate");
    calc_validate_write_json(out, validation);
    calc_page_end(&put, CALC_PAGE_VALIDATE);
}

void calc_validate_page_write_written(calc_output *out, const calc_text *json)
{
    calc_put put = calc_page_begin(out, CALC_PAGE_VALIDATE);
    calc_put_key(&put, "validate");
    calc_output_write(out, json->data, json->length);
    calc_page_end(&put, CALC_PAGE_VALIDATE);
}
