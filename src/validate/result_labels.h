/** @file result_labels.h  Labels of a result in words, for training and serving. Texts are borrowed
 *  from the runs, or static. */
#ifndef CALC_VALIDATE_RESULT_LABELS_H
#define CALC_VALIDATE_RESULT_LABELS_H

#include "validate/results.h"

/** Name, published table, file of the machine, model and confidence of its run; "" where there is
 *  none. */
const char *calc_result_id(const calc_result *result);
const char *calc_result_source(const calc_result *result);
const char *calc_result_machine(const calc_result *result);
const char *calc_result_model(const calc_result *result);
const char *calc_result_confidence(const calc_result *result);

/** "MoE" or "dense", "unknown" of a run that is not predicted; for serving "closed loop",
 * "disaggregated" or "static batch". */
const char *calc_result_kind(const calc_result *result);

/** Engine, its bottleneck, and when it ran: "2025 and later" or "before 2025"; NULL for training,
 *  or if that is not known. */
const char *calc_result_engine(const calc_result *result);
const char *calc_result_regime(const calc_result *result);
const char *calc_result_period(const calc_result *result);

#endif
