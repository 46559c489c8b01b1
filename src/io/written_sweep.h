/** @file written_sweep.h  What calc sweep --out wrote, for written.c. */
#ifndef CALC_IO_WRITTEN_SWEEP_H
#define CALC_IO_WRITTEN_SWEEP_H

#include "io/json_report.h"
#include "io/written.h"

#include <jansson.h>

/** Read the document into a sweep that is {0}; report what is wrong. */
void calc_written_read_sweep(calc_json_report *report, json_t *root, calc_written_sweep *out);

/** Free what it owns. */
void calc_written_free_sweep(calc_written_sweep *sweep);

#endif
