#include "formats/import.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "formats/read.h"
#include "formats/run_log.h"
#include "io/json_report.h"
#include "io/text.h"
#include "io/utf8.h"

enum { PATH_SIZE = CALC_NAMED_PATH_SIZE };

/* How many keys of a text a framework reads, and has in its table; of two frameworks that read as
 * many, the one that knows more is meant. */
typedef struct score {
    const calc_framework *framework, *equal; /* equal: another one that reads and knows as many */
    size_t read, known, all;
    const calc_framework *only; /* that may be meant; NULL: any */
    bool named;                 /* the text has the framework's program */
    bool fresh;                 /* in the syntax that was tried last */
} score;

/* The path that a value begins with, without what is not known before it, "$(pwd)/x.yaml"; other
 * arguments follow an option's. */
static const char *path_in(const char *value, size_t *length)
{
    const char *close = *value != '$'     ? NULL
                        : value[1] == '(' ? strrchr(value, ')')
                                          : strchr(value, '/');
    const char *path = close ? close + 1 : value;
    path += close && *path == '/';
    *length = strcspn(path, " ");
    return path;
}

bool calc_setting_names_files(const calc_setting *setting)
{
    bool named = calc_is_word("file config config-file config_file job.config_file "
                              "extra_llm_api_options defaults",
                              setting->key + strspn(setting->key, "-"));
    size_t length;
    const char *path = path_in(setting->value, &length);
    return (named && calc_settings_is_file(path, length)) || strcmp(setting->key, "source") == 0;
}

bool calc_row_is_of_job(const calc_setting_row *row)
{
    return row && (row->member == CALC_PLAN_NODES || row->member == CALC_PLAN_NODE_PROCS);
}

/* Keys that change nothing tell nothing in a table in which nothing is read: any program has some
 * of the same names. */
static score score_of(const calc_framework *framework, const calc_settings *settings)
{
    score s = {.framework = framework};
    size_t waiting = 0; /* such keys of the table so far */
    bool open = false;  /* something of it is read */
    const char *assumed, *table = "";
    for (size_t i = 0; i < settings->count; i++) {
        const calc_setting *setting = &settings->item[i];
        bool file = setting->key[0] != '-';
        size_t name = file ? strcspn(setting->key, ".") : 0;
        bool in_table = file && setting->key[name];
        if (!in_table || strncmp(table, setting->key, name + 1) != 0) {
            waiting = 0;
            open = false;
            table = in_table ? setting->key : "";
        }
        if (setting->key[0] == '$' || (!setting->value[0] && !setting->null && file &&
                                       framework->syntax != CALC_SYNTAX_SHELL)) {
            continue; /* the name of a variable, or of a table */
        }
        const calc_setting_row *row = calc_framework_row(framework, setting->key);
        bool read = row != NULL;
        calc_unread left =
            read ? CALC_UNREAD_UNKNOWN
                 : calc_framework_unread(framework, setting->key, setting->value, &assumed);
        /* Any program has a model, and any launcher nodes. */
        bool named = read && row->how == CALC_HOW_NAME;
        bool launched = read && row->launcher;
        bool counts = read && !(named && row->read_only) &&
                      !(setting->key[0] == '-' && (named || launched)) &&
                      !calc_setting_names_files(setting) &&
                      !(row->how == CALC_HOW_FILE && setting->key[0] == '-');
        open = open || (counts && in_table);
        bool quiet = in_table && left == CALC_UNREAD_HARMLESS;
        waiting += quiet;
        s.read += counts;
        s.all += !quiet + (open ? waiting : 0);
        s.known += ((read && !(named && launched)) || (left != CALC_UNREAD_UNKNOWN && !quiet)) +
                   (open ? waiting : 0);
        waiting = open ? 0 : waiting;
    }
    return s;
}

/* Whether a framework that this one adds to reads as much, in the same syntax: the addition is not
 * meant. */
static bool adds_nothing(const score *s, calc_syntax syntax, const calc_settings *settings)
{
    const calc_framework *const *base = s->framework->bases;
    for (; base && *base; base++) {
        bool takes = (*base)->name && ((*base)->syntax == syntax || (*base)->options);
        score of_base = takes ? score_of(*base, settings) : (score){0};
        if (takes && of_base.read == s->read) {
            return true;
        }
    }
    return false;
}

