#include "mutate.h"

#include "tokens.h"
#include "words.h"

#include <stdlib.h>
#include <string.h>

/* One change of a text: reads `from`, writes `out`. A second text lends it parts. */
typedef struct change {
    const fuzz_seeds *seeds;
    calc_rng *rng;
    const fuzz_tokens *from;
    fuzz_tokens *other; /* room for the tokens of a seed */
    fuzz_out *out;
} change;

/* ---- Copies -----------------------------------------------------------------------------------
 */

static size_t start_of(const fuzz_tokens *t, int token)
{
    return token < t->count ? t->token[token].at : t->length;
}

static void put_tokens(fuzz_out *out, const fuzz_tokens *t, int first, int end)
{
    size_t from = start_of(t, first);
    fuzz_put(out, t->text + from, start_of(t, end) - from);
}

/* Bytes of the text that is changed. */
static void keep(const change *c, size_t from, size_t to)
{
    fuzz_put(c->out, c->from->text + from, to - from);
}

static void keep_tokens(const change *c, int first, int end)
{
    put_tokens(c->out, c->from, first, end);
}

/* The tokens of a seed. */
static const fuzz_tokens *lender(const change *c)
{
    if (c->seeds->count == 0) {
        return c->from;
    }
    const fuzz_seed *seed = &c->seeds->seed[fuzz_below(c->rng, c->seeds->count)];
    size_t skip = seed->whole && seed->text.length > c->seeds->prefix ? c->seeds->prefix : 0;
    fuzz_tokens_make(c->other, seed->text.data + skip, seed->text.length - skip);
    return c->other;
}

/* ---- Tokens -----------------------------------------------------------------------------------
 */

static bool is_value(const fuzz_token *token)
{
    return token->type == FUZZ_NUMBER || token->type == FUZZ_WORD || token->type == FUZZ_STRING;
}

/* A token that is a value if one is soon found, a number more often than others. */
static int some_value(const change *c)
{
    const fuzz_tokens *t = c->from;
    int index = 0;
    for (int tries = 0; tries < 16; tries++) {
        index = (int)fuzz_below(c->rng, (size_t)t->count);
        if (t->token[index].type == FUZZ_NUMBER ||
            (is_value(&t->token[index]) && fuzz_one_in(c->rng, 2))) {
            break;
        }
    }
    return index;
}

/* The row of the field whose key stands before a token in the same line. */
static const calc_field *field_before(const change *c, int index)
{
    const fuzz_tokens *t = c->from;
    for (int i = index - 1, steps = 0; i >= 0 && steps < 8; i--, steps++) {
        const fuzz_token *token = &t->token[i];
        const calc_table *table;
        if (token->type == FUZZ_NEWLINE) {
            break;
        }
        if (token->type == FUZZ_WORD || token->type == FUZZ_STRING) {
            size_t quote = token->type == FUZZ_STRING;
            return fuzz_field_of(c->rng, t->text + token->at + quote, token->length - 2 * quote,
                                 &table);
        }
    }
    return NULL;
}

static bool is_quoted(const fuzz_tokens *t)
{
    return t->form == FUZZ_JSON;
}

static void put_any_value(const change *c, const calc_field *field)
{
    if (field && !fuzz_one_in(c->rng, 4)) {
        fuzz_put_value(c->out, c->rng, field, is_quoted(c->from));
    } else if (fuzz_one_in(c->rng, 8)) {
        fuzz_put_value(c->out, c->rng, fuzz_field_any(c->rng), is_quoted(c->from));
    } else {
        fuzz_put_odd(c->out, c->rng, is_quoted(c->from));
    }
}

static void replace_value(const change *c)
{
    int index = some_value(c);
    keep_tokens(c, 0, index);
    put_any_value(c, field_before(c, index));
    keep_tokens(c, index + 1, c->from->count);
}

static void move_number(const change *c)
{
    int index = some_value(c);
    const fuzz_token *token = &c->from->token[index];
    char text[64] = "";
    memcpy(text, c->from->text + token->at,
           token->length < sizeof text ? token->length : sizeof text - 1);
    keep_tokens(c, 0, index);
    fuzz_put_near(c->out, c->rng, strtod(text, NULL));
    keep_tokens(c, index + 1, c->from->count);
}

