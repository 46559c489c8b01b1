/* Reads galvatron_config_*.json: lists in texts, with one number for each layer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formats/read.h"
#include "galvatron/layout.h"
#include "io/json_scan.h"
#include "io/utf8.h"

enum { DEGREE_MAX = 65536, COUNT_MAX = 1000000000 };

typedef struct reader {
    const calc_settings *settings;
    const char *text, *name;
    size_t length;
    calc_notes *notes;
    calc_errors *errors;
    calc_galvatron_layout *out;
} reader;

/* Numbers of a list. */
typedef struct list {
    int count;
    int of[CALC_GALVATRON_LAYERS];
} list;

static const calc_setting *find(const reader *r, const char *key)
{
    for (size_t i = r->settings->count; i > 0; i--) {
        if (strcmp(r->settings->item[i - 1].key, key) == 0) {
            return &r->settings->item[i - 1];
        }
    }
    return NULL;
}

/* The byte at which the value of a setting starts. The setting's place is the place of its key. */
static size_t value_start(const reader *r, const calc_setting *s)
{
    size_t at = 0;
    for (int line = 1; line < s->line && at < r->length; at++) {
        line += r->text[at] == '\n';
    }
    calc_json_token key = calc_json_scan(r->text, r->length, at);
    while (key.type != CALC_JSON_END &&
           calc_json_scan_place(r->text, r->length, key.start).column < s->column) {
        key = calc_json_scan(r->text, r->length, key.end);
    }
    calc_json_token colon = calc_json_scan(r->text, r->length, key.end);
    return calc_json_scan(r->text, r->length, colon.end).start;
}

/* Adds an error about byte `offset` of a value. */
static calc_status wrong(const reader *r, const calc_setting *s, size_t offset, const char *hint,
                         const char *text)
{
    size_t start = value_start(r, s);
    bool quoted = start < r->length && r->text[start] == '"';
    calc_json_place place =
        calc_json_scan_place(r->text, r->length, start + (quoted ? 1 + offset : 0));
    return calc_errors_at(r->errors, CALC_ERR_RANGE, r->name, place.line, place.column, hint,
                          "%s: %s", s->key, text);
}

static calc_status missing(const reader *r, const char *key)
{
    return calc_errors_at(r->errors, CALC_ERR_FIELD, r->name, 0, 0, NULL, "%s is missing", key);
}

static calc_status wrong_value(const reader *r, const calc_setting *s, size_t offset,
                               const char *expected)
{
    char text[192], shown[CALC_UTF8_SHOW_SIZE];
    const char *value = s->value + offset;
    snprintf(text, sizeof text, "expected %s, found \"%s\"", expected,
             calc_utf8_show(shown, value, strcspn(value, ",")));
    return wrong(r, s, offset, NULL, text);
}

/* Reads a whole number; `absent` without the key, or an error if that is -1. */
static calc_status count_of(const reader *r, const char *key, int64_t lo, int64_t hi,
                            int64_t absent, int64_t *out)
{
    const calc_setting *s = find(r, key);
    *out = absent;
    if (!s || !s->value[0]) {
        return absent < 0 ? missing(r, key) : CALC_OK;
    }
    char *end, expected[64];
    long long value = strtoll(s->value, &end, 10);
    if (*end || value < lo || value > hi) {
        snprintf(expected, sizeof expected, "a whole number from %lld to %lld", (long long)lo,
                 (long long)hi);
        return wrong_value(r, s, 0, expected);
    }
    *out = value;
    return CALC_OK;
}

/* Reads one of two words; the first without the key. */
static calc_status word_of(const reader *r, const char *key, const char *const words[], int count,
                           int *out)
{
    const calc_setting *s = find(r, key);
    char expected[64] = "";
    *out = 0;
    for (int i = 0; s && s->value[0] && i < count; i++) {
        if (strcmp(s->value, words[i]) == 0) {
            *out = i;
            return CALC_OK;
        }
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%s%s",
                 i == 0           ? ""
                 : i == count - 1 ? " or "
                                  : ", ",
                 words[i]);
    }
    return s && s->value[0] ? wrong_value(r, s, 0, expected) : CALC_OK;
}

/* Reads a list of numbers from `lo` to `hi`, with `length` items unless that is 0. All items are
 * `absent` without the key, or it is an error if that is -1. */
