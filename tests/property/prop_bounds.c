/* The range of a field keeps every statistic finite: each number of a layout alone at the ends of
   its range either gives numbers or a verdict that it does not fit. On every shipped machine. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "field_walk.h"
#include "frame.h"
#include "shipped.h"
#include "spec/field.h"

static calc_random_layout layout;
static const char *current; /* its name */
static calc_stats usual;
static uint64_t feasible, tried;

/* Whether requests that come faster than they are served wait for ever. */
static bool waits_for_ever(const calc_field_at *at, const char *statistic)
{
    return strcmp(at->path, "exe.inference.arrival_rate") == 0 &&
           (strncmp(statistic, "ttft", 4) == 0 || strcmp(statistic, "queue_time") == 0 ||
            strcmp(statistic, "request_time") == 0);
}

/* Statistics that say "not known" where a field is 0. */
static bool is_unknown(const calc_field_at *at, const char *statistic, double number)
{
    if (waits_for_ever(at, statistic)) {
        return true;
    }
    return number == 0 &&
           ((strcmp(at->path, "sys.watts") == 0 && strcmp(statistic, "energy_per_token") == 0) ||
            (strcmp(at->path, "sys.usd_per_hour") == 0 && strstr(statistic, "usd_per_")));
}

static void must(bool holds, const calc_field_at *at, double number, const char *statistic,
                 double value)
{
    if (!holds) {
        ck_abort_msg("%s: %s = %g: %s is %g", current, at->place, number, statistic, value);
    }
}

static void must_be_finite(const calc_field_at *at, const calc_random_layout *l, double number)
{
    calc_stats stats;
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    if (calc_check(&l->app, &l->system, &l->exec, NULL) != CALC_OK) {
        return;
    }
    tried++;
    if (calc_run(&l->app, &l->system, &l->exec, CALC_COMPAT_NONE, &stats) != CALC_VERDICT_OK) {
        return;
    }
    feasible++;
    must(stats.total_time > 0, at, number, "total_time", stats.total_time);
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *row = &table->rows[i];
        double value = *(const double *)(const void *)((const char *)&stats + row->offset);
        double before = *(const double *)(const void *)((const char *)&usual + row->offset);
        bool may_be_nan = isnan(before) || is_unknown(at, row->key, number);
        must(isfinite(value) || (isnan(value) && may_be_nan), at, number, row->key, value);
    }
}

static void try_number(const calc_field_at *at, double number)
{
    calc_random_layout changed = layout;
    void *member = (char *)&changed + ((char *)at->member - (char *)&layout);
    calc_field_write(at->field, member, number * calc_field_scale(at->field));
    must_be_finite(at, &changed, number);
}

static void try_offset(const calc_field_at *at, double offset)
{
    calc_random_layout changed = layout;
    calc_network_op *op = (void *)((char *)&changed + ((char *)at->member - (char *)&layout));
    op->offset = offset;
    must_be_finite(at, &changed, offset);
}

/* Every step of a curve. */
static void try_curve(const calc_field_at *at, double efficiency)
{
    calc_random_layout changed = layout;
    calc_curve *curve = (void *)((char *)&changed + ((char *)at->member - (char *)&layout));
    for (int64_t i = 0; i < curve->count; i++) {
        curve->efficiency[i] = efficiency;
    }
    must_be_finite(at, &changed, efficiency);
}

static void try_ends(const calc_field_at *at, void *context)
{
    (void)context;
    const calc_field *field = at->field;
    switch (field->type) {
    case CALC_TYPE_REAL:
        ck_assert_msg(field->lo < field->hi, "%s has no range", at->path);
        try_number(at, field->lo);
        try_number(at, field->flags & CALC_BELOW_HI ? nextafter(field->hi, 0) : field->hi);
        if (field->flags & CALC_OR_ZERO) {
            ck_assert(field->flags & CALC_OPTIONAL && field->lo > 0);
            try_number(at, 0);
        }
        break;
    case CALC_TYPE_CURVE:
        try_curve(at, 1e-6);
        try_curve(at, 1);
        break;
    case CALC_TYPE_OP:
        try_number(at, 1e-6);
        try_number(at, 1e6);
        if (!(field->flags & CALC_POINT_TO_POINT)) {
            try_offset(at, -1);
            try_offset(at, 1e6);
        }
        break;
    default:
        break;
    }
}

static void try_all(const char *name, const calc_random_layout *l)
{
    if (l->system.networks[0].size < l->exec.strategy.tensor_par) {
        return; /* a machine of single processors */
    }
    current = name;
    layout = *l;
    layout.system.chip.mem1.capacity_bytes = layout.system.chip.mem2.capacity_bytes = 1e15;
    ck_assert_msg(calc_run(&layout.app, &layout.system, &layout.exec, CALC_COMPAT_NONE, &usual) ==
                      CALC_VERDICT_OK,
                  "%s", name);
    calc_field_walk(&layout, try_ends, NULL);
}

CALC_TEST(every_number_at_the_ends_of_its_range_gives_numbers)
{
    calc_shipped_machines(try_all);
    ck_assert_uint_gt(tried, 10000);
    ck_assert_uint_gt(10 * feasible, 9 * tried);
}
