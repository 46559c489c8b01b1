#include "validate/run_words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Words ----------------------------------------------------------------------------------- */

/* Where a phrase is looked for. */
enum { DTYPE = 1, SHARDING = 2, RECOMPUTE = 4, OVERLAP = 8 };

/* What a phrase does. */
typedef enum role {
    SAYS,   /* its meaning; "=value" or a word behind it may deny that */
    BEFORE, /* denies the words after it, up to the end of the clause */
    BEHIND, /* denies the earlier words of this clause */
    KEY,    /* of the value behind it, which says it all */
    PASS,   /* says nothing that is modelled */
    REST    /* says its meaning, and the rest up to a semicolon belongs to it */
} role;

typedef struct phrase {
    const char *text; /* letters and digits count, and "=" where there is one */
    int columns;
    role role;
    calc_run_word word;
} phrase;

static const phrase phrases[] = {
#define CALC_RUN_PHRASE(columns, role, word, text) {text, columns, role, CALC_RUN_WORD_##word},
#include "validate/run_words.fields.h"
#undef CALC_RUN_PHRASE
};

enum { PHRASES = sizeof phrases / sizeof *phrases, WORD_SHOWN = 24 };

/* ---- Reading --------------------------------------------------------------------------------- */

/* A cell under way. */
typedef struct cell {
    calc_run_words *out;
    const char *name; /* of its column */
    int column;
    bool denied;                 /* the words after it, up to the end of the clause */
    bool clause[CALC_RUN_WORDS]; /* what was said in it */
} cell;

/* Letters of other scripts are letters. */
static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* Where the text goes on behind a phrase; NULL if it does not begin with it. Only letters, digits
 * and "=" count, and the phrase ends where a word does. */
static const char *behind(const char *at, const char *words)
{
    for (; *words; words++) {
        if (*words == ' ') {
            continue;
        }
        while (*at && *at != ';' && !is_letter(*at) && *at != '=') {
            at++;
        }
        if (tolower((unsigned char)*at) != *words) {
            return NULL;
        }
        at++;
    }
    return is_letter(*at) ? NULL : at;
}

/* The longest phrase that the text begins with; NULL: none. */
static const phrase *longest(const cell *c, const char *at, const char **next)
{
    const phrase *best = NULL;
    *next = at;
    for (size_t i = 0; i < PHRASES; i++) {
        const char *end = phrases[i].columns & c->column ? behind(at, phrases[i].text) : NULL;
        if (end && end > *next) {
            best = &phrases[i];
            *next = end;
        }
    }
    return best;
}

/* The effect of "=value" or ": value" on the phrase before it. */
typedef enum value { ABSENT, YES, NO, OWN_WORDS } value;

/* Moves *at behind the value, unless it is words of its own. */
static value value_at(const char **at)
{
    static const struct {
        const char *text;
        value says;
    } values[] = {{"true", YES}, {"yes", YES},     {"on", YES}, {"enabled", YES},
                  {"1", YES},    {"false", NO},    {"no", NO},  {"none", NO},
                  {"off", NO},   {"disabled", NO}, {"0", NO},   {"na", NO}};
    const char *from = *at + strspn(*at, " ");
    if (*from != '=' && *from != ':') {
        return ABSENT;
    }
    from += 1 + strspn(from + 1, " ");
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const char *end = behind(from, values[i].text);
        if (end) {
            *at = end;
            return values[i].says;
        }
    }
    return *from == ';' || *from == '\0' ? NO : OWN_WORDS;
}

/* The number behind a phrase or "=", which moves *at behind it; NULL: none. */
static const char *number_at(const char **at)
{
    const char *digits = *at + strspn(*at, " =");
    size_t length = strspn(digits, "0123456789");
    if (length == 0) {
        return NULL;
    }
    *at = digits + length;
    return digits;
}

