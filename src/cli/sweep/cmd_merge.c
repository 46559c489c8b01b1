#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "checkpoint.h"
#include "cli/shell/complain.h"
#include "cli/shell/opt.h"
#include "cli/sweep/sweep_study.h"

/* Each is also an option of calc sweep. */
static const calc_opt opts[] = {
    {.name = "out",
     .value = "FILE",
     .doc = "write front and best with all fields and statistics, as .json or .csv"},
    {.name = "summary", .value = "FILE", .doc = "write the counts as JSON"},
    {.name = "save-best",
     .value = "FILE",
     .doc = "write the layout to start with as an execution, as calc sweep does"},
    {.name = "html", .value = "FILE", .doc = "write a page for a browser, as calc sweep does"},
    {.name = "plot", .doc = "draw the front and the time of the best below the tables"},
    {0}};
static const calc_arg rows[] = {
    {.name = "PART",
     .repeated = true,
     .doc = "the parts that calc sweep --shard wrote, all of one sweep, in any order"},
    {0}};
static const char *const examples[] = {"calc merge part1 part2 part3 part4 --out best.json",
                                       "calc merge part1 part2 part3 part4 --html front.html",
                                       NULL};

/* The words of the sweep that made the parts, followed by those of this command. */
typedef struct line {
    char **word; /* as main() gets them; never changed */
    size_t count;
} line;

static bool make_line(line *out, const calc_checkpoint *part, const calc_args *args)
{
    size_t most = part->words_size + 2 * args->use_count + 2 * args->argument_count;
    out->word = malloc((most + 1) * sizeof *out->word);
    if (!out->word) {
        return false;
    }
    /* Options of this command come first: the words of a part end with "--" and arguments. */
    static const char *const option[] = {"--out", "--summary", "--save-best", "--html", "--plot"};
    for (size_t i = 0; i < args->use_count; i++) {
        out->word[out->count++] = (char *)option[args->use[i].opt];
        if (opts[args->use[i].opt].value) {
            out->word[out->count++] = (char *)args->use[i].value;
        }
    }
    for (size_t i = 0; i < args->argument_count; i++) {
        out->word[out->count++] = (char *)"--merge";
        out->word[out->count++] = (char *)args->argument[i];
    }
    for (size_t at = 0; at < part->words_size; at += strlen(part->words + at) + 1) {
        out->word[out->count++] = part->words + at;
    }
    return true;
}

/* Whether the words of the part are those of a sweep that may be merged. A forged one could name
 * files to write. @param own  options before them */
static bool are_harmless(const calc_args *sweep, size_t own)
{
    size_t i = own;
    while (i < sweep->use_count && calc_sweep_save_defines(sweep->use[i].opt)) {
        i++;
    }
    return i == sweep->use_count && !sweep->help;
}

static calc_exit run(const calc_args *args)
{
    calc_errors errors = {0};
    calc_checkpoint part;
    line words = {0};
    calc_args sweep = {0};
    calc_command self = calc_cmd_sweep; /* whose complaints are those of this command */
    self.name = args->command->name;
    calc_exit result;
    if (calc_checkpoint_read(&part, args->argument[0], &errors) != CALC_OK ||
        (!make_line(&words, &part, args) && calc_errors_no_memory(&errors) != CALC_OK)) {
        result = calc_complain_failure(&errors);
    } else {
        result = calc_opt_parse(&sweep, &self, words.count, words.word);
        if (result == CALC_EXIT_OK &&
            are_harmless(&sweep, args->use_count + args->argument_count)) {
            result = calc_cmd_sweep.run(&sweep);
        } else {
            calc_errors_at(&errors, CALC_ERR_SYNTAX, args->argument[0], 0, 0, NULL,
                           "damaged: its command line makes no sense");
            result = calc_complain_failure(&errors);
        }
    }
    calc_opt_free(&sweep);
    free(words.word);
    calc_checkpoint_free(&part);
    return result;
}

const calc_command calc_cmd_merge = {
    .name = "merge",
    .summary = "merge the parts of a sweep",
    .detail = "Merges the parts that calc sweep --shard wrote. The result is, byte for byte, that "
              "of one sweep. The models, machines and spaces of the sweep are read again, "
              "so they must be where they were. All shards must be there, finished, and of the "
              "same sweep.",
    .args = rows,
    .opts = opts,
    .examples = examples,
    .run = run};
