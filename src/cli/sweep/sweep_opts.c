#include "cli/sweep/sweep_opts.h"

#include "formats/framework.h"
#include "spec/compat.h"
#include "spec/field.h"

const char *const calc_sweep_frameworks[] = {"any", "none", CALC_FRAMEWORK_NAMES NULL};
static const char *const progress[] = {"auto", "plain", "none", NULL};

const calc_opt calc_sweep_opts[] = {CALC_SWEEP_OPT_LIST(CALC_OPT_ROW){0}};

const calc_arg calc_sweep_args[] = {
    CALC_ARG_DOCUMENT("APP", CALC_KIND_APP, .optional = true,
                      .doc = "the model, as for calc run, or several with commas between them"),
    CALC_ARG_DOCUMENT("SYS", CALC_KIND_SYSTEM, .optional = true, .doc = "the machine, likewise"),
    CALC_ARG_DOCUMENT(
        "SPACE", CALC_KIND_EXEC, .optional = true,
        .doc = "an execution in which fields may have many values: a path, \"-\" or a name in "
               "executions/spaces/; alone if it names models and machines itself"),
    {0}};
