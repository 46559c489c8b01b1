#include "classic.h"
#include "documents.h"
#include "scratch.h"

#include "frame.h"
#include "io/csv_table.h"
#include "io/text.h"

#include <math.h>

static char folder[256];
static calc_output *out;

static void enter(void)
{
    scratch_enter(folder, sizeof folder);
    ck_assert_int_eq(calc_output_open(&out, "saved", NULL), CALC_OK);
}

static void leave(void)
{
    scratch_leave(folder);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static void written_is(const char *expected)
{
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    scratch_is("saved", expected);
}

CALC_TEST(columns_are_the_scalar_fields)
{
    calc_text text;
    calc_csv_header(out, CALC_KIND_APP, true);
    calc_csv_header(out, CALC_KIND_SYSTEM, false);
    calc_csv_header(out, CALC_KIND_EXEC, false);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    ck_assert_int_eq(calc_text_read(&text, "saved", NULL), CALC_OK);
    static const char start[] = "hidden,feedforward,seq_size,attn_heads,attn_size,num_blocks,"
                                "structure_type,ffn_type,";
    ck_assert_int_eq(strncmp(text.data, start, sizeof start - 1), 0);
    static const char *const there[] = {",mtp_blocks,trained_datatype,checkpoint.weight_datatype,",
                                        ",mtp_shared,mem1.GiB,mem1.GBps,mem1.kind,",
                                        ",mem2.GiB,mem2.GBps,mem2.kind,processing_mode,",
                                        ",launch.matrix,launch.vector,",
                                        ",usd_per_hour,platform,num_procs,",
                                        ",recompute_modules,"};
    static const char *const not_there[] = {"networks", ",matrix.", "source", "efficiency,["};
    for (size_t i = 0; i < sizeof there / sizeof *there; i++) {
        ck_assert_msg(strstr(text.data, there[i]) != NULL, "%s", there[i]);
    }
    for (size_t i = 0; i < sizeof not_there / sizeof *not_there; i++) {
        ck_assert_msg(strstr(text.data, not_there[i]) == NULL, "%s", not_there[i]);
    }
    calc_text_free(&text);
}

/* The cell under a column name; no cell here is quoted. */
static void cell_is(calc_kind kind, const void *object, const char *name, const char *expected)
{
    calc_text text;
    calc_output *rows;
    ck_assert_int_eq(calc_output_open(&rows, "rows", NULL), CALC_OK);
    calc_csv_header(rows, kind, true);
    calc_output_text(rows, "\n");
    calc_csv_values(rows, kind, object, true);
    ck_assert_int_eq(calc_output_close(rows, NULL), CALC_OK);
    ck_assert_int_eq(calc_text_read(&text, "rows", NULL), CALC_OK);
    const char *column = text.data;
    const char *cell = strchr(text.data, '\n') + 1;
    while (strncmp(column, name, strlen(name)) != 0 || !strchr(",\n", column[strlen(name)])) {
        column += strcspn(column, ",\n");
        cell += strcspn(cell, ",");
        ck_assert_msg(*column == ',' && *cell == ',', "no column %s", name);
        column++;
        cell++;
    }
    ck_assert_msg(strcspn(cell, ",") == strlen(expected) &&
                      strncmp(cell, expected, strlen(expected)) == 0,
                  "%s is %.20s, not %s", name, cell, expected);
    /* As many cells as columns. */
    size_t commas = 0;
    for (const char *at = text.data; *at; at++) {
        commas += *at == ',';
    }
    size_t in_header = 0;
    for (const char *at = text.data; *at != '\n'; at++) {
        in_header += *at == ',';
    }
    ck_assert_uint_eq(commas, 2 * in_header);
    calc_text_free(&text);
}

CALC_TEST(values_are_in_file_units)
{
    calc_app app;
    calc_system sys;
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    ck_assert_int_eq(calc_parse(CALC_KIND_APP, &app, APP_TEXT, strlen(APP_TEXT), "a", NULL), 0);
    ck_assert_int_eq(
        calc_parse(CALC_KIND_SYSTEM, &sys, SYSTEM_TEXT, strlen(SYSTEM_TEXT), "s", NULL), 0);
    cell_is(CALC_KIND_APP, &app, "hidden", "12288");
    cell_is(CALC_KIND_APP, &app, "num_blocks", "96");
    cell_is(CALC_KIND_APP, &app, "structure_type", "gpt");
    cell_is(CALC_KIND_SYSTEM, &sys, "mem1.GiB", "80");
    cell_is(CALC_KIND_SYSTEM, &sys, "mem2.GBps", "32");
    cell_is(CALC_KIND_SYSTEM, &sys, "processing_mode", "no_overlap");
    cell_is(CALC_KIND_SYSTEM, &sys, "launch.matrix", "0");
    sys.chip.launch.matrix_s = 8e-6;
    sys.chip.mem_reserved_bytes = 3 * 0x1p30;
    cell_is(CALC_KIND_SYSTEM, &sys, "launch.matrix", "8e-06");
    cell_is(CALC_KIND_SYSTEM, &sys, "mem_reserved_GiB", "3");
}

CALC_TEST(sets_and_choices_are_words)
{
    calc_exec exec = {CLASSIC_EXEC};
    calc_app app = {.bias = CALC_CHOICE_AUTO, .dropout = CALC_CHOICE_FALSE};
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    cell_is(CALC_KIND_EXEC, &exec, "recompute_modules", "");
    cell_is(CALC_KIND_EXEC, &exec, "expert_par_net", "-1");
    exec.strategy.recompute_modules =
        1 << CALC_RECOMPUTE_MODULES_MLP | 1 << CALC_RECOMPUTE_MODULES_CORE_ATTN;
    cell_is(CALC_KIND_EXEC, &exec, "recompute_modules", "core_attn+mlp");
    exec.strategy.recompute_modules = (1 << CALC_RECOMPUTE_MODULES_COUNT) - 1;
    cell_is(CALC_KIND_EXEC, &exec, "recompute_modules",
            "core_attn+layernorm+mla_up_proj+mlp+moe_act+shared_experts+moe");
    cell_is(CALC_KIND_APP, &app, "bias", "auto");
    cell_is(CALC_KIND_APP, &app, "dropout", "false");
}

CALC_TEST(a_value_that_is_missing_is_empty)
{
    calc_layer_stats layer = {
        .inputs_size = (double)NAN, .outputs_size = -HUGE_VAL, .fw_flops = 0.1};
    calc_csv_values(out, CALC_KIND_LAYER, &layer, true);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    char start[8] = "";
    FILE *file = fopen("saved", "r");
    ck_assert_uint_eq(fread(start, 1, 7, file), 7);
    fclose(file);
    ck_assert_str_eq(start, ",,0.1,0");
}

CALC_TEST(booleans_are_words)
{
    calc_exec exec = {.training = true};
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    cell_is(CALC_KIND_EXEC, &exec, "num_procs", "0");
    cell_is(CALC_KIND_EXEC, &exec, "datatype", "float8");
    cell_is(CALC_KIND_EXEC, &exec, "optimizer_offload", "false");
    cell_is(CALC_KIND_EXEC, &exec, "training", "true");
    cell_is(CALC_KIND_EXEC, &exec, "structure_type", "gpt");
}

CALC_TEST(cells_are_quoted_only_if_they_must)
{
    calc_csv_text(out, "plain text", true);
    calc_csv_text(out, "a,b", false);
    calc_csv_text(out, "say \"x\"", false);
    calc_csv_text(out, "two\nlines", false);
    calc_csv_text(out, "", false);
    written_is("plain text,\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",");
}
