#include "io/json_numbers.h"

#include "base/error.h"
#include "io/json_load.h"
#include "io/utf8.h"

#include <string.h>

static const double MOST = 1e12;

/* One walk. */
typedef struct walk {
    const calc_json_numbers *reader;
    calc_json_report report;
    const char *key[CALC_JSON_NUMBERS_DEPTH];
} walk_state;

static void take(walk_state *w, int depth, const json_t *value)
{
    const calc_json_numbers *r = w->reader;
    double number;
    if (!calc_json_value_number(&w->report, value, &number)) {
        return;
    }
    if (number < r->least) {
        calc_json_report_add(&w->report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                             "%s is out of range, expected at least %g",
                             calc_json_value_number_shown(value), r->least);
    } else if (number > MOST) {
        calc_json_report_add(&w->report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                             "%s is out of range, expected at most %g",
                             calc_json_value_number_shown(value), MOST);
    } else {
        r->take(r->context, w->key, depth, &number);
    }
}

/* Objects are nested no deeper than the levels of keys. */
static void visit(walk_state *w, json_t *object, int depth) /* NOLINT(misc-no-recursion) */
{
    const char *key;
    json_t *value;
    int member = 0;
    CALC_JSON_MEMBERS (&w->report, object, key, value) {
        w->key[depth] = key;
        switch (w->reader->take(w->reader->context, w->key, depth + 1, NULL)) {
        case CALC_JSON_NUMBER_INSIDE:
            if (!json_is_object(value)) {
                calc_json_value_type_error(&w->report, "an object", value, NULL);
            } else if (depth + 1 < CALC_JSON_NUMBERS_DEPTH) {
                visit(w, value, depth + 1);
            }
            break;
        case CALC_JSON_NUMBER_TAKEN:
            take(w, depth + 1, value);
            break;
        case CALC_JSON_NUMBER_REFUSED:
            calc_json_report_add(&w->report, CALC_ERR_FIELD, member, w->reader->keys,
                                 "key \"%s\" is not understood", calc_utf8_shown(key, strlen(key)));
            break;
        default:
            break;
        }
        member++;
    }
}

calc_status calc_json_numbers_parse(const calc_json_numbers *reader, const char *text,
                                    size_t length, const char *name, calc_errors *errors)
{
    walk_state w = {
        .reader = reader,
        .report = {.kind = CALC_KIND_NONE, .name = name, .text = text, .length = length}};
    json_t *root = calc_json_load_text(&w.report, text, length);
    if (root && !json_is_object(root)) {
        calc_json_value_type_error(&w.report, "an object", root, NULL);
    } else if (root) {
        visit(&w, root, 0);
    }
    json_decref(root);
    return calc_json_report_close(&w.report, errors);
}
