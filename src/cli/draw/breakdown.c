#include "cli/draw/breakdown.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/draw/human.h"
#include "spec/field.h"
#include "spec/layer_list.h"
#include "spec/stage_list.h"
#include "spec/value_text.h"

static const calc_paint_mark kinds[CALC_STACK_KINDS] = {
#define CALC_X(name, ...) [CALC_STACK_##name] = {__VA_ARGS__},
    CALC_STACK_KIND_LIST(CALC_X)
#undef CALC_X
};

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
        calc_paint_marks(out, paint, &kinds[kind], share[kind]);
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
        calc_paint_marks(out, paint, &kinds[kind], 1);
        calc_output_printf(out, " %s", kinds[kind].words);
        used += length;
    }
    calc_output_text(out, used > 0 ? "\n" : "");
}

typedef struct line {
    const char *label, *color;
} line;

/* Of the parts of a step. */
static const calc_bars_kind time_kinds[CALC_BREAKDOWN_TIMES] = {
#define CALC_X(label, member, kind) CALC_STACK_##kind,
    CALC_BREAKDOWN_TIME_LIST(CALC_X)
#undef CALC_X
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
        time_s[time_kinds[i]] += part_s[i];
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
        /* Only side by side is the backward pass told apart from the forward by its colour. */
        bool backward = time_kinds[i] == CALC_STACK_BACKWARD;
        lines[i] = (line){calc_breakdown_time_label(i),
                          kinds[backward ? CALC_STACK_FORWARD : time_kinds[i]].color};
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

static const char *chip_name(const calc_exec *exec, int chip, const char *name)
{
    return chip > 0 ? exec->stages.name[chip - 1] : name;
}

/* What is said of the runs of stages, or of layers, of an execution. */
typedef struct listed {
    const calc_exec *exec;
    int key;
    const char *name; /* of the system of the run */
} listed;

enum { WORD = CALC_JOINED_WORD, STAGE_BLOCKS = 0, STAGE_CHIP, STAGE_RECOMPUTE };

static int64_t stage_word(const void *context, int64_t i, char word[WORD])
{
    const listed *l = context;
    const calc_stage_run *run = &l->exec->stages.run[i];
    if (l->key == STAGE_BLOCKS) {
        snprintf(word, WORD, "%d", run->blocks);
    } else if (l->key == STAGE_CHIP) {
        snprintf(word, WORD, "%.100s", chip_name(l->exec, run->chip, l->name));
    } else {
        calc_exec e = calc_stage_list_exec(l->exec, run);
        calc_stage_words_recomputed(&e, word, WORD);
        if (e.recompute_blocks > 0) {
            calc_append(word, WORD, " of %jd", e.recompute_blocks);
        }
    }
    return run->places;
}

static char *stage_words(const calc_exec *exec, int key, const char *name, char *text)
{
    const listed l = {exec, key, name};
    return calc_join_words(text, CALC_STAGE_WORDS_SIZE, exec->stages.count, stage_word, &l,
                           key == STAGE_BLOCKS ? "x" : "x ", 2);
}

char *calc_stage_words_blocks(const calc_exec *exec, char *text)
{
    if (exec->stages.run[0].blocks == CALC_STAGE_AS_EXEC) {
        snprintf(text, CALC_STAGE_WORDS_SIZE, "spread evenly");
        return text;
    }
    return stage_words(exec, STAGE_BLOCKS, "", text);
}

char *calc_stage_words_chips(const calc_exec *exec, const char *name, char *text)
{
    return stage_words(exec, STAGE_CHIP, name, text);
}

char *calc_stage_words_recompute(const calc_exec *exec, char *text)
{
    return stage_words(exec, STAGE_RECOMPUTE, "", text);
}

char *calc_stage_words_machine(const calc_exec *exec, const char *name, char *text)
{
    const calc_stage_list *list = &exec->stages;
    int64_t all = calc_stage_list_places(list);
    text[0] = '\0';
    for (int32_t i = 0; i < list->count; i++) {
        const char *mine = chip_name(exec, list->run[i].chip, name);
        int64_t places = 0;
        bool before = false;
        for (int32_t k = 0; k < list->count; k++) {
            bool same = strcmp(chip_name(exec, list->run[k].chip, name), mine) == 0;
            before = before || (same && k < i);
            places += same ? list->run[k].places : 0;
        }
        if (!before) {
            int64_t procs = exec->num_procs * places / all;
            calc_append(text, CALC_STAGE_WORDS_SIZE, "%s%s x %.100s", i > 0 ? " and " : "",
                        calc_human_integer((double)procs), mine);
        }
    }
    return text;
}

char *calc_stage_words_sizes(const calc_exec *exec, bool assigned, char *text, size_t size)
{
    const calc_strategy *s = &exec->strategy;
    const struct {
        const char *words[2];
        int64_t size;
    } sizes[] = {{{"TP ", "tp="}, s->tensor_par},
                 {{"CP ", "cp="}, s->context_par},
                 {{"EP ", "ep="}, s->expert_par},
                 {{"PP ", "pp="}, exec->pipeline_par},
                 {{"DP ", "dp="}, s->data_par}};
    *text = '\0';
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i].size > 1) {
            calc_append(text, size, "%s%s%jd", *text ? " " : "", sizes[i].words[assigned],
                        sizes[i].size);
        }
    }
    return text;
}

