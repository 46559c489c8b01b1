/* The files of models/, systems/ and executions/ beside what was published: parameter counts, data
   sheets, layouts. catalogue/parameters.csv names the source of each count. */
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calc.h"
#include "calibrate/calibration.h"
#include "frame.h"

#define TABLES CALC_TEST_DATA "/golden/catalogue/"

/* 1 when calc_count_parameters() and calc_check() know the fields of modern models. */
#define CATALOGUE_IS_MODELLED 1

enum { MAX_ROWS = 200, NAME_SIZE = 64, LINE_SIZE = 512, PATH_SIZE = 512 };

/* A row of parameters.csv; active is 0 where none was published. */
typedef struct published {
    char model[NAME_SIZE];
    double total, total_tolerance, active, active_tolerance;
} published;

/* A row of layouts.csv. */
typedef struct layout {
    char execution[NAME_SIZE], model[NAME_SIZE], system[NAME_SIZE];
} layout;

static published counts[MAX_ROWS];
static layout layouts[MAX_ROWS];
static int counts_count, layouts_count;

/* ---- Reading --------------------------------------------------------------------------------- */

static FILE *open_table(const char *name, const char *header)
{
    char path[PATH_SIZE], line[LINE_SIZE];
    snprintf(path, sizeof path, "%s%s", TABLES, name);
    FILE *file = fopen(path, "r");
    if (file == NULL || fgets(line, sizeof line, file) == NULL || strcmp(line, header) != 0) {
        fprintf(stderr, "%s: missing, or another header\n", path);
        exit(EXIT_FAILURE);
    }
    return file;
}

/* The text up to the next comma; *line moves behind it. */
static const char *next_cell(char **line)
{
    char *cell = *line;
    size_t length = strcspn(cell, ",\n");
    *line = cell + length + (cell[length] != '\0');
    cell[length] = '\0';
    return cell;
}

static void copy_cell(char **line, char out[NAME_SIZE])
{
    const char *cell = next_cell(line);
    size_t length = strlen(cell);
    if (length >= NAME_SIZE) {
        fprintf(stderr, "%s: longer than %d bytes\n", cell, NAME_SIZE - 1);
        exit(EXIT_FAILURE);
    }
    memcpy(out, cell, length + 1);
}

/* Reads them when it is first called. */
static int count_published(void)
{
    if (counts_count > 0) {
        return counts_count;
    }
    FILE *file = open_table("parameters.csv",
                            "model,total,total_tolerance,active,active_tolerance,source\n");
    char text[LINE_SIZE];
    while (counts_count < MAX_ROWS && fgets(text, sizeof text, file) != NULL) {
        char *line = text;
        published *row = &counts[counts_count++];
        copy_cell(&line, row->model);
        row->total = strtod(next_cell(&line), NULL);
        row->total_tolerance = strtod(next_cell(&line), NULL);
        row->active = strtod(next_cell(&line), NULL);
        row->active_tolerance = strtod(next_cell(&line), NULL);
    }
    fclose(file);
    return counts_count;
}

/* Reads them when it is first called. */
static int count_layouts(void)
{
    if (layouts_count > 0) {
        return layouts_count;
    }
    FILE *file = open_table("layouts.csv", "execution,model,system\n");
    char text[LINE_SIZE];
    while (layouts_count < MAX_ROWS && fgets(text, sizeof text, file) != NULL) {
        char *line = text;
        layout *row = &layouts[layouts_count++];
        copy_cell(&line, row->execution);
        copy_cell(&line, row->model);
        copy_cell(&line, row->system);
    }
    fclose(file);
    return layouts_count;
}

static const char *folder_of(calc_kind kind)
{
    return kind == CALC_KIND_APP ? "models" : kind == CALC_KIND_SYSTEM ? "systems" : "executions";
}