/* Another token of a text of its kind, or of any. */
static void lend_token(const change *c)
{
    int index = some_value(c);
    const fuzz_tokens *other = lender(c);
    keep_tokens(c, 0, index);
    for (int tries = 0; tries < 16 && other->count > 0; tries++) {
        int k = (int)fuzz_below(c->rng, (size_t)other->count);
        if (is_value(&other->token[k])) {
            put_tokens(c->out, other, k, k + 1);
            break;
        }
    }
    keep_tokens(c, index + 1, c->from->count);
}

/* A range of tokens of another text at a place, over none or some that are there. */
static void splice(const change *c)
{
    int first = (int)fuzz_below(c->rng, (size_t)c->from->count + 1);
    int end = first + (int)fuzz_below(c->rng, fuzz_one_in(c->rng, 2) ? 1 : 20);
    const fuzz_tokens *other = lender(c);
    int from = (int)fuzz_below(c->rng, (size_t)other->count + 1);
    int to = from + (int)fuzz_below(c->rng, 40);
    keep_tokens(c, 0, first);
    put_tokens(c->out, other, from, to < other->count ? to : other->count);
    keep_tokens(c, end < c->from->count ? end : c->from->count, c->from->count);
}

static void drop_tokens(const change *c)
{
    int index = (int)fuzz_below(c->rng, (size_t)c->from->count);
    int end = index + 1 + (int)fuzz_below(c->rng, fuzz_one_in(c->rng, 3) ? 12 : 1);
    keep_tokens(c, 0, index);
    keep_tokens(c, end < c->from->count ? end : c->from->count, c->from->count);
}

static size_t some_times(const change *c)
{
    return fuzz_one_in(c->rng, 6) ? fuzz_below(c->rng, 400) : 1 + fuzz_below(c->rng, 3);
}

static void repeat_tokens(const change *c)
{
    int index = (int)fuzz_below(c->rng, (size_t)c->from->count);
    int end = index + 1 + (int)fuzz_below(c->rng, fuzz_one_in(c->rng, 2) ? 12 : 1);
    end = end < c->from->count ? end : c->from->count;
    keep_tokens(c, 0, end);
    for (size_t i = some_times(c); i > 0; i--) {
        keep_tokens(c, index, end);
    }
    keep_tokens(c, end, c->from->count);
}

static void insert_odd(const change *c)
{
    static const char marks[] = "{}[]():,=\"'#&*|>-\\\n\r\t \x01\x7f\xff;$`@!%~/.";
    int index = (int)fuzz_below(c->rng, (size_t)c->from->count + 1);
    keep_tokens(c, 0, index);
    if (fuzz_one_in(c->rng, 2)) {
        fuzz_put(c->out, &marks[fuzz_below(c->rng, sizeof marks)], 1);
    } else {
        put_any_value(c, NULL);
    }
    keep_tokens(c, index, c->from->count);
}

/* Brackets, with a value inside or without an end. */
static void nest(const change *c)
{
    static const char *const open[] = {"[", "{\"a\":", "(", "- ", "a:\n ", "{"};
    static const char *const close[] = {"]", "}", ")", "", "", ""};
    size_t which = fuzz_below(c->rng, 6);
    size_t depth = (size_t)1 << fuzz_below(c->rng, fuzz_one_in(c->rng, 8) ? 14 : 4);
    bool closed = !fuzz_one_in(c->rng, 4);
    int index = some_value(c);
    keep_tokens(c, 0, index);
    for (size_t i = 0; i < depth; i++) {
        fuzz_put_text(c->out, open[which]);
    }
    keep_tokens(c, index, index + 1);
    for (size_t i = 0; closed && i < depth; i++) {
        fuzz_put_text(c->out, close[which]);
    }
    keep_tokens(c, index + 1, c->from->count);
}

/* A word or a string of one byte many times. */
static void lengthen(const change *c)
{
    static const char bytes[] = "a1\"\\ ,.[-9\xc3\x7f";
    char byte = bytes[fuzz_below(c->rng, sizeof bytes)];
    const fuzz_token *token = &c->from->token[some_value(c)];
    size_t inside = token->at + fuzz_below(c->rng, token->length + 1);
    size_t count = (size_t)1 << fuzz_below(c->rng, fuzz_one_in(c->rng, 4) ? 13 : 9);
    keep(c, 0, inside);
    for (size_t i = 0; i < count; i++) {
        fuzz_put(c->out, &byte, 1);
    }
    keep(c, inside, c->from->length);
}

