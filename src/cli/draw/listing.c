#include "cli/draw/listing.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/draw/human.h"

void calc_listing_add(calc_listing *l, const char *text)
{
    calc_listing_column *c = &l->column[l->cells % l->columns];
    const size_t size = strlen(text) + 1;
    size_t *at = calc_grown(l->at, l->cells, &l->at_capacity, sizeof *at);
    l->at = at ? at : l->at;
    while (at && l->capacity < l->length + size) {
        const size_t capacity = l->capacity > 0 ? 2 * l->capacity : 4096;
        char *longer = realloc(l->text, capacity);
        at = longer ? at : NULL;
        l->text = longer ? longer : l->text;
        l->capacity = longer ? capacity : l->capacity;
    }
    if (!at) {
        l->no_memory = true;
        return;
    }
    memcpy(l->text + l->length, text, size);
    at[l->cells] = l->length;
    l->length += size;
    const int width = (int)size - 1, head = c->head ? (int)strlen(c->head) : 0;
    c->width = c->width < head ? head : c->width;
    c->width = c->width < width ? width : c->width;
    c->varies |= strcmp(text, l->text + at[l->cells % l->columns]) != 0;
    l->cells++;
}

void calc_listing_addf(calc_listing *l, const char *fmt, ...)
{
    char text[CALC_HUMAN_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    calc_listing_add(l, text);
}

const char *calc_listing_cell(const calc_listing *l, size_t row, size_t column)
{
    return l->text + l->at[row * l->columns + column];
}

void calc_listing_fit(calc_listing *l, int width)
{
    calc_listing_column *last = &l->column[l->columns - 1];
    const int whole = last->width;
    int used = 0, shown = 0;
    last->width = last->cut && whole > CALC_LISTING_CUT ? CALC_LISTING_CUT : whole;
    for (size_t k = 0; k < l->columns; k++) {
        used += l->column[k].hidden ? 0 : l->column[k].width;
        shown += !l->column[k].hidden;
    }
    l->gap = used + 2 * (shown - 1) <= width ? 2 : l->gap;
    used += l->gap * (shown - 1);
    while (used > width) {
        calc_listing_column *least = NULL;
        for (size_t k = 0; k < l->columns; k++) {
            calc_listing_column *c = &l->column[k];
            least = !c->hidden && (!least || c->order >= least->order) ? c : least;
        }
        if (!least || least->order == 0) {
            break;
        }
        least->hidden = least->dropped = true;
        used -= least->width + l->gap;
    }
    if (used < width) { /* what is left is for the text that was cut */
        last->width = whole < last->width + width - used ? whole : last->width + width - used;
    }
}

/* Blanks before a cell are written with it, so that none are left at the end of a line. */
static void write_line(const calc_listing *l, calc_output *out, const size_t *row, int indent)
{
    int blanks = indent;
    for (size_t k = 0; k < l->columns; k++) {
        const calc_listing_column *c = &l->column[k];
        const char *text = row ? l->text + row[k] : c->head;
        const int rest = c->width - (int)strlen(text);
        if (!c->hidden) {
            blanks += c->left ? 0 : rest;
            if (*text && rest < 0) {
                int kept = c->width - (int)strlen(" ...");
                while (((unsigned char)text[kept] & 0xC0) == 0x80) {
                    kept--; /* not within a character of UTF-8 */
                }
                calc_output_printf(out, "%*s%.*s ...", blanks, "", kept, text);
            } else if (*text) {
                calc_output_printf(out, "%*s%s", blanks, "", text);
                blanks = 0;
            }
            blanks += (c->left ? rest : 0) + l->gap;
        }
    }
    calc_output_text(out, "\n");
}

void calc_listing_write_head(const calc_listing *l, calc_output *out, int indent)
{
    write_line(l, out, NULL, indent);
}

void calc_listing_write_row(const calc_listing *l, calc_output *out, size_t row, int indent)
{
    write_line(l, out, l->at + row * l->columns, indent);
}

void calc_listing_end(calc_listing *l, calc_output *out, calc_errors *errors)
{
    calc_errors_status(errors, l->no_memory ? CALC_ERR_NOMEM : CALC_OK);
    calc_listing_fit(l, calc_paint_columns());
    for (size_t row = 0; row < l->cells / l->columns && !l->no_memory; row++) {
        if (row == 0) {
            calc_listing_write_head(l, out, 0);
        }
        calc_listing_write_row(l, out, row, 0);
    }
    const char *glue = "no room for ";
    for (size_t k = 0; k < l->columns; k++) {
        if (l->column[k].dropped) {
            calc_output_printf(out, "%s%s", glue, l->column[k].head);
            glue = ", ";
        }
    }
    calc_output_text(out, *glue == ',' ? ": a wider terminal\n" : "");
    calc_listing_free(l);
}

void calc_listing_free(calc_listing *l)
{
    free(l->at);
    free(l->text);
}
