#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "formats/export.h"
#include "formats/import.h"
#include "formats/read.h"
#include "formats/script.h"

static const char quotes[] = "\"'";

/* Makes the options of lists such as are not known, since what follows may replace them. */
static void doubt(calc_script *s, calc_settings *settings, int list, const char *name,
                  size_t length)
{
    const char *word = CALC_TEXT(160, "$%.*s", (int)length, name);
    bool again = list < 0 || s->said.doubted >> list & 1; /* since it has options */
    s->said.doubted |= list >= 0 ? UINT64_C(1) << list : 0;
    for (size_t i = 0; i < settings->count && !again; i++) {
        calc_setting *item = &settings->item[i];
        if (item->list >> list & 1 && !item->conditional && !item->unsure[0]) {
            item->value[item->length = 0] = '\0';
            (void)calc_setting_append(item, word, strlen(word));
            item->unsure[0] = s->line;
            item->unsure[1] = item->line;
        }
    }
}

/* Remembers NAME=value, or NAME+=value, at the start of a word. @return the rest; NULL if there is
 * none */
static const char *assignment(calc_script *s, calc_settings *settings, const char *at)
{
    size_t length = calc_shell_name(at, s->end);
    const char *index = at[length] == '[' && s->first && s->list < 0
                            ? calc_shell_closing(at + length, s->end, '[', ']', &s->said.looks)
                            : NULL;
    if (length > 0 && index && (index[1] == '=' || index[1] == '+')) {
        doubt(s, settings, calc_script_list(s, at, length), at, length);
        calc_script_add_variable(
            s, (calc_variable){.name = at, .name_length = length, .unknown = true});
        return calc_shell_value_end(index + 1, s->end, &s->said.looks);
    }
    size_t adds = s->end - at > (ptrdiff_t)length && at[length] == '+';
    const char *value = at + length + adds + 1;
    if (length == 0 || isdigit((unsigned char)*at) || value > s->end || value[-1] != '=' ||
        (s->keys && !s->first)) {
        return NULL;
    }
    s->joined = false;
    bool quoted = value < s->end && (*value == '"' || *value == '\'');
    const char *text = calc_shell_options(value + quoted, s->end, &s->said.looks);
    const char *end = text ? NULL : calc_shell_value_end(value, s->end, &s->said.looks);
    int known = calc_script_list(s, at, length);
    bool opens = s->quote && at[-1] == s->quote; /* the string of bash -c */
    bool has = !end || (end < s->end && *end == '(');
    bool own = s->first || s->declares || s->list >= 0 || opens; /* not a word of a program */
    const char *stop = !has            ? end
                       : *value == '(' ? calc_shell_closing(value, s->end, '(', ')', &s->said.looks)
                                       : calc_shell_string_end(value, s->end);
    bool more = adds || (stop && calc_shell_mentions(value, stop, at, length));
    bool inside = s->lists > 0 || s->local, sure = !calc_script_is_branch(s);
    if (known >= 0 && own && s->list < 0) {
        uint64_t bit = UINT64_C(1) << known;
        if (has ? !more && !sure : (adds && end > value) || (!more && !sure)) {
            doubt(s, settings, known, at, length);
        } else if (has ? !more || inside : !more) {
            s->said.named &= ~bit;
        }
        known = s->said.named & bit ? known : -1;
        if (has && more && known < 0) { /* what ends with a function or a subshell */
            known = calc_script_open_list(s, at, length);
            s->said.group[known].lists = bit;
        }
    }
    if (has) {
        s->list = known >= 0 ? known : calc_script_open_list(s, at, length);
        s->said.doubted &= ~(UINT64_C(1) << s->list);
        s->list_depth = text ? -1 : s->lists; /* -1: the output of a command is the list */
    }
    if (!end) {
        return text ? text : value;
    }
    quoted = quoted && calc_shell_string_end(value, s->end) + 1 == end;
    if (!adds || known < 0) {
        calc_script_add_variable(
            s,
            (calc_variable){.name = at,
                            .value = value + quoted,
                            .name_length = length,
                            .value_length = (size_t)(end - value) - (quoted ? 2 : 0),
                            .until = (s->list >= 0 || !own) && !s->naming ? s->said.count + 1 : 0,
                            .unknown = s->naming && !strchr("pu", s->naming),
                            .adds = adds,
                            .local = s->local,
                            .exported = s->exports});
    }
    return end;
}

