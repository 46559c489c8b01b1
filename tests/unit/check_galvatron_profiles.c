#include "galvatron/profiles.h"

#include "base/error.h"
#include "frame.h"
#include "galvatron_case.h"
#include "scratch.h"

#include <stdlib.h>

const calc_test_frame calc_tests = {.timeout_s = 60};

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

static calc_galvatron_profiles out;
typedef calc_status (*reader)(const calc_galvatron_reading *r);

/* "FILE:LINE:COLUMN: FIELD: TEXT (HINT)", without what there is not. */
static const char *words(const calc_error *e)
{
    static char line[1024];
    int used = 0;
    if (e->file[0]) {
        used = e->line ? snprintf(line, sizeof line, "%s:%d:%d: ", e->file, e->line, e->column)
                       : snprintf(line, sizeof line, "%s: ", e->file);
    }
    snprintf(line + used, sizeof line - (size_t)used, "%s%s%s%s%s%s",
             e->pointer[0] ? e->pointer + 1 : "", e->pointer[0] ? ": " : "", e->text,
             e->hint[0] ? " (" : "", e->hint, e->hint[0] ? ")" : "");
    return line;
}

static calc_errors reported;

static calc_galvatron_reading reading_of(const calc_galvatron_request *request, const char *text)
{
    reported = (calc_errors){0};
    memset(&out, 0, sizeof out);
    return (calc_galvatron_reading){.request = request,
                                    .out = &out,
                                    .name = "f.json",
                                    .text = text,
                                    .length = strlen(text),
                                    .errors = &reported};
}

/* What was said: "" or the first error. */
static const char *complaint(calc_status status)
{
    ck_assert_int_eq(status, calc_errors_first(&reported));
    return reported.count ? words(&reported.item[0]) : "";
}

static const char *say(reader read, const calc_galvatron_request *request, const char *text)
{
    const calc_galvatron_reading reading = reading_of(request, text);
    return complaint(read(&reading));
}

/* A file as a search reads it, with what it says of units. */
static const char *say_file(calc_galvatron_file file, const calc_galvatron_request *request,
                            const char *text)
{
    const calc_galvatron_reading reading = reading_of(request, text);
    return complaint(calc_galvatron_read(&reading, file));
}

/* ---- Computation ----------------------------------------------------------------------------- */

CALC_TEST(static_mode_takes_the_row_of_the_sequence_or_says_so)
{
    calc_galvatron_request request = request_of(2048);
    const char *text = "{\"layernum[2]_bsz1_seq2048\": \"x\", \"layertype_0_bsz1_seq512\": 1.5,"
                       "\"layertype_0_bsz1_seq20480\": 9, \"layertype_0_bsz2_seq2048\": 5,"
                       "\"layertype_other_bsz1_seq2048\": 3}";
    ck_assert_str_eq(say(calc_galvatron_read_compute, &request, text), "");
    ck_assert_double_eq(out.layer[0].line.offset, 5);
    ck_assert_double_eq(out.other.line.offset, 3);
    ck_assert_int_eq(out.notes.count, 0);
    request.compat = true; /* upstream: the first row, whatever it is of */
    ck_assert_str_eq(say(calc_galvatron_read_compute, &request, text), "");
    ck_assert_double_eq(out.layer[0].line.offset, 1.5);
    ck_assert_str_eq(out.notes.text[0],
                     "layertype_0 was profiled at sequence 512: time_profile_mode "
                     "static uses that time for sequence 2048 as it is");
}

CALC_TEST(several_types_have_a_row_each)
{
    calc_galvatron_request request = request_of(512);
    request.types = 2;
    request.layers[1] = request.layers[0];
    request.layers[1].seq_len = 256;
    const char *text = "{\"layertype_1_bsz8_seq256\": 2, \"layertype_0_bsz8_seq512\": 1,"
                       "\"layertype_other_bsz8_seq[512,256]\": 3}";
    for (int compat = 0; compat < 2; compat++) {
        request.compat = compat;
        ck_assert_str_eq(say(calc_galvatron_read_compute, &request, text), "");
        ck_assert_double_eq(out.layer[0].line.offset, 1);
        ck_assert_double_eq(out.layer[1].line.offset, 2);
        ck_assert_double_eq(out.other.line.offset, 3);
        ck_assert_int_eq(out.notes.count, 0);
    }
}

