#include "cli/validate/validate_peers.h"

#include <math.h>
#include <stdio.h>

/* ---- Text ------------------------------------------------------------------------------------ */

static const char *quantity_of(const calc_peer *p)
{
    return p->quantity == CALC_QUANTITY_STEP_TIME ? "time" : "memory";
}

static void write_percent(calc_output *out, double fraction)
{
    if (isnan(fraction)) {
        calc_output_printf(out, "%7s", "");
    } else {
        calc_output_printf(out, "%7.1f", 100 * fraction);
    }
}

static void write_peer(calc_output *out, const calc_peer *p)
{
    char name[96];
    snprintf(name, sizeof name, "%.40s, %.40s", p->simulator, p->machine);
    calc_output_printf(out, "%-36s %-7s%6zu", name, quantity_of(p), p->rows);
    write_percent(out, p->mean_abs);
    write_percent(out, p->worst_abs);
    calc_output_printf(out, "%8zu%7.1f%7.1f%s%s\n", p->ours.count, 100 * p->ours.mean_abs,
                       100 * p->ours.worst_abs, *p->note ? "  " : "", p->note);
}

static void write_alone(calc_output *out, const calc_peer *p)
{
    calc_output_printf(out, "not comparable: %s, %s, %s", p->simulator, p->machine, quantity_of(p));
    if (!isnan(p->mean_abs)) {
        calc_output_printf(out, ", mean %.1f", 100 * p->mean_abs);
    }
    if (!isnan(p->worst_abs)) {
        calc_output_printf(out, ", worst %.1f", 100 * p->worst_abs);
    }
    if (p->rows > 0) {
        calc_output_printf(out, " (%zu rows)", p->rows);
    }
    calc_output_printf(out, ": %s\n", p->listed > 0 ? "its runs cannot be predicted" : p->note);
}

void calc_validate_peers_table(calc_output *out, const calc_peers *peers)
{
    size_t shown = 0;
    for (size_t i = 0; i < peers->count; i++) {
        if (peers->item[i].ours.count > 0) {
            calc_output_printf(out, "%s",
                               shown++ ? ""
                                       : "published errors of others, in %     "
                                         "            n   mean  worst  calc n   mean  worst\n");
            write_peer(out, &peers->item[i]);
        }
    }
    for (size_t i = 0; shown > 0 && i < peers->count; i++) {
        if (peers->item[i].ours.count == 0) {
            write_alone(out, &peers->item[i]);
        }
    }
    calc_output_text(out, shown > 0 ? "\n" : "");
}

/* ---- JSON ------------------------------------------------------------------------------------ */

void calc_validate_peers_put(calc_put *put, const calc_peers *peers)
{
    calc_put_array(put, "peers", CALC_PUT_LINES);
    for (size_t i = 0; i < peers->count; i++) {
        const calc_peer *p = &peers->item[i];
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "simulator", p->simulator);
        calc_put_text(put, "machine", p->machine);
        calc_put_text(put, "quantity", calc_quantity_word(p->quantity));
        calc_put_count(put, "n", (int64_t)p->rows);
        calc_put_number(put, "mean_abs", p->mean_abs);
        calc_put_number(put, "worst_abs", p->worst_abs);
        calc_put_count(put, "calc_n", (int64_t)p->ours.count);
        calc_put_number(put, "calc_mean_abs", p->ours.mean_abs);
        calc_put_number(put, "calc_worst_abs", p->ours.worst_abs);
        calc_put_text(put, "note", p->note);
        calc_put_close(put);
    }
    calc_put_close(put);
}
