#include "checkpoint.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/rng.h"
#include "frame.h"
#include "random_struct.h"
#include "scratch.h"
#include "sweep_case.h"

enum { HEAD_SIZE = 24, GROUPS = 3, FOUND = 5, MOST = 1 << 16 };

static char folder[256];
static char words[] = "gpt3-175B\0a100_80g\0--procs\0"
                      "64";
static calc_checkpoint part;

static void fill(calc_rng *rng, calc_front *front)
{
    front->item = calloc(FOUND, sizeof *front->item);
    front->count = FOUND;
    for (size_t i = 0; i < FOUND; i++) {
        calc_found *found = &front->item[i];
        calc_exec exec = {0};
        random_table(rng, calc_table_of(CALC_KIND_EXEC), (char *)&exec);
        *found = calc_found_of(calc_rng_next(rng), &exec);
        for (int o = 0; o < CALC_MAX_OBJECTIVES; o++) {
            found->objective[o] = -calc_rng_real(rng);
        }
    }
}

static void enter(void)
{
    calc_rng rng;
    scratch_enter(folder, sizeof folder);
    calc_rng_init(&rng, 1, 1);
    part = (calc_checkpoint){.fingerprint = UINT64_C(0xfedcba9876543210),
                             .shard = {.index = 2, .count = 4, .next = 17},
                             .words_size = sizeof words};
    part.words = malloc(sizeof words);
    memcpy(part.words, words, sizeof words);
    part.result.counts = (calc_sweep_counts){1, 2, 3, 4, 5, UINT64_MAX, {5, 6, 7}};
    part.result.groups_count = GROUPS;
    part.result.group = calloc(GROUPS, sizeof *part.result.group);
    for (size_t g = 0; g + 1 < GROUPS; g++) { /* nothing was found in the last */
        fill(&rng, &part.result.group[g].front);
        fill(&rng, &part.result.group[g].top);
    }
}

static void leave(void)
{
    calc_checkpoint_free(&part);
    scratch_leave(folder);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static void save(const char *path)
{
    calc_errors errors = {0};
    ck_assert_int_eq(calc_checkpoint_write(&part, path, &errors), CALC_OK);
    ck_assert_int_eq(errors.count, 0);
}

static size_t load(const char *path, unsigned char bytes[MOST])
{
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    size_t size = fread(bytes, 1, MOST, file);
    fclose(file);
    ck_assert_uint_lt(size, MOST);
    return size;
}

/* Make the checksum right again after the body was changed. */
static void sign(unsigned char *bytes, size_t size)
{
    uint64_t hash = calc_hash(CALC_HASH_START, bytes + HEAD_SIZE, size - HEAD_SIZE);
    for (int i = 0; i < 8; i++) {
        bytes[8 + i] = (unsigned char)((size - HEAD_SIZE) >> 8 * i);
        bytes[16 + i] = (unsigned char)(hash >> 8 * i);
    }
}

static void cannot_read(const char *path, calc_status status, const char *printed)
{
    calc_checkpoint read;
    calc_errors errors = {0};
    char line[1200];
    ck_assert_int_eq(calc_checkpoint_read(&read, path, &errors), status);
    calc_checkpoint_free(&read);
    ck_assert_int_eq(errors.count, 1);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
}

static void cannot_write(const char *path, const char *printed)
{
    calc_errors errors = {0};
    char line[1200];
    ck_assert_int_eq(calc_checkpoint_write(&part, path, &errors), CALC_ERR_IO);
    ck_assert_int_eq(errors.count, 1);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
}

CALC_TEST(what_was_written_is_read)
{
    calc_checkpoint read;
    calc_errors errors = {0};
    save("a");
    ck_assert_int_eq(scratch_count(), 1);
    ck_assert_int_eq(calc_checkpoint_read(&read, "a", &errors), CALC_OK);
    ck_assert_uint_eq(read.fingerprint, part.fingerprint);
    ck_assert_uint_eq(read.shard.index, 2);
    ck_assert_uint_eq(read.shard.count, 4);
    ck_assert_uint_eq(read.shard.next, 17);
    ck_assert_uint_eq(read.words_size, sizeof words);
    ck_assert_mem_eq(read.words, words, sizeof words);
    ck_assert_mem_eq(&read.result.counts, &part.result.counts, sizeof read.result.counts);
    ck_assert_uint_eq(read.result.groups_count, GROUPS);
    ck_assert_uint_eq(read.result.group[GROUPS - 1].front.count, 0);
    for (size_t i = 0; i < FOUND; i++) {
        const calc_found *got = &read.result.group[1].top.item[i];
        const calc_found *want = &part.result.group[1].top.item[i];
        ck_assert_int_eq(calc_found_compare(got, want), 0);
        ck_assert_mem_eq(got->objective, want->objective, sizeof got->objective);
    }
    sweep_case_same(&read.result, &part.result);
    calc_checkpoint_free(&read);
}

CALC_TEST(a_new_part_replaces_the_old_one)
{
    unsigned char first[MOST];
    unsigned char second[MOST];
    save("a");
    size_t size = load("a", first);
    scratch_write("a", "old", 3);
    save("a");
    ck_assert_uint_eq(load("a", second), size);
    ck_assert_mem_eq(first, second, size);
    ck_assert_int_eq(scratch_count(), 1);
}

CALC_TEST(a_part_that_cannot_be_written_leaves_the_old_one)
{
    cannot_write("none/a", "none/a: cannot write: No such file or directory");
    ck_assert_int_eq(mkdir("folder", 0777), 0);
    cannot_write("folder", "folder: cannot write: Is a directory");
    cannot_write("/dev/null", "/dev/null: cannot write: not a regular file");
    scratch_write("a", "old", 3);
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0); /* a disk that is full */
    cannot_write("a", "a: cannot write: File too large");
    scratch_is("a", "old");
    ck_assert_int_eq(scratch_count(), 2);
}

