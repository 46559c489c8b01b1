#include "validate/errors_svg.h"

#include <math.h>
#include <string.h>

#include "validate/parity_svg.h"
#include "validate/result_labels.h"
#include "validate/sets.h"

enum { LEFT = 300, TOP = 30, SIDE = 560, ROW = 26, WIDTH = 1160, TICKS = 4 };

/* What is drawn and where. */
typedef struct plot {
    calc_output *out;
    const calc_results *results;
    calc_svg_machines machines;
    int rows;
    int most; /* of an error at the edge [%] */
} plot;

/* @param error  a fraction; beyond the frame is at its edge */
static double x_of(const plot *p, double error)
{
    double percent = fmax(-p->most, fmin(p->most, 100 * error));
    return LEFT + SIDE * (percent + p->most) / (2.0 * p->most);
}

static int y_of(int row)
{
    return TOP + ROW * row + ROW / 2;
}

/* Repeats of sets that others contain or sum up would draw the same points again. */
static bool is_row(const calc_error_group *group)
{
    bool step = group->quantity == CALC_QUANTITY_STEP_TIME;
    bool served = group->quantity == CALC_QUANTITY_TPOT || group->quantity == CALC_QUANTITY_E2E;
    bool repeats = strncmp(group->name, "- ", 2) == 0 || strncmp(group->name, "all ", 4) == 0;
    return (step && strcmp(group->by, "set") == 0 && !repeats) ||
           (served && strcmp(group->by, "engine") == 0);
}

/* Whether a result is a point of the row. @param set  the group's, of a published table */
static bool is_point(const calc_result *r, const calc_error_group *group, size_t set)
{
    bool counts = r->use == CALC_USE_SCORED && r->quantity == group->quantity;
    return counts &&
           (r->serving ? strcmp(calc_result_engine(r), group->name) == 0 : calc_sets_has(set, r));
}

static void write_frame(const plot *p)
{
    int bottom = TOP + ROW * p->rows;
    calc_output_printf(
        p->out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
        "font-family=\"sans-serif\" font-size=\"13\">\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<g fill=\"#333\">\n",
        WIDTH, bottom + 60);
    for (int percent = -p->most; percent <= p->most; percent += p->most / TICKS) {
        calc_output_printf(p->out,
                           "<path d=\"M%.1f %d V%d\" stroke=\"%s\"/>\n"
                           "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s%d</text>\n",
                           x_of(p, percent / 100.0), TOP, bottom, percent == 0 ? "#333" : "#ddd",
                           x_of(p, percent / 100.0), bottom + 18, percent > 0 ? "+" : "", percent);
    }
    calc_output_printf(
        p->out,
        "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">predicted over measured time "
        "%s, less 1 [%%]; bar: bias, number: mean of absolute errors</text>\n"
        "</g>\n",
        LEFT + SIDE / 2, bottom + 44,
        p->results->servings > 0 ? "per output token, or of a static batch" : "of a step");
}

/* A table's points, a little apart so that equal ones show, its bias and its mean. */
static void write_row(plot *p, const calc_error_group *group, size_t set, int row)
{
    int y = y_of(row);
    calc_output_printf(p->out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"#333\">",
                       LEFT - 12, y + 4);
    calc_svg_text(p->out, group->name);
    calc_output_printf(p->out, "%s (%zu)</text>\n",
                       group->quantity == CALC_QUANTITY_E2E ? ", whole batches" : "",
                       group->spread.count);
    int number = 0;
    for (size_t i = 0; i < p->results->count; i++) {
        const calc_result *r = &p->results->item[i];
        if (!is_point(r, group, set)) {
            continue;
        }
        const char *machine = calc_result_machine(r);
        calc_output_printf(p->out,
                           "<circle cx=\"%.1f\" cy=\"%d\" r=\"2.5\" fill=\"%s\" "
                           "fill-opacity=\"0.5\"><title>",
                           x_of(p, r->error), y + number++ % 5 * 3 - 6,
                           calc_svg_machine_color(&p->machines, machine));
        calc_svg_text(p->out, calc_result_id(r));
        calc_output_printf(p->out, ": %+.1f %%</title></circle>\n", 100 * r->error);
    }
    calc_output_printf(p->out,
                       "<path d=\"M%.1f %d V%d\" stroke=\"#000\" stroke-width=\"2.5\"/>"
                       "<text x=\"%d\" y=\"%d\" fill=\"#333\">%.1f</text>\n",
                       x_of(p, group->spread.bias), y - 10, y + 10, LEFT + SIDE + 10, y + 4,
                       100 * group->spread.mean_abs);
}

static size_t set_of(const calc_error_group *group)
{
    size_t set = 0;
    while (calc_sets_name(set) && strcmp(calc_sets_name(set), group->name) != 0) {
        set++;
    }
    return set;
}

void calc_errors_svg_write(calc_output *out, const calc_results *results,
                           const calc_error_groups *groups)
{
    plot p = {.out = out, .results = results, .most = results->servings > 0 ? 100 : 40};
    for (size_t i = 0; i < groups->count; i++) {
        p.rows += is_row(&groups->item[i]);
    }
    write_frame(&p);
    int row = 0;
    for (size_t i = 0; i < groups->count; i++) {
        const calc_error_group *group = &groups->item[i];
        if (is_row(group)) {
            write_row(&p, group, set_of(group), row++);
        }
    }
    calc_svg_legend(out, &p.machines, LEFT + SIDE + 64, TOP + 14);
    calc_output_text(out, "</svg>\n");
}
