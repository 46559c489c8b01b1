#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/buffer.h"
#include "formats/read.h"

/* The number at the end of "8", "a100:8" or "4-6" nodes, which are at least 4; of resources
 * "gpu:8", "shard:1,gpu:a100:8" that of processors. 0: there is none, or it is of no job. */
static int64_t read_count(const char *at, const char *end, bool resources)
{
    enum { MOST = 1000000 };
    int64_t count = 0;
    bool number = true; /* not a type: "gpu:h100" */
    while (resources && at < end && (end - at < 3 || memcmp(at, "gpu", 3) != 0)) {
        at++;
    }
    for (; at < end && *at != ',' && *at != '-' && count <= MOST; at++) {
        bool digit = isdigit((unsigned char)*at);
        count = digit ? count * 10 + (*at - '0') : 0;
        number = *at == ':' || (number && digit);
    }
    return number && count <= MOST ? count : 0;
}

void calc_slurm_directive(calc_slurm *job, const char *at, const char *end)
{
    static const struct {
        const char *word;
        size_t member;
    } options[] = {{"--nodes", offsetof(calc_slurm, nodes)},
                   {"-N", offsetof(calc_slurm, nodes)},
                   {"--ntasks", offsetof(calc_slurm, tasks)},
                   {"-n", offsetof(calc_slurm, tasks)},
                   {"--ntasks-per-node", offsetof(calc_slurm, node_tasks)},
                   {"--gpus", offsetof(calc_slurm, gpus)},
                   {"-G", offsetof(calc_slurm, gpus)},
                   {"--gpus-per-node", offsetof(calc_slurm, node_gpus)},
                   {"--gres", offsetof(calc_slurm, node_gpus)},
                   {"--gpus-per-task", offsetof(calc_slurm, task_gpus)}};
    size_t member = SIZE_MAX;
    bool resources = false;
    while (at < end && *at != '#') {
        const char *word = at;
        while (at < end && !isspace((unsigned char)*at) && *at != '=') {
            at++;
        }
        size_t length = (size_t)(at - word);
        if (length > 0 && *word != '-' && member != SIZE_MAX) {
            *(int64_t *)(void *)((char *)job + member) = read_count(word, at, resources);
        }
        member = SIZE_MAX;
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            size_t size = strlen(options[i].word);
            bool longer = size == 2 && length > 2; /* "-N4" */
            if (strncmp(word, options[i].word, longer ? size : length) == 0 &&
                (longer || size == length)) {
                member = options[i].member;
                resources = strcmp(options[i].word, "--gres") == 0;
                at = longer ? word + size : at;
            }
        }
        at += at < end && (*at == '=' || isspace((unsigned char)*at));
    }
}

bool calc_slurm_sets(const char *name, size_t length)
{
    return length > 6 && memcmp(name, "SLURM_", 6) == 0;
}

int64_t calc_slurm_value(const calc_slurm *job, const char *name, size_t length)
{
    int64_t nodes = job->nodes > 0        ? job->nodes
                    : job->node_tasks > 0 ? job->tasks / job->node_tasks
                                          : 0;
    int64_t tasks = job->node_tasks > 0 ? job->node_tasks : nodes > 0 ? job->tasks / nodes : 0;
    int64_t gpus = job->node_gpus > 0           ? job->node_gpus
                   : job->gpus > 0 && nodes > 0 ? job->gpus / nodes
                   : job->task_gpus > 0         ? job->task_gpus * tasks
                   : tasks > 1                  ? tasks
                                                : 0;
    int64_t all = job->tasks > 0 ? job->tasks : nodes * (tasks > 0 ? tasks : 1);
    const struct {
        const char *name;
        int64_t value;
    } known[] = {{"SLURM_NNODES", nodes},
                 {"SLURM_JOB_NUM_NODES", nodes},
                 {"SLURM_NTASKS", all},
                 {"SLURM_NPROCS", all},
                 {"SLURM_NTASKS_PER_NODE", tasks},
                 {"SLURM_GPUS_ON_NODE", gpus},
                 {"SLURM_GPUS_PER_NODE", gpus},
                 {"SLURM_GPUS", nodes * gpus},
                 {"WORLD_SIZE", nodes * gpus}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i].name) == length && memcmp(known[i].name, name, length) == 0) {
            return known[i].value;
        }
    }
    return 0;
}

