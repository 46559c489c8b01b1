#include "cli/validate/validate_features.h"

#include <math.h>

static const char *id_of(const calc_features *f, size_t cell)
{
    return f->cell[cell].first->prediction->map.row->id;
}

/* ---- Text ------------------------------------------------------------------------------------ */

static void write_option(calc_output *out, const calc_features_option *o)
{
    calc_output_printf(out, "%-28s%7zu%9zu%8zu%9zu%8zu%8zu", o->name, o->moved, o->agreed,
                       o->missed, o->moved - o->agreed - o->missed, o->still, o->stayed);
    if (!isnan(o->tau)) {
        calc_output_printf(out, "%8.2f", o->tau);
    }
    if (!isnan(o->ratio)) {
        calc_output_printf(out, "%*.2f", isnan(o->tau) ? 16 : 8, o->ratio);
    }
    calc_output_text(out, "\n");
}

static void write_wrong(calc_output *out, const calc_features *f, const calc_features_option *o)
{
    const calc_features_pair *p = &f->pair[o->wrong];
    calc_output_printf(out, "%s: %s: measured %+.1f %%, predicted %+.1f %%, %s -> %s\n",
                       p->predicted > CALC_FEATURES_STILL ? "opposite" : "missed", o->name,
                       100 * p->measured, 100 * p->predicted, id_of(f, p->from), id_of(f, p->to));
}

void calc_validate_features_table(calc_output *out, const calc_features *f)
{
    calc_features_option all = {.name = "all", .tau = (double)NAN, .ratio = (double)NAN};
    calc_output_printf(out, "%-28s%7s%9s%8s%9s%8s%8s%8s%8s\n", "memory, pairs that differ in",
                       "moved", "same way", "missed", "opposite", "still", "stayed", "tau",
                       "ratio");
    for (size_t i = 0; i < f->options; i++) {
        const calc_features_option *o = &f->option[i];
        write_option(out, o);
        all.moved += o->moved;
        all.agreed += o->agreed;
        all.missed += o->missed;
        all.still += o->still;
        all.stayed += o->stayed;
    }
    write_option(out, &all);
    for (size_t i = 0; i < f->options; i++) {
        if (f->option[i].has_wrong) {
            write_wrong(out, f, &f->option[i]);
        }
    }
    calc_output_text(out, "\n");
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_wrong(calc_put *put, const calc_features *f, const calc_features_pair *p)
{
    calc_put_object(put, "wrong", CALC_PUT_LINE);
    calc_put_text(put, "from", id_of(f, p->from));
    calc_put_text(put, "to", id_of(f, p->to));
    calc_put_number(put, "measured", p->measured);
    calc_put_number(put, "predicted", p->predicted);
    calc_put_close(put);
}

void calc_validate_features_put(calc_put *put, const calc_features *f)
{
    calc_put_array(put, "features", CALC_PUT_LINES);
    for (size_t i = 0; i < f->options; i++) {
        const calc_features_option *o = &f->option[i];
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "option", o->name);
        calc_put_count(put, "moved", (int64_t)o->moved);
        calc_put_count(put, "agreed", (int64_t)o->agreed);
        calc_put_count(put, "missed", (int64_t)o->missed);
        calc_put_count(put, "still", (int64_t)o->still);
        calc_put_count(put, "stayed", (int64_t)o->stayed);
        calc_put_number(put, "kendall_tau", o->tau);
        calc_put_number(put, "ratio_median", o->ratio);
        if (o->has_wrong) {
            put_wrong(put, f, &f->pair[o->wrong]);
        }
        calc_put_close(put);
    }
    calc_put_close(put);
}
