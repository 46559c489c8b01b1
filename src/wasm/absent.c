/* What a module lacks: it writes no files, and reads those that it holds, which are documents of
 * software and engines; it completes no layouts, as pages hold whole ones, and has no regular
 * expressions, which are 40 kB. */
#include "base/draft.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formats/framework.h"
#include "io/text.h"
#include "session/completion.h"
#include "session/sweep_order.h"
#include "validate/residuals.h"
#include "wasm/include/files.h"

calc_status calc_text_read(calc_text *text, const char *path, calc_errors *errors)
{
    const calc_embedded *file = calc_embedded_find(calc_file_list, path);
    *text = (calc_text){file->name ? strdup(file->bytes) : NULL, file->length};
    return text->data   ? CALC_OK
           : file->name ? calc_errors_no_memory(errors)
                        : calc_errors_at(errors, CALC_ERR_NOT_FOUND, path, 0, 0, NULL,
                                         "a page has no such file");
}

void calc_text_free(calc_text *text)
{
    free(text->data);
    *text = (calc_text){0};
}

int calc_draft_open(calc_draft *out, const char *path)
{
    (void)path;
    *out = (calc_draft){.file = -1};
    return ENOTSUP;
}

int calc_draft_keep(calc_draft *draft)
{
    (void)draft;
    return ENOTSUP;
}

void calc_draft_drop(calc_draft *draft)
{
    (void)draft;
}

calc_status calc_completion_find(calc_completed *out, const calc_completion *in,
                                 calc_errors *errors)
{
    (void)in;
    *out = (calc_completed){0};
    return calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_EXEC, NULL,
                           "calc serve completes layouts", "a page needs every field of a layout");
}

bool calc_completed_each(const calc_completed *completed,
                         void (*tell)(void *context, const calc_exec *exec, calc_axis axis),
                         void *context)
{
    (void)completed;
    (void)tell;
    (void)context;
    return false;
}

void calc_completed_free(calc_completed *completed)
{
    (void)completed;
}

calc_status calc_residuals_known(calc_residuals *out, calc_session_find *find, void *context,
                                 calc_errors *errors)
{
    (void)find;
    (void)context;
    *out = (calc_residuals){0};
    return calc_errors_add(errors, CALC_ERR_NOT_FOUND, CALC_KIND_NONE, NULL, NULL,
                           "a page has no measured runs");
}

calc_sweep_advice calc_sweep_order_advise(const calc_residuals *measured,
                                          const calc_sweep_study *study,
                                          const calc_sweep_result *result)
{
    (void)measured;
    (void)study;
    (void)result;
    return (calc_sweep_advice){0};
}

void calc_residuals_free(calc_residuals *residuals)
{
    *residuals = (calc_residuals){0};
}

bool calc_adapters_read(const calc_setting_row *row, const char *text, int64_t *set, char *expect,
                        size_t size)
{
    (void)row;
    (void)text;
    *set = 0;
    snprintf(expect, size, "names: a page reads no regular expressions");
    return false;
}
