/* The files of Taylor's programs: the first byte says which. Any bytes behind it either fail with
 * errors, or give what keeps its promises; an edited configuration is read again.
 */
#include "formats/read.h"
#include "formats/yaml_edit.h"
#include "fuzz.h"
#include "taylor/config.h"
#include "taylor/memory.h"
#include "taylor/yaml.h"

static void edit(const char *data, size_t size)
{
    static const calc_yaml_edit edits[] = {{"model.model_config.offset", "[1, 0]"},
                                           {"recompute_config.recompute", "[2, 2]"},
                                           {"a", "7"}};
    calc_text once, twice;
    calc_errors errors = {0};
    calc_status status = calc_yaml_edit_text(data, size, "input", edits, 3, &once, &errors);
    if (status != CALC_OK) {
        fuzz_check_errors(&errors, status, true);
        return;
    }
    calc_settings settings = {0};
    MUST(calc_settings_from_text(&settings, CALC_SYNTAX_YAML, once.data, once.length, "once",
                                 &errors) == CALC_OK);
    calc_settings_free(&settings);
    /* A key of the form "? offset" may be written once only. */
    status = calc_yaml_edit_text(once.data, once.length, "edited", edits, 3, &twice, &errors);
    if (status != CALC_OK) {
        fuzz_check_errors(&errors, status, true);
    } else {
        calc_text_free(&twice);
    }
    calc_text_free(&once);
}

static void configure(const char *data, size_t size)
{
    calc_taylor_config c;
    calc_errors errors = {0};
    calc_status status = calc_taylor_config_parse(&c, data, size, "input", &errors);
    if (status != CALC_OK) {
        fuzz_check_errors(&errors, status, false);
        return;
    }
    calc_taylor_ask ask = calc_taylor_ask_of(&c, 0);
    MUST(c.layers >= 1 && c.dense <= c.layers && c.memory_mb >= 1024 && c.chunks >= 1);
    MUST(ask.layers[0] + ask.layers[1] == c.app.num_blocks);
    MUST(calc_taylor_ask_check(&ask, &errors) == CALC_OK || errors.count == 1);
}

static void measure(const char *data, size_t size)
{
    calc_taylor_memory m = {0};
    calc_errors errors = {0};
    int said;
    calc_status status = calc_taylor_memory_parse(&m, &said, data, size, "input", &errors);
    if (status != CALC_OK) {
        fuzz_check_errors(&errors, status, false);
        MUST(errors.item[0].line >= 1);
    }
    for (int end = 0; end < CALC_TAYLOR_ENDS; end++) {
        MUST(m.static_mb[end] >= 0 && m.static_mb[end] <= 1e9);
    }
}

static void solve(const char *data, size_t size)
{
    static calc_balance_share share[CALC_BALANCE_PLACES];
    calc_taylor_ask ask;
    calc_errors errors = {0};
    double objective;
    char text[8192];
    calc_status status =
        calc_taylor_solution_parse(data, size, "input", &ask, share, &objective, &errors);
    if (status != CALC_OK) {
        fuzz_check_errors(&errors, status, false);
        return;
    }
    MUST(ask.stages >= 1 && ask.stages * ask.chunks <= CALC_BALANCE_PLACES);
    calc_taylor_matrix_text(&ask, share, CALC_TAYLOR_OFFSET, text, sizeof text);
}

/* Both tables. */
static void tabulate(const char *data, size_t size)
{
    const calc_taylor_candidate some = {.layout = {1, 1, 1, 1}, .expert = 1};
    for (int which = 0; which < 2; which++) {
        calc_csv_rows rows;
        calc_errors errors = {0};
        calc_taylor_ratios ratios;
        calc_text text = {malloc(size + 1), size};
        MUST(text.data != NULL);
        memcpy(text.data, data, size);
        text.data[size] = '\0';
        calc_status status =
            which ? calc_csv_table_parse(&rows, &calc_taylor_profiles, text, "input", &errors)
                  : calc_csv_table_parse(&rows, &calc_taylor_probes, text, "input", &errors);
        if (status != CALC_OK) {
            fuzz_check_errors(&errors, status, false);
            MUST(errors.item[0].line >= 1);
        }
        if (which) {
            calc_taylor_profiles_find(&rows, &some, &ratios);
            calc_csv_rows_free(&rows);
        } else {
            MUST(calc_taylor_probes_fit(&rows, &some.layout).probes <= 2);
            calc_csv_rows_free(&rows);
        }
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    const char *text = (const char *)data + 1;
    if (size == 0) {
        return 0;
    }
    switch (data[0]) {
    case 'y':
        configure(text, size - 1);
        edit(text, size - 1);
        break;
    case 'm':
        measure(text, size - 1);
        break;
    case 's':
        solve(text, size - 1);
        break;
    default:
        tabulate(text, size - 1);
        break;
    }
    return 0;
}
