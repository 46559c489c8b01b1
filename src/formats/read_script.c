#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "formats/export.h"
#include "formats/import.h"
#include "formats/read.h"

enum { MAX_VARIABLES = 256, MAX_EXPANSIONS = 10000, WORD_SIZE = 4096 };

/* Whether a word is the name of a configuration, which programs have without an option. */
static bool is_file(const char *word)
{
    return calc_settings_is_file(word, strlen(word)) && !strpbrk(word, "=:$");
}

/* Whether a word is a command that serves what its next word names: serve, trtllm-serve. */
static bool serves(const char *word)
{
    size_t length = strlen(word);
    return length >= 5 && strcmp(word + length - 5, "serve") == 0 &&
           (length == 5 || word[length - 6] == '-');
}

/* Whether a word is an image of a container that serves what its next word names. */
static bool is_server(const char *word)
{
    const char *slash = strrchr(word, '/');
    bool image = isalnum((unsigned char)*word) && slash && strchr(slash, ':') && !strchr(word, '=');
    bool any = false;
    for (size_t i = 0; calc_framework_all[i] && image && !any; i++) {
        const calc_framework *f = calc_framework_all[i];
        any = f->serves && (strstr(word, f->name) || (f->program && strstr(word, f->program)));
    }
    return any;
}

/* Starts an option, or adds a word to the last one. What follows a configuration sets its keys,
 * "steps=10". @param starts  no option is open: a command that serves begins like an option */
static bool take_word(calc_settings *settings, const char *word, bool starts, int argument,
                      int line, int column)
{
    calc_setting *last = settings->count > 0 ? &settings->item[settings->count - 1] : NULL;
    bool named = (starts || last->length > 0) && is_file(word);
    bool sets =
        last && !strchr("-$", last->key[0]) && isalpha((unsigned char)*word) && strchr(word, '=');
    bool server = is_server(word), serving = serves(word) || server;
    long release[3] = {0};
    int parts = 0; /* of a tag as v0.5.3-cu126 */
    const char *tag = server ? strrchr(word, ':') + 1 : "";
    for (tag += *tag == 'v'; parts < 3 && isdigit((unsigned char)*tag); parts++) {
        char *end;
        release[parts] = strtol(tag, &end, 10);
        tag = end + (*end == '.');
    }
    if (parts >= 2 && release[0] < 1000 && release[1] < 1000 && release[2] < 1000) {
        if (!calc_settings_put(
                settings, "image",
                CALC_TEXT(32, "%ld", (release[0] * 1000 + release[1]) * 1000 + release[2]))) {
            return false;
        }
        last = starts ? NULL : &settings->item[settings->count - 2]; /* the list may have moved */
    }
    if (serving && last && serves(last->key) && !strchr(last->value, '/')) {
        last->value[last->length = 0] = '\0'; /* trtllm-serve serve, IMAGE vllm serve */
        return true;
    }
    if (!calc_settings_is_option(word) && !named && !sets && !(starts && serving) && !server) {
        return starts || calc_setting_append(last, word, strlen(word));
    }
    word = server ? "serve" : word + (serving ? strlen(word) - 5 : strspn(word, "+~"));
    size_t length = named ? 0 : strcspn(word, "=");
    calc_setting *setting = calc_settings_add(settings, named ? "file" : word, named ? 4 : length);
    if (!setting) {
        return false;
    }
    setting->argument = argument;
    setting->line = line;
    setting->column = column;
    const char *value = word + length + (word[length] == '=');
    return calc_setting_append(setting, value, strlen(value));
}

calc_status calc_settings_from_words(calc_settings *settings, const char *const *word, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!take_word(settings, word[i], settings->count == 0, (int)i + 1, 0, 0)) {
            return CALC_ERR_NOMEM;
        }
    }
    return CALC_OK;
}

/* A variable: its name and value inside the text. */
typedef struct variable {
    const char *name, *value;
    size_t name_length, value_length;
    bool branch; /* set inside of an if or a case */
} variable;

/* A command, or a list of options: its name, and which lists it has. */
typedef struct group {
    const char *name;
    size_t name_length;
    uint64_t lists;
    bool options; /* it has some, and what stands before them is whole */
    calc_script_command command;
} group;

