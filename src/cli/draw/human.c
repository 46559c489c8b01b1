#include "cli/draw/human.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/decimal.h"
#include "cli/shell/complain.h"
#include "spec/alias.h"
#include "spec/field.h"

_Static_assert((int)CALC_HUMAN_MAX >= (int)CALC_DECIMAL_SIZE, "a buffer takes a grouped number");

static char *not_available(char *buffer)
{
    return strcpy(buffer, "n/a");
}

char *calc_human_integer_in(double value, char *buffer)
{
    return isfinite(value) ? calc_decimal_grouped(value, buffer) : not_available(buffer);
}

char *calc_human_counted_in(double value, const char *noun, char *buffer)
{
    calc_human_integer_in(value, buffer);
    size_t length = strlen(buffer);
    snprintf(buffer + length, CALC_HUMAN_MAX - length, " %s%s", noun, value == 1 ? "" : "s");
    return buffer;
}

char *calc_human_number_in(double value, char *buffer)
{
    if (!isfinite(value) || fabs(value) >= 999.95) {
        return calc_human_integer_in(value, buffer);
    }
    enum { DIGITS = 4 /* that are shown, after rounding to them */ };
    snprintf(buffer, CALC_HUMAN_MAX, "%.*e", DIGITS - 1, value);
    int count = DIGITS - 1 - (int)strtol(strchr(buffer, 'e') + 1, NULL, 10);
    count = value == 0 || count < 0 ? 0 : count > 12 ? 12 : count;
    snprintf(buffer, CALC_HUMAN_MAX, "%.*f", count, value);
    return buffer;
}

/* Value in the largest unit of which it has at least one; units from large to small. */
static char *with_unit(double value, const char *const *units, const double *scales, size_t count,
                       char *buffer)
{
    if (!isfinite(value)) {
        return not_available(buffer);
    }
    size_t i = 0;
    while (i + 1 < count && fabs(value) < scales[i] * 0.99995) {
        i++;
    }
    char number[CALC_HUMAN_MAX];
    calc_human_number_in(value / scales[i], number);
    snprintf(buffer, CALC_HUMAN_MAX, "%.*s%s", CALC_HUMAN_MAX - 8, number, units[i]);
    return buffer;
}

char *calc_human_count_in(double value, char *buffer)
{
    static const char *const units[] = {" T", " B", " M", " K", ""};
    static const double scales[] = {1e12, 1e9, 1e6, 1e3, 1};
    return with_unit(value, units, scales, 5, buffer);
}

char *calc_human_seconds_in(double seconds, char *buffer)
{
    static const char *const units[] = {" s", " ms", " us", " ns"};
    static const double scales[] = {1, 1e-3, 1e-6, 1e-9};
    return seconds == 0 ? strcpy(buffer, "0 s") : with_unit(seconds, units, scales, 4, buffer);
}

char *calc_human_bytes_in(double bytes, char *buffer)
{
    static const char *const units[] = {" TiB", " GiB", " MiB", " KiB", " B"};
    static const double scales[] = {0x1p40, 0x1p30, 0x1p20, 0x1p10, 1};
    return with_unit(bytes, units, scales, 5, buffer);
}

char *calc_human_percent_in(double fraction, char *buffer)
{
    if (!isfinite(fraction)) {
        return not_available(buffer);
    }
    snprintf(buffer, CALC_HUMAN_MAX, "%.1f %%", 100 * fraction);
    return buffer;
}

void calc_human_apportion(const double *part, size_t count, int64_t whole, int64_t *share)
{
    enum { MAX = 32 };
    double remainder[MAX];
    double sum = 0;
    assert(count <= MAX);
    for (size_t i = 0; i < count; i++) {
        sum += part[i];
    }
    int64_t left = whole;
    for (size_t i = 0; i < count; i++) {
        double exact = part[i] / sum * (double)whole;
        share[i] = (int64_t)floor(exact);
        remainder[i] = exact - floor(exact);
        left -= share[i];
    }
    for (; left > 0; left--) {
        size_t largest = 0;
        for (size_t i = 1; i < count; i++) {
            if (remainder[i] > remainder[largest]) {
                largest = i;
            }
        }
        share[largest]++;
        remainder[largest] = -1;
    }
}

enum { INDENT = 4, LEAST = 16 /* columns for which words are broken */ };

/* Bytes of the character, or of the colour, that begins here. *width is its columns. */
static size_t next_character(const char *at, const char *end, int *width)
{
    const char *next = at + 1;
    *width = 1;
    if (*at == '\033') {
        const char *last = memchr(at, 'm', (size_t)(end - at));
        *width = 0;
        return last ? (size_t)(last + 1 - at) : 1;
    }
    while (next < end && ((unsigned char)*next & 0xc0) == 0x80) {
        next++;
    }
    return (size_t)(next - at);
}

/* Where to break a line so that it fits: at the start of the spaces, or in a word that is longer
 * than a line, after one of its joints; `end` if it already fits. */
