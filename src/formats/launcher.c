#include "formats/launcher.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "formats/export.h"
#include "formats/write.h"
#include "io/text.h"
#include "spec/serving_engine.h"

/* Texts of words, of a pool or of all. */
enum { ONE, MANY, SPLIT, SHARED, WIDE, SEVERAL, ALONE, POOL, PREFILL, DECODE, MARKS };
enum { NUMBERS = 6 };
typedef struct pool {
    bool mark[MARKS];
    char number[NUMBERS][24];
    calc_settings settings; /* of a server */
} pool;

static const char *const marks[MARKS] = {
    [ONE] = "@ONE@",         [MANY] = "@MANY@",       [SPLIT] = "@SPLIT@", [SHARED] = "@SHARED@",
    [WIDE] = "@WIDE@",       [SEVERAL] = "@SEVERAL@", [ALONE] = "@ALONE@", [POOL] = "@POOL@",
    [PREFILL] = "@PREFILL@", [DECODE] = "@DECODE@"};
static const char *const numbers[NUMBERS] = {"NODES",   "OTHERS", "PER_NODE",
                                             "SERVERS", "LOCAL",  "RANKS"};

static const char *text_of(const calc_framework *framework, const pool *p, const char *word)
{
    static const char *const suffixes[] = {[CALC_SYNTAX_SHELL] = "sh",
                                           [CALC_SYNTAX_YAML] = "yaml",
                                           [CALC_SYNTAX_TOML] = "toml",
                                           [CALC_SYNTAX_JSON] = "json"};
    bool nvidia = (framework->platforms & CALC_ON(CUDA)) != 0;
    const char *const words[][2] = {
        {"NAME", framework->name},
        {"TITLE", framework->title},
        {"COMMAND", framework->command},
        {"SUFFIX", suffixes[framework->syntax]},
        {"RESOURCE", nvidia ? "nvidia.com/gpu" : "huawei.com/Ascend910"}};
    for (int i = 0; i < NUMBERS; i++) {
        if (strcmp(numbers[i], word) == 0) {
            return p->number[i];
        }
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i][0], word) == 0) {
            return words[i][1];
        }
    }
    return NULL;
}

/* The script, in lines that are indented, without its last line break. */
static calc_status write_script(calc_output *out, const calc_framework *framework,
                                const calc_settings *settings, int indent, calc_errors *errors)
{
    calc_text script = {0};
    calc_output *memory;
    calc_status status = calc_output_open_memory(&memory, &script, errors);
    if (status == CALC_OK) {
        calc_settings_write(memory, framework, settings);
        status = calc_output_close(memory, errors);
    }
    for (const char *c = status == CALC_OK ? script.data : ""; *c; c++) {
        bool breaks = *c == '\n' && c[1] && c[1] != '\n';
        calc_output_write(out, c, *c != '\n' || c[1]);
        calc_output_printf(out, "%*s", breaks ? indent : 0, "");
    }
    calc_text_free(&script);
    return status;
}

enum { WORD_SIZE = 96 };

/* Passes over the word in small letters at the beginning of a line, which says whose it is.
 * @return whether it is of other frameworks, or of scripts where this one has a file, or of files
 */
static bool is_of_others(const calc_framework *framework, const char **line)
{
    size_t length = **line == '@' ? strspn(*line + 1, "abcdefghijklmnopqrstuvwxyz0123456789-") : 0;
    if (length == 0 || (*line)[1 + length] != '@') {
        return false;
    }
    const char *word = CALC_TEXT(WORD_SIZE, "%.*s", (int)length, *line + 1);
    *line += length + 2;
    return strcmp(word, framework->name) != 0 &&
           strcmp(word, framework->syntax == CALC_SYNTAX_SHELL ? "script" : "file") != 0;
}

/* Whether a template has a mark in lines that are this framework's. */
static bool has(const calc_framework *framework, const char *text, const char *mark)
{
    for (const char *at = text; (at = strstr(at, mark)) != NULL; at++) {
        const char *line = at;
        while (line > text && line[-1] != '\n') {
            line--;
        }
        if (!is_of_others(framework, &line)) {
            return true;
        }
    }
    return false;
}