bool calc_slurm_put(const calc_slurm *job, calc_settings *settings)
{
    static const char *const options[][2] = {{"--nnodes", "SLURM_NNODES"},
                                             {"--nproc-per-node", "SLURM_GPUS_ON_NODE"}};
    bool good = true;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        int64_t value = calc_slurm_value(job, options[i][1], strlen(options[i][1]));
        good = good && (value <= 0 || calc_settings_put(settings, options[i][0],
                                                        CALC_TEXT(32, "%lld", (long long)value)));
    }
    return good;
}

/* Variables that launchers read where no option says it, "NPROC_PER_NODE=8 swift sft ...": a
 * configuration of TorchTitan, and sizes, of which nodes alone are none. Lists of cards, "0,1,2,3",
 * count for programs that start a process for each. */
static const struct {
    const char *option, *variable, *programs; /* NULL: any program, and a number */
} launched[] = {
    {"--job.config_file", "$CONFIG_FILE", NULL},
    {"--nproc-per-node", "$NPROC_PER_NODE", NULL},
    {"--nproc-per-node", "$NGPU", NULL},
    {"--nproc-per-node", "$CUDA_VISIBLE_DEVICES", "llamafactory-cli train |deepspeed "},
    {"--nproc-per-node", "$ASCEND_RT_VISIBLE_DEVICES", "llamafactory-cli train |deepspeed "},
    {"--nnodes", "$NNODES", NULL}};

/* How many cards a list has, as the value of an option. */
static bool put_cards(calc_settings *settings, const char *list)
{
    int count = 1;
    for (; *list; list++) {
        count += *list == ',';
    }
    return calc_settings_put(settings, launched[1].option, CALC_TEXT(32, "%d", count)) != NULL;
}

bool calc_launched(calc_settings *settings, const calc_shell_values *values)
{
    bool good = true, file = false, sizes = false, node = false, all = true;
    for (size_t i = 0; i < settings->count && good; i++) {
        const char *key = settings->item[i].key, *value = settings->item[i].value;
        if (strcmp(key, "--include") == 0 && strncmp(value, "localhost:", 10) == 0) {
            good = put_cards(settings, value + 10);
            sizes = true;
            continue;
        }
        sizes = sizes || calc_word_begins("--nnodes --nproc", key);
        all = all && !calc_word_begins("--num_gpus --num-gpus --include", key) &&
              strcmp(key, "--hostfile") != 0;
        file = file || strcmp(key, launched[0].option) == 0;
    }
    for (size_t i = 0; good && i < sizeof launched / sizeof *launched; i++) {
        const char *option = launched[i].option, *name = launched[i].variable;
        char word[CALC_SHELL_WORD] = "";
        const char *programs = launched[i].programs;
        bool first = i == 0, nodes = strcmp(option, "--nnodes") == 0, runs = !programs;
        for (size_t k = 0; k < settings->commands && all; k++) {
            const char *words = settings->command[k].words;
            runs = runs || calc_text_has(programs, words, strlen(words));
        }
        bool wanted = first ? !file : settings->count > 0 && (nodes ? node : !sizes && !node);
        wanted = wanted && runs && values->value(values->context, name, name + strlen(name), word);
        bool cards = programs && isdigit((unsigned char)*word);
        bool number = *word && strspn(word, cards ? "0123456789," : "0123456789") == strlen(word);
        if (wanted &&
            (first ? calc_settings_is_file(word, strlen(word)) && !strpbrk(word, "=:") : number)) {
            good = cards ? put_cards(settings, word)
                         : calc_settings_put(settings, option, word) != NULL;
            node = !first;
        }
    }
    return good;
}
