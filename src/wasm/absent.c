/* What a module lacks: it writes no files. */
#include "base/draft.h"

#include <errno.h>

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
