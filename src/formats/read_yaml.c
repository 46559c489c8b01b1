#include "formats/read.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/buffer.h"
#include "base/error.h"
#include "io/json_report.h"

/* Reads YAML, and JSON as YAML's flow style: mappings become dotted keys. libyaml provides the
 * events; this file interprets them. */

enum { DEPTH = 16, PATH_SIZE = 512, MOST_OPEN = 256, ANCHORS = 256, SIBLINGS = 2000 };

/* What an alias stands for: the value of a key, or the settings below it. */
typedef struct aliased {
    char name[64];
    size_t first, last; /* settings: that of the key, or those below it; 0: it is still open */
    size_t path;        /* length of the path above them; SIZE_MAX: of a value */
    int depth;
} aliased;

typedef struct reader {
    calc_settings *settings;
    const char *text, *name;
    size_t length;
    calc_errors *errors;
    const char *expected;    /* for the error if the document is not a mapping */
    size_t above[DEPTH + 1]; /* length of the path above the keys of each open mapping */
    int depth;
    size_t path_length;
    char path[PATH_SIZE + 1];
    bool key;    /* the next scalar is a key */
    int open;    /* collections of any kind */
    int lists;   /* open lists */
    int skipped; /* collections open inside a mapping in a list */
    bool json;
    bool whole;                            /* no mapping is skipped; for each that is open, */
    int outer[DEPTH + 1], item[DEPTH + 1]; /* the lists around it, and its items so far */
    size_t key_length[DEPTH + 1];          /* the path of the key that it is the value of */
    size_t first[DEPTH + 1];               /* settings before its own */
    aliased anchor[ANCHORS];
    size_t anchors;
    bool merge, merged; /* the key is "<<"; there was one */
} reader;

static calc_status wrong(const reader *r, yaml_mark_t mark, const char *text)
{
    return calc_errors_at(r->errors, CALC_ERR_SYNTAX, r->name, (int)mark.line + 1,
                          (int)mark.column + 1, NULL, "%s", text);
}

/* Reports libyaml's error. */
static calc_status refuse(const reader *r, const yaml_parser_t *parser)
{
    static const struct {
        const char *problem, *hint;
    } hints[] = {
        {"found character that cannot start any token",
         "a tab cannot indent; a text that begins with %, @ or ` stands in quotes"},
        {"mapping values are not allowed in this context",
         "keys of one level are indented alike; a text with a colon and a blank stands in quotes"},
        {"did not find expected key", "keys of one level are indented alike"},
        {"could not find expected ':'", "a key ends with a colon and a blank"},
        {"found invalid Unicode character escape code", "write the character itself"}};
    if (parser->error == YAML_MEMORY_ERROR) {
        return CALC_ERR_NOMEM;
    }
    calc_json_place place = {(int)parser->problem_mark.line + 1,
                             (int)parser->problem_mark.column + 1};
    if (parser->error == YAML_READER_ERROR) {
        place = calc_json_scan_place(r->text, r->length, parser->problem_offset);
    }
    const char *hint = NULL;
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        hint = strcmp(parser->problem, hints[i].problem) == 0 ? hints[i].hint : hint;
    }
    return calc_errors_at(r->errors, CALC_ERR_SYNTAX, r->name, place.line, place.column, hint,
                          "%s%s%s", parser->problem, parser->context ? " " : "",
                          parser->context ? parser->context : "");
}

/* What a mapping says itself counts more than what it has from others. */
static void drop_merged(reader *r)
{
    for (size_t i = r->settings->count; r->merged && i > 0; i--) {
        calc_setting *item = &r->settings->item[i - 1];
        if (strlen(item->key) == r->path_length &&
            memcmp(item->key, r->path, r->path_length) == 0) {
            item->key[0] = '\0';
            calc_settings_drop(r->settings);
            return;
        }
    }
}

