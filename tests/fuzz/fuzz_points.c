/* Any bytes either fail with errors that name a line, or give measured operators of which the used
 * ones have a time, a prediction, and a place in a table where they find themselves. */
#include "../unit/documents.h"
#include "calibrate/points.h"
#include "fuzz.h"

#include <math.h>

static void check_table(const calc_points *points, const calc_system *system)
{
    calc_point_table table;
    calc_point_table_make(&table, points->item, points->count, NULL, system);
    for (size_t i = 0; i < points->count; i++) {
        const calc_point *p = &points->item[i];
        calc_kernel_source source;
        if (calc_point_is_used(p)) {
            calc_kernel_key key = calc_point_key(p, system);
            double s = calc_kernel_table_s(&table.table, &key, 1, &source);
            MUST(source == CALC_KERNEL_EXACT && s > 0 && isfinite(s));
        }
    }
    calc_point_table_free(&table);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static calc_system system;
    static calc_point_fit fit;
    calc_points points;
    calc_errors errors = {0};
    calc_text text = {malloc(size + 1), size};
    MUST(text.data != NULL);
    memcpy(text.data, data, size);
    text.data[size] = '\0';
    MUST(calc_parse(CALC_KIND_SYSTEM, &system, SYSTEM_TEXT, strlen(SYSTEM_TEXT), "valid", NULL) ==
         CALC_OK);
    calc_status status = calc_points_parse(&points, text, "input", &errors);
    if (status != CALC_OK) {
        fuzz_check_errors(&errors, status, false);
        MUST(errors.item[0].line >= 1);
    } else if ((status = calc_points_select(&points, NULL, &system, &errors)) != CALC_OK) {
        fuzz_check_errors(&errors, status, false);
    } else {
        for (size_t i = 0; i < points.count; i++) {
            const calc_point *p = &points.item[i];
            MUST(!calc_point_is_used(p) ||
                 (p->measured_s > 0 && calc_point_time_s(p, &system) > 0));
        }
        check_table(&points, &system);
        status = points.count < 64
                     ? calc_point_fit_make(&fit, points.item, points.count, NULL, &system, &errors)
                     : CALC_OK;
        MUST(status == CALC_OK || errors.count > 0);
    }
    calc_points_free(&points);
    return 0;
}