CALC_TEST(what_is_not_a_part_is_refused)
{
    cannot_read("a", CALC_ERR_NOT_FOUND, "a: no such file");
    scratch_write("a", "", 0);
    cannot_read("a", CALC_ERR_SYNTAX, "a: not a checkpoint or part of a sweep");
    scratch_write("a", "{\"front\": [], \"top\": [], \"more\": [0]}", 37);
    cannot_read("a", CALC_ERR_SYNTAX, "a: not a checkpoint or part of a sweep");
    cannot_read(".", CALC_ERR_NOT_FOUND, ".: is a folder, not a file");
    ck_assert_int_eq(mkfifo("pipe", 0666), 0); /* nobody writes to it: opening it would wait */
    cannot_read("pipe", CALC_ERR_IO, "pipe: cannot read: not a regular file");
}

CALC_TEST(a_part_that_is_cut_anywhere_is_refused)
{
    unsigned char bytes[MOST];
    save("a");
    size_t size = load("a", bytes);
    for (size_t cut = 0; cut < size; cut += cut < 64 ? 1 : 37) {
        scratch_write("a", bytes, cut);
        cannot_read("a", CALC_ERR_SYNTAX,
                    cut < HEAD_SIZE ? "a: not a checkpoint or part of a sweep"
                                    : "a: damaged: its checksum is wrong\n"
                                      "  hint: start the sweep again without --resume");
    }
}

CALC_TEST(a_part_with_one_wrong_bit_is_refused)
{
    unsigned char bytes[MOST];
    save("a");
    size_t size = load("a", bytes);
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= (unsigned char)(1 << i % 8);
        scratch_write("a", bytes, size);
        cannot_read("a", CALC_ERR_SYNTAX,
                    i < 8 ? "a: not a checkpoint or part of a sweep"
                          : "a: damaged: its checksum is wrong\n"
                            "  hint: start the sweep again without --resume");
        bytes[i] ^= (unsigned char)(1 << i % 8);
    }
}

CALC_TEST(a_part_of_another_version_is_refused)
{
    unsigned char bytes[MOST];
    save("a");
    size_t size = load("a", bytes);
    ck_assert_mem_eq(bytes + HEAD_SIZE + 8, CALC_VERSION, strlen(CALC_VERSION));
    bytes[HEAD_SIZE + 8] = '9';
    sign(bytes, size);
    scratch_write("a", bytes, size);
    cannot_read("a", CALC_ERR_SYNTAX,
                "a: written by calc 9.1.0; this is " CALC_VERSION
                "\n  hint: start the sweep again without --resume");
}

CALC_TEST(contents_that_make_no_sense_are_refused)
{
    unsigned char bytes[MOST];
    save("a");
    size_t size = load("a", bytes);
    size_t index = HEAD_SIZE + 8 + strlen(CALC_VERSION) + 8;
    static const unsigned char wrong[] = {0, 5};
    for (size_t i = 0; i < sizeof wrong; i++) { /* shard 0/4, 5/4 */
        bytes[index] = wrong[i];
        sign(bytes, size);
        scratch_write("a", bytes, size);
        cannot_read("a", CALC_ERR_SYNTAX,
                    "a: damaged: its contents make no sense\n"
                    "  hint: start the sweep again without --resume");
    }
    bytes[index] = 2;
    sign(bytes, size + 1); /* a byte too many */
    scratch_write("a", bytes, size + 1);
    cannot_read("a", CALC_ERR_SYNTAX,
                "a: damaged: its contents make no sense\n"
                "  hint: start the sweep again without --resume");
}