static void open_anchor(reader *r, const yaml_char_t *name, size_t path)
{
    if (name && r->anchors < ANCHORS && r->settings->count > 0) {
        bool value = path == SIZE_MAX;
        aliased *a = &r->anchor[r->anchors++];
        *a = (aliased){.first = r->settings->count - value,
                       .last = value ? r->settings->count : 0,
                       .path = path,
                       .depth = r->depth};
        snprintf(a->name, sizeof a->name, "%.63s", (const char *)name);
    }
}

/* Adds a key below the first `above` bytes of the path. */
static calc_status add_key(reader *r, size_t above, const char *at, size_t length, yaml_mark_t mark)
{
    size_t dot = above > 0;
    if (above + dot + length > PATH_SIZE) {
        return wrong(r, mark, "the keys above this place are too long");
    }
    r->path[above] = '.';
    memcpy(r->path + above + dot, at, length);
    r->path_length = above + dot + length;
    drop_merged(r);
    r->path[r->path_length] = '\0';
    size_t from = r->first[r->depth];
    for (size_t i = from; r->json && !r->whole && i < r->settings->count && i < from + SIBLINGS;
         i++) {
        if (strcmp(r->settings->item[i].key, r->path) == 0) {
            return wrong(r, mark, "the key is given twice");
        }
    }
    calc_setting *setting = calc_settings_add(r->settings, r->path, r->path_length);
    if (!setting) {
        return r->settings->count < CALC_SETTINGS_MAX ? CALC_ERR_NOMEM
                                                      : wrong(r, mark, CALC_SETTINGS_TOO_MANY);
    }
    setting->line = (int)mark.line + 1;
    setting->column = (int)mark.column + 1;
    return CALC_OK;
}

static calc_status take_text(reader *r, const char *at, size_t length, yaml_mark_t mark)
{
    if (r->key) {
        r->key = false;
        r->merge = length == 2 && memcmp(at, "<<", 2) == 0;
        r->path_length = r->above[r->depth];
        r->item[r->depth] = 0;
        return length == 0 ? wrong(r, mark, r->expected)
               : r->merge  ? CALC_OK
                           : add_key(r, r->path_length, at, length, mark);
    }
    r->key = r->lists == 0;
    if (r->merge) {
        return CALC_OK; /* of no mapping */
    }
    calc_setting *last = &r->settings->item[r->settings->count - 1];
    return calc_setting_append(last, at, length) ? CALC_OK : CALC_ERR_NOMEM;
}

/* The value, or the settings below the key, for which an alias stands. One that is not known keeps
 * its name: if it is read, the message shows it. */
static calc_status take_alias(reader *r, const char *name, yaml_mark_t mark)
{
    const aliased *a = NULL;
    for (size_t i = 0; i < r->anchors; i++) {
        a = strcmp(r->anchor[i].name, name) == 0 && r->anchor[i].last ? &r->anchor[i] : a;
    }
    if (!a || r->key || (a->path == SIZE_MAX && r->merge)) {
        char text[64];
        int length = snprintf(text, sizeof text, "*%.60s", name);
        return r->depth == 0 ? wrong(r, mark, r->expected)
                             : take_text(r, text, (size_t)length, mark);
    }
    if (a->path == SIZE_MAX) {
        const calc_setting *value = &r->settings->item[a->first];
        return take_text(r, value->value, value->length, mark);
    }
    size_t below = r->path_length, last = r->settings->count;
    calc_status status = CALC_OK;
    r->merged = false;
    for (size_t i = a->first; i < a->last && i < last && status == CALC_OK; i++) {
        const calc_setting of = r->settings->item[i]; /* the list may move */
        const char *key = of.key + a->path + (of.key[a->path] == '.');
        status = add_key(r, below, key, strlen(key), mark);
        if (status == CALC_OK &&
            !calc_setting_append(&r->settings->item[r->settings->count - 1], of.value, of.length)) {
            status = CALC_ERR_NOMEM;
        }
    }
    r->path_length = below;
    r->merged = true;
    r->key = r->lists == 0;
    return status;
}

