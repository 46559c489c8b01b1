/** @file probes.h  Measured peaks of memory for some layouts, extrapolated to others by peak(ep) =
 *  base + expert_total / ep, because expert parallelism divides only the experts. */
#ifndef CALC_TAYLOR_PROBES_H
#define CALC_TAYLOR_PROBES_H

#include "io/csv_table.h"
#include "taylor/config.h"

/** A row: dp,tp,pp,ep,peak_mem [MB]. */
typedef struct calc_taylor_probe {
    int line;
    int data, tensor, pipeline, expert;
    double peak_mb;
} calc_taylor_probe;

/** Reads such a file; *out must be freed with calc_taylor_probes_free() in any case.
 *  @return as calc_csv_table_read() */
CALC_MUST_USE calc_status calc_taylor_probes_read(calc_csv_rows *out, const char *path,
                                                  calc_errors *errors);
CALC_MUST_USE calc_status calc_taylor_probes_parse(calc_csv_rows *out, calc_text text,
                                                   const char *name, calc_errors *errors);
void calc_taylor_probes_free(calc_csv_rows *rows);

/** The fit to two probes. */
typedef struct calc_taylor_fit {
    int probes; /**< number of probes; with fewer than 2 nothing is known */
    double base_mb, expert_mb;
} calc_taylor_fit;

/** Fits two peaks. @param ep1, ep2  must differ */
calc_taylor_fit calc_taylor_fit_of(int64_t ep1, double peak1_mb, int64_t ep2, double peak2_mb);

/** Fits the first two probes of a layout whose ep differ. */
calc_taylor_fit calc_taylor_probes_fit(const calc_csv_rows *rows, const calc_taylor_layout *layout);

/** Peak [MB] by the fit. */
double calc_taylor_fit_mb(const calc_taylor_fit *fit, int64_t expert);

/** Whether an expert parallelism is tried: a power of 2 up to `most` that divides dp * tp, and
 *  divides the experts if there are any (0: their number is not known). */
bool calc_taylor_tries(const calc_taylor_layout *layout, int64_t experts, int64_t most,
                       int64_t expert);

/* Replaces Taylor's dry runs by calc's model: the peak memory of a layout as a
 * function of expert parallelism. */

/** Peak of the fullest stage [MB], as in calc_taylor_estimate(); NaN if the layout breaks a
 *  rule. */
double calc_taylor_estimate_mb(const calc_taylor_config *config, const calc_system *system,
                               const calc_taylor_layout *layout, int64_t expert, int64_t batch,
                               char *why, size_t size);

/** Fits the peak of the fullest stage, with one chunk, micro-batches of one sequence, and layers
 *  divided by calc_taylor_initial_offset(). The probes are at ep 8 and 16 as in Taylor, or at the
 *  two largest legal ep. If only one ep is legal, the whole peak is base. If another stage is the
 *  fullest at some other ep, its peak there is above the fit.
 *  @param why  filled if the layout breaks a rule of calc; the fit then has no probes */
calc_taylor_fit calc_taylor_estimate(const calc_taylor_config *config, const calc_system *system,
                                     const calc_taylor_layout *layout, int64_t batch, char *why,
                                     size_t size);

#endif
