/* Residuals made from numbers, as the text of a file. */
#ifndef CALC_TESTS_RESIDUALS_CASE_H
#define CALC_TESTS_RESIDUALS_CASE_H

#include "validate/residuals.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASE_TEXT = 1 << 16 };

static calc_residuals case_residuals;
static calc_output *case_output;
static calc_text case_text;
static int case_count;

static inline void case_begin(void)
{
    case_text = (calc_text){0};
    case_count = 0;
    ck_assert_int_eq(calc_output_open_memory(&case_output, &case_text, NULL), CALC_OK);
    calc_residuals_write_head(case_output);
}

/* Dense, 16 bits, 8 processors, fold 0 of H100; what differs is set by the caller. */
static inline calc_residual case_run(const char *source, double value)
{
    return (calc_residual){.source = source,
                           .machine = "h100_sxm",
                           .traits = {.family = "H100", .bits = 16, .processors = 8},
                           .value = {value, 2 * value}};
}

static inline void case_add(calc_residual run)
{
    char id[32];
    snprintf(id, sizeof id, "run_%d", case_count++);
    run.id = id;
    if (run.fold[CALC_UNSEEN_SOURCE] == 0) {
        run.fold[CALC_UNSEEN_SOURCE] = 100 + case_count % 2; /* two publishers */
    }
    calc_residuals_write(case_output, &run);
}

/* All that were added, read. */
static inline void case_end(void)
{
    calc_errors errors = {0};
    ck_assert_int_eq(calc_output_close(case_output, NULL), CALC_OK);
    ck_assert_msg(calc_residuals_parse(&case_residuals, case_text, "case", &errors) == CALC_OK,
                  "%s", errors.item[0].text);
    ck_assert_uint_eq(case_residuals.count, (size_t)case_count);
}

#endif
