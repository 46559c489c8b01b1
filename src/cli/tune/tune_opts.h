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
      .doc =                                                                                       \
          "how many layouts may be tried: the best predicted, with 10 % more memory than there "   \
          "is",                                                                                    \
      .preset = "10000")                                                                           \
    X(MEASURED, "measured", "FILE", .section = "What was measured",                                \
      .doc = "what was measured: layout, step_s, memory_gib, outcome; add a row and run again")    \
    X(NOISE, "noise", "SHARE", .doc = "standard deviation of a measured time", .preset = "0.5%")   \
    X(MEMORY, "memory", "HOW",                                                                     \
      .doc = "what is known of memory: calc's model and its errors, or five probes that are "      \
             "measured first",                                                                     \
      .choices = calc_tune_memories, .preset = "calc")                                             \
    X(OPERATORS, "operators", "FILE",                                                              \
      .doc = "measured kernels of the machine: how wrong those of each shape are")                 \
    X(ROWS, "rows", "NAME[,NAME...]", .doc = "rows of --operators, of these machines alone")       \
    X(OUT, "out", "DIR", .section = "What to try next",                                            \
      .doc = "where executions of layouts to try are written", .preset = "tune")                   \
    X(NEXT, "next", NULL,                                                                          \
      .doc = "print what to try, an identity and a path per line, and nothing if it is time to "   \
             "stop")                                                                               \
    X(PICKS, "picks", "Q", .doc = "layouts to try at once, on so many free slices", .preset = "1") \
    X(WORTH, "worth", "SHARE", .doc = "a gain that is less does not matter", .preset = "1%")       \
    X(STOP, "stop", "SHARE", .doc = "stop when the chance of a gain that matters is less",         \
      .preset = "5%")                                                                              \
    X(MOST, "most", "N", .doc = "measure so many times at most, those before included")            \
    X(CHOOSER, "chooser", "NAME", .doc = "how the next layouts are chosen",                        \
      .choices = calc_tune_chooser_words, .preset = "thompson")                                    \
    X(TOP_K, "top-k", "K",                                                                         \
      .doc = "thompson: how many of the best of a draw count, up to the fifth measurement",        \
      .preset = "3")                                                                               \
    X(DRAWS, "draws", "N", .doc = "draws of the joint distribution of times", .preset = "1000")    \
    X(SEED, "seed", "S", .doc = "another seed draws other numbers", .preset = "1")                 \
    X(COMMAND, "command", "TEXT", .section = "Measuring by itself",                                \
      .doc = "run this for each layout to try, with {exe} for its execution, and add what it "     \
             "prints last to --measured: a time, with or without memory (1.53s 61.2GiB), oom or "  \
             "failed")                                                                             \
    X(TIMEOUT, "timeout", "TIME", .doc = "a command that runs longer has failed",                  \
      .preset = "30min")                                                                           \
    X(RETRIES, "retries", "N",                                                                     \
      .doc = "how often a command that fails is run again, but for time-outs", .preset = "1")      \
    X(SIMULATE, "simulate", "SEED",                                                                \
      .doc = "measure a simulated truth, which differs from calc as published runs do")            \
    X(TOP, "top", "N", .section = "What is shown and written", .doc = "layouts in the table",      \
      .preset = "10")                                                                              \
    X(HTML, "html", "FILE",                                                                        \
      .doc = "write a page for a browser: what to try next, what every layout may take, what was " \
             "measured; one file that needs no network")                                           \
    X(JSON, "json", "FILE", .doc = "write the decision with all candidates as JSON")               \
    X(CSV, "csv", "FILE", .doc = "write all candidates as CSV")                                    \
    X(THREADS, "threads", "N", .section = "How it runs",                                           \
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
