#include "cli/draw/breakdown.h"

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

typedef struct line {
    const char *label, *color;
} line;

/* Of the parts of a step. */
static const struct {
    const char *color;
    calc_stack_kind kind;
} time_looks[CALC_BREAKDOWN_TIMES] = {
    {CALC_PAINT_GREEN, CALC_STACK_FORWARD},         /* forward */
    {CALC_PAINT_GREEN, CALC_STACK_BACKWARD},        /* backward */
    {CALC_PAINT_GREEN, CALC_STACK_OPTIMIZER},       /* optimizer */
    {CALC_PAINT_BLUE, CALC_STACK_RECOMPUTE},        /* recompute */
    {CALC_PAINT_MAGENTA, CALC_STACK_COMMUNICATION}, /* repeated communication */
    {CALC_PAINT_YELLOW, CALC_STACK_BUBBLE},         /* pipeline bubble */
    {CALC_PAINT_MAGENTA, CALC_STACK_COMMUNICATION}, /* tensor-parallel comm. */
    {CALC_PAINT_MAGENTA, CALC_STACK_COMMUNICATION}, /* pipeline comm. */
    {CALC_PAINT_MAGENTA, CALC_STACK_COMMUNICATION}, /* data-parallel comm. */
    {CALC_PAINT_RED, CALC_STACK_OTHER},             /* forward offload */
    {CALC_PAINT_RED, CALC_STACK_OTHER},             /* backward offload */
    {CALC_PAINT_GREEN, CALC_STACK_HEAD},            /* embedding and head */
    {CALC_PAINT_MAGENTA, CALC_STACK_COMMUNICATION}, /* context-parallel comm. */
    {CALC_PAINT_MAGENTA, CALC_STACK_COMMUNICATION}, /* expert-parallel comm. */
    {CALC_PAINT_RED, CALC_STACK_OTHER},             /* waiting for the host */
    {CALC_PAINT_RED, CALC_STACK_OTHER},             /* stragglers */
    {CALC_PAINT_RED, CALC_STACK_OTHER},             /* fixed overhead */
};

static const char *const space_colors[CALC_BREAKDOWN_SPACES] = {
    CALC_PAINT_GREEN,   /* weights */
    CALC_PAINT_BLUE,    /* activations */
    CALC_PAINT_BLUE,    /* checkpoints */
    CALC_PAINT_MAGENTA, /* activation gradients */
    CALC_PAINT_MAGENTA, /* weight gradients */
    CALC_PAINT_YELLOW,  /* optimizer */
    CALC_PAINT_BLUE,    /* head */
    CALC_PAINT_RED,     /* framework */
    CALC_PAINT_RED,     /* fragmentation, reserve */
    CALC_PAINT_YELLOW,  /* cached keys and values */
};

void calc_breakdown_kinds(const calc_stats *stats, double time_s[CALC_STACK_KINDS])
{
    double part_s[CALC_BREAKDOWN_TIMES];
    calc_breakdown_times(stats, part_s);
    for (int kind = 0; kind < CALC_STACK_KINDS; kind++) {
        time_s[kind] = 0;
    }
    for (size_t i = 0; i < CALC_BREAKDOWN_TIMES; i++) {
        time_s[time_looks[i].kind] += part_s[i];
    }
}

/* The unit of a column of numbers. */
typedef struct unit {
    const char *text;
    double scale;
    int decimals;
} unit;

/* A whole: `total` in `unit`; a full bar, and 100 %, is `full`. */
typedef struct whole {
    double total, full;
    const unit *unit;
} whole;

/* One line; the number as a multiple of its last decimal, the percentage in tenths. */
static void write_line(calc_output *out, const calc_paint *paint, const line *l, const whole *w,
                       double fraction, int64_t steps, int64_t tenths)
{
    enum { BAR = 28, NUMBER = 11, PERCENT = 6, USUAL = 80 };
    int missing = USUAL - calc_paint_columns();
    int bar = missing <= 0 ? BAR : missing < BAR ? BAR - missing : 0;
    calc_output_printf(out, "  %-*s", CALC_BREAKDOWN_LABEL - 2, l->label);
    calc_paint_bar(out, paint, l->color, fraction, bar);
    calc_output_printf(out, "%*.*f %-4s", NUMBER, w->unit->decimals,
                       (double)steps / pow(10, w->unit->decimals), w->unit->text);
    if (w->full > 0) {
        calc_output_printf(out, "%*.1f %%\n", PERCENT, (double)tenths / 10);
    } else {
        calc_output_printf(out, "%*s\n", PERCENT + 2, "n/a");
    }
}

