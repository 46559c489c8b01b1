#include "cli/draw/stack.h"

#include <math.h>
#include <string.h>

#include "cli/draw/human.h"

static const struct {
    const char *words, *block, *letter, *color;
} kinds[CALC_STACK_KINDS] = {
#define CALC_X(name, text, block_text, letter_text, paint)                                         \
    [CALC_STACK_##name] = {                                                                        \
        .words = (text), .block = (block_text), .letter = (letter_text), .color = (paint)},
    CALC_STACK_KIND_LIST(CALC_X)
#undef CALC_X
};

static void write_piece(calc_output *out, const calc_paint *paint, int kind, int64_t columns)
{
    enum { BYTES = 3 };
    char text[CALC_PAINT_MAX_COLUMNS * BYTES + 1] = "";
    char *end = text;
    for (int64_t i = 0; i < columns; i++) {
        end = stpcpy(end, paint->utf8 ? kinds[kind].block : kinds[kind].letter);
    }
    if (columns > 0) {
        calc_paint_text(out, paint, kinds[kind].color, text);
    }
}

void calc_stack_write(calc_output *out, const calc_paint *paint,
                      const double value[CALC_STACK_KINDS], double full, int width)
{
    double part[CALC_STACK_KINDS];
    double total = 0;
    int64_t share[CALC_STACK_KINDS] = {0};
    for (int kind = 0; kind < CALC_STACK_KINDS; kind++) {
        part[kind] = fmax(0, value[kind]);
        total += part[kind];
    }
    int64_t columns = total > 0 ? llround(fmin(1, total / full) * width) : 0;
    if (total > 0) {
        columns = columns > 0 ? columns : 1;
        calc_human_apportion(part, CALC_STACK_KINDS, columns, share);
    }
    for (int kind = 0; kind < CALC_STACK_KINDS; kind++) {
        write_piece(out, paint, kind, share[kind]);
    }
    calc_output_printf(out, "%*s", width - (int)columns, "");
}

void calc_stack_write_key(calc_output *out, const calc_paint *paint,
                          const bool seen[CALC_STACK_KINDS], int columns)
{
    enum { INDENT = 4, MARK = 2 };
    int used = 0;
    for (int kind = 0; kind < CALC_STACK_KINDS; kind++) {
        int length = INDENT + MARK + (int)strlen(kinds[kind].words);
        if (!seen[kind]) {
            continue;
        }
        if (used > 0 && used + length > columns) {
            calc_output_text(out, "\n");
            used = 0;
        }
        calc_output_printf(out, "%*s", INDENT, "");
        write_piece(out, paint, kind, 1);
        calc_output_printf(out, " %s", kinds[kind].words);
        used += length;
    }
    calc_output_text(out, used > 0 ? "\n" : "");
}