static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

/* Takes what stands for a variable of the environment that is not set: "${TP:4}", "${TP:-4}", and
 * "${oc.env:TP,4}" of OmegaConf. */
static const char *absent_variable(const char *at, size_t *length)
{
    if (strncmp(at, "${", 2) != 0) {
        return at;
    }
    size_t before = strncmp(at, "${oc.env:", 9) == 0 ? 9 : 2, name = strspn(at + before, capitals);
    const char *value = at + before + name + 1, *end = at + *length - 1;
    bool given = name > 0 && value[-1] == (before == 9 ? ',' : ':');
    if (!given || *end != '}' || memchr(value, '$', (size_t)(end - value))) {
        return at;
    }
    value += strspn(value, before == 9 ? " '\"" : "-");
    *length = strcspn(value, "}'\"");
    return value;
}

static calc_status take_single(reader *r, const yaml_event_t *event)
{
    const char *at = (const char *)event->data.scalar.value;
    if (event->type == YAML_ALIAS_EVENT) {
        return take_alias(r, (const char *)event->data.alias.anchor, event->start_mark);
    }
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    bool null = plain && (!*at || strcmp(at, "null") == 0 || strcmp(at, "~") == 0);
    if (r->depth == 0) {
        return null ? CALC_OK : wrong(r, event->start_mark, r->expected);
    }
    char number[64];
    size_t length = event->data.scalar.length, digits = 0;
    bool parted = plain && !r->key && length < sizeof number && strchr(at, '_') &&
                  isdigit((unsigned char)*at) && strspn(at, "0123456789_") == length;
    for (size_t i = 0; parted && i < length; i++) { /* 500_000 */
        number[digits] = at[i];
        digits += at[i] != '_';
    }
    if (!r->key) {
        open_anchor(r, event->data.scalar.anchor, SIZE_MAX);
    }
    length = parted ? digits : null && !r->key ? 0 : length;
    at = parted || r->key || r->json ? at : absent_variable(at, &length);
    calc_status status = take_text(r, parted ? number : at, length, event->start_mark);
    if (status == CALC_OK && null && r->lists == 0 && r->settings->count > 0) {
        r->settings->item[r->settings->count - 1].null = r->key && *event->data.scalar.value;
    }
    return status;
}

static calc_status open_mapping(reader *r, yaml_mark_t mark)
{
    if (r->lists > 0 && !r->whole) {
        r->skipped = 1;
        return CALC_OK;
    }
    if (r->depth == DEPTH) {
        return wrong(r, mark, "nested too deeply");
    }
    r->key_length[r->depth + 1] = r->path_length;
    if (r->lists > 0) {
        int length = snprintf(r->path + r->path_length, PATH_SIZE - r->path_length, ".%d",
                              r->item[r->depth]++);
        if (r->path_length + (size_t)length >= PATH_SIZE) {
            return wrong(r, mark, "the keys above this place are too long");
        }
        r->path_length += (size_t)length;
    }
    r->outer[++r->depth] = r->lists;
    r->item[r->depth] = r->lists = 0;
    r->above[r->depth] = r->path_length;
    r->first[r->depth] = r->settings->count;
    r->key = true;
    return CALC_OK;
}

