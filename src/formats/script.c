#include "formats/script.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char quotes[] = "\"'";

void calc_script_put(calc_script *s, char c)
{
    s->has_word = true;
    if (s->word_length + 1 < CALC_SCRIPT_WORD) {
        s->word[s->word_length++] = c;
    }
}

void calc_script_drop_word(calc_script *s)
{
    s->word_length = 0;
    s->used = 0;
    s->unsure[0] = s->unsure[1] = 0;
    s->has_word = s->taken = false;
}

void calc_script_put_text(calc_script *s, const char *at, const char *end)
{
    while (at < end) {
        calc_script_put(s, *at++);
    }
}

bool calc_script_is_branch(const calc_script *s)
{
    return s->said.branches > 0 || s->said.blocks > 0 || s->said.chained || s->said.after;
}

void calc_script_add_variable(calc_script *s, calc_variable v)
{
    calc_said *d = &s->said;
    d->lost = d->lost || d->count == CALC_SCRIPT_VARIABLES;
    if (d->lost) {
        return;
    }
    v.before = v.before > 0 ? v.before : d->count;
    v.line = s->line;
    for (size_t i = d->count; i > 0 && !v.local; i--) { /* "local NAME" stands before it */
        const calc_variable *known = &d->variable[i - 1];
        bool same =
            known->name_length == v.name_length && memcmp(known->name, v.name, v.name_length) == 0;
        v.local = same && known->local && !known->until;
        v.exported = v.exported || (same && known->exported);
    }
    v.branch = calc_script_is_branch(s);
    bool of_here = s->here && s->here_plain && s->here_mark < SIZE_MAX;
    v.until = of_here ? d->count + 1 : v.until;
    d->variable[d->count++] = v;
}

void calc_script_hide(calc_script *s, size_t mark, bool all)
{
    for (size_t i = mark; i < s->said.count; i++) {
        calc_variable *v = &s->said.variable[i];
        v->until = !v->until && (all || v->local) ? s->said.count : v->until;
    }
}

const calc_variable *calc_script_find(calc_script *s, const char *name, size_t length, size_t count)
{
    static const calc_variable unknown = {.unknown = true};
    if (length == 1 && *name > '0' && *name <= '9') {
        const calc_variable *words = calc_script_find(s, "@", 1, count);
        bool unsure = false;
        const char *end, *at = NULL;
        if (words && words->value) {
            at = calc_shell_word(words->value, words->value + words->value_length,
                                 (size_t)(*name - '0'), &end, &unsure);
            s->unsure[0] = unsure ? words->line : s->unsure[0];
        }
        if (!at || unsure) {
            return unsure || (words && !words->value) ? &unknown : NULL;
        }
        s->position = *words;
        s->position.value = at;
        s->position.value_length = (size_t)(end - at);
        return &s->position;
    }
    const calc_variable *last = NULL;
    bool sure = !s->said.lost;
    for (size_t i = count; i > 0 && sure; i--) {
        const calc_variable *v = &s->said.variable[i - 1];
        if (v->name_length != length || memcmp(v->name, name, length) != 0 ||
            (v->until && count >= v->until && !s->launched)) {
            continue;
        }
        bool same = !last || (!v->value == !last->value && !v->adds && !last->adds &&
                              v->value_length == last->value_length &&
                              (!v->value || memcmp(v->value, last->value, v->value_length) == 0));
        last = last ? last : v;
        sure = same && !v->unknown &&
               !(s->shell && s->quote == '\'' && i <= s->quoted && !v->exported);
        if (!sure && !s->unsure[0]) {
            s->unsure[0] = last->line;
            s->unsure[1] = same ? 0 : v->line;
        }
        if (!v->branch) {
            break;
        }
    }
    return !sure ? &unknown : last && last->value ? last : NULL;
}

int calc_script_list(const calc_script *s, const char *name, size_t length)
{
    for (int i = 0; i < s->said.groups; i++) {
        const calc_script_group *g = &s->said.group[i];
        /* More commands than there is room for share the last place, which a list may have had. */
        if (s->said.named >> i & 1 && g->name && g->name_length == length &&
            memcmp(g->name, name, length) == 0) {
            return i;
        }
    }
    return -1;
}

int calc_script_open_list(calc_script *s, const char *name, size_t length)
{
    calc_script_group *last = s->said.groups > 0 ? &s->said.group[s->said.groups - 1] : NULL;
    bool empty = last && !last->name && !last->options && !last->lists;
    s->said.groups += !empty && s->said.groups < CALC_COMMANDS_MAX;
    calc_script_group *g = &s->said.group[s->said.groups - 1];
    s->command = empty ? -1 : s->command;
    g->command.words[0] = '\0';
    g->name = name;
    g->name_length = length;
    g->command.line = name ? 0 : s->line;
    if (name) {
        s->said.named |= UINT64_C(1) << (s->said.groups - 1);
        s->said.local |= (uint64_t)s->local << (s->said.groups - 1);
    }
    return s->said.groups - 1;
}

void calc_script_put_value(calc_script *s, const char *at, const char *end, size_t count,
                           const char *dropped)
{
    s->has_word = true;
    while (at < end) {
        if (*at == '$') {
            at = calc_script_expand(s, at, end, count);
        } else if (*at && strchr(dropped, *at)) {
            at++;
        } else {
            calc_script_put(s, *at++);
        }
    }
}