static const char *break_of(const char *line, const char *end, int columns)
{
    const char *gap = NULL, *space = NULL, *joint = NULL;
    const char *at = line + strspn(line, " ");
    int used = (int)(at - line);
    while (at < end) {
        int width;
        size_t bytes = next_character(at, end, &width);
        if (used + width > columns && (gap || space || columns >= LEAST)) {
            return gap ? gap : space ? space : joint ? joint : at;
        }
        if (*at == ' ' && at[-1] != ' ') {
            space = at;
            gap = at[1] == ' ' ? at : gap;
        }
        used += width;
        at += bytes;
        joint = strchr("_-/,.", at[-1]) ? at : joint;
        if (used > columns && *at == ' ') {
            return at; /* after a word that is longer than a line this narrow */
        }
    }
    return end;
}

/* One line, without its end. */
static void fold_line(calc_output *out, const char *line, const char *end, int columns)
{
    const char *stop = break_of(line, end, columns);
    calc_output_raw(out, line, (size_t)(stop - line));
    while (stop < end) {
        line = stop + strspn(stop, " ");
        if (line >= end) {
            return;
        }
        stop = break_of(line, end, columns - INDENT);
        calc_output_printf(out, "\n%*s", INDENT, "");
        calc_output_raw(out, line, (size_t)(stop - line));
    }
}

void calc_fold_write(calc_output *out, const char *text, size_t length, int columns)
{
    const char *end = text + length;
    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        fold_line(out, text, line_end ? line_end : end, columns);
        if (!line_end) {
            return;
        }
        calc_output_text(out, "\n");
        text = line_end + 1;
    }
}

static bool locale_is_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *locale = NULL;
    for (size_t i = 0; i < 3 && !(locale && *locale); i++) {
        locale = getenv(variables[i]);
    }
    const char *charset = locale ? strchr(locale, '.') : NULL;
    return charset &&
           (strncasecmp(charset, ".utf-8", 6) == 0 || strncasecmp(charset, ".utf8", 5) == 0);
}

calc_paint calc_paint_stdout(const char *when)
{
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    bool fit = isatty(STDOUT_FILENO) && !(no_color && *no_color) &&
               !(terminal && strcmp(terminal, "dumb") == 0);
    bool color = strcmp(when, "auto") == 0 ? fit : strcmp(when, "always") == 0;
    return (calc_paint){.color = color, .utf8 = locale_is_utf8()};
}

/* Of COLUMNS or the terminal; 0: neither says. */
static int columns_known(void)
{
    struct winsize size;
    const char *text = getenv("COLUMNS");
    char *end = NULL;
    long columns = text ? strtol(text, &end, 10) : 0;
    columns = columns > 0 && *end == '\0' ? columns : 0;
    if (columns == 0 && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
        columns = size.ws_col;
    }
    return columns > CALC_PAINT_MAX_COLUMNS ? CALC_PAINT_MAX_COLUMNS : (int)columns;
}

int calc_paint_columns(void)
{
    enum { USUAL = 80 };
    int columns = columns_known();
    return columns > 0 ? columns : USUAL;
}

calc_status calc_fold_print(calc_status (*write)(calc_output *out, void *what, calc_errors *errors),
                            void *what, calc_errors *errors)
{
    calc_text text = {0};
    const int columns = columns_known();
    calc_output *out = columns > 0 ? calc_write_to_memory(&text) : calc_write_to("-");
    if (columns > 0) {
        calc_output_for_stdout(out);
    }
    calc_status status = calc_output_end(out, write(out, what, errors), errors);
    if (columns > 0 && status == CALC_OK) {
        out = calc_write_to("-");
        calc_fold_write(out, text.data, text.length, columns);
        status = calc_output_close(out, errors);
    }
    calc_text_free(&text);
    return status;
}

void calc_paint_text(calc_output *out, const calc_paint *paint, const char *color, const char *text)
{
    if (paint->color) {
        calc_output_raw(out, "\033[", 2);
        calc_output_raw(out, color, strlen(color));
        calc_output_raw(out, "m", 1);
    }
    calc_output_text(out, text);
    if (paint->color) {
        calc_output_raw(out, "\033[0m", 4);
    }
}

void calc_paint_marks(calc_output *out, const calc_paint *paint, const calc_paint_mark *mark,
                      int64_t columns)
{
    enum { BYTES = 3 };
    char text[CALC_PAINT_MAX_COLUMNS * BYTES + 1] = "";
    char *end = text;
    for (int64_t i = 0; i < columns; i++) {
        end = stpcpy(end, paint->utf8 ? mark->block : mark->letter);
    }
    if (mark->color && columns > 0) {
        calc_paint_text(out, paint, mark->color, text);
    } else {
        calc_output_text(out, text);
    }
}

void calc_paint_bar(calc_output *out, const calc_paint *paint, const char *color, double fraction,
                    int width)
{
    enum { MAX = 64, BYTES = 3 };
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int steps = paint->utf8 ? 8 : 2;
    fraction = fraction > 1 ? 1 : fraction;
    int length = fraction > 0 ? (int)lround(fraction * width * steps) : 0;
    if (fraction > 0 && length == 0) {
        length = 1;
    }
    char text[MAX * BYTES + 1];
    char *end = text;
    int column = 0;
    for (; column < length / steps; column++) {
        end = stpcpy(end, paint->utf8 ? "█" : "#");
    }
    if (length % steps > 0) {
        end = stpcpy(end, paint->utf8 ? eighths[length % steps] : "-");
        column++;
    }
    for (; column < width; column++) {
        *end++ = ' ';
    }
    *end = '\0';
    calc_paint_text(out, paint, color, text);
}

