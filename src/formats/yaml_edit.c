#include "formats/yaml_edit.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/buffer.h"
#include "base/error.h"
#include "formats/read.h"

/* Changes values at the marks of libyaml's nodes, which count characters, not bytes. */

static size_t byte_of(const calc_text *text, yaml_mark_t mark)
{
    bool begins = text->length >= 3 && memcmp(text->data, "\xEF\xBB\xBF", 3) == 0;
    size_t byte = begins ? 3 : 0;
    for (size_t i = 0; i < mark.index && byte < text->length; i++) {
        byte++;
        while (byte < text->length && ((unsigned char)text->data[byte] & 0xC0) == 0x80) {
            byte++;
        }
    }
    return byte;
}

/* The pair of a mapping with a key, the last of equal ones; NULL: there is none. */
static const yaml_node_pair_t *pair_of(yaml_document_t *document, const yaml_node_t *mapping,
                                       const char *key, size_t length)
{
    const yaml_node_pair_t *pair = mapping->data.mapping.pairs.top;
    while (pair-- > mapping->data.mapping.pairs.start) {
        const yaml_node_t *node = yaml_document_get_node(document, pair->key);
        if (node->type == YAML_SCALAR_NODE && node->data.scalar.length == length &&
            memcmp(node->data.scalar.value, key, length) == 0) {
            return pair;
        }
    }
    return NULL;
}

/* Where a value that stands behind a byte ends, without the comments behind it; an alias stands for
 * what is before it. @param start  set to where it begins */
