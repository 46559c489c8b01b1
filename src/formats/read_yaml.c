#include "formats/yaml_edit.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/buffer.h"
#include "base/error.h"
#include "formats/export.h"
#include "formats/read.h"
#include "formats/settings.h"
#include "io/json_report.h"

/* Reads YAML, and JSON as YAML's flow style: mappings become dotted keys. libyaml provides the
 * events; this file interprets them. */

enum { DEPTH = 16, PATH_SIZE = 512, MOST_OPEN = 256, ANCHORS = 256 };

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
    char path[PATH_SIZE];
    bool key;    /* the next scalar is a key */
    int open;    /* collections of any kind */
    int lists;   /* open lists */
    int skipped; /* collections open inside a mapping in a list */
    bool json;
    bool whole;                            /* no mapping is skipped; for each that is open, */
    int outer[DEPTH + 1], item[DEPTH + 1]; /* the lists around it, and its items so far */
    size_t key_length[DEPTH + 1];          /* the path of the key that it is the value of */
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
            calc_setting_free(item);
            memmove(item, item + 1, (r->settings->count-- - i) * sizeof *item);
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

static bool is_null(const yaml_event_t *event)
{
    const char *at = (const char *)event->data.scalar.value;
    return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (!*at || strcmp(at, "null") == 0 || strcmp(at, "~") == 0);
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
    bool null = is_null(event);
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
    return take_text(r, parted ? number : at, length, event->start_mark);
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

/* What the containers of a manifest of Kubernetes run, as a script: command: ["vllm", "serve"],
 * args: [...], behind variables that they set.
 * @param script  filled; empty: it is none */
static bool put_containers(const calc_settings *whole, calc_setting *script)
{
    const char *name = "", *before = NULL;
    bool good = true;
    for (size_t i = 0; i < 2 * whole->count && good; i++) { /* variables, and then commands */
        const calc_setting *s = &whole->item[i < whole->count ? i : i - whole->count];
        const char *dot = strrchr(s->key, '.'), *last = dot ? dot + 1 : "";
        name = strcmp(last, "name") == 0 ? s->value : name;
        if (!dot || !strstr(s->key, "ontainers.")) {
            continue;
        }
        if (i < whole->count && strstr(s->key, ".env.") && strcmp(last, "value") == 0) {
            char variable[300];
            int size = snprintf(variable, sizeof variable, "%s='%s'\n", name, s->value);
            good =
                size >= (int)sizeof variable || calc_setting_append(script, variable, (size_t)size);
        } else if (i >= whole->count && calc_is_word(" command args ", last)) {
            size_t above = (size_t)(last - s->key);
            bool same =
                before && strncmp(before, s->key, above) == 0 && !strchr(before + above, '.');
            size_t from = script->length;
            good = (same || calc_setting_append(script, "\n", 1)) &&
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
    if (status == CALC_OK && calc_settings_last(&whole, "kind")) {
        status = put_containers(&whole, &script) ? CALC_OK : CALC_ERR_NOMEM;
    }
    if (status == CALC_OK && script.length > 0) {
        status = calc_settings_from_script(settings, script.value, script.length, name);
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

/* Finds the places of keys and values in a YAML file from the marks of libyaml's events. Marks
 * count characters, not bytes. */

enum { LEVELS = 64 };

/* An open collection. */
typedef struct level {
    bool maps, flow, key, hit;
    int depth; /* segments of the path above its keys; -1: not on the path */
} level;

typedef struct finder {
    const char *text;
    size_t length;
    calc_yaml_path *path;
    level level[LEVELS];
    int levels;
    size_t last;          /* byte at which the content so far ends */
    size_t byte, counted; /* byte of the character with index `counted` */
} finder;

/* The byte of a character. Marks are almost in order, so that counting continues from the last
 * one. */
static size_t byte_of(finder *e, yaml_mark_t mark)
{
    if (mark.index < e->counted) {
        e->counted = 0;
        e->byte = e->length >= 3 && memcmp(e->text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    }
    while (e->counted < mark.index && e->byte < e->length) {
        e->byte++;
        while (e->byte < e->length && ((unsigned char)e->text[e->byte] & 0xC0) == 0x80) {
            e->byte++;
        }
        e->counted++;
    }
    return e->byte;
}

static level *top(finder *e)
{
    return e->levels > 0 ? &e->level[e->levels - 1] : NULL;
}

static void enter_key(finder *e, const yaml_event_t *event)
{
    level *l = top(e);
    l->key = false;
    l->hit = false;
    if (l->depth < 0) {
        return;
    }
    calc_yaml_mapping *m = &e->path->mapping[l->depth];
    if (!m->filled) {
        m->filled = true;
        m->column = event->start_mark.column;
    }
    const char *name = (const char *)event->data.scalar.value;
    l->hit = event->type == YAML_SCALAR_EVENT &&
             event->data.scalar.length == e->path->segment_length[l->depth] &&
             memcmp(name, e->path->segment[l->depth], event->data.scalar.length) == 0;
    if (l->hit) {
        for (int i = l->depth; i < e->path->segments; i++) {
            e->path->value[i] = (calc_yaml_value){.found = false};
            if (i > l->depth) {
                e->path->mapping[i] = (calc_yaml_mapping){.found = false};
            }
        }
        e->path->value[l->depth].found = true;
        e->path->value[l->depth].key_end = byte_of(e, event->end_mark);
        e->path->value[l->depth].key_line = event->end_mark.line;
    }
}

static void begin_value(finder *e, const yaml_event_t *event)
{
    calc_yaml_value *v = &e->path->value[top(e)->depth];
    const yaml_char_t *anchor =
        event->type == YAML_SCALAR_EVENT           ? event->data.scalar.anchor
        : event->type == YAML_SEQUENCE_START_EVENT ? event->data.sequence_start.anchor
        : event->type == YAML_MAPPING_START_EVENT  ? event->data.mapping_start.anchor
                                                   : NULL;
    v->start = byte_of(e, event->start_mark);
    v->line = event->start_mark.line;
    v->column = event->start_mark.column;
    v->null = event->type == YAML_SCALAR_EVENT && is_null(event);
    snprintf(v->anchor, sizeof v->anchor, "%s", anchor ? (const char *)anchor : "");
}

static void end_value(finder *e)
{
    level *l = top(e);
    if (l && l->maps) {
        if (l->hit) {
            e->path->value[l->depth].end = e->last;
        }
        l->key = true;
        l->hit = false;
    }
}

static bool open_level(finder *e, const yaml_event_t *event)
{
    bool maps = event->type == YAML_MAPPING_START_EVENT;
    level *above = top(e);
    int depth = -1;
    if (e->levels == LEVELS) {
        return false;
    }
    if (!above) {
        depth = maps ? 0 : -1;
    } else if (maps && above->maps && above->hit && above->depth + 1 < e->path->segments) {
        depth = above->depth + 1;
    }
    bool flow = maps ? event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE
                     : event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
    if (depth >= 0) {
        e->path->mapping[depth] = (calc_yaml_mapping){.found = true, .flow = flow};
    }
    e->level[e->levels++] = (level){.maps = maps, .flow = flow, .key = maps, .depth = depth};
    return true;
}

static void close_level(finder *e, const yaml_event_t *event)
{
    level closed = e->level[--e->levels];
    size_t last = e->last;
    if (closed.flow) {
        e->last = byte_of(e, event->end_mark);
    }
    if (closed.depth >= 0) {
        e->path->mapping[closed.depth].last = last;
        e->path->mapping[closed.depth].close = byte_of(e, event->start_mark);
    }
    end_value(e);
}

static bool follow(finder *e, const yaml_event_t *event)
{
    bool opens =
        event->type == YAML_MAPPING_START_EVENT || event->type == YAML_SEQUENCE_START_EVENT;
    bool closes = event->type == YAML_MAPPING_END_EVENT || event->type == YAML_SEQUENCE_END_EVENT;
    bool single = event->type == YAML_SCALAR_EVENT || event->type == YAML_ALIAS_EVENT;
    level *l = top(e);
    if (single) {
        e->last = byte_of(e, event->end_mark);
    }
    if ((opens || single) && l && l->maps && l->key) {
        enter_key(e, event);
        return !opens; /* keys that are collections have been refused before */
    }
    if ((opens || single) && l && l->maps && l->hit) {
        begin_value(e, event);
    }
    if (opens) {
        return open_level(e, event);
    }
    if (closes) {
        close_level(e, event);
    } else if (single) {
        end_value(e);
    }
    return true;
}

/* Finds a key in the first document of a text that calc_settings_from_text() has accepted. If the
 * key is repeated, CALC_SYNTAX_YAML, the last one counts.
 * @return CALC_OK, found or not; CALC_ERR_SYNTAX if the text is nested too deeply or was not
 * accepted; CALC_ERR_NOMEM */
static calc_status calc_yaml_path_find(calc_yaml_path *out, const char *key, const char *text,
                                       size_t length)
{
    finder found = {.path = out, .text = text, .length = length, .counted = SIZE_MAX};
    finder *e = &found;
    yaml_parser_t parser;
    *out = (calc_yaml_path){.segments = 0};
    for (const char *at = key; *at && e->path->segments < CALC_YAML_SEGMENTS; at += *at == '.') {
        e->path->segment[e->path->segments] = at;
        e->path->segment_length[e->path->segments] = strcspn(at, ".");
        at += e->path->segment_length[e->path->segments++];
    }
    if (!yaml_parser_initialize(&parser)) {
        return CALC_ERR_NOMEM;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)e->text, e->length);
    bool done = false;
    calc_status status = CALC_OK;
    while (status == CALC_OK && !done) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            status = parser.error == YAML_MEMORY_ERROR ? CALC_ERR_NOMEM : CALC_ERR_SYNTAX;
        } else {
            done = event.type == YAML_DOCUMENT_END_EVENT || event.type == YAML_STREAM_END_EVENT;
            status = follow(e, &event) ? CALC_OK : CALC_ERR_SYNTAX;
            yaml_event_delete(&event);
        }
    }
    yaml_parser_delete(&parser);
    return status;
}

/* Replaces the bytes [from, to). */
static bool splice(calc_text *text, size_t from, size_t to, const char *insert)
{
    size_t added = strlen(insert);
    char *data = malloc(text->length - (to - from) + added + 1);
    if (!data) {
        return false;
    }
    memcpy(data, text->data, from);
    memcpy(data + from, insert, added);
    memcpy(data + from + added, text->data + to, text->length - to);
    text->length += added - (to - from);
    data[text->length] = '\0';
    free(text->data);
    text->data = data;
    return true;
}

static size_t line_start(const calc_text *text, size_t at)
{
    while (at > 0 && text->data[at - 1] != '\n') {
        at--;
    }
    return at;
}

/* The position after the line that ends the content before `at`. */
static size_t line_after(const calc_text *text, size_t at)
{
    if (at > 0 && text->data[at - 1] == '\n') {
        return at;
    }
    const char *end = memchr(text->data + at, '\n', text->length - at);
    return end ? (size_t)(end - text->data) + 1 : text->length;
}

/* Joins a list of pieces into one new text. */
static char *join(const char *a, const char *b, const char *c, const char *d)
{
    size_t size = strlen(a) + strlen(b) + strlen(c) + strlen(d) + 1;
    char *text = malloc(size);
    if (text) {
        snprintf(text, size, "%s%s%s%s", a, b, c, d);
    }
    return text;
}

/* @param of  the mapping that contains the value */
static bool replace(calc_text *text, const calc_yaml_value *v, const calc_yaml_mapping *of,
                    const char *with)
{
    const char *colon = memchr(text->data + v->key_end, ':', text->length - v->key_end);
    size_t at = colon ? (size_t)(colon - text->data) + 1 : v->start;
    bool below = !v->null && !of->flow && v->line > v->key_line && at <= line_start(text, v->start);
    bool beside = v->end > v->start;
    const char *blank = below || !beside ? " " : "";
    char *insert = v->anchor[0] ? join(blank, "&", v->anchor, " ") : join(blank, "", "", "");
    char *whole = insert ? join(insert, with, "", "") : NULL;
    bool done = whole != NULL;
    if (done && below) {
        done = splice(text, line_start(text, v->start), line_after(text, v->end), "") &&
               splice(text, at, at, whole);
    } else if (done) {
        bool line = beside && text->data[v->end - 1] == '\n'; /* of a block of text */
        done = splice(text, v->start, v->end - line, whole);
    }
    free(insert);
    free(whole);
    return done;
}

/* Writes the keys from `depth` on with the value, as a flow mapping: "a: {b: 1}". */
static char *nest(const calc_yaml_path *e, int depth, const char *with)
{
    char *text = join(with, "", "", "");
    for (int i = e->segments - 1; i >= depth && text; i--) {
        char name[256];
        snprintf(name, sizeof name, "%.*s: %s", (int)e->segment_length[i], e->segment[i],
                 i < e->segments - 1 ? "{" : "");
        char *next = join(name, text, i < e->segments - 1 ? "}" : "", "");
        free(text);
        text = next;
    }
    return text;
}

/* Adds an entry to a mapping, which has it on a line of its own unless it is in braces. */
static bool add(calc_text *text, const calc_yaml_mapping *m, const char *entry)
{
    size_t column = m->flow ? 0 : m->column;
    char *indent = malloc(column + 1);
    size_t at = m->flow ? (m->filled ? m->last : m->close) : line_after(text, m->last);
    bool newline = !m->flow && at > 0 && text->data[at - 1] != '\n';
    if (!indent) {
        return false;
    }
    memset(indent, ' ', column);
    indent[column] = '\0';
    char *insert = m->flow ? join(m->filled ? ", " : "", entry, "", "")
                           : join(newline ? "\n" : "", indent, entry, newline ? "" : "\n");
    bool done = insert && splice(text, at, at, insert);
    free(insert);
    free(indent);
    return done;
}

static calc_status edit_one(calc_text *text, const calc_yaml_edit *edit, const char *name,
                            calc_errors *errors)
{
    calc_yaml_path e;
    calc_status status = calc_yaml_path_find(&e, edit->key, text->data, text->length);
    if (status != CALC_OK) {
        return status == CALC_ERR_NOMEM ? status
                                        : calc_errors_at(errors, status, name, 1, 1, NULL,
                                                         "nested too deeply, or not in one way");
    }
    int depth = 0;
    while (depth + 1 < e.segments && e.value[depth].found && e.mapping[depth + 1].found) {
        depth++;
    }
    bool done;
    if (e.value[depth].found && depth == e.segments - 1) {
        done = replace(text, &e.value[depth], &e.mapping[depth], edit->value);
    } else if (e.value[depth].found) {
        if (!e.value[depth].null) {
            return calc_errors_at(errors, CALC_ERR_SYNTAX, name, (int)e.value[depth].line + 1,
                                  (int)e.value[depth].column + 1, NULL,
                                  "%.*s: expected keys below it, to put %s there",
                                  (int)e.segment_length[depth], e.segment[depth],
                                  e.segment[depth + 1]);
        }
        char *entry = nest(&e, depth + 1, edit->value);
        char *whole = entry ? join("{", entry, "}", "") : NULL;
        done = whole && replace(text, &e.value[depth], &e.mapping[depth], whole);
        free(entry);
        free(whole);
    } else if (e.mapping[depth].found) {
        char *entry = nest(&e, depth, edit->value);
        done = entry && add(text, &e.mapping[depth], entry);
        free(entry);
    } else {
        return calc_errors_at(errors, CALC_ERR_SYNTAX, name, 1, 1, NULL,
                              "expected \"key: value\", to put %s there", edit->key);
    }
    return done ? CALC_OK : CALC_ERR_NOMEM;
}

/* Whether a key, or a key below it, exists. */
static bool has_key(const calc_settings *settings, const char *key)
{
    size_t length = strlen(key);
    for (size_t i = 0; i < settings->count; i++) {
        const char *found = settings->item[i].key;
        if (strncmp(found, key, length) == 0 && (!found[length] || found[length] == '.')) {
            return true;
        }
    }
    return false;
}

/* Reads the result back before returning it, because YAML has places where a value cannot simply be
 * inserted. */
static calc_status check_edited(const calc_text *text, const calc_yaml_edit *edits, size_t count,
                                const char *name, calc_errors *errors)
{
    calc_settings settings = {0};
    calc_errors ignored = {0};
    calc_status status = calc_settings_from_text(&settings, CALC_SYNTAX_YAML, text->data,
                                                 text->length, name, &ignored);
    for (size_t i = 0; i < count && status != CALC_ERR_NOMEM; i++) {
        if (status != CALC_OK || !has_key(&settings, edits[i].key)) {
            status = calc_errors_at(errors, CALC_ERR_SYNTAX, name, 1, 1,
                                    "write each key on a line of its own, and its value beside it",
                                    "%s cannot be changed in this text", edits[i].key);
            break;
        }
    }
    calc_settings_free(&settings);
    return status;
}

calc_status calc_yaml_edit_text(const char *text, size_t length, const char *name,
                                const calc_yaml_edit *edits, size_t count, calc_text *out,
                                calc_errors *errors)
{
    calc_settings settings = {0};
    calc_text edited = {malloc(length + 1), length};
    bool wide =
        length >= 2 && (memcmp(text, "\xFE\xFF", 2) == 0 || memcmp(text, "\xFF\xFE", 2) == 0);
    if (!edited.data) {
        return calc_errors_no_memory(errors);
    }
    memcpy(edited.data, text, length);
    edited.data[length] = '\0';
    calc_status status =
        wide ? calc_errors_at(errors, CALC_ERR_SYNTAX, name, 1, 1, NULL, "expected UTF-8")
             : calc_settings_from_text(&settings, CALC_SYNTAX_YAML, text, length, name, errors);
    calc_settings_free(&settings);
    for (size_t i = 0; i < count && status == CALC_OK; i++) {
        status = edit_one(&edited, &edits[i], name, errors);
    }
    if (status == CALC_OK) {
        status = check_edited(&edited, edits, count, name, errors);
    }
    if (status != CALC_OK) {
        calc_text_free(&edited);
        return status == CALC_ERR_NOMEM ? calc_errors_no_memory(errors) : status;
    }
    *out = edited;
    return CALC_OK;
}
