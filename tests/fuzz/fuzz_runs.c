/* Runs in CSV, published or one's own: read, mapped and predicted, whatever their cells say. */
#include "fuzz.h"

#include <math.h>

#include "validate/results.h"

enum { ROWS = 8 /* of one input that are predicted */ };

static calc_status load(calc_kind kind, const char *name, void *out, calc_errors *errors)
{
    char path[512];
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/systems/%s.json", name);
    return calc_load(kind, out, path, errors);
}

/* Whatever they are called, documents are the same, if they have a name of letters. */
static calc_status load_document(calc_kind kind, const char *name, void *object,
                                 calc_errors *errors)
{
    static const char *const files[] = {"/models/llama2-7B.json", "/systems/h100_sxm.json",
                                        "/executions/llama3-70B_512.json"};
    char path[512];
    bool letters = name[0] >= 'a' && name[0] <= 'z';
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "%s", letters ? files[kind] : "/none.json");
    return calc_load(kind, object, path, errors);
}

static calc_status load_arguments(const char *arguments, int64_t procs, bool whole, calc_app *app,
                                  calc_exec *exec, calc_errors *errors)
{
    calc_status status = load_document(CALC_KIND_APP, arguments, app, errors);
    status = status == CALC_OK ? load_document(CALC_KIND_EXEC, arguments, exec, errors) : status;
    exec->num_procs = whole ? procs : 1;
    return status;
}

static calc_status read_software(calc_exec *exec, calc_errors *errors)
{
    return exec->software[0] ? load_document(CALC_KIND_EXEC, exec->software, exec, errors)
                             : CALC_OK;
}

static void check_row(const calc_runs_row *row)
{
    /* Names are those of one input: nothing is kept for the next. */
    static calc_documents systems;
    static calc_prediction prediction;
    systems = (calc_documents){CALC_KIND_SYSTEM, .load = load};
    MUST(row->line >= 2 && row->id && row->confidence);
    calc_predict(&prediction, row, &systems);
    MUST(prediction.reason[0] || prediction.map.reason ||
         prediction.predicted[CALC_QUANTITY_STEP_TIME] > 0 ||
         isnan(prediction.predicted[CALC_QUANTITY_STEP_TIME]));
    MUST(prediction.map.assumed.count <= CALC_ASSUMPTIONS_MAX);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static const calc_runs_loader loader = {load_document, load_arguments, read_software, NULL,
                                            NULL};
    calc_text text = {.data = malloc(size + 1), .length = size};
    calc_errors errors = {0};
    calc_runs runs = {0};
    MUST(text.data);
    memcpy(text.data, data, size);
    text.data[size] = '\0';
    calc_status status = calc_runs_parse(&runs, text, "input", &loader, &errors);
    if (status != CALC_OK) {
        fuzz_check_errors(&errors, status, false);
    }
    for (size_t i = 0; status == CALC_OK && i < runs.count && i < ROWS; i++) {
        check_row(&runs.row[i]);
    }
    calc_runs_free(&runs);
    return 0;
}
