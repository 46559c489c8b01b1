/* Every key of every framework with every word that it takes, and some numbers and lists, beside
 * settings that say a model and its layout: "FRAMEWORK PROCESSORS" and a text. Of each key with how
 * many values it was read and refused, and a number made of all that it changed, the reasons, what
 * was told, and what is written of that layout. */
#include <stdlib.h>

#include "formats/export.h"
#include "formats/import.h"
#include "formats/launch.h"
#include "formats/read.h"
#include "frame.h"
#include "unit/differences.h"

typedef struct trial {
    const calc_framework *framework;
    const calc_settings *base; /* beside which a key stands */
    int64_t procs;
    calc_app app; /* of the base */
    calc_exec exec;
    FILE *said;
} trial;

static void tell(void *context, const char *key, calc_unread what, const char *assumed)
{
    fprintf(context, "%s %d %s\n", key ? key : "", (int)what, assumed ? assumed : "");
}

static void tell_reason(void *context, const char *reason)
{
    fprintf(context, "%s\n", reason);
}

static void tell_lost(void *context, const char *field, const char *value, bool layout)
{
    fprintf(context, "%s=%s %d\n", field, value, layout);
}

static bool is_written(const calc_framework *framework)
{
    size_t i = 0;
    while (calc_framework_list[i] && calc_framework_list[i] != framework) {
        i++;
    }
    return calc_framework_list[i];
}

static void write_back(const trial *t, const calc_app *app, const calc_exec *exec)
{
    calc_settings settings = {0};
    calc_errors errors = {0};
    size_t reasons;
    if (calc_export(t->framework, app, exec, 8, &settings, &errors) == CALC_OK) {
        for (size_t i = 0; i < settings.count; i++) {
            fprintf(t->said, "%s %s\n", settings.item[i].key, settings.item[i].value);
        }
        ck_assert_int_eq(calc_export_lost(t->framework, app, exec, &settings, tell_lost, t->said),
                         CALC_OK);
    }
    ck_assert_int_eq(calc_export_refused(t->framework, app, exec, tell_reason, t->said, &reasons),
                     CALC_OK);
    calc_settings_free(&settings);
}

/* The same settings as a job of reinforcement learning, and its two layouts. */
static calc_status try_job(const trial *t, calc_import import, calc_errors *errors)
{
    static calc_job_launch launch;
    const calc_job_launch_format *format = calc_job_launch_format_of(t->framework);
    calc_settings prepared = {0};
    calc_text none = {0}, text = {0};
    calc_output *file;
    int count = 0;
    calc_status status = calc_job_launch_prepare(format, &import, &prepared, errors);
    import.settings = &prepared;
    status =
        status == CALC_OK ? calc_job_launch_read(format, &import, &none, &launch, errors) : status;
    if (status == CALC_OK) {
        ck_assert_int_eq(calc_output_open_memory(&file, &text, errors), CALC_OK);
        calc_job_launch_put_job(file, &launch, "run");
        ck_assert_int_eq(calc_output_close(file, errors), CALC_OK);
        fputs(text.data, t->said);
        print_differences(CALC_KIND_EXEC, &t->exec, &launch.actor, t->said, &count);
        print_differences(CALC_KIND_EXEC, &t->exec, &launch.rollout, t->said, &count);
    }
    calc_text_free(&text);
    calc_settings_free(&prepared);
    return status;
}

/* The base with a key, at the end where it counts. @param key  NULL: without one */
static calc_status try(const trial *t, const char *key, const char *value, calc_app *app,
                       calc_exec *exec)
{
    calc_settings settings = {0};
    calc_errors errors = {0};
    int count = 0;
    for (size_t i = 0; i < t->base->count; i++) {
        const calc_setting *item = &t->base->item[i];
        if (!key || strcmp(item->key, key) != 0) {
            calc_settings_put(&settings, item->key, item->value);
        }
    }
    if (key) {
        calc_settings_put(&settings, key, value);
    }
    const calc_import import = {.framework = t->framework,
                                .settings = &settings,
                                .name = "file",
                                .procs = t->procs,
                                .model = true,
                                .unread = tell,
                                .context = t->said};
    memset(app, 0, sizeof *app);
    memset(exec, 0, sizeof *exec);
    calc_status status = calc_import_run(&import, app, exec, &errors);
    if (status == CALC_OK && calc_job_launch_format_of(t->framework)) {
        status = try_job(t, import, &errors);
    }
    if (status != CALC_OK) {
        fprintf(t->said, "%s %s\n", errors.item[0].text, errors.item[0].hint);
    } else if (memcmp(app, &t->app, sizeof *app) != 0 ||
               memcmp(exec, &t->exec, sizeof *exec) != 0) {
        print_differences(CALC_KIND_APP, &t->app, app, t->said, &count);
        print_differences(CALC_KIND_EXEC, &t->exec, exec, t->said, &count);
        print_stack(app, t->said);
        if (is_written(t->framework)) {
            write_back(t, app, exec);
        }
    }
    calc_settings_free(&settings);
    return status;
}

