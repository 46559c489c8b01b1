/* A field that is said to change nothing does not change a bit of any statistic, on random layouts
 * of today; and each of them matters somewhere else. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "frame.h"
#include "random_modern.h"
#include "spec/absent.h"
#include "spec/field.h"

const calc_test_frame calc_tests = {.timeout_s = 120};

enum { LAYOUTS = 1500, FIELDS = 128 };

/* Layouts where a field was idle and where it was not and mattered. */
static int idle[FIELDS], felt[FIELDS];

/* The first statistic that differs in any bit; NULL if none does. Every NaN is the same. */
static const char *difference(const calc_stats *a, const calc_stats *b)
{
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *row = &table->rows[i];
        double x = *(const double *)(const void *)((const char *)a + row->offset);
        double y = *(const double *)(const void *)((const char *)b + row->offset);
        if (memcmp(&x, &y, sizeof x) != 0 && !(isnan(x) && isnan(y))) {
            return row->key;
        }
    }
    return a->verdict == b->verdict ? NULL : "verdict";
}

/* Give a field each of its choices, or numbers around its own. */
static void change(const calc_random_layout *l, size_t row, uint64_t number)
{
    const calc_field *field = &calc_table_of(CALC_KIND_EXEC)->rows[row];
    calc_stats before;
    bool is_idle = calc_idle(&l->app, &l->exec, field);
    double now = calc_member_number(field, (const char *)&l->exec + field->offset);
    calc_run(&l->app, &l->system, &l->exec, CALC_COMPAT_NONE, &before);
    for (int i = 0; i < 5; i++) {
        bool choice = field->type == CALC_TYPE_ENUM || field->type == CALC_TYPE_BOOL;
        double value = choice ? i : now - 1 + i;
        int last = field->type == CALC_TYPE_BOOL ? 1 : 0;
        while (field->type == CALC_TYPE_ENUM && field->choices[last + 1]) {
            last++;
        }
        calc_exec changed = l->exec;
        calc_stats after;
        if ((choice && i > last) || (!choice && !calc_field_in_range(field, value))) {
            continue;
        }
        calc_member_set(field, (char *)&changed + field->offset, value);
        if (calc_check(&l->app, &l->system, &changed, NULL) != CALC_OK) {
            continue;
        }
        calc_run(&l->app, &l->system, &changed, CALC_COMPAT_NONE, &after);
        const char *what = difference(&before, &after);
        ck_assert_msg(!is_idle || !what, "layout %llu: %s %g -> %g moves %s",
                      (unsigned long long)number, field->key, now, value, what);
        idle[row] += is_idle && value != now;
        felt[row] += !is_idle && what;
    }
}

static bool is_number(const calc_field *field)
{
    return field->type == CALC_TYPE_INT || field->type == CALC_TYPE_REAL ||
           field->type == CALC_TYPE_BOOL || field->type == CALC_TYPE_ENUM;
}

CALC_TEST(idle_fields_change_nothing_and_matter_elsewhere)
{
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    ck_assert_uint_le(table->count, FIELDS);
    for (uint64_t i = 0; i < LAYOUTS; i++) {
        calc_rng rng;
        calc_random_layout l;
        calc_rng_init(&rng, 20261122, i);
        calc_random_modern_make(&rng, &l);
        for (size_t row = 0; row < table->count; row++) {
            const calc_field *field = &table->rows[row];
            bool once = calc_idle(&l.app, &l.exec, field) || idle[row] > 0;
            if (is_number(field) && once && (calc_idle(&l.app, &l.exec, field) || !felt[row])) {
                change(&l, row, i);
            }
        }
    }
    for (size_t row = 0; row < table->count; row++) {
        ck_assert_msg(idle[row] == 0 || felt[row] > 0, "%s is never felt", table->rows[row].key);
    }
}
