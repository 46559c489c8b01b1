/* The state of calc tune, and what programs print: whatever they say. */
#include "fuzz.h"

#include <math.h>

#include "cli/tune/tune_journal.h"

static void check_row(const calc_tune_row *row)
{
    bool fine = row->end == CALC_TUNE_END_FINE;
    MUST(row->line >= 2);
    MUST((*row->layout != '\0') != (*row->exe != '\0'));
    MUST(fine ? row->step_s > 0 && isfinite(row->step_s) : isnan(row->step_s));
    MUST(isnan(row->memory_bytes) || (row->memory_bytes > 0 && isfinite(row->memory_bytes)));
}

static void check_program(const char *text)
{
    calc_tune_trial trial = {.exe = text, .layout = "3fa9c21e"};
    if (calc_tune_trial_read(text, &trial)) {
        bool fine = trial.end == CALC_TUNE_END_FINE;
        MUST(fine ? trial.step_s > 0 && isfinite(trial.step_s) : isnan(trial.step_s));
        MUST(isnan(trial.memory_bytes) || trial.memory_bytes > 0);
    }
    char *command = calc_tune_trial_command("run {exe} {slot}{layout} {", &trial, 3);
    MUST(command && strncmp(command, "run ", 4) == 0);
    free(command);
    command = calc_tune_trial_command(text, &(calc_tune_trial){.exe = "a'b", .layout = "c"}, 0);
    MUST(command);
    free(command);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    calc_text text = {.data = malloc(size + 1), .length = size};
    calc_errors errors = {0};
    calc_tune_rows rows = {0};
    MUST(text.data);
    memcpy(text.data, data, size);
    text.data[size] = '\0';
    check_program(text.data);
    calc_status status = calc_tune_rows_parse(&rows, text, "input", &errors);
    if (status != CALC_OK) {
        fuzz_check_errors(&errors, status, false);
    }
    for (size_t i = 0; status == CALC_OK && i < rows.count; i++) {
        check_row(&rows.row[i]);
    }
    calc_tune_rows_free(&rows);
    return 0;
}
