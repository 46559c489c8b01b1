/* Without MPI every process is alone. */
#include <stdlib.h>

#include "base/error.h"
#include "ranks.h"

calc_status calc_ranks_join(calc_ranks *out, calc_errors *errors)
{
    *out = (calc_ranks){.count = 1, .local = 1};
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    if (size && strtol(size, NULL, 10) > 1) {
        return calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL,
                               "build calc with -DCALC_WITH_MPI=ON, or use --shard",
                               "started by mpirun, but built without MPI");
    }
    return CALC_OK;
}

calc_status calc_ranks_agree(calc_ranks *ranks, calc_status status, calc_errors *errors)
{
    (void)ranks;
    (void)errors;
    return status;
}

calc_status calc_ranks_sweep(calc_ranks *ranks, const calc_space *space,
                             const calc_designs *designs, const calc_sweep_options *options,
                             const calc_saving *saving, calc_sweep_result *result,
                             calc_errors *errors)
{
    (void)ranks;
    return calc_saved_sweep(space, designs, options, saving, result, errors);
}

void calc_ranks_leave(calc_ranks *ranks)
{
    (void)ranks;
}
