#include "cli/tune/tune_task.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/hash.h"
#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "cli/shell/find.h"
#include "cli/sweep/sweep_rows.h"
#include "cli/sweep/sweep_study.h"
#include "io/json_put.h"
#include "parallel.h"
#include "spec/field.h"
#include "spec/value_text.h"
#include "tune/model.h"

enum { SHORT = 8, LONG = 16, BITS = 4 /* of a digit */ };

uint64_t calc_tune_layouts_hash(const calc_exec *exec)
{
    calc_text text = {0};
    calc_output *out = calc_write_to_memory(&text);
    calc_put put = calc_put_to(out);
    calc_put_struct(&put, NULL, CALC_KIND_EXEC, exec);
    (void)calc_is_yes(calc_output_close(out, NULL));
    uint64_t hash = calc_hash(CALC_HASH_START, text.data, text.length);
    calc_text_free(&text);
    return hash;
}

/* Layouts while they are evaluated, each at its place. */
typedef struct making {
    calc_tune_layouts *layouts;
    const calc_front *best;
    bool *kept; /* the others are left out */
} making;

/* A candidate, with the chance to fit that calc sweep shows. */
static bool candidate_of(const calc_tune_layouts *l, const calc_exec *exec,
                         calc_tune_candidate *out)
{
    bool fine = calc_tune_candidate_of(out, l->app, l->system, exec);
    if (fine && l->known) {
        const calc_fits_query query = {l->app, l->system, exec, l->family, out->memory_bytes, NULL};
        out->fits = calc_fits_share(l->known, &query);
    }
    return fine;
}

static void evaluate(void *context, size_t i)
{
    making *m = context;
    calc_tune_layouts *l = m->layouts;
    const calc_exec exec = calc_found_exec(&m->best->item[i]);
    m->kept[i] = candidate_of(l, &exec, &l->candidate[i]);
    l->hash[i] = m->kept[i] ? calc_tune_layouts_hash(&exec) : 0;
}

static void reserve(calc_tune_layouts *l, size_t capacity)
{
    l->candidate = calc_longer(l->candidate, capacity, sizeof *l->candidate);
    l->found = calc_longer((void *)l->found, capacity, sizeof(const calc_found *));
    l->hash = calc_longer(l->hash, capacity, sizeof *l->hash);
    l->by_hash = calc_longer(l->by_hash, capacity, sizeof *l->by_hash);
    l->capacity = capacity;
}

