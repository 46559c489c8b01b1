#include "spec/field.h"

#include "base/rng.h"
#include "frame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- The tables ------------------------------------------------------------------------------ */

static void check_row(const calc_table *table, const calc_field *row, bool answer)
{
    ck_assert_msg(row->doc && row->doc[0], "%s.%s has no doc", table->name, row->key);
    ck_assert_msg(row->doc[strlen(row->doc) - 1] != '.', "doc of %s.%s ends in a point",
                  table->name, row->key);
    ck_assert_msg(row->lo <= row->hi || row->hi == 0, "range of %s.%s is empty", table->name,
                  row->key);
    ck_assert_msg(row->scale >= 0, "scale of %s.%s is negative", table->name, row->key);
    ck_assert_msg(row->type == CALC_TYPE_NOTE || row->offset < table->size,
                  "%s.%s lies outside its struct", table->name, row->key);
    ck_assert_msg(!answer || row->where, "%s.%s does not say what computes it", table->name,
                  row->key);
    bool nested =
        row->type == CALC_TYPE_OBJECT || row->type == CALC_TYPE_LIST || row->type == CALC_TYPE_MAP;
    ck_assert_msg(nested == (row->table != NULL), "table of %s.%s", table->name, row->key);
    bool words =
        row->type == CALC_TYPE_ENUM || row->type == CALC_TYPE_SET || row->type == CALC_TYPE_MAP;
    ck_assert_msg(words == (row->choices != NULL), "choices of %s.%s", table->name, row->key);
}

static int check_table(const calc_table *table, bool answer)
{
    int rows = 0;
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *row = &table->rows[i];
        check_row(table, row, answer);
        for (size_t j = 0; j < i; j++) {
            ck_assert_msg(strcmp(row->key, table->rows[j].key) != 0, "%s has the key %s twice",
                          table->name, row->key);
        }
        ck_assert_ptr_eq(calc_table_find(table, row->key), row);
        rows += 1 + (row->table ? check_table(row->table, answer) : 0);
    }
    return rows;
}

CALC_TEST(every_row_is_complete_and_every_key_unique)
{
    ck_assert_int_gt(check_table(calc_table_of(CALC_KIND_APP), false), 6);
    ck_assert_int_gt(check_table(calc_table_of(CALC_KIND_SYSTEM), false), 20);
    ck_assert_int_gt(check_table(calc_table_of(CALC_KIND_EXEC), false), 20);
    ck_assert_int_gt(check_table(calc_table_of(CALC_KIND_STATS), true), 96);
    ck_assert_int_gt(check_table(calc_table_of(CALC_KIND_LAYER), true), 40);
    ck_assert_int_gt(check_table(calc_table_of(CALC_KIND_STAGE), true), 15);
}

CALC_TEST(calculons_96_statistics_come_before_ours)
{
    const calc_table *stats = calc_table_of(CALC_KIND_STATS);
    for (size_t i = 0; i < stats->count; i++) {
        bool extra = stats->rows[i].flags & CALC_EXTRA;
        ck_assert_msg(extra == (i >= 96), "row %zu, %s", i, stats->rows[i].key);
    }
}

CALC_TEST(kinds_have_a_table_and_a_short_name)
{
    static const char *const names[] = {"app", "sys", "exe", "stats", "layer", "stage"};
    static const size_t sizes[] = {sizeof(calc_app),         sizeof(calc_system),
                                   sizeof(calc_exec),        sizeof(calc_stats),
                                   sizeof(calc_layer_stats), sizeof(calc_stage_stats)};
    ck_assert_uint_eq(COUNT(names), CALC_KIND_COUNT);
    for (size_t i = 0; i < COUNT(names); i++) {
        ck_assert_str_eq(calc_kind_name((calc_kind)i), names[i]);
        ck_assert_uint_eq(calc_table_of((calc_kind)i)->size, sizes[i]);
    }
    ck_assert_ptr_null(calc_table_of(CALC_KIND_NONE));
    ck_assert_ptr_null(calc_table_of((calc_kind)-1));
    ck_assert_str_eq(calc_kind_name(CALC_KIND_NONE), "");
}

