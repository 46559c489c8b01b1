/** @file sweep_page_written.h  The page of a sweep from what the sweep wrote: front and best, and
 *  the counts if they were kept. */
#ifndef CALC_CLI_SWEEP_PAGE_WRITTEN_H
#define CALC_CLI_SWEEP_PAGE_WRITTEN_H

#include "io/output.h"
#include "io/written.h"

/** Write the page. Its points, splits and sizes are those of the layouts in the file, which it
 *  says.
 *  @param summary  what calc sweep --summary wrote of the same sweep; NULL: there is none
 *  @return CALC_OK, or CALC_ERR_NOMEM with an error */
CALC_MUST_USE calc_status calc_sweep_page_write_written(calc_output *out,
                                                        const calc_written_sweep *sweep,
                                                        const calc_text *summary,
                                                        calc_errors *errors);

#endif