static bool adds_to(const calc_framework *a, const calc_framework *b)
{
    bool adds = a == b || (a->script && b->script && strcmp(a->script, b->script) == 0);
    for (size_t i = 0; a->bases && a->bases[i]; i++) {
        adds = adds || adds_to(a->bases[i], b);
    }
    return adds;
}

/* Takes the better of the best framework so far and those of a syntax. Of frameworks that add to
 * the same program, the first is meant where the others' additions are not used, and of options the
 * framework that has no file. JSON is YAML, too. */
static void choose(score *best, calc_syntax syntax, const calc_settings *settings, const char *text,
                   size_t length)
{
    for (size_t i = 0; calc_framework_all[i]; i++) {
        const calc_framework *framework = calc_framework_all[i];
        bool options = framework->options || settings->files > 0;
        bool kept = (framework->serves || framework->syntax == CALC_SYNTAX_TOML) &&
                    syntax == CALC_SYNTAX_YAML;
        if ((best->only && framework != best->only) ||
            !(framework->syntax == syntax || kept || (options && syntax == CALC_SYNTAX_SHELL) ||
              (framework->syntax != CALC_SYNTAX_SHELL && syntax == CALC_SYNTAX_JSON))) {
            continue;
        }
        score s = score_of(framework, settings);
        s.fresh = true;
        s.only = best->only;
        s.named = calc_text_has(framework->program, text, length);
        /* A server may be told no more than a model: one processor is enough. */
        const calc_setting *model = calc_settings_last(settings, "serve");
        model = model && !model->value[0] ? calc_settings_last(settings, "--model") : model;
        s.read += s.read == 0 && s.named && framework->serves && model && model->length > 1;
        bool alone = framework->alone && syntax == CALC_SYNTAX_SHELL && settings->commands > 0;
        if (!s.named && (alone || adds_nothing(&s, syntax, settings))) {
            continue;
        }
        int better = s.read != best->read     ? (s.read > best->read) - (s.read < best->read)
                     : s.named != best->named ? s.named - best->named
                                              : (s.known > best->known) - (s.known < best->known);
        if (s.read > 0 && better > 0) {
            *best = s;
        } else if (s.read > 0 && better == 0 && !adds_to(framework, best->framework) &&
                   (framework->syntax == syntax || best->framework->syntax != syntax)) {
            best->equal = framework;
        }
    }
}

static calc_status refuse(calc_errors *errors, const char *name, const char *text)
{
    return calc_errors_at(errors, CALC_ERR_UNSUPPORTED, name, 0, 0,
                          "calc import --help lists the formats; --from says which it is", "%s",
                          text);
}

/* @param looks  what kind of text it is, which may be of another program: at least half of its keys
 *               must be known; NULL: options that somebody has typed */
static calc_status settle(const calc_framework **framework, const score *best, const char *name,
                          const char *looks, calc_errors *errors)
{
    if (best->read == 0) {
        return refuse(errors, name,
                      CALC_TEXT(200, "no key of a format that calc reads%s%s",
                                looks ? ": it looks like " : "", looks ? looks : ""));
    }
    if (best->equal) {
        return calc_errors_at(errors, CALC_ERR_UNSUPPORTED, name, 0, 0,
                              CALC_TEXT(120, "--from %s or --from %s says which",
                                        best->framework->name, best->equal->name),
                              "its keys are as much of %s as of %s", best->framework->title,
                              best->equal->title);
    }
    if (looks && 2 * best->known < best->all) {
        return calc_errors_at(errors, CALC_ERR_UNSUPPORTED, name, 0, 0,
                              CALC_TEXT(120, "--from %s reads it as one", best->framework->name),
                              "it looks most like a file of %s, which knows %zu of its %zu keys",
                              best->framework->title, best->known, best->all);
    }
    *framework = best->framework;
    return CALC_OK;
}

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* A table of TOML, [name], or a key with blanks and "=" after it: scripts have none before "=". */
static bool is_toml(const char *line, const char *end)
{
    size_t brackets = 0;
    for (; line < end && *line == '[' && brackets < 2; line++) {
        brackets++;
    }
    const char *at = line;
    while (at < end && (is_letter(*at) || (brackets && *at == '"'))) {
        at++;
    }
    if (brackets > 0) {
        return at > line && !isdigit((unsigned char)*line) && at < end &&
               (*at == ']' || *at == '\n');
    }
    const char *blank = at;
    while (at < end && (*at == ' ' || *at == '\t')) {
        at++;
    }
    return blank > line && at > blank && at + 1 < end && *at == '=' && at[1] == ' ';
}

