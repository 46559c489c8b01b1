/* A field written with what it means where it is absent changes nothing: not a bit of a statistic,
   and no verdict. On every shipped model, machine and execution, and on random layouts; resolved.c
   says what absence means. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "engines.h"
#include "frame.h"
#include "random_modern.h"
#include "resolved.h"
#include "sampled.h"
#include "shipped.h"
#include "spec/absent.h"
#include "spec/stack.h"

const calc_test_frame calc_tests = {.in_one_process = true};

/* ---- Layouts --------------------------------------------------------------------------------- */

/* The same ranks, which serve in 8 or 4 bits where there are engines for them. */
static void serve(calc_random_layout *l, calc_datatype narrow, uint64_t engine)
{
    calc_exec *e = &l->exec;
    bool has = l->system.chip.matrix[narrow].flop_per_s > 0;
    e->strategy.matrix_datatype = !has                             ? CALC_FORMAT_AUTO
                                  : narrow == CALC_DATATYPE_FLOAT4 ? CALC_FORMAT_FLOAT4
                                                                   : CALC_FORMAT_FLOAT8;
    e->training = false;
    e->pipeline_schedule = CALC_PIPELINE_SCHEDULE_1F1B;
    e->strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    e->strategy.recompute_modules = 0;
    e->inference =
        (calc_inference){.phase = CALC_INFERENCE_PHASE_SERVE,
                         .engine = shipped_engine(shipped_engine_names[engine % SHIPPED_ENGINES]),
                         .prompt_size = 300,
                         .generate_size = 50};
}

static void random_layouts(calc_shipped_visit *each)
{
    for (uint64_t i = 0; i < (uint64_t)sample_of(400); i++) {
        calc_rng rng;
        calc_random_layout l;
        char name[64];
        calc_rng_init(&rng, 20240601, i);
        (i % 4 == 0 ? calc_random_layout_make : calc_random_modern_make)(&rng, &l);
        if (i % 4 == 1) {
            serve(&l, i % 8 == 1 ? CALC_DATATYPE_FLOAT4 : CALC_DATATYPE_FLOAT8, i / 4);
        }
        snprintf(name, sizeof name, "random layout %llu", (unsigned long long)i);
        each(name, &l);
    }
}

static bool is_legal(const calc_random_layout *l)
{
    return calc_check(&l->app, &l->system, &l->exec, NULL) == CALC_OK;
}

/* ---- The law --------------------------------------------------------------------------------- */

static bool is_optional(const calc_field_at *at)
{
    return at->field->flags & CALC_OPTIONAL;
}

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

static calc_stats run(const calc_random_layout *l, calc_compat compat)
{
    calc_stats stats;
    calc_exec exec = l->exec;
    calc_resolve(&l->app, &l->system, &exec);
    calc_run(&l->app, &l->system, &exec, compat, &stats);
    return stats;
}

/* Rows of the list that were written, and that matter: another value changes something. */
enum { FIELDS = 512 };
static bool written[FIELDS], felt[FIELDS];
static calc_random_layout layout;
static const char *current; /* its name */

static size_t index_of(const char *path)
{
    size_t i = 0;
    while (calc_resolved_path(i) && strcmp(calc_resolved_path(i), path) != 0) {
        i++;
    }
    return i;
}

/* Whether a number other than what absence means changes anything. */
static bool is_felt(const calc_random_layout *before, const calc_field_at *at, double value)
{
    const double others[] = {value + 1, value * 2, value * 0.75, value * 0.5, value + 2, value * 8};
    calc_random_layout changed = *before;
    void *member = (char *)&changed + ((char *)at->member - (char *)&layout);
    calc_stats old = run(before, CALC_COMPAT_NONE);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        int last = 0;
        while (at->field->type == CALC_TYPE_ENUM && at->field->choices[last + 1]) {
            last++;
        }
        bool is_choice = at->field->type != CALC_TYPE_ENUM || others[i] <= last;
        calc_field_write(at->field, member, is_choice ? others[i] : value);
        if (is_legal(&changed)) {
            calc_stats now = run(&changed, CALC_COMPAT_NONE);
            if (difference(&old, &now)) {
                return true;
            }
        }
    }
    return false;
}

/* An operation without latency is one whose latency is the network's, or by steps alone. */
static bool is_latency(const calc_field_at *at)
{
    return strcmp(at->field->key, "latency_fixed") == 0;
}

