/** @file import_batch.h  Converts batch sizes as DeepSpeed and TorchTitan count them into the
 *  members that calc_plan_apply() reads. */
#ifndef CALC_FORMATS_IMPORT_BATCH_H
#define CALC_FORMATS_IMPORT_BATCH_H

#include "formats/framework.h"

/** Sets the members that follow from a file's batch sizes and from the model it names. DeepSpeed
 *  (runtime/config.py, _configure_train_batch_size): batch = micro-batch * accumulation steps *
 *  replicas; any one of these may be missing. TorchTitan (train.py): a replica takes
 *  local_batch_size sequences in a pass, split into micro-batches if there are stages.
 *  @return CALC_OK, or CALC_ERR_RULE if all three factors are given and their product is not the
 *  batch */
CALC_MUST_USE calc_status calc_import_batch(const calc_framework *framework, calc_plan *plan,
                                            calc_errors *errors);

#endif
