/* pipeline_parallel.py: divides the layers of one layout over its stages. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "balance/milp.h"
#include "cli/as/flags.h"
#include "cli/as/taylor.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "spec/field.h"
#include "taylor/memory.h"
#include "taylor/yaml.h"

#define FLAGS(X)                                                                                   \
    X(YAML, "-yaml", "FILE",                                                                       \
      .doc = "the configuration; offset and recompute_config are written into it")                 \
    X(MINDFORMERS, "-mindformers", "PATH", .unused = true, .doc = "no effect: nothing is run")     \
    X(SOLVER, "-solver_name", "NAME", .also = "-solver", .preset = "calc",                         \
      .choices = calc_taylor_solvers,                                                              \
      .doc = "calc's own search, or GLPK's glpsol, if it is installed; HIGHS is calc's")           \
    X(DENSE, "-layer_ratio", "R", CALC_OPT_IS_NUMBER(0, 1e6), .preset = "0.33",                    \
      .doc = "forward time of a dense layer, in layers with experts")                              \
    X(BACKWARD, "-b_ratio", "R", CALC_OPT_IS_NUMBER(0, 1e6), .preset = "2.0",                      \
      .doc = "backward time, in forwards")                                                         \
    X(HEAD, "-head_loss", "R", CALC_OPT_IS_NUMBER(0, 1e6), .preset = "1.5",                        \
      .doc = "head and loss, in forwards of a layer")                                              \
    X(AGAIN, "-ra_ratio", "R", CALC_OPT_IS_NUMBER(0, 1e6), .preset = "1",                          \
      .doc = "extra forward passes of a layer that recomputes")                                    \
    X(TIME, "-t", "SECONDS", CALC_OPT_IS_NUMBER(0.001, 1e19),                                      \
      .doc = "time limit of the solver; without it none")                                          \
    X(DRYRUN, "-dryrun", "YES|NO", .kind = CALC_OPT_BOOL, .preset = "yes",                         \
      .doc = "yes: memory by calc's model, which memory_info is filled with; no: by memory_info, " \
             "if it is there")                                                                     \
    X(CHECK, "-check", "YES|NO", .kind = CALC_OPT_BOOL, .preset = "yes",                           \
      .doc = "check peaks with calc's model, and tighten the limits at most five times")           \
    X(EXTRACT, "-extract", "YES|NO", .kind = CALC_OPT_BOOL, .preset = "no",                        \
      .doc = "only show the solution of -solution")                                                \
    X(SOLUTION, "-solution", "FILE", .doc = "a .sol file that this program has written")           \
    X(FIT, "-fit", "0", .preset = "0", .choices = levels,                                          \
      .doc = "how limits are tightened: level 0, by what stages are over")                         \
    X(LLM, "-llm", "NAME", .unused = true, .doc = "no effect: keys are found by name")             \
    CALC_TAYLOR_SYSTEM_FLAG(X)                                                                     \
    X(INFO, "--memory_info", "FILE", .ours = true,                                                 \
      .doc = "terms of memory, term=MB; a term that it lacks is calc's")                           \
    X(SELECT, "--select", "YES|NO", .kind = CALC_OPT_BOOL, .preset = "no", .ours = true,           \
      .doc = "layers may also recompute in parts")                                                 \
    X(MIX, "--mix", "YES|NO", .kind = CALC_OPT_BOOL, .preset = "no", .ours = true,                 \
      .doc = "in parts and in full in one chunk")                                                  \
    X(LOW, "--low_mem", "YES|NO", .kind = CALC_OPT_BOOL, .ours = true,                             \
      .doc = "half of the warm-up, with chunks; without it as ENABLE_LESS_MEM_VPP=1 says")         \
    X(COMPAT, "--taylor_compat", "YES|NO", .kind = CALC_OPT_BOOL, .preset = "no", .ours = true,    \
      .doc = "as shipped: a dense layer that recomputes takes a forward more whatever -ra_ratio")  \
    X(WRITE, "--write", "YES|NO", .kind = CALC_OPT_BOOL, .preset = "yes", .ours = true,            \
      .doc = "write the configuration")                                                            \
    X(OUTPUT, "--output_path", "DIR", .preset = "./pipeline_output/", .ours = true,                \
      .doc = "where model_mps, sol_output and memory_info go")

static const char *const levels[] = {"0", NULL};

CALC_OPTIONS(FLAGS);
static const calc_arg rows[] = {{0}};
static const char *const examples[] = {
    "calc as taylor balance -yaml pretrain.yaml -layer_ratio 0.3 -b_ratio 2 -head_loss 1.5 "
    "-ra_ratio 1",
    "calc as taylor balance -extract y -solution pipeline_output/sol_output/NAME.sol", NULL};

typedef struct request {
    const calc_args *flags;
    calc_taylor_file file;
    calc_system system;
    calc_taylor_job job;
    char memory_from[CALC_AS_PATH_SIZE];
    calc_output *out;
} request;

/* Creates the output folder "DIR/folder". */
static calc_status open_folder(const request *r, const char *folder, char path[CALC_AS_PATH_SIZE],
                               calc_errors *errors)
{
    calc_as_path(calc_opt_value(r->flags, OPT_OUTPUT), folder, path);
    return calc_as_make_folder(path, errors);
}

