#include "gauss/sobol.h"

#include <gsl/gsl_qrng.h>

bool calc_sobol_point(size_t index, size_t dimensions, double *out)
{
    gsl_qrng *sequence = gsl_qrng_alloc(gsl_qrng_sobol, (unsigned)dimensions);
    for (size_t i = 0; sequence && i <= index; i++) {
        gsl_qrng_get(sequence, out);
    }
    gsl_qrng_free(sequence);
    return sequence != NULL;
}
