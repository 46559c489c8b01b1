/** @file page_step.h  What a picture of the pipeline needs beside its operations: what they are
 *  spent on, what follows them, and what a stage holds. */
#ifndef CALC_REPORT_PAGE_STEP_H
#define CALC_REPORT_PAGE_STEP_H

#include "io/json_put.h"
#include "model/timeline.h"

/** The member "step" of the object that is open: names of the parts of a pass; of every stage its
 *  passes by these parts, what follows a pipeline that ends at `pipeline_s`, what it always holds
 *  and what a micro-batch in flight adds, in activations of a whole stage; and when the step ends.
 */
void calc_page_step_put(calc_put *put, const calc_timeline *timeline, double pipeline_s);

#endif
