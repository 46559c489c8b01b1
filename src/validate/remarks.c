#include "validate/remarks.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "io/csv_table.h"

/* Those of CALC_QUANTITY_LIST, and all of them. */
static const char *const quantities[] = {"step_time",           "memory",     "tpot", "ttft", "e2e",
                                         "output_tokens_per_s", "tpot_shape", "any",  NULL};
static const char *const uses[] = {"unscored", "suspect", NULL};

static const calc_csv_column columns[] = {
    {.name = "id", CALC_CSV_MEMBER(calc_remark, id)},
    {.name = "quantity", CALC_CSV_MEMBER(calc_remark, quantity), .words = quantities},
    {.name = "use", CALC_CSV_MEMBER(calc_remark, use), .words = uses},
    {.name = "remark", CALC_CSV_MEMBER(calc_remark, remark)}};

static const calc_csv_table table = CALC_CSV_TABLE(columns, calc_remark, NULL);

calc_status calc_remarks_read(calc_remarks *out, const char *path, calc_errors *errors)
{
    calc_csv_rows rows;
    calc_status status = calc_csv_table_read(&rows, &table, path, errors);
    *out = (calc_remarks){rows.item, rows.count, rows.text};
    return status;
}

const calc_remark *calc_remarks_find(const calc_remarks *remarks, const char *id,
                                     const char *quantity)
{
    for (size_t i = 0; i < remarks->count; i++) {
        const calc_remark *r = &remarks->item[i];
        bool about = strcmp(r->quantity, "any") == 0 || strcmp(r->quantity, quantity) == 0;
        if (about && fnmatch(r->id, id, 0) == 0) {
            return r;
        }
    }
    return NULL;
}

void calc_remarks_free(calc_remarks *remarks)
{
    free(remarks->item);
    calc_text_free(&remarks->text);
    *remarks = (calc_remarks){0};
}
