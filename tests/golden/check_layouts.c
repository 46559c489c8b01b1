/* All that calc says of many layouts: of what is shipped, of random ones, and of those with some
 * fields changed. Of each statistic its mean and a number made of the first eight digits of its
 * values. A step is a set of layouts: "shipped", "random 100", "modern 100", "near 100" with one
 * number of all statistics; behind it what is asked of each: "fields" for every field with other
 * values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "property/field_walk.h"
#include "property/random_modern.h"
#include "property/random_near.h"
#include "property/shipped.h"
#include "spec/compat.h"

enum { ROWS = 4096, BYTES = 1 << 22 };

/* Values that belong together. */
typedef struct pile {
    const char *table, *key;
    uint64_t count, digest;
    double sum;
} pile;

static pile piles[ROWS];
static bool by_field;
static calc_random_layout walked;
static pile *field_pile, *error_pile;
static int layouts;
static void *workspace;

static pile *pile_of(const char *table, const char *key)
{
    /* Mostly they are asked for in the order in which they were the first time. */
    static pile *after = piles;
    pile *p = after->key ? after : piles;
    if (p == piles || strcmp(p->key, key) != 0 || strcmp(p->table, table) != 0) {
        for (p = piles; p->key && (strcmp(p->key, key) != 0 || strcmp(p->table, table) != 0); p++) {
        }
        ck_assert_ptr_ne(p, piles + ROWS - 1);
        p->table = table;
        p->key = p->key ? p->key : strdup(key);
    }
    after = p + 1;
    return p;
}

static void add_byte(pile *p, unsigned char byte)
{
    p->digest = (p->digest ^ byte) * 1099511628211U;
}

/* To eight digits: the last ones are the C library's. */
static void add(pile *p, double value)
{
    uint64_t bits = 0;
    if (isfinite(value) && value != 0) {
        memcpy(&bits, &value, sizeof bits);
        p->sum += value;
    }
    bits = isnan(value) ? 1 : isfinite(value) ? (bits + (1U << 24)) >> 25 : 2;
    p->count += isfinite(value) ? 1 : 0;
    for (; bits; bits >>= 8) {
        add_byte(p, (unsigned char)bits);
    }
    add_byte(p, 0);
}

static void add_text(pile *p, const char *text)
{
    for (; *text; text++) {
        add_byte(p, (unsigned char)*text);
    }
}

static void add_rows(calc_kind kind, const char *name, const void *object)
{
    const calc_table *table = calc_table_of(kind);
    for (size_t i = 0; i < table->count; i++) {
        const void *member = (const char *)object + table->rows[i].offset;
        add(by_field ? field_pile : pile_of(name, table->rows[i].key), *(const double *)member);
    }
}

/* Statistics with the reasons where it does not fit. */
static void add_stats(const char *name, const calc_random_layout *l, calc_compat compat,
                      const calc_stats *stats)
{
    static calc_reason reasons[CALC_MAX_REASONS];
    add_rows(CALC_KIND_STATS, name, stats);
    size_t count = calc_reasons(&l->app, &l->system, &l->exec, compat, stats, reasons);
    for (size_t i = 0; i < count; i++) {
        pile *p = by_field ? error_pile : pile_of("reasons", calc_verdict_text(reasons[i].verdict));
        p->count++;
        add_text(p, reasons[i].text);
        add_text(p, reasons[i].hint);
    }
}