static void cut(const change *c)
{
    int index = (int)fuzz_below(c->rng, (size_t)c->from->count + 1);
    if (fuzz_one_in(c->rng, 4)) {
        keep_tokens(c, index, c->from->count);
    } else {
        keep_tokens(c, 0, index);
    }
}

static void change_byte(const change *c)
{
    size_t at = fuzz_below(c->rng, c->from->length);
    char byte = fuzz_one_in(c->rng, 2) ? (char)(c->from->text[at] ^ (1 << fuzz_below(c->rng, 8)))
                                       : (char)fuzz_below(c->rng, 256);
    keep(c, 0, at);
    fuzz_put(c->out, &byte, 1);
    keep(c, at + 1, c->from->length);
}

/* As other programs save a text. */
static void encode(const change *c)
{
    static const char *const marks[] = {"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff", "\xef\xbb\xbf"};
    size_t how = fuzz_below(c->rng, 4);
    if (how < 2) {
        fuzz_put_text(c->out, marks[fuzz_below(c->rng, 4)]);
    }
    for (size_t i = 0; i < c->from->length; i++) {
        if (how > 0 && how < 3 && c->from->text[i] == '\n') {
            fuzz_put(c->out, "\r", 1);
        }
        fuzz_put(c->out, c->from->text + i, 1);
        if (how == 3) {
            fuzz_put(c->out, "", 1); /* UTF-16 */
        }
    }
}

/* ---- Elements between brackets ----------------------------------------------------------------
 */

static const fuzz_element *some_element(const change *c, const fuzz_tokens *t)
{
    return &t->element[fuzz_below(c->rng, (size_t)t->elements)];
}

static const calc_field *field_of(const change *c, const fuzz_element *e, const calc_table **table)
{
    const fuzz_token *key = &c->from->token[e->first];
    *table = NULL;
    return key->type == FUZZ_STRING
               ? fuzz_field_of(c->rng, c->from->text + key->at + 1, key->length - 2, table)
               : NULL;
}

static void replace_element_value(const change *c)
{
    const fuzz_element *e = some_element(c, c->from);
    const calc_table *table;
    keep_tokens(c, 0, e->value);
    put_any_value(c, field_of(c, e, &table));
    keep_tokens(c, e->end, c->from->count);
}

static void drop_element(const change *c)
{
    const fuzz_element *e = some_element(c, c->from);
    int first = e->first, end = e->end;
    if (!e->last) {
        end++;
    } else {
        while (first > 0 && c->from->token[first - 1].type <= FUZZ_NEWLINE) {
            first--;
        }
        first -= first > 0 && c->from->text[c->from->token[first - 1].at] == ',';
    }
    keep_tokens(c, 0, first);
    keep_tokens(c, end, c->from->count);
}

static void repeat_element(const change *c)
{
    const fuzz_element *e = some_element(c, c->from);
    keep_tokens(c, 0, e->end);
    for (size_t i = some_times(c); i > 0; i--) {
        fuzz_put_text(c->out, ", ");
        keep_tokens(c, e->first, e->end);
    }
    keep_tokens(c, e->end, c->from->count);
}

/* A member beside another: of the same table, of any, or of another text. */
static void add_member(const change *c)
{
    const fuzz_element *e = some_element(c, c->from);
    const calc_table *table;
    (void)field_of(c, e, &table);
    keep_tokens(c, 0, e->first);
    size_t how = fuzz_below(c->rng, 4);
    if (how == 0) {
        const fuzz_tokens *other = lender(c);
        if (other->elements > 0) {
            const fuzz_element *lent = some_element(c, other);
            put_tokens(c->out, other, lent->first, lent->end);
            fuzz_put_text(c->out, ", ");
        }
    } else if (how == 1 && e->value == e->first) {
        put_any_value(c, NULL);
        fuzz_put_text(c->out, ", ");
    } else {
        fuzz_put_member(c->out, c->rng,
                        table && how > 1 ? &table->rows[fuzz_below(c->rng, table->count)]
                                         : fuzz_field_any(c->rng));
        fuzz_put_text(c->out, ", ");
    }
    keep_tokens(c, e->first, c->from->count);
}