static calc_status read_memory(request *r, const char *path, calc_errors *errors)
{
    calc_text text = {0};
    int said = 0;
    calc_status status = calc_text_read(&text, path, errors);
    if (status == CALC_OK) {
        status =
            calc_taylor_memory_parse(&r->job.memory, &said, text.data, text.length, path, errors);
        calc_text_free(&text);
    }
    if (status == CALC_OK) {
        r->job.memory.working_mb = said == CALC_TAYLOR_MEMORY_KEYS ? 0 : r->job.memory.working_mb;
        snprintf(r->memory_from, sizeof r->memory_from, "%.4000s, %d of %d terms%s", path, said,
                 CALC_TAYLOR_MEMORY_KEYS, said < CALC_TAYLOR_MEMORY_KEYS ? ", others by calc" : "");
    }
    return status;
}

static calc_status write_memory(request *r, const char *path, calc_errors *errors)
{
    char folder[CALC_AS_PATH_SIZE];
    calc_output *out;
    calc_status status = open_folder(r, "memory_info", folder, errors);
    status = status ? status : calc_output_open(&out, path, errors);
    if (status == CALC_OK) {
        const calc_taylor_memory *m = &r->job.memory;
#define CALC_X(key, also, of) calc_output_printf(out, key "=%.10g\n", m->of);
        CALC_TAYLOR_MEMORY_LIST(CALC_X)
#undef CALC_X
        status = calc_output_close(out, errors);
    }
    return status;
}

static calc_status find_memory(request *r, calc_errors *errors)
{
    char path[CALC_AS_PATH_SIZE];
    const char *given = calc_opt_value(r->flags, OPT_INFO);
    char stem[CALC_TAYLOR_STEM_SIZE], folder[CALC_AS_PATH_SIZE], name[CALC_TAYLOR_STEM_SIZE + 32];
    calc_taylor_job plain = r->job;
    plain.ask.chunks = 1; /* as in the program's file names, whatever the chunks */
    snprintf(name, sizeof name, "memory_info/%s.txt", calc_taylor_stem(&plain, stem));
    snprintf(folder, sizeof folder, "%s", calc_opt_value(r->flags, OPT_OUTPUT));
    calc_as_path(folder, name, path);
    snprintf(r->memory_from, sizeof r->memory_from, "by calc's model on %s",
             calc_opt_value(r->flags, OPT_SYSTEM));
    if (given) {
        return read_memory(r, given, errors);
    }
    if (calc_opt_truth(r->flags, OPT_DRYRUN)) {
        return write_memory(r, path, errors);
    }
    if (access(path, R_OK) == 0) {
        return read_memory(r, path, errors);
    }
    calc_say("%s is not there: memory by calc's model\n", path);
    return CALC_OK;
}

static bool write_piece(void *context, const char *text, size_t length)
{
    calc_output_write(context, text, length);
    return true;
}