void calc_listing_add(calc_listing *l, const char *text)
{
    calc_listing_column *c = &l->column[l->cells % l->columns];
    const size_t size = strlen(text) + 1;
    l->at = calc_longer(l->at, l->cells + 1, sizeof *l->at);
    l->text = calc_longer(l->text, l->length + size, 1);
    memcpy(l->text + l->length, text, size);
    l->at[l->cells] = l->length;
    l->length += size;
    const int width = (int)size - 1, head = c->head ? (int)strlen(c->head) : 0;
    c->width = c->width < head ? head : c->width;
    c->width = c->width < width ? width : c->width;
    c->varies |= strcmp(text, l->text + l->at[l->cells % l->columns]) != 0;
    l->cells++;
}

void calc_listing_addf(calc_listing *l, const char *fmt, ...)
{
    char text[4 * CALC_HUMAN_MAX], *at = text;
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    for (char *end; (end = strchr(at, '\t')); at = end + 1) {
        *end = '\0';
        calc_listing_add(l, at);
    }
    calc_listing_add(l, at);
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
void calc_listing_write_row(const calc_listing *l, calc_output *out, size_t row, int indent)
{
    const size_t *at = row > 0 ? l->at + (row - 1) * l->columns : NULL;
    int blanks = indent;
    for (size_t k = 0; k < l->columns; k++) {
        const calc_listing_column *c = &l->column[k];
        const char *text = at ? l->text + at[k] : c->head;
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

void calc_listing_end(calc_listing *l, calc_output *out)
{
    calc_listing_fit(l, calc_paint_columns());
    for (size_t row = 0; row <= l->cells / l->columns && l->cells > 0; row++) {
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

CALC_FREES(calc_listing_free, calc_listing, of->at, of->text)

const char *calc_field_text_type(const calc_field *field)
{
    static const char *const texts[] = {[CALC_TYPE_INT] = "integer",
                                        [CALC_TYPE_REAL] = "number",
                                        [CALC_TYPE_BOOL] = "true or false",
                                        [CALC_TYPE_ENUM] = "one of",
                                        [CALC_TYPE_SET] = "any, joined by +, of",
                                        [CALC_TYPE_SYSTEM] = "name of a system",
                                        [CALC_TYPE_ENGINE] = "name of an engine",
                                        [CALC_TYPE_CURVE] = "[[size, efficiency], ...]",
                                        [CALC_TYPE_OP] = "[scalar, offset]"};
    const char *text = field->type < sizeof texts / sizeof *texts ? texts[field->type] : NULL;
    return field->flags & CALC_POINT_TO_POINT ? "[scalar, null]"
           : text                             ? text
           : field->flags & CALC_STAGES       ? "list of stages"
           : field->flags & CALC_LAYERS       ? "list of layers"
           : field->flags & CALC_STACK        ? "pattern of layers"
           : field->flags & CALC_SOFTWARE     ? "name of a software document"
                                              : "text";
}

void calc_field_text_range(const calc_field *field, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (field->type == CALC_TYPE_ENUM || field->type == CALC_TYPE_SET) {
        calc_choices_text(field->choices, buffer, size);
    } else if (field->lo < field->hi) {
        const char *from = field->flags & CALC_OR_ZERO ? "0, or " : "";
        const char *to = field->flags & CALC_BELOW_HI ? " to below " : " to ";
        char lo[CALC_HUMAN_MAX], hi[CALC_HUMAN_MAX];
        bool is_share = field->lo > 0 && field->lo < 1;
        snprintf(buffer, size, "%s%s%s%s", from,
                 is_share ? calc_number_text(field->lo, 1, lo)
                          : calc_human_integer_in(field->lo, lo),
                 to, calc_human_integer_in(field->hi, hi));
    }
}

const char *calc_field_text_meaning(const calc_field *field, char buffer[CALC_FIELD_TEXT_MEANING])
{
    const char *glue = "; also ";
    snprintf(buffer, CALC_FIELD_TEXT_MEANING, "%s", field->doc);
    for (const char *const *also = field->also; *also; also++) {
        const char *quote = strpbrk(*also, " /") ? "\"" : ""; /* a label */
        calc_append(buffer, CALC_FIELD_TEXT_MEANING, "%s%s%s%s%s%s", glue, quote, *also, quote,
                    field->times[0] ? " times " : "", field->times[0] ? field->times[0] : "");
        glue = ", ";
    }
    glue = "; also ";
    for (size_t i = 0; field->choices && field->choices[i]; i++) {
        const char *word = calc_alias_of_choice(field->choices[i]);
        if (word) {
            calc_append(buffer, CALC_FIELD_TEXT_MEANING, "%s%s", glue, word);
            glue = ", ";
        }
    }
    return buffer;
}
