/** @file import_batch.h  Batches as DeepSpeed and TorchTitan count them, in the members that
 *  calc_plan_apply() reads. */
#ifndef CALC_FORMATS_IMPORT_BATCH_H
#define CALC_FORMATS_IMPORT_BATCH_H

#include "formats/framework.h"

/** Say what follows from what a file says of batches, and of the model that it names.
 *  DeepSpeed (runtime/config.py, _configure_train_batch_size): the batch is the product of
 *  micro-batch, accumulation and replicas, of which any may be left out. TorchTitan (train.py): a
 *  replica takes local_batch_size sequences in a pass, in micro-batches if there are stages.
 *  @return CALC_OK, or CALC_ERR_RULE if the three are given and are not the batch */
CALC_MUST_USE calc_status calc_import_batch(const calc_framework *framework, calc_plan *plan,
                                            calc_errors *errors);

#endif
