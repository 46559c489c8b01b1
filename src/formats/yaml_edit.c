#include "formats/yaml_edit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formats/read.h"
#include "formats/settings.h"
#include "formats/yaml_path.h"

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

/* Describes why a key cannot hold other keys. */
static calc_status refuse(const calc_yaml_path *e, int depth, const char *name, calc_errors *errors)
{
    const calc_yaml_value *v = &e->value[depth];
    return calc_errors_at(errors, CALC_ERR_SYNTAX, name, (int)v->line + 1, (int)v->column + 1, NULL,
                          "%.*s: expected keys below it, to put %s there",
                          (int)e->segment_length[depth], e->segment[depth], e->segment[depth + 1]);
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
            return refuse(&e, depth, name, errors);
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
    calc_status status =
        calc_settings_from_yaml(&settings, text->data, text->length, name, &ignored);
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
             : calc_settings_from_yaml(&settings, text, length, name, errors);
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