typedef struct script script;
struct script {
    const char *name; /* of the file; NULL: there is none, or enough of them are read */
    script *sourced;  /* scripts that it reads, which have the texts of variables */
    char *text;
    const char *end;
    int line;
    const char *line_start;
    char quote; /* quote of a string whose words are read one by one; else 0 */
    variable variable[MAX_VARIABLES];
    size_t variable_count;
    int expansions;      /* so far; limited because variables may double each other */
    int branches;        /* of if and case that are open */
    bool tests, joined;  /* the command is a test; it ends with an operator */
    bool chained, taken; /* a test decides on what follows; the word has what a branch has set */
    group group[CALC_COMMANDS_MAX];
    int groups, command, list; /* those that the next word is of; -1: none */
    int list_depth;            /* parentheses around the list; -1: those of a command */
    uint64_t used;             /* lists that the word has */
    bool first, module;        /* the next word is the program of a command; a module of Python */
    bool parted;               /* the word has a variable that stands in no quotes */
    bool sources;              /* the next word is a script that is read here */
    bool keys;                 /* words of the command may set keys of its configuration */
    char word[WORD_SIZE];
    size_t word_length;
    bool has_word;
    int lists;   /* parentheses that are open */
    bool closed; /* a list or a command has ended, and no option has followed */
    calc_slurm job;
    bool started; /* the sizes of the job are settings already */
};

static void put(script *s, char c)
{
    s->has_word = true;
    if (s->word_length + 1 < WORD_SIZE) {
        s->word[s->word_length++] = c;
    }
}

static void drop_word(script *s)
{
    s->word_length = 0;
    s->used = 0;
    s->has_word = s->taken = false;
}

