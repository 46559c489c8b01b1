/* What calc wrote, changed by anybody: it is refused with a place, or it can be used. */
#include "fuzz.h"

#include "cli/sweep_page_written.h"
#include "io/written.h"

#include <jansson.h>

/* The data of the page are JSON, whatever the layouts are. */
static void check_page(const calc_written_sweep *sweep)
{
    static const char begin[] = "id=\"calc-data\">", end[] = "</script>";
    calc_output *out;
    calc_text page = {0};
    MUST(calc_output_open_memory(&out, &page, NULL) == CALC_OK);
    MUST(calc_sweep_page_write_written(out, sweep, NULL, NULL) == CALC_OK);
    MUST(calc_output_close(out, NULL) == CALC_OK);
    const char *data = strstr(page.data, begin);
    MUST(data);
    data += strlen(begin);
    const char *stop = strstr(data, end);
    MUST(stop);
    json_t *value = json_loadb(data, (size_t)(stop - data), JSON_REJECT_DUPLICATES, NULL);
    MUST(json_array_size(json_object_get(value, "rows")) <= sweep->count);
    json_decref(value);
    calc_text_free(&page);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    calc_written *written = calloc(1, sizeof *written);
    calc_errors errors = {0};
    MUST(written);
    calc_status status = calc_written_parse(written, (const char *)data, size, "input", &errors);
    if (status != CALC_OK) {
        fuzz_check_errors(&errors, status, false);
    } else if (written->kind == CALC_WRITTEN_SWEEP) {
        check_page(&written->sweep);
    }
    calc_written_free(written);
    free(written);
    return 0;
}
