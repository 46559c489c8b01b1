#include "cli/formats/keys.h"

#include "cli/shell/complain.h"
#include "io/output.h"

static void write_key(calc_output *out, const calc_setting_row *row)
{
    const char *field = calc_plan_field(row->member);
    bool constant = row->how == CALC_HOW_CONSTANT;
    calc_output_printf(out, "| `%s` | ", row->key);
    calc_output_printf(out, field && !constant ? "`%s`" : "%s", constant ? "" : field ? field : "");
    if (constant && row->when) {
        calc_output_printf(out, " | with %s%s", calc_plan_meaning(row->when),
                           row->text[0] ? ":" : "");
    } else {
        calc_output_printf(out, " | %s", constant ? "always" : calc_plan_meaning(row->member));
    }
    calc_word word;
    for (const char *at = row->words; calc_word_next(row, &at, &word);) {
        calc_output_printf(out, "%s`%.*s`", word.text == row->words ? ": " : ", ", (int)word.length,
                           word.text);
    }
    if (row->how == CALC_HOW_FILE) {
        calc_output_printf(out, "%s a file of `%s`", row->words ? ", or" : ":", row->text);
    } else if (row->how == CALC_HOW_NAME) {
        calc_output_text(out, ", which the file does not describe");
    } else if (constant && row->text[0]) {
        calc_output_printf(out, " `%s`", row->text);
    } else if (row->how == CALC_HOW_SWITCH && row->value == 0) {
        calc_output_text(out, "; the opposite");
    }
    calc_output_printf(out, "%s |\n", row->read_only ? " (read only)" : "");
}

/* Also the keys of bases that are no frameworks themselves. */
static void write_rows(calc_output *out, const calc_framework *framework)
{
    for (size_t i = 0; i < framework->count; i++) {
        if (framework->rows[i].key) {
            write_key(out, &framework->rows[i]);
        }
    }
    for (size_t i = 0; framework->bases && framework->bases[i]; i++) {
        const calc_framework *base = framework->bases[i];
        if (!base->name && base->rows != framework->rows) {
            write_rows(out, base);
        }
    }
}

static void write_others(calc_output *out, const calc_framework *framework)
{
    for (size_t i = 0; framework->bases && framework->bases[i]; i++) {
        const calc_framework *base = framework->bases[i];
        if (base->name) {
            calc_output_printf(out, "\nAlso the keys of %s.\n", base->title);
        } else {
            write_others(out, base);
        }
    }
}

calc_exit calc_keys_list(const calc_args *args, const calc_framework *framework, const char *path)
{
    calc_errors errors = {0};
    if (!framework) {
        return calc_complain_usage(args->command, "it has no table of keys");
    }
    calc_output *out = calc_write_to(path ? path : "-");
    calc_output_text(out, "| key | field | meaning |\n|---|---|---|\n");
    write_rows(out, framework);
    write_others(out, framework);
    (void)!calc_output_close(out, &errors);
    return calc_complain_errors(&errors);
}
