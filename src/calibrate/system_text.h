/** @file system_text.h  The file of a calibrated machine: the old text with new numbers, and with a
 *  source that says which of them were fitted, to which runs, and when. */
#ifndef CALC_CALIBRATE_SYSTEM_TEXT_H
#define CALC_CALIBRATE_SYSTEM_TEXT_H

#include "calibrate/calibration.h"
#include "io/output.h"
#include "io/text.h"

/** The beginning of a calibration's text in the source. */
#define CALC_SYSTEM_TEXT_MARKER "Calibrated on "

/** Write it.
 *  @param old      the text that the machine was read from
 *  @param machine  index in the family
 *  @param date     "2026-11-21"
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_system_text_write(calc_output *out, const calc_text *old,
                                                 const calc_calibration *calibration,
                                                 size_t machine, const char *date,
                                                 calc_errors *errors);

/** The source of a machine's file as its text has it, without quotes and still escaped, up to the
 *  words `until` and the spaces before them; `length` bytes. NULL if there is none. */
const char *calc_system_text_source(const calc_text *old, const char *until, size_t *length);

#endif