/* Of equals the first. */
static size_t place_of(const calc_tune_layouts *l, uint64_t hash)
{
    size_t lo = 0;
    size_t hi = l->count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (l->hash[l->by_hash[mid]] < hash) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

typedef struct ranked {
    uint64_t hash;
    size_t index;
} ranked;

static CALC_ORDER_BY(compare_ranked, ranked, hash, index)

/* Put those together that could be evaluated, each layout once. */
static void gather(making *m)
{
    calc_tune_layouts *l = m->layouts;
    size_t all = m->best->count;
    ranked *order = calc_make(all + 1, sizeof *order);
    size_t fine = 0;
    for (size_t i = 0; i < all; i++) {
        if (m->kept[i]) {
            order[fine++] = (ranked){l->hash[i], i};
        }
    }
    CALC_SORT(order, fine, compare_ranked);
    for (size_t i = 1; i < fine; i++) {
        m->kept[order[i].index] = order[i].hash != order[i - 1].hash;
    }
    l->count = 0;
    for (size_t i = 0; i < all; i++) {
        if (m->kept[i]) {
            l->candidate[l->count] = l->candidate[i];
            l->hash[l->count] = l->hash[i];
            l->found[l->count] = &m->best->item[i];
            order[l->count] = (ranked){l->hash[i], l->count};
            l->count++;
        }
    }
    CALC_SORT(order, l->count, compare_ranked);
    for (size_t i = 0; i < l->count; i++) {
        l->by_hash[i] = order[i].index;
    }
    l->swept = l->count;
    free(order);
}

void calc_tune_layouts_make(calc_tune_layouts *out, const calc_front *best, int threads)
{
    *out = (calc_tune_layouts){
        .app = out->app, .system = out->system, .known = out->known, .family = out->family};
    making m = {out, best, calc_make(best->count + 1, sizeof *m.kept)};
    reserve(out, best->count + 1);
    calc_parallel_for(threads, best->count, evaluate, &m);
    gather(&m);
    free(m.kept);
}

/* A layout that was added: unlike those of a sweep, it may have lists of stages or layers. */
typedef struct added {
    calc_found found; /* first: layouts point to it */
    calc_exec exec;
} added;

calc_exec calc_tune_layouts_exec(const calc_tune_layouts *l, size_t index)
{
    const calc_found *found = l->found[index];
    return index < l->swept ? calc_found_exec(found) : ((const added *)found)->exec;
}

bool calc_tune_layouts_add(calc_tune_layouts *l, const calc_exec *exec, size_t *index)
{
    uint64_t hash = calc_tune_layouts_hash(exec);
    size_t at = place_of(l, hash);
    if (at < l->count && l->hash[l->by_hash[at]] == hash) {
        *index = l->by_hash[at];
        return true;
    }
    added *own = calc_make(1, sizeof *own);
    if (l->count == l->capacity) {
        reserve(l, 2 * l->capacity + 16);
    }
    *own = (added){.found = calc_found_of(0, exec), .exec = *exec};
    if (!candidate_of(l, exec, &l->candidate[l->count])) {
        free(own);
        return false;
    }
    memmove(&l->by_hash[at + 1], &l->by_hash[at], (l->count - at) * sizeof *l->by_hash);
    l->by_hash[at] = *index = l->count;
    l->hash[l->count] = hash;
    l->found[l->count] = &own->found;
    l->count++;
    return true;
}

size_t calc_tune_layouts_find(const calc_tune_layouts *l, const char *text, size_t *index)
{
    size_t digits = strlen(text);
    uint64_t hash = 0;
    if (digits < SHORT || digits > LONG) {
        return 0;
    }
    for (const char *at = text; *at; at++) {
        if (!isxdigit((unsigned char)*at)) {
            return 0;
        }
        int low = tolower((unsigned char)*at);
        hash = hash << BITS | (uint64_t)(low <= '9' ? low - '0' : low - 'a' + 10);
    }
    unsigned rest = (unsigned)(LONG - digits) * BITS;
    size_t first = place_of(l, hash << rest);
    size_t count = 0;
    while (first + count < l->count && l->hash[l->by_hash[first + count]] >> rest == hash) {
        count++;
    }
    *index = count > 0 ? l->by_hash[first] : 0;
    return count;
}

char *calc_tune_layouts_id(const calc_tune_layouts *l, size_t index, char text[CALC_TUNE_ID_SIZE])
{
    size_t first;
    snprintf(text, CALC_TUNE_ID_SIZE, "%016" PRIx64, l->hash[index]);
    text[SHORT] = '\0';
    if (calc_tune_layouts_find(l, text, &first) > 1) {
        snprintf(text, CALC_TUNE_ID_SIZE, "%016" PRIx64, l->hash[index]);
    }
    return text;
}

void calc_tune_layouts_free(calc_tune_layouts *l)
{
    for (size_t i = l->swept; i < l->count; i++) {
        free((void *)l->found[i]);
    }
    free(l->candidate);
    free(l->found);
    free(l->hash);
    free(l->by_hash);
    *l = (calc_tune_layouts){0};
}

calc_status calc_tune_operators_read(calc_tune_operators *out, const char *path, const char *rows,
                                     const calc_system *system, calc_errors *errors)
{
    *out = (calc_tune_operators){0};
    calc_status status = calc_points_read(&out->points, path, errors);
    status = status == CALC_OK ? calc_points_select(&out->points, rows, system, errors) : status;
    if (status == CALC_OK) {
        calc_point_table_make(&out->table, out->points.item, out->points.count, NULL, system);
    }
    return status;
}

/* A file that says nothing of any layout was meant for something else. */
static calc_status check(const calc_tune_operators *o, calc_errors *errors)
{
    enum { MOST = 400 };
    char names[MOST] = "";
    char words[CALC_TUNE_KERNEL_WORDS];
    const calc_tune_kernels_learnt *l = &o->learnt;
    size_t measured = 0, used = 0;
    for (size_t i = 0; i < l->classes; i++) {
        measured += l->class[i].measured;
        if (used + CALC_TUNE_KERNEL_WORDS + 2 < MOST) {
            used += (size_t)snprintf(names + used, MOST - used, "%s%s", i > 0 ? ", " : "",
                                     calc_tune_kernel_class_words(&l->class[i].class, words));
        }
    }
    return measured > 0 || l->classes == 0
               ? CALC_OK
               : calc_errors_at(errors, CALC_ERR_FIELD, o->points.name, 0, 0, NULL,
                                "no row is of kernels that these layouts run: %s", names);
}

calc_status calc_tune_operators_learn(calc_tune_operators *o, const calc_app *app,
                                      const calc_system *system, const calc_tune_prior *prior,
                                      const calc_tune_candidate *candidate, size_t count,
                                      calc_tune_exec_of exec, const void *context,
                                      calc_errors *errors)
{
    calc_tune_kernel_cells cells;
    calc_tune_kernels_free(&o->learnt);
    calc_tune_kernel_cells_make(&cells, app, system, candidate, count, exec, context);
    calc_status status = calc_tune_kernels_learn(&o->learnt, prior, &o->table.table, cells.cell,
                                                 cells.count, errors);
    calc_tune_kernel_cells_free(&cells);
    return status == CALC_OK ? check(o, errors) : status;
}

void calc_tune_operators_free(calc_tune_operators *o)
{
    calc_points_free(&o->points);
    calc_point_table_free(&o->table);
    calc_tune_kernels_free(&o->learnt);
}

static void write_class(calc_output *out, const calc_tune_kernels_class *c)
{
    char words[CALC_TUNE_KERNEL_WORDS];
    calc_output_printf(out, "  %-38s%7.0f %%%9zu", calc_tune_kernel_class_words(&c->class, words),
                       100 * c->share, c->shapes);
    if (c->measured > 0) {
        calc_output_printf(out, "%10zu%10zu%+11.1f %%\n", c->measured, c->exact,
                           100 * expm1(c->error));
    } else {
        calc_output_text(out, "      none: as published runs have it\n");
    }
}

void calc_tune_operators_write(calc_output *out, const calc_tune_operators *o)
{
    const calc_tune_kernels_learnt *l = &o->learnt;
    calc_output_printf(out, "\n%-40s%9s%9s%10s%10s%13s\n", "Kernels", "time", "shapes", "measured",
                       "the same", "slower");
    for (size_t i = 0; i < l->classes; i++) {
        write_class(out, &l->class[i]);
    }
    calc_output_printf(out, "  %-38s%7.0f %%\n", "other kernels, and hosts", 100 * l->unmeasured);
}

void calc_tune_operators_put(calc_put *put, const calc_tune_operators *o)
{
    char words[CALC_TUNE_KERNEL_WORDS];
    calc_put_array(put, "kernels", CALC_PUT_LINES);
    for (size_t i = 0; i < o->learnt.classes; i++) {
        const calc_tune_kernels_class *c = &o->learnt.class[i];
        calc_putf(put, "{class: %s, share: %g, shapes: %zu, measured: %zu, exact: %zu",
                  calc_tune_kernel_class_words(&c->class, words), c->share, c->shapes, c->measured,
                  c->exact);
        if (c->measured > 0) {
            calc_put_number(put, "log_error", c->error);
        }
        calc_put_close(put);
    }
    calc_put_close(put);
}

/* Layouts that calc thinks need a little too much may fit. */
#define MORE_MEMORY 1.1

static bool given(const calc_args *args, calc_tune_opt opt)
{
    return calc_opt_value(args, (int)opt) != NULL;
}

const char *calc_tune_task_complaint(const calc_args *args)
{
    const char *command = calc_opt_value(args, CALC_TUNE_OPT_COMMAND);
    bool next = given(args, CALC_TUNE_OPT_NEXT);
    bool simulate = given(args, CALC_TUNE_OPT_SIMULATE);
    return next + simulate + (command != NULL) > 1
               ? "only one of --next, --command and --simulate says how layouts are measured"
           : command && !given(args, CALC_TUNE_OPT_MEASURED)
               ? "--command needs --measured FILE, where it adds what it measures"
           : command && calc_opt_is_stdout(args, CALC_TUNE_OPT_MEASURED)
               ? "--measured: --command adds to it, so that it must be a file"
           : command && !calc_tune_trial_names_layout(command)
               ? "--command must have {exe} or {layout}, which stand for the layout to try"
           : simulate && given(args, CALC_TUNE_OPT_MEASURED)
               ? "--simulate measures by itself: it does not go with --measured"
           : given(args, CALC_TUNE_OPT_ROWS) && !given(args, CALC_TUNE_OPT_OPERATORS)
               ? "--rows is of --operators"
           : next && calc_opt_takes_stdout(args)
               ? "only one of --next, --json, --csv and --html can have standard output"
               : NULL;
}

static void refuse(calc_tune_opt opt, const char *text, const char *expected, calc_errors *errors)
{
    calc_errors_at(errors, CALC_ERR_RANGE, CALC_TEXT(64, "--%s", calc_tune_opts[opt].name), 0, 0,
                   NULL, "expected %s, found \"%.100s\"", expected, text);
}

/* A share: 1% or 0.01. */
static double share_of(const calc_args *args, calc_tune_opt opt, double hi, calc_errors *errors)
{
    const char *text = calc_opt_value(args, (int)opt);
    double number = -1;
    bool fine =
        calc_amount_read(text, NULL, &number) <= CALC_AMOUNT_UNIT && number >= 0 && number <= hi;
    if (!fine) {
        refuse(opt, text, CALC_TEXT(96, "a share from 0 to %.15g, for example 1%% or 0.01", hi),
               errors);
    }
    return fine ? number : 0;
}

static void take_decision(calc_tune_task *t, calc_errors *errors)
{
    const calc_args *a = t->args;
    calc_tune_options *o = &t->options;
    t->prior = calc_tune_prior_default();
    *o = calc_tune_options_default(&t->prior);
    o->chooser = (calc_tune_chooser)calc_choice_index(calc_tune_chooser_words,
                                                      calc_opt_value(a, CALC_TUNE_OPT_CHOOSER));
    o->seed = (size_t)calc_opt_real(a, CALC_TUNE_OPT_SEED);
    o->draws = (size_t)calc_opt_real(a, CALC_TUNE_OPT_DRAWS);
    o->picks = (size_t)calc_opt_real(a, CALC_TUNE_OPT_PICKS);
    o->worth = share_of(a, CALC_TUNE_OPT_WORTH, 0.5, errors);
    o->stop = share_of(a, CALC_TUNE_OPT_STOP, 1, errors);
    o->noise = share_of(a, CALC_TUNE_OPT_NOISE, 0.5, errors);
    o->probes = strcmp(calc_opt_value(a, CALC_TUNE_OPT_MEMORY), "probes") == 0;
    t->most =
        given(a, CALC_TUNE_OPT_MOST) ? (size_t)calc_opt_real(a, CALC_TUNE_OPT_MOST) : SIZE_MAX;
}

/* 30min, or 30m as other programs have it. */
static void take_timeout(calc_tune_task *t, calc_errors *errors)
{
    const char *given_text = calc_opt_value(t->args, CALC_TUNE_OPT_TIMEOUT);
    size_t length = strlen(given_text);
    bool minutes = length > 1 && given_text[length - 1] == 'm';
    if (calc_amount_read(CALC_TEXT(64, "%.48s%s", given_text, minutes ? "in" : ""), "s",
                         &t->program.timeout_s) > CALC_AMOUNT_UNIT ||
        !(t->program.timeout_s > 0)) {
        refuse(CALC_TUNE_OPT_TIMEOUT, given_text, "a time above 0: 30min, 90s or 2h", errors);
    }
}

static void take_way(calc_tune_task *t, calc_errors *errors)
{
    const calc_args *a = t->args;
    t->way = given(a, CALC_TUNE_OPT_NEXT)       ? CALC_TUNE_WAY_NEXT
             : given(a, CALC_TUNE_OPT_COMMAND)  ? CALC_TUNE_WAY_COMMAND
             : given(a, CALC_TUNE_OPT_SIMULATE) ? CALC_TUNE_WAY_SIMULATE
                                                : CALC_TUNE_WAY_ASK;
    t->folder = calc_opt_value(a, CALC_TUNE_OPT_INTO);
    t->table_rows = (size_t)calc_opt_real(a, CALC_TUNE_OPT_TOP);
    t->truth_seed = (size_t)calc_opt_real(a, CALC_TUNE_OPT_SIMULATE);
    t->program.command = calc_opt_value(a, CALC_TUNE_OPT_COMMAND);
    t->program.retries = (int)calc_opt_real(a, CALC_TUNE_OPT_RETRIES);
    take_timeout(t, errors);
}

/* The same words for calc sweep, whose options of the same names they are. */
static void sweep_args(calc_args *out, const calc_args *args)
{
    *out = *args;
    out->command = &calc_cmd_sweep;
    out->use = calc_make(args->use_count + 1, sizeof *out->use);
    out->use_count = 0;
    for (size_t i = 0; i < args->use_count; i++) {
        const char *name = calc_tune_opts[args->use[i].opt].name;
        int same = 0;
        if (calc_is_word("procs batch axis set where threads", name)) {
            while (strcmp(calc_cmd_sweep.opts[same].name, name) != 0) {
                same++;
            }
            out->use[out->use_count++] = (calc_opt_use){same, args->use[i].value};
        }
    }
}

/* calc_designs.get: with more memory. */
static void get_larger(const void *context, uint64_t index, calc_app *app, calc_system *system)
{
    const calc_designs *exact = context;
    exact->get(exact->context, index, app, system);
    system->chip.mem1.capacity_bytes *= MORE_MEMORY;
}

static bool is_one(const calc_space *space, calc_axis axis)
{
    return space->axis[axis].count <= 1 && !space->axis[axis].all;
}

/* Times of steps are compared: they must be of the same work on as many processors. */
static calc_status check_study(const calc_tune_task *t, calc_errors *errors)
{
    const calc_space *space = &t->study.space;
    const calc_values *training = &space->axis[CALC_AXIS_training];
    const char *text = NULL;
    const char *hint = NULL;
    if (t->study.builder.apps * t->study.builder.systems != 1 || t->study.designs.count != 1) {
        text = "calc tune compares layouts of one model on one machine, none of them swept";
        hint = "calc sweep compares models and machines; --axis takes fields of the layout here";
    } else if (training->count != 1 || training->value[0] != 1) {
        text = "calc tune is for training: what is served has no time of a step";
        hint = "calc sweep compares layouts that serve";
    } else if (!is_one(space, CALC_AXIS_batch_size)) {
        text = "calc tune compares times of a step: give one batch";
        hint = "for example --batch 512";
    } else if (!is_one(space, CALC_AXIS_num_procs)) {
        text = "calc tune compares times of a step: give one number of processors";
        hint = "for example --procs 512";
    } else if (!is_one(space, CALC_AXIS_seq_size)) {
        text = "calc tune compares times of a step: give one length of sequences";
    }
    return text ? calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL, hint, "%s",
                                  text)
                : CALC_OK;
}