static calc_status list_of(const reader *r, const char *key, int lo, int hi, int length, int absent,
                           list *out)
{
    const calc_setting *s = find(r, key);
    out->count = 0;
    if (!s || !s->value[0]) {
        for (; out->count < length && absent >= 0; out->count++) {
            out->of[out->count] = absent;
        }
        return absent < 0 ? missing(r, key) : CALC_OK;
    }
    char expected[80], text[128];
    snprintf(expected, sizeof expected, hi == 1 ? "0 or 1" : "a whole number from %d to %d", lo,
             hi);
    const char *at = s->value;
    for (;;) {
        char *end;
        long value = strtol(at, &end, 10);
        if (end == at || (*end && *end != ',') || value < lo || value > hi ||
            out->count == CALC_GALVATRON_LAYERS) {
            return wrong_value(r, s, (size_t)(at - s->value), expected);
        }
        out->of[out->count++] = (int)value;
        if (!*end) {
            break;
        }
        at = end + 1 + strspn(end + 1, " ");
    }
    if (length > 0 && out->count != length) {
        snprintf(text, sizeof text, "%d values beside %d of tp_sizes_enc", out->count, length);
        return wrong(r, s, 0, "a value for each layer", text);
    }
    return CALC_OK;
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

/* Number of GPUs in a name: "..._2nodes_8gpus_per_node_..." gives 16; 0 if the name has none. */
static int64_t world_of_name(const char *name)
{
    const char *slash = strrchr(name, '/');
    long long nodes, gpus;
    for (const char *at = slash ? slash : name; (at = strchr(at, '_')) != NULL; at++) {
        int used = 0;
        char *end;
        nodes = strtoll(at + 1, &end, 10);
        if (end == at + 1 || strncmp(end, "nodes_", 6) != 0) {
            continue;
        }
        gpus = strtoll(end + 6, &end, 10);
        used = strncmp(end, "gpus_per_node", 13) == 0;
        if (used && nodes > 0 && gpus > 0 && nodes <= DEGREE_MAX && gpus <= DEGREE_MAX) {
            return nodes * gpus;
        }
    }
    return 0;
}

static calc_status read_world(const reader *r, int64_t given)
{
    int64_t world = 0;
    calc_status status = count_of(r, "world_size", 1, DEGREE_MAX, 0, &world);
    if (status == CALC_OK && given == 0 && world == 0) {
        given = world_of_name(r->name);
        if (given > DEGREE_MAX || given == 0) {
            return calc_errors_at(r->errors, CALC_ERR_FIELD, r->name, 0, 0,
                                  "add it, or convert the file with calc import --procs N",
                                  "world_size is missing: how many GPUs there are");
        }
        calc_notes_add(r->notes, "no world_size: %lld GPUs, as the name of the file says",
                       (long long)given);
    }
    r->out->world = (int)(given > 0 ? given : world);
    return status;
}

/* ---- Layers ---------------------------------------------------------------------------------- */

/* Sets data parallelism to the remaining ranks; false if there are none. */
static bool set_degrees(const reader *r, int degree, int cp, bool ulysses,
                        calc_galvatron_strategy *s)
{
    const calc_galvatron_layout *all = r->out;
    int64_t each = (int64_t)all->pp * degree * cp;
    s->pp = all->pp;
    s->tp = ulysses ? 1 : degree;
    s->sp = ulysses ? degree : 1;
    s->cp = cp;
    s->dp = all->world % each == 0 ? (int)(all->world / each) : 0;
    return s->dp > 0;
}

static calc_status refuse_degrees(const reader *r, const char *key, int number, int degree, int cp)
{
    char which[32] = "", text[160];
    if (number > 0) {
        snprintf(which, sizeof which, "layer %d: ", number);
    }
    snprintf(text, sizeof text, "%spp_deg %d * %d%s does not divide %d GPUs", which, r->out->pp,
             degree, cp > 1 ? " * context parallelism" : "", r->out->world);
    return wrong(r, find(r, key), 0, NULL, text);
}

static calc_status read_layers(const reader *r)
{
    calc_galvatron_layout *out = r->out;
    static const char *const experts[] = {"ep_sizes_enc", "tp_of_ep_sizes_enc"};
    list *l = calloc(7, sizeof *l);
    if (!l) {
        return calc_errors_no_memory(r->errors);
    }
    list *tp = &l[0], *flags = &l[1], *types = &l[2], *sp = &l[3], *again = &l[4], *cp = &l[5];
    calc_status status = list_of(r, "tp_sizes_enc", 1, DEGREE_MAX, 0, -1, tp);
    int n = tp->count;
    status = status ? status : list_of(r, "tp_consecutive_flags", 0, 1, n, -1, flags);
    status = status ? status : list_of(r, "dp_types_enc", 0, 1, n, -1, types);
    status = status ? status : list_of(r, "use_sp", 0, 1, n, 0, sp);
    status = status ? status : list_of(r, "checkpoint", 0, 1, n, 0, again);
    status = status ? status : list_of(r, "cp_sizes_enc", 1, DEGREE_MAX, n, 1, cp);
    for (int k = 0; k < 2 && !status; k++) {
        status = list_of(r, experts[k], 1, DEGREE_MAX, n, 1, &l[6]);
        for (int i = 0; i < n && !status; i++) {
            if (l[6].of[i] > 1) {
                status = wrong(r, find(r, experts[k]), 0, NULL,
                               "experts of layers that differ are not read: all must be 1");
            }
        }
    }
    out->layers = n;
    for (int i = 0; i < n && !status; i++) {
        calc_galvatron_strategy *s = &out->layer[i];
        s->type = types->of[i] ? CALC_GALVATRON_ZERO3 : out->default_dp_type;
        s->checkpoint = again->of[i];
        if (!set_degrees(r, tp->of[i], cp->of[i], sp->of[i] && tp->of[i] > 1, s)) {
            status = refuse_degrees(r, "tp_sizes_enc", i + 1, tp->of[i], cp->of[i]);
        }
        if (!flags->of[i] && tp->of[i] > 1) {
            calc_notes_add(r->notes,
                           "tp_consecutive_flags 0: ranks of a group are taken as neighbours");
        }
    }
    free(l);
    return status;
}

static calc_status read_ends(const reader *r)
{
    int64_t tp, sp, cp, zero3, searched;
    calc_status status = count_of(r, "vtp", 1, DEGREE_MAX, 1, &tp);
    status = status ? status : count_of(r, "vsp", 0, 1, 0, &sp);
    status = status ? status : count_of(r, "vcp", 1, DEGREE_MAX, 1, &cp);
    status = status ? status : count_of(r, "embed_sdp", 0, 1, 0, &searched);
    status = status ? status : count_of(r, "vocab_sdp", 0, 1, searched, &zero3);
    if (status) {
        return status;
    }
    bool said = find(r, "vocab_sdp") != NULL;
    if (!said && searched) {
        calc_notes_add(r->notes, "embed_sdp 1 is taken as meant: Galvatron's training reads "
                                 "vocab_sdp, which is missing, and would not shard embedding "
                                 "and head");
    } else if (said && zero3 != searched && find(r, "embed_sdp")) {
        calc_notes_add(r->notes, "vocab_sdp and embed_sdp differ: vocab_sdp counts");
    }
    r->out->ends.type = zero3 ? CALC_GALVATRON_ZERO3 : r->out->default_dp_type;
    return set_degrees(r, (int)tp, (int)cp, sp && tp > 1, &r->out->ends)
               ? CALC_OK
               : refuse_degrees(r, find(r, "vtp") ? "vtp" : "vcp", 0, (int)tp, (int)cp);
}

static calc_status read_division(const reader *r)
{
    calc_galvatron_layout *out = r->out;
    const calc_setting *s = find(r, "pp_division");
    char text[128];
    if (out->layers < out->pp) {
        snprintf(text, sizeof text, "%d stages are more than %d layers", out->pp, out->layers);
        return wrong(r, find(r, "pp_deg"), 0, NULL, text);
    }
    calc_galvatron_layout_divide(out);
    if (!s || !s->value[0]) {
        return CALC_OK;
    }
    list *l = calloc(1, sizeof *l);
    if (!l) {
        return calc_errors_no_memory(r->errors);
    }
    calc_status status = list_of(r, "pp_division", 1, CALC_GALVATRON_LAYERS, 0, -1, l);
    int64_t sum = 0;
    for (int i = 0; i < l->count; i++) {
        sum += l->of[i];
    }
    if (!status && (l->count != out->pp || sum != out->layers)) {
        snprintf(text, sizeof text, "%d stages with %lld layers, not %d with %d", l->count,
                 (long long)sum, out->pp, out->layers);
        status = wrong(r, s, 0, NULL, text);
    }
    for (int i = 0; i < out->pp && !status; i++) {
        out->division[i] = l->of[i];
    }
    free(l);
    return status;
}

static calc_status read_all(const reader *r, int64_t world)
{
    static const char *const schedules[] = {"gpipe", "pipedream_flush"};
    static const char *const types[] = {"ddp", "zero2", "zero3"};
    int64_t pp;
    int schedule, type;
    calc_status status = count_of(r, "pp_deg", 1, CALC_GALVATRON_STAGES, -1, &pp);
    status = status ? status : read_world(r, world);
    status = status ? status : count_of(r, "global_bsz", 1, COUNT_MAX, -1, &r->out->gbsz);
    status = status ? status : count_of(r, "chunks", 1, COUNT_MAX, -1, &r->out->chunks);
    status = status ? status : word_of(r, "pipeline_type", schedules, 2, &schedule);
    status = status ? status : word_of(r, "default_dp_type", types, 3, &type);
    if (status) {
        return status;
    }
    r->out->pp = (int)pp;
    r->out->pipeline_type = (calc_galvatron_schedule)schedule;
    r->out->default_dp_type = (calc_galvatron_dp)type;
    status = read_layers(r);
    status = status ? status : read_ends(r);
    return status ? status : read_division(r);
}

calc_status calc_galvatron_layout_read(calc_galvatron_layout *out, const char *text, size_t length,
                                       const char *name, int64_t world, calc_notes *notes,
                                       calc_errors *errors)
{
    calc_settings settings = {0};
    const reader r = {&settings, text, name, length, notes, errors, out};
    memset(out, 0, sizeof *out);
    calc_status status = calc_settings_from_json(&settings, text, length, name, errors);
    status = status ? status : read_all(&r, world);
    calc_settings_free(&settings);
    return status;
}

calc_status calc_galvatron_layout_is(const char *text, size_t length)
{
    calc_settings settings = {0};
    const reader r = {.settings = &settings};
    calc_status status = calc_settings_from_json(&settings, text, length, "", NULL);
    bool is = status == CALC_OK && find(&r, "pp_deg") && find(&r, "tp_sizes_enc");
    calc_settings_free(&settings);
    return is || status == CALC_ERR_NOMEM ? status : CALC_ERR_UNSUPPORTED;
}
