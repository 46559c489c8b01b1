/* What a module lacks: it writes no files, and reads those that it holds, which are documents of
 * software and engines. */
#include "base/draft.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/text.h"
#include "wasm/include/files.h"

calc_status calc_text_read(calc_text *text, const char *path, calc_errors *errors)
{
    const calc_file *file = calc_file_list;
    while (file->name && strcmp(file->name, path) != 0) {
        file++;
    }
    *text =
        (calc_text){file->name ? strdup(file->text) : NULL, file->name ? strlen(file->text) : 0};
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