static calc_status load_study(calc_tune_task *t, calc_errors *errors)
{
    calc_args args;
    calc_sweep_options *o = &t->study.options;
    sweep_args(&args, t->args);
    calc_status status = calc_sweep_study_load(&t->study, &args, errors);
    free(args.use);
    status = status == CALC_OK ? check_study(t, errors) : status;
    if (status != CALC_OK) {
        return status;
    }
    t->study.space.batch_is_maximum = false;
    t->exact = t->study.designs;
    t->study.designs = (calc_designs){.count = 1, .get = get_larger, .context = &t->exact};
    t->exact.get(t->exact.context, 0, &t->app, &t->system);
    t->app_name = t->study.builder.app[0].name;
    t->system_name = t->study.builder.system[0].name;
    o->objectives = 0;
    o->per_num_procs = o->per_design = false;
    o->top = (size_t)calc_opt_real(t->args, CALC_TUNE_OPT_CANDIDATES);
    return calc_errors_first(errors);
}

calc_status calc_tune_task_load(calc_tune_task *t, const calc_args *args, calc_errors *errors)
{
    t->args = args;
    t->journal.file = -1;
    take_decision(t, errors);
    take_way(t, errors);
    if (load_study(t, errors) == CALC_OK) {
        const char *file = calc_opt_value(t->args, CALC_TUNE_OPT_OPERATORS);
        if (file) {
            (void)!calc_tune_operators_read(&t->operators, file,
                                            calc_opt_value(t->args, CALC_TUNE_OPT_ROWS), &t->system,
                                            errors);
        }
    }
    return calc_errors_first(errors);
}

