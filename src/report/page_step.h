/** @file page_step.h  Writes the data of a pipeline's picture other than its operations: the parts
 *  of a pass, the phases after it, and the memory of a stage. */
#ifndef CALC_REPORT_PAGE_STEP_H
#define CALC_REPORT_PAGE_STEP_H

#include "io/json_put.h"
#include "model/timeline.h"

/** Writes the member "step" of the open object: the names of the parts of a pass; for each stage
 *  the parts of its passes, the phases after a pipeline that ends at `pipeline_s`, its static
 *  memory, and the memory that a micro-batch in flight adds, in activations of a whole stage; and
 *  the end of the step. */
void calc_page_step_put(calc_put *put, const calc_timeline *timeline, double pipeline_s);

#endif