static size_t span_of(const calc_text *text, yaml_document_t *document, int index, size_t after,
                      size_t *start)
{
    const yaml_node_t *node = yaml_document_get_node(document, index);
    *start = byte_of(text, node->start_mark);
    if (*start < after) {
        const char *star = memchr(text->data + after, '*', text->length - after);
        *start = star ? (size_t)(star - text->data) : after;
        return *start + strcspn(text->data + *start, " \t\r\n,]}");
    }
    size_t end = *start, ignored;
    if (node->type == YAML_MAPPING_NODE && node->data.mapping.style != YAML_FLOW_MAPPING_STYLE) {
        const yaml_node_pair_t *last = node->data.mapping.pairs.top - 1;
        const yaml_node_t *key = yaml_document_get_node(document, last->key);
        return span_of(text, document, last->value, byte_of(text, key->end_mark), &ignored);
    }
    if (node->type == YAML_SEQUENCE_NODE && node->data.sequence.style != YAML_FLOW_SEQUENCE_STYLE) {
        for (const yaml_node_item_t *i = node->data.sequence.items.start;
             i < node->data.sequence.items.top; i++) {
            end = span_of(text, document, *i, end, &ignored);
        }
        return end;
    }
    return byte_of(text, node->end_mark);
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

/* Replaces the value of a pair of a mapping. An anchor stays. */
static bool replace(calc_text *text, yaml_document_t *document, const yaml_node_t *mapping,
                    const yaml_node_pair_t *pair, const char *with)
{
    const yaml_node_t *key = yaml_document_get_node(document, pair->key);
    const yaml_node_t *value = yaml_document_get_node(document, pair->value);
    size_t key_end = byte_of(text, key->end_mark), start;
    size_t end = span_of(text, document, pair->value, key_end, &start);
    const char *colon = memchr(text->data + key_end, ':', text->length - key_end);
    size_t at = colon ? (size_t)(colon - text->data) + 1 : start;
    bool below = end > start && mapping->data.mapping.style != YAML_FLOW_MAPPING_STYLE &&
                 value->start_mark.line > key->end_mark.line && at <= line_start(text, start);
    int named = text->data[start] == '&' ? (int)strcspn(text->data + start, " \t\r\n") : 0;
    const char *anchor = named ? CALC_TEXT(130, "%.*s ", named, text->data + start) : "";
    char *whole = join(below || end == start ? " " : "", anchor, with, "");
    bool done = whole != NULL;
    if (done && below) {
        done = splice(text, line_start(text, start), line_after(text, end), "") &&
               splice(text, at, at, whole);
    } else if (done) {
        bool line = end > start && text->data[end - 1] == '\n'; /* of a block of text */
        done = splice(text, start, end - line, whole);
    }
    free(whole);
    return done;
}

/* The keys of a path with the value, as flow mappings: "a: {b: 1}". */
static char *nest(const char *path, const char *with)
{
    size_t size = 4 * strlen(path) + strlen(with) + 4, length;
    char *text = calloc(size, 1);
    int open = 0;
    while (text && (length = calc_next_word(&path, ".")) > 0) {
        calc_append(text, size, "%.*s: %s", (int)length, path - length, *path ? "{" : with);
        open += *path != '\0';
    }
    while (text && open-- > 0) {
        strcat(text, "}");
    }
    return text;
}

/* Adds an entry to a mapping, which has it on a line of its own unless it is in braces. */
static bool add(calc_text *text, yaml_document_t *document, const yaml_node_t *mapping,
                const char *entry)
{
    const yaml_node_pair_t *first = mapping->data.mapping.pairs.start;
    const yaml_node_pair_t *last = mapping->data.mapping.pairs.top - 1;
    bool flow = mapping->data.mapping.style == YAML_FLOW_MAPPING_STYLE, filled = last >= first;
    size_t at = byte_of(text, mapping->end_mark) - flow, column = 0, ignored;
    if (filled) {
        const yaml_node_t *key = yaml_document_get_node(document, last->key);
        at = span_of(text, document, last->value, byte_of(text, key->end_mark), &ignored);
        column = yaml_document_get_node(document, first->key)->start_mark.column;
    }
    at = flow ? at : line_after(text, at);
    bool newline = !flow && at > 0 && text->data[at - 1] != '\n';
    char *indent = calloc(column + 1, 1);
    if (!indent) {
        return false;
    }
    memset(indent, ' ', column);
    char *insert = flow ? join(filled ? ", " : "", entry, "", "")
                        : join(newline ? "\n" : "", indent, entry, newline ? "" : "\n");
    bool done = insert && splice(text, at, at, insert);
    free(insert);
    free(indent);
    return done;
}

/* Edits the text of a document. */
static calc_status edit_document(calc_text *text, yaml_document_t *document,
                                 const calc_yaml_edit *edit, const char *name, calc_errors *errors)
{
    const yaml_node_t *mapping = yaml_document_get_root_node(document);
    const char *path = edit->key;
    if (!mapping || mapping->type != YAML_MAPPING_NODE) {
        return calc_errors_at(errors, CALC_ERR_SYNTAX, name, 1, 1, NULL,
                              "expected \"key: value\", to put %s there", edit->key);
    }
    for (;;) {
        const char *rest = path;
        size_t length = calc_next_word(&rest, ".");
        const yaml_node_pair_t *pair = pair_of(document, mapping, path, length);
        if (!pair) {
            char *entry = nest(path, edit->value);
            bool done = entry && add(text, document, mapping, entry);
            free(entry);
            return done ? CALC_OK : CALC_ERR_NOMEM;
        }
        if (!*rest) {
            return replace(text, document, mapping, pair, edit->value) ? CALC_OK : CALC_ERR_NOMEM;
        }
        const yaml_node_t *key = yaml_document_get_node(document, pair->key);
        const yaml_node_t *value = yaml_document_get_node(document, pair->value);
        bool here = value->start_mark.index >= key->end_mark.index; /* else an alias is */
        if (here && value->type == YAML_MAPPING_NODE) {
            mapping = value;
            path = rest + 1;
            continue;
        }
        const char *plain = here && value->type == YAML_SCALAR_NODE &&
                                    value->data.scalar.style == YAML_PLAIN_SCALAR_STYLE
                                ? (const char *)value->data.scalar.value
                                : ".";
        if (*plain && !calc_is_word("null ~", plain)) {
            const yaml_mark_t at = here ? value->start_mark : key->end_mark;
            return calc_errors_at(errors, CALC_ERR_SYNTAX, name, (int)at.line + 1,
                                  (int)at.column + 1, NULL,
                                  "%.*s: expected keys below it, to put %.*s there", (int)length,
                                  path, (int)strcspn(rest + 1, "."), rest + 1);
        }
        char *entry = nest(rest + 1, edit->value);
        char *whole = entry ? join("{", entry, "}", "") : NULL;
        bool done = whole && replace(text, document, mapping, pair, whole);
        free(entry);
        free(whole);
        return done ? CALC_OK : CALC_ERR_NOMEM;
    }
}

/* A text that calc_settings_from_text() has accepted. */
static calc_status edit_one(calc_text *text, const calc_yaml_edit *edit, const char *name,
                            calc_errors *errors)
{
    yaml_parser_t parser;
    yaml_document_t document;
    if (!yaml_parser_initialize(&parser)) {
        return CALC_ERR_NOMEM;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text->data, text->length);
    calc_status status = CALC_ERR_NOMEM;
    if (yaml_parser_load(&parser, &document)) {
        status = edit_document(text, &document, edit, name, errors);
        yaml_document_delete(&document);
    } else if (parser.error != YAML_MEMORY_ERROR) {
        status = calc_errors_at(errors, CALC_ERR_SYNTAX, name, (int)parser.problem_mark.line + 1,
                                (int)parser.problem_mark.column + 1, NULL, "%s", parser.problem);
    }
    yaml_parser_delete(&parser);
    return status;
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
        if (status != CALC_OK || !calc_settings_have(&settings, edits[i].key)) {
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