static void load(calc_kind kind, void *object, const char *name)
{
    char path[PATH_SIZE], text[1024] = "";
    calc_errors errors = {0};
    snprintf(path, sizeof path, "%s/%s/%s.json", CALC_DATA_DIR_SOURCE, folder_of(kind), name);
    calc_status status = calc_load(kind, object, path, &errors);
    if (errors.count > 0) {
        calc_error_print(&errors.item[0], text, sizeof text);
    }
    ck_assert_msg(status == CALC_OK, "%s: %s", path, text);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static int copies; /* machines with the constants of another one */

/* A machine that no run was fitted to has the constants that its source says, after each
 * calibration of the other one, too; networks and the clock are its own. */
static void constants_are_those_named(const calc_system *system, const char *name,
                                      const char *source)
{
    const char *said = strstr(source, "No run was fitted: ");
    const char *of = said ? strstr(said, "are those of ") : NULL;
    bool host = said && strstr(said, "the host's as of any machine before it is measured");
    if (of == NULL && !host) {
        return;
    }
    char other[NAME_SIZE] = "any machine";
    calc_system named = {0};
    if (of) {
        ck_assert_int_eq(sscanf(of, "are those of %63[a-z0-9_]", other), 1);
        load(CALC_KIND_SYSTEM, &named, other);
    }
    copies++;
    for (size_t i = 0; calc_constant_at(i); i++) {
        const calc_constant *constant = calc_constant_at(i);
        double value = calc_constant_get(constant, system);
        bool times = host && strncmp(constant->name, "host", 4) == 0;
        double expected = times ? constant->start : calc_constant_get(constant, &named);
        bool own =
            strncmp(constant->name, "networks", 8) == 0 || strcmp(constant->name, "sustained") == 0;
        bool both = value > 0 && expected > 0;
        ck_assert_msg(own || !both || value == expected,
                      "%s: %s is %g, of %s %g: scripts/copy_constants.py", name, constant->name,
                      value, other, expected);
    }
}

static void file_is_good(calc_kind kind, const char *name)
{
    union {
        calc_app app;
        calc_system system;
        calc_exec exec;
    } object;
    load(kind, &object, name);
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s/%s.json", CALC_DATA_DIR_SOURCE, folder_of(kind), name);
    json_t *document = json_load_file(path, 0, NULL);
    const char *source = json_string_value(json_object_get(document, "source"));
    ck_assert_msg(source != NULL && strlen(source) > 20, "%s: no source", path);
    if (kind == CALC_KIND_SYSTEM) {
        constants_are_those_named(&object.system, name, source);
    }
    json_decref(document);
}

/* Every file directly in the folder of a kind. */
static int files_are_good(calc_kind kind)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", CALC_DATA_DIR_SOURCE, folder_of(kind));
    DIR *directory = opendir(path);
    ck_assert_msg(directory != NULL, "cannot open %s", path);
    int found = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        size_t length = strlen(entry->d_name);
        if (length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0) {
            char name[NAME_SIZE];
            snprintf(name, sizeof name, "%.*s", (int)length - 5, entry->d_name);
            file_is_good(kind, name);
            found++;
        }
    }
    closedir(directory);
    return found;
}

CALC_TEST(every_file_loads_and_names_its_source)
{
    ck_assert_int_ge(files_are_good(CALC_KIND_APP), 13 + count_published());
    ck_assert_int_ge(files_are_good(CALC_KIND_SYSTEM), 20);
    ck_assert_int_ge(copies, 22);
    ck_assert_int_ge(files_are_good(CALC_KIND_EXEC), 1 + count_layouts());
}

/* ---- Models ---------------------------------------------------------------------------------- */

CALC_TEST(tables_are_complete)
{
    ck_assert_int_eq(count_published(), 97);
    ck_assert_int_eq(count_layouts(), 27);
}

/* Rounding of what was published is the only reason for a difference: 3 % for two digits. */
CALC_TEST_LOOP(a_published_count_is_exact_or_rounded, 0, count_published())
{
    const published *p = &counts[_i];
    calc_app app;
    load(CALC_KIND_APP, &app, p->model);
    ck_assert_msg(p->total > 1e8 && p->total_tolerance >= 0 && p->total_tolerance <= 0.03, "%s",
                  p->model);
    ck_assert_msg(app.vocab_size > 0 && app.causal, "%s", p->model);
    ck_assert_msg((app.num_experts > 0) == (app.experts_per_token > 0), "%s", p->model);
    ck_assert_msg(p->active == 0 || (app.num_experts > 0 && p->active < p->total), "%s", p->model);
}

#if CATALOGUE_IS_MODELLED
static void assert_published(const char *model, double count, double value, double tolerance)
{
    ck_assert_msg(fabs(count / value - 1) <= tolerance, "%s: %.0f parameters, published %.0f",
                  model, count, value);
}

