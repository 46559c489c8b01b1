#include "formats/detect.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "formats/read.h"
#include "io/json_scan.h"

/* How many keys of a text a framework reads, and has in its table; of two frameworks that read as
 * many, the one that knows more is meant. */
typedef struct score {
    const calc_framework *framework, *equal; /* equal: another one that reads and knows as many */
    size_t read, known, all;
    bool named;         /* the text has the framework's program */
    calc_syntax syntax; /* in which the text was read */
} score;

static score score_of(const calc_framework *framework, const calc_settings *settings)
{
    score s = {.framework = framework};
    const char *assumed;
    for (size_t i = 0; i < settings->count; i++) {
        const calc_setting *setting = &settings->item[i];
        bool file = framework->syntax != CALC_SYNTAX_SHELL && setting->key[0] != '-';
        if (!setting->value[0] && file) {
            continue; /* the name of a table */
        }
        bool read = calc_framework_row(framework, setting->key) != NULL;
        s.all++;
        s.read += read;
        s.known += read || calc_framework_unread(framework, setting->key, setting->value,
                                                 &assumed) != CALC_UNREAD_UNKNOWN;
    }
    return s;
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
        const char *program = framework->program;
        size_t word = program ? strlen(program) : 0;
        if (!(framework->syntax == syntax || (framework->options && syntax == CALC_SYNTAX_SHELL) ||
              (framework->syntax == CALC_SYNTAX_YAML && syntax == CALC_SYNTAX_JSON))) {
            continue;
        }
        score s = score_of(framework, settings);
        s.syntax = syntax;
        for (size_t k = 0; program && k + word <= length && !s.named; k++) {
            s.named = memcmp(text + k, program, word) == 0;
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
    char text[200], hint[120];
    if (best->read == 0) {
        snprintf(text, sizeof text, "no key of a format that calc reads%s%s",
                 looks ? ": it looks like " : "", looks ? looks : "");
        return refuse(errors, name, text);
    }
    if (best->equal) {
        snprintf(hint, sizeof hint, "--from %s or --from %s says which", best->framework->name,
                 best->equal->name);
        return calc_errors_at(errors, CALC_ERR_UNSUPPORTED, name, 0, 0, hint,
                              "its keys are as much of %s as of %s", best->framework->title,
                              best->equal->title);
    }
    if (looks && 2 * best->known < best->all) {
        snprintf(hint, sizeof hint, "--from %s reads it as one", best->framework->name);
        return calc_errors_at(errors, CALC_ERR_UNSUPPORTED, name, 0, 0, hint,
                              "it looks most like a file of %s, which knows %zu of its %zu keys",
                              best->framework->title, best->known, best->all);
    }
    *framework = best->framework;
    return CALC_OK;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

/* The first line that is neither empty nor a comment; NULL: there is none. */
static const char *first_line(const char *text, size_t length)
{
    const char *end = text + length;
    for (const char *at = text + calc_json_scan_mark(text, length); at < end; at++) {
        if (*at == '#') {
            while (at < end && *at != '\n') {
                at++;
            }
        } else if (!isspace((unsigned char)*at)) {
            return at;
        }
    }
    return NULL;
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

/* Reads a text in each syntax that it may have. */
static calc_status read_any(const calc_framework **framework, const char *text, size_t length,
                            const char *name, calc_settings *settings, calc_errors *errors)
{
    static const calc_syntax order[] = {CALC_SYNTAX_TOML, CALC_SYNTAX_JSON, CALC_SYNTAX_YAML,
                                        CALC_SYNTAX_SHELL};
    score best = {0};
    calc_errors first = {0}; /* of the syntax that the text seems to have */
    const char *line = first_line(text, length);
    bool toml = line && is_toml(line, text + length);
    bool json = line && !toml && (*line == '{' || *line == '[');
    bool yaml = line && is_yaml(line, text + length);
    bool other = line && !toml && !json, script = false;
    bool tried[] = {[CALC_SYNTAX_TOML] = toml,
                    [CALC_SYNTAX_JSON] = json,
                    [CALC_SYNTAX_YAML] = other,
                    [CALC_SYNTAX_SHELL] = other};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        calc_settings read = {0};
        calc_errors mistakes = {0};
        calc_status status = tried[order[i]] ? calc_settings_from_text(&read, order[i], text,
                                                                       length, name, &mistakes)
                                             : CALC_ERR_SYNTAX;
        if (status == CALC_OK) {
            choose(&best, order[i], &read, text, length);
            script = order[i] == CALC_SYNTAX_SHELL && read.count > 0;
        } else if (mistakes.count > 0 && !other) {
            first = mistakes;
            /* Braces around lines of YAML, whose comments no JSON has. */
            tried[CALC_SYNTAX_YAML] = json && memchr(text, '#', length);
        } else if (mistakes.count > 0 && yaml) {
            first = mistakes;
        }
        if (best.framework && best.syntax == order[i]) {
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
        return CALC_ERR_SYNTAX;
    }
    return settle(framework, &best, name,
                  !line    ? "an empty file"
                  : toml   ? "TOML"
                  : json   ? "JSON"
                  : yaml   ? "YAML"
                  : script ? "a script"
                           : "text",
                  errors);
}

/* Whether any key of a framework that was named is read. */
static calc_status check_named(const calc_framework *framework, const calc_settings *settings,
                               const char *name, calc_errors *errors)
{
    char text[120];
    if (score_of(framework, settings).read > 0) {
        return CALC_OK;
    }
    snprintf(text, sizeof text, "no key that calc reads in files of %s", framework->title);
    return refuse(errors, name, text);
}

calc_status calc_detect(const calc_framework **framework, const char *text, size_t length,
                        const char *name, calc_settings *settings, calc_errors *errors)
{
    if (!*framework) {
        return read_any(framework, text, length, name, settings, errors);
    }
    const char *line = first_line(text, length);
    bool options = (*framework)->options && line && *line != '{' && !is_yaml(line, text + length);
    calc_syntax syntax = options ? CALC_SYNTAX_SHELL : (*framework)->syntax;
    calc_status status = calc_settings_from_text(settings, syntax, text, length, name, errors);
    return status == CALC_OK ? check_named(*framework, settings, name, errors) : status;
}

calc_status calc_detect_options(const calc_framework **framework, const char *const *word,
                                size_t count, calc_settings *settings, calc_errors *errors)
{
    score best = {0};
    char text[256] = "";
    calc_status status = calc_settings_from_words(settings, word, count);
    if (status != CALC_OK || *framework) {
        return status == CALC_OK ? check_named(*framework, settings, NULL, errors) : status;
    }
    for (size_t i = 0; i < count && strncmp(word[i], "--", 2) != 0; i++) {
        calc_append(text, sizeof text, "%s ", word[i]);
    }
    choose(&best, CALC_SYNTAX_SHELL, settings, text, strlen(text));
    return settle(framework, &best, NULL, NULL, errors);
}
