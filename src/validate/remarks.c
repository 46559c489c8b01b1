#include "validate/remarks.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "io/csv_read.h"

enum { CELLS = 4 };

/* What is wrong with a row; NULL: nothing. */
static const char *complaint(char *const *cell, int count)
{
    bool use =
        count == CELLS && (strcmp(cell[2], "unscored") == 0 || strcmp(cell[2], "suspect") == 0);
    bool quantity =
        count == CELLS && (strcmp(cell[1], "any") == 0 || strcmp(cell[1], "step_time") == 0 ||
                           strcmp(cell[1], "memory") == 0);
    return count != CELLS ? "a remark has 4 cells: id, quantity, use, remark"
           : !quantity    ? "the second cell must be step_time, memory or any"
           : !use         ? "the third cell must be unscored or suspect"
                          : NULL;
}

calc_status calc_remarks_read(calc_remarks *out, const char *path, calc_errors *errors)
{
    *out = (calc_remarks){0};
    calc_status status = calc_text_read(&out->text, path, errors);
    if (status != CALC_OK) {
        return status;
    }
    calc_csv_reader reader;
    char *cell[CELLS];
    int line, count;
    calc_csv_read_start(&reader, out->text.data, out->text.length, path);
    bool head = true;
    while ((count = calc_csv_read_row(&reader, cell, CELLS, &line, errors)) > 0) {
        const char *wrong = head ? NULL : complaint(cell, count);
        if (wrong) {
            return calc_csv_read_fail(&reader, line, CALC_ERR_FIELD, errors, NULL, "%s", wrong);
        }
        calc_remark *grown = realloc(out->item, (out->count + 1) * sizeof *grown);
        if (!grown) {
            return calc_csv_read_fail(&reader, line, CALC_ERR_NOMEM, errors, NULL, "%s",
                                      calc_status_text(CALC_ERR_NOMEM));
        }
        out->item = grown;
        if (!head) {
            out->item[out->count++] = (calc_remark){cell[0], cell[1], cell[2], cell[3]};
        }
        head = false;
    }
    return count < 0 ? CALC_ERR_SYNTAX : CALC_OK;
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
