/* Nothing that a layout states is lost in silence: each field of a layout, with any other value
   that is legal and that changes a statistic, changes the settings of a framework, or is told as
   lost, or is a reason to refuse. Of every framework, beside shipped layouts that it runs. */
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "field_walk.h"
#include "formats/export.h"
#include "frame.h"
#include "shipped.h"
#include "spec/absent.h"

const calc_test_frame calc_tests = {.in_one_process = true};

/* What a framework makes of a layout. */
typedef struct exported {
    calc_settings settings;
    char told[8192]; /* fields that are lost, "\nKEY = VALUE" */
    size_t reasons;
    bool fails;
} exported;

static const calc_framework *framework;
static calc_random_layout layout; /* at hand, in which fields change */
static exported usual;            /* of the layout as it is shipped */
static calc_stats before;
static const char *current;
static char silent[4096]; /* fields that were lost without a word */
static size_t tried;

static void collect(void *context, const char *field, const char *value, bool is_layout)
{
    exported *e = context;
    size_t length = strlen(e->told);
    (void)is_layout;
    snprintf(e->told + length, sizeof e->told - length, "\n%s = %s", field, value);
}

static void ignore(void *context, const char *reason)
{
    (void)context;
    (void)reason;
}

static void export_to(const calc_random_layout *l, exported *e)
{
    *e = (exported){0};
    calc_errors errors = {0};
    calc_exec server[CALC_POOL_COUNT];
    int servers = calc_export_servers(framework, &l->exec, server);
    for (int i = 0; i < servers && !e->fails; i++) {
        e->fails = calc_export(framework, &l->app, &server[i], 8, &e->settings, &errors) != CALC_OK;
        if (!e->fails && servers == 1) {
            ck_assert_int_eq(
                calc_export_lost(framework, &l->app, &l->exec, &e->settings, collect, e), CALC_OK);
        }
    }
    ck_assert_int_eq(calc_export_refused(framework, &l->app, &l->exec, ignore, NULL, &e->reasons),
                     CALC_OK);
}

static void count_change(void *context, const char *key, const char *a, const char *b)
{
    size_t *count = context;
    (void)key;
    (void)a;
    (void)b;
    ++*count;
}

static bool moves(const calc_random_layout *l)
{
    calc_stats after;
    calc_exec exec = l->exec;
    calc_resolve(&l->app, &l->system, &exec);
    calc_run(&l->app, &l->system, &exec, CALC_COMPAT_NONE, &after);
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    bool same = before.verdict == after.verdict;
    for (size_t i = 0; i < table->count && same; i++) {
        const calc_field_ref ref = {CALC_KIND_STATS, &table->rows[i], table->rows[i].offset};
        double p = calc_field_number(&ref, &before), q = calc_field_number(&ref, &after);
        same = fabs(p - q) <= 1e-12 * fabs(p) || p == q || (isnan(p) && isnan(q));
    }
    return !same;
}

static void visit(const calc_field_at *at, void *context)
{
    (void)context;
    double values[CALC_FIELD_VALUES];
    const char *key = at->field->key;
    bool of_model = strncmp(at->path, "app.", 4) == 0;
    size_t length = strlen(key);
    bool network = length > 4 && strcmp(key + length - 4, "_net") == 0;
    if (strncmp(at->path, "sys.", 4) == 0 || network || (of_model && !framework->has_model) ||
        (strcmp(key, "seq_size") == 0 && !framework->has_model) ||
        calc_is_word(framework->elsewhere, key)) {
        return;
    }
    const calc_random_layout kept = layout;
    int count = calc_field_is_single(at->field) ? calc_field_others(at, values) : 0;
    for (int i = 0; i < count; i++) {
        calc_field_write(at->field, at->member, values[i]);
        bool absent = (at->field->flags & CALC_OPTIONAL) && calc_absent_is(at->field, at->member);
        absent = absent || calc_idle(&layout.app, &layout.exec, at->field); /* as export has it */
        if (!absent && memcmp(&kept, &layout, sizeof kept) != 0 &&
            calc_check(&layout.app, &layout.system, &layout.exec, NULL) == CALC_OK &&
            moves(&layout)) {
            exported now;
            size_t changes = 0;
            export_to(&layout, &now);
            calc_settings_compare(&usual.settings, &now.settings, count_change, &changes);
            tried++;
            if (!now.fails && now.reasons == usual.reasons && changes == 0 &&
                strcmp(now.told, usual.told) == 0) {
                size_t end = strlen(silent);
                snprintf(silent + end, sizeof silent - end, "\n%s: %s: %s = %g", framework->name,
                         current, at->path, values[i]);
            }
            calc_settings_free(&now.settings);
        }
        layout = kept;
    }
}

static void with(const char *name, const calc_random_layout *l)
{
    current = name;
    layout = *l;
    for (size_t i = 0; calc_framework_list[i]; i++) {
        framework = calc_framework_list[i];
        if (framework->serves == layout.exec.training) {
            continue;
        }
        export_to(&layout, &usual);
        if (usual.reasons == 0 && !usual.fails) {
            calc_exec exec = layout.exec;
            calc_resolve(&layout.app, &layout.system, &exec);
            calc_run(&layout.app, &layout.system, &exec, CALC_COMPAT_NONE, &before);
            calc_field_walk(&layout, visit, NULL);
        }
        calc_settings_free(&usual.settings);
    }
}

CALC_TEST(nothing_is_lost_in_silence)
{
    calc_shipped_with("llama3-70B", "h100_sxm", "llama3-70B_serving_8", with);
    calc_shipped_with("deepseek-v3-671B", "h100_sxm", "deepseek-v3_serving_128", with);
    calc_shipped_with("llama3-70B", "h100_sxm", "llama3-70B_512", with);
    calc_shipped_with("mixtral-8x7B", "h100_sxm", "mixtral-8x7B_64", with);
    calc_shipped_with("llama3-8B", "h100_sxm", "llama3-8B_128_fsdp", with);
    ck_assert_uint_gt(tried, 1000);
    ck_assert_msg(!silent[0], "lost without a word:%s", silent);
}