/* A test of a shell, "[ -n x ] && ...", which is no list of JSON. */
static bool is_test(const char *line, const char *end)
{
    while (line + 4 < end && *line != '\n' && strncmp(line, "] &&", 4) != 0 &&
           strncmp(line, "] ||", 4) != 0) {
        line++;
    }
    return line + 4 < end && *line == ']';
}

/* A key of YAML, or the start of a document. */
static bool is_yaml(const char *line, const char *end)
{
    const char *at = line;
    while (at < end && (is_letter(*at) || *at == '"' || *at == '\'')) {
        at++;
    }
    bool key =
        at > line && at < end && *at == ':' && (at + 1 == end || isspace((unsigned char)at[1]));
    return key || (end - line >= 3 && memcmp(line, "---", 3) == 0);
}

/* What a text looks like. */
typedef enum looks { EMPTY, TOML, JSON, YAML, OTHER } looks;

/* What it is by its first line that is neither empty nor a comment. */
static looks look(const char *text, size_t length)
{
    const char *at = text + calc_json_scan_mark(text, length), *end = text + length;
    while (at < end && (*at == '#' || isspace((unsigned char)*at))) {
        const char *newline = *at == '#' ? memchr(at, '\n', (size_t)(end - at)) : at;
        at = newline ? newline + 1 : end;
    }
    return at == end                                         ? EMPTY
           : is_toml(at, end)                                ? TOML
           : (*at == '{' || *at == '[') && !is_test(at, end) ? JSON
           : is_yaml(at, end)                                ? YAML
                                                             : OTHER;
}

/* Benchmarks and tests keep options in YAML, "MODEL_ARGS: {--num-layers: 4}": nothing else in such
 * a file is a setting.
 * @return whether there are any; other settings are then gone, and so is what stands before these
 */
static bool keep_options(calc_settings *settings)
{
    bool any = false;
    for (size_t i = 0; i < settings->count; i++) {
        any = any || strncmp(settings->item[i].key, "--", 2) == 0 ||
              strstr(settings->item[i].key, ".--");
    }
    for (size_t i = 0; any && i < settings->count; i++) {
        calc_setting *setting = &settings->item[i];
        char *option = strstr(setting->key, ".--");
        if (option) {
            memmove(setting->key, option + 1, strlen(option));
        }
        *setting->key = strncmp(setting->key, "--", 2) == 0 ? '-' : '\0';
    }
    calc_settings_drop(settings);
    return any;
}

/* The config.yaml that Weights & Biases keeps of a run has each key's value in an object of its
 * own: they become the settings that the program had. */
static void unwrap(calc_settings *settings)
{
    static const char value[] = ".value";
    bool any = calc_settings_have(settings, "_wandb");
    for (size_t i = 0; any && i < settings->count; i++) {
        calc_setting *setting = &settings->item[i];
        char *dot = strchr(setting->key, '.');
        if (dot && strncmp(dot, value, strlen(value)) == 0 && setting->key[0] != '_') {
            memmove(dot, dot + strlen(value), strlen(dot + strlen(value)) + 1);
        } else {
            *setting->key = '\0';
        }
    }
    calc_settings_drop(settings);
}

/* What a program or a key says that the text is, if it is of no language model, up to the end of a
 * line; NULL: nothing. @param what  set to the program or the key */
static const char *other_work(const char *words, const calc_settings *settings,
                              char what[CALC_UTF8_SHOW_SIZE])
{
    const calc_framework others = {.unread = "others"};
    const char *sentence;
    for (size_t length; (length = calc_next_word(&words, " ")) > 0;) {
        const char *at = words - length, *end = words, *last;
        bool file = length > 3 && strncmp(words - 3, ".py", 3) == 0;
        end -= file ? 3 : 0;
        for (last = end; last > at && last[-1] != '/' && (last[-1] != '.' || file);) {
            last--;
        }
        if (calc_framework_unread(&others, CALC_TEXT(200, "/%.*s", (int)(end - last), last), "-",
                                  &sentence) == CALC_UNREAD_COST) {
            calc_utf8_show(what, last, (size_t)(words - last));
            return sentence;
        }
    }
    for (size_t i = 0; i < 2 * settings->count; i++) { /* a key, or a key with its value */
        const calc_setting *s = &settings->item[i / 2];
        size_t outer = s->key[0] != '-' && !strchr(s->key, '.'); /* patterns with a dot before */
        const char *key = CALC_TEXT(PATH_SIZE, i % 2 ? ".%s:%s" : ".%s", s->key, s->value);
        if (calc_framework_unread(&others, key + !outer, s->value, &sentence) == CALC_UNREAD_COST) {
            calc_utf8_show(what, key + 1, strlen(key + 1));
            return sentence;
        }
    }
    return NULL;
}

