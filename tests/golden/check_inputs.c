/* What calc says of documents that were changed at random, as fuzz/ does: a line of words is
 * `KIND COUNT SEED PATH...`, paths from the source tree. Of each input its first error; of one that
 * is read a number made of all that is read, and of its answer beside valid documents. */
#include "formats/hf.h"
#include "formats/import.h"
#include "frame.h"
#include "fuzz/mutate.h"
#include "io/json_put.h"
#include "unit/documents.h"

#include <string.h>

static uint64_t mixed_bytes(uint64_t digest, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        digest = (digest ^ (unsigned char)text[i]) * 1099511628211U;
    }
    return digest;
}

static uint64_t mixed(uint64_t digest, const char *text)
{
    return mixed_bytes(digest, text, strlen(text));
}

static uint64_t saved(uint64_t digest, calc_kind kind, const void *object)
{
    calc_output *out;
    size_t length;
    ck_assert_int_eq(calc_output_open_memory(&out, NULL, NULL), CALC_OK);
    calc_json_save(out, kind, object, 0);
    const char *text = calc_output_take(out, &length);
    digest = mixed_bytes(digest, text, length);
    calc_output_discard(out);
    return digest;
}

static uint64_t answered(uint64_t digest, calc_app *app, calc_system *system, calc_exec *exec,
                         calc_errors *errors)
{
    static calc_stats stats;
    char text[64];
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    calc_resolve(app, system, exec);
    if (calc_check(app, system, exec, errors) == CALC_OK) {
        calc_run(app, system, exec, CALC_COMPAT_NONE, &stats);
        for (size_t i = 0; i < table->count; i++) {
            const calc_field_ref ref = {CALC_KIND_STATS, &table->rows[i], table->rows[i].offset};
            snprintf(text, sizeof text, "%.9g ", calc_field_number(&ref, &stats));
            digest = mixed(digest, text);
        }
    }
    return digest;
}

static void hear(void *context, const char *text)
{
    *(uint64_t *)context = mixed(*(uint64_t *)context, text);
}

static void unread(void *context, const char *key, calc_unread what, const char *assumed)
{
    hear(context, key ? key : "");
    hear(context, what == CALC_UNREAD_COMPUTED ? "computed" : "");
    hear(context, assumed ? assumed : "");
}

static void answer_one(const char *kind, const char *data, size_t length, FILE *out)
{
    static calc_app app;
    static calc_system system;
    static calc_exec exec;
    uint64_t digest = 0;
    calc_errors errors = {0};
    calc_settings settings = {0};
    const calc_hf hf = {.name = "input", .tell = hear, .context = &digest};
    calc_import import = {.settings = &settings,
                          .name = "input",
                          .model = true,
                          .unread = unread,
                          .context = &digest};
    void *const of[CALC_KIND_COUNT] = {
        [CALC_KIND_APP] = &app, [CALC_KIND_SYSTEM] = &system, [CALC_KIND_EXEC] = &exec};
    calc_kind is = strcmp(kind, "system") == 0 ? CALC_KIND_SYSTEM
                   : strcmp(kind, "exec") == 0 ? CALC_KIND_EXEC
                                               : CALC_KIND_APP;
    calc_status status = CALC_OK;
    ck_assert_int_eq(calc_parse(CALC_KIND_APP, &app, APP_TEXT, strlen(APP_TEXT), "", NULL), 0);
    ck_assert_int_eq(
        calc_parse(CALC_KIND_SYSTEM, &system, SYSTEM_TEXT, strlen(SYSTEM_TEXT), "", NULL), 0);
    ck_assert_int_eq(calc_parse(CALC_KIND_EXEC, &exec, EXEC_TEXT, strlen(EXEC_TEXT), "", NULL), 0);
    if (strcmp(kind, "script") == 0) {
        status = calc_detect(&import.framework, data, length, import.name, &settings, &errors);
        status = status == CALC_OK ? calc_import_run(&import, &app, &exec, &errors) : status;
        if (status == CALC_OK) {
            digest = saved(digest, CALC_KIND_EXEC, &exec);
            status = calc_import_complete(&import, &app, &errors);
        }
    } else if (strcmp(kind, "hf") == 0) {
        status = calc_hf_read_text(&hf, data, length, &app, &errors);
    } else {
        status = calc_parse(is, of[is], data, length, "input", &errors);
    }
    if (status == CALC_OK) {
        digest = saved(digest, is, of[is]);
        digest = answered(digest, &app, &system, &exec, &errors);
    }
    char line[2048] = "read";
    for (int i = errors.count - 1; i >= 0; i--) {
        calc_error_print(&errors.item[i], line, sizeof line);
        digest = mixed(digest, line);
    }
    fprintf(out, "%.*s %016llx\n", (int)strcspn(line, "\n"), line, (unsigned long long)digest);
    calc_settings_free(&settings);
}

static void answer(const char *said, FILE *out)
{
    char kind[16], path[512], argument[1024];
    int count, seed, length, prefix;
    static char data[FUZZ_INPUT_MAX];
    fuzz_seeds seeds = {0};
    ck_assert_int_eq(sscanf(said, "%15s %d %d%n", kind, &count, &seed, &prefix), 3);
    for (said += prefix; sscanf(said, "%511s%n", path, &length) == 1; said += length) {
        snprintf(argument, sizeof argument, "--seeds=@%s/%s", CALC_DATA_DIR_SOURCE, path);
        ck_assert(fuzz_seeds_argument(&seeds, argument));
    }
    for (int n = 0; n < count; n++) {
        calc_rng rng;
        calc_rng_init(&rng, (uint64_t)seed, (uint64_t)n);
        size_t size = fuzz_mutate_seed(&seeds, &rng, data, sizeof data - 1);
        data[size] = '\0';
        answer_one(kind, data, size, out);
    }
    fuzz_seeds_free(&seeds);
}

const calc_test_frame calc_tests = {
    .timeout_s = 60, .cases = "golden/check_inputs.txt", .answer = answer};