static calc_status take(reader *r, const yaml_event_t *event)
{
    bool opens =
        event->type == YAML_MAPPING_START_EVENT || event->type == YAML_SEQUENCE_START_EVENT;
    bool closes = event->type == YAML_MAPPING_END_EVENT || event->type == YAML_SEQUENCE_END_EVENT;
    /* libyaml looks at every open bracket for every token. */
    r->open += opens - closes;
    if (r->open > MOST_OPEN) {
        return wrong(r, event->start_mark, "nested too deeply");
    }
    if (r->skipped > 0) {
        r->skipped += opens - closes;
        return CALC_OK;
    }
    if (opens && (r->depth == 0 ? event->type != YAML_MAPPING_START_EVENT : r->key)) {
        return wrong(r, event->start_mark, r->expected);
    }
    switch (event->type) {
    case YAML_MAPPING_START_EVENT: {
        calc_status status = open_mapping(r, event->start_mark);
        if (status == CALC_OK && r->skipped == 0) {
            open_anchor(r, event->data.mapping_start.anchor, r->path_length);
        }
        return status;
    }
    case YAML_MAPPING_END_EVENT:
        for (size_t i = 0; i < r->anchors; i++) {
            aliased *a = &r->anchor[i];
            a->last = !a->last && a->depth == r->depth ? r->settings->count : a->last;
        }
        r->path_length = r->key_length[r->depth];
        r->lists = r->outer[r->depth--];
        r->key = r->lists == 0;
        return CALC_OK;
    case YAML_SEQUENCE_START_EVENT:
        open_anchor(r, event->data.sequence_start.anchor, SIZE_MAX);
        r->lists++;
        r->key = false;
        return CALC_OK;
    case YAML_SEQUENCE_END_EVENT:
        r->key = --r->lists == 0;
        return CALC_OK;
    case YAML_ALIAS_EVENT:
    case YAML_SCALAR_EVENT:
        return take_single(r, event);
    default: /* the start or the end of the stream or of a document */
        return CALC_OK;
    }
}

static calc_status read_events(calc_settings *settings, calc_syntax syntax, const char *text,
                               size_t length, const char *name, calc_errors *errors)
{
    bool json = syntax == CALC_SYNTAX_JSON || syntax == CALC_SYNTAX_JSON_WHOLE;
    reader reads = {.settings = settings,
                    .text = text,
                    .length = length,
                    .name = name,
                    .errors = errors,
                    .whole = syntax >= CALC_SYNTAX_JSON_WHOLE,
                    .json = json,
                    .expected = json ? "expected an object {...}" : "expected \"key: value\""};
    reader *r = &reads;
    yaml_parser_t parser;
    bool done = false;
    calc_json_mistake mistake;
    if (json && calc_json_syntax_check(text, length, true, &mistake)) {
        calc_json_place place = calc_json_scan_place(text, length, mistake.offset);
        return calc_errors_at(errors, CALC_ERR_SYNTAX, name, place.line, place.column, mistake.hint,
                              "%s", mistake.text);
    }
    if (!yaml_parser_initialize(&parser)) {
        return CALC_ERR_NOMEM;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    calc_status status = CALC_OK;
    while (status == CALC_OK && !done) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            status = refuse(r, &parser);
        } else {
            done = event.type == YAML_STREAM_END_EVENT;
            status = take(r, &event);
            yaml_event_delete(&event);
        }
    }
    yaml_parser_delete(&parser);
    return status;
}

/* What the containers of a manifest of Kubernetes or of a compose file run, as a script: command:
 * ["vllm", "serve"], args: [...], behind variables that they set; keys of the engine in a
 * configuration of Ray Serve are options.
 * @param script  filled; empty: it is none */