static void make_layouts(calc_tune_task *t)
{
    const calc_sweep_options *o = &t->study.options;
    const char *fitted = calc_sweep_order_calibrated(&t->study, t->system_name);
    t->layouts = (calc_tune_layouts){.app = &t->app, .system = &t->system, .family = ""};
    if (o->compat == CALC_COMPAT_NONE && calc_known_runs_try(&t->known)) {
        t->layouts.known = &t->known;
        t->layouts.family = calc_fits_family(&t->known, t->system_name, fitted);
    }
    calc_tune_layouts_make(&t->layouts, &t->result.group[0].top, o->threads);
}

calc_status calc_tune_task_sweep(calc_tune_task *t, calc_sweep_watch *watch, calc_errors *errors)
{
    calc_sweep_options *o = &t->study.options;
    o->progress = calc_sweep_watch_progress;
    o->progress_context = watch;
    calc_status status = calc_sweep(&t->study.space, &t->study.designs, o, &t->result, errors);
    t->interrupted = t->result.partial;
    if (status == CALC_OK && !t->interrupted) {
        make_layouts(t);
    }
    return status;
}

static calc_exec exec_of(const void *context, size_t candidate)
{
    return calc_tune_layouts_exec(context, candidate);
}

calc_status calc_tune_task_learn(calc_tune_task *t, calc_errors *errors)
{
    if (!given(t->args, CALC_TUNE_OPT_OPERATORS)) {
        return CALC_OK;
    }
    t->options.kernels = &t->operators.learnt.kernels;
    return calc_tune_operators_learn(&t->operators, &t->app, &t->system, &t->prior,
                                     t->layouts.candidate, t->layouts.count, exec_of, &t->layouts,
                                     errors);
}