CALC_TEST_LOOP(parameters_are_as_many_as_published, 0, count_published())
{
    const published *p = &counts[_i];
    calc_app app;
    load(CALC_KIND_APP, &app, p->model);
    calc_parameters count;
    calc_count_parameters(&app, &count);
    assert_published(p->model, count.total, p->total, p->total_tolerance);
    if (p->active > 0) {
        assert_published(p->model, count.active, p->active, p->active_tolerance);
    }
}
#endif

/* ---- Systems --------------------------------------------------------------------------------- */

/* Data sheets, without sparsity: TFLOP/s of 16, 8 and 4 bits; GB/s of memory, of the first network
 * per direction, of the second; GB of memory; processors on the first. */
static const struct sheet {
    const char *name;
    double bits16, bits8, bits4, memory, network0, network1, gigabytes;
    int domain;
} sheets[] = {
    {"a100_sxm_40g", 312, 0, 0, 1555, 300, 25, 40, 8},
    {"a100_sxm_80g", 312, 0, 0, 2039, 300, 25, 80, 8},
    {"a800", 312, 0, 0, 2039, 200, 25, 80, 8},
    {"ascend_910b", 353.9, 0, 0, 1600, 196, 25, 64, 8},
    {"b200", 2250, 4500, 9000, 8000, 900, 50, 180, 8},
    {"b200_180g", 2250, 4500, 9000, 8000, 900, 50, 180, 8},
    {"b300", 2250, 4500, 13500, 8000, 900, 100, 288, 8},
    {"gb200_nvl72", 2450, 4900, 9800, 8000, 900, 50, 186, 72},
    {"gb300_nvl72", 2450, 4900, 14700, 8000, 900, 100, 288, 72},
    {"h100_sxm", 989.4, 1979, 0, 3350, 450, 50, 80, 8},
    {"h100_sxm_500w", 989.4, 1979, 0, 2400, 450, 50, 96, 8},
    {"h20", 148, 296, 0, 4022, 450, 50, 96, 8},
    {"h200", 989.4, 1979, 0, 4800, 450, 50, 141, 8},
    {"h800", 989.4, 1979, 0, 3350, 200, 50, 80, 8},
    {"kunlun3", 345, 0, 0, 1200, 100, 25, 64, 8}, /* placeholders */
    {"mi300x", 1307.4, 2614.9, 0, 5300, 448, 50, 192, 8},
    {"mi325x", 1307.4, 2614.9, 0, 6000, 448, 50, 256, 8},
    {"mi355x", 2516.6, 5033, 10066, 8000, 537.6, 50, 288, 8},
    {"v100_sxm", 125, 0, 0, 900, 150, 6.25, 32, 16},
    {"vtrain_a100", 312, 0, 0, 2039, 300, 12.5, 80, 8},
    /* From here on nothing was measured. */
    {"a10", 125, 0, 0, 600, 32, 1.5625, 24, 8},
    {"a100_pcie_80g", 312, 0, 0, 1935, 300, 32, 80, 2},
    {"a40", 149.7, 0, 0, 696, 32, 3.125, 48, 8},
    {"ascend_910c", 376, 0, 0, 1600, 196, 25, 64, 768},
    {"gaudi2", 432, 865, 0, 2450, 262.5, 37.5, 96, 8},
    {"gaudi3", 1835, 1835, 0, 3700, 525, 75, 128, 8},
    {"h100_nvl", 1671 / 2.0, 3341 / 2.0, 0, 3900, 300, 64, 94, 2},
    {"h100_pcie", 756, 1513, 0, 2000, 300, 64, 80, 2},
    {"l4", 242 / 2.0, 485 / 2.0, 0, 300, 32, 1.5625, 24, 8},
    {"mi350x", 2306.9, 4613.7, 9227.5, 8000, 537.6, 50, 288, 8},
    {"rtx_3090", 71.2, 0, 0, 936, 32, 0.156, 24, 8},
    {"rtx_4090", 165.2, 330.3, 0, 1008, 32, 0.156, 24, 8},
    {"rtx_5090", 209.5, 419, 1676, 1792, 64, 0.156, 32, 8},
    {"rtx_6000_ada", 1457 / 4.0, 1457 / 2.0, 0, 960, 32, 1.5625, 48, 8},
    {"tpu_v4", 275, 0, 0, 1200, 300, 6.25, 32, 4096},
    {"tpu_v5e", 197, 0, 0, 819, 200, 3.125, 16, 256},
    {"tpu_v5p", 459, 459, 0, 2765, 600, 6.25, 95, 8960},
    {"tpu_v6e", 918, 918, 0, 1638, 400, 12.5, 32, 256},
    {"tpu_v7", 2307, 4614, 0, 7380, 600, 12.5, 192, 9216},
    {"trainium2", 667, 1299, 0, 2900, 512, 25, 96, 16},
    {"trainium3", 671, 2517, 0, 4900, 1280, 25, 144, 144},
};
enum { SHEETS = sizeof sheets / sizeof *sheets, MEASURED = 20 };