/* A layout without the field beside one that has what its absence means. */
static void write_resolved(const calc_field_at *at, void *context)
{
    (void)context;
    calc_random_layout before = layout;
    size_t offset = (size_t)((char *)at->member - (char *)&layout);
    if (!calc_absent_is(at->field, at->member)) {
        calc_field_clear(at->field, (char *)&before + offset);
    }
    double value = calc_resolved_value(at, &before);
    if (!is_optional(at) || isnan(value) || !is_legal(&before)) {
        return;
    }
    /* A number on its way to 0 must not jump to what absence means. */
    bool jumps = at->field->type == CALC_TYPE_REAL && value > 0;
    ck_assert_msg(!jumps || at->field->flags & CALC_OR_ZERO || is_latency(at),
                  "%s: 0 means %g: CALC_OR_ZERO, and the least of the others", at->path, value);
    calc_random_layout after = before;
    calc_field_write(at->field, (char *)&after + offset, value);
    ck_assert_msg(is_legal(&after), "%s: %s = %g is not legal", current, at->place, value);
    size_t row = index_of(at->path);
    written[row] = true;
    /* By every rule of Calculon's, too, and by each alone. */
    for (int i = -1; i <= CALC_COMPAT_COUNT; i++) {
        calc_compat compat = i < 0                    ? CALC_COMPAT_NONE
                             : i == CALC_COMPAT_COUNT ? CALC_COMPAT_CALCULON
                                                      : (calc_compat)1 << i;
        bool follows = calc_compat_check(&before.app, &before.exec, compat, NULL) == CALC_OK;
        ck_assert_msg(follows ==
                          (calc_compat_check(&after.app, &after.exec, compat, NULL) == CALC_OK),
                      "%s: %s = %g, which it is anyway, decides whether rules apply", current,
                      at->place, value);
        if (!follows) {
            continue;
        }
        calc_stats old = run(&before, compat);
        calc_stats now = run(&after, compat);
        const char *moved = difference(&old, &now);
        ck_assert_msg(!moved, "%s: %s = %g, which it is anyway, moves %s", current, at->place,
                      value, moved);
    }
    felt[row] = felt[row] || is_felt(&before, at, value);
}

static void write_all(const char *name, const calc_random_layout *l)
{
    current = name;
    layout = *l;
    calc_field_walk(&layout, write_resolved, NULL);
}

/* What no layout of these can feel: an export alone; a size whose product with others is given;
 * what the count of parameters alone has; layers with a state, which none of these serves. */
static bool is_never_felt(const char *path)
{
    return strcmp(path, "app.router_datatype") == 0 || strcmp(path, "app.trained_datatype") == 0 ||
           strcmp(path, "exe.context_par") == 0 || strcmp(path, "app.layer_vocab_size") == 0 ||
           strcmp(path, "exe.inference.state_datatype") == 0;
}

CALC_TEST(what_absence_means_can_be_written_and_changes_nothing)
{
    calc_shipped_all(write_all);
    random_layouts(write_all);
    for (size_t i = 0; calc_resolved_path(i); i++) {
        const char *path = calc_resolved_path(i);
        ck_assert_msg(!written[i] || felt[i] || is_never_felt(path),
                      "%s: no value changes anything, so that this one proves nothing", path);
    }
    ck_assert(!felt[index_of("exe.context_par")]);
}

/* ---- Layers ---------------------------------------------------------------------------------- */

static size_t listed;

/* The layers of a model one by one, where it has windows in all blocks or in none, and experts in
 * all blocks behind the first ones. */
static void list_layers(const char *name, const calc_random_layout *l)
{
    calc_stack_fault fault;
    char pattern[96];
    const calc_app *a = &l->app;
    bool experts = a->num_experts > 0;
    long long dense = experts ? (long long)a->dense_blocks : (long long)a->num_blocks;
    if (!is_legal(l) || a->stack.layers > 0 || a->global_every > 0 || a->moe_every > 1 ||
        a->num_blocks > CALC_MAX_STACK || (experts && dense >= a->num_blocks)) {
        return;
    }
    snprintf(pattern, sizeof pattern, "%lldxattention+mlp %lldxattention+moe", dense,
             (long long)a->num_blocks - dense);
    layout = *l;
    layout.app.dense_blocks = 0;
    const char *from = dense > 0 ? pattern : strchr(pattern, ' ') + 1;
    if (!experts) {
        *strchr(pattern, ' ') = '\0';
    }
    ck_assert_msg(calc_stack_read(&layout.app, from, false, &fault), "%s: %s", name, fault.text);
    calc_stats before = run(l, CALC_COMPAT_NONE);
    calc_stats after = run(&layout, CALC_COMPAT_NONE);
    const char *moved = difference(&before, &after);
    ck_assert_msg(is_legal(&layout) && !moved, "%s: layers one by one move %s", name, moved);
    listed++;
}