/* A sample of a batch of B takes slope + offset / B. */
static char *batches(char *text, size_t size, int count, double slope, double offset)
{
    int used = snprintf(text, size, "{");
    for (int b = 1; b <= count; b++) {
        used += snprintf(text + used, size - (size_t)used,
                         "%s\"layertype_0_bsz%d_seq64\": %.17g, \"layertype_other_bsz%d_seq64\": 1",
                         b == 1 ? "" : ",", b, slope + offset / b, b);
    }
    snprintf(text + used, size - (size_t)used, "}");
    return text;
}

CALC_TEST(a_line_over_batches_needs_eight_and_is_positive)
{
    char text[4096];
    calc_galvatron_request request = request_of(64);
    request.time_profile_mode = CALC_GALVATRON_TIME_BATCH;
    ck_assert_str_eq(
        say(calc_galvatron_read_compute, &request, batches(text, sizeof text, 8, 3, 0.5)), "");
    ck_assert(out.layer[0].batch);
    ck_assert_double_eq_tol(out.layer[0].line.slope, 3, 1e-14);
    ck_assert_double_eq_tol(out.layer[0].line.offset, 0.5, 1e-13);
    ck_assert_double_eq(out.layer[0].line.least, 1);
    ck_assert_double_eq(out.layer[0].line.most, 8);
    ck_assert_double_eq_tol(out.other.line.slope, 1, 1e-14);
    ck_assert_str_eq(
        say(calc_galvatron_read_compute, &request, batches(text, sizeof text, 7, 3, 0.5)),
        "f.json: 7 of layertype_other_bsz<B>_seq64, expected at least 8: time_profile_mode batch "
        "fits a line over batches (profile more batches, or say time_profile_mode static)");
    /* Half a sample at the least, with two ranks to a group. */
    ck_assert_str_eq(
        say(calc_galvatron_read_compute, &request, batches(text, sizeof text, 8, 3, -1.4)), "");
    ck_assert_ptr_nonnull(
        strstr(say(calc_galvatron_read_compute, &request, batches(text, sizeof text, 8, 3, -1.6)),
               "the fit of layertype_0 is -0.1 ms at sequence 64 and batch 0.5, expected more than"
               " 0"));
}

CALC_TEST(a_parabola_over_sequences_says_how_far_it_reaches)
{
    calc_galvatron_request request = request_of(8);
    request.time_profile_mode = CALC_GALVATRON_TIME_SEQUENCE;
    const char *text = "{\"layertype_0_bsz1_seq1\": 6, \"layertype_0_bsz1_seq2\": 11,"
                       "\"layertype_0_bsz1_seq4\": 27, \"layertype_0_bsz2_seq8\": 1000,"
                       "\"layertype_other_bsz1_seq1\": 1, \"layertype_other_bsz1_seq2\": 2}";
    ck_assert_str_eq(say(calc_galvatron_read_compute, &request, text), "");
    ck_assert(!out.layer[0].batch);
    ck_assert_double_eq_tol(out.layer[0].line.offset, 64 + 2 * 8 + 3, 1e-12);
    ck_assert_double_eq_tol(out.other.line.offset, 8, 1e-12);
    ck_assert_int_eq(out.notes.count, 2);
    ck_assert_str_eq(out.notes.text[1], "sequence 8 is 2 times the longest profiled (4): times of "
                                        "layertype_0 follow the parabola");
    request.layers[0].seq_len = 4;
    say(calc_galvatron_read_compute, &request, text);
    ck_assert_int_eq(out.notes.count, 1);
    ck_assert_str_eq(say(calc_galvatron_read_compute, &request,
                         "{\"layertype_other_bsz1_seq1\": 1, \"layertype_other_bsz1_seq2\": 2,"
                         "\"layertype_0_bsz1_seq1\": 6, \"layertype_0_bsz1_seq2\": 11}"),
                     "f.json: 2 of layertype_0_bsz1_seq<S>, expected at least 3: time_profile_mode "
                     "sequence fits a parabola over sequences (profile more sequences, or say "
                     "time_profile_mode batch or static)");
}

