#include "model/cost/kernel_table.h"

#include <math.h>

/* Sizes that differ by less are one: rounding of their logarithms. */
#define EQUAL 1e-9

void calc_kernel_key_sizes(calc_kernel_key *key, const double *size, int sizes)
{
    key->sizes = sizes;
    for (int i = 0; i < sizes; i++) {
        key->log2_size[i] = log2(size[i]);
    }
}

double calc_kernel_table_s(const calc_kernel_table *table, const calc_kernel_key *key,
                           double model_s, calc_kernel_source *source)
{
    double weights = 0;
    double ratio = 0;
    double exact_s = 0;
    size_t exact = 0;
    bool same_kind = false;
    for (size_t i = 0; i < table->count; i++) {
        const calc_kernel_point *p = &table->point[i];
        if (p->key.kind != key->kind || p->key.pass != key->pass ||
            p->key.datatype != key->datatype || p->key.variant != key->variant ||
            p->key.sizes != key->sizes) {
            continue;
        }
        double square = 0;
        for (int n = 0; n < key->sizes; n++) {
            double step = p->key.log2_size[n] - key->log2_size[n];
            square += step * step;
        }
        double d = sqrt(square);
        same_kind = true;
        if (d <= EQUAL) {
            exact_s += p->measured_s;
            exact++;
        } else if (d <= CALC_KERNEL_NEAR) {
            weights += 1 / (d * d);
            ratio += p->log_ratio / (d * d);
        }
    }
    *source = exact > 0     ? CALC_KERNEL_EXACT
              : weights > 0 ? CALC_KERNEL_INTERPOLATED
              : same_kind   ? CALC_KERNEL_CURVE
                            : CALC_KERNEL_ROOFLINE;
    return exact > 0     ? exact_s / (double)exact
           : weights > 0 ? model_s * exp(ratio / weights)
                         : model_s;
}

const char *calc_kernel_source_text(calc_kernel_source source)
{
    static const char *const texts[CALC_KERNEL_SOURCES] = {"roofline", "curve", "interpolated",
                                                           "exact"};
    return texts[source];
}
