#include "galvatron/profiles.h"

#include "base/error.h"
#include "frame.h"
#include "galvatron_case.h"
#include "scratch.h"

#include <stdlib.h>

static calc_galvatron_request request_of(int64_t sequence)
{
    return (calc_galvatron_request){.model = "m",
                                    .types = 1,
                                    .layers = {{1024, 4, sequence}},
                                    .mixed_precision = CALC_GALVATRON_BF16,
                                    .sequence_parallel = true,
                                    .num_nodes = 1,
                                    .num_gpus_per_node = 4,
                                    .max_bsz = 8,
                                    .settle_bsz = -1,
                                    .max_tp_deg = 2,
                                    .max_sp_deg = 1,
                                    .max_pp_deg = 2};
}

static void set(calc_galvatron_request *r, const char *key, int64_t value)
{
    static const char *const times[] = {"time=static", "time=batch", "time=sequence", NULL};
    const struct {
        const char *key;
        int64_t *at;
    } sizes[] = {{"sequence", &r->layers[0].seq_len}, {"second", &r->layers[1].seq_len},
                 {"gpus", &r->num_gpus_per_node},     {"max_tp", &r->max_tp_deg},
                 {"max_pp", &r->max_pp_deg},          {"max_sp", &r->max_sp_deg}};
    size_t length = strcspn(key, "=");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (strncmp(key, sizes[i].key, length) == 0 && !sizes[i].key[length]) {
            *sizes[i].at = value;
            return;
        }
    }
    if (strncmp(key, "time=", 5) == 0) {
        r->time_profile_mode = (calc_galvatron_time_mode)galvatron_word(key, times);
    } else if (strcmp(key, "memory=sequence") == 0) {
        r->memory_profile_mode = CALC_GALVATRON_MEMORY_SEQUENCE;
    } else if (strncmp(key, "types", length) == 0) {
        r->types = (int)value;
        r->layers[1].hidden_size = r->layers[0].hidden_size;
        r->layers[1].layer_num = r->layers[0].layer_num;
    } else {
        *(*key == 'c' ? &r->compat : &r->sequence_parallel) = value;
    }
}

static void print_line(const char *name, int k, const calc_galvatron_line *l, FILE *out)
{
    if (l->slope != 0 || l->offset != 0) {
        fprintf(out, "%s %d: %.12g", name, k, l->offset);
        if (l->slope != 0) {
            fprintf(out, " + %.12g x", l->slope);
        }
        if (l->most != 0) {
            fprintf(out, ", from %g to %g", l->least, l->most);
        }
        fputc('\n', out);
    }
}

static void print_list(const char *name, const double *value, FILE *out)
{
    const char *glue = name;
    for (int k = 0; k < 4; k++) {
        if (value[k] > 0) {
            fprintf(out, "%s %d: %.12g", glue, 1 << k, value[k]);
            glue = ",";
        }
    }
    fputs(*glue == ',' ? "\n" : "", out);
}

static void print(const calc_galvatron_profiles *p, FILE *out)
{
    for (int type = 0; type < 2; type++) {
        const calc_galvatron_layer_memory *m = &p->memory[type];
        print_line(p->layer[type].batch ? "batches of layer" : "layer", type, &p->layer[type].line,
                   out);
        if (m->parameter_mb > 0) {
            fprintf(out, "parameters %g, checkpoint %g\n", m->parameter_mb, m->checkpoint_mb);
            print_list("activations", m->activation_mb, out);
        }
    }
    print_line("other", 0, &p->other.line, out);
    for (int place = 0; place < CALC_GALVATRON_PLACES; place++) {
        static const char *const names[] = {"off: states", "first: states", "last: states"};
        print_list(names[place], p->other_memory[place].states_mb, out);
        print_list("     activations", p->other_memory[place].activation_mb, out);
    }
    print_list("consecutive", p->consecutive, out);
    print_list("strided", p->strided, out);
    print_list("p2p", p->p2p, out);
    if (p->overlap != 0) {
        fprintf(out, "overlap %g\n", p->overlap);
    }
    for (int k = 0; k < 4; k++) {
        print_list("all-gather", p->all_gather[k].ms, out);
        print_line("all-gather", 1 << k, &p->all_gather[k].line, out);
    }
    for (int i = 0; i < p->notes.count; i++) {
        fprintf(out, "note: %s\n", p->notes.text[i]);
    }
}

/* A file, of the kind that the first line names. "units" there: as a search reads it, with what it
 * says of units; other words are of the request. */
