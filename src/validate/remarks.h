/** @file remarks.h  Published rows that look wrong or should not be scored, by name and with the
 *  reason: tests/measured/remarks.csv. */
#ifndef CALC_VALIDATE_REMARKS_H
#define CALC_VALIDATE_REMARKS_H

#include "calc.h"
#include "io/text.h"

/** One remark. Texts are borrowed from the file. */
typedef struct calc_remark {
    const char *id;       /**< a pattern as in file names: "vtrain_multi_002?" */
    const char *quantity; /**< a word of CALC_QUANTITY_LIST, or "any" */
    const char *use;      /**< "unscored": left out of all groups; "suspect": scored, but no
                               serving engine is fitted to it */
    const char *remark;
} calc_remark;

/** All remarks. Owns everything. Start with {0}. */
typedef struct calc_remarks {
    calc_remark *item;
    size_t count;
    calc_text text;
} calc_remarks;

/** Read a file with the columns id, quantity, use and remark.
 *  @return CALC_OK, or the status of the first error; *out must be freed in any case */
CALC_MUST_USE calc_status calc_remarks_read(calc_remarks *out, const char *path,
                                            calc_errors *errors);

/** The first remark on a run and quantity; NULL if there is none. */
const calc_remark *calc_remarks_find(const calc_remarks *remarks, const char *id,
                                     const char *quantity);

/** Free what they own; fine on {0}. */
void calc_remarks_free(calc_remarks *remarks);

#endif