static bool has_number(calc_run_word word)
{
    return word == CALC_RUN_WORD_BLOCKS || word == CALC_RUN_WORD_SHARD_GROUP ||
           word == CALC_RUN_WORD_DEFERRED_WGRAD;
}

/* All phrases of a text that means several things. */
static void say(cell *c, const phrase *found, value said, const char *number)
{
    if (said == OWN_WORDS) {
        return;
    }
    for (const phrase *p = found; p < phrases + PHRASES && strcmp(p->text, found->text) == 0; p++) {
        if (!(p->columns & c->column) || p->word == CALC_RUN_WORD_NOTHING) {
            continue;
        }
        bool denied = said == ABSENT ? c->denied : said == NO;
        *(denied ? &c->out->off[p->word] : &c->out->on[p->word]) = true;
        c->clause[p->word] = !denied;
        c->out->number[p->word] = number ? number : c->out->number[p->word];
    }
}

static void deny_clause(cell *c)
{
    for (int i = 0; i < CALC_RUN_WORDS; i++) {
        if (c->clause[i]) {
            c->out->on[i] = false;
            c->out->off[i] = true;
        }
    }
}

/* A phrase was found, and the text goes on at `at`. @return where it goes on */
static const char *take(cell *c, const phrase *p, const char *at)
{
    const char *number;
    switch (p->role) {
    case SAYS:
        number = has_number(p->word) ? number_at(&at) : NULL;
        say(c, p, number ? YES : value_at(&at), number);
        break;
    case REST:
        at += strspn(at, " =");
        say(c, p, YES, at);
        at += strcspn(at, ";");
        break;
    case BEFORE:
        c->denied = true;
        break;
    case BEHIND:
        deny_clause(c);
        break;
    case KEY:
        (void)number_at(&at);
        break;
    default:
        break;
    }
    return at;
}

static void begin_clause(cell *c)
{
    c->denied = false;
    memset(c->clause, 0, sizeof c->clause);
}

/* A word that no table has; numbers alone belong to the word before them. */
static const char *pass_word(cell *c, const char *at)
{
    size_t length = strspn(at, "0123456789");
    bool number = length > 0 && !is_letter(at[length]);
    while (!number && is_letter(at[length])) {
        length++;
    }
    if (!number && c->out->unread[0] == '\0') {
        size_t shown = length < WORD_SHOWN ? length : WORD_SHOWN;
        while (shown < length && ((unsigned char)at[shown] & 0xC0) == 0x80) {
            shown--; /* not in the middle of a character */
        }
        snprintf(c->out->unread, sizeof c->out->unread, "%s: \"%.*s\" is not known, and not read",
                 c->name, (int)shown, at);
    }
    return at + length;
}

static void read_cell(calc_run_words *out, const char *text, const char *name, int column)
{
    cell c = {.out = out, .name = name, .column = column};
    for (const char *at = text; *at;) {
        const char *next;
        if (!is_letter(*at)) {
            if (strchr(";()", *at)) {
                begin_clause(&c);
            }
            at++;
            continue;
        }
        const phrase *p = longest(&c, at, &next);
        at = p ? take(&c, p, next) : pass_word(&c, at);
    }
}

void calc_run_words_read(calc_run_words *out, const calc_runs_row *row)
{
    *out = (calc_run_words){.unread = ""};
    read_cell(out, row->dtype, "dtype", DTYPE);
    read_cell(out, row->zero_stage_fsdp, "zero_stage_fsdp", SHARDING);
    read_cell(out, row->recompute, "recompute", RECOMPUTE);
    read_cell(out, row->overlap, "overlap", OVERLAP);
}

bool calc_run_words_say(const calc_run_words *words, calc_run_word word, bool unsaid)
{
    return words->off[word] ? false : words->on[word] || unsaid;
}

int64_t calc_run_words_number(const calc_run_words *words, calc_run_word word)
{
    return words->number[word] ? strtol(words->number[word], NULL, 10) : 0;
}