/* Its value or the whole of it from elsewhere: another element here, or one of another text. */
static void exchange_element(const change *c)
{
    const fuzz_element *e = some_element(c, c->from);
    const fuzz_tokens *other = fuzz_one_in(c->rng, 2) ? c->from : lender(c);
    if (other->elements == 0) {
        other = c->from;
    }
    const fuzz_element *lent = some_element(c, other);
    bool whole = fuzz_one_in(c->rng, 2);
    keep_tokens(c, 0, whole ? e->first : e->value);
    put_tokens(c->out, other, whole ? lent->first : lent->value, lent->end);
    keep_tokens(c, e->end, c->from->count);
}

static void rename_key(const change *c)
{
    const fuzz_element *e = some_element(c, c->from);
    keep_tokens(c, 0, e->first);
    fuzz_put_text(c->out, "\"");
    if (fuzz_one_in(c->rng, 3)) {
        fuzz_put_path(c->out, c->rng);
    } else {
        fuzz_put_text(c->out, fuzz_field_any(c->rng)->key);
    }
    fuzz_put_text(c->out, "\"");
    keep_tokens(c, e->value > e->first ? e->first + 1 : e->value, c->from->count);
}

static void wrap_element(const change *c)
{
    static const char *const open[] = {"[", "{\"a\": ", "\"", "[[", "{"};
    static const char *const close[] = {"]", "}", "\"", ", 1]]", "}"};
    const fuzz_element *e = some_element(c, c->from);
    size_t which = fuzz_below(c->rng, 5);
    keep_tokens(c, 0, e->value);
    fuzz_put_text(c->out, open[which]);
    keep_tokens(c, e->value, e->end);
    fuzz_put_text(c->out, close[which]);
    keep_tokens(c, e->end, c->from->count);
}

static void change_elements(const change *c)
{
    static void (*const ways[])(const change *) = {replace_element_value,
                                                   replace_element_value,
                                                   drop_element,
                                                   repeat_element,
                                                   add_member,
                                                   add_member,
                                                   exchange_element,
                                                   rename_key,
                                                   wrap_element};
    if (c->from->elements == 0) {
        replace_value(c);
    } else {
        ways[fuzz_below(c->rng, sizeof ways / sizeof *ways)](c);
    }
}

/* ---- Lines ------------------------------------------------------------------------------------
 */

static void change_lines(const change *c)
{
    const fuzz_tokens *t = c->from;
    size_t from, other_from,
        end = fuzz_line_of(t->text, t->length, fuzz_below(c->rng, t->length), &from);
    keep(c, 0, from);
    switch (fuzz_below(c->rng, 6)) {
    case 0: /* gone */
        break;
    case 1:
        for (size_t i = some_times(c) + 1; i > 0; i--) {
            keep(c, from, end);
        }
        break;
    case 2: { /* one of another text before it */
        const fuzz_tokens *other = lender(c);
        if (other->length > 0) {
            size_t other_end = fuzz_line_of(other->text, other->length,
                                            fuzz_below(c->rng, other->length), &other_from);
            fuzz_put(c->out, other->text + other_from, other_end - other_from);
        }
        keep(c, from, end);
        break;
    }
    case 3: /* more or less indented */
        if (fuzz_one_in(c->rng, 2)) {
            fuzz_put_text(c->out, fuzz_one_in(c->rng, 8) ? "\t" : "  ");
        } else {
            from += from + 1 < end && t->text[from] == ' ';
        }
        keep(c, from, end);
        break;
    case 4: { /* another one of this text in its place */
        size_t other_end =
            fuzz_line_of(t->text, t->length, fuzz_below(c->rng, t->length), &other_from);
        keep(c, other_from, other_end);
        break;
    }
    default: { /* a key of calc's with a value before it */
        const calc_field *field = fuzz_field_any(c->rng);
        fuzz_put_text(c->out, field->key);
        fuzz_put_text(c->out, fuzz_one_in(c->rng, 2) ? ": " : "=");
        fuzz_put_value(c->out, c->rng, field, false);
        fuzz_put_text(c->out, "\n");
        keep(c, from, end);
        break;
    }
    }
    keep(c, end, t->length);
}

