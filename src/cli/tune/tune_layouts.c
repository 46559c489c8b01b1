#include "cli/tune/tune_layouts.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "io/json_put.h"
#include "parallel.h"

enum { SHORT = 8, LONG = 16, BITS = 4 /* of a digit */ };

calc_status calc_tune_layouts_hash(const calc_exec *exec, uint64_t *hash, calc_errors *errors)
{
    calc_output *out;
    calc_text text = {0};
    calc_status status = calc_output_open_memory(&out, &text, errors);
    if (status != CALC_OK) {
        return status;
    }
    calc_put put = calc_put_to(out);
    calc_put_struct(&put, NULL, CALC_KIND_EXEC, exec);
    status = calc_output_close(out, errors);
    *hash = status == CALC_OK ? calc_hash(CALC_HASH_START, text.data, text.length) : 0;
    calc_text_free(&text);
    return status;
}

/* Layouts while they are evaluated, each at its place. */
typedef struct making {
    calc_tune_layouts *layouts;
    const calc_front *best;
    calc_status *status; /* CALC_ERR_RULE: it is left out */
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
    bool fine = candidate_of(l, &exec, &l->candidate[i]);
    m->status[i] = fine ? calc_tune_layouts_hash(&exec, &l->hash[i], NULL) : CALC_ERR_RULE;
}

/* A longer list; the old one if memory is short. */
static bool lengthen(void **list, size_t bytes)
{
    void *longer = realloc(*list, bytes);
    if (longer) {
        *list = longer;
    }
    return longer != NULL;
}

static bool reserve(calc_tune_layouts *l, size_t capacity)
{
    void *list[] = {l->candidate, (void *)l->found, l->hash, l->by_hash};
    bool fine = lengthen(&list[0], capacity * sizeof *l->candidate) &&
                lengthen(&list[1], capacity * sizeof(const calc_found *)) &&
                lengthen(&list[2], capacity * sizeof *l->hash) &&
                lengthen(&list[3], capacity * sizeof *l->by_hash);
    l->candidate = list[0];
    l->found = (const calc_found **)list[1];
    l->hash = list[2];
    l->by_hash = list[3];
    l->capacity = fine ? capacity : l->capacity;
    return fine;
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

static int compare_ranked(const void *a, const void *b)
{
    const ranked *x = a;
    const ranked *y = b;
    if (x->hash != y->hash) {
        return x->hash < y->hash ? -1 : 1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

/* Put those together that could be evaluated, each layout once. */
static calc_status gather(making *m, calc_errors *errors)
{
    calc_tune_layouts *l = m->layouts;
    size_t all = m->best->count;
    ranked *order = malloc((all + 1) * sizeof *order);
    size_t fine = 0;
    if (!order) {
        return calc_errors_no_memory(errors);
    }
    for (size_t i = 0; i < all; i++) {
        if (m->status[i] == CALC_OK) {
            order[fine++] = (ranked){l->hash[i], i};
        } else if (m->status[i] != CALC_ERR_RULE) {
            free(order);
            return calc_errors_status(errors, m->status[i]);
        }
    }
    qsort(order, fine, sizeof *order, compare_ranked);
    for (size_t i = 1; i < fine; i++) {
        if (order[i].hash == order[i - 1].hash) {
            m->status[order[i].index] = CALC_ERR_RULE;
        }
    }
    l->count = 0;
    for (size_t i = 0; i < all; i++) {
        if (m->status[i] == CALC_OK) {
            l->candidate[l->count] = l->candidate[i];
            l->hash[l->count] = l->hash[i];
            l->found[l->count] = &m->best->item[i];
            order[l->count] = (ranked){l->hash[i], l->count};
            l->count++;
        }
    }
    qsort(order, l->count, sizeof *order, compare_ranked);
    for (size_t i = 0; i < l->count; i++) {
        l->by_hash[i] = order[i].index;
    }
    l->swept = l->count;
    free(order);
    return CALC_OK;
}

calc_status calc_tune_layouts_make(calc_tune_layouts *out, const calc_front *best, int threads,
                                   calc_errors *errors)
{
    *out = (calc_tune_layouts){
        .app = out->app, .system = out->system, .known = out->known, .family = out->family};
    making m = {out, best, calloc(best->count + 1, sizeof *m.status)};
    calc_status status = CALC_ERR_NOMEM;
    if (m.status && reserve(out, best->count + 1)) {
        calc_parallel_for(threads, best->count, evaluate, &m);
        status = gather(&m, errors);
    } else {
        status = calc_errors_no_memory(errors);
    }
    free(m.status);
    return status;
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

calc_status calc_tune_layouts_add(calc_tune_layouts *l, const calc_exec *exec, size_t *index,
                                  calc_errors *errors)
{
    uint64_t hash = 0;
    calc_status status = calc_tune_layouts_hash(exec, &hash, errors);
    if (status != CALC_OK) {
        return status;
    }
    size_t at = place_of(l, hash);
    if (at < l->count && l->hash[l->by_hash[at]] == hash) {
        *index = l->by_hash[at];
        return CALC_OK;
    }
    added *own = calloc(1, sizeof *own);
    if (!own || (l->count == l->capacity && !reserve(l, 2 * l->capacity + 16))) {
        free(own);
        return calc_errors_no_memory(errors);
    }
    *own = (added){.found = calc_found_of(0, exec), .exec = *exec};
    if (!candidate_of(l, exec, &l->candidate[l->count])) {
        free(own);
        return CALC_ERR_RULE;
    }
    memmove(&l->by_hash[at + 1], &l->by_hash[at], (l->count - at) * sizeof *l->by_hash);
    l->by_hash[at] = *index = l->count;
    l->hash[l->count] = hash;
    l->found[l->count] = &own->found;
    l->count++;
    return CALC_OK;
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
    if (status == CALC_OK) {
        status = calc_points_select(&out->points, rows, system, errors);
    }
    if (status == CALC_OK) {
        status = calc_point_table_make(&out->table, out->points.item, out->points.count, NULL,
                                       system, errors);
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
    calc_status status =
        calc_tune_kernel_cells_make(&cells, app, system, candidate, count, exec, context, errors);
    if (status == CALC_OK) {
        status = calc_tune_kernels_learn(&o->learnt, prior, &o->table.table, cells.cell,
                                         cells.count, errors);
    }
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