void calc_tune_task_add(calc_tune_task *t, const calc_tune_measurement *measurement, int line)
{
    if (t->measurements == t->room) {
        t->room = 2 * t->room + 16;
        t->measurement = calc_longer(t->measurement, t->room, sizeof *t->measurement);
        t->line = calc_longer(t->line, t->room, sizeof *t->line);
    }
    t->line[t->measurements] = line;
    t->measurement[t->measurements++] = *measurement;
}

void calc_tune_task_free(calc_tune_task *t)
{
    calc_tune_journal_close(&t->journal);
    calc_tune_rows_free(&t->rows);
    calc_tune_operators_free(&t->operators);
    calc_tune_layouts_free(&t->layouts);
    calc_residuals_free(&t->known);
    calc_sweep_result_free(&t->result);
    calc_study_free(&t->study);
    free(t->measurement);
    free(t->line);
    free(t->truth_s);
    free(t->truth_bytes);
}

enum {
    FAILURES = 3 /* one after the other from the first on: the command is wrong, not layouts */
};

char *calc_tune_loop_path(const calc_tune_task *t, size_t candidate, char *path)
{
    char id[CALC_TUNE_ID_SIZE];
    snprintf(path, CALC_FIND_PATH_MAX, "%s/%s.json", t->folder,
             calc_tune_layouts_id(&t->layouts, candidate, id));
    return path;
}