/* ---- Columns ----------------------------------------------------------------------------------
 */

/* The text of a cell by its number in the line from `at`; false if the line has fewer. */
static bool cell_of(const fuzz_tokens *t, size_t at, size_t column, size_t *from, size_t *end)
{
    for (size_t i = 0;; i++) {
        *from = at;
        *end = fuzz_cell_end(t->text, t->length, at);
        if (i == column) {
            return true;
        }
        if (*end >= t->length || t->text[*end] == '\n') {
            return false;
        }
        at = *end + 1;
    }
}

static size_t columns_of(const fuzz_tokens *t)
{
    size_t from, end, count = 0;
    while (cell_of(t, 0, count, &from, &end)) {
        count++;
    }
    return count;
}

static void put_name_of_column(const change *c)
{
    const fuzz_tokens *other;
    size_t from, end;
    if (fuzz_one_in(c->rng, 2)) {
        fuzz_put_path(c->out, c->rng);
    } else if ((other = lender(c))->form == FUZZ_CSV) {
        if (cell_of(other, 0, fuzz_below(c->rng, columns_of(other)), &from, &end)) {
            fuzz_put(c->out, other->text + from, end - from);
        }
    } else {
        fuzz_put_text(c->out, fuzz_field_any(c->rng)->key);
    }
}

/* A column of all rows: gone, twice, renamed, a new one before it, or all cells replaced. */
static void change_column(const change *c)
{
    const fuzz_tokens *t = c->from;
    size_t column = fuzz_below(c->rng, columns_of(t)), how = fuzz_below(c->rng, 6);
    const calc_field *field = fuzz_one_in(c->rng, 2) ? fuzz_field_any(c->rng) : NULL;
    size_t from, end, done = 0;
    for (size_t line = 0; line < t->length; line = end + 1) {
        bool head = line == 0;
        bool there = cell_of(t, line, column, &from, &end);
        keep(c, done, from);
        if (there && how == 1) {
            keep(c, from, end);
            fuzz_put_text(c->out, ",");
            keep(c, from, end);
        } else if (there && how == 2) {
            if (head) {
                put_name_of_column(c);
            } else {
                keep(c, from, end);
            }
        } else if (there && how == 3) {
            if (head && field) {
                fuzz_put_text(c->out, field->key);
            } else if (head) {
                put_name_of_column(c);
            } else {
                put_any_value(c, field);
            }
            fuzz_put_text(c->out, ",");
            keep(c, from, end);
        } else if (there && how > 3 && !head) {
            put_any_value(c, field);
        } else if (!there || how > 3) {
            keep(c, from, end);
        } else if (end < t->length && t->text[end] == ',') {
            end++; /* gone, with its comma */
        }
        done = end;
        while (end < t->length && t->text[end] != '\n') {
            end = fuzz_cell_end(t->text, t->length, end + (t->text[end] == ','));
        }
    }
    keep(c, done < t->length ? done : t->length, t->length);
}

/* One cell, by what its column is called. */
static void change_cell(const change *c)
{
    const fuzz_tokens *t = c->from;
    const calc_table *table;
    size_t line, from, end, column = fuzz_below(c->rng, columns_of(t));
    (void)fuzz_line_of(t->text, t->length, fuzz_below(c->rng, t->length), &line);
    if (!cell_of(t, line, column, &from, &end)) {
        replace_value(c);
        return;
    }
    size_t name_from, name_end;
    const calc_field *field = NULL;
    if (cell_of(t, 0, column, &name_from, &name_end)) {
        field = fuzz_field_of(c->rng, t->text + name_from, name_end - name_from, &table);
    }
    keep(c, 0, from);
    put_any_value(c, field);
    keep(c, end, t->length);
}

static void change_table(const change *c)
{
    if (fuzz_one_in(c->rng, 3)) {
        change_column(c);
    } else {
        change_cell(c);
    }
}

/* ---- Assignments ------------------------------------------------------------------------------
 */

