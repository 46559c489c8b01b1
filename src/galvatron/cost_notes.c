#include "galvatron/profiles.h"

#include "galvatron/cost_terms.h"

#include <inttypes.h>

/* Notes a number of samples outside the fitted range. */
static void note_batch(const calc_galvatron_compute *compute, const char *name, double samples,
                       calc_notes *notes)
{
    const calc_galvatron_line *line = &compute->line;
    if (compute->batch && (samples < line->least || samples > line->most)) {
        calc_notes_add(notes,
                       "a batch of %g is %s profiled (%g): the line over batches is used for "
                       "%s",
                       samples, samples < line->least ? "below the least" : "above the largest",
                       samples < line->least ? line->least : line->most, name);
    }
}

/* Notes a message outside the measured sizes. */
static void note_message(const calc_galvatron_collective *collective, const char *name, int ranks,
                         double mb, calc_notes *notes)
{
    const calc_galvatron_line *line = &collective->line;
    if (collective->count && (mb < line->least || mb > line->most)) {
        calc_notes_add(notes, "%s of %g MB over %d GPUs is %s measured (%g MB): the line is used",
                       name, mb, ranks, mb < line->least ? "below the least" : "above the largest",
                       mb < line->least ? line->least : line->most);
    }
}

static void note_messages(const calc_galvatron_case *c, const calc_galvatron_strategy *s, int type,
                          calc_notes *notes)
{
    const calc_galvatron_profiles *p = c->profiles;
    double mb =
        calc_galvatron_message_mb(c->request, (double)calc_galvatron_local_batch(c, s), type);
    if (s->tp > 1) {
        note_message(&p->all_gather[calc_galvatron_doublings(s->tp)], "an all-gather", s->tp, mb,
                     notes);
    }
    if (s->sp > 1) {
        note_message(&p->all_to_all[calc_galvatron_doublings(s->sp)], "an all-to-all", s->sp, mb,
                     notes);
    }
}

void calc_galvatron_cost_notes(const calc_galvatron_case *c, const calc_galvatron_strategy *s,
                               int type, calc_notes *notes)
{
    double samples = (double)calc_galvatron_local_batch(c, s) / calc_galvatron_tpsp(s);
    if (type >= 0) {
        note_batch(&c->profiles->layer[type], "layers", samples, notes);
        note_messages(c, s, type, notes);
        return;
    }
    note_batch(&c->profiles->other, "embedding and head", samples / s->cp, notes);
    if (s->tp > 1) { /* Ulysses sends nothing here */
        note_messages(c, s, 0, notes);
        note_messages(c, s, c->request->types - 1, notes);
    }
}