static void answer(const char *said, FILE *out)
{
    static const struct {
        const char *word;
        calc_galvatron_file file;
    } kinds[] = {{"compute", CALC_GALVATRON_FILE_COMPUTATION},
                 {"memory", CALC_GALVATRON_FILE_MEMORY},
                 {"allreduce", CALC_GALVATRON_FILE_ALLREDUCE},
                 {"p2p", CALC_GALVATRON_FILE_P2P},
                 {"overlap", CALC_GALVATRON_FILE_OVERLAP},
                 {"collectives", CALC_GALVATRON_FILE_COLLECTIVES}};
    static calc_galvatron_profiles profiles;
    char words[256], line[1024];
    const char *text = strchr(said, '\n') + 1;
    calc_galvatron_request request = request_of(64);
    snprintf(words, sizeof words, "%.*s", (int)strcspn(said, "\n"), said);
    char *word = strtok(words, " ");
    size_t kind = 0;
    while (strcmp(kinds[kind].word, word) != 0) {
        kind++;
        ck_assert_uint_lt(kind, sizeof kinds / sizeof *kinds);
    }
    bool units = false;
    while ((word = strtok(NULL, " "))) {
        units |= strcmp(word, "units") == 0;
        if (strchr(word, '=')) {
            set(&request, word, strtol(strchr(word, '=') + 1, NULL, 10));
        }
    }
    calc_errors reported = {0};
    memset(&profiles, 0, sizeof profiles);
    const calc_galvatron_reading reading = {.request = &request,
                                            .out = &profiles,
                                            .name = "f.json",
                                            .text = text,
                                            .length = strlen(text) - 1,
                                            .errors = &reported};
    calc_status status =
        (units ? calc_galvatron_read : calc_galvatron_read_numbers)(&reading, kinds[kind].file);
    ck_assert_int_eq(status, calc_errors_first(&reported));
    if (status == CALC_OK) {
        print(&profiles, out);
    } else {
        calc_error_print(&reported.item[0], line, sizeof line);
        fprintf(out, "%s\n", line);
    }
}

const calc_test_frame calc_tests = {
    .timeout_s = 60, .cases = "unit/check_galvatron_profiles.txt", .answer = answer};

/* ---- All of them ----------------------------------------------------------------------------- */

static const char *const cases[] = {"01_llama2-7b_1x8_36G_bsz16", "04_llama2-7b_1x4_40G_bsz32",
                                    "06_fixture_seq8192_1x8_36G_bsz64_chunk32",
                                    "17_t5-3B_twolayertypes_1x8_12G_bsz64"};

CALC_TEST_LOOP(lines_and_parabolas_are_near_the_engines, 0, 4)
{
    galvatron_case c;
    galvatron_open(&c, cases[_i]);
    galvatron_load(&c);
    galvatron_take_fits(&c, cases[_i]);
    galvatron_close(&c);
}

CALC_TEST(missing_times_of_collectives_follow_from_bandwidths)
{
    galvatron_case c;
    galvatron_open(&c, cases[1]);
    snprintf(c.machine, sizeof c.machine, GALVATRON "profiles/shipped_hardware");
    galvatron_load(&c);
    /* 3/4 of the bus traffic of an all-reduce of 4 GPUs at 158.018 MB/ms */
    ck_assert_double_eq_tol(c.profiles.all_gather[2].line.slope, 0.75 / 158.018, 1e-15);
    ck_assert_double_eq_tol(c.profiles.all_to_all[2].line.slope, 0.75 / 158.018, 1e-15);
    ck_assert_int_eq(c.profiles.all_gather[2].count, 0);
    ck_assert_int_eq(c.profiles.notes.count, 1);
    ck_assert_str_eq(c.profiles.notes.text[0],
                     "no sp_time_1nodes_4gpus_per_node.json: times of collectives follow from the "
                     "bandwidth of all-reduces, without latency");
    galvatron_close(&c);
}

static const char *load_error(galvatron_case *c)
{
    static char line[1200];
    calc_errors errors = {0};
    ck_assert_int_ne(calc_galvatron_profiles_load(&c->profiles, &c->request, &c->paths, &errors),
                     CALC_OK);
    calc_error_print(&errors.item[0], line, sizeof line);
    return line;
}