/* @return whether the name has a value */
static bool put_named(calc_script *s, const char *name, size_t length, size_t count)
{
    const calc_variable *v = calc_script_find(s, name, length, count);
    bool known = v && v->value;
    int64_t of_job = v ? 0 : calc_slurm_value(&s->said.job, name, length);
    char number[32];
    int list = calc_script_list(s, name, length);
    s->used |= list >= 0 ? UINT64_C(1) << list : 0;
    s->has_word = s->has_word || list >= 0;
    if (known) {
        s->taken = s->taken || v->branch;
        known = !v->adds || put_named(s, name, length, v->before) || !s->unsure[0];
        calc_script_put_value(s, v->value, v->value + v->value_length, v->before, quotes);
    } else if (of_job > 0) {
        calc_script_put_text(s, number,
                             number + snprintf(number, sizeof number, "%lld", (long long)of_job));
    }
    return known || of_job > 0 || (list >= 0 && !(v && v->unknown));
}

/* The value of an expression, or the expression itself if a variable in it is not known.
 * @param whole  $((...)) or $(expr ...), up to `behind`; `at` to `end` is what it has inside */
static void put_arithmetic(calc_script *s, const char *whole, const char *at, const char *end,
                           const char *behind, size_t count)
{
    size_t mark = s->word_length;
    for (const char *c = at; c < end;) {
        size_t length = isdigit((unsigned char)*c) ? 0 : calc_shell_name(c, end);
        if (*c == '$') {
            c = calc_script_expand(s, c, end, count);
        } else {
            if (length == 0 || !put_named(s, c, length, count)) {
                length = length > 0 ? length : 1;
                calc_script_put_text(s, c, c + length);
            }
            c += length;
        }
    }
    s->word[s->word_length] = '\0';
    double value = calc_shell_sum(s->word + mark);
    bool known = s->word_length + 1 < CALC_SCRIPT_WORD && fabs(value) < 0x1p53;
    char number[32];
    int size = snprintf(number, sizeof number, "%.0f", known ? value : 0);
    s->word_length = mark;
    calc_script_put_text(s, known ? number : whole, known ? number + size : behind);
}

/* Expands ${NAME}, ${NAME:-DEFAULT} or ${NAME[@]}. @return whether it has a value */
static bool expand_braces(calc_script *s, const char *name, const char *close, size_t count)
{
    size_t length = calc_shell_name(name, close);
    const char *after = name + length;
    const char *value = after + (*after == ':'); /* then - or = */
    bool or_default = value < close && (*value == '-' || *value == '=');
    const calc_variable *words;
    bool unsure = false;
    if (strncmp(name, "@:", 2) == 0 && name[2] > '0' && name[2] <= '9' && name + 3 == close &&
        (words = calc_script_find(s, "@", 1, count)) && words->value) {
        const char *last = words->value + words->value_length, *end = last;
        const char *at =
            calc_shell_word(words->value, last, (size_t)(name[2] - '0'), &end, &unsure);
        calc_script_put_value(s, at && !unsure ? at : end, unsure ? end : last, words->before,
                              quotes);
        s->parted = true;
        return !unsure;
    }
    bool plain = after == close || strncmp(after, "[@]}", 4) == 0 || strncmp(after, "[*]}", 4) == 0;
    if (length == 0 || !(plain || or_default)) {
        return false;
    }
    const calc_variable *v = or_default ? calc_script_find(s, name, length, count) : NULL;
    if (v && v->value && v->branch) {
        s->unsure[0] = v->line;
        return false;
    }
    v = v && v->value && v->value_length == 0 && *after == ':' ? NULL : v;
    bool set = !or_default || calc_slurm_sets(name, length) || v;
    if (set && put_named(s, name, length, count)) {
        return true;
    }
    or_default = or_default && !v;
    if (or_default) {
        calc_script_put_value(s, value + 1, close, count, quotes);
        if (*value == '=' && count == s->said.count) {
            calc_script_add_variable(s,
                                     (calc_variable){.name = name,
                                                     .value = value + 1,
                                                     .name_length = length,
                                                     .value_length = (size_t)(close - value - 1)});
        }
    }
    return or_default;
}

const char *calc_script_expand(calc_script *s, const char *at, const char *end, size_t count)
{
    char open = at + 1 < end ? at[1] : '\0';
    const char *name = at + 1;
    const char *close = NULL;
    if (s->said.looks++ < CALC_SHELL_LOOKS && (open == '{' || open == '(')) {
        close = calc_shell_closing(name, end, open, open == '{' ? '}' : ')', &s->said.looks);
    }
    if (close && open == '(') {
        bool doubled = name[1] == '(' && close[-1] == ')';
        if (doubled || strncmp(name + 1, "expr ", 5) == 0) {
            put_arithmetic(s, at, name + (doubled ? 2 : 6), close - doubled, close + 1, count);
        } else {
            calc_script_put_text(s, at, close + 1);
        }
        return close + 1;
    }
    if (close && expand_braces(s, name + 1, close, count)) {
        return close + 1;
    }
    size_t length = open == '{' ? 0 : open == '@' || open == '*' ? 1 : calc_shell_name(name, end);
    if (length > 0 && s->said.looks < CALC_SHELL_LOOKS &&
        put_named(s, open == '*' ? "@" : name, length, count)) {
        s->parted = s->parted || open == '@' || open == '*';
        return name + length;
    }
    calc_script_put(s, '$');
    return name;
}