/* The program and the meaning of its names. */
static calc_status write_program(const request *r, calc_errors *errors)
{
    char folder[CALC_AS_PATH_SIZE], path[CALC_AS_PATH_SIZE], stem[CALC_TAYLOR_STEM_SIZE];
    char name[CALC_TAYLOR_STEM_SIZE + 16];
    calc_milp milp;
    calc_taylor_stem(&r->job, stem);
    calc_status status = open_folder(r, "model_mps", folder, errors);
    status = status ? status : calc_milp_build(&r->job.problem, &milp, errors);
    if (status != CALC_OK) {
        return status;
    }
    static const char *const endings[] = {".mps", "_names.csv"};
    for (int i = 0; i < 2 && status == CALC_OK; i++) {
        snprintf(name, sizeof name, "%s%s", stem, endings[i]);
        calc_output *out = calc_write_to(calc_as_path(folder, name, path));
        (i == 0 ? calc_mps_program : calc_mps_names)(&milp, write_piece, out);
        status = calc_output_close(out, errors);
    }
    calc_milp_free(&milp);
    return status;
}

static calc_status write_solution(const request *r, calc_errors *errors)
{
    char folder[CALC_AS_PATH_SIZE], path[CALC_AS_PATH_SIZE], stem[CALC_TAYLOR_STEM_SIZE];
    char name[CALC_TAYLOR_STEM_SIZE + 16];
    snprintf(name, sizeof name, "%s.sol", calc_taylor_stem(&r->job, stem));
    calc_status status = open_folder(r, "sol_output", folder, errors);
    if (status == CALC_OK) {
        calc_output *out = calc_write_to(calc_as_path(folder, name, path));
        calc_taylor_solution_write(&r->job.ask, r->job.solution.share,
                                   r->job.solution.answer.step_s, out);
        status = calc_output_close(out, errors);
    }
    if (status == CALC_OK) {
        calc_output_printf(r->out, "%s is written\n", path);
    }
    return status;
}

static calc_status write_yaml(const request *r, calc_errors *errors)
{
    const char *path = calc_opt_value(r->flags, OPT_YAML);
    calc_taylor_edits edits = {.count = 0};
    calc_taylor_edits_balance(&r->file.config, &r->job.ask, r->job.solution.share, &edits);
    calc_status status = calc_taylor_write(&r->file, path, &edits, path, errors);
    if (status == CALC_OK) {
        calc_output_printf(r->out, "%s has them\n", path);
    }
    return status;
}

/* Checks that the configuration has room for the answer before the search starts. */
static calc_status check_writable(const request *r, calc_errors *errors)
{
    static const calc_yaml_edit edits[] = {{"model.model_config.offset", "0"},
                                           {"recompute_config.recompute", "0"}};
    calc_text text = {0};
    calc_status status = calc_yaml_edit_text(r->file.text.data, r->file.text.length,
                                             calc_opt_value(r->flags, OPT_YAML), edits,
                                             sizeof edits / sizeof *edits, &text, errors);
    calc_text_free(&text);
    return status;
}

static void fill_job(request *r)
{
    const calc_args *f = r->flags;
    calc_taylor_job *j = &r->job;
    const char *less = getenv("ENABLE_LESS_MEM_VPP");
    j->ratios = (calc_taylor_ratios){.dense = calc_opt_real(f, OPT_DENSE),
                                     .backward = calc_opt_real(f, OPT_BACKWARD),
                                     .again = calc_opt_real(f, OPT_AGAIN),
                                     .head = calc_opt_real(f, OPT_HEAD),
                                     .layer_ms = NAN};
    j->ask.may_select = calc_opt_truth(f, OPT_SELECT);
    j->ask.may_mix = calc_opt_truth(f, OPT_MIX);
    j->ask.shipped = calc_opt_truth(f, OPT_COMPAT);
    j->ask.less_memory =
        calc_opt_given(f, OPT_LOW) ? calc_opt_truth(f, OPT_LOW) : less && strcmp(less, "1") == 0;
    j->check = calc_opt_truth(f, OPT_CHECK);
    j->time_limit_s = calc_opt_real(f, OPT_TIME);
    j->solver =
        (calc_taylor_solver)calc_choice_index(calc_taylor_solvers, calc_opt_value(f, OPT_SOLVER));
}