void calc_stage_words_recomputed(const calc_exec *e, char *word, size_t size)
{
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    char set[CALC_CHOICE_SET_SIZE];
    const char *kind =
        calc_table_find(table, "activation_recompute")->choices[e->strategy.activation_recompute];
    snprintf(word, size, "%s", kind);
    if (e->strategy.recompute_modules != 0) {
        snprintf(word, size, "%.100s",
                 calc_choice_set_text(calc_table_find(table, "recompute_modules")->choices,
                                      e->strategy.recompute_modules, set));
    }
}

/* The keys of a layer, in the order of calc_layer_words_keys, and all of them as a whole. */
enum { TENSOR, CONTEXT, EXPERT, ZERO, RECOMPUTE, WHOLE };

static const char *type_of(const calc_exec *e)
{
    return calc_table_find(calc_table_of(CALC_KIND_EXEC), "context_par_type")
        ->choices[e->strategy.context_par_type];
}

static void words_whole(const calc_exec *e, char word[WORD])
{
    const calc_strategy *s = &e->strategy;
    int64_t zero = calc_zero_stage(s);
    char again[WORD];
    snprintf(word, WORD, "tp%jd", s->tensor_par);
    if (s->context_par > 1) {
        calc_append(word, WORD, " cp%jd %s", s->context_par, type_of(e));
    }
    if (s->expert_par > 1) {
        calc_append(word, WORD, " ep%jd", s->expert_par);
    }
    if (zero > 0) {
        calc_append(word, WORD, " zero%jd", zero);
    }
    if (s->activation_recompute != CALC_ACTIVATION_RECOMPUTE_NONE) {
        calc_stage_words_recomputed(e, again, sizeof again);
        calc_append(word, WORD, " %s", again);
    }
}

static int64_t layer_word(const void *context, int64_t i, char word[WORD])
{
    const listed *l = context;
    const calc_layer_run *run = &l->exec->layers.run[i];
    const calc_exec e = calc_layer_list_exec(l->exec, &run->strategy);
    const calc_strategy *s = &e.strategy;
    const int64_t value[] = {s->tensor_par, s->context_par, s->expert_par, calc_zero_stage(s)};
    if (l->key == WHOLE) {
        words_whole(&e, word);
    } else if (l->key == RECOMPUTE) {
        calc_stage_words_recomputed(&e, word, WORD);
    } else {
        bool none = l->key != ZERO && value[l->key] < 1;
        snprintf(word, WORD, "%jd", none ? 1 : value[l->key]);
    }
    if (l->key == CONTEXT && s->context_par > 1) {
        calc_append(word, WORD, " %s", type_of(&e));
    }
    return run->blocks;
}

static char *layer_words(const calc_exec *exec, int key, char *text)
{
    const listed l = {exec, key, ""};
    return calc_join_words(text, CALC_LAYER_WORDS_SIZE, exec->layers.count, layer_word, &l, "x ",
                           1);
}

char *calc_layer_words(const calc_exec *exec, char *text)
{
    return layer_words(exec, WHOLE, text);
}

char *calc_layer_words_ends(const calc_exec *exec, char *text)
{
    calc_exec e = calc_layer_list_exec(exec, &exec->layers.ends);
    e.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    words_whole(&e, text);
    return text;
}

const char *const calc_layer_words_keys[] = {"layers.tensor_par",
                                             "layers.context_par",
                                             "layers.expert_par",
                                             "layers.zero_stage",
                                             "layers.recompute",
                                             "layers.ends",
                                             NULL};

char *calc_layer_words_of(const calc_exec *exec, int key, char *text)
{
    return key < WHOLE ? layer_words(exec, key, text) : calc_layer_words_ends(exec, text);
}