CALC_TEST(choices_are_found_by_their_whole_text)
{
    const calc_field *row = calc_table_find(calc_table_of(CALC_KIND_EXEC), "datatype");
    ck_assert_int_eq(calc_choice_index(row->choices, "float8"), CALC_DATATYPE_FLOAT8);
    ck_assert_int_eq(calc_choice_index(row->choices, "float32"), CALC_DATATYPE_FLOAT32);
    ck_assert_int_eq(calc_choice_index(row->choices, "float"), -1);
    ck_assert_int_eq(calc_choice_index(row->choices, ""), -1);
    ck_assert_int_eq(calc_choice_index(row->choices, "bfloat16"), CALC_DATATYPE_BFLOAT16);
}

CALC_TEST(verdicts_have_texts_and_others_say_so)
{
    ck_assert_str_eq(calc_verdict_text(CALC_VERDICT_OK), "ok");
    ck_assert_str_eq(calc_verdict_text(CALC_VERDICT_MEM2_CAPACITY), "mem2_capacity");
    ck_assert_str_eq(calc_verdict_text(CALC_VERDICT_COUNT), "unknown verdict");
    ck_assert_str_eq(calc_verdict_text((calc_verdict)-1), "unknown verdict");
}

/* ---- Fields by path -------------------------------------------------------------------------- */

static calc_field_ref found(calc_kind kind, const char *path)
{
    calc_field_ref ref;
    ck_assert_msg(calc_field_find(kind, path, &ref) == CALC_OK, "%s not found", path);
    ck_assert_int_eq(ref.kind, kind);
    return ref;
}

CALC_TEST(paths_lead_to_members_of_every_type)
{
    static const struct {
        calc_kind kind;
        const char *path;
        calc_field_type type;
        size_t offset;
    } fields[] = {
        {CALC_KIND_APP, "hidden", CALC_TYPE_INT, offsetof(calc_app, hidden)},
        {CALC_KIND_APP, "source", CALC_TYPE_NOTE, 0},
        {CALC_KIND_EXEC, "training", CALC_TYPE_BOOL, offsetof(calc_exec, training)},
        {CALC_KIND_EXEC, "datatype", CALC_TYPE_ENUM, offsetof(calc_exec, strategy.datatype)},
        {CALC_KIND_STATS, "total_time", CALC_TYPE_REAL, offsetof(calc_stats, total_time)},
        {CALC_KIND_LAYER, "weight", CALC_TYPE_REAL, offsetof(calc_layer_stats, weight)},
        {CALC_KIND_SYSTEM, "mem2", CALC_TYPE_OBJECT, offsetof(calc_system, chip.mem2)},
        {CALC_KIND_SYSTEM, "mem2.GiB", CALC_TYPE_REAL,
         offsetof(calc_system, chip.mem2.capacity_bytes)},
        {CALC_KIND_SYSTEM, "mem1.MB_efficiency", CALC_TYPE_CURVE,
         offsetof(calc_system, chip.mem1.efficiency)},
        {CALC_KIND_SYSTEM, "matrix", CALC_TYPE_MAP, offsetof(calc_system, chip.matrix)},
        {CALC_KIND_SYSTEM, "matrix.float16.tflops", CALC_TYPE_REAL,
         offsetof(calc_system, chip.matrix[CALC_DATATYPE_FLOAT16].flop_per_s)},
        {CALC_KIND_SYSTEM, "vector.float32.gflops_efficiency", CALC_TYPE_CURVE,
         offsetof(calc_system, chip.vector[CALC_DATATYPE_FLOAT32].efficiency)},
        {CALC_KIND_SYSTEM, "networks", CALC_TYPE_LIST, offsetof(calc_system, networks)},
        {CALC_KIND_SYSTEM, "networks[0].size", CALC_TYPE_INT,
         offsetof(calc_system, networks[0].size)},
        {CALC_KIND_SYSTEM, "networks[7].ops.all_reduce", CALC_TYPE_OP,
         offsetof(calc_system, networks[7].ops.all_reduce)},
    };
    for (size_t i = 0; i < COUNT(fields); i++) {
        calc_field_ref ref = found(fields[i].kind, fields[i].path);
        ck_assert_msg(ref.field->type == fields[i].type, "type of %s", fields[i].path);
        ck_assert_msg(ref.offset == fields[i].offset, "offset of %s", fields[i].path);
    }
}