CALC_TEST(what_is_wrong_has_its_place)
{
    calc_galvatron_request request = request_of(64);
    reader read = calc_galvatron_read_compute;
    ck_assert_str_eq(say(read, &request, "{\n  \"layertype_0_bsz1_seq64\": \"4.5\"}"),
                     "f.json:2:29: layertype_0_bsz1_seq64: expected a number, found string \"4.5\" "
                     "(write 4.5)");
    ck_assert_str_eq(
        say(read, &request, "{\n  \"layertype_0_bsz1_seq64\": -1}"),
        "f.json:2:29: layertype_0_bsz1_seq64: -1 is out of range, expected at least 0");
    ck_assert_str_eq(say(read, &request, "{\"a\": 1,\n \"layertype_0_bs1_seq64\": 1}"),
                     "f.json:2:2: layertype_0_bs1_seq64: key \"layertype_0_bs1_seq64\" is not "
                     "understood (keys are layertype_<i>_bsz<B>_seq<S> and "
                     "layertype_other_bsz<B>_seq<S>)");
    ck_assert_ptr_nonnull(
        strstr(say(read, &request, "{\"layertype_0_bsz1_seq64\": 1"), "f.json:1:"));
    ck_assert_str_eq(say(read, &request, "[]"),
                     "f.json:1:1: expected an object, found an array of 0");
    ck_assert_str_eq(say(read, &request, "{}"),
                     "f.json: no layertype_other_bsz<B>_seq64: forward time of a sample, in ms "
                     "(time_profile_mode static takes the first of them)");
}

/* ---- Memory ---------------------------------------------------------------------------------- */

#define OTHER(name)                                                                                \
    "\"" name                                                                                      \
    "\": {\"64\": {\"model_states\": {\"1\": 40, \"2\": 20}, \"activation\": {\"1\": 6, "          \
    "\"2\": 3}}}"
#define MEMORY                                                                                     \
    "{\"model_config\": {\"dim\": \"x\"}, \"1_1_8_sp\": {\"a\": null},\"layertype_0_sp\": {"       \
    "\"32\": {\"parameter_size\": 10, \"tp_activation_per_bsz_dict\": {\"1\": 4, \"2\": 2,"        \
    "\"checkpoint\": 1}}, \"64\": {\"parameter_size\": 11, \"tp_activation_per_bsz_dict\":"        \
    "{\"1\": 9, \"2\": 5, \"checkpoint\": 2}}}," OTHER("other_memory_pp_off_sp") "," OTHER(        \
        "other_memory_pp_on_first_sp") "," OTHER("other_memory_pp_on_last_sp") "}"

CALC_TEST(static_memory_is_that_of_the_sequence)
{
    calc_galvatron_request request = request_of(64);
    ck_assert_str_eq(say(calc_galvatron_read_memory, &request, MEMORY), "");
    ck_assert_double_eq(out.memory[0].parameter_mb, 11);
    ck_assert_double_eq(out.memory[0].activation_mb[1], 5);
    ck_assert_double_eq(out.memory[0].checkpoint_mb, 2);
    ck_assert_double_eq(out.other_memory[CALC_GALVATRON_LAST].states_mb[1], 20);
    ck_assert_double_eq(out.other_memory[CALC_GALVATRON_OFF].activation_mb[0], 6);
    ck_assert_int_eq(out.notes.count, 0);
    request.layers[0].seq_len = 128;
    ck_assert_str_eq(say(calc_galvatron_read_memory, &request, MEMORY),
                     "f.json: no layertype_0_sp.128.parameter_size, in MB (sequences up to 64 are "
                     "there; memory_profile_mode sequence scales the longest)");
    request.layers[0].seq_len = 64;
    request.max_tp_deg = 4;
    ck_assert_str_eq(say(calc_galvatron_read_memory, &request, MEMORY),
                     "f.json: no layertype_0_sp.64.tp_activation_per_bsz_dict.4, in MB (profile "
                     "that degree, or search fewer: max_tp_deg, max_sp_deg)");
}

