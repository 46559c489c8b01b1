#include "formats/launcher.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "formats/write.h"
#include "io/text.h"

/* Texts of words, of a pool or of all. */
enum { ONE, MANY, SPLIT, SHARED, WIDE, SEVERAL, MARKS };
enum { NUMBERS = 6 };
typedef struct pool {
    const char *prefix; /* of its words */
    bool mark[MARKS];
    char number[NUMBERS][24];
} pool;

static const char *const marks[MARKS] = {"ONE", "MANY", "SPLIT", "SHARED", "WIDE", "SEVERAL"};
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
    for (int i = 0; i < MARKS; i++) {
        if (p->mark[i] && strcmp(marks[i], word) == 0) {
            return "";
        }
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i][0], word) == 0) {
            return words[i][1];
        }
    }
    return NULL;
}

/* The script with another program, if one is named, in lines that are indented, without its last
 * line break. */
static calc_status write_script(calc_output *out, const calc_framework *framework,
                                const calc_settings *settings, const char *program, int indent,
                                calc_errors *errors)
{
    calc_framework own = *framework;
    calc_text script = {0};
    calc_output *memory;
    calc_status status = calc_output_open_memory(&memory, &script, errors);
    own.script = program ? program : own.script;
    if (status == CALC_OK) {
        calc_settings_write(memory, &own, settings);
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

/* The word that begins at an "@". @return its length with both of them; 0: it is none */
static size_t word_at(const char *at, char word[WORD_SIZE], const char **program)
{
    size_t name = strspn(at + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
    size_t end = at[1 + name] == ':' ? name + strcspn(at + 1 + name, "@\n") : name;
    if (*at != '@' || name == 0 || at[1 + end] != '@' || end >= WORD_SIZE) {
        return 0;
    }
    snprintf(word, WORD_SIZE, "%.*s", (int)end, at + 1);
    word[name] = '\0';
    *program = end > name ? word + name + 1 : NULL;
    return end + 2;
}

/* @return whether a line is for layouts on other nodes, and left out */
static bool is_left_out(const pool *p, int pools, const char *line)
{
    for (int i = 0; i < pools * MARKS; i++) {
        char mark[WORD_SIZE];
        snprintf(mark, sizeof mark, "@%s%s@", p[i / MARKS].prefix, marks[i % MARKS]);
        if (!p[i / MARKS].mark[i % MARKS] && strncmp(line, mark, strlen(mark)) == 0) {
            return true;
        }
    }
    return false;
}

/* Places the servers of a pool on nodes, which they have to fill. */
static calc_status place(pool *p, const calc_launched *l, int i, calc_errors *errors)
{
    int64_t all = l->procs[i], each = all < l->node_procs ? all : l->node_procs;
    int64_t ranks = l->framework->serves ? all / l->replicas[i] : all;
    int64_t local = ranks < each ? each / ranks : 1, server = all;
    if (all > each && !l->shared[i]) {
        server = ranks > each ? ranks : each;
    }
    bool many = server > each, shared = many && ranks < server;
    const bool mark[MARKS] = {[ONE] = !many,
                              [MANY] = many,
                              [SPLIT] = many && !shared,
                              [SHARED] = shared && ranks <= each,
                              [WIDE] = shared && ranks > each,
                              [SEVERAL] = all > server};
    const int64_t number[NUMBERS] = {server / each, server / each - 1, each, all / server,
                                     local,         each / local};
    for (int k = 0; k < NUMBERS; k++) {
        snprintf(p->number[k], sizeof p->number[k], "%" PRId64, number[k]);
    }
    memcpy(p->mark, mark, sizeof mark);
    if (all % each == 0 && (ranks < each ? each % ranks : ranks % each) == 0) {
        return CALC_OK;
    }
    return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, "--per-node N",
                           "--launcher: %" PRId64 " processors are no whole nodes of %" PRId64,
                           all % each == 0 ? ranks : all, l->node_procs);
}

static calc_status write_line(calc_output *out, const calc_launched *l, const pool *pools,
                              const char *line, const char *next, calc_errors *errors)
{
    calc_status status = CALC_OK;
    for (const char *at = line; at < next && status == CALC_OK;) {
        char word[WORD_SIZE];
        const char *program, *text = NULL;
        size_t length = word_at(at, word, &program);
        for (int i = 0; i < l->pools && length > 0 && !text; i++) {
            size_t prefix = strlen(pools[i].prefix);
            bool own = strncmp(word, pools[i].prefix, prefix) == 0;
            text = own ? text_of(l->framework, &pools[i], word + prefix) : NULL;
            if (own && strcmp(word + prefix, "SCRIPT") == 0) {
                text = "";
                status = write_script(out, l->framework, &l->settings[i], program, (int)(at - line),
                                      errors);
            }
        }
        text = text || length == 0 ? text : text_of(l->framework, &pools[0], word);
        calc_output_write(out, text ? text : at, text ? strlen(text) : 1);
        at += text ? length : 1;
    }
    return status;
}

static const char *find_template(const calc_launched *l)
{
    const calc_framework *f = l->framework;
    char names[2][64];
    snprintf(names[0], sizeof names[0], "%s_%s%s", l->launcher, f->name,
             l->pools > 1 ? "_pools" : "");
    snprintf(names[1], sizeof names[1], "%s_%s", l->launcher,
             f->serves                        ? ""
             : f->syntax == CALC_SYNTAX_SHELL ? "train"
             : f->command                     ? "file"
                                              : "");
    for (int i = 0; i < 2; i++) {
        for (const calc_launcher *t = calc_launcher_list; t->name; t++) {
            if (strcmp(t->name, names[i]) == 0) {
                return t->text;
            }
        }
    }
    return NULL;
}

calc_status calc_launcher_write(calc_output *out, const calc_launched *l, calc_errors *errors)
{
    static const char *const prefixes[CALC_POOL_COUNT] = {
        [CALC_POOL_PREFILL] = "PREFILL_", [CALC_POOL_DECODE] = "DECODE_"};
    const char *line = find_template(l);
    pool pools[CALC_POOL_COUNT] = {{0}};
    bool starts = line != NULL;
    calc_status status = CALC_OK;
    for (int i = 0; i < CALC_POOL_COUNT && i < l->pools; i++) {
        pools[i].prefix = l->pools > 1 ? prefixes[i] : "";
        if (place(&pools[i], l, i, errors) != CALC_OK) {
            return CALC_ERR_RULE;
        }
        for (int k = SHARED; k < MARKS; k++) {
            char mark[WORD_SIZE];
            snprintf(mark, sizeof mark, "@%s%s@", pools[i].prefix, marks[k]);
            starts = starts && (!pools[i].mark[k] || strstr(line, mark));
        }
    }
    if (!starts) {
        return calc_errors_add(
            errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL, l->framework->launch,
            "--launcher %s: no job of %s starts this layout", l->launcher, l->framework->title);
    }
    for (const char *next; status == CALC_OK && *line; line = next) {
        next = line + strcspn(line, "\n");
        next += *next == '\n';
        if (!is_left_out(pools, l->pools, line)) {
            status = write_line(out, l, pools, line, next, errors);
        }
    }
    return status;
}