static bool put_containers(const calc_settings *whole, calc_setting *script)
{
    const char *name = "", *before = NULL;
    const calc_setting *image = NULL; /* the program, where a command has none */
    int kinds = 0;
    bool good = true, runs = calc_settings_last(whole, "kind") != NULL;
    for (size_t i = 0; i < 2 * whole->count && good; i++) { /* variables, and then commands */
        const calc_setting *s = &whole->item[i < whole->count ? i : i - whole->count];
        const char *dot = strrchr(s->key, '.'), *last = dot ? dot + 1 : "";
        bool env = strstr(s->key, ".env.") && strcmp(last, "value") == 0;
        char text[300] = "";
        before = before && !dot ? "" : before; /* another document */
        kinds += i < whole->count && strcmp(s->key, "kind") == 0;
        name = strcmp(last, "name") == 0 ? s->value : name;
        image = strcmp(last, "image") == 0 ? s : image;
        runs = runs || strncmp(s->key, "services.", 9) == 0;
        if (i < whole->count && runs && (env || strstr(s->key, ".environment."))) {
            snprintf(text, sizeof text, "%s='%s'\n", env ? name : last, s->value);
        } else if (i >= whole->count && strstr(s->key, ".engine_kwargs.")) {
            snprintf(text, sizeof text, "--%s %s", last, s->value);
            before = s->key;
        } else if (i >= whole->count && runs && calc_is_word("command args entrypoint", last)) {
            size_t above = (size_t)(last - s->key);
            bool same =
                before && strncmp(before, s->key, above) == 0 && !strchr(before + above, '.');
            size_t from = script->length;
            bool starts =
                !same && *s->value == '-' && image && strncmp(image->key, s->key, above) == 0;
            good = (same || calc_setting_append(script, "\n", 1)) &&
                   (!starts || calc_setting_append(script, image->value, image->length)) &&
                   (same || starts || kinds < 2 || *s->value != '-' ||
                    calc_setting_append(script, s->key, above)) &&
                   calc_setting_append(script, s->value, s->length);
            char *at = good && script->value ? strstr(script->value + from, "$(") : NULL;
            for (; at; at = strstr(at + 2, "$(")) { /* $(TP) is one of the variables */
                size_t letters = strspn(at + 2, capitals);
                if (letters > 0 && at[2 + letters] == ')') {
                    at[1] = '{';
                    at[2 + letters] = '}';
                }
            }
            before = s->key;
        }
        size_t length = strlen(text); /* a longer one is left out */
        good = good && calc_setting_append(script, text, length + 1 < sizeof text ? length : 0);
    }
    script->length = before ? script->length : 0;
    return good;
}

calc_status calc_settings_from_manifest(calc_settings *settings, const char *text, size_t length,
                                        const char *name, calc_errors *errors)
{
    calc_settings whole = {0};
    calc_setting script = {.value = NULL};
    calc_status status = read_events(&whole, CALC_SYNTAX_YAML_WHOLE, text, length, name, errors);
    if (status == CALC_OK) {
        status = put_containers(&whole, &script) ? CALC_OK : CALC_ERR_NOMEM;
    }
    if (status == CALC_OK && script.length > 0) {
        status = calc_settings_from_script(settings, script.value, script.length, name);
    }
    for (size_t i = 0; status == CALC_OK && script.length > 0 && i < whole.count; i++) {
        const char *dot = strrchr(whole.item[i].key, '.');
        if (dot && calc_is_word("replicas minReplicas", dot + 1) &&
            strcmp(whole.item[i].value, "1") != 0 && /* copies of the server: not read, but told */
            !calc_settings_put(settings, dot + 1, whole.item[i].value)) {
            status = CALC_ERR_NOMEM;
        }
    }
    free(script.value);
    calc_settings_free(&whole);
    return status;
}

calc_status calc_settings_from_text(calc_settings *settings, calc_syntax syntax, const char *text,
                                    size_t length, const char *name, calc_errors *errors)
{
    if (syntax == CALC_SYNTAX_TOML) {
        return calc_settings_from_toml(settings, text, length, name, errors);
    }
    if (syntax != CALC_SYNTAX_SHELL) {
        return read_events(settings, syntax, text, length, name, errors);
    }
    calc_status status = calc_settings_from_script(settings, text, length, name);
    return status != CALC_OK && settings->count == CALC_SETTINGS_MAX
               ? calc_errors_at(errors, CALC_ERR_SYNTAX, name, 0, 0, NULL, CALC_SETTINGS_TOO_MANY)
               : status;
}

const char *calc_settings_yaml_library(void)
{
    return yaml_get_version_string();
}
