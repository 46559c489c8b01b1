/* Published runs in CSV: read, mapped and predicted, whatever their cells say. */
#include "fuzz.h"

#include <math.h>

#include "validate/predict.h"

enum { ROWS = 8 /* of one input that are predicted */ };

static calc_status load(const char *name, calc_system *out, calc_errors *errors)
{
    char path[512];
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/systems/%s.json", name);
    return calc_load(CALC_KIND_SYSTEM, out, path, errors);
}

static void check_row(const calc_runs_row *row, calc_systems *systems)
{
    static calc_prediction prediction;
    MUST(row->line >= 2 && row->id && row->confidence);
    calc_predict(&prediction, row, systems);
    MUST(prediction.reason[0] || prediction.map.reason || prediction.step_s > 0 ||
         isnan(prediction.step_s));
    MUST(prediction.map.assumptions <= CALC_RUN_MAP_ASSUMPTIONS);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static calc_systems systems = {.load = load};
    calc_text text = {.data = malloc(size + 1), .length = size};
    calc_errors errors = {0};
    calc_runs runs = {0};
    MUST(text.data);
    memcpy(text.data, data, size);
    text.data[size] = '\0';
    calc_status status = calc_runs_parse(&runs, text, "input", &errors);
    if (status != CALC_OK) {
        fuzz_check_errors(&errors, status, false);
    }
    for (size_t i = 0; status == CALC_OK && i < runs.count && i < ROWS; i++) {
        check_row(&runs.row[i], &systems);
    }
    calc_runs_free(&runs);
    return 0;
}
