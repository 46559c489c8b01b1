/* Keys that calc knows, values that they take and just do not take, and odd words. */
#ifndef CALC_TESTS_FUZZ_WORDS_H
#define CALC_TESTS_FUZZ_WORDS_H

#include "base/rng.h"
#include "calc.h"

/* Text that is being made; what does not fit is left out. */
typedef struct fuzz_out {
    char *data;
    size_t length, capacity;
} fuzz_out;

void fuzz_put(fuzz_out *out, const char *data, size_t length);
void fuzz_put_text(fuzz_out *out, const char *text);
void fuzz_put_number(fuzz_out *out, double value);

/* A number below `bound`, which is at least 1. */
size_t fuzz_below(calc_rng *rng, size_t bound);
/* True once in so many times. */
bool fuzz_one_in(calc_rng *rng, uint32_t times);

/* A row of any table with this key, one of several by chance, and its table; NULL if none has it.
 */
const calc_field *fuzz_field_of(calc_rng *rng, const char *key, size_t length,
                                const calc_table **table);
/* Any row. */
const calc_field *fuzz_field_any(calc_rng *rng);

/* "exe.tensor_par", "sys.networks[1].size": any field as an assignment names it. */
void fuzz_put_path(fuzz_out *out, calc_rng *rng);

/* A value of the field: mostly in its range, at the edge or just beyond; else one of another type.
 *  @param quoted  as JSON writes it: texts in quotes */
void fuzz_put_value(fuzz_out *out, calc_rng *rng, const calc_field *field, bool quoted);

/* "key": value */
void fuzz_put_member(fuzz_out *out, calc_rng *rng, const calc_field *field);

/* An extreme number, or a word that means something to some reader. */
void fuzz_put_odd(fuzz_out *out, calc_rng *rng, bool quoted);

/* A number near another: next to it, a multiple, of the other sign. */
void fuzz_put_near(fuzz_out *out, calc_rng *rng, double value);

#endif
