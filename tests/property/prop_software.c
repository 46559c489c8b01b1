/* Software is a document of fields of an execution and nothing else: naming it and writing its
 * fields out give the same bits, on random layouts and with every shipped document. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "frame.h"
#include "io/json_put.h"
#include "io/space_load.h"
#include "random_modern.h"
#include "sampled.h"
#include "spec/field.h"
#include "spec/software.h"

const calc_test_frame calc_tests = {.timeout_s = 120};

enum { ROUNDS = 40 };

static const calc_table *table(void)
{
    return calc_table_of(CALC_KIND_EXEC);
}

static bool is_legal(const calc_random_layout *l, const calc_exec *exec)
{
    return calc_check(&l->app, &l->system, exec, NULL) == CALC_OK;
}

static double value_of(const calc_exec *exec, size_t row)
{
    const calc_field *field = &table()->rows[row];
    return calc_member_number(field, (const char *)exec + field->offset);
}

/* What a document states, without a layout. */
static calc_exec document_of(const char *path)
{
    calc_errors errors = {0};
    calc_exec exec = {.automatic = 0};
    snprintf(exec.software, sizeof exec.software, "%s", path);
    ck_assert_msg(calc_software_read(&exec, NULL, NULL, &errors) == CALC_OK, "%s: %s", path,
                  errors.item[0].text);
    exec.stated = exec.wished;
    return exec;
}

/* A layout that leaves some of the fields of a document open: as if it said nothing of them. */
static calc_exec opened(calc_rng *rng, const calc_random_layout *l, const calc_exec *document)
{
    calc_exec exec = l->exec, wish = *document;
    exec.stated = exec.wished = (calc_exec_rows){{0}};
    for (size_t i = 0; i < table()->count; i++) {
        bool open = calc_exec_rows_has(&document->stated, i) && calc_rng_below(rng, 3) > 0;
        if (!open) {
            calc_software_state(&exec, &table()->rows[i]);
        }
    }
    calc_software_apply(&exec, &wish);
    calc_software_take(&exec); /* so that they are as absent keys */
    return exec;
}

static void same_bits(const char *name, uint64_t number, const calc_random_layout *l,
                      const calc_exec *a, const calc_exec *b)
{
    static calc_stats x, y; /* zero between members */
    calc_run(&l->app, &l->system, a, CALC_COMPAT_NONE, &x);
    calc_run(&l->app, &l->system, b, CALC_COMPAT_NONE, &y);
    ck_assert_msg(memcmp(&x, &y, sizeof x) == 0, "%s, layout %llu", name,
                  (unsigned long long)number);
}

/* Saved, it names the document; read again without that, it is the same layout. */
static void comes_back(const calc_exec *exec)
{
    calc_text text = {0};
    calc_errors errors = {0};
    calc_output *out;
    calc_exec again;
    ck_assert_int_eq(calc_output_open_memory(&out, &text, NULL), CALC_OK);
    calc_json_save(out, CALC_KIND_EXEC, exec, 2);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    ck_assert_msg(calc_parse(CALC_KIND_EXEC, &again, text.data, text.length, "saved", &errors) ==
                      CALC_OK,
                  "%s %s", errors.item[0].pointer, errors.item[0].text);
    ck_assert_str_eq(again.software, exec->software);
    ck_assert(calc_same(table(), &again, exec));
    for (size_t i = 0; i < table()->count; i++) {
        bool number = table()->rows[i].type < CALC_TYPE_CURVE;
        bool automatic = number && table()->rows[i].type == CALC_TYPE_ENUM &&
                         strcmp(table()->rows[i].choices[(int)value_of(exec, i)], "auto") == 0;
        ck_assert_msg(!number || automatic || !calc_exec_rows_has(&exec->stated, i) ||
                          calc_exec_rows_has(&again.stated, i),
                      "%s is open again", table()->rows[i].key);
    }
    calc_text_free(&text);
}

/* @return whether the layout could have all that the document wishes */
static bool check(const char *name, const calc_exec *document, uint64_t number)
{
    calc_rng rng;
    calc_random_layout l;
    calc_rng_init(&rng, 20261126, number);
    calc_random_modern_make(&rng, &l);
    const calc_exec base = opened(&rng, &l, document);
    calc_exec named = base, written = base;
    if (!is_legal(&l, &base)) {
        return false;
    }
    snprintf(named.software, sizeof named.software, "%s", name);
    calc_software_apply(&named, document);
    calc_resolve(&l.app, &l.system, &named);
    ck_assert_msg(is_legal(&l, &named), "%s, layout %llu", name, (unsigned long long)number);
    for (size_t i = 0; i < table()->count; i++) {
        if (!calc_exec_rows_has(&document->stated, i) || calc_exec_rows_has(&base.stated, i)) {
            ck_assert_msg(table()->rows[i].type >= CALC_TYPE_CURVE ||
                              value_of(&named, i) == value_of(&base, i),
                          "%s changes %s", name, table()->rows[i].key);
            continue;
        }
        calc_software_copy(&written, document, i);
        calc_exec more = named;
        calc_software_copy(&more, document, i);
        ck_assert_msg(value_of(&named, i) == value_of(document, i) ||
                          (!is_legal(&l, &more) && value_of(&named, i) == value_of(&base, i)),
                      "%s: %s is legal", name, table()->rows[i].key);
    }
    comes_back(&named);
    bool all = is_legal(&l, &written);
    if (all) {
        calc_resolve(&l.app, &l.system, &written); /* it has the checkpoint's formats, too */
        same_bits(name, number, &l, &named, &written);
    }
    calc_exec once = named;
    calc_software_apply(&once, document);
    calc_resolve(&l.app, &l.system, &once);
    ck_assert(calc_same(table(), &once, &named));
    return all;
}

CALC_TEST(naming_a_document_is_writing_its_fields_out)
{
    glob_t found;
    int whole = 0, some = 0;
    ck_assert_int_eq(glob(CALC_DATA_DIR_SOURCE "/executions/software/*.json", 0, NULL, &found), 0);
    ck_assert_uint_ge(found.gl_pathc, 15);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const calc_exec document = document_of(found.gl_pathv[i]);
        ck_assert(document.stated.bits[0] | document.stated.bits[1]);
        int legal = 0;
        for (uint64_t k = 0; k < (uint64_t)sample_of(ROUNDS); k++) {
            legal += check(found.gl_pathv[i], &document, k);
        }
        whole += legal > 0;
        some += legal < sample_of(ROUNDS);
    }
    ck_assert_int_gt(whole, sample_step() > 1 ? 4 : 10); /* neither is empty talk */
    ck_assert_int_gt(some, 10);
    globfree(&found);
}

CALC_TEST(a_document_that_says_nothing_changes_nothing)
{
    const calc_exec nothing = {.automatic = 0};
    for (uint64_t i = 0; i < ROUNDS; i++) {
        calc_rng rng;
        calc_random_layout l;
        calc_rng_init(&rng, 20261127, i);
        calc_random_modern_make(&rng, &l);
        calc_exec exec = l.exec;
        calc_software_apply(&exec, &nothing);
        calc_resolve(&l.app, &l.system, &exec);
        calc_exec plain = l.exec;
        calc_resolve(&l.app, &l.system, &plain);
        same_bits("nothing", i, &l, &exec, &plain);
    }
}