static calc_status refuse_other(calc_errors *errors, const char *name, int line, const char *what,
                                const char *sentence)
{
    return calc_errors_at(errors, CALC_ERR_UNSUPPORTED, name, line, 0,
                          "calc import --help lists the formats, of training and serving of "
                          "language models; --from reads it as one",
                          "%s %.*s", what, (int)strcspn(sentence, "\n"), sentence);
}

/* The length of a path up to the last "/" in it. */
static int folder_of(const char *path, size_t length)
{
    while (length > 0 && path[length - 1] != '/') {
        length--;
    }
    return (int)length;
}

calc_status calc_named_open(const char *name, const calc_setting *setting, char path[PATH_SIZE],
                            calc_text *text)
{
    if (!name && setting->argument == 0) {
        return CALC_ERR_IO;
    }
    name = name ? name : "";
    size_t length;
    const char *value = path_in(setting->value, &length);
    int beside = folder_of(name, strlen(name)), last = folder_of(value, length);
    calc_status status = CALC_ERR_IO;
    for (int folder = beside, done = 0; !done && status != CALC_OK && status != CALC_ERR_NOMEM;
         folder = folder_of(name, folder > 0 ? (size_t)folder - 1 : 0)) {
        snprintf(path, PATH_SIZE, "%.*s%.*s", *value == '/' ? 0 : folder, name, (int)length, value);
        status = calc_text_read(text, path, NULL);
        done = *value == '/' || folder == 0;
    }
    if (status == CALC_OK || status == CALC_ERR_NOMEM) {
        return status;
    }
    snprintf(path, PATH_SIZE, "%.*s%.*s", beside, name, (int)length - last, value + last);
    return calc_text_read(text, path, NULL);
}

/* Puts the keys of an option whose value is an object of JSON behind its own, --option.key.
 * @return CALC_ERR_UNSUPPORTED: it does not begin like one; CALC_ERR_RANGE with an error: it is
 * none */
static calc_status open_value(calc_settings *out, const calc_setting *option, const char *name,
                              calc_errors *errors)
{
    calc_settings more = {0};
    calc_errors inside = {0};
    const char *text = option->value;
    size_t length = 0; /* of the object: other words may follow */
    bool quoted = false;
    for (int depth = 1; depth > 0 && ++length < option->length;) {
        quoted ^= text[length] == '"' && text[length - 1] != '\\';
        depth += quoted ? 0 : (text[length] == '{') - (text[length] == '}');
    }
    length += length < option->length;
    calc_status status =
        calc_settings_from_text(&more, CALC_SYNTAX_JSON, text, length, NULL, &inside);
    if (status == CALC_ERR_SYNTAX) {
        status = text[1 + strspn(text + 1, " \n\t")] != '"'
                     ? CALC_ERR_UNSUPPORTED
                     : calc_errors_at(errors, CALC_ERR_RANGE, option->file ? option->file : name,
                                      option->line, option->column, "the program reads it as JSON",
                                      "%s: %s", option->key, inside.item[0].text);
    }
    for (size_t i = 0; i < more.count && status == CALC_OK; i++) {
        calc_setting *item = calc_settings_put(
            out, CALC_TEXT(PATH_SIZE, "%s.%s", option->key, more.item[i].key), more.item[i].value);
        status = item ? CALC_OK : CALC_ERR_NOMEM;
        if (item) {
            calc_setting mine = *item;
            *item = *option;
            item->key = mine.key;
            item->value = mine.value;
            item->length = mine.length;
        }
    }
    calc_settings_free(&more);
    return status;
}

/* Moves settings behind others. Those of the files that they name come first, and may be said
 * otherwise; a file that is not here leaves its setting.
 * @param by  the setting that names the file in which they stand; NULL: they are the text's own */
