#include "cli/as/tools.h"

#define FLAGS(X)                                                                                   \
    X(YAML, "--yaml_path", "FILE", TEXT, .needed = true, .doc = "the model's configuration")

enum { FLAGS(CALC_FLAG_NUMBER_OF) };
static const calc_flag rows[] = {FLAGS(CALC_FLAG_ROW){0}};
static const char *const examples[] = {"calc as taylor nd --yaml_path pretrain.yaml --gbs 1024",
                                       NULL};

static calc_exit run(const calc_flags *flags)
{
    (void)flags;
    return CALC_EXIT_OK;
}

const calc_as_tool calc_as_taylor_nd = {.planner = "taylor",
                                        .program = "nd",
                                        .theirs = "parallel_tool.py",
                                        .summary = "which layouts are worth a profile",
                                        .detail = "Lists the layouts.",
                                        .flags = rows,
                                        .examples = examples,
                                        .run = run};