/* Passes over the marks at the beginning of a line. @return whether it is for others, and left out
 */
static bool is_left_out(const pool *p, const char **line)
{
    for (int i = 0; i < MARKS; i++) {
        size_t length = strlen(marks[i]);
        if (strncmp(*line, marks[i], length) == 0) {
            *line += length;
            return !p->mark[i] || is_left_out(p, line);
        }
    }
    return false;
}

/* Places the servers of a pool on nodes, which they have to fill.
 * @param exec  of the pool; becomes that of one server */
static calc_status place(pool *p, const calc_launched *l, calc_exec *exec, calc_errors *errors)
{
    int64_t all = exec->num_procs, each = all < l->node_procs ? all : l->node_procs;
    int64_t ranks = l->framework->serves ? all / exec->strategy.data_par : all, server = all;
    /* Replicas that share experts are one server, and on one node so are those that do not, if the
     * program starts several. */
    bool apart = l->framework->one_replica && exec->strategy.data_par > 1;
    if ((all > each || apart) && !calc_serving_engine_shares(&exec->strategy)) {
        each = apart && ranks < each ? ranks : each;
        server = ranks > each ? ranks : each;
    }
    int64_t local = ranks < each ? each / ranks : 1;
    bool many = server > each, shared = many && ranks < server;
    const bool mark[MARKS] = {[ONE] = !many,
                              [MANY] = many,
                              [SPLIT] = many && ranks > each,
                              [SHARED] = shared && ranks <= each,
                              [WIDE] = shared && ranks > each,
                              [SEVERAL] = all > server};
    const int64_t servers = all / server;
    const int64_t number[NUMBERS] = {server / each, server / each - 1, each, servers,
                                     local,         each / local};
    for (int k = 0; k < NUMBERS; k++) {
        snprintf(p->number[k], sizeof p->number[k], "%" PRId64, number[k]);
    }
    memcpy(p->mark, mark, sizeof mark);
    if (all % each != 0 || (ranks < each ? each % ranks : ranks % each) != 0) {
        return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, "--per-node N",
                               "--launcher: %" PRId64 " processors are no whole nodes of %" PRId64,
                               all % each == 0 ? ranks : all, l->node_procs);
    }
    if (servers > 1) {
        exec->num_procs /= servers;
        exec->strategy.data_par /= servers;
        exec->batch_size /= servers;
        exec->inference.batch /= servers;
        exec->inference.arrival_rate /= (double)servers;
    }
    return CALC_OK;
}