CALC_TEST(layers_one_by_one_change_nothing)
{
    calc_shipped_all(list_layers);
    random_layouts(list_layers);
    ck_assert_uint_gt(listed, 50);
}

/* ---- Machines ----------------------------------------------------------------------------------
 */

/* Prompts that are read on the same machine, which another document describes. */
static void name_the_same_machine(const char *name, const calc_random_layout *l)
{
    static calc_system copy;
    if (l->exec.inference.phase != CALC_INFERENCE_PHASE_DISAGGREGATED) {
        return;
    }
    layout = *l;
    copy = l->system;
    layout.exec.inference.prefill_system = (calc_other_system){"the same", &copy};
    calc_stats before = run(l, CALC_COMPAT_NONE);
    calc_stats after = run(&layout, CALC_COMPAT_NONE);
    const char *moved = difference(&before, &after);
    ck_assert_msg(is_legal(&layout) && !moved, "%s: prefill_system moves %s", name, moved);
    copy.chip.mem1.bytes_per_s *= 0.5;
    calc_stats slower = run(&layout, CALC_COMPAT_NONE);
    ck_assert_msg(difference(&before, &slower) != NULL, "%s", name);
}

CALC_TEST(a_prefill_pool_on_the_same_machine_changes_nothing)
{
    calc_shipped_all(name_the_same_machine);
}

/* ---- The list -------------------------------------------------------------------------------- */

static bool seen[FIELDS];

static void is_listed(const calc_field_at *at, void *context)
{
    (void)context;
    if (!is_optional(at)) {
        return;
    }
    ck_assert_msg(calc_resolved_known(at), "%s: say in resolved.c what its absence means",
                  at->path);
    seen[index_of(at->path)] = true;
}

CALC_TEST(every_optional_field_is_in_the_list_and_nothing_else)
{
    calc_random_layout l = {.system.networks_count = 1};
    calc_field_walk(&l, is_listed, NULL);
    for (size_t i = 0; calc_resolved_path(i); i++) {
        ck_assert_msg(seen[i], "%s is no optional field", calc_resolved_path(i));
        ck_assert_uint_eq(index_of(calc_resolved_path(i)), i);
    }
}

/* ---- Defaults -------------------------------------------------------------------------------- */

/* What an absent field has, as --set takes it. */
static const char *default_text(const calc_field *field, char buffer[64])
{
    switch (field->type) {
    case CALC_TYPE_BOOL:
        return "false";
    case CALC_TYPE_ENUM:
        return field->choices[0];
    case CALC_TYPE_SET:
        return "none";
    case CALC_TYPE_OP:
        snprintf(buffer, 64, "[1, %g]", field->absent);
        return buffer;
    default:
        snprintf(buffer, 64, "%g", field->absent);
        return buffer;
    }
}

static void set_default(const calc_field_at *at, void *context)
{
    (void)context;
    static calc_random_layout cleared, set;
    char value[64], assignment[192];
    if (!is_optional(at) || at->field->type == CALC_TYPE_CURVE ||
        at->field->type == CALC_TYPE_SYSTEM || at->field->type == CALC_TYPE_ENGINE) {
        return; /* a curve has a step at least, and a system and an engine a name */
    }
    cleared = layout;
    calc_field_clear(at->field, (char *)&cleared + ((char *)at->member - (char *)&layout));
    set = layout;
    snprintf(assignment, sizeof assignment, "%s=%s", at->place, default_text(at->field, value));
    calc_errors errors = {0};
    calc_status status = calc_set(&set.app, &set.system, &set.exec, assignment, NULL, &errors);
    ck_assert_msg(status == CALC_OK, "%s: %s", assignment, errors.item[0].text);
    cleared.exec.stated = set.exec.stated; /* it is said, and says nothing else */
    ck_assert_msg(memcmp(&cleared, &set, sizeof set) == 0, "%s is not what its absence is",
                  assignment);
}

static void set_defaults(const char *name, const calc_random_layout *l)
{
    current = name;
    layout = *l;
    calc_field_walk(&layout, set_default, NULL);
}

CALC_TEST(a_default_can_be_written_and_is_what_absence_is)
{
    calc_shipped_with("deepseek-v3-671B", "h800", "deepseek-v3_serving_128", set_defaults);
    calc_shipped_with("gpt3-175B", "a100_80g", "3072_t4_p64_d12_mbs4_full", set_defaults);
}