static void assert_rate(const calc_system *s, calc_datatype datatype, double tflops)
{
    ck_assert_double_eq_tol(s->chip.matrix[datatype].flop_per_s, tflops * 1e12, 1e6);
    ck_assert_int_eq(s->chip.vector[datatype].flop_per_s > 0, tflops > 0);
}

CALC_TEST_LOOP(peaks_are_those_of_the_data_sheet, 0, SHEETS)
{
    const struct sheet *sheet = &sheets[_i];
    calc_system s;
    load(CALC_KIND_SYSTEM, &s, sheet->name);
    assert_rate(&s, CALC_DATATYPE_FLOAT16, sheet->bits16);
    bool volta = strcmp(sheet->name, "v100_sxm") == 0; /* older than bfloat16 */
    assert_rate(&s, CALC_DATATYPE_BFLOAT16, volta ? 0 : sheet->bits16);
    assert_rate(&s, CALC_DATATYPE_FLOAT8, sheet->bits8);
    assert_rate(&s, CALC_DATATYPE_FLOAT4, sheet->bits4);
    ck_assert_double_eq_tol(s.chip.mem1.bytes_per_s, sheet->memory * 1e9, 1);
    ck_assert_int_eq(s.networks_count, sheet->domain == 2 ? 3 : 2 /* bridged pairs */);
    ck_assert_double_eq_tol(s.networks[0].bytes_per_s, sheet->network0 * 1e9, 1);
    ck_assert_double_eq_tol(s.networks[1].bytes_per_s, sheet->network1 * 1e9, 1);
    ck_assert_int_eq(s.networks[0].size, sheet->domain);
}

/* What nobody measured says so: no band of a calibrated machine is used for it. */
CALC_TEST_LOOP(machines_that_nobody_measured_say_so, MEASURED, SHEETS)
{
    const struct sheet *sheet = &sheets[_i];
    char path[PATH_SIZE];
    calc_text text = {0};
    calc_standard_errors fitted;
    calc_errors errors = {0};
    snprintf(path, sizeof path, "%s/systems/%s.json", CALC_DATA_DIR_SOURCE, sheet->name);
    ck_assert_int_eq(calc_text_read(&text, path, &errors), CALC_OK);
    ck_assert_ptr_nonnull(strstr(text.data, "No run was fitted"));
    calc_standard_errors_read(&fitted, &text);
    ck_assert_str_eq(fitted.machine, "");
    calc_text_free(&text);
}

/* What a driver reports is below the label in GiB and above 0.87 of it: ECC, reserved pages, and
 * labels in units of 10^9. */
CALC_TEST_LOOP(capacities_are_those_of_the_driver, 0, SHEETS)
{
    const struct sheet *sheet = &sheets[_i];
    calc_system s;
    load(CALC_KIND_SYSTEM, &s, sheet->name);
    double gib = s.chip.mem1.capacity_bytes / 1073741824.0;
    ck_assert_double_le(gib, sheet->gigabytes);
    ck_assert_double_ge(gib, 0.87 * sheet->gigabytes);
}

