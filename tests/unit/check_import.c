/* Layouts of frameworks: unit/check_import.txt. "FRAMEWORK PROCESSORS" begins a text, which a
 * layout and a model are made of; the answer is what is not as for an empty text, or the error. 0:
 * as many as it says. "gpt" behind them stands for the script below, whose layers count. */
#include "formats/import.h"

#include <stdio.h>
#include <string.h>

#include "differences.h"
#include "formats/read.h"
#include "frame.h"

#define SCRIPT                                                                                     \
    "pretrain_gpt.py --hidden-size 1024 --ffn-hidden-size 4096 --num-attention-heads 16 "          \
    "--seq-length 4096 --micro-batch-size 1 --swiglu --normalization RMSNorm "                     \
    "--position-embedding-type rope --disable-bias-linear --hidden-dropout 0 "                     \
    "--attention-dropout 0 --untie-embeddings-and-output-weights "

static void tell(void *context, const char *key, calc_unread what, const char *assumed)
{
    FILE *out = context;
    if (out && what != CALC_UNREAD_HARMLESS) {
        fprintf(out, "%s is not read%s%s\n", key ? key : "the file", assumed ? ": " : "",
                assumed ? assumed : "");
    }
}

static calc_status import(const calc_framework *framework, const char *text, int procs, bool model,
                          calc_app *app, calc_exec *exec, FILE *out, calc_errors *errors)
{
    calc_settings settings = {0};
    memset(app, 0, sizeof *app);
    memset(exec, 0, sizeof *exec);
    calc_status status =
        calc_settings_from_text(&settings, framework->syntax, text, strlen(text), "file", errors);
    ck_assert_int_eq(status, CALC_OK);
    const calc_import import = {.framework = framework,
                                .settings = &settings,
                                .name = "file",
                                .procs = procs,
                                .model = model,
                                .unread = tell,
                                .context = out};
    status = calc_import_run(&import, app, exec, errors);
    calc_settings_free(&settings);
    return status;
}

static void answer(const char *said, FILE *out)
{
    static calc_app app, no_app;
    static calc_exec exec, no_exec;
    char name[64], line[1024], script[2048];
    int procs, used = 0, count = 0;
    calc_errors errors = {0};
    ck_assert_int_eq(sscanf(said, "%63s %d%n", name, &procs, &used), 2);
    const calc_framework *framework = calc_framework_find(name);
    ck_assert_ptr_nonnull(framework);
    const bool gpt = strncmp(said + used, " gpt", 4) == 0;
    const char *text = said + used + 1, *empty = framework->syntax == CALC_SYNTAX_JSON ? "{}\n"
                                                 : gpt                                 ? SCRIPT
                                                                                       : "";
    if (gpt) {
        snprintf(script, sizeof script, SCRIPT "%s", text + 4);
        text = script;
    }
    if (strcmp(text, empty) == 0 ||
        import(framework, empty, procs, gpt, &no_app, &no_exec, NULL, NULL) != CALC_OK) {
        memset(&no_app, 0, sizeof no_app);
        memset(&no_exec, 0, sizeof no_exec);
    }
    calc_status status = import(framework, text, procs, gpt, &app, &exec, out, &errors);
    ck_assert_int_eq(errors.count, status != CALC_OK);
    if (status == CALC_OK) {
        print_differences(CALC_KIND_APP, &no_app, &app, out, &count);
        print_differences(CALC_KIND_EXEC, &no_exec, &exec, out, &count);
        fputs("\n", out);
        print_stack(&app, out);
        for (int i = 0; i < exec.stages.count; i++) {
            fprintf(out, "%s%dx%d%s", i ? ", " : "stages: ", exec.stages.run[i].places,
                    exec.stages.run[i].blocks, i == exec.stages.count - 1 ? "\n" : "");
        }
    } else {
        calc_error_print(&errors.item[0], line, sizeof line);
        fputs(line, out);
    }
}

const calc_test_frame calc_tests = {
    .timeout_s = 60, .cases = "unit/check_import.txt", .answer = answer};
