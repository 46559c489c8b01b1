#include "cli/sweep/sweep_opts.h"

#include "spec/field.h"

static const char *const progress[] = {"auto", "plain", "none", NULL};

const calc_opt calc_sweep_opts[] = {
    [CALC_SWEEP_OPT_AXIS] = {.name = "axis",
                             .value = "FIELD=VALUES",
                             .repeated = true,
                             .doc = "sweep a field over a,b,c, lo:hi:step, lo:hi:xFACTOR or * "
                                    "(every legal value); fields of model and machine too: "
                                    "sys.mem1.GiB=40,80"},
    [CALC_SWEEP_OPT_PROCS] = {.name = "procs",
                              .value = "VALUES",
                              .doc = "numbers of processors: 512 or 8:8192:8"},
    [CALC_SWEEP_OPT_BATCH] = {.name = "batch",
                              .value = "MAX",
                              .doc = "largest global batch: each layout takes the largest multiple "
                                     "of its data parallelism; --axis batch_size=N is exact"},
    [CALC_SWEEP_OPT_OBJECTIVES] = {.name = "objectives",
                                   .value = "LIST",
                                   .doc = "1 to 4 statistics of the Pareto front: mem1 and mem2 "
                                          "are the needs of the tiers; :up or :down turns one "
                                          "[sample_rate,mem1,mem2]"},
    [CALC_SWEEP_OPT_TOP] = {.name = "top",
                            .value = "N",
                            .doc = "how many best to list besides the front [10]"},
    [CALC_SWEEP_OPT_TOP_BY] = {.name = "top-by",
                               .value = "STAT",
                               .preset = "sample_rate",
                               .doc = "what they are the best by"},
    [CALC_SWEEP_OPT_PER] = {.name = "per",
                            .value = "LIST",
                            .doc = "one front and one list of best for each num_procs, each design "
                                   "(model, machine and their swept fields), or both"},
    [CALC_SWEEP_OPT_WHERE] = {.name = "where",
                              .value = "COND",
                              .repeated = true,
                              .doc = "only layouts that meet a condition on a statistic or a "
                                     "field: 'mem1 <= 60GiB', 'tensor_par != 3'"},
    [CALC_SWEEP_OPT_COMPAT] = {.name = "compat",
                               .value = "RULES",
                               .preset = "none",
                               .doc = "follow Calculon: all its rules (calculon), all but its "
                                      "three known defects (repaired), or some by name with commas "
                                      "between them (docs/calculon.md)"},
    [CALC_SWEEP_OPT_OUT] = {.name = "out",
                            .value = "FILE",
                            .doc = "write front and best with all fields and statistics, as .json "
                                   "or .csv"},
    [CALC_SWEEP_OPT_SUMMARY] = {.name = "summary",
                                .value = "FILE",
                                .doc = "write counts, times and rates as JSON"},
    [CALC_SWEEP_OPT_SAVE_BEST] = {.name = "save-best",
                                  .value = "FILE",
                                  .doc = "write the best layout as an execution for calc run"},
    [CALC_SWEEP_OPT_ALL] = {.name = "all",
                            .value = "FILE",
                            .doc = "write every feasible layout as a row of CSV; slower, as every "
                                   "layout needs all its statistics"},
    [CALC_SWEEP_OPT_HTML] = {.name = "html",
                             .value = "FILE",
                             .doc = "write a page for a browser: the front, the best, what they "
                                    "spend, every split; one file that needs no network"},
    [CALC_SWEEP_OPT_PLOT] = {.name = "plot",
                             .doc = "draw the front and the time of the best below the tables"},
    [CALC_SWEEP_OPT_PLAN] = {.name = "plan",
                             .doc = "show the axes, how many layouts there are and about how long "
                                    "it takes; do nothing else"},
    [CALC_SWEEP_OPT_SAMPLE] = {.name = "sample",
                               .value = "N",
                               .doc = "evaluate N random layouts only: how many are feasible, and "
                                      "the quantiles of --top-by"},
    [CALC_SWEEP_OPT_SEED] = {.name = "seed",
                             .value = "S",
                             .preset = "0",
                             .doc = "another seed draws other layouts"},
    [CALC_SWEEP_OPT_NO_PRUNE] = {.name = "no-prune",
                                 .doc = "evaluate also what bounds prove to be dominated or too "
                                        "large; the result is the same"},
    [CALC_SWEEP_OPT_VERIFY] = {.name = "verify",
                               .value = "FRAC",
                               .doc = "share of the work to do again as calc run does, from 0 to "
                                      "1; a difference ends the sweep"},
    [CALC_SWEEP_OPT_THREADS] = {.name = "threads",
                                .value = "N",
                                .doc = "threads [as many as the machine has cores]"},
    [CALC_SWEEP_OPT_CPU] = {.name = "cpu",
                            .value = "LEVEL",
                            .doc = "instructions to use: generic, x86-64-v3 or x86-64-v4 [the best "
                                   "that the machine has]"},
    [CALC_SWEEP_OPT_TIME_LIMIT] = {.name = "time-limit",
                                   .value = "SECONDS",
                                   .doc = "stop after this time with what is known"},
    [CALC_SWEEP_OPT_PROGRESS] = {.name = "progress",
                                 .value = "HOW",
                                 .choices = progress,
                                 .preset = "auto",
                                 .doc = "a bar on a terminal, plain lines for logs, or nothing"},
    [CALC_SWEEP_OPT_CHECKPOINT] = {.name = "checkpoint",
                                   .value = "FILE",
                                   .doc = "save what is found so far, so that a sweep that was "
                                          "killed can go on"},
    [CALC_SWEEP_OPT_EVERY] = {.name = "checkpoint-every",
                              .value = "SECONDS",
                              .preset = "5",
                              .doc = "how often"},
    [CALC_SWEEP_OPT_RESUME] = {.name = "resume",
                               .doc = "go on from the checkpoint; from the start if there is none"},
    [CALC_SWEEP_OPT_SHARD] = {.name = "shard",
                              .value = "I/N",
                              .doc = "sweep the I-th of N equal shares; --out FILE is then a part "
                                     "for calc merge, and a checkpoint"},
    [CALC_SWEEP_OPT_MERGE] = {.name = "merge",
                              .value = "PART",
                              .repeated = true,
                              .doc = "put the parts of shards together instead of sweeping, as "
                                     "calc merge does"},
    {0}};

const calc_arg calc_sweep_args[] = {
    {.name = "APP",
     .names_document = true,
     .kind = CALC_KIND_APP,
     .optional = true,
     .doc = "the model, as for calc run, or several with commas between them"},
    {.name = "SYS",
     .names_document = true,
     .kind = CALC_KIND_SYSTEM,
     .optional = true,
     .doc = "the machine, likewise"},
    {.name = "SPACE",
     .names_document = true,
     .kind = CALC_KIND_EXEC,
     .optional = true,
     .doc = "an execution in which fields may have many values: a path, \"-\" or a name in "
            "executions/spaces/; alone if it names models and machines itself"},
    {0}};