/* Finds what a word is of: a list that has a name, or the command. What it decides on is a branch
 * if the command is a test. */
static void place_word(calc_script *s, bool option)
{
    static const char before[] = " ! { } if then elif else fi while until for do done case esac "
                                 "time exec eval nohup sudo env export declare local readonly "
                                 "typeset select ";
    static const char naming[] = " unset read mapfile readarray getopts let for printf eval ";
    bool first = s->first && s->list < 0, outside = s->list < 0;
    bool and_or = outside && calc_is_word(" && || ", s->word);
    bool beside = outside && calc_is_word(" | & ", s->word);    /* the command, not what runs it */
    bool sure = first && !s->joined && s->said.count > s->mark; /* an assignment: it succeeds */
    s->joined = and_or || beside || (first && calc_is_word(before, s->word));
    s->shell = s->shell || (outside && !s->quote && calc_is_word(" bash sh ", s->word));
    if (beside || (first && !and_or && !option && !s->declares && !s->shell)) {
        calc_script_hide(s, s->mark, true);
    }
    const char *name = s->word_at + (strchr(quotes, *s->word_at) != NULL);
    for (size_t i = s->said.count; i > 0 && s->exports; i--) { /* export NAME */
        calc_variable *v = &s->said.variable[i - 1];
        v->exported = v->exported || (s->word_length == v->name_length &&
                                      memcmp(s->word, v->name, v->name_length) == 0);
    }
    bool named = s->naming && s->naming != 'p' && calc_shell_is_name(*name) &&
                 !isdigit((unsigned char)*name);
    if (named) {
        calc_variable v = {.name = name,
                           .name_length = calc_shell_name(name, s->end),
                           .unknown = s->naming != 'u',
                           .local = s->local};
        v.unknown = v.unknown || name[v.name_length] == '['; /* unset 'A[1]' */
        int list = !v.unknown ? calc_script_list(s, name, v.name_length) : -1;
        s->said.named &= list >= 0 ? ~(UINT64_C(1) << list) : UINT64_MAX;
        calc_script_add_variable(s, v);
        s->mark = s->said.count;
    }
    bool declares = first && calc_is_word(" export declare local readonly typeset ", s->word);
    s->local = declares ? s->body && strchr("dlt", s->word[0]) : s->local && !s->joined;
    s->local = s->local && !(*s->word == '-' && strchr(s->word, 'g'));
    s->said.lost = s->said.lost || (s->local && strcmp(s->word, "-n") == 0);
    s->exports =
        declares ? s->word[0] == 'e' : s->declares && (s->exports || strcmp(s->word, "-x") == 0);
    s->declares = declares || (s->declares && !s->joined);
    if (first && (calc_is_word(" shift ", s->word) || strncmp(s->word_at, "set -- ", 7) == 0)) {
        const calc_variable *words = calc_script_find(s, "@", 1, s->said.count);
        const char *end = words && words->value ? words->value : NULL;
        bool unsure = !end || s->word[1] != 'h' || strchr("123456789", s->word_at[6]);
        const char *last = end ? words->value + words->value_length : NULL;
        const char *at = unsure ? NULL : calc_shell_word(end, last, 1, &end, &unsure);
        size_t known = words && end ? words->before : 0;
        if (words || s->body || s->word[1] == 'e') {
            calc_script_add_variable(s,
                                     (calc_variable){.name = "@",
                                                     .value = at ? end : last,
                                                     .name_length = 1,
                                                     .value_length = at ? (size_t)(last - end) : 0,
                                                     .before = known,
                                                     .unknown = unsure});
        }
    }
    s->naming = declares && s->local                             ? 'u'
                : first && calc_is_word(naming, s->word)         ? s->word[0]
                : s->naming == 'p' && strcmp(s->word, "-v") == 0 ? 'f'
                : s->joined || (named && s->naming == 'f')       ? '\0'
                                                                 : s->naming;
    s->said.branches += first && calc_is_word(" if case ", s->word);
    s->said.branches -= first && s->said.branches > 0 && calc_is_word(" fi esac ", s->word);
    s->said.blocks += first && calc_is_word(" while until for select { ", s->word);
    s->said.blocks -= first && s->said.blocks > 0 && calc_is_word(" done } ", s->word);
    if (s->joined) {
        s->mark = s->said.count;
        s->said.chained = s->said.chained || (s->tests && (and_or || beside));
        s->said.after = s->said.after || (and_or && !sure);
        s->first = s->closed = true;
        s->tests = false;
        return;
    }
    s->tests = s->tests || (first && calc_is_word(" [ [[ test ", s->word));
    bool plain = s->command >= 0 && s->said.group[s->command].options &&
                 !s->said.group[s->command].command.words[0]; /* options, and no command */
    if (s->list < 0 && (s->command < 0 || (first && !option && !plain))) {
        s->command = calc_script_open_list(s, NULL, 0);
        s->closed = true;
    }
    calc_script_group *g = &s->said.group[s->list < 0 ? s->command : s->list];
    const char *slash = strrchr(s->word, '/');
    bool program = s->module || calc_word_is_image(s->word) ||
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

static bool flush(calc_script *s, calc_settings *settings, int line, int column);
static bool read_script(calc_script *s, calc_settings *settings, const char *at);

/* @return with a copy of the text, which is edited; NULL: there is no memory for it */
static calc_script *open_script(const char *text, size_t length, const char *name)
{
    calc_script *s = calloc(1, sizeof *s + length + 1);
    if (s) {
        s->name = name;
        s->word_at = s->line_start = s->text = memcpy(s + 1, text, length);
        s->end = s->text + length;
        s->line = 1;
        s->command = s->list = -1;
        s->first = s->closed = true;
    }
    return s;
}

/* Reads a part of the script, or another one, from `at` on. What decides in it may be otherwise the
 * next time, and so it is a copy. @return false: there is no memory */
static bool read_part(calc_script *s, calc_settings *settings, const char *start, const char *at,
                      const char *end, int line)
{
    calc_script *part = open_script(start, (size_t)(end - start), NULL);
    if (!part) {
        return false;
    }
    part->sourced = s->sourced;
    part->said = s->said;
    part->mark = s->said.count;
    part->line = line;
    part->body = at != start || s->body;
    bool good = read_script(part, settings, part->text + (at - start));
    s->said = part->said;
    s->sourced = part;
    s->command = -1;
    return good;
}

/* Takes the variables of a script that is read here; that one reads no others. */
static bool take_sourced(calc_script *s, const calc_setting *named)
{
    char path[CALC_SCRIPT_WORD];
    calc_text text = {0};
    calc_settings ignored = {0};
    if (!s->name || calc_named_open(s->name, named, path, &text) != CALC_OK) {
        return true;
    }
    bool good = read_part(s, &ignored, text.data, text.data, text.data + text.length, 1);
    calc_text_free(&text);
    calc_settings_free(&ignored);
    return good;
}

/* Takes what a variable that stands in no quotes has as the words that a shell makes of it. */
static bool flush_parts(calc_script *s, calc_settings *settings, int line, int column)
{
    char *whole = strndup(s->word, s->word_length);
    uint64_t used = s->used;
    const int unsure[2] = {s->unsure[0], s->unsure[1]};
    bool good = whole != NULL;
    s->parted = false;
    for (char *at = whole; good && at && *(at += strspn(at, " \t\n\\"));) {
        size_t length = strcspn(at, " \t\n\\");
        s->word_length = length;
        memmove(s->word, at, length);
        s->has_word = length > 0;
        s->used = used;
        memcpy(s->unsure, unsure, sizeof unsure);
        used = 0;
        s->splits = true;
        good = flush(s, settings, line, column);
        at += length;
    }
    s->splits = false;
    calc_script_drop_word(s);
    free(whole);
    return good;
}

static bool flush(calc_script *s, calc_settings *settings, int line, int column)
{
    bool good = true;
    s->word[s->word_length] = '\0';
    if (s->parted && s->word[strspn(s->word, " ")] && strpbrk(s->word, " \n") &&
        !strchr("$([{'\"", s->word[0])) {
        return flush_parts(s, settings, line, column);
    }
    s->parted = false;
    bool named = s->used && s->word[strspn(s->word, " ")] == '\0';
    if (s->has_word) {
        bool option = calc_settings_is_option(s->word);
        good = s->said.started || calc_slurm_put(&s->said.job, settings);
        s->said.started = true;
        bool own = s->sources && !strchr("/~", s->word[0]) && strstr(s->word, ".sh");
        calc_setting *source = own ? calc_settings_put(settings, "source", s->word) : NULL;
        good = good && (!own || (source && take_sourced(s, source)));
        s->sources = s->first && s->list < 0 && calc_is_word(" source . ", s->word);
        place_word(s, option);
        /* What follows a list of options is no value of the last one. */
        bool starts = s->closed || settings->count == 0;
        s->closed =
            s->closed && !option && !calc_word_serves(s->word) && !calc_word_is_image(s->word);
        /* A second one that is not known may be a list, whose options are read where they are. */
        calc_setting *last = settings->count > 0 ? &settings->item[settings->count - 1] : NULL;
        bool list = s->word[0] == '$' && ((last && last->length > 0) || s->splits || s->used ||
                                          (s->list >= 0 && starts));
        const char *name = s->word + list + (list && s->word[1] == '{');
        bool open =
            list && !named && !(last && strchr(last->value, '>')) &&
            (s->word[1] == '(' ? s->word[s->word_length - 1] == ')' : !strpbrk(s->word, "(/.")) &&
            (calc_shell_is_name(name[0]) || s->word[1] == '(' || s->unsure[0]) &&
            !(last && strcmp(last->key, s->word) == 0) && !calc_slurm_sets(name, strlen(name));
        size_t before = settings->count;
        bool placed = named || list || s->joined;
        good = good &&
               (open ? calc_settings_put(settings, s->word, s->word) != NULL
                     : placed || calc_settings_take(settings, s->word, starts, 0, line, column));
        if (good && (open || !placed) && settings->count > 0) {
            last = &settings->item[settings->count - 1];
            last->conditional |= s->taken;
            memcpy(last->unsure, s->unsure[0] ? s->unsure : last->unsure, sizeof s->unsure);
        }
        if (settings->count > before) {
            settings->item[before].conditional |= s->said.branches > 0 || s->said.chained ||
                                                  (s->list >= 0 && calc_script_is_branch(s));
            s->keys = !strchr("-$", settings->item[before].key[0]);
            s->said.group[s->list < 0 ? s->command : s->list].options = true;
        }
        for (; before < settings->count; before++) { /* also the image of a server */
            settings->item[before].list = UINT64_C(1) << (s->list < 0 ? s->command : s->list);
        }
    }
    calc_script_drop_word(s);
    return good;
}

/* Handles a character outside strings. @return the rest */
static const char *take_character(calc_script *s, const char *at)
{
    bool escaped = *at == '\\' && at + 1 < s->end && at[1] != '\n' && at[1] != '\r';
    if (escaped && s->quote == '"' && at[1] == '"') { /* a string in bash -c "..." */
        const char *end = at + 2;
        while (end + 1 < s->end && end - at < CALC_SCRIPT_WORD &&
               !(*end == '\\' && end[1] == '"')) {
            end++;
        }
        if (end + 1 < s->end && *end == '\\') {
            calc_script_put_value(s, at + 2, end, s->said.count, "");
            return end + 2;
        }
    }
    if (escaped && s->quote == '"' && at[1] == '$') {
        return calc_script_expand(s, at + 1, s->end, s->said.count);
    }
    if (escaped) {
        calc_script_put(s, at[1]);
        return at + 2;
    }
    if (*at == '$') {
        s->parted = true;
        const char *quoted_in = calc_shell_options(at, s->end, &s->said.looks);
        return quoted_in
                   ? quoted_in
                   : calc_script_expand(s, at, s->end, s->quote == '"' ? s->quoted : s->said.count);
    }
    if (*at == '"' || *at == '\'') {
        const char *end = calc_shell_string_end(at, s->end);
        if (end >= s->end || calc_shell_has_options(at, end)) {
            if (!s->quote && end < s->end) {
                s->quote = *at;
                s->quoted = s->shell ? s->mark : s->said.count;
            }
            return at + 1;
        }
        s->has_word = true;
        if (*at == '\'') {
            calc_script_put_text(s, at + 1, end);
        } else {
            calc_script_put_value(s, at + 1, end, s->said.count, "");
        }
        return end + 1;
    }
    calc_script_put(s, *at);
    return at + 1;
}

static bool ends_line(const calc_script *s, const char *at)
{
    const char *before = at > s->text && at[-1] == '\r' ? at - 1 : at;
    return *at == '\n' && (s->commented || !(before > s->text && before[-1] == '\\'));
}

/* What a character between words ends: a list, or a command. */
static void end_word(calc_script *s, const char *at)
{
    if (s->list >= 0 && (s->list_depth < 0 ? *at == ')' : !s->quote && s->lists <= s->list_depth)) {
        s->list = -1;
    }
    if (s->list < 0 && (ends_line(s, at) || strchr(";()`", *at))) {
        s->said.chained = s->said.chained && s->joined;
        s->said.after = s->said.after && s->joined;
        s->tests = s->tests && s->joined;
        if (s->shell && !s->quote) {
            calc_script_hide(s, s->mark, true);
            s->shell = false;
        }
        s->first = true;
        s->declares = s->local = false;
        s->naming = '\0';
        s->mark = s->said.count;
    }
}

/* calc_shell_values.value: without variables that something else may have set */
static bool known_value(void *context, const char *at, const char *end, char *word)
{
    calc_script *s = context;
    bool plain = *at == '\'' && memchr(at, '$', (size_t)(end - at));
    bool string = at < end && strchr(quotes, *at);
    calc_script_put_value(s, at, end, s->said.count, quotes);
    s->word[s->word_length] = '\0';
    bool known = !plain && s->word_length < CALC_SHELL_WORD &&
                 !strpbrk(s->word, string ? "$`*?[" : "$` ") && (!s->taken || s->launched);
    strcpy(word, known ? s->word : "");
    calc_script_drop_word(s);
    return known;
}

/* @return the end of a part of the script, which is not read */
static const char *pass_over(calc_script *s, const char *at, const char *end)
{
    for (; at < end; at++) {
        s->line += *at == '\n';
        s->line_start = *at == '\n' ? at + 1 : s->line_start;
    }
    return at;
}

/* Reads a function, with the variables at hand and those of the command that calls it.
 * @return false: there is no memory */
static bool read_function(calc_script *s, calc_settings *settings, calc_function *f)
{
    f->called = true;
    uint64_t named = s->said.named, local = s->said.local;
    s->said.local = 0;
    bool good = read_part(s, settings, f->start, f->body, f->end, f->line);
    calc_script_hide(s, s->mark, false);
    s->said.named &= ~s->said.local;
    for (int i = 0; i < s->said.groups; i++) {
        const calc_script_group *g = &s->said.group[i];
        bool hidden = named >> i & 1 && calc_script_list(s, g->name, g->name_length) < 0;
        s->said.named |= (uint64_t)hidden << i;
    }
    s->said.local = local;
    s->closed = true;
    s->first = s->joined = false;
    return good;
}

/* Takes a function, which is read where it is called, and ((NAME=...)), which begins at *at.
 * @param at  moves behind what is read no more
 * @return false: there is no memory */
static bool take_command(calc_script *s, calc_settings *settings, const char **at)
{
    calc_said *d = &s->said;
    const char *name = *at, *close;
    size_t length = 0;
    while (calc_shell_is_name(name[length]) ||
           (length > 0 && name[length] && strchr("-.:", name[length]))) {
        length++;
    }
    bool defines = calc_word_in("function", name, length);
    if (defines) {
        name += length + strspn(name + length, " \t");
        length = strcspn(name, " \t\r\n(){;");
    }
    const char *body = name + length + strspn(name + length, " \t");
    defines = defines || (length > 0 && strncmp(body, "()", 2) == 0);
    body += strncmp(body, "()", 2) == 0 ? 2 : 0;
    body += strspn(body, " \t\r\n");
    close =
        defines && *body == '{' ? calc_shell_closing(body, s->end, '{', '}', &s->said.looks) : NULL;
    if (close) {
        (void)pass_over(s, *at, body);
        bool near = body - s->line_start < CALC_SCRIPT_WORD;
        d->lost = d->lost || d->functions == CALC_SCRIPT_FUNCTIONS;
        if (!d->lost) {
            d->function[d->functions++] = (calc_function){
                name, near ? s->line_start : body, body + 1, close, length, s->line, false};
        }
        *at = pass_over(s, body, close + 1);
        return true;
    }
    for (int i = d->functions; i > 0 && !defines; i--) {
        calc_function *f = &d->function[i - 1];
        if (f->name_length == length && memcmp(*at, f->name, length) == 0 &&
            strchr(" \t\r\n;&|)", (*at)[length])) {
            d->lost = d->lost || d->calls++ >= CALC_SCRIPT_FUNCTIONS;
            const char *words = *at + length, *last = words;
            while (last < s->end && (!strchr("\n;&|)<>", *last) || last[-1] == '\\')) {
                last++;
            }
            calc_script_add_variable(s, (calc_variable){.name = "@",
                                                        .value = words,
                                                        .name_length = 1,
                                                        .value_length = (size_t)(last - words)});
            for (size_t k = s->mark; k < d->count; k++) {
                d->variable[k].local = true; /* with "A=1" before the name */
            }
            *at = pass_over(s, *at, last);
            return d->lost || read_function(s, settings, f);
        }
    }
    if ((s->body ? calc_word_in("return", name, length) : calc_word_in("exit", name, length)) &&
        !calc_script_is_branch(s) && !s->here && s->lists == 0 &&
        (s->body || settings->count > 0)) {
        *at = s->end;
        return true;
    }
    if (strncmp(*at, "((", 2) == 0 &&
        (close = calc_shell_closing(*at, s->end, '(', ')', &s->said.looks))) {
        name = *at + strspn(*at, "(+- \t");
        length = calc_shell_name(name, close);
        const char *sign = name + length + strspn(name + length, " \t");
        bool steps = (strchr("+-", *sign) && sign[1] == *sign) || strchr("+-", name[-1]);
        sign += strchr("+-*/%", *sign) != NULL;
        if (length > 0 && (steps || (*sign == '=' && sign[1] != '='))) {
            calc_script_add_variable(
                s, (calc_variable){.name = name, .name_length = length, .unknown = true});
        }
        *at = pass_over(s, *at, close + 1);
        s->first = s->joined = false;
    }
    return true;
}

/* Notes the word that ends a here-document at "<<"; at the start of a line that document may end.
 */
static void take_here(calc_script *s, const char *at)
{
    if (strncmp(at, "<<", 2) == 0 && at[2] != '<' && at[-1] != '<') {
        const char *word = at + 2 + strspn(at + 2, "- \t\\\"'");
        if (s->here) { /* two of them on a line: what is of which is not known */
            s->said.lost = s->said.lost || (s->here_mark == SIZE_MAX && word != s->here);
            return;
        }
        s->here_plain = !memchr(at, '"', (size_t)(word - at)) &&
                        !memchr(at, '\'', (size_t)(word - at)) &&
                        !memchr(at, '\\', (size_t)(word - at));
        at = word;
        s->here_length = calc_shell_name(at, s->end);
        s->here = s->here_length > 0 ? at : NULL;
        s->here_mark = SIZE_MAX;
    } else if (s->here && at[-1] == '\n') {
        s->here_mark = s->here_mark < s->said.count ? s->here_mark : s->said.count;
        at += strspn(at, "\t");
        if (strncmp(at, s->here, s->here_length) == 0 && !calc_shell_is_name(at[s->here_length])) {
            calc_script_hide(s, s->here_mark, true);
            s->here = NULL;
        }
    }
}

/* Reads from a place up to the end of the script. @return false: there is no memory */
static bool read_script(calc_script *s, calc_settings *settings, const char *at)
{
    const calc_shell_values values = {known_value, s};
    int line = s->line, column = 1;
    while (at < s->end) {
        /* In a command parentheses are of a value, "([0]*3+[1]*58)", which lacks its quotes. */
        bool of_value = *at == '(' && !s->has_word && !s->quote && s->list < 0 && !s->first;
        const char *close =
            of_value ? calc_shell_closing(at, s->end, '(', ')', &s->said.looks) : NULL;
        bool starts = !s->has_word && s->first && s->list < 0 && !s->quote;
        if (starts && !isspace((unsigned char)*at)) {
            const char *before = at;
            if (s->lists == 0) {
                calc_shell_decide(s->text + (at - s->text), &values);
            }
            if (!isspace((unsigned char)*at) && !take_command(s, settings, &at)) {
                return false;
            }
            if (at != before) {
                continue;
            }
        }
        if (isspace((unsigned char)*at) || (*at == '(' && !close) || *at == ')' || *at == ';' ||
            *at == '`' || *at == '\0' || (s->quote && *at == s->quote) ||
            (*at == '\\' && at + 1 < s->end && (at[1] == '\n' || at[1] == '\r'))) {
            if (!flush(s, settings, line, column)) {
                return false;
            }
            if (*at == '(' && s->lists < CALC_SCRIPT_DEPTH) {
                s->outside[s->lists] = s->list < 0 ? s->said.count : SIZE_MAX;
                s->named[s->lists] = s->said.named;
            } else if (*at == ')' && s->lists > 0 && s->lists <= CALC_SCRIPT_DEPTH) {
                calc_script_hide(s, s->outside[s->lists - 1], true);
                s->said.named =
                    s->outside[s->lists - 1] < SIZE_MAX ? s->named[s->lists - 1] : s->said.named;
            }
            s->lists += (*at == '(') - (*at == ')' && s->lists > 0);
            /* A line ends outside of lists and strings, after an option that has a value. */
            bool ends = ends_line(s, at) && !s->quote && s->lists == 0 && settings->count > 0 &&
                        settings->item[settings->count - 1].length > 0;
            s->closed = s->closed || *at == ')' || *at == ';' || ends;
            end_word(s, at);
            if (s->quote && s->quote == *at) {
                calc_script_hide(s, s->quoted, true);
                s->quote = '\0';
            }
            bool slips = *at == '\n' && s->first && s->command >= 0 && !s->here && !s->quote &&
                         s->list < 0 && s->said.group[s->command].options &&
                         s->said.group[s->command].command.words[0];
            at = pass_over(s, at, at + 1);
            take_here(s, at);
            const char *next = at + strspn(at, " \t");
            if (slips && calc_shell_has_options(next, next + 3)) {
                line = s->line;
                while (at < s->end && !ends_line(s, at)) {
                    at = pass_over(s, at, at + 1);
                }
                calc_setting *told = calc_settings_put(
                    settings, CALC_TEXT(96, "line %d", line),
                    "the line before ends the command: options of this one are not read");
                if (!told) {
                    return false;
                }
                told->list = UINT64_C(1) << s->command;
            }
            continue;
        }
        if (!s->quote && s->list < 0 && strchr("&|", *at) && at[1] == *at) { /* a word of its own */
            bool good = flush(s, settings, line, column);
            calc_script_put_text(s, at, at + 2);
            if (!good || !flush(s, settings, line, column)) {
                return false;
            }
            at += 2;
            continue;
        }
        if (!s->has_word) {
            line = s->line;
            column = (int)(at - s->line_start) + 1;
            s->word_at = at;
            const char *after = *at == '#' ? at + strcspn(at, "\n") : assignment(s, settings, at);
            if (after && strncmp(at, "#SBATCH ", 8) == 0 &&
                (s->here || !(s->said.started || s->said.count || s->said.functions))) {
                calc_slurm_directive(&s->said.job, at + 8, after);
            }
            s->commented = *at == '#';
            if (after) {
                at = after;
                continue;
            }
        }
        if (*at == '<' && !s->quote) {
            take_here(s, at);
        }
        if (close) {
            calc_script_put_text(s, at, close + 1);
        }
        at = close ? close + 1 : take_character(s, at);
    }
    return flush(s, settings, line, column);
}

calc_status calc_settings_from_script(calc_settings *settings, const char *text, size_t length,
                                      const char *name)
{
    calc_script *s = open_script(text, length, name);
    const calc_shell_values values = {known_value, s};
    bool good = s && read_script(s, settings, s->text);
    for (int i = s ? s->said.functions : 0; i > 0 && good; i--) { /* something else calls them */
        calc_function *f = &s->said.function[i - 1];
        s->mark = s->said.count;
        s->line = f->line;
        calc_script_add_variable(s,
                                 (calc_variable){.name = "@", .name_length = 1, .unknown = true});
        good = f->called || read_function(s, settings, f);
        calc_script_hide(s, s->mark, true);
    }
    good = good && calc_settings_of_commands(settings, s->said.group, (size_t)s->said.groups) &&
           (s->launched = true) && calc_launched(settings, &values);
    for (calc_script *more; s; s = more) {
        more = s->sourced;
        free(s);
    }
    return good ? CALC_OK : CALC_ERR_NOMEM;
}