CALC_TEST(paths_that_lead_nowhere_leave_the_result_alone)
{
    static const char *const paths[] = {
        "",
        ".",
        "nothing",
        "mem1.",
        ".mem1",
        "mem1..GiB",
        "mem1.GB",
        "mem1[0].GiB",
        "mem1.GiB.more",
        "mem1.GiB[0]",
        "processing_mode.x",
        "networks[8].size",
        "networks[].size",
        "networks[-1].size",
        "networks[+1].size",
        "networks[ 1].size",
        "networks[1]x",
        "networks[1",
        "networks[1].",
        "networks[1]",
        "networks.size",
        "networks[99999999999999999999999].size",
        "matrix.float64.tflops",
        "matrix.float16",
        "matrix[0].tflops",
        "matrix..tflops",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    };
    for (size_t i = 0; i < COUNT(paths); i++) {
        calc_field_ref ref = {CALC_KIND_NONE, NULL, 12345};
        ck_assert_msg(calc_field_find(CALC_KIND_SYSTEM, paths[i], &ref) == CALC_ERR_FIELD,
                      "\"%s\" was found", paths[i]);
        ck_assert_ptr_null(ref.field);
        ck_assert_uint_eq(ref.offset, 12345);
    }
    calc_field_ref ref;
    ck_assert_int_eq(calc_field_find(CALC_KIND_NONE, "mem1", &ref), CALC_ERR_FIELD);
}

CALC_TEST(members_of_inference_need_no_prefix)
{
    const size_t at = offsetof(calc_exec, inference);
    ck_assert_uint_eq(found(CALC_KIND_EXEC, "phase").offset, at + offsetof(calc_inference, phase));
    ck_assert_uint_eq(found(CALC_KIND_EXEC, "isl").offset,
                      at + offsetof(calc_inference, prompt_size));
    ck_assert_uint_eq(found(CALC_KIND_EXEC, "inference.osl").offset,
                      at + offsetof(calc_inference, generate_size));
    ck_assert_uint_eq(found(CALC_KIND_EXEC, "concurrency").offset,
                      at + offsetof(calc_inference, batch));
    /* Fields of a layout go before them, and names that begin one are not theirs. */
    ck_assert_uint_eq(found(CALC_KIND_EXEC, "seq").offset, offsetof(calc_exec, seq_size));
    calc_field_ref ref;
    ck_assert_int_eq(calc_field_find(CALC_KIND_EXEC, "batch", &ref), CALC_ERR_FIELD);
    ck_assert_int_eq(calc_field_find(CALC_KIND_APP, "phase", &ref), CALC_ERR_FIELD);
    ck_assert_int_eq(calc_field_find(CALC_KIND_EXEC, "phase.x", &ref), CALC_ERR_FIELD);
}

CALC_TEST(numbers_are_read_in_file_units)
{
    calc_exec exec = {
        .strategy.tensor_par = 8, .training = true, .strategy.datatype = CALC_DATATYPE_BFLOAT16};
    calc_system system = {.chip.mem1.capacity_bytes = 80.0 * (1 << 30)};
    calc_field_ref ref = found(CALC_KIND_EXEC, "tensor_par");
    ck_assert_double_eq(calc_field_number(&ref, &exec), 8);
    ref = found(CALC_KIND_EXEC, "training");
    ck_assert_double_eq(calc_field_number(&ref, &exec), 1);
    ref = found(CALC_KIND_EXEC, "datatype");
    ck_assert_double_eq(calc_field_number(&ref, &exec), CALC_DATATYPE_BFLOAT16);
    ref = found(CALC_KIND_SYSTEM, "mem1.GiB");
    ck_assert_double_eq(calc_field_number(&ref, &system), 80);
    ck_assert_double_eq(calc_field_scale(ref.field), 1073741824);
    ref = found(CALC_KIND_SYSTEM, "mem1");
    ck_assert_double_nan(calc_field_number(&ref, &system));
    ck_assert_double_eq(calc_field_scale(ref.field), 1);
}

/* ---- Numbers as text ------------------------------------------------------------------------- */

static const double scales[] = {1, 1e6, 1e9, 1e12, 1073741824.0};

CALC_TEST(numbers_that_were_derived_have_their_range)
{
    static calc_app app;
    char text[128];
    ck_assert(!calc_misfit(CALC_KIND_APP, &app, true, text, sizeof text));
    ck_assert(calc_misfit(CALC_KIND_APP, &app, false, text, sizeof text));
    ck_assert_str_eq(text, "hidden would be 0, expected at least 1");
    app.num_blocks = 10001;
    ck_assert(calc_misfit(CALC_KIND_APP, &app, true, text, sizeof text));
    ck_assert_str_eq(text, "num_blocks would be 10001, expected 1 to 10000");
    app.num_blocks = 10000;
    ck_assert(!calc_misfit(CALC_KIND_APP, &app, true, text, sizeof text));
    /* A part of its layers, too, but not one that is not in use. */
    app.stack.part[1].compress_ratio = 1000001;
    app.stack.parts = 1;
    ck_assert(!calc_misfit(CALC_KIND_APP, &app, true, text, sizeof text));
    app.stack.parts = 2;
    ck_assert(calc_misfit(CALC_KIND_APP, &app, true, text, sizeof text));
    ck_assert_str_eq(text, "compress_ratio would be 1000001, expected at most 1000000");
}