/* A constant in another unit than its field's, such as microseconds, is out of these bounds. */
CALC_TEST_LOOP(constants_have_the_size_of_what_they_stand_for, 0, MEASURED)
{
    const struct sheet *sheet = &sheets[_i];
    calc_system s;
    load(CALC_KIND_SYSTEM, &s, sheet->name);
    ck_assert(s.chip.launch.matrix_s > 1e-6 && s.chip.launch.matrix_s < 2e-5);
    ck_assert(s.chip.attention.launch_s > 1e-5 && s.chip.attention.launch_s < 5e-4);
    ck_assert(s.chip.host.block_s > 1e-3 && s.chip.host.block_s < 5e-3);
    ck_assert(s.chip.host.moe_block_s > 1e-3 && s.chip.host.moe_block_s < 1e-2);
    ck_assert(s.networks[0].latency_s > 1e-5 && s.networks[0].latency_s < 1e-4);
    ck_assert(s.networks[1].latency_log2_s > 1e-5 && s.networks[1].latency_log2_s < 1e-4);
    ck_assert(s.step_overhead_s > 1e-3 && s.step_overhead_s < 0.1);
    ck_assert(s.chip.attention.bw_efficiency < s.chip.attention.fw_efficiency);
    ck_assert_int_eq(s.chip.quantize_bytes > 0, sheet->bits8 > 0);
    ck_assert(s.ranks_per_node >= 8 && s.ranks_per_node <= sheet->domain);
}

/* ---- Executions ------------------------------------------------------------------------------ */

static int64_t at_least_one(int64_t n)
{
    return n > 0 ? n : 1;
}

CALC_TEST_LOOP(sizes_of_a_layout_multiply_to_its_processors, 0, count_layouts())
{
    calc_exec e;
    load(CALC_KIND_EXEC, &e, layouts[_i].execution);
    int64_t replica =
        e.strategy.tensor_par * at_least_one(e.strategy.context_par) * e.strategy.data_par;
    ck_assert_int_eq(replica * e.pipeline_par, e.num_procs);
    ck_assert_int_eq(e.batch_size % (e.strategy.data_par * e.microbatch_size), 0);
    ck_assert_int_eq(replica % (at_least_one(e.strategy.expert_par) *
                                at_least_one(e.strategy.expert_tensor_par)),
                     0);
}

CALC_TEST_LOOP(a_layout_suits_its_model_and_system, 0, count_layouts())
{
    calc_app app;
    calc_system s;
    calc_exec e;
    load(CALC_KIND_APP, &app, layouts[_i].model);
    load(CALC_KIND_SYSTEM, &s, layouts[_i].system);
    load(CALC_KIND_EXEC, &e, layouts[_i].execution);
    ck_assert_int_eq(app.hidden % e.strategy.tensor_par, 0);
    ck_assert_int_eq(app.attn_heads % e.strategy.tensor_par, 0);
    ck_assert_int_ge(app.num_blocks + 2, e.pipeline_par * e.pipeline_interleaving);
    ck_assert(s.chip.matrix[e.strategy.datatype].flop_per_s > 0);
    if (e.strategy.expert_par > 1) {
        ck_assert_int_eq(app.num_experts % e.strategy.expert_par, 0);
    }
    ck_assert_int_eq(e.strategy.attention_type == CALC_ATTENTION_TYPE_MULTI_LATENT,
                     app.kv_lora_rank > 0);
    ck_assert_int_eq(e.strategy.attention_type == CALC_ATTENTION_TYPE_GROUPED_QUERY,
                     app.kv_heads > 0);
    if (e.strategy.matrix_datatype == CALC_FORMAT_FLOAT8) {
        ck_assert(s.chip.matrix[CALC_DATATYPE_FLOAT8].flop_per_s > 0);
    }
    if (e.strategy.matrix_datatype == CALC_FORMAT_FLOAT4) {
        ck_assert(s.chip.matrix[CALC_DATATYPE_FLOAT4].flop_per_s > 0);
    }
}

#if CATALOGUE_IS_MODELLED
CALC_TEST_LOOP(a_layout_that_ran_is_feasible, 0, count_layouts())
{
    calc_app app;
    calc_system s;
    calc_exec e;
    load(CALC_KIND_APP, &app, layouts[_i].model);
    load(CALC_KIND_SYSTEM, &s, layouts[_i].system);
    load(CALC_KIND_EXEC, &e, layouts[_i].execution);
    calc_errors errors = {0};
    char text[1024] = "";
    calc_status status = calc_check(&app, &s, &e, &errors);
    if (errors.count > 0) {
        calc_error_print(&errors.item[0], text, sizeof text);
    }
    ck_assert_msg(status == CALC_OK, "%s: %s", layouts[_i].execution, text);
    calc_stats stats;
    calc_verdict verdict = calc_run(&app, &s, &e, CALC_COMPAT_NONE, &stats);
    ck_assert_msg(verdict == CALC_VERDICT_OK, "%s: %s", layouts[_i].execution,
                  calc_verdict_text(verdict));
}
#endif
