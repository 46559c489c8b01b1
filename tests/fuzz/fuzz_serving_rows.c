/* Runs of serving in CSV: read, mapped and predicted, whatever their cells say. */
#include "engines.h"
#include "fuzz.h"

#include "validate/results.h"

enum { ROWS = 8 /* of one input that are predicted */ };

static calc_status load_document(calc_kind kind, const char *name, void *out, calc_errors *errors)
{
    char path[512];
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/%s/%.200s.json",
             kind == CALC_KIND_APP ? "models" : "systems", name);
    return calc_load(kind, out, path, errors);
}

static void check_row(const calc_serving_row *row)
{
    /* Names are those of one input: nothing is kept for the next. */
    static calc_documents apps;
    static calc_documents systems;
    static calc_serving_prediction p;
    apps = (calc_documents){CALC_KIND_APP, .load = load_document};
    systems = (calc_documents){CALC_KIND_SYSTEM, .load = load_document};
    MUST(row->line >= 2 && row->id && row->confidence);
    calc_serving_predict(&p, row, &apps, &systems, shipped_engines());
    MUST(p.reason[0] || p.predicted[CALC_QUANTITY_TTFT] > 0 ||
         p.predicted[CALC_QUANTITY_TPOT] > 0); /* fields may ask for one phase */
    MUST(p.map.assumed.count <= CALC_ASSUMPTIONS_MAX);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    calc_text text = {.data = malloc(size + 1), .length = size};
    calc_errors errors = {0};
    calc_serving_rows rows = {0};
    MUST(text.data);
    memcpy(text.data, data, size);
    text.data[size] = '\0';
    (void)calc_serving_rows_has(&text);
    calc_status status = calc_serving_rows_parse(&rows, text, "input", &errors);
    if (status != CALC_OK) {
        fuzz_check_errors(&errors, status, false);
    }
    for (size_t i = 0; status == CALC_OK && i < rows.count && i < ROWS; i++) {
        check_row(&rows.row[i]);
    }
    calc_serving_rows_free(&rows);
    return 0;
}