CALC_TEST(memory_of_other_sequences_is_scaled_from_the_longest)
{
    calc_galvatron_request request = request_of(256);
    request.memory_profile_mode = CALC_GALVATRON_MEMORY_SEQUENCE;
    ck_assert_str_eq(say(calc_galvatron_read_memory, &request, MEMORY), "");
    ck_assert_double_eq(out.memory[0].parameter_mb, 10); /* of the shortest */
    ck_assert_double_eq(out.memory[0].activation_mb[0], 36);
    ck_assert_double_eq(out.memory[0].checkpoint_mb, 8);
    ck_assert_double_eq(out.other_memory[CALC_GALVATRON_OFF].activation_mb[1], 12);
    ck_assert_double_eq(out.other_memory[CALC_GALVATRON_OFF].states_mb[1], 20);
    ck_assert_int_eq(out.notes.count, 1);
    ck_assert_str_eq(out.notes.text[0],
                     "sequence 256 is 4 times the longest profiled (64): activations are scaled");
}

CALC_TEST(memory_has_the_sections_of_the_request)
{
    calc_galvatron_request request = request_of(64);
    request.sequence_parallel = false;
    ck_assert_str_eq(say(calc_galvatron_read_memory, &request, MEMORY),
                     "f.json: no section layertype_0 (profile the memory of this model, with the "
                     "sequence_parallel of the request)");
    request.max_tp_deg = 1;
    request.max_pp_deg = 1;
    request.sequence_parallel = true; /* files of other tools have no suffix */
    ck_assert_str_eq(say(calc_galvatron_read_memory, &request,
                         "{\"layertype_0\": {\"64\": {\"parameter_size\": 1,"
                         "\"tp_activation_per_bsz_dict\": {\"1\": 2, \"checkpoint\": 3}}},"
                         "\"other_memory_pp_off\": {\"64\": {\"model_states\": {\"1\": 4},"
                         "\"activation\": {\"1\": 5}}}}"),
                     "");
    ck_assert_int_eq(out.notes.count, 1);
    ck_assert_str_eq(say(calc_galvatron_read_memory, &request, "{\"layertype_0_sp\": {\"64\": 3}}"),
                     "f.json:1:27: layertype_0_sp/64: expected an object, found 3");
}

/* ---- The machine ----------------------------------------------------------------------------- */