calc_status calc_tune_loop_write(const calc_tune_task *t, size_t candidate, char *path,
                                 calc_errors *errors)
{
    if (mkdir(t->folder, 0777) != 0 && errno != EEXIST) {
        return calc_errors_at(errors, CALC_ERR_IO, t->folder, 0, 0,
                              "--into names a folder; the one that it is in must be there", "%s",
                              strerror(errno));
    }
    calc_tune_loop_path(t, candidate, path);
    const calc_exec exec = calc_tune_layouts_exec(&t->layouts, candidate);
    return calc_save_to(path, CALC_KIND_EXEC, &exec, errors);
}

static void tell(const calc_tune_task *t, const calc_tune_trial *trial)
{
    if (strcmp(calc_opt_value(t->args, CALC_TUNE_OPT_PROGRESS), "none") == 0) {
        return;
    }
    if (trial->end == CALC_TUNE_END_FINE) {
        calc_say("%4zu  %s  %s, predicted %s\n", t->measurements, trial->layout,
                 calc_human_seconds(trial->step_s),
                 calc_human_seconds(t->layouts.candidate[trial->candidate].step_s));
    } else {
        calc_say("%4zu  %s  %s%s%s\n", t->measurements, trial->layout,
                 calc_tune_end_word(trial->end), *trial->note ? ": " : "", trial->note);
    }
}

