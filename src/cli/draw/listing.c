#include "cli/draw/listing.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
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
    const int width = (int)size - 1, head = (int)strlen(c->head);
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
    int used = -CALC_LISTING_GAP;
    for (size_t k = 0; k < l->columns; k++) {
        used += l->column[k].hidden ? 0 : l->column[k].width + CALC_LISTING_GAP;
    }
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
        used -= least->width + CALC_LISTING_GAP;
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
            if (*text) {
                calc_output_printf(out, "%*s%s", blanks, "", text);
                blanks = 0;
            }
            blanks += (c->left ? rest : 0) + CALC_LISTING_GAP;
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

calc_status calc_listing_write(calc_listing *l, calc_output *out)
{
    if (l->no_memory) {
        return CALC_ERR_NOMEM;
    }
    calc_listing_fit(l, calc_paint_columns());
    if (l->cells > 0) {
        calc_listing_write_head(l, out, 0);
    }
    for (size_t row = 0; row < l->cells / l->columns; row++) {
        calc_listing_write_row(l, out, row, 0);
    }
    return CALC_OK;
}

void calc_listing_free(calc_listing *l)
{
    free(l->at);
    free(l->text);
}