/* The parts that are not zero, and the total. Numbers and percentages add up as printed. */
static void write_whole(calc_output *out, const calc_paint *paint, const line *lines,
                        const double *value, size_t count, const whole *w)
{
    if (!(w->total > 0)) {
        calc_output_printf(out, "  %s\n", isnan(w->total) ? "n/a" : "nothing");
        return;
    }
    int64_t steps[CALC_BREAKDOWN_TIMES];
    int64_t tenths[CALC_BREAKDOWN_TIMES];
    int64_t all_steps = llround(w->total / w->unit->scale * pow(10, w->unit->decimals));
    int64_t all_tenths = w->full > 0 ? llround(1000 * w->total / w->full) : 0;
    calc_human_apportion(value, count, all_steps, steps);
    calc_human_apportion(value, count, all_tenths, tenths);
    for (size_t i = 0; i < count; i++) {
        if (value[i] != 0) {
            write_line(out, paint, &lines[i], w, value[i] / w->full, steps[i], tenths[i]);
        }
    }
    const line total = {"total", w->total > w->full ? CALC_PAINT_RED : CALC_PAINT_BOLD};
    write_line(out, paint, &total, w, w->total / w->full, all_steps, all_tenths);
}

/* Times in the unit that the total is shown in. */
static void write_times(calc_output *out, const calc_paint *paint, const line *lines,
                        const double *time_s, size_t count, double total_s)
{
    static const unit units[] = {{"s", 1, 3}, {"ms", 1e-3, 3}, {"us", 1e-6, 3}};
    const whole w = {total_s, total_s, &units[total_s >= 1 ? 0 : total_s >= 1e-3 ? 1 : 2]};
    write_whole(out, paint, lines, time_s, count, &w);
}

void calc_breakdown_write_time(calc_output *out, const calc_paint *paint, const calc_stats *stats)
{
    double time_s[CALC_BREAKDOWN_TIMES];
    line lines[CALC_BREAKDOWN_TIMES];
    calc_breakdown_times(stats, time_s);
    for (size_t i = 0; i < CALC_BREAKDOWN_TIMES; i++) {
        lines[i] = (line){calc_breakdown_time_label(i), time_looks[i].color};
    }
    write_times(out, paint, lines, time_s, CALC_BREAKDOWN_TIMES, stats->total_time);
}

void calc_breakdown_write_parts(calc_output *out, const calc_paint *paint, const char *const *label,
                                const double *time_s, size_t count, double total_s)
{
    static const char *const colors[] = {CALC_PAINT_GREEN, CALC_PAINT_BLUE, CALC_PAINT_MAGENTA};
    line lines[CALC_BREAKDOWN_TIMES];
    for (size_t i = 0; i < count; i++) {
        lines[i] = (line){label[i], colors[i % 3]};
    }
    write_times(out, paint, lines, time_s, count, total_s);
}

void calc_breakdown_write_memory(calc_output *out, const calc_paint *paint, const calc_exec *exec,
                                 const calc_stats *stats, int tier, bool ours)
{
    static const unit gib = {"GiB", 0x1p30, 2};
    const whole w = {tier == 1 ? stats->proc_mem_tier1_cap_req : stats->proc_mem_tier2_cap_req,
                     tier == 1 ? stats->mem_tier1_capacity : stats->mem_tier2_capacity, &gib};
    double space_bytes[CALC_BREAKDOWN_SPACES];
    line lines[CALC_BREAKDOWN_SPACES];
    calc_breakdown_spaces(exec, stats, tier, space_bytes);
    for (size_t i = 0; i < CALC_BREAKDOWN_SPACES; i++) {
        lines[i] = (line){calc_breakdown_space_name(i, ours), space_colors[i]};
    }
    write_whole(out, paint, lines, space_bytes, CALC_BREAKDOWN_SPACES, &w);
}