/* Called with what a program has measured: it is written before anything else happens. */
static calc_status keep(void *context, const calc_tune_trial *trial, calc_errors *errors)
{
    calc_tune_task *t = context;
    const calc_tune_measurement m = {.candidate = trial->candidate,
                                     .end = trial->end,
                                     .step_s = trial->step_s,
                                     .memory_bytes = trial->memory_bytes};
    calc_status status =
        calc_tune_journal_add(&t->journal, trial->layout, trial->end, trial->step_s,
                              trial->memory_bytes, trial->note, errors);
    if (status == CALC_OK) {
        calc_tune_task_add(t, &m, 0);
        tell(t, trial);
    }
    return status;
}

static calc_status measure(calc_tune_task *t, const size_t *pick, size_t picks, calc_errors *errors)
{
    calc_tune_trial *trial = calc_make(picks, sizeof *trial);
    char(*path)[CALC_FIND_PATH_MAX] = calc_make(picks, sizeof *path);
    char id[CALC_TUNE_PICKS][CALC_TUNE_ID_SIZE];
    calc_status status = CALC_OK;
    for (size_t i = 0; i < picks && status == CALC_OK; i++) {
        status = calc_tune_loop_write(t, pick[i], path[i], errors);
        trial[i] = (calc_tune_trial){.candidate = pick[i],
                                     .exe = path[i],
                                     .layout = calc_tune_layouts_id(&t->layouts, pick[i], id[i])};
    }
    status = status == CALC_OK ? calc_tune_program_run(&t->program, trial, picks, keep, t,
                                                       &t->interrupted, errors)
                               : status;
    free(trial);
    free(path);
    size_t failed = 0; /* a command that does nothing but fail is more likely wrong than layouts */
    for (size_t i = 0; i < t->measurements; i++) {
        failed += t->measurement[i].end == CALC_TUNE_END_FAILED;
    }
    status = status == CALC_OK && failed == t->measurements && failed >= FAILURES
                 ? calc_errors_add(errors, CALC_ERR_IO, CALC_KIND_NONE, NULL,
                                   "mend it, and remove the rows of its failures from --measured",
                                   "--command: all %zu runs failed", t->measurements)
                 : status;
    return status;
}

