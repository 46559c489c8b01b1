/* Reads YAML, and JSON as YAML's flow style: mappings become dotted keys. libyaml provides the
 * events; this file interprets them. */
#include "formats/read.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/error.h"
#include "io/json_scan.h"
#include "io/json_syntax.h"

enum { DEPTH = 16, PATH_SIZE = 512, MOST_OPEN = 256 };

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
    bool key;                              /* the next scalar is a key */
    int open;                              /* collections of any kind */
    int lists;                             /* open lists */
    int skipped;                           /* collections open inside a mapping in a list */
    bool whole;                            /* no mapping is skipped; for each that is open, */
    int outer[DEPTH + 1], item[DEPTH + 1]; /* the lists around it, and its items so far */
    size_t key_length[DEPTH + 1];          /* the path of the key that it is the value of */
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

static calc_status take_key(reader *r, const char *at, size_t length, yaml_mark_t mark)
{
    size_t above = r->above[r->depth];
    size_t dot = above > 0;
    if (length == 0) {
        return wrong(r, mark, r->expected);
    }
    if (above + dot + length > PATH_SIZE) {
        return wrong(r, mark, "the keys above this place are too long");
    }
    r->path[above] = '.';
    memcpy(r->path + above + dot, at, length);
    r->path_length = above + dot + length;
    calc_setting *setting = calc_settings_add(r->settings, r->path, r->path_length);
    if (!setting) {
        return r->settings->count < CALC_SETTINGS_MAX ? CALC_ERR_NOMEM
                                                      : wrong(r, mark, CALC_SETTINGS_TOO_MANY);
    }
    r->item[r->depth] = 0;
    setting->line = (int)mark.line + 1;
    setting->column = (int)mark.column + 1;
    return CALC_OK;
}

static calc_status take_text(reader *r, const char *at, size_t length, yaml_mark_t mark)
{
    if (r->key) {
        r->key = false;
        return take_key(r, at, length, mark);
    }
    r->key = r->lists == 0;
    calc_setting *last = &r->settings->item[r->settings->count - 1];
    return length == 0 || calc_setting_append(last, at, length) ? CALC_OK : CALC_ERR_NOMEM;
}

/* A scalar; aliases are not followed: if a value that is read uses one, the message shows it. */
static calc_status take_single(reader *r, const yaml_event_t *event)
{
    char alias[64];
    const char *at = (const char *)event->data.scalar.value;
    if (event->type == YAML_ALIAS_EVENT) {
        int length =
            snprintf(alias, sizeof alias, "*%.60s", (const char *)event->data.alias.anchor);
        return r->depth == 0 ? wrong(r, event->start_mark, r->expected)
                             : take_text(r, alias, (size_t)length, event->start_mark);
    }
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    bool null = plain && (!*at || strcmp(at, "null") == 0 || strcmp(at, "~") == 0);
    if (r->depth == 0) {
        return null ? CALC_OK : wrong(r, event->start_mark, r->expected);
    }
    return take_text(r, at, null && !r->key ? 0 : event->data.scalar.length, event->start_mark);
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
    case YAML_MAPPING_START_EVENT:
        return open_mapping(r, event->start_mark);
    case YAML_MAPPING_END_EVENT:
        r->path_length = r->key_length[r->depth];
        r->lists = r->outer[r->depth--];
        r->key = r->lists == 0;
        return CALC_OK;
    case YAML_SEQUENCE_START_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        r->lists += opens - closes;
        r->key = r->lists == 0;
        return CALC_OK;
    case YAML_ALIAS_EVENT:
    case YAML_SCALAR_EVENT:
        return take_single(r, event);
    default: /* the start or the end of the stream or of a document */
        return CALC_OK;
    }
}

static calc_status read_events(reader *r)
{
    yaml_parser_t parser;
    bool done = false;
    if (!yaml_parser_initialize(&parser)) {
        return CALC_ERR_NOMEM;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)r->text, r->length);
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

calc_status calc_settings_from_yaml(calc_settings *settings, const char *text, size_t length,
                                    const char *name, calc_errors *errors)
{
    return read_events(&(reader){.settings = settings,
                                 .text = text,
                                 .length = length,
                                 .name = name,
                                 .errors = errors,
                                 .expected = "expected \"key: value\""});
}

static calc_status read_json(calc_settings *settings, bool whole, const char *text, size_t length,
                             const char *name, calc_errors *errors)
{
    calc_json_mistake mistake;
    if (calc_json_syntax_check(text, length, true, &mistake)) {
        calc_json_place place = calc_json_scan_place(text, length, mistake.offset);
        return calc_errors_at(errors, CALC_ERR_SYNTAX, name, place.line, place.column, mistake.hint,
                              "%s", mistake.text);
    }
    return read_events(&(reader){.settings = settings,
                                 .text = text,
                                 .length = length,
                                 .name = name,
                                 .errors = errors,
                                 .whole = whole,
                                 .expected = "expected an object {...}"});
}

calc_status calc_settings_from_json(calc_settings *settings, const char *text, size_t length,
                                    const char *name, calc_errors *errors)
{
    return read_json(settings, false, text, length, name, errors);
}

calc_status calc_settings_from_json_whole(calc_settings *settings, const char *text, size_t length,
                                          const char *name, calc_errors *errors)
{
    return read_json(settings, true, text, length, name, errors);
}

calc_status calc_settings_from_text(calc_settings *settings, calc_syntax syntax, const char *text,
                                    size_t length, const char *name, calc_errors *errors)
{
    switch (syntax) {
    case CALC_SYNTAX_YAML:
        return calc_settings_from_yaml(settings, text, length, name, errors);
    case CALC_SYNTAX_JSON:
        return calc_settings_from_json(settings, text, length, name, errors);
    case CALC_SYNTAX_TOML:
        return calc_settings_from_toml(settings, text, length, name, errors);
    default: {
        calc_status status = calc_settings_from_script(settings, text, length);
        return status != CALC_OK && settings->count == CALC_SETTINGS_MAX
                   ? calc_errors_at(errors, CALC_ERR_SYNTAX, name, 0, 0, NULL,
                                    CALC_SETTINGS_TOO_MANY)
                   : status;
    }
    }
}

const char *calc_settings_yaml_library(void)
{
    return yaml_get_version_string();
}
