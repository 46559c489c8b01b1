/* Finds the places of keys and values in a YAML file from the marks of libyaml's events. Marks
 * count characters, not bytes. */
#include "formats/yaml_path.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

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

static void take_key(finder *e, const yaml_event_t *event)
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

static bool is_null(const yaml_event_t *event)
{
    const char *at = (const char *)event->data.scalar.value;
    return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (!*at || strcmp(at, "null") == 0 || strcmp(at, "~") == 0);
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

static bool take(finder *e, const yaml_event_t *event)
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
        take_key(e, event);
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

calc_status calc_yaml_path_find(calc_yaml_path *out, const char *key, const char *text,
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
            status = take(e, &event) ? CALC_OK : CALC_ERR_SYNTAX;
            yaml_event_delete(&event);
        }
    }
    yaml_parser_delete(&parser);
    return status;
}
