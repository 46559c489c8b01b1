/** @file tune_opts.h  The options of `calc tune`, shared by its files. */
#ifndef CALC_CLI_TUNE_TUNE_OPTS_H
#define CALC_CLI_TUNE_TUNE_OPTS_H

#include "cli/shell/inputs.h"

/** Rows of calc_tune_opts. */
#define CALC_TUNE_OPT_LIST(X)                                                                      \
    X(PROCS, "procs", "N", .section = "What is searched", .doc = "number of processors")           \
    X(BATCH, "batch", "N", .doc = "global batch of a step: 512 or 4Mitokens")                      \
    X(AXIS, "axis", "FIELD=VALUES",                                                                \
      .doc = "what to search, as in calc sweep: pp=8,16, microbatch_size=1,2", .repeated = true)   \
    CALC_INPUTS_SET(X)                                                                             \
    X(WHERE, "where", "COND", .doc = "only layouts that meet a condition: 'tensor_par <= 8'",      \
      .repeated = true)                                                                            \
    X(CANDIDATES, "candidates", "N",                                                               \
      .doc = "number of candidates: the best predicted layouts, allowing 10 % more memory than "   \
             "the machine has",                                                                    \
      .preset = "10000")                                                                           \
    X(MEASURED, "measured", "FILE", .section = "Measurements",                                     \
      .doc = "measurements, one row each: layout, step_s, memory_gib, outcome; add a row and run " \
             "again")                                                                              \
    X(NOISE, "noise", "SHARE", .doc = "standard deviation of a measured time", .preset = "0.5%")   \
    X(MEMORY, "memory", "HOW",                                                                     \
      .doc = "how memory is judged: by calc's model and its known errors, or by five probes that " \
             "are measured first",                                                                 \
      .choices = calc_tune_memories, .preset = "calc")                                             \
    X(OPERATORS, "operators", "FILE",                                                              \
      .doc = "measured kernels of the machine, to correct predictions by shape")                   \
    X(ROWS, "rows", "NAME[,NAME...]",                                                              \
      .doc = "use only the rows of --operators that are of these machines")                        \
    X(OUT, "out", "DIR", .section = "Next layouts", .doc = "folder for the layouts to try",        \
      .preset = "tune")                                                                            \
    X(NEXT, "next", NULL,                                                                          \
      .doc = "print the layouts to try, an identity and a path per line, or nothing if it is "     \
             "time to stop")                                                                       \
    X(PICKS, "picks", "Q", .doc = "number of layouts to try at once", .preset = "1")               \
    X(WORTH, "worth", "SHARE", .doc = "smallest gain that matters", .preset = "1%")                \
    X(STOP, "stop", "SHARE", .doc = "stop when the chance of such a gain is below this",           \
      .preset = "5%")                                                                              \
    X(MOST, "most", "N", .doc = "largest number of measurements, including earlier ones")          \
    X(CHOOSER, "chooser", "NAME", .doc = "how the next layouts are chosen",                        \
      .choices = calc_tune_chooser_words, .preset = "thompson")                                    \
    X(TOP_K, "top-k", "K",                                                                         \
      .doc = "thompson: number of best layouts of a draw that count, up to the fifth measurement", \
      .preset = "3")                                                                               \
    X(DRAWS, "draws", "N", .doc = "draws of the joint distribution of times", .preset = "1000")    \
    X(SEED, "seed", "S", .doc = "another seed draws other numbers", .preset = "1")                 \
    X(COMMAND, "command", "TEXT", .section = "Automatic measuring",                                \
      .doc =                                                                                       \
          "run this for each layout to try ({exe} is its file) and add its last line of output "   \
          "to --measured: a time, with or without memory (1.53s 61.2GiB), oom or failed")          \
    X(TIMEOUT, "timeout", "TIME", .doc = "a command that runs longer has failed",                  \
      .preset = "30min")                                                                           \
    X(RETRIES, "retries", "N",                                                                     \
      .doc = "how often a failed command is run again, except after a time-out", .preset = "1")    \
    X(SIMULATE, "simulate", "SEED",                                                                \
      .doc = "measure a simulated truth, which differs from calc as published runs do")            \
    X(TOP, "top", "N", .section = "Output", .doc = "layouts in the table", .preset = "10")         \
    X(HTML, "html", "FILE",                                                                        \
      .doc = "write an HTML page: layouts to try next, the expected range of each, the "           \
             "measurements; one file that needs no network")                                       \
    X(JSON, "json", "FILE", .doc = "write the decision with all candidates as JSON")               \
    X(CSV, "csv", "FILE", .doc = "write all candidates as CSV")                                    \
    X(THREADS, "threads", "N", .section = "Running",                                               \
      .doc = "threads [as many as the machine has cores]")                                         \
    X(PROGRESS, "progress", "HOW", .doc = "a bar on a terminal, plain lines for logs, or nothing", \
      .choices = calc_tune_progress, .preset = "auto")

#define CALC_TUNE_OPT_NUMBER(id, ...) CALC_TUNE_OPT_##id,
typedef enum calc_tune_opt { CALC_TUNE_OPT_LIST(CALC_TUNE_OPT_NUMBER) } calc_tune_opt;
#undef CALC_TUNE_OPT_NUMBER

extern const char *const calc_tune_memories[];
extern const char *const calc_tune_progress[];
extern const calc_opt calc_tune_opts[];

#endif