CALC_TEST(missing_files_and_odd_machines_are_errors)
{
    galvatron_case c;
    galvatron_open(&c, cases[0]);
    c.request.num_gpus_per_node = 6;
    ck_assert_str_eq(load_error(&c),
                     "1 nodes of 6 GPUs are 6, expected a power of two up to 65536\n"
                     "  hint: degrees are powers of two, and use all GPUs");
    c.request.num_gpus_per_node = 16;
    ck_assert_ptr_nonnull(strstr(load_error(&c),
                                 "profiles/shipped_hardware: has no "
                                 "allreduce_bandwidth_1nodes_16gpus_per_node.json"));
    c.request.num_gpus_per_node = 8;
    c.paths.of[CALC_GALVATRON_FILE_P2P] = NULL;
    ck_assert_str_eq(load_error(&c),
                     "no p2p_bandwidth_config_path: where is p2p_bandwidth_1nodes_8gpus_per_node."
                     "json?\n  hint: say the file, or the folder that has it");
    c.paths.of[CALC_GALVATRON_FILE_P2P] =
        GALVATRON "profiles/shipped_hardware/p2p_bandwidth_1nodes_8gpus_per_node.json";
    galvatron_load(&c); /* a file in place of its folder */
    c.paths.of[CALC_GALVATRON_FILE_COLLECTIVES] =
        "/nowhere.json"; /* asked for by name: not made up */
    ck_assert_ptr_nonnull(strstr(load_error(&c), "/nowhere.json: "));
    galvatron_close(&c);
}

CALC_TEST(costs_say_what_they_extrapolate)
{
    galvatron_case c;
    galvatron_open(&c, cases[0]);
    galvatron_load(&c);
    const calc_galvatron_case at = {
        .request = &c.request, .profiles = &c.profiles, .gbsz = 64, .chunks = 1};
    const calc_galvatron_strategy inside = {1, 1, 1, 1, 8, CALC_GALVATRON_ZERO2, false};
    const calc_galvatron_strategy large = {1, 2, 1, 1, 4, CALC_GALVATRON_ZERO2, false};
    const calc_galvatron_strategy few = {1, 8, 1, 1, 1, CALC_GALVATRON_DDP, false};
    calc_notes notes = {0};
    calc_galvatron_cost_notes(&at, &inside, 0, &notes);
    calc_galvatron_cost_notes(&at, &large, 0, &notes);
    ck_assert_int_eq(notes.count, 0);
    calc_galvatron_case small = at;
    small.gbsz = 4;
    calc_galvatron_cost_notes(&small, &few, 0, &notes);
    calc_galvatron_cost_notes(&small, &few, 0, &notes);
    ck_assert_int_eq(notes.count, 1);
    ck_assert_str_eq(notes.text[0], "a batch of 0.5 is below the least profiled (1): the line over "
                                    "batches is used for layers");
    small.gbsz = 128;
    calc_galvatron_cost_notes(&small, &few, -1, &notes);
    ck_assert_int_eq(notes.count, 3);
    ck_assert_str_eq(notes.text[2], "an all-gather of 2048 MB over 8 GPUs is above the largest "
                                    "measured (1024 MB): the line is used");
    galvatron_close(&c);
}

