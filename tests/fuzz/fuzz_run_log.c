/* Any bytes are either no log, which one error says, or give values above 0 of which a summary is
 * in order. */
#include "formats/run_log.h"
#include "fuzz.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    calc_run_log log = {0};
    calc_errors errors = {0};
    calc_text text = {malloc(size + 1), size};
    MUST(text.data != NULL);
    memcpy(text.data, data, size);
    text.data[size] = '\0';
    calc_status status = calc_run_log_read(&log, &text, "input", &errors);
    if (status != CALC_OK) {
        fuzz_check_errors(&errors, status, false);
        MUST(errors.count == 1);
    }
    size_t times = 0;
    for (int i = 0; i < CALC_LOG_COUNT; i++) {
        calc_log_series *series = &log.series[i];
        size_t count = series->count;
        times += i <= CALC_LOG_OUTPUT_TOKENS_PER_S ? count : 0;
        for (size_t k = 0; k < count; k++) {
            MUST(series->value[k] > 0 && isfinite(series->value[k]));
        }
        if (count > 0) {
            calc_log_summary s = calc_log_summarize(series);
            MUST(series->program && s.records + s.warm_up == count);
            MUST(s.warm_up <= count / 2 && s.median > 0 && isfinite(s.median));
        }
    }
    MUST((times > 0) == (status == CALC_OK));
    calc_text_free(&text);
    calc_run_log_free(&log);
    return 0;
}