static calc_status include(calc_settings *out, calc_settings *in, const char *name,
                           const calc_setting *by, calc_errors *errors)
{
    const char *file = by ? out->file[out->files++] = strdup(name) : NULL;
    calc_status status = file || !by ? CALC_OK : CALC_ERR_NOMEM;
    for (size_t i = 0; i < in->count && status == CALC_OK; i++) {
        char path[PATH_SIZE];
        calc_text text = {0};
        calc_settings more = {0};
        calc_setting *named = &in->item[i];
        if (by) {
            named->commands = by->commands;
            named->list = by->list;
        }
        if (out->files < CALC_FILES_MAX && calc_setting_names_files(named) &&
            calc_named_open(name, named, path, &text) == CALC_OK) {
            calc_syntax syntax = strcmp(named->key, "source") == 0      ? CALC_SYNTAX_SHELL
                                 : look(text.data, text.length) == TOML ? CALC_SYNTAX_TOML
                                                                        : CALC_SYNTAX_YAML;
            status = calc_settings_from_text(&more, syntax, text.data, text.length, path, errors);
            for (size_t k = 0; k < more.count; k++) { /* its lists, not what its commands have */
                *more.item[k].key = more.item[k].commands ? '\0' : *more.item[k].key;
            }
            status = status == CALC_OK ? include(out, &more, path, named, errors) : status;
            named->key[0] = '\0';
        }
        calc_settings_free(&more);
        calc_text_free(&text);
    }
    for (size_t i = 0; i < in->count && status == CALC_OK; i++) {
        if (in->item[i].value[0] == '{' && in->item[i].key[0] == '-') {
            status = open_value(out, &in->item[i], name, errors);
            if (status != CALC_ERR_UNSUPPORTED) {
                continue;
            }
        }
        calc_setting *item = calc_grown(out->item, out->count, &out->capacity, sizeof *item);
        status = item ? CALC_OK : CALC_ERR_NOMEM;
        out->item = item ? item : out->item;
        if (item && in->item[i].key[0]) {
            in->item[i].file = file;
            out->item[out->count++] = in->item[i];
            in->item[i] = (calc_setting){0};
        }
    }
    return status;
}

/* Puts the settings of files that settings name before them. */
static calc_status follow(calc_settings *settings, const char *name, calc_errors *errors)
{
    calc_settings out = {.command = settings->command, .commands = settings->commands};
    calc_settings in = *settings;
    in.command = NULL;
    calc_status status = include(&out, &in, name, NULL, errors);
    calc_settings_free(&in);
    *settings = out;
    return status;
}

/* A command of a script, as what it has says. */
typedef struct launch {
    const calc_script_command *command;
    uint64_t bit;
    calc_settings settings; /* of `all`, those that it has */
    const char *other;      /* what it is instead of a training or a serving; NULL: nothing */
    char what[CALC_UTF8_SHOW_SIZE]; /* the word that says so */
    score best;
    int rank; /* 0: it is another work; 2: it starts a training or a serving */
} launch;

static bool launch_of(launch *l, const calc_settings *all, size_t index, const calc_framework *only)
{
    static const char starts[] =
        "torchrun|torch.distributed|accelerate|deepspeed|srun|mpirun|train|sft|tune|serve|"
        "launch_server|rlhf|ppo|grpo|dpo|swift|axolotl|llamafactory|job submit";
    *l = (launch){
        .command = &all->command[index], .bit = UINT64_C(1) << index, .best = {.only = only}};
    l->settings.item = malloc((all->count + 1) * sizeof *l->settings.item);
    for (size_t i = 0; i < all->count && l->settings.item; i++) {
        if (all->item[i].commands & l->bit) {
            l->settings.item[l->settings.count++] = all->item[i];
        }
    }
    l->settings.files = all->files;
    l->settings.commands = all->commands;
    if (l->settings.count > 0) {
        const char *words = l->command->words;
        l->other = only ? NULL : other_work(words, &l->settings, l->what);
        choose(&l->best, CALC_SYNTAX_SHELL, &l->settings, words, strlen(words));
        bool begins = calc_text_has(starts, words, strlen(words)) ||
                      calc_settings_last(&l->settings, "serve");
        l->rank = l->other ? 0 : 1 + begins;
    }
    return l->settings.item != NULL;
}

