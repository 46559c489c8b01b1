/* Strategy files and arguments of Galvatron. Any bytes either fail with errors, or give an
 * execution that is written and read to the same, or a request. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "galvatron/arguments.h"
#include "galvatron/layout.h"

static calc_text written(const calc_galvatron_layout *layout)
{
    calc_output *out;
    calc_text text = {0};
    calc_errors errors = {0};
    MUST(calc_output_open_memory(&out, &text, &errors) == CALC_OK);
    calc_galvatron_layout_write(layout, out);
    MUST(calc_output_close(out, &errors) == CALC_OK);
    return text;
}

/* What is written of it is read to the same. */
static void use(const calc_galvatron_layout *layout)
{
    static calc_galvatron_layout again;
    calc_notes notes = {0};
    calc_errors errors = {0};
    calc_text first = written(layout);
    MUST(calc_galvatron_layout_is(first.data, first.length) == CALC_OK);
    MUST(calc_galvatron_layout_read(&again, first.data, first.length, "", 0, &notes, &errors) ==
         CALC_OK);
    calc_text second = written(&again);
    MUST(strcmp(first.data, second.data) == 0);
    calc_text_free(&first);
    calc_text_free(&second);
    calc_exec exec;
    calc_status status = calc_galvatron_layout_exec(layout, &exec, &errors);
    MUST((status == CALC_OK) == (errors.count == 0));
    MUST(calc_galvatron_layout_multiple(layout) >= 1);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static calc_galvatron_layout layout;
    static calc_galvatron_arguments arguments;
    const char *text = (const char *)data;
    calc_notes notes = {0};
    calc_errors errors = {0};
    calc_status status =
        calc_galvatron_layout_read(&layout, text, size, "input", 8, &notes, &errors);
    if (status == CALC_OK) {
        MUST(errors.count == 0);
        use(&layout);
    } else {
        fuzz_check_errors(&errors, status, false);
    }
    errors = (calc_errors){0};
    calc_galvatron_arguments_start(&arguments);
    status = calc_galvatron_arguments_read(&arguments, text, size, "input", &errors);
    if (status == CALC_OK) {
        char why[512];
        MUST(errors.count == 0);
        (void)calc_galvatron_arguments_finish(&arguments, why, sizeof why);
    } else {
        fuzz_check_errors(&errors, status, false);
    }
    return 0;
}
