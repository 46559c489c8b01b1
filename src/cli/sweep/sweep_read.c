#include "cli/sweep/sweep_read.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "calibrate/standard_errors.h"
#include "cli/shell/digest.h"
#include "cli/sweep/sweep_opts.h"
#include "io/remark.h"
#include "report/sweep_data.h"

_Static_assert(CALC_DIGEST_TEXT == sizeof(((calc_study_document *)NULL)->sha256),
               "a study has room for digests");
_Static_assert(CALC_REMARK_SIZE == sizeof(((calc_study_document *)NULL)->remark),
               "a study has room for remarks");

calc_status calc_sweep_read_note(calc_sweep_study *study, const char *name, const calc_text *text,
                                 const char *remark, calc_errors *errors)
{
    calc_study_document *more =
        realloc(study->document, (study->documents + 1) * sizeof *study->document);
    if (!more) {
        return calc_errors_no_memory(errors);
    }
    study->document = more;
    calc_study_document *document = &more[study->documents++];
    snprintf(document->name, sizeof document->name, "%.*s", (int)sizeof document->name - 1, name);
    calc_digest_text(text->data, text->length, document->sha256);
    snprintf(document->remark, sizeof document->remark, "%s", remark);
    calc_standard_errors fitted;
    calc_standard_errors_read(&fitted, text);
    snprintf(document->calibrated, sizeof document->calibrated, "%s", fitted.machine);
    return CALC_OK;
}

void calc_sweep_read_write_remarks(calc_output *out, const calc_sweep_study *study)
{
    for (size_t i = 0; i <= study->documents; i++) {
        char own[CALC_REMARK_SIZE];
        const char *text = calc_sweep_remark(study, i, own);
        if (*text) {
            calc_output_printf(out, "%s\n", text);
        }
    }
}

void calc_sweep_read_put(calc_put *put, const calc_sweep_study *study, const calc_args *args)
{
    calc_put_array(put, "read", CALC_PUT_LINE);
    for (size_t i = 0; i < study->documents; i++) {
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "name", study->document[i].name);
        calc_put_text(put, "sha256", study->document[i].sha256);
        calc_put_close(put);
    }
    calc_put_close(put);
    calc_put_array(put, "command", CALC_PUT_LINE);
    calc_put_text(put, NULL, "calc");
    calc_put_text(put, NULL, "sweep");
    for (size_t i = 0; i < args->argument_count; i++) {
        calc_put_text(put, NULL, args->argument[i]);
    }
    for (size_t i = 0; i < args->use_count; i++) {
        const calc_opt *opt = &calc_sweep_opts[args->use[i].opt];
        char word[32];
        if (args->use[i].opt < (int)CALC_SWEEP_OPT_FRONT) { /* options that define the space and the
                                                             * objectives */
            snprintf(word, sizeof word, "--%s", opt->name);
            calc_put_text(put, NULL, word);
            calc_put_text(put, NULL, args->use[i].value);
        }
    }
    calc_put_close(put);
}
