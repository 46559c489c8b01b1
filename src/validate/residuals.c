#include "validate/residuals.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "io/csv_table.h"
#include "spec/format.h"

static const char *const kinds[] = {"dense", "MoE", NULL};

/* In the order in which they are written. */
/* Quantities of training, the first of CALC_QUANTITY_LIST. */
static const char *const quantities[] = {"step_time", "memory", NULL};

/* Columns of a run, whose members in a row begin with `of`. */
#define RUN_COLUMNS(row, of)                                                                       \
    {.name = "id", CALC_CSV_MEMBER(row, of id)},                                                   \
        {.name = "quantity", CALC_CSV_MEMBER(row, of quantity), .words = quantities},              \
        {.name = "source", CALC_CSV_MEMBER(row, of source)},                                       \
        {.name = "machine", CALC_CSV_MEMBER(row, of machine)},                                     \
        {.name = "family", CALC_CSV_MEMBER(row, of traits.family)},                                \
        {.name = "kind", CALC_CSV_MEMBER(row, of traits.experts), .words = kinds},                 \
        {.name = "bits", CALC_CSV_MEMBER(row, of traits.bits), .lo = 1, .hi = 1e9},                \
        {.name = "processors", CALC_CSV_MEMBER(row, of traits.processors), .lo = 1, .hi = 1e9},