static void evaluate(const calc_random_layout *l)
{
    static calc_layer_stats layers[CALC_MAX_LAYERS];
    static calc_stage_stats stages[CALC_MAX_LAYERS];
    const calc_app *a = &l->app;
    const calc_exec *e = &l->exec;
    calc_stats stats;
    size_t bytes, count;
    calc_run(a, &l->system, e, CALC_COMPAT_NONE, &stats);
    add_stats("step", l, CALC_COMPAT_NONE, &stats);
    count = calc_layers(a, &l->system, e, CALC_COMPAT_NONE, layers, CALC_MAX_LAYERS);
    for (size_t i = 0; i < count; i++) {
        add_text(by_field ? field_pile : pile_of("layers", "name"), layers[i].name);
        add_rows(CALC_KIND_LAYER, "layers", &layers[i]);
    }
    count = calc_each_stage(a, &l->system, e, CALC_COMPAT_NONE, stages, CALC_MAX_LAYERS);
    for (size_t i = 0; i < count && i < CALC_MAX_LAYERS; i++) {
        add_rows(CALC_KIND_STAGE, "stages", &stages[i]);
    }
    int rule = layouts % CALC_COMPAT_COUNT;
    calc_compat compat = (calc_compat)1 << rule;
    if (calc_compat_check(a, e, compat, NULL) == CALC_OK) {
        pile *p = by_field ? field_pile : pile_of("rule", calc_compat_names[rule]);
        calc_run(a, &l->system, e, compat, &stats);
        for (size_t i = 0; i < calc_table_of(CALC_KIND_STATS)->count; i++) {
            const calc_field *row = &calc_table_of(CALC_KIND_STATS)->rows[i];
            add(p, *(const double *)((const char *)&stats + row->offset));
        }
    }
    if (by_field) {
        return;
    }
    calc_parameters p;
    calc_count_parameters(a, &p);
    double parts[] = {p.total, p.active,    p.attention, p.mlp,    p.experts,
                      p.norm,  p.embedding, p.mtp,       p.encoder};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        add(pile_of("model", "parameters"), parts[i]);
    }
    if (e->training && calc_compat_check(a, e, CALC_COMPAT_CALCULON, NULL) == CALC_OK) {
        calc_run(a, &l->system, e, CALC_COMPAT_CALCULON, &stats);
        add_stats("calculon", l, CALC_COMPAT_CALCULON, &stats);
    }
    if (calc_exact_bytes(e, &bytes, NULL) == CALC_OK && bytes <= BYTES) {
        calc_run_exact(a, &l->system, e, workspace, &stats);
        add_stats("simulated", l, CALC_COMPAT_NONE, &stats);
    }
}

/* ---- One field at a time --------------------------------------------------------------------- */

static void try_value(const calc_field_at *at, double value)
{
    static calc_random_layout changed;
    calc_errors errors = {0};
    changed = walked;
    calc_field_write(at->field, (char *)&changed + ((char *)at->member - (char *)&walked), value);
    if (calc_check(&changed.app, &changed.system, &changed.exec, &errors) == CALC_OK) {
        field_pile->count++;
        evaluate(&changed);
    }
    for (int i = 0; i < errors.count; i++) {
        error_pile->count++;
        add_text(error_pile, errors.item[i].pointer);
        add_text(error_pile, errors.item[i].text);
        add_text(error_pile, errors.item[i].hint);
    }
}

static void try_field(const calc_field_at *at, void *context)
{
    (void)context;
    double values[CALC_FIELD_VALUES];
    field_pile = pile_of("with", at->path);
    error_pile = pile_of("refused", at->path);
    int count = calc_field_others(at, values);
    for (int i = 0; i < count; i++) {
        try_value(at, values[i]);
    }
}

/* ---- The answer ------------------------------------------------------------------------------ */

static void each_layout(const char *name, const calc_random_layout *l)
{
    layouts++;
    if (strcmp(name, "near") == 0) {
        evaluate(l);
    } else if (by_field) {
        walked = *l;
        calc_field_walk(&walked, try_field, NULL);
    } else {
        evaluate(l);
    }
}

static void answer(const char *said, FILE *out)
{
    char set[32], words[2][32] = {"", ""};
    int count = 0, read = sscanf(said, "%31s %31s %31s", set, words[0], words[1]);
    calc_rng rng;
    static calc_random_layout l;
    ck_assert_int_ge(read, 1);
    memset(piles, 0, sizeof piles);
    layouts = 0;
    workspace = aligned_alloc(64, BYTES);
    by_field = strcmp(set, "near") == 0 || strcmp(words[1], "fields") == 0;
    field_pile = pile_of("all", "statistics");
    error_pile = pile_of("all", "reasons");
    count = atoi(words[0]);
    calc_rng_init(&rng, 39, 9);
    if (strcmp(set, "shipped") == 0) {
        calc_shipped_all(each_layout);
    }
    for (int i = 0; i < count; i++) {
        (strcmp(set, "modern") == 0 ? calc_random_modern_make
         : strcmp(set, "near") == 0 ? calc_random_near_make
                                    : calc_random_layout_make)(&rng, &l);
        each_layout(set, &l);
    }
    fprintf(out, "%d layouts\n", layouts);
    for (const pile *p = piles; p->key; p++) {
        if (p->digest) {
            fprintf(out, "%s %s: %llu", p->table, p->key, (unsigned long long)p->count);
            if (p->count && p->sum != 0 && !by_field) {
                fprintf(out, ", %.9g", p->sum / (double)p->count);
            }
            fprintf(out, ", %016llx\n", (unsigned long long)p->digest);
        }
    }
    free(workspace);
}

const calc_test_frame calc_tests = {
    .timeout_s = 300, .cases = "golden/check_layouts.txt", .answer = answer};
