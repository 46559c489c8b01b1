#include "random_near.h"

#include <check.h>
#include <stdlib.h>

#include "field_walk.h"
#include "shipped.h"

static calc_random_layout *shipped;
static uint32_t shipped_count;

static void keep(const char *name, const calc_random_layout *layout)
{
    (void)name;
    shipped = realloc(shipped, (shipped_count + 1) * sizeof *shipped);
    ck_assert_ptr_nonnull(shipped);
    shipped[shipped_count++] = *layout;
}

/* The walk to one of the fields: how many there are, or the one that is looked for. */
typedef struct search {
    uint32_t fields, wanted;
    calc_field_at found;
} search;

static void pass_by(const calc_field_at *at, void *context)
{
    search *s = context;
    if (s->fields++ == s->wanted) {
        s->found = *at;
    }
}

/* Give a random field another value, if the layout stays legal. @return whether it did */
static bool change(calc_rng *rng, calc_random_layout *l)
{
    static calc_random_layout changed;
    double values[CALC_FIELD_VALUES];
    search s = {.wanted = UINT32_MAX};
    changed = *l;
    calc_field_walk(&changed, pass_by, &s);
    s = (search){.wanted = calc_rng_below(rng, s.fields)};
    calc_field_walk(&changed, pass_by, &s);
    int count = calc_field_others(&s.found, values);
    if (count == 0) {
        return false;
    }
    calc_field_write(s.found.field, s.found.member, values[calc_rng_below(rng, (uint32_t)count)]);
    if (calc_check(&changed.app, &changed.system, &changed.exec, NULL) != CALC_OK) {
        return false;
    }
    *l = changed;
    return true;
}

void calc_random_near_make(calc_rng *rng, calc_random_layout *out)
{
    if (shipped_count == 0) {
        calc_shipped_all(keep);
    }
    *out = shipped[calc_rng_below(rng, shipped_count)];
    for (uint32_t left = 1 + calc_rng_below(rng, 4); left > 0;) {
        left -= change(rng, out) ? 1 : 0;
    }
}