/* A key that two commands give different values, both of which are read; NULL: there is none. */
static const char *differs(const launch *a, const launch *b)
{
    for (int pass = 0; pass < 2; pass++) {
        const launch *mine = pass ? b : a, *other = pass ? a : b;
        for (size_t i = 0; i < mine->settings.count; i++) {
            const char *key = mine->settings.item[i].key;
            const calc_setting_row *row = calc_framework_row(a->best.framework, key);
            const calc_setting *one = calc_settings_last(&mine->settings, key);
            const calc_setting *two = calc_settings_last(&other->settings, key);
            if (row && !row->launcher && !calc_row_is_of_job(row) && row->how != CALC_HOW_NAME &&
                (!two || strcmp(one->value, two->value) != 0)) {
                return key;
            }
        }
    }
    return NULL;
}

/* Drops what other commands than the one that is kept have, apart from the sizes of launchers, and
 * lists that no command has where that one has some.
 * @param best  the one that is kept; NULL: what only `rivals` have goes */
static void drop_rivals(calc_settings *settings, uint64_t rivals, const launch *best)
{
    uint64_t kept = best ? best->bit : 0;
    bool lists = best && best->best.read > 2; /* it says enough by itself */
    for (size_t i = 0; i < settings->count; i++) {
        const calc_setting *s = &settings->item[i];
        lists = lists || (s->commands & kept && s->list != kept);
    }
    for (size_t i = 0; i < settings->count; i++) {
        calc_setting *s = &settings->item[i];
        const calc_setting_row *row =
            best ? calc_framework_row(best->best.framework, s->key) : NULL;
        bool around = !best || calc_row_is_of_job(row);
        if (!(s->commands & kept) &&
            !(s->commands ? (s->commands & ~rivals) && around : !lists || !s->list)) {
            *s->key = '\0';
        }
    }
    calc_settings_drop(settings);
}

/* Leaves of a script the settings of the command that trains or serves, and of launchers around it.
 * @param only   the framework that is meant, whatever the commands do; NULL: any
 * @param words  set to the command's program and what follows it, if there is one
 * @return CALC_OK; CALC_ERR_UNSUPPORTED with an error: there are two, or only other work */
static calc_status keep_command(calc_settings *settings, const char *name,
                                const calc_framework *only, const char **words, calc_errors *errors)
{
    launch *all = calloc(settings->commands + 1, sizeof *all), *first = NULL, *other = NULL;
    calc_status status = all ? CALC_OK : CALC_ERR_NOMEM;
    uint64_t rivals = 0;
    int top = 1;
    for (size_t i = 0; i < settings->commands && status == CALC_OK; i++) {
        launch *l = &all[i];
        status = settings->command[i].line == 0 || launch_of(l, settings, i, only) ? CALC_OK
                                                                                   : CALC_ERR_NOMEM;
        bool rival = l->settings.count > 0 && (l->best.read > 0 || l->other);
        top = rival && l->rank > top ? l->rank : top;
        rivals |= rival ? l->bit : 0;
        other = l->other && strncmp(l->other, "prints", 6) != 0 &&
                        (!other || l->settings.count > other->settings.count)
                    ? l
                    : other;
    }
    for (size_t i = 0; i < settings->commands && status == CALC_OK; i++) {
        launch *l = &all[i];
        if (!(rivals & l->bit) || l->rank < top) {
            continue;
        }
        bool same = !first || first->best.framework == l->best.framework;
        const char *key = first && same ? differs(first, l) : NULL;
        if (!same || key) {
            status = calc_errors_at(
                errors, CALC_ERR_UNSUPPORTED, name, l->command->line, 0,
                "leave one of them in the file",
                "\"%s\" and, in line %d, \"%s\" are different layouts%s%s",
                calc_utf8_shown(l->command->words, strlen(l->command->words)), first->command->line,
                calc_utf8_shown(first->command->words, strlen(first->command->words)),
                key ? ", by " : "", key ? key : "");
        }
        first = first ? first : l;
    }
    if (status == CALC_OK) {
        *words = first ? first->command->words : *words;
        drop_rivals(settings, rivals, first);
    }
    if (status == CALC_OK && !first && other) { /* where nothing else is read */
        (void)refuse_other(errors, name, other->command->line, other->what, other->other);
    }
    for (size_t i = 0; all && i < settings->commands; i++) {
        free(all[i].settings.item);
    }
    free(all);
    return status;
}