static void assign(const change *c)
{
    const char *sign = memchr(c->from->text, '=', c->from->length);
    size_t at = sign ? (size_t)(sign - c->from->text) : c->from->length;
    if (fuzz_one_in(c->rng, 4)) {
        keep(c, 0, at); /* its field */
    } else {
        fuzz_put_path(c->out, c->rng);
    }
    fuzz_put_text(c->out, "=");
    if (fuzz_one_in(c->rng, 4)) {
        keep(c, sign ? at + 1 : at, c->from->length);
        return;
    }
    size_t begin = c->out->length - 1;
    while (begin > 0 && c->out->data[begin - 1] != '.') {
        begin--;
    }
    const calc_table *table;
    put_any_value(c,
                  fuzz_field_of(c->rng, c->out->data + begin, c->out->length - 1 - begin, &table));
}

/* ---- All --------------------------------------------------------------------------------------
 */

static void change_once(const change *c)
{
    static void (*const any[])(const change *) = {
        replace_value, replace_value, replace_value, move_number,   move_number, lend_token,
        lend_token,    splice,        drop_tokens,   repeat_tokens, insert_odd,  change_byte};
    static void (*const rare[])(const change *) = {nest, lengthen, cut, encode};
    static void (*const of_form[])(const change *) = {change_elements, change_table, change_lines,
                                                      assign};
    /* Nearly all of those below break JSON; other formats bear much of them. */
    size_t way = fuzz_below(c->rng, c->from->form == FUZZ_JSON ? 120 : 16);
    if (c->from->count == 0) {
        put_any_value(c, NULL);
    } else if (way == 0) {
        rare[fuzz_below(c->rng, sizeof rare / sizeof *rare)](c);
    } else if (way == 1 || way > 8) {
        of_form[c->from->form](c);
    } else if (way == 2) {
        change_lines(c);
    } else {
        any[fuzz_below(c->rng, sizeof any / sizeof *any)](c);
    }
}

/* The bytes before the text, rarely others: those of a seed, or any. */
static void put_prefix(const fuzz_seeds *seeds, calc_rng *rng, const char *data, fuzz_out *out)
{
    if (fuzz_one_in(rng, 24) && seeds->wholes > 0) {
        const calc_text *text = &seeds->seed[fuzz_below(rng, seeds->wholes)].text;
        data = text->length >= seeds->prefix ? text->data : data;
    }
    for (size_t i = 0; i < seeds->prefix; i++) {
        char any = (char)fuzz_below(rng, 256);
        fuzz_put(out, fuzz_one_in(rng, 40) ? &any : &data[i], 1);
    }
}

size_t fuzz_mutate(const fuzz_seeds *seeds, calc_rng *rng, const char *data, size_t size, char *out,
                   size_t capacity)
{
    static char rooms[2][FUZZ_INPUT_MAX];
    static fuzz_tokens tokens, other;
    size_t prefix = seeds->prefix < size ? seeds->prefix : 0;
    fuzz_out result = {out, 0, capacity};
    int rounds = 1;
    while (rounds < 8 && fuzz_one_in(rng, 2)) {
        rounds++;
    }
    if (prefix > 0) {
        put_prefix(seeds, rng, data, &result);
    }
    const char *text = data + prefix;
    size_t length = size - prefix;
    for (int i = 0; i < rounds; i++) {
        fuzz_out room = {rooms[i % 2], 0, capacity < FUZZ_INPUT_MAX ? capacity : FUZZ_INPUT_MAX};
        fuzz_tokens_make(&tokens, text, length);
        change_once(&(change){seeds, rng, &tokens, &other, &room});
        text = room.data;
        length = room.length;
    }
    size_t left = capacity - result.length;
    fuzz_put(&result, text, length < left ? length : left);
    return result.length;
}

size_t fuzz_mutate_seed(const fuzz_seeds *seeds, calc_rng *rng, char *out, size_t capacity)
{
    if (seeds->wholes == 0) {
        return fuzz_mutate(seeds, rng, "", 0, out, capacity);
    }
    const calc_text *text = &seeds->seed[fuzz_below(rng, seeds->wholes)].text;
    return fuzz_mutate(seeds, rng, text->data, text->length, out, capacity);
}