static calc_status write_line(calc_output *out, const calc_framework *framework, const pool *p,
                              const char *line, const char *next, calc_errors *errors)
{
    calc_status status = CALC_OK;
    for (const char *at = line; at < next && status == CALC_OK;) {
        const int indent = (int)(at - line);
        char word[WORD_SIZE]; /* between two "@" */
        size_t capitals = strspn(at + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"), length = capitals + 2;
        length = *at == '@' && capitals > 0 && at[1 + capitals] == '@' ? length : 0;
        snprintf(word, sizeof word, "%.*s", (int)capitals, at + 1);
        const char *text = length > 0 ? text_of(framework, p, word) : NULL;
        if (length > 0 && strcmp(word, "SCRIPT") == 0) {
            text = "";
            status = write_script(out, framework, &p->settings, indent, errors);
        } else if (length > 0 && strcmp(word, "OPTIONS") == 0) {
            text = ""; /* items of a list, which the operator of a graph completes */
            for (size_t i = 0; i < p->settings.count; i++) {
                const calc_setting *item = &p->settings.item[i];
                calc_output_printf(out, "%s%*s- %s", i ? "\n" : "", i ? indent : 0, "", item->key);
                if (*item->value) {
                    calc_output_printf(out, "\n%*s- '%s'", indent, "", item->value);
                }
            }
        }
        calc_output_write(out, text ? text : at, text ? strlen(text) : 1);
        at += text ? length : 1;
    }
    return status;
}

/* What begins and ends the lines that each pool has. */
static const char each[] = "@EACH@\n", end[] = "@END@\n";

static const char *find_template(const calc_launched *l)
{
    const calc_framework *f = l->framework;
    bool trains = !f->serves && (f->syntax == CALC_SYNTAX_SHELL || f->command);
    const char *own = CALC_TEXT(WORD_SIZE, "@%s@", f->name);
    for (int i = 0; i < 2; i++) {
        const char *name = i == 0 ? f->name : f->serves ? "serve" : "train";
        const calc_embedded *file = calc_embedded_find(
            calc_launcher_list, CALC_TEXT(WORD_SIZE, "%s_%s", l->launcher, name));
        if (file->name && (i == 0 || trains || (f->serves && strstr(file->bytes, own)))) {
            return file->bytes;
        }
    }
    return NULL;
}

/* Places the servers of all pools, and what each of them runs.
 * @return the template, or NULL with an error */
static const char *launch(const calc_launched *l, pool pools[CALC_POOL_COUNT], int *count,
                          calc_exec server[CALC_POOL_COUNT], calc_errors *errors)
{
    bool split = calc_framework_has_pools(l->framework, l->exec);
    const char *text = find_template(l);
    bool starts = text && (!split || has(l->framework, text, each));
    *count = calc_export_servers(l->framework, l->exec, server);
    for (int i = 0; i < *count; i++) {
        if (place(&pools[i], l, &server[i], errors) != CALC_OK) {
            return NULL;
        }
        pools[i].mark[split ? POOL : ALONE] = true;
        pools[i].mark[PREFILL] = split && i == CALC_POOL_PREFILL;
        pools[i].mark[DECODE] = split && i == CALC_POOL_DECODE;
        for (int k = SHARED; k <= SEVERAL; k++) {
            starts = starts && (!pools[i].mark[k] || has(l->framework, text, marks[k]));
        }
    }
    if (!starts) {
        calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL, l->framework->launch,
                        "--launcher %s: no job of %s %s", l->launcher, l->framework->title,
                        text ? "starts this layout" : "is known");
    }
    return starts ? text : NULL;
}

bool calc_launcher_starts(const calc_launched *launched)
{
    pool pools[CALC_POOL_COUNT] = {0};
    calc_exec server[CALC_POOL_COUNT];
    calc_errors ignored = {0};
    int count;
    return !find_template(launched) || launch(launched, pools, &count, server, &ignored) != NULL;
}

calc_status calc_launcher_write(calc_output *out, const calc_launched *l, calc_errors *errors)
{
    pool pools[CALC_POOL_COUNT] = {0};
    calc_exec server[CALC_POOL_COUNT];
    int count;
    const char *line = launch(l, pools, &count, server, errors);
    calc_status status = line ? CALC_OK : errors->item[errors->count - 1].status;
    for (int i = 0; i < count && status == CALC_OK; i++) {
        status = calc_export(l->framework, l->app, &server[i], l->node_procs, &pools[i].settings,
                             errors);
    }
    const char *again = NULL;
    int at = 0;
    for (const char *next; status == CALC_OK && line && *line; line = next) {
        next = line + strcspn(line, "\n");
        next += *next == '\n';
        if (strncmp(line, each, strlen(each)) == 0) {
            again = next;
        } else if (strncmp(line, end, strlen(end)) == 0) {
            at = at + 1 < count ? at + 1 : 0;
            next = at > 0 ? again : next;
        } else if (!is_of_others(l->framework, &line) && !is_left_out(&pools[at], &line)) {
            status = write_line(out, l->framework, &pools[at], line, next, errors);
        }
    }
    for (int i = 0; i < CALC_POOL_COUNT; i++) {
        calc_settings_free(&pools[i].settings);
    }
    return status;
}