/* Reads a text in each syntax that it may have. */
static calc_status read_any(const calc_framework **framework, const char *text, size_t length,
                            const char *name, calc_settings *settings, calc_errors *errors)
{
    static const calc_syntax order[] = {CALC_SYNTAX_TOML, CALC_SYNTAX_JSON, CALC_SYNTAX_YAML,
                                        CALC_SYNTAX_SHELL};
    score best = {0};
    calc_errors first = {0}; /* of the syntax that the text seems to have */
    calc_errors only = {0};  /* on the commands of a script */
    bool only_one = false;   /* they say two layouts */
    const char *dot = name ? strrchr(name, '.') : NULL;
    bool named = dot && (strcmp(dot, ".yml") == 0 || strcmp(dot, ".yaml") == 0);
    const looks seems = look(text, length);
    bool json = seems == JSON, yaml = seems == YAML, other = yaml || seems == OTHER;
    bool script = false, manifest = false;
    char what[CALC_UTF8_SHOW_SIZE];
    const char *work = NULL; /* what a document in YAML is of instead */
    bool tried[] = {[CALC_SYNTAX_TOML] = seems == TOML,
                    [CALC_SYNTAX_JSON] = json,
                    [CALC_SYNTAX_YAML] = other,
                    [CALC_SYNTAX_SHELL] = other};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        calc_settings read = {0};
        calc_errors mistakes = {0};
        calc_status status = tried[order[i]] ? calc_settings_from_text(&read, order[i], text,
                                                                       length, name, &mistakes)
                                             : CALC_ERR_SYNTAX;
        const char *words = text;
        size_t words_length = length;
        if (status == CALC_OK && order[i] == CALC_SYNTAX_YAML && yaml) {
            unwrap(&read);
            calc_settings runs = {0};
            status = calc_settings_from_manifest(&runs, text, length, name, &mistakes);
            manifest = status == CALC_OK && runs.count > 0;
            calc_settings_free(manifest ? &read : &runs);
            read = manifest ? runs : read;
            tried[CALC_SYNTAX_SHELL] = tried[CALC_SYNTAX_SHELL] && !manifest;
        }
        status = status == CALC_OK ? follow(&read, name, &mistakes) : status;
        if (status == CALC_ERR_RANGE) { /* an option that its program refuses */
            only = mistakes;
            only_one = true;
        }
        if (status == CALC_OK && read.commands > 0) {
            status = keep_command(&read, name, NULL, &words, &only);
            only_one = status == CALC_ERR_UNSUPPORTED;
            words_length = words == text ? length : strlen(words);
        }
        if (status == CALC_OK) {
            best.fresh = false;
            bool options = manifest || (order[i] == CALC_SYNTAX_YAML && keep_options(&read));
            choose(&best, options ? CALC_SYNTAX_SHELL : order[i], &read, words, words_length);
            work = yaml && best.read == 0 ? other_work("", &read, what) : NULL;
            tried[CALC_SYNTAX_SHELL] = tried[CALC_SYNTAX_SHELL] && !work;
            first.count = order[i] == CALC_SYNTAX_YAML && named ? 0 : first.count;
            script = order[i] == CALC_SYNTAX_SHELL && read.count > 0;
        } else if (mistakes.count > 0 && !other) {
            first = mistakes;
            /* Braces around lines of YAML, whose comments no JSON has. */
            tried[CALC_SYNTAX_YAML] = json && (named || memchr(text, '#', length));
        } else if (mistakes.count > 0 && yaml) {
            first = mistakes;
        }
        bool own = best.read == 0 && (settings->count == 0 || seems == OTHER);
        if (status == CALC_OK && (best.fresh || own)) { /* where nothing is read, as it seems */
            calc_settings worse = *settings;
            *settings = read;
            read = worse;
        }
        calc_settings_free(&read);
        if (status == CALC_ERR_NOMEM) {
            return status;
        }
    }
    if (first.count > 0 && (best.read == 0 || (json && 2 * best.known < best.all))) {
        *(errors ? errors : &first) = first;
        return first.item[0].status;
    }
    if (!work && only.count > 0 && (best.read == 0 || only_one)) {
        *(errors ? errors : &only) = only;
        return only.item[0].status;
    }
    for (size_t i = 0; i < settings->count && best.read == 0 && script && !yaml; i++) {
        char shown[CALC_UTF8_SHOW_SIZE];
        const calc_setting *s = &settings->item[i];
        if (calc_setting_names_files(s)) {
            return calc_errors_at(errors, CALC_ERR_UNSUPPORTED, name, s->line, s->column,
                                  "calc import of that file reads it by itself",
                                  "%s is not here, and nothing else says what the layout is",
                                  calc_utf8_show(shown, s->value, strcspn(s->value, " ")));
        }
    }
    work = work ? work : other_work("", settings, what);
    if (work) {
        return refuse_other(errors, name, 0, what, work);
    }
    static const char *const kinds[] = {"an empty file", "TOML", "JSON", "YAML", "text"};
    return settle(framework, &best, name, script && seems == OTHER ? "a script" : kinds[seems],
                  errors);
}