static const calc_csv_column columns[] = {RUN_COLUMNS(calc_residual, )
#define CALC_X(unseen, value_column, fold_column)                                                  \
    {.name = #fold_column, CALC_CSV_MEMBER(calc_residual, fold[CALC_UNSEEN_##unseen]), .hi = 1e9},
                                              CALC_UNSEEN_LIST(CALC_X)
#undef CALC_X
#define CALC_X(unseen, value_column, fold_column)                                                  \
    {.name = #value_column,                                                                        \
     CALC_CSV_MEMBER(calc_residual, value[CALC_UNSEEN_##unseen]),                                  \
     .lo = -10,                                                                                    \
     .hi = 10},
                                                  CALC_UNSEEN_LIST(CALC_X)
#undef CALC_X
};

static const calc_csv_table table =
    CALC_CSV_TABLE(columns, calc_residual, "calc calibrate --residuals writes such a file");

calc_traits calc_traits_of(const calc_app *app, const calc_exec *exec, const char *family)
{
    static const int bits[] = {[CALC_DATATYPE_FLOAT8] = 8,
                               [CALC_DATATYPE_FLOAT16] = 16,
                               [CALC_DATATYPE_FLOAT32] = 32,
                               [CALC_DATATYPE_BFLOAT16] = 16,
                               [CALC_DATATYPE_FLOAT4] = 4};
    return (calc_traits){
        .family = family,
        .experts = app->num_experts > 0,
        .bits = bits[calc_format_datatype(exec->strategy.matrix_datatype, exec->strategy.datatype)],
        .processors = (double)exec->num_procs};
}

double calc_spread_weight(size_t count)
{
    return pow((double)count, 0.6) / (double)count;
}

/* Sources and families get numbers, so that comparing many of them is cheap. Rows of a source stand
 * together: the nearest is looked at first. */
static void number(calc_residuals *out, calc_residual *last)
{
    last->table = last->family = -1;
    for (const calc_residual *r = last; r-- > out->item && (last->table < 0 || last->family < 0);) {
        if (last->table < 0 && strcmp(r->source, last->source) == 0) {
            last->table = r->table;
        }
        if (last->family < 0 && strcmp(r->traits.family, last->traits.family) == 0) {
            last->family = r->family;
        }
    }
    last->table = last->table < 0 ? out->tables++ : last->table;
    last->family = last->family < 0 ? out->families++ : last->family;
}

static CALC_ORDER_BY(by_size, calc_residual_place, size, run)

/* By size, in units of the kind's typical error where both kinds have one. @return false without
 * memory */
static bool sort(calc_residuals *r, calc_quantity quantity, calc_unseen unseen)
{
    calc_residual_list *list = &r->list[quantity][unseen];
    const double *typical = r->typical[quantity];
    bool units = typical[0] > 0 && typical[1] > 0;
    free(list->item);
    *list = (calc_residual_list){.item = calloc(r->count + 1, sizeof *list->item)};
    for (size_t i = 0; list->item && i < r->count; i++) {
        const calc_residual *one = &r->item[i];
        if (one->quantity == quantity && !isnan(one->value[unseen])) {
            double size = fabs(one->value[unseen]) / (units ? typical[one->traits.experts] : 1);
            list->item[list->count++] = (calc_residual_place){size, one};
        }
    }
    if (list->item) {
        CALC_SORT(list->item, list->count, by_size);
    }
    return list->item != NULL;
}

/* The median of a kind of models. @param runs  room for a number per table */
static double typical(const calc_residuals *r, calc_quantity quantity, bool experts, size_t *runs)
{
    const calc_residual_list *list = &r->list[quantity][CALC_UNSEEN_WIDTH];
    double all = 0, sum = 0;
    memset(runs, 0, (size_t)r->tables * sizeof *runs);
    for (size_t i = 0; i < list->count; i++) {
        runs[list->item[i].run->table] += list->item[i].run->traits.experts == experts;
    }
    for (int t = 0; t < r->tables; t++) {
        all += runs[t] > 0 ? (double)runs[t] * calc_spread_weight(runs[t]) : 0;
    }
    for (size_t i = 0; i < list->count; i++) {
        const calc_residual *one = list->item[i].run;
        sum += one->traits.experts == experts ? calc_spread_weight(runs[one->table]) : 0;
        if (one->traits.experts == experts && sum >= all / 2) {
            return fabs(one->value[CALC_UNSEEN_WIDTH]);
        }
    }
    return 0;
}

static bool sort_all(calc_residuals *r)
{
    size_t *runs = calloc((size_t)r->tables + 1, sizeof *runs);
    bool fine = runs != NULL;
    for (calc_quantity q = 0; q < CALC_RESIDUAL_QUANTITIES; q++) {
        r->typical[q][0] = r->typical[q][1] = 0;
        fine = fine && sort(r, q, CALC_UNSEEN_WIDTH);
        for (int experts = 0; fine && experts < 2; experts++) {
            r->typical[q][experts] = typical(r, q, experts == 1, runs);
        }
        for (calc_unseen u = 0; u < CALC_UNSEEN_COUNT; u++) {
            fine = fine && sort(r, q, u);
        }
    }
    free(runs);
    return fine;
}

calc_status calc_residuals_take_forecasts(calc_residuals *residuals,
                                          const calc_forecasts *forecasts, calc_errors *errors)
{
    for (size_t i = 0; i < residuals->count; i++) {
        calc_residual *r = &residuals->item[i];
        const calc_forecast *f = r->quantity == CALC_QUANTITY_STEP_TIME
                                     ? calc_forecasts_find(forecasts, r->id, NULL)
                                     : NULL;
        if (f) {
            r->value[CALC_UNSEEN_RELEASE] = f->value;
            r->fold[CALC_UNSEEN_RELEASE] = calc_month_number(f->before);
        }
    }
    return sort(residuals, CALC_QUANTITY_STEP_TIME, CALC_UNSEEN_RELEASE)
               ? CALC_OK
               : calc_errors_no_memory(errors);
}

calc_status calc_residuals_parse(calc_residuals *out, calc_text text, const char *name,
                                 calc_errors *errors)
{
    calc_csv_rows rows;
    calc_status status = calc_csv_table_parse(&rows, &table, text, name, errors);
    *out = (calc_residuals){.item = rows.item, .count = rows.count, .text = rows.text};
    for (size_t i = 0; i < out->count; i++) {
        number(out, &out->item[i]);
        out->item[i].value[CALC_UNSEEN_RELEASE] = (double)NAN;
        out->item[i].value[CALC_UNSEEN_SOFTWARE] = (double)NAN;
    }
    if (status == CALC_OK && !sort_all(out)) {
        status = calc_errors_no_memory(errors);
    }
    return status;
}

/* One row of the other file. */
typedef struct software_row {
    calc_residual run;
    const char *publisher;
    double value;
} software_row;

static const calc_csv_column software_columns[] = {
    RUN_COLUMNS(software_row, run.){.name = "publisher", CALC_CSV_MEMBER(software_row, publisher)},
    {.name = "unseen_software", CALC_CSV_MEMBER(software_row, value), .lo = -10, .hi = 10}};

static const calc_csv_table software_table =
    CALC_CSV_TABLE(software_columns, software_row, "scripts/refit writes such a file");

calc_status calc_residuals_add_software(calc_residuals *residuals, calc_text text, const char *name,
                                        calc_errors *errors)
{
    calc_csv_rows rows;
    calc_status status = calc_csv_table_parse(&rows, &software_table, text, name, errors);
    const software_row *row = rows.item;
    calc_residual *grown =
        status == CALC_OK
            ? realloc(residuals->item, (residuals->count + rows.count + 1) * sizeof *grown)
            : NULL;
    residuals->software = rows.text;
    residuals->item = grown ? grown : residuals->item;
    for (size_t i = 0; grown && i < rows.count; i++) {
        calc_residual *r = &residuals->item[residuals->count];
        size_t fold = 0;
        while (strcmp(row[fold].publisher, row[i].publisher) != 0) {
            fold++;
        }
        *r = row[i].run;
        for (int u = 0; u < CALC_UNSEEN_COUNT; u++) {
            r->value[u] = u == CALC_UNSEEN_SOFTWARE ? row[i].value : (double)NAN;
            r->fold[u] = -1 - (int)fold; /* no fold of the runs that were fitted to */
        }
        number(residuals, r);
        residuals->count++;
    }
    free(rows.item);
    return status != CALC_OK              ? status
           : grown && sort_all(residuals) ? CALC_OK
                                          : calc_errors_no_memory(errors);
}

CALC_CSV_READS_AS(calc_residuals_read, calc_residuals, calc_residuals_parse)

calc_status calc_residuals_known(calc_residuals *out, calc_session_find *find, void *context,
                                 calc_errors *errors)
{
    static const char *const files[] = {CALC_FIND_RESIDUALS, CALC_FIND_FORECASTS,
                                        CALC_FIND_UNSEEN_SOFTWARE};
    char path[3][4096];
    calc_forecasts forecasts = {0};
    calc_text text = {0};
    calc_status status = CALC_OK;
    for (size_t i = 0; i < sizeof files / sizeof *files && status == CALC_OK; i++) {
        snprintf(path[i], sizeof path[i], "%s", files[i]);
        status = find ? find(context, CALC_KIND_NONE, files[i], path[i], sizeof path[i], errors)
                      : CALC_OK;
    }
    status = status == CALC_OK ? calc_residuals_read(out, path[0], errors) : status;
    status = status == CALC_OK ? calc_forecasts_read(&forecasts, path[1], errors) : status;
    status = status == CALC_OK ? calc_residuals_take_forecasts(out, &forecasts, errors) : status;
    calc_forecasts_free(&forecasts);
    status = status == CALC_OK ? calc_text_read(&text, path[2], errors) : status;
    return status == CALC_OK ? calc_residuals_add_software(out, text, path[2], errors) : status;
}

const calc_residual *calc_residuals_find(const calc_residuals *residuals, const char *id,
                                         calc_quantity quantity)
{
    for (size_t i = 0; i < residuals->count; i++) {
        const calc_residual *r = &residuals->item[i];
        if (r->quantity == quantity && strcmp(r->id, id) == 0) {
            return r;
        }
    }
    return NULL;
}

const char *calc_residuals_family(const calc_residuals *residuals, const char *machine)
{
    for (size_t i = 0; i < residuals->count; i++) {
        const calc_residual *r = &residuals->item[i];
        if (r->quantity == CALC_QUANTITY_STEP_TIME && strcmp(r->machine, machine) == 0) {
            return r->traits.family;
        }
    }
    return NULL;
}

const char *calc_residuals_family_of(const calc_residuals *residuals, const calc_runs_row *row)
{
    const char *family = calc_residuals_family(residuals, row->sys);
    return *row->family ? row->family : family ? family : "";
}

void calc_residuals_write_head(calc_output *out)
{
    for (int c = 0; c < table.columns; c++) {
        calc_csv_text(out, columns[c].name, c == 0);
    }
    calc_output_text(out, "\n");
}

void calc_residuals_write(calc_output *out, const calc_residual *r)
{
    const char *const texts[] = {r->id, quantities[r->quantity], r->source, r->machine,
                                 r->traits.family};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        calc_csv_text(out, texts[i], i == 0);
    }
    calc_output_printf(out, ",%s,%d,%.0f,%d,%d,%.4f,%.4f\n", kinds[r->traits.experts],
                       r->traits.bits, r->traits.processors, r->fold[CALC_UNSEEN_WIDTH],
                       r->fold[CALC_UNSEEN_SOURCE], r->value[CALC_UNSEEN_WIDTH],
                       r->value[CALC_UNSEEN_SOURCE]);
}

void calc_residuals_free(calc_residuals *residuals)
{
    for (int q = 0; q < CALC_RESIDUAL_QUANTITIES; q++) {
        for (int u = 0; u < CALC_UNSEEN_COUNT; u++) {
            free(residuals->list[q][u].item);
        }
    }
    free(residuals->item);
    calc_text_free(&residuals->text);
    calc_text_free(&residuals->software);
    *residuals = (calc_residuals){0};
}

enum { TABLES_MAX = 512, CLASSES = 5 };

/* Sums of weights are rounded; their target is lowered by more than that. */
#define ROUNDING (1 - 1e-12)

/* One class of runs. */
typedef struct selection {
    const calc_residual_list *list;
    const calc_band_query *query;
    int family; /* number of the query's; -1: none has runs */
    unsigned alike;
    double unit[2]; /* of errors of dense models and of mixtures of experts, beside the query's */
    bool several;   /* publishers */
    size_t runs, table[TABLES_MAX]; /* runs of each table; those beyond the last are one */
    double weight[TABLES_MAX];      /* of a run of each table */
} selection;

static int scale_of(double processors)
{
    return processors <= 8 ? 0 : processors <= 128 ? 1 : 2;
}

static int table_of(const calc_residual *r)
{
    return r->table < TABLES_MAX ? r->table : TABLES_MAX - 1;
}

static bool has(const selection *s, const calc_residual *r)
{
    const calc_band_query *q = s->query;
    const calc_traits *t = &q->traits;
    return (!q->without || r->fold[q->unseen] != q->without->fold[q->unseen]) &&
           (!(s->alike & CALC_ALIKE_FAMILY) || r->family == s->family) &&
           (!(s->alike & CALC_ALIKE_KIND) || r->traits.experts == t->experts) &&
           (!(s->alike & CALC_ALIKE_BITS) || r->traits.bits == t->bits) &&
           (!(s->alike & CALC_ALIKE_SCALE) ||
            scale_of(r->traits.processors) == scale_of(t->processors));
}

static void count(selection *s, unsigned alike)
{
    const calc_residual *first = NULL;
    s->alike = alike;
    s->runs = 0;
    s->several = false;
    memset(s->table, 0, sizeof s->table);
    for (size_t i = 0; i < s->list->count; i++) {
        const calc_residual *r = s->list->item[i].run;
        if (has(s, r)) {
            first = first ? first : r;
            s->several |= r->fold[CALC_UNSEEN_SOURCE] != first->fold[CALC_UNSEEN_SOURCE];
            s->runs++;
            s->table[table_of(r)]++;
        }
    }
    for (int t = 0; t < TABLES_MAX; t++) {
        s->weight[t] = s->table[t] > 0 ? calc_spread_weight(s->table[t]) : 0;
    }
}

/* Weight of all runs of the class; *tables of them. */
static double weigh(const selection *s, size_t *tables)
{
    double sum = 0;
    *tables = 0;
    for (int t = 0; t < TABLES_MAX; t++) {
        sum += (double)s->table[t] * s->weight[t];
        *tables += s->table[t] > 0;
    }
    return sum;
}

/* In the query's units. */
static double value_of(const selection *s, const calc_residual *r)
{
    return r->value[s->query->unseen] * s->unit[r->traits.experts];
}

/* The error up to which runs weigh `wanted`, a logarithm, with its sign or without; NaN: all weigh
 * less. Negative ones come first, from the largest down. */
static double log_at(const selection *s, double wanted, bool is_signed)
{
    size_t n = s->list->count;
    double sum = 0;
    for (size_t i = 0; i < (is_signed ? 2 * n : n); i++) {
        bool negative = is_signed && i < n;
        const calc_residual *r = s->list->item[negative ? n - 1 - i : i % n].run;
        double value = value_of(s, r);
        if (has(s, r) && (!is_signed || (value < 0) == negative)) {
            sum += s->weight[table_of(r)];
            if (sum >= wanted * ROUNDING) {
                return is_signed ? value : fabs(value);
            }
        }
    }
    return (double)NAN;
}

/* The most alike class that has enough runs. */
static selection choose(const calc_residuals *residuals, const calc_band_query *query)
{
    static const unsigned classes[CLASSES] = {
        CALC_ALIKE_FAMILY | CALC_ALIKE_KIND | CALC_ALIKE_BITS | CALC_ALIKE_SCALE,
        CALC_ALIKE_FAMILY | CALC_ALIKE_KIND | CALC_ALIKE_BITS, CALC_ALIKE_FAMILY | CALC_ALIKE_KIND,
        CALC_ALIKE_KIND, 0};
    static const calc_residual_list none = {NULL, 0};
    bool known = query->quantity < CALC_RESIDUAL_QUANTITIES;
    selection s = {.list = known ? &residuals->list[query->quantity][query->unseen] : &none,
                   .query = query,
                   .family = -1,
                   .unit = {1, 1}};
    for (size_t i = 0; i < residuals->count && s.family < 0; i++) {
        bool same = strcmp(residuals->item[i].traits.family, query->traits.family) == 0;
        s.family = same ? residuals->item[i].family : -1;
    }
    /* Software differs by more than machines and models do. */
    int first = query->unseen == CALC_UNSEEN_SOFTWARE ? CLASSES - 1 : 0;
    for (int c = first; c < CLASSES && (s.runs < CALC_BAND_RUNS || !s.several); c++) {
        count(&s, classes[c]);
    }
    const double *typical = known ? residuals->typical[query->quantity] : s.unit;
    if (!(s.alike & CALC_ALIKE_KIND) && typical[0] > 0 && typical[1] > 0) {
        bool experts = query->traits.experts;
        s.unit[!experts] = typical[experts] / typical[!experts];
    }
    return s;
}

static calc_band band_of(const calc_residuals *residuals, const calc_band_query *query)
{
    const selection s = choose(residuals, query);
    calc_band band = {.runs = s.runs, .alike = s.alike};
    double all = weigh(&s, &band.tables);
    double one = s.runs > 0 ? all / (double)s.runs : 0;
    band.reach = s.runs > 0 ? log_at(&s, CALC_BAND_LEVEL * (all + one), false) : (double)NAN;
    band.median = s.runs > 0 ? log_at(&s, all / 2, true) : (double)NAN;
    band.most = s.runs > 0 ? log_at(&s, CALC_BAND_LEVEL * (all + one), true) : (double)NAN;
    return band;
}

calc_band calc_band_of(const calc_residuals *residuals, const calc_band_query *query)
{
    calc_band band = band_of(residuals, query);
    if (query->unseen == CALC_UNSEEN_RELEASE && band.runs < CALC_BAND_RUNS) {
        calc_band_query source = *query;
        source.unseen = CALC_UNSEEN_SOURCE;
        band = band_of(residuals, &source);
    }
    return band;
}

double calc_band_share(const calc_residuals *residuals, const calc_band_query *query, double most)
{
    size_t tables;
    const selection s = choose(residuals, query);
    double all = weigh(&s, &tables);
    double sum = 0; /* of runs up to `most` */
    for (size_t i = 0; i < s.list->count; i++) {
        const calc_residual *r = s.list->item[i].run;
        sum += has(&s, r) && value_of(&s, r) <= most ? s.weight[table_of(r)] : 0;
    }
    return s.runs > 0 ? sum / (all + all / (double)s.runs) : (double)NAN;
}

char *calc_band_class(const calc_traits *traits, unsigned alike, char *text)
{
    static const char *const scales[] = {"up to 8 processors", "9 to 128 processors",
                                         "more than 128 processors"};
    char bits[32];
    snprintf(bits, sizeof bits, "%d bits", traits->bits);
    const struct {
        unsigned alike;
        const char *text;
    } parts[] = {{CALC_ALIKE_FAMILY, traits->family},
                 {CALC_ALIKE_KIND, traits->experts ? "MoE" : "dense"},
                 {CALC_ALIKE_BITS, bits},
                 {CALC_ALIKE_SCALE, scales[scale_of(traits->processors)]}};
    text[0] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (alike & parts[i].alike) {
            calc_append(text, CALC_BAND_TEXT, "%s%.60s", *text ? ", " : "", parts[i].text);
        }
    }
    return *text ? text : calc_append(text, CALC_BAND_TEXT, "all");
}

const char *calc_fits_family(const calc_residuals *measured, const char *machine,
                             const char *calibrated)
{
    const char *own = calc_residuals_family(measured, machine);
    const char *family = own ? own : calc_residuals_family(measured, calibrated);
    return *calibrated && family ? family : "";
}

calc_unseen calc_unseen_of_memory(const calc_exec *exec)
{
    return exec->strategy.eager ? CALC_UNSEEN_SOFTWARE : CALC_UNSEEN_SOURCE;
}

/* Runs to compare with; whether there may be any. */
static bool runs_like(const calc_fits_query *query, calc_band_query *out)
{
    *out = (calc_band_query){.quantity = CALC_QUANTITY_MEMORY,
                             .traits = calc_traits_of(query->app, query->exec, query->family),
                             .unseen = calc_unseen_of_memory(query->exec),
                             .without = query->without};
    return query->exec->training && query->need_bytes > 0 &&
           isfinite(query->system->chip.mem1.capacity_bytes);
}

double calc_fits_share(const calc_residuals *measured, const calc_fits_query *query)
{
    calc_band_query runs;
    double room = query->system->chip.mem1.capacity_bytes / query->need_bytes;
    return runs_like(query, &runs) ? calc_band_share(measured, &runs, log(room)) : (double)NAN;
}

calc_fits calc_fits_of(const calc_residuals *measured, const calc_fits_query *query)
{
    calc_band_query runs;
    if (!runs_like(query, &runs)) {
        return (calc_fits){(double)NAN, (double)NAN};
    }
    const calc_band band = calc_band_of(measured, &runs);
    return (calc_fits){.share = calc_fits_share(measured, query),
                       .sure_bytes = query->system->chip.mem1.capacity_bytes * exp(-band.most)};
}

bool calc_is_month(const char *text)
{
    static const char shape[] = "dddd-dd";
    size_t i = 0;
    while (shape[i] && (shape[i] == '-' ? text[i] == '-' : isdigit((unsigned char)text[i]))) {
        i++;
    }
    return !shape[i] && !text[i];
}

int calc_month_number(const char *text)
{
    enum { MONTHS = 12, YEAR_LENGTH = 5 };
    return (int)strtol(text, NULL, 10) * MONTHS + (int)strtol(text + YEAR_LENGTH, NULL, 10);
}

static const calc_csv_column forecast_columns[] = {
    {.name = "id", CALC_CSV_MEMBER(calc_forecast, id)},
    {.name = "before", CALC_CSV_MEMBER(calc_forecast, before)},
    {.name = "forecast", CALC_CSV_MEMBER(calc_forecast, value), .lo = -10, .hi = 10}};

static calc_status check(void *context, void *row, const calc_csv_row *from, calc_errors *errors)
{
    const calc_forecast *f = row;
    (void)context;
    return calc_is_month(f->before)
               ? CALC_OK
               : calc_errors_at(errors, CALC_ERR_TYPE, from->reader->name, from->line, 0,
                                "scripts/refit writes such a file",
                                "before: \"%.40s\" is no month like 2026-02", f->before);
}

static const calc_csv_table forecast_table = {.column = forecast_columns,
                                              .columns = sizeof forecast_columns /
                                                         sizeof *forecast_columns,
                                              .row_bytes = sizeof(calc_forecast),
                                              .hint = "scripts/refit writes such a file",
                                              .finish = check};

static int compare_forecasts(const void *a, const void *b)
{
    const calc_forecast *x = a, *y = b;
    int runs = strcmp(x->id, y->id);
    return runs ? runs : strcmp(x->before, y->before);
}

calc_status calc_forecasts_parse(calc_forecasts *out, calc_text text, const char *name,
                                 calc_errors *errors)
{
    calc_csv_rows rows;
    calc_status status = calc_csv_table_parse(&rows, &forecast_table, text, name, errors);
    *out = (calc_forecasts){.item = rows.item, .count = rows.count, .text = rows.text};
    if (status == CALC_OK && out->count > 0) {
        CALC_SORT(out->item, out->count, compare_forecasts);
    }
    return status;
}

CALC_CSV_READS_AS(calc_forecasts_read, calc_forecasts, calc_forecasts_parse)

/* How many are of a run that sorts before `id`, or of `id` and a month before `before` or that. */
static size_t up_to(const calc_forecasts *forecasts, const char *id, const char *before)
{
    const calc_forecast wanted = {.id = id, .before = before};
    size_t lo = 0, hi = forecasts->count;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (compare_forecasts(&forecasts->item[middle], &wanted) <= 0) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    return lo;
}

const calc_forecast *calc_forecasts_find(const calc_forecasts *forecasts, const char *id,
                                         const char *before)
{
    size_t count = up_to(forecasts, id, before ? before : "9999-99");
    const calc_forecast *f = count > 0 ? &forecasts->item[count - 1] : NULL;
    return f && strcmp(f->id, id) == 0 && (!before || strcmp(f->before, before) == 0) ? f : NULL;
}

const char *calc_forecasts_next(const calc_forecasts *forecasts, const char *month)
{
    const char *next = NULL;
    for (size_t i = 0; i < forecasts->count; i++) {
        const char *before = forecasts->item[i].before;
        if (strcmp(before, month) > 0 && (!next || strcmp(before, next) < 0)) {
            next = before;
        }
    }
    return next;
}

CALC_FREES(calc_forecasts_free, calc_forecasts, of->item, of->text.data)
