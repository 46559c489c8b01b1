/** @file profiles.h  Reads the table of profiles with which Taylor ranks candidates. */
#ifndef CALC_TAYLOR_PROFILES_H
#define CALC_TAYLOR_PROFILES_H

#include "io/csv_table.h"
#include "taylor/pipeline.h"
#include "taylor/yaml.h"

/** A row; NaN: blank, or no such column. */
typedef struct calc_taylor_profile {
    int line;
    int data, tensor, pipeline, expert;
    double dense, backward, again, head, layer_ms;
} calc_taylor_profile;

/** Reads a file with columns dp, tp, pp, ep, dmratio, bfratio, re_grow_ration, hratio and moe_bw,
 *  in any order; other columns are ignored. *out must be freed with calc_taylor_profiles_free() in
 *  any case, and has the valid rows even if there are errors.
 *  @return as calc_csv_table_read() */
CALC_MUST_USE calc_status calc_taylor_profiles_read(calc_csv_rows *out, const char *path,
                                                    calc_errors *errors);
CALC_MUST_USE calc_status calc_taylor_profiles_parse(calc_csv_rows *out, calc_text text,
                                                     const char *name, calc_errors *errors);
void calc_taylor_profiles_free(calc_csv_rows *rows);

/** Taylor's defaults: 0.3, 2, 1, 1.5, and no time. */
calc_taylor_ratios calc_taylor_ratios_preset(void);

/** The ratios of a candidate from its last row, with defaults for blanks.
 *  @return whether there is a row */
bool calc_taylor_profiles_find(const calc_csv_rows *rows, const calc_taylor_candidate *candidate,
                               calc_taylor_ratios *out);

#endif
