#include "validate/svg.h"

#include <string.h>

/* Colours that differ for colour-blind readers too (Okabe and Ito 2008), then tints of them. */
static const char *const colors[CALC_SVG_MACHINES] = {
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d00",
    "#004a75", "#8a3d00", "#00664b", "#84496a", "#999999", "#f0b87f", "#7fceb9", "#b0b0ff"};

const char *calc_svg_machine_color(calc_svg_machines *machines, const char *name)
{
    int i = 0;
    while (i < machines->count && strcmp(machines->name[i], name) != 0) {
        i++;
    }
    if (i == CALC_SVG_MACHINES) {
        i--;
    } else if (i == machines->count) {
        machines->name[machines->count++] = name;
    }
    machines->points[i]++;
    return colors[i];
}

void calc_svg_text(calc_output *out, const char *text)
{
    for (; *text; text++) {
        const char *word = *text == '<'   ? "&lt;"
                           : *text == '>' ? "&gt;"
                           : *text == '&' ? "&amp;"
                                          : NULL;
        calc_output_write(out, word ? word : text, word ? strlen(word) : 1);
    }
}

void calc_svg_legend(calc_output *out, const calc_svg_machines *machines, int x, int y)
{
    for (int i = 0; i < machines->count; i++) {
        int line = y + 20 * i;
        calc_output_printf(out,
                           "<circle cx=\"%d\" cy=\"%d\" r=\"5\" fill=\"%s\"/>"
                           "<text x=\"%d\" y=\"%d\" fill=\"#333\">%s (%zu)</text>\n",
                           x, line - 4, colors[i], x + 12, line, machines->name[i],
                           machines->points[i]);
    }
}
