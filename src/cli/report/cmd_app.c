#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "cli/shell/opt.h"
#include "report/page.h"

#define OPTIONS(X)                                                                                 \
    X(PROCS, "procs", "N", CALC_OPT_IS_WHOLE(1, 1e9), .doc = "processors of the first question",   \
      .preset = "256")                                                                             \
    X(BATCH, "batch", "MAX", CALC_OPT_IS_WHOLE(1, 1e9), .doc = "its largest global batch",         \
      .preset = "1024")                                                                            \
    X(HTML, "html", "FILE", .doc = "where to write the page; - is standard output",                \
      .preset = "calc.html")

CALC_OPTIONS(OPTIONS);
static const calc_arg rows[] = {
    CALC_ARG_DOCUMENT("APP", CALC_KIND_APP, .optional = true,
                      .doc = "the model of the first question, of the catalogue [llama3-70B]"),
    CALC_ARG_DOCUMENT("SYS", CALC_KIND_SYSTEM, .optional = true, .doc = "its machine [h100_sxm]"),
    {0}};
static const char *const examples[] = {"calc show app qwen3-235B-A22B h200 --html calc.html", NULL};

/* What for: words of the page, and assignments of --set. */
static const struct {
    const char *name, *batch, *set;
} tasks[] = {{"training", NULL, ""},
             {"serving", "",
              "inference.phase=serve; inference.prompt_size=2000; inference.generate_size=500"}};

static calc_status write_page(const calc_args *args, calc_errors *errors)
{
    calc_output *out;
    calc_status status = calc_page_check_live(errors);
    status =
        status == CALC_OK ? calc_output_open(&out, calc_opt_value(args, OPT_HTML), errors) : status;
    if (status != CALC_OK) {
        return status;
    }
    calc_put put = calc_page_begin(out, CALC_PAGE_APP);
    calc_putf(&put, "study: {compat: %s, command: [%s, %s, %s, %s, %s, %s, %s, %s]}", "none",
              "calc", "sweep", args->argument_count > 0 ? args->argument[0] : "llama3-70B",
              args->argument_count > 1 ? args->argument[1] : "h100_sxm", "--procs",
              calc_opt_value(args, OPT_PROCS), "--batch", calc_opt_value(args, OPT_BATCH));
    calc_put_array(&put, "tasks", CALC_PUT_LINES);
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        const char *batch = tasks[i].batch ? tasks[i].batch : calc_opt_value(args, OPT_BATCH);
        calc_putf(&put, "{name: %s, batch: %s, axis: %s}", tasks[i].name, batch, tasks[i].set);
    }
    calc_put_close(&put);
    calc_page_end(&put, CALC_PAGE_APP);
    return calc_output_close(out, errors);
}

static calc_exit run(const calc_args *args)
{
    calc_errors errors = {0};
    char path[CALC_FIND_PATH_MAX];
    for (size_t i = 0; i < args->argument_count && i < 2; i++) {
        if (calc_find_is_path(args->argument[i])) {
            return calc_complain_usage(
                args->command, "the page has the models and machines of calc show names only");
        }
        (void)!calc_find((calc_kind)i, args->argument[i], path, &errors);
    }
    if (errors.count == 0) {
        (void)!write_page(args, &errors);
    }
    return calc_complain_errors(&errors);
}

const calc_command calc_cmd_app = {
    .name = "show app",
    .summary = "make an HTML page that asks for model and machine and finds the layout",
    .detail =
        "Writes one file that needs no server and no network: it begins with a question (which "
        "model on which machine, how many processors, training or serving) and answers it as "
        "calc sweep does, in the browser, down to the script that starts the layout.",
    CALC_COMMAND_PARTS};