static const char *const numbers[] = {"",  "true", "false", "0",  "1",          "2",
                                      "4", "0.5",  "-1",    "8x", "1000000001", "nan"};
static const char *const lists[] = {
    "[0, 1, 1, 1, 1, 1, 1, 1]", "([0]*2+[1]*6)", "[1, 0, 1]", "*-*-*-M-", "*-*-|M-*E", "Et*5|t*3L",
    "[[0, 1], [0, -1]]",        "[2, 0]",        "2 4",       "(127, 0)"};

static void try_key(trial *t, const calc_setting_row *row, const char *key, FILE *out)
{
    static calc_app app;
    static calc_exec exec;
    char *text = NULL, value[2048];
    size_t size = 0, ended[2] = {0};
    uint64_t digest = 0;
    bool listed = row->how >= CALC_HOW_PATTERN && row->how <= CALC_HOW_WINDOW;
    const char *at = row->words;
    calc_word word;
    t->said = open_memstream(&text, &size);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        ended[try(t, key, numbers[i], &app, &exec) != CALC_OK]++;
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists && listed; i++) {
        ended[try(t, key, lists[i], &app, &exec) != CALC_OK]++;
    }
    value[0] = '\0';
    while (at && calc_word_next(row, &at, &word)) {
        size_t first = row->how == CALC_HOW_SET && value[0] ? strlen(value) : 0;
        snprintf(value + first, sizeof value - first, "%s%.*s", first ? " " : "", (int)word.length,
                 word.text); /* of a set one more at a time */
        ended[try(t, key, value, &app, &exec) != CALC_OK]++;
    }
    fclose(t->said);
    if (getenv("CALC_SAID")) { /* where the number is not the one that is known */
        fprintf(stderr, "%s\n%s", key, text);
    }
    for (size_t i = 0; i < size; i++) {
        digest = (digest ^ (unsigned char)text[i]) * 1099511628211U;
    }
    fprintf(out, "%s %zu %zu %016llx\n", key, ended[0], ended[1], (unsigned long long)digest);
    free(text);
}

static void answer(const char *said, FILE *out)
{
    static trial t;
    char name[64];
    int procs, used = 0;
    calc_errors errors = {0};
    calc_settings base = {0};
    ck_assert_int_eq(sscanf(said, "%63s %d%n", name, &procs, &used), 2);
    t = (trial){.framework = calc_framework_find(name), .base = &base, .procs = procs};
    ck_assert_ptr_nonnull(t.framework);
    const char *text = said + used + 1;
    ck_assert_int_eq(
        calc_settings_from_text(&base, t.framework->syntax, text, strlen(text), "file", &errors),
        CALC_OK);
    char *first = NULL;
    size_t size;
    t.said = open_memstream(&first, &size);
    const calc_status status = try(&t, NULL, NULL, &t.app, &t.exec);
    fclose(t.said);
    ck_assert_msg(status == CALC_OK, "%s", first);
    free(first);
    for (size_t i = 0; i < t.framework->count; i++) {
        const calc_setting_row *row = &t.framework->rows[i];
        const char *const keys[] = {row->key, row->also};
        for (size_t k = 0; k < 2; k++) {
            if (keys[k]) {
                try_key(&t, row, keys[k], out);
            }
        }
    }
    calc_settings_free(&base);
}

const calc_test_frame calc_tests = {
    .timeout_s = 120, .cases = "golden/check_settings.txt", .answer = answer};