static void put_text(script *s, const char *at, const char *end)
{
    while (at < end) {
        put(s, *at++);
    }
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static size_t name_length(const char *at, const char *end)
{
    size_t length = 0;
    while (at + length < end && is_name(at[length])) {
        length++;
    }
    return length;
}

/* The end of what begins with `open` at `at`; NULL if it is too far away, or others were. */
static const char *closing(script *s, const char *at, const char *end, char open, char close)
{
    int depth = 0;
    if (s->expansions++ >= MAX_EXPANSIONS) {
        return NULL;
    }
    end = end - at < WORD_SIZE ? end : at + WORD_SIZE;
    for (; at < end; at++) {
        depth += (*at == open) - (*at == close);
        if (depth == 0) {
            return at;
        }
    }
    return NULL;
}

/* Its sizes as options of the launcher, before all others, which may say something else. */
static bool put_job(script *s, calc_settings *settings)
{
    static const char *const options[][2] = {{"--nnodes", "SLURM_NNODES"},
                                             {"--nproc-per-node", "SLURM_GPUS_ON_NODE"}};
    bool good = true;
    for (size_t i = 0; i < sizeof options / sizeof *options && !s->started; i++) {
        int64_t value = calc_slurm_value(&s->job, options[i][1], strlen(options[i][1]));
        good = good && (value <= 0 || calc_settings_put(settings, options[i][0],
                                                        CALC_TEXT(32, "%lld", (long long)value)));
    }
    s->started = true;
    return good;
}

/* The last value given to a name among the first `count` variables; NULL if there is none, or if it
 * depends on the branch that is taken. */
static const variable *find_variable(const script *s, const char *name, size_t length, size_t count)
{
    const variable *last = NULL;
    for (size_t i = count; i > 0; i--) {
        const variable *v = &s->variable[i - 1];
        if (v->name_length != length || memcmp(v->name, name, length) != 0) {
            continue;
        }
        if (last && (v->value_length != last->value_length ||
                     memcmp(v->value, last->value, v->value_length) != 0)) {
            return NULL;
        }
        last = last ? last : v;
        if (!v->branch) {
            break;
        }
    }
    return last;
}

/* The list of that name; -1: there is none. */
static int find_group(const script *s, const char *name, size_t length)
{
    for (int i = 0; i < s->groups; i++) {
        const group *g = &s->group[i];
        if (g->name && g->name_length == length && memcmp(g->name, name, length) == 0) {
            return i;
        }
    }
    return -1;
}

/* The list of that name, or a new one; without a name a command, in place of one that has no
 * options. */
static int open_group(script *s, const char *name, size_t length)
{
    int known = name ? find_group(s, name, length) : -1;
    if (known >= 0) {
        return known;
    }
    group *last = s->groups > 0 ? &s->group[s->groups - 1] : NULL;
    bool empty = last && !last->name && !last->options && !last->lists;
    s->groups += !empty && s->groups < CALC_COMMANDS_MAX;
    group *g = &s->group[s->groups - 1];
    s->command = empty ? -1 : s->command;
    g->command.words[0] = '\0';
    g->name = name;
    g->name_length = length;
    g->command.line = name ? 0 : s->line;
    return s->groups - 1;
}

static const char *expand(script *s, const char *at, const char *end, size_t count);

/* A text with the values of its variables, of which the first `count` are known.
 * @param dropped  characters that are left out */
static void put_value(script *s, const char *at, const char *end, size_t count, const char *dropped)
{
    s->has_word = true;
    while (at < end) {
        if (*at == '$') {
            at = expand(s, at, end, count);
        } else if (*at && strchr(dropped, *at)) {
            at++;
        } else {
            put(s, *at++);
        }
    }
}

static const char quotes[] = "\"'";

/* @return whether the name has a value */
static bool put_named(script *s, const char *name, size_t length, size_t count)
{
    const variable *v = find_variable(s, name, length, count);
    int64_t of_job = v ? 0 : calc_slurm_value(&s->job, name, length);
    char number[32];
    int list = find_group(s, name, length);
    s->used |= list >= 0 ? UINT64_C(1) << list : 0;
    s->has_word = s->has_word || list >= 0;
    if (v) {
        s->taken = s->taken || v->branch;
        put_value(s, v->value, v->value + v->value_length, (size_t)(v - s->variable), quotes);
    } else if (of_job > 0) {
        put_text(s, number, number + snprintf(number, sizeof number, "%lld", (long long)of_job));
    }
    return v || of_job > 0 || list >= 0;
}

/* The value of an expression, or the expression itself if a variable in it is not known.
 * @param whole  $((...)) or $(expr ...), up to `behind`; `at` to `end` is what it has inside */
static void put_arithmetic(script *s, const char *whole, const char *at, const char *end,
                           const char *behind, size_t count)
{
    size_t mark = s->word_length;
    for (const char *c = at; c < end;) {
        size_t length = isdigit((unsigned char)*c) ? 0 : name_length(c, end);
        if (*c == '$') {
            c = expand(s, c, end, count);
        } else {
            if (length == 0 || !put_named(s, c, length, count)) {
                length = length > 0 ? length : 1;
                put_text(s, c, c + length);
            }
            c += length;
        }
    }
    s->word[s->word_length] = '\0';
    double value = calc_shell_sum(s->word + mark);
    bool known = s->word_length + 1 < WORD_SIZE && fabs(value) < 0x1p53;
    char number[32];
    int size = snprintf(number, sizeof number, "%.0f", known ? value : 0);
    s->word_length = mark;
    put_text(s, known ? number : whole, known ? number + size : behind);
}

/* Expands ${NAME}, ${NAME:-DEFAULT} or ${NAME[@]}. @return whether it has a value */
static bool expand_braces(script *s, const char *name, const char *close, size_t count)
{
    size_t length = name_length(name, close);
    const char *after = name + length;
    const char *value = after + (*after == ':'); /* then - or = */
    bool or_default = value < close && (*value == '-' || *value == '=');
    bool plain = after == close || *after == '[';
    if (length == 0 || !(plain || or_default)) {
        return false;
    }
    bool set =
        !or_default || calc_slurm_sets(name, length) || find_variable(s, name, length, count);
    if (set && put_named(s, name, length, count)) {
        return true;
    }
    if (or_default) {
        put_value(s, value + 1, close, count, quotes);
        if (*value == '=' && count == s->variable_count && count < MAX_VARIABLES) {
            s->variable[s->variable_count++] =
                (variable){name, value + 1, length, (size_t)(close - value - 1), false};
        }
    }
    return or_default;
}

/* Expands $NAME, ${...}, $((...)) and $(expr ...) if the text says what they are; else keeps the
 * sign itself. Another command $(...) is kept as it is. @return the rest */
static const char *expand(script *s, const char *at, const char *end, size_t count)
{
    char open = at + 1 < end ? at[1] : '\0';
    const char *name = at + 1;
    const char *close = NULL;
    if (s->expansions++ < MAX_EXPANSIONS && (open == '{' || open == '(')) {
        close = closing(s, name, end, open, open == '{' ? '}' : ')');
    }
    if (close && open == '(') {
        bool doubled = name[1] == '(' && close[-1] == ')';
        if (doubled || strncmp(name + 1, "expr ", 5) == 0) {
            put_arithmetic(s, at, name + (doubled ? 2 : 6), close - doubled, close + 1, count);
        } else {
            put_text(s, at, close + 1);
        }
        return close + 1;
    }
    if (close && expand_braces(s, name + 1, close, count)) {
        return close + 1;
    }
    size_t length = open == '{' ? 0 : name_length(name, end);
    if (length > 0 && s->expansions < MAX_EXPANSIONS && put_named(s, name, length, count)) {
        return name + length;
    }
    put(s, '$');
    return name;
}

/* The closing quote of a string; the end of the text if there is none. */
static const char *string_end(const script *s, const char *at)
{
    char quote = *at++;
    while (at < s->end && *at != quote) {
        at += *at == '\\' && quote == '"' && at + 1 < s->end ? 2 : 1;
    }
    return at < s->end ? at : s->end;
}

/* Whether a string holds options and not one value. */
static bool holds_options(const char *at, const char *end)
{
    for (; at + 2 < end; at++) {
        if (at[0] == '-' && at[1] == '-' && isalpha((unsigned char)at[2])) {
            return true;
        }
    }
    return false;
}

/* Where the text of a command begins whose output it is, as of $(cat <<END ...), if it holds
 * options; else NULL. */
static const char *quoted_text(script *s, const char *at)
{
    bool command = s->end - at > 6 && memcmp(at, "$(cat", 5) == 0 && !is_name(at[5]);
    const char *close = command ? closing(s, at + 1, s->end, '(', ')') : NULL;
    return close && holds_options(at, close) ? at + 5 : NULL;
}

/* The end of a value; NULL if a string in it holds options or does not end. */
static const char *value_end(script *s, const char *at)
{
    while (at < s->end && !isspace((unsigned char)*at) && *at != ';' && *at != '(') {
        bool string = *at == '"' || *at == '\'' || *at == '`';
        const char *close = at;
        if (string) {
            close = string_end(s, at);
            if (close >= s->end || (*at != '`' && holds_options(at, close))) {
                return NULL;
            }
        } else if (*at == '$' && at + 1 < s->end && (at[1] == '(' || at[1] == '{')) {
            close = closing(s, at + 1, s->end, at[1], at[1] == '(' ? ')' : '}');
        }
        at = close ? close + 1 : at + 1;
    }
    return at;
}

/* Remembers NAME=value at the start of a word; NAME+=value is passed over. @return the rest; NULL
 * if there is none */
static const char *assignment(script *s, const char *at)
{
    size_t length = name_length(at, s->end);
    size_t adds = s->end - at > (ptrdiff_t)length && at[length] == '+';
    const char *value = at + length + adds + 1;
    if (length == 0 || isdigit((unsigned char)*at) || value > s->end || value[-1] != '=' ||
        (s->keys && !s->first)) {
        return NULL;
    }
    s->joined = false;
    bool quoted = value < s->end && (*value == '"' || *value == '\'');
    const char *text = quoted_text(s, value + quoted);
    const char *end = text ? NULL : value_end(s, value);
    if (!end || (end < s->end && *end == '(')) {
        s->list = open_group(s, at, length);
        s->list_depth = text ? -1 : s->lists; /* -1: the output of a command is the list */
    }
    if (!end) {
        return text ? text : value;
    }
    quoted = quoted && string_end(s, value) + 1 == end;
    if (s->variable_count < MAX_VARIABLES && !adds) {
        s->variable[s->variable_count++] =
            (variable){at, value + quoted, length, (size_t)(end - value) - (quoted ? 2 : 0),
                       s->branches > 0 || s->chained};
    }
    return end;
}

/* Finds what a word is of: a list that has a name, or the command. What it decides on is a branch
 * if the command is a test. */
static void place_word(script *s, bool option)
{
    static const char before[] = " ! { } if then elif else fi while until for do done case esac "
                                 "time exec eval nohup sudo env export declare local readonly ";
    bool first = s->first && s->list < 0;
    s->branches += first && calc_is_word(" if case ", s->word);
    s->branches -= first && s->branches > 0 && calc_is_word(" fi esac ", s->word);
    s->joined = s->list < 0 &&
                (calc_is_word(" && || | & ", s->word) || (first && calc_is_word(before, s->word)));
    if (s->joined) {
        s->chained = s->chained || (s->tests && (s->word[0] == '&' || s->word[0] == '|'));
        s->first = s->closed = true;
        s->tests = false;
        return;
    }
    s->tests = s->tests || (first && calc_is_word(" [ [[ test ", s->word));
    bool plain = s->command >= 0 && s->group[s->command].options &&
                 !s->group[s->command].command.words[0]; /* options, and no command */
    if (s->list < 0 && (s->command < 0 || (first && !option && !plain))) {
        s->command = open_group(s, NULL, 0);
        s->closed = true;
    }
    group *g = &s->group[s->list < 0 ? s->command : s->list];
    const char *slash = strrchr(s->word, '/');
    bool program = s->module || is_server(s->word) ||
                   (s->word_length > 3 && strcmp(s->word + s->word_length - 3, ".py") == 0);
    s->module = strcmp(s->word, "-m") == 0;
    g->lists |= s->used;
    g->options = g->options || option;
    if (!option && !s->used && (program || !g->options)) {
        calc_append(g->command.words, sizeof g->command.words, "%s%s",
                    g->command.words[0] ? " " : "", slash && program ? slash + 1 : s->word);
    }
    s->first = s->first && s->list >= 0;
}

static bool flush(script *s, calc_settings *settings, int line, int column);
static bool read_script(script *s, calc_settings *settings);

/* @return with a copy of the text, which is edited; NULL: there is no memory for it */
static script *open_script(const char *text, size_t length, const char *name)
{
    script *s = calloc(1, sizeof *s + length + 1);
    if (s) {
        s->name = name;
        s->line_start = s->text = memcpy(s + 1, text, length);
        s->end = s->text + length;
        s->line = 1;
        s->command = s->list = -1;
        s->first = s->closed = true;
    }
    return s;
}

/* Takes the variables of a script that is read here; that one reads no others. */
static bool take_sourced(script *s, const calc_setting *named)
{
    char path[WORD_SIZE];
    calc_text text = {0};
    calc_settings ignored = {0};
    if (!s->name || calc_named_open(s->name, named, path, &text) != CALC_OK) {
        return true;
    }
    script *other = open_script(text.data, text.length, NULL);
    calc_text_free(&text);
    if (other) {
        memcpy(other->variable, s->variable, sizeof s->variable);
        other->variable_count = s->variable_count;
        (void)read_script(other, &ignored);
        memcpy(s->variable, other->variable, sizeof s->variable);
        s->variable_count = other->variable_count;
        other->sourced = s->sourced;
        s->sourced = other;
    }
    calc_settings_free(&ignored);
    return other != NULL;
}

/* Takes what a variable that stands in no quotes has as the words that a shell makes of it. */
static bool flush_parts(script *s, calc_settings *settings, int line, int column)
{
    char *whole = strndup(s->word, s->word_length);
    uint64_t used = s->used;
    bool good = whole != NULL;
    s->parted = false;
    for (char *at = whole; good && *at; at += strspn(at, " \t\n\\")) {
        size_t length = strcspn(at, " \t\n\\");
        s->word_length = length;
        memmove(s->word, at, length);
        s->has_word = length > 0;
        s->used = used;
        used = 0;
        good = flush(s, settings, line, column);
        at += length;
    }
    drop_word(s);
    free(whole);
    return good;
}

static bool flush(script *s, calc_settings *settings, int line, int column)
{
    bool good = true;
    s->word[s->word_length] = '\0';
    if (s->parted && strpbrk(s->word + strspn(s->word, " "), " \n") &&
        !strchr("$([{'\"", s->word[0])) {
        return flush_parts(s, settings, line, column);
    }
    s->parted = false;
    bool named = s->used && s->word[strspn(s->word, " ")] == '\0';
    if (s->has_word) {
        bool option = calc_settings_is_option(s->word);
        good = put_job(s, settings);
        bool own = s->sources && !strchr("/~", s->word[0]) && strstr(s->word, ".sh");
        calc_setting *source = own ? calc_settings_put(settings, "source", s->word) : NULL;
        good = good && (!own || (source && take_sourced(s, source)));
        s->sources = s->first && s->list < 0 && calc_is_word(" source . ", s->word);
        place_word(s, option);
        /* What follows a list of options is no value of the last one. */
        bool starts = s->closed || settings->count == 0;
        s->closed = s->closed && !option && !serves(s->word) && !is_server(s->word);
        /* A second one that is not known may be a list, whose options are read where they are. */
        calc_setting *last = settings->count > 0 ? &settings->item[settings->count - 1] : NULL;
        bool list = s->word[0] == '$' && last && last->length > 0;
        const char *name = s->word + list + (list && s->word[1] == '{');
        bool open = list && !named && !strchr(last->value, '>') && !strpbrk(s->word, "(/.") &&
                    is_name(name[0]) && strcmp(last->key, s->word) != 0 &&
                    !calc_slurm_sets(name, strlen(name));
        size_t before = settings->count;
        bool placed = named || list || s->joined;
        good = good && (open ? calc_settings_put(settings, s->word, s->word) != NULL
                             : placed || take_word(settings, s->word, starts, 0, line, column));
        if (good && !placed && s->taken && settings->count > 0) {
            settings->item[settings->count - 1].conditional = true;
        }
        if (settings->count > before) {
            settings->item[before].conditional |= s->branches > 0 || s->chained;
            s->keys = !strchr("-$", settings->item[before].key[0]);
            int of = s->list < 0 ? s->command : s->list;
            s->group[of].options = true;
            settings->item[before].list = UINT64_C(1) << of;
        }
    }
    drop_word(s);
    return good;
}

/* Handles a character outside strings. @return the rest */
static const char *take_character(script *s, const char *at)
{
    bool escaped = *at == '\\' && at + 1 < s->end && at[1] != '\n' && at[1] != '\r';
    if (escaped && s->quote == '"' && at[1] == '"') { /* a string in bash -c "..." */
        const char *end = at + 2;
        while (end + 1 < s->end && end - at < WORD_SIZE && !(*end == '\\' && end[1] == '"')) {
            end++;
        }
        if (end + 1 < s->end && *end == '\\') {
            put_value(s, at + 2, end, s->variable_count, "");
            return end + 2;
        }
    }
    if (escaped && s->quote == '"' && at[1] == '$') {
        return expand(s, at + 1, s->end, s->variable_count);
    }
    if (escaped) {
        put(s, at[1]);
        return at + 2;
    }
    if (*at == '$') {
        s->parted = true;
        const char *quoted_in = quoted_text(s, at);
        return quoted_in ? quoted_in : expand(s, at, s->end, s->variable_count);
    }
    if (*at == '"' || *at == '\'') {
        const char *end = string_end(s, at);
        if (end >= s->end || holds_options(at, end)) {
            s->quote = s->quote || end >= s->end ? s->quote : *at;
            return at + 1;
        }
        s->has_word = true;
        if (*at == '\'') {
            put_text(s, at + 1, end);
        } else {
            put_value(s, at + 1, end, s->variable_count, "");
        }
        return end + 1;
    }
    put(s, *at);
    return at + 1;
}

static bool ends_line(const script *s, const char *at)
{
    const char *before = at > s->text && at[-1] == '\r' ? at - 1 : at;
    return *at == '\n' && !(before > s->text && before[-1] == '\\');
}

/* What a character between words ends: a list, or a command. */
static void end_word(script *s, const char *at)
{
    if (s->list >= 0 && (s->list_depth < 0 ? *at == ')' : !s->quote && s->lists <= s->list_depth)) {
        s->list = -1;
    }
    if (s->list < 0 && (ends_line(s, at) || strchr(";()`", *at))) {
        s->chained = s->chained && s->joined;
        s->tests = s->tests && s->joined;
        s->first = true;
    }
}

/* Passes over a comment, which may be a directive of Slurm. @return the end of the line */
static const char *take_comment(script *s, const char *at)
{
    static const char directive[] = "#SBATCH ";
    size_t left = (size_t)(s->end - at);
    const char *newline = memchr(at, '\n', left);
    const char *end = newline ? newline : s->end;
    if ((size_t)(end - at) >= sizeof directive - 1 && memcmp(at, directive, 8) == 0) {
        calc_slurm_directive(&s->job, at + 8, end);
    }
    return end;
}

/* Says of each setting which commands have it, by whatever lists. */
static bool name_commands(const script *s, calc_settings *settings)
{
    settings->command = calloc((size_t)s->groups + 1, sizeof *settings->command);
    if (!settings->command) {
        return false;
    }
    settings->commands = (size_t)s->groups;
    for (size_t i = 0; i < settings->commands; i++) {
        uint64_t has = UINT64_C(1) << i, before = 0;
        char *mine = settings->command[i].words;
        settings->command[i] = s->group[i].command;
        while (has != before && !s->group[i].name) {
            before = has;
            for (size_t k = 0; k < settings->commands; k++) {
                has |= has >> k & 1 ? s->group[k].lists : 0;
            }
        }
        for (size_t k = 0; k < settings->commands && !s->group[i].name; k++) {
            const char *words = s->group[k].command.words;
            if (k != i && has >> k & 1 && words[0]) { /* a list that begins with the program */
                calc_append(mine, sizeof settings->command[i].words, "%s%s", mine[0] ? " " : "",
                            words);
            }
        }
        for (size_t k = 0; k < settings->count && !s->group[i].name; k++) {
            calc_setting *setting = &settings->item[k];
            setting->commands |= has & setting->list ? UINT64_C(1) << i : 0;
        }
    }
    return true;
}

/* calc_shell_values.value: without variables that something else may have set */
static bool known_value(void *context, const char *at, const char *end, char *word)
{
    script *s = context;
    bool plain = *at == '\'' && memchr(at, '$', (size_t)(end - at));
    put_value(s, at, end, s->variable_count, quotes);
    s->word[s->word_length] = '\0';
    bool known = !plain && s->word_length < CALC_SHELL_WORD && !strpbrk(s->word, "$`");
    strcpy(word, known ? s->word : "");
    drop_word(s);
    return known;
}

static bool read_script(script *s, calc_settings *settings)
{
    const calc_shell_values values = {known_value, s};
    const char *at = s->text;
    int line = 1, column = 1;
    while (at < s->end) {
        /* In a command parentheses are of a value, "([0]*3+[1]*58)", which lacks its quotes. */
        bool of_value = *at == '(' && !s->has_word && !s->quote && s->list < 0 && !s->first;
        const char *close = of_value ? closing(s, at, s->end, '(', ')') : NULL;
        if (close) {
            line = s->line;
            column = (int)(at - s->line_start) + 1;
            put_text(s, at, close + 1);
            s->has_word = true;
            at = close + 1;
            continue;
        }
        if (isspace((unsigned char)*at) || *at == '(' || *at == ')' || *at == ';' || *at == '`' ||
            *at == '\0' || (s->quote && *at == s->quote) ||
            (*at == '\\' && at + 1 < s->end && (at[1] == '\n' || at[1] == '\r'))) {
            if (!flush(s, settings, line, column)) {
                return false;
            }
            s->lists += (*at == '(') - (*at == ')' && s->lists > 0);
            /* A line ends outside of lists and strings, after an option that has a value. */
            bool ends = ends_line(s, at) && !s->quote && s->lists == 0 && settings->count > 0 &&
                        settings->item[settings->count - 1].length > 0;
            s->closed = s->closed || *at == ')' || *at == ';' || ends;
            s->quote = s->quote == *at ? '\0' : s->quote;
            end_word(s, at);
            s->line += *at == '\n';
            s->line_start = *at == '\n' ? at + 1 : s->line_start;
            at++;
            continue;
        }
        if (!s->has_word) {
            if (s->first && s->list < 0 && !s->quote && s->lists == 0) {
                calc_shell_decide(s->text + (at - s->text), &values);
            }
            if (isspace((unsigned char)*at)) {
                continue;
            }
            line = s->line;
            column = (int)(at - s->line_start) + 1;
            const char *after = *at == '#' ? take_comment(s, at) : assignment(s, at);
            if (after) {
                at = after;
                continue;
            }
        }
        at = take_character(s, at);
    }
    return flush(s, settings, line, column) && name_commands(s, settings);
}

/* Variables that launchers read where no option says it, "NPROC_PER_NODE=8 swift sft ...": a
 * configuration of TorchTitan, and sizes, of which nodes alone are none. Lists of cards, "0,1,2,3",
 * count for programs that start a process for each. */
static const struct {
    const char *option, *variable, *programs; /* NULL: any program */
} launched[] = {
    {"--job.config_file", "CONFIG_FILE", NULL},
    {"--nproc-per-node", "NPROC_PER_NODE", NULL},
    {"--nproc-per-node", "NGPU", NULL},
    {"--nproc-per-node", "CUDA_VISIBLE_DEVICES", "llamafactory-cli train|deepspeed"},
    {"--nproc-per-node", "ASCEND_RT_VISIBLE_DEVICES", "llamafactory-cli train|deepspeed"},
    {"--nnodes", "NNODES", NULL}};

/* Whether a command of the script is one of these programs. */
static bool runs(const script *s, const char *programs)
{
    bool found = false;
    for (int i = 0; i < s->groups && !found; i++) {
        const char *words = s->group[i].command.words;
        for (const char *p = programs; *p && !found; p += strcspn(p, "|"), p += *p == '|') {
            size_t length = strcspn(p, "|");
            for (const char *at = words; *at && !found; at++) {
                found = (at == words || at[-1] == ' ') && strncmp(at, p, length) == 0 &&
                        at[length] == ' ';
            }
        }
    }
    return found;
}

/* Sets the word to how many cards a list has. */
static void count_cards(script *s, const char *list)
{
    int count = 1;
    for (; *list; list++) {
        count += *list == ',';
    }
    s->word_length = (size_t)snprintf(s->word, WORD_SIZE, "%d", count);
}

/* Puts what launchers take from variables, and the list of cards of DeepSpeed's. */
static bool put_launched(script *s, calc_settings *settings)
{
    bool good = true, file = false, sizes = false, node = false, all = true;
    for (size_t i = 0; i < settings->count && good; i++) {
        const char *key = settings->item[i].key, *value = settings->item[i].value;
        if (strcmp(key, "--include") == 0 && strncmp(value, "localhost:", 10) == 0) {
            count_cards(s, value + 10);
            good = calc_settings_put(settings, launched[1].option, s->word) != NULL;
            sizes = true;
            continue;
        }
        sizes = sizes || strncmp(key, "--nnodes", 8) == 0 || strncmp(key, "--nproc", 7) == 0;
        all = all && strncmp(key, "--num_gpus", 10) != 0 && strncmp(key, "--num-gpus", 10) != 0 &&
              strncmp(key, "--include", 9) != 0 && strcmp(key, "--hostfile") != 0;
        file = file || strcmp(key, launched[0].option) == 0;
    }
    for (size_t i = 0; good && i < sizeof launched / sizeof *launched; i++) {
        const char *option = launched[i].option, *name = launched[i].variable;
        const char *programs = launched[i].programs;
        bool first = i == 0, nodes = strcmp(option, "--nnodes") == 0;
        bool wanted = first ? !file : settings->count > 0 && (nodes ? node : !sizes && !node);
        wanted = wanted && (!programs || (all && runs(s, programs)));
        s->word_length = 0;
        bool found = wanted && put_named(s, name, strlen(name), s->variable_count);
        s->word[s->word_length] = '\0';
        if (programs && isdigit((unsigned char)s->word[0])) {
            count_cards(s, s->word);
        }
        bool number = s->word_length > 0 && strspn(s->word, "0123456789") == s->word_length;
        if (found && (first ? is_file(s->word) : number)) {
            good = calc_settings_put(settings, option, s->word) != NULL;
            node = !first;
        }
    }
    return good;
}

calc_status calc_settings_from_script(calc_settings *settings, const char *text, size_t length,
                                      const char *name)
{
    script *s = open_script(text, length, name);
    bool good = s && read_script(s, settings) && put_launched(s, settings);
    for (script *more; s; s = more) {
        more = s->sourced;
        free(s);
    }
    return good ? CALC_OK : CALC_ERR_NOMEM;
}
