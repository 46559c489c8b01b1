/* What calc wrote, changed by anybody: it is refused with a place, or it can be used. */
#include "fuzz.h"

#include "cli/sweep/sweep_rows.h"
#include "io/written.h"

#include <jansson.h>

/* The data of the page are JSON, whatever the file holds. */
static void check_page(const unsigned char *data, size_t size)
{
    static const char begin[] = "id=\"calc-data\">", end[] = "</script>";
    const calc_text text = {(char *)(uintptr_t)data, size};
    calc_output *out;
    calc_text page = {0};
    MUST(calc_output_open_memory(&out, &page, NULL) == CALC_OK);
    calc_sweep_page_write_written(out, &text, NULL);
    MUST(calc_output_close(out, NULL) == CALC_OK);
    const char *from = strstr(page.data, begin);
    MUST(from);
    from += strlen(begin);
    const char *stop = strstr(from, end);
    MUST(stop);
    json_t *value = json_loadb(from, (size_t)(stop - from), 0, NULL);
    MUST(json_is_object(json_object_get(value, "written")));
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
        check_page(data, size);
    }
    calc_written_free(written);
    free(written);
    return 0;
}