/* Whether any key of a framework that was named is read. */
static calc_status check_named(const calc_framework *framework, const calc_settings *settings,
                               const char *name, calc_errors *errors)
{
    if (score_of(framework, settings).read > 0) {
        return CALC_OK;
    }
    return refuse(errors, name,
                  CALC_TEXT(120, "no key that calc reads in files of %s", framework->title));
}

/* Of arguments that a log prints all are there: those that are no options of the framework go. */
static void keep_known(calc_settings *settings, const calc_framework *framework)
{
    for (size_t i = 0; i < settings->count; i++) {
        calc_setting *s = &settings->item[i];
        const char *assumed;
        if (!calc_framework_row(framework, s->key) &&
            calc_framework_unread(framework, s->key, s->value, &assumed) == CALC_UNREAD_UNKNOWN) {
            *s->key = '\0';
        }
    }
    calc_settings_drop(settings);
}

static calc_status detect_text(const calc_framework **framework, const char *text, size_t length,
                               const char *name, calc_settings *settings, calc_errors *errors)
{
    if (!*framework) {
        return read_any(framework, text, length, name, settings, errors);
    }
    const looks seems = look(text, length);
    calc_syntax syntax =
        (*framework)->options && seems == OTHER ? CALC_SYNTAX_SHELL : (*framework)->syntax;
    bool table = syntax == CALC_SYNTAX_SHELL && seems == YAML;
    calc_errors ignored = {0};
    calc_status status = seems != YAML
                             ? CALC_OK
                             : calc_settings_from_manifest(settings, text, length, name, &ignored);
    if (status != CALC_ERR_NOMEM && settings->count == 0) {
        status = calc_settings_from_text(settings, table ? CALC_SYNTAX_YAML : syntax, text, length,
                                         name, errors);
        (void)(table && status == CALC_OK && keep_options(settings));
    }
    status = status == CALC_OK ? follow(settings, name, errors) : status;
    if (status == CALC_OK && settings->commands > 0) {
        status = keep_command(settings, name, *framework, &text, errors);
    }
    return status == CALC_OK ? check_named(*framework, settings, name, errors) : status;
}

calc_status calc_detect(const calc_framework **framework, const char *text, size_t length,
                        const char *name, calc_settings *settings, calc_errors *errors)
{
    const calc_text log = {.data = (char *)text, .length = length};
    calc_text command = {0};
    calc_status status = calc_run_log_command(&log, &command, errors);
    if (status == CALC_OK && !command.data) {
        return detect_text(framework, text, length, name, settings, errors);
    }
    if (status == CALC_OK) {
        status = detect_text(framework, command.data, command.length, name, settings, errors);
    }
    if (status == CALC_OK) {
        keep_known(settings, *framework);
    }
    calc_text_free(&command);
    return status;
}

calc_status calc_detect_options(const calc_framework **framework, const char *const *word,
                                size_t count, calc_settings *settings, calc_errors *errors)
{
    score best = {0};
    char text[256] = "";
    calc_status status = calc_settings_from_words(settings, word, count);
    status = status == CALC_OK ? follow(settings, NULL, errors) : status;
    if (status != CALC_OK || *framework) {
        return status == CALC_OK ? check_named(*framework, settings, NULL, errors) : status;
    }
    for (size_t i = 0; i < count; i++) { /* programs, also behind options of a container */
        calc_append(text, sizeof text, "%s ", word[i][0] == '-' ? "" : word[i]);
    }
    choose(&best, CALC_SYNTAX_SHELL, settings, text, strlen(text));
    return settle(framework, &best, NULL, NULL, errors);
}