CALC_TEST(numbers_have_their_shortest_text)
{
    static const struct {
        double value, scale;
        const char *text;
    } numbers[] = {
        {0, 1, "0"},
        {-0.0, 1, "-0"},
        {0.1, 1, "0.1"},
        {1.0 / 3, 1, "0.3333333333333333"},
        {0.1 + 0.2, 1, "0.30000000000000004"},
        {312e12, 1e12, "312"},
        {1e15, 1, "1000000000000000"},
        {1e16, 1, "1e+16"},
        {123456789012345680.0, 1, "1.2345678901234568e+17"},
        {0x1p53 - 1, 1, "9007199254740991"},
        {80.0 * (1 << 30), 1073741824.0, "80"},
        {1e-6, 1, "1e-06"},
        {-2.5, 1, "-2.5"},
        {0x1p-1022, 1, "2.2250738585072014e-308"},
        {INFINITY, 1, "null"},
        {-INFINITY, 1, "null"},
        {NAN, 1, "null"},
    };
    char text[32];
    for (size_t i = 0; i < COUNT(numbers); i++) {
        ck_assert_ptr_eq(calc_number_text(numbers[i].value, numbers[i].scale, text), text);
        ck_assert_str_eq(text, numbers[i].text);
    }
}

CALC_TEST(every_answer_says_how_it_is_computed)
{
    for (calc_kind kind = CALC_KIND_STATS; kind < CALC_KIND_COUNT; kind++) {
        const calc_table *table = calc_table_of(kind);
        for (size_t i = 0; i < table->count; i++) {
            const calc_field *field = &table->rows[i];
            ck_assert_msg(field->doc && field->doc[0], "%s", field->key);
            ck_assert_msg(field->where && strncmp(field->where, "calc_", 5) == 0, "%s", field->key);
            ck_assert_msg(field->equation && field->equation[0], "%s", field->key);
            ck_assert_msg(!field->source || field->source[0], "%s", field->key);
            ck_assert_msg(!field->unit || field->unit[0], "%s", field->key);
        }
    }
}

CALC_TEST(random_bits_survive_text_without_scale)
{
    calc_rng rng;
    calc_rng_init(&rng, 20, 0);
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = (uint64_t)calc_rng_next(&rng) << 32 | calc_rng_next(&rng);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) {
            char text[32];
            calc_number_text(value, 1, text);
            ck_assert_msg(strtod(text, NULL) == value, "%a became %s", value, text);
            ck_assert_uint_lt(strlen(text), sizeof text);
        }
    }
}

/* Whatever a file may hold: the value it was read to gives a text that reads back to it. */
CALC_TEST(numbers_that_were_read_survive_text_with_every_scale)
{
    calc_rng rng;
    calc_rng_init(&rng, 21, 0);
    for (int i = 0; i < 100000; i++) {
        double scale = scales[calc_rng_below(&rng, COUNT(scales))];
        double in_file = ldexp(calc_rng_real(&rng) + calc_rng_real(&rng) * 0x1p-32,
                               (int)calc_rng_below(&rng, 100) - 50);
        double value = in_file * scale;
        char text[32];
        calc_number_text(value, scale, text);
        ck_assert_msg(strtod(text, NULL) * scale == value, "%a / %g became %s", value, scale, text);
    }
}

CALC_TEST(short_decimals_keep_their_text)
{
    calc_rng rng;
    calc_rng_init(&rng, 22, 0);
    for (int i = 0; i < 100000; i++) {
        char want[32];
        char text[32];
        unsigned whole = calc_rng_below(&rng, 10000);
        unsigned tenths = calc_rng_below(&rng, 9) + 1;
        snprintf(want, sizeof want, "%u.%u", whole, tenths);
        double scale = scales[calc_rng_below(&rng, COUNT(scales))];
        calc_number_text(strtod(want, NULL) * scale, scale, text);
        ck_assert_str_eq(text, want);
    }
}