CALC_TEST(bandwidths_tell_neighbours_from_strides_if_the_file_does)
{
    calc_galvatron_request request = request_of(64);
    reader read = calc_galvatron_read_allreduce;
    ck_assert_str_eq(say(read, &request,
                         "{\"allreduce_size_4_consec_1\": 100, \"allreduce_size_2_consec_1\": 200,"
                         "\"allreduce_size_2_consec_0\": 50, \"allreduce_size_8_consec_1\": 1}"),
                     "");
    ck_assert_double_eq(out.consecutive[2], 1 / 100.0);
    ck_assert_double_eq(out.strided[2], 1 / 100.0);
    ck_assert_double_eq(out.consecutive[1], 1 / 200.0);
    ck_assert_double_eq(out.strided[1], 1 / 50.0);
    ck_assert_double_eq(out.consecutive[0], 0);
    ck_assert_str_eq(say(read, &request, "{\"allreduce_size_4\": 100, \"allreduce_size_2\": 25}"),
                     "");
    ck_assert_double_eq(out.strided[1], 1 / 25.0);
    ck_assert_str_eq(say(read, &request,
                         "{\"allreduce_size_4_consec_1\": 100, \"allreduce_size_2_consec_1\": 2}"),
                     "f.json: no allreduce_size_2_consec_0 (profile the machine with as many nodes "
                     "and GPUs, or search fewer)");
    ck_assert_str_eq(say(read, &request, "{\"allreduce_size_4_consec_1\": 0}"),
                     "f.json:1:31: allreduce_size_4_consec_1: 0 is out of range, expected at "
                     "least 1e-09");
    ck_assert_ptr_nonnull(
        strstr(say(read, &request, "{\"allreduce_size_4_consec_2\": 1}"), "is not understood"));
    read = calc_galvatron_read_p2p;
    ck_assert_str_eq(say(read, &request, "{\"pp_size_2\": 8}"), "");
    ck_assert_double_eq(out.p2p[1], 0.125);
    /* What is divided by is not next to nothing. */
    ck_assert_str_eq(say(read, &request, "{\"pp_size_2\": 1e-9}"), "");
    ck_assert_str_eq(say(read, &request, "{\"pp_size_2\": 9e-10}"),
                     "f.json:1:15: pp_size_2: 9e-10 is out of range, expected at least 1e-09");
    ck_assert_str_eq(say(read, &request, "{\"pp_size_4\": 8}"),
                     "f.json: no pp_size_2 (profile the machine with as many nodes and GPUs, or "
                     "search fewer)");
}

CALC_TEST(overlap_never_makes_faster)
{
    calc_galvatron_request request = request_of(64);
    reader read = calc_galvatron_read_overlap;
    ck_assert_str_eq(say(read, &request, "{\"overlap_coe\": 1, \"more\": []}"), "");
    ck_assert_double_eq(out.overlap, 1);
    ck_assert_str_eq(say(read, &request, "{\"overlap_coe\": 0.99}"),
                     "f.json:1:17: overlap_coe: 0.99 is out of range, expected at least 1");
    ck_assert_str_eq(say(read, &request, "{}"), "f.json: no overlap_coe (1 says that computing and "
                                                "messages do not slow each other down)");
}

CALC_TEST(collectives_have_tables_and_lines)
{
    char text[2048] = "{";
    calc_galvatron_request request = request_of(64);
    for (int k = 0; k < 8; k++) {
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "%s\"allreduce_size_2_%dMB_time\": %g", k ? "," : "", 1 << k,
                 2 * (0.5 * (1 << k) + 3));
    }
    strcat(text, "}");
    ck_assert_str_eq(say(calc_galvatron_read_collectives, &request, text), "");
    ck_assert_int_eq(out.all_gather[1].count, 8);
    ck_assert_double_eq(out.all_gather[1].ms[2], 5);
    ck_assert_double_eq_tol(out.all_gather[1].line.slope, 0.5, 1e-14);
    ck_assert_double_eq_tol(out.all_gather[1].line.offset, 3, 1e-13);
    ck_assert_double_eq(out.all_gather[1].line.least, 1);
    ck_assert_double_eq(out.all_gather[1].line.most, 128);
    request.max_sp_deg = 2;
    ck_assert_str_eq(say(calc_galvatron_read_collectives, &request, text),
                     "f.json: 0 of all2all_size_2_<M>MB_time, expected at least 8 (profile the "
                     "machine with as many nodes and GPUs, or search fewer)");
}

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
    calc_errors errors = {0};
    ck_assert_int_ne(calc_galvatron_profiles_load(&c->profiles, &c->request, &c->paths, &errors),
                     CALC_OK);
    return words(&errors.item[0]);
}