static bool is_ended(const calc_tune_task *t, const calc_tune_decision *d, calc_tune_pause *pause)
{
    bool asks = t->way == CALC_TUNE_WAY_ASK || t->way == CALC_TUNE_WAY_NEXT;
    *pause = t->interrupted               ? CALC_TUNE_PAUSE_SIGNAL
             : d->stop || d->picks == 0   ? CALC_TUNE_PAUSE_STOP
             : t->measurements >= t->most ? CALC_TUNE_PAUSE_MOST
                                          : CALC_TUNE_PAUSE_ASKED;
    return asks || *pause != CALC_TUNE_PAUSE_ASKED;
}

calc_status calc_tune_loop(calc_tune_task *t, calc_tune_decision *d, calc_tune_pause *pause,
                           calc_errors *errors)
{
    bool simulates = t->way == CALC_TUNE_WAY_SIMULATE;
    bool runs = t->way == CALC_TUNE_WAY_COMMAND;
    const struct timespec no_time = {0};
    calc_status status = CALC_OK;
    if (simulates) {
        size_t count = t->layouts.count;
        t->truth_s = calc_make(count + 1, sizeof *t->truth_s);
        t->truth_bytes = calc_make(count + 1, sizeof *t->truth_bytes);
        calc_rng_init(&t->noise, t->truth_seed, 1);
        status = calc_tune_truth(&t->prior, t->layouts.candidate, count, t->truth_seed, t->truth_s,
                                 t->truth_bytes, errors);
    }
    if (runs) {
        /* Signals wait while programs run, so that what they measured is kept and they are ended.
         */
        sigemptyset(&t->program.signals);
        sigaddset(&t->program.signals, SIGINT);
        sigaddset(&t->program.signals, SIGTERM);
        sigaddset(&t->program.signals, SIGHUP);
        sigprocmask(SIG_BLOCK, &t->program.signals, &t->program.mask);
    }
    while (status == CALC_OK) {
        calc_tune_decision_free(d);
        *d = (calc_tune_decision){0};
        status = calc_tune_decide(d, t->layouts.candidate, t->layouts.count, t->measurement,
                                  t->measurements, &t->options, errors);
        t->interrupted =
            runs && sigtimedwait(&t->program.signals, NULL, &no_time) > 0 ? true : t->interrupted;
        if (status != CALC_OK || is_ended(t, d, pause)) {
            break;
        }
        size_t left = t->most - t->measurements;
        size_t picks = d->picks < left ? d->picks : left;
        for (size_t i = 0; i < picks && simulates; i++) {
            size_t k = d->pick[i];
            calc_tune_measurement m =
                calc_tune_truth_measure(t->layouts.candidate, k, t->truth_s[k], t->truth_bytes[k],
                                        t->options.noise, &t->noise);
            calc_tune_task_add(t, &m, 0);
        }
        status = simulates ? CALC_OK : measure(t, d->pick, picks, errors);
    }
    if (runs) {
        sigprocmask(SIG_SETMASK, &t->program.mask, NULL);
    }
    return status;
}