static void touch(const char *name)
{
    FILE *file = fopen(name, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
}

static const char *found(const calc_galvatron_request *request, calc_galvatron_file file)
{
    static char path[CALC_GALVATRON_FILE_PATH_SIZE];
    static calc_errors errors;
    errors = (calc_errors){0};
    return calc_galvatron_file_find(request, file, ".", path, &errors) == CALC_OK
               ? path
               : errors.item[0].text;
}

CALC_TEST(files_have_names_of_several_releases)
{
    char folder[256];
    calc_galvatron_request request = request_of(64);
    scratch_enter(folder, sizeof folder);
    ck_assert_str_eq(found(&request, CALC_GALVATRON_FILE_MEMORY),
                     "has no memory_profiling_bf16_m_all.json");
    touch("memory_profiling_bf16_hidden1024_head8_seqlen128.json"); /* of another sequence */
    touch("memory_profiling_fp16_hidden1024_head8.json");
    touch("memory_profiling_bf16_hidden102_head8.json");
    ck_assert_str_eq(found(&request, CALC_GALVATRON_FILE_MEMORY),
                     "has no memory_profiling_bf16_m_all.json");
    touch("memory_profiling_bf16_hidden1024_head8.json");
    ck_assert_str_eq(found(&request, CALC_GALVATRON_FILE_MEMORY),
                     "./memory_profiling_bf16_hidden1024_head8.json");
    touch("memory_profiling_bf16_hidden1024_head16_seqlen64.json");
    ck_assert_str_eq(found(&request, CALC_GALVATRON_FILE_MEMORY),
                     "has no memory_profiling_bf16_m_all.json, but both "
                     "memory_profiling_bf16_hidden1024_head16_seqlen64.json and "
                     "memory_profiling_bf16_hidden1024_head8.json");
    touch("memory_profiling_bf16_m.json");
    ck_assert_str_eq(found(&request, CALC_GALVATRON_FILE_MEMORY), "./memory_profiling_bf16_m.json");
    touch("memory_profiling_bf16_m_all.json");
    ck_assert_str_eq(found(&request, CALC_GALVATRON_FILE_MEMORY),
                     "./memory_profiling_bf16_m_all.json");
    ck_assert_str_eq(found(&request, CALC_GALVATRON_FILE_OVERLAP),
                     "has no overlap_coefficient.json");
    scratch_leave(folder);
}

/* ---- Keys and fits --------------------------------------------------------------------------- */

CALC_TEST(keys_are_matched_whole)
{
    int64_t v[CALC_GALVATRON_KEY_VALUES];
    ck_assert_int_eq(calc_galvatron_key("layertype_0_bsz12_seq2048", "layertype_#_bsz#_seq#", v),
                     3);
    ck_assert_int_eq(v[1], 12);
    ck_assert_int_eq(v[2], 2048);
    ck_assert_int_eq(calc_galvatron_key("layertype_0_bsz12_seq2048x", "layertype_#_bsz#_seq#", v),
                     -1);
    ck_assert_int_eq(calc_galvatron_key("layertype_0_bsz_seq2048", "layertype_#_bsz#_seq#", v), -1);
    ck_assert_int_eq(calc_galvatron_key("512_256", "*", v), 2);
    ck_assert_int_eq(calc_galvatron_key("[512, 256]", "*", v), 2);
    ck_assert_int_eq(v[1], 256);
    ck_assert_int_eq(calc_galvatron_key("[512,256", "*", v), -1);
    ck_assert_int_eq(calc_galvatron_key("512_", "*", v), -1);
    ck_assert_int_eq(calc_galvatron_key("", "*", v), -1);
    ck_assert_int_eq(calc_galvatron_key("999999999999", "#", v), 1);
    ck_assert_int_eq(calc_galvatron_key("1000000000000", "#", v), -1);
    ck_assert_int_eq(calc_galvatron_key("1_2_3_4_5_6_7_8", "*", v), 8);
    ck_assert_int_eq(calc_galvatron_key("1_2_3_4_5_6_7_8_9", "*", v), -1);
}

CALC_TEST(points_on_a_curve_give_it_back)
{
    const double x[] = {4096, 8192, 16384, 32768};
    double y[4], bend;
    for (int i = 0; i < 4; i++) {
        y[i] = 2e-8 * x[i] * x[i] + 3e-3 * x[i] - 5;
    }
    calc_galvatron_line line = calc_galvatron_fit(x, y, 4, &bend);
    ck_assert_double_eq_tol(line.offset, -5, 1e-10);
    ck_assert_double_eq_tol(line.slope, 3e-3, 1e-14);
    ck_assert_double_eq_tol(bend, 2e-8, 1e-18);
    ck_assert_double_eq(line.least, 4096);
    ck_assert_double_eq(line.most, 32768);
    const double same[] = {7, 7}, values[] = {1, 3};
    line = calc_galvatron_fit(same, values, 2, &bend);
    ck_assert_double_eq(line.offset, 2);
    ck_assert_double_eq(line.slope, 0);
    ck_assert_double_eq(bend, 0);
    const double twice[] = {1, 1, 4}, risen[] = {1, 3, 8}; /* no curve: 2 + 2 (x - 1) */
    line = calc_galvatron_fit(twice, risen, 3, &bend);
    ck_assert_double_eq_tol(line.offset, 0, 1e-14);
    ck_assert_double_eq_tol(line.slope, 2, 1e-14);
    ck_assert_double_eq(bend, 0);
}

/* Where points are on no curve, changing a coefficient makes the residuals no smaller: they are
 * orthogonal to each power of x. */
CALC_TEST_LOOP(residuals_are_orthogonal_to_every_power, 3, 20)
{
    double x[20], y[20];
    for (int i = 0; i < _i; i++) {
        x[i] = i + 1;
        y[i] = x[i] * x[i] / 3 - 2 * x[i] + 5 + (i % 3 == 0 ? 0.25 : -0.1);
    }
    for (int degree = 1; degree <= 2; degree++) {
        double bend = 0, sum[3] = {0};
        calc_galvatron_line line = calc_galvatron_fit(x, y, (size_t)_i, degree == 2 ? &bend : NULL);
        for (int i = 0; i < _i; i++) {
            double residual = line.offset + line.slope * x[i] + bend * x[i] * x[i] - y[i];
            sum[0] += residual;
            sum[1] += residual * x[i];
            sum[2] += residual * x[i] * x[i];
        }
        for (int power = 0; power <= degree; power++) {
            ck_assert_double_eq_tol(sum[power], 0, 1e-9);
        }
    }
}