CALC_TEST(missing_files_and_odd_machines_are_errors)
{
    galvatron_case c;
    galvatron_open(&c, cases[0]);
    c.request.num_gpus_per_node = 6;
    ck_assert_str_eq(load_error(&c),
                     "1 nodes of 6 GPUs are 6, expected a power of two up to 65536 (degrees are "
                     "powers of two, and use all GPUs)");
    c.request.num_gpus_per_node = 16;
    ck_assert_ptr_nonnull(strstr(load_error(&c),
                                 "profiles/shipped_hardware: has no "
                                 "allreduce_bandwidth_1nodes_16gpus_per_node.json"));
    c.request.num_gpus_per_node = 8;
    c.paths.of[CALC_GALVATRON_FILE_P2P] = NULL;
    ck_assert_str_eq(load_error(&c),
                     "no p2p_bandwidth_config_path: where is p2p_bandwidth_1nodes_8gpus_per_node."
                     "json? (say the file, or the folder that has it)");
    c.paths.of[CALC_GALVATRON_FILE_P2P] =
        GALVATRON "profiles/shipped_hardware/p2p_bandwidth_1nodes_8gpus_per_node.json";
    galvatron_load(&c); /* a file in place of its folder */
    c.paths.of[CALC_GALVATRON_FILE_COLLECTIVES] =
        "/nowhere.json"; /* asked for by name: not made up */
    ck_assert_ptr_nonnull(strstr(load_error(&c), "/nowhere.json: "));
    galvatron_close(&c);
}

CALC_TEST(numbers_in_other_units_are_errors)
{
    calc_galvatron_request r = request_of(512);
    r.num_gpus_per_node = 2;
    r.max_tp_deg = 1;
    r.time_profile_mode = CALC_GALVATRON_TIME_STATIC;
    /* 2 * 1024^2 / 4 * 512 FLOP at 2e16 FLOP/s take 1.34e-5 ms. */
    ck_assert_str_eq(say_file(CALC_GALVATRON_FILE_COMPUTATION, &r,
                              "{\"layertype_0_bsz1_seq512\": 1.35e-5, "
                              "\"layertype_other_bsz1_seq512\": 1}"),
                     "");
    ck_assert_str_eq(say_file(CALC_GALVATRON_FILE_COMPUTATION, &r,
                              "{\"layertype_0_bsz1_seq512\": 1.34e-5, "
                              "\"layertype_other_bsz1_seq512\": 1}"),
                     "f.json: layertype_0: 1.34e-05 ms for 512 tokens of width 1024, expected at "
                     "least 1.34218e-05 (it is in milliseconds, of one sample)");
    ck_assert_str_eq(say_file(CALC_GALVATRON_FILE_P2P, &r, "{\"pp_size_2\": 1e5}"), "");
    ck_assert_str_eq(say_file(CALC_GALVATRON_FILE_P2P, &r, "{\"pp_size_2\": 147e6}"),
                     "f.json: pp_size: 1.47e+08 MB/ms, expected at most 100000 (it is in MB in a "
                     "millisecond)");
    ck_assert_str_eq(
        say_file(CALC_GALVATRON_FILE_ALLREDUCE, &r, "{\"allreduce_size_2_consec_1\": 1.6e11}"),
        "f.json: allreduce_size: 1.6e+11 MB/ms, expected at most 100000 (it is in MB in a "
        "millisecond)");
}

/* 12 times the square of the width, in MB; in KB, in GB, in bytes. */
CALC_TEST(parameters_in_other_units_are_errors)
{
    static const struct {
        double size;
        bool fits;
    } sizes[] = {{48, true}, {48 * 1024., false}, {48 / 1024., false}, {48 * 1048576., false}};
    calc_galvatron_request r = request_of(512);
    r.num_gpus_per_node = 1;
    r.max_tp_deg = r.max_pp_deg = 1;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{\"layertype_0_sp\": {\"512\": {\"parameter_size\": %.17g, "
                 "\"tp_activation_per_bsz_dict\": {\"1\": 8, \"checkpoint\": 1}}}, "
                 "\"other_memory_pp_off_sp\": {\"512\": {\"model_states\": {\"1\": 9}, "
                 "\"activation\": {\"1\": 2}}}}",
                 sizes[i].size);
        const char *said = say_file(CALC_GALVATRON_FILE_MEMORY, &r, text);
        ck_assert_msg((said[0] == 0) == sizes[i].fits, "%g: %s", sizes[i].size, said);
        ck_assert(sizes[i].fits || strstr(said, "the square of hidden_size 1024"));
    }
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