static calc_status balance(request *r, calc_errors *errors)
{
    const char *yaml = calc_opt_value(r->flags, OPT_YAML);
    calc_status status = calc_taylor_file_read(&r->file, yaml, errors);
    if (status == CALC_OK) {
        calc_taylor_tell(&r->file.config, yaml);
        status = calc_document_load(CALC_KIND_SYSTEM, calc_opt_value(r->flags, OPT_SYSTEM),
                                    &r->system, errors);
    }
    if (status == CALC_OK) {
        status = calc_taylor_job_of(&r->file.config, &r->system, 0, &r->job, errors);
        calc_taylor_place(errors, yaml);
    }
    status = status ? status : check_writable(r, errors);
    if (status != CALC_OK) {
        return status;
    }
    fill_job(r);
    r->job.tells = true;
    status = find_memory(r, errors);
    if (status == CALC_OK) {
        const calc_taylor_job *j = &r->job;
        const calc_taylor_config *c = &r->file.config;
        calc_output_printf(r->out,
                           "%jd dense and %jd other layers, %jd micro-batches; dp %jd, tp %jd, pp "
                           "%jd, vp %jd, ep %jd\n",
                           j->ask.layers[0], j->ask.layers[1], j->ask.microbatches, c->data,
                           c->tensor, c->pipeline, j->ask.chunks, c->expert);
        calc_output_printf(r->out, "memory of %g GB, %s\n", c->memory_mb / 1024, r->memory_from);
        calc_taylor_solver wanted = r->job.solver;
        status = calc_taylor_solve(&r->job, errors);
        calc_taylor_tell_solver(&r->job, wanted);
    }
    if (status == CALC_OK) {
        calc_taylor_show(&r->job, r->out);
        status = write_program(r, errors);
    }
    if (status == CALC_OK && r->job.fits) {
        status = write_solution(r, errors);
        status = status == CALC_OK && calc_opt_truth(r->flags, OPT_WRITE) ? write_yaml(r, errors)
                                                                          : status;
    }
    return status;
}

static calc_status extract(request *r, calc_errors *errors)
{
    const char *path = calc_opt_value(r->flags, OPT_SOLUTION);
    calc_text text = {0};
    calc_taylor_ask ask;
    calc_balance_share share[CALC_BALANCE_PLACES];
    double objective;
    calc_status status = calc_text_read(&text, path, errors);
    if (status == CALC_OK) {
        status = calc_taylor_solution_parse(text.data, text.length, path, &ask, share, &objective,
                                            errors);
        calc_text_free(&text);
    }
    if (status == CALC_OK) {
        calc_output_printf(r->out, "step: %.10g\n", objective);
        calc_taylor_show_lists(&ask, share, r->out);
    }
    return status;
}

static calc_exit run(const calc_args *flags)
{
    request r;
    bool extracts = calc_opt_truth(flags, OPT_EXTRACT);
    if (extracts ? !calc_opt_given(flags, OPT_SOLUTION) : !calc_opt_given(flags, OPT_YAML)) {
        return calc_complain_usage(flags->command,
                                   extracts ? "missing -solution FILE" : "missing -yaml FILE");
    }
    calc_errors errors = {0};
    calc_as_tell_unused(flags);
    r = (request){.flags = flags, .out = calc_write_to("-")};
    (void)calc_is_yes(extracts ? extract(&r, &errors) : balance(&r, &errors));
    (void)!calc_output_close(r.out, &errors);
    calc_text_free(&r.file.text);
    calc_exit result = calc_complain_errors(&errors);
    return result == CALC_EXIT_OK && !extracts && !r.job.fits ? CALC_EXIT_INFEASIBLE : result;
}

const calc_command calc_as_taylor_balance = {
    .name = "as taylor balance",
    .theirs = "pipeline_parallel.py",
    .summary = "divide the layers of one configuration over its stages, as pipeline_parallel.py "
               "does",
    .detail = "Finds how many layers each chunk of each stage has, and how many of them recompute, "
              "so that a step takes least within max_device_memory. Writes offset and "
              "recompute_config into the configuration, whose order and comments stay, the program "
              "as .mps and the division as .sol. Chunks are those of pp_interleave_num; prediction "
              "layers (mtp_depth) are layers. Ends with status 1 if nothing fits.",
    CALC_COMMAND_PARTS};