CALC_TEST(contents_with_a_right_checksum_never_crash)
{
    unsigned char bytes[MOST];
    calc_rng rng;
    save("a");
    size_t size = load("a", bytes);
    calc_rng_init(&rng, 7, 1);
    int refused = 0;
    for (int i = 0; i < 2000; i++) {
        uint32_t at = HEAD_SIZE + calc_rng_below(&rng, (uint32_t)size - HEAD_SIZE);
        unsigned char old = bytes[at];
        calc_checkpoint read;
        calc_errors errors = {0};
        bytes[at] = (unsigned char)calc_rng_next(&rng);
        sign(bytes, size);
        scratch_write("a", bytes, size);
        refused += calc_checkpoint_read(&read, "a", &errors) != CALC_OK;
        ck_assert_int_le(errors.count, 1);
        calc_checkpoint_free(&read);
        bytes[at] = old;
    }
    ck_assert_int_gt(refused, 0);
    ck_assert_int_lt(refused, 2000);
}

/* Change a layout of the part and write it: whoever forges a part makes its checksum right, too. */
static void forge(calc_exec *exec)
{
    calc_found *found = &part.result.group[0].front.item[0];
    memcpy(found->layout, exec, sizeof found->layout);
    save("a");
    cannot_read("a", CALC_ERR_SYNTAX,
                "a: damaged: its contents make no sense\n"
                "  hint: start the sweep again without --resume");
}

CALC_TEST(a_forged_part_whose_fields_are_out_of_range_is_refused)
{
    const calc_exec good = calc_found_exec(&part.result.group[0].front.item[0]);
    calc_exec exec = good;
    exec.strategy.tensor_par = 0;
    forge(&exec);
    exec = good;
    exec.strategy.tensor_par = -1;
    forge(&exec);
    exec = good;
    exec.strategy.tensor_par_net = INT64_C(9007199254740992);
    forge(&exec);
    exec = good;
    exec.pipeline_schedule = (calc_pipeline_schedule)1000;
    forge(&exec);
    exec = good;
    exec.strategy.zero_stage = 4;
    forge(&exec);
    part.result.group[0].front.item[0] = part.result.group[0].front.item[1];
    part.result.group[0].front.item[0].objective[0] = NAN;
    save("a");
    cannot_read("a", CALC_ERR_SYNTAX,
                "a: damaged: its contents make no sense\n"
                "  hint: start the sweep again without --resume");
}

CALC_TEST(a_part_belongs_to_one_sweep_and_one_shard)
{
    calc_errors errors = {0};
    calc_shard other = {.index = 1, .count = 4};
    char line[1200];
    const calc_sweep_mark own = {part.fingerprint, UINT64_C(1) << 32, GROUPS};
    const calc_sweep_mark next = {part.fingerprint + 1, UINT64_C(1) << 32, GROUPS};
    ck_assert_int_eq(calc_checkpoint_belongs(&part, "a", &own, NULL, &errors), CALC_OK);
    ck_assert_int_eq(calc_checkpoint_belongs(&part, "a", &own, &part.shard, &errors), CALC_OK);
    ck_assert_int_eq(errors.count, 0);
    ck_assert_int_eq(calc_checkpoint_belongs(&part, "a", &own, &other, &errors), CALC_ERR_RANGE);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, "a: belongs to shard 2/4, not 1/4");
    ck_assert_int_eq(calc_checkpoint_belongs(&part, "a", &next, NULL, &errors), CALC_ERR_RANGE);
    calc_error_print(&errors.item[1], line, sizeof line);
    ck_assert_str_eq(line, "a: belongs to another sweep\n"
                           "  hint: inputs, space, objectives and options must be the same");
}

CALC_TEST(a_part_has_the_groups_and_the_designs_of_its_sweep)
{
    uint64_t designs = 0;
    for (size_t i = 0; i < FOUND; i++) {
        uint64_t design = part.result.group[1].top.item[i].design;
        designs = design >= designs ? design + 1 : designs;
        part.result.group[0].front.item[i].design = 0;
        part.result.group[0].top.item[i].design = 0;
        part.result.group[1].front.item[i].design = 0;
    }
    calc_errors errors = {0};
    const calc_sweep_mark sweeps[] = {{part.fingerprint, designs, GROUPS},
                                      {part.fingerprint, designs - 1, GROUPS},
                                      {part.fingerprint, designs, GROUPS + 1},
                                      {part.fingerprint, designs, GROUPS - 1}};
    ck_assert_int_eq(calc_checkpoint_belongs(&part, "a", &sweeps[0], NULL, &errors), CALC_OK);
    for (size_t i = 1; i < sizeof sweeps / sizeof *sweeps; i++) {
        ck_assert_int_eq(calc_checkpoint_belongs(&part, "a", &sweeps[i], NULL, &errors),
                         CALC_ERR_SYNTAX);
    }
    /* Only the first checkpoint, before anything is swept, has no groups. */
    calc_checkpoint first = {.fingerprint = part.fingerprint, .shard = {1, 1, 0}};
    ck_assert_int_eq(calc_checkpoint_belongs(&first, "a", &sweeps[0], NULL, &errors), CALC_OK);
    first.shard.next = CALC_SHARD_DONE;
    ck_assert_int_eq(calc_checkpoint_belongs(&first, "a", &sweeps[0], NULL, &errors),
                     CALC_ERR_SYNTAX);
}
