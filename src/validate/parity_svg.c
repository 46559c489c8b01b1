#include "validate/parity_svg.h"

#include <math.h>
#include <string.h>

#include "validate/result_labels.h"

/* ---- Drawing --------------------------------------------------------------------------------- */

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

/* ---- Predicted over measured ----------------------------------------------------------------- */

enum { LEFT = 70, TOP = 30, SIDE = 560, WIDTH = 860, HEIGHT = 650 };

/* What is drawn and where. */
typedef struct plot {
    calc_output *out;
    const char *what; /* is timed */
    double lo, hi;    /* of both axes, logarithms to base 10 */
    calc_svg_machines machines;
} plot;

static bool is_drawn(const calc_result *r)
{
    return r->use == CALC_USE_SCORED &&
           (r->quantity == CALC_QUANTITY_STEP_TIME || r->quantity == CALC_QUANTITY_TPOT ||
            r->quantity == CALC_QUANTITY_E2E);
}

static double x_of(const plot *p, double seconds)
{
    return LEFT + (log10(seconds) - p->lo) / (p->hi - p->lo) * SIDE;
}

static double y_of(const plot *p, double seconds)
{
    return TOP + SIDE - (log10(seconds) - p->lo) / (p->hi - p->lo) * SIDE;
}

/* Axes that start and end at a power of ten around all points. */
static void fit_axes(plot *p, const calc_results *results)
{
    double lo = 0, hi = 0;
    bool any = false;
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *r = &results->item[i];
        if (is_drawn(r)) {
            double least = log10(fmin(r->measured, r->predicted));
            double most = log10(fmax(r->measured, r->predicted));
            lo = any ? fmin(lo, least) : least;
            hi = any ? fmax(hi, most) : most;
            any = true;
        }
    }
    p->lo = floor(lo);
    p->hi = fmax(ceil(hi), p->lo + 1);
}

static void write_grid(const plot *p)
{
    for (int decade = (int)p->lo; decade <= (int)p->hi; decade++) {
        double seconds = pow(10, decade);
        calc_output_printf(p->out,
                           "<path d=\"M%.1f %d V%d M%d %.1f H%d\" stroke=\"#ddd\"/>\n"
                           "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n"
                           "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
                           x_of(p, seconds), TOP, TOP + SIDE, LEFT, y_of(p, seconds), LEFT + SIDE,
                           x_of(p, seconds), TOP + SIDE + 18, seconds, LEFT - 8,
                           y_of(p, seconds) + 4, seconds);
    }
}

/* The line predicted = factor * measured, inside the frame. */
static void write_line(const plot *p, double factor, const char *style)
{
    double lo = pow(10, p->lo), hi = pow(10, p->hi);
    double from = fmax(lo, lo / factor), to = fmin(hi, hi / factor);
    calc_output_printf(p->out, "<path d=\"M%.1f %.1f L%.1f %.1f\" %s/>\n", x_of(p, from),
                       y_of(p, from * factor), x_of(p, to), y_of(p, to * factor), style);
}

static void write_frame(const plot *p)
{
    static const char band[] = "stroke=\"#888\" stroke-dasharray=\"4 3\"";
    static const char wide[] = "stroke=\"#bbb\" stroke-dasharray=\"2 4\"";
    calc_output_printf(
        p->out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
        "font-family=\"sans-serif\" font-size=\"13\">\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<g fill=\"#333\">\n",
        WIDTH, HEIGHT);
    write_grid(p);
    write_line(p, 1, "stroke=\"#333\"");
    write_line(p, 1.1, band);
    write_line(p, 0.9, band);
    write_line(p, 1.25, wide);
    write_line(p, 0.75, wide);
    calc_output_printf(p->out,
                       "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">measured %s [s]</text>\n"
                       "<text transform=\"translate(18 %d) rotate(-90)\" text-anchor=\"middle\">"
                       "predicted %s [s]</text>\n</g>\n",
                       LEFT + SIDE / 2, TOP + SIDE + 42, p->what, TOP + SIDE / 2, p->what);
}

static void write_point(plot *p, const calc_result *r)
{
    calc_output_printf(p->out,
                       "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\" fill-opacity=\"0.6\">"
                       "<title>",
                       x_of(p, r->measured), y_of(p, r->predicted),
                       calc_svg_machine_color(&p->machines, calc_result_machine(r)));
    calc_svg_text(p->out, calc_result_id(r));
    calc_output_printf(p->out, ": %+.1f %%</title></circle>\n", 100 * r->error);
}

void calc_parity_svg_write(calc_output *out, const calc_results *results)
{
    plot p = {.out = out,
              .what =
                  results->servings > 0 ? "time per output token, or of a static batch" : "step"};
    fit_axes(&p, results);
    write_frame(&p);
    for (size_t i = 0; i < results->count; i++) {
        if (is_drawn(&results->item[i])) {
            write_point(&p, &results->item[i]);
        }
    }
    calc_svg_legend(out, &p.machines, LEFT + SIDE + 24, TOP + 14);
    calc_output_text(out, "</svg>\n");
}
