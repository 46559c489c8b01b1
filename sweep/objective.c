#include "objective.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "spec/alias.h"
#include "spec/field.h"
#include "spec/value_text.h"

enum { WORD_SIZE = 64 };

/* Copy the bytes from `begin` to `end` without the spaces around them. False if they do not fit. */
static bool copy_word(char word[WORD_SIZE], const char *begin, const char *end)
{
    while (begin < end && *begin == ' ') {
        begin++;
    }
    while (begin < end && end[-1] == ' ') {
        end--;
    }
    if (end - begin >= WORD_SIZE) {
        return false;
    }
    snprintf(word, WORD_SIZE, "%.*s", (int)(end - begin), begin);
    return true;
}

/* ---- Names ---------------------------------------------------------------------------------- */

static const calc_field *find_statistic(const char *name)
{
    return calc_table_find(calc_table_of(CALC_KIND_STATS), name);
}

/* Report a name that is no statistic and, if `or_field`, no field of the execution either. */
static calc_status unknown_name(const char *word, bool or_field, calc_errors *errors)
{
    enum { NAMES = 1024 /* far more than there are */ };
    char shown[CALC_SHOW_SIZE];
    const char *name[NAMES];
    size_t count = 0;
    for (int k = 0; k < 1 + or_field; k++) {
        const calc_table *table = calc_table_of(k == 0 ? CALC_KIND_STATS : CALC_KIND_EXEC);
        for (size_t i = 0; i < table->count; i++) {
            name[count] = table->rows[i].key;
            count += calc_field_is_single(&table->rows[i]);
            for (const char *const *also = table->rows[i].also; *also; also++) {
                name[count++] = *also;
            }
        }
    }
    name[count] = NULL;
    return calc_errors_add(
        errors, CALC_ERR_FIELD, CALC_KIND_NONE, NULL, CALC_DID_YOU_MEAN(calc_nearest(word, name)),
        "unknown statistic%s \"%s\"", or_field ? " or field" : "", calc_show(shown, word));
}

/* ---- Objectives ----------------------------------------------------------------------------- */

calc_status calc_objective_parse(calc_objective *out, const char *text, calc_errors *errors)
{
    static const char *const keys[] = {[CALC_OBJECTIVE_SAMPLE_RATE] = "sample_rate",
                                       [CALC_OBJECTIVE_TOTAL_TIME] = "total_time",
                                       [CALC_OBJECTIVE_MEM1] = "proc_mem_tier1_cap_req",
                                       [CALC_OBJECTIVE_MEM2] = "proc_mem_tier2_cap_req",
                                       [CALC_OBJECTIVE_OTHER] = NULL};
    char word[WORD_SIZE];
    char shown[CALC_SHOW_SIZE];
    const char *colon = strchr(text, ':');
    const char *end = colon ? colon : text + strlen(text);
    const calc_field *field = copy_word(word, text, end) ? find_statistic(word) : NULL;
    if (!field) {
        return unknown_name(end - text < WORD_SIZE ? word : text, false, errors);
    }
    bool up = (field->flags & CALC_MORE) != 0;
    if (colon) {
        const char *direction = colon + 1;
        up = strcmp(direction, "up") == 0;
        if (!up && strcmp(direction, "down") != 0) {
            return calc_errors_add(errors, CALC_ERR_FIELD, CALC_KIND_NONE, NULL, NULL,
                                   "the direction \"%s\" is not up or down",
                                   calc_show(shown, direction));
        }
    }
    int kind = calc_choice_index(keys, field->key);
    *out = (calc_objective){kind < 0 ? CALC_OBJECTIVE_OTHER : (calc_objective_kind)kind, field, up};
    return CALC_OK;
}

static double number_at(const calc_field *field, const void *member)
{
    return calc_member_number(field, member) * calc_field_scale(field);
}

double calc_objective_of(const calc_objective *objective, const calc_stats *stats)
{
    double value = number_at(objective->field, (const char *)stats + objective->field->offset);
    if (isnan(value)) {
        return HUGE_VAL; /* worse than any number */
    }
    return objective->up ? -value : value;
}

double calc_objective_value(const calc_objective *objective, double stored)
{
    return objective->up ? -stored : stored;
}

/* ---- Constraints ---------------------------------------------------------------------------- */

/* The longer texts first. */
static const struct {
    const char *text;
    calc_relation relation;
} relations[] = {
    {"<=", CALC_RELATION_LE}, {">=", CALC_RELATION_GE}, {"==", CALC_RELATION_EQ},
    {"!=", CALC_RELATION_NE}, {"<", CALC_RELATION_LT},  {">", CALC_RELATION_GT},
    {"=", CALC_RELATION_EQ},
};

static calc_status wrong_value(const calc_field *field, const char *expected, const char *word,
                               const char *hint, calc_errors *errors)
{
    char shown[CALC_SHOW_SIZE];
    return calc_errors_add(errors, CALC_ERR_TYPE, CALC_KIND_NONE, NULL, hint,
                           "\"%s\" is compared with %s, not \"%s\"", field->key, expected,
                           calc_show(shown, word));
}

bool calc_objective_serves(const calc_field *statistic)
{
    const char *where = statistic->where ? statistic->where : "";
    return strcmp(where, "calc_run_inference") == 0 ||
           strncmp(where, "calc_queue", strlen("calc_queue")) == 0;
}

/* A number in SI units. One without a unit may be more likely of another: 60 bytes of memory, or
 * 50 s, which no user waits for a token. */
static calc_status parse_number(calc_constraint *out, const char *word, calc_errors *errors)
{
    const char *unit = out->field->unit;
    double number = 0;
    bool waited = calc_objective_serves(out->field) && unit && strcmp(unit, "s") == 0;
    switch (calc_amount_read(word, unit, &number)) {
    case CALC_AMOUNT_BARE:
        if (unit && (waited ? number > 10 : number != 0 && calc_amount_is_large(unit))) {
            char hint[CALC_HINT_SIZE];
            char shown[CALC_SHOW_SIZE];
            bool bytes = strncmp(unit, "bytes", strlen("bytes")) == 0;
            const char *prefix = bytes ? "GiB" : strcmp(unit, "s") == 0 ? "m" : "T";
            snprintf(hint, sizeof hint, "write %s%s%s", calc_show(shown, word), prefix,
                     unit + strlen(bytes ? "bytes" : ""));
            return calc_errors_add(errors, CALC_ERR_TYPE, CALC_KIND_NONE, NULL, hint, "%s %s?",
                                   shown, unit);
        }
        break;
    case CALC_AMOUNT_UNIT:
        break;
    case CALC_AMOUNT_WRONG_UNIT:
        return wrong_value(out->field, unit ? unit : "a pure number", word, calc_amount_units(unit),
                           errors);
    default:
        return wrong_value(out->field, "a number", word, NULL, errors);
    }
    out->value = number * calc_field_scale(out->field);
    return CALC_OK;
}

/* The number of a word: a choice, several of them, true or false. @return whether it is one; `bad`
 * is the invalid part */
static bool number_of(const calc_field *field, const char *const *words, const char *word,
                      double *number, char *bad)
{
    int64_t set;
    if (field->type == CALC_TYPE_SET) {
        bool fine = calc_choice_set_parse(words, word, &set, bad);
        *number = fine ? (double)set : 0;
        return fine;
    }
    snprintf(bad, CALC_CHOICE_SET_SIZE, "%s", word);
    *number = calc_choice_index(words, word);
    return *number >= 0;
}

static calc_status parse_word(calc_constraint *out, const char *word, calc_errors *errors)
{
    static const char *const booleans[] = {"false", "true", NULL};
    char expected[CALC_CHOICE_SET_SIZE + 16];
    char bad[CALC_CHOICE_SET_SIZE];
    const calc_field *field = out->field;
    const char *const *words = field->choices ? field->choices : booleans;
    if (!number_of(field, words, word, &out->value, bad)) {
        snprintf(expected, sizeof expected, "one of %s", CALC_CHOICES(words));
        return wrong_value(field, expected, bad, CALC_DID_YOU_MEAN(calc_nearest(bad, words)),
                           errors);
    }
    if (out->relation != CALC_RELATION_EQ && out->relation != CALC_RELATION_NE) {
        return calc_errors_add(errors, CALC_ERR_TYPE, CALC_KIND_NONE, NULL,
                               "write = or !=", "\"%s\" has no order", field->key);
    }
    return CALC_OK;
}

/* When it is known whether a constraint is met. */
static calc_condition_kind when_known(const calc_constraint *c)
{
    static const char *const of_lane[] = {"pipeline_par_net", "data_par_net",
                                          "pipeline_interleaving", "pipeline_par_overlap"};
    const char *key = c->field->key;
    if (c->kind == CALC_KIND_EXEC) {
        for (size_t i = 0; i < sizeof of_lane / sizeof *of_lane; i++) {
            if (strcmp(key, of_lane[i]) == 0) {
                return CALC_CONDITION_LANE;
            }
        }
        bool flag =
            strcmp(key, "data_par_overlap") == 0 || strcmp(key, "param_gather_overlap") == 0;
        return flag ? CALC_CONDITION_FLAG : CALC_CONDITION_TILE;
    }
    if (strcmp(key, "proc_mem_tier1_cap_req") == 0 || strcmp(key, "proc_mem_tier2_cap_req") == 0) {
        return CALC_CONDITION_MEMORY;
    }
    bool rate = c->field->where && strcmp(c->field->where, "calc_run_rates") == 0 &&
                strcmp(key, "hardware_flops_utilization") != 0;
    return rate || strcmp(key, "total_time") == 0 ? CALC_CONDITION_TIME : CALC_CONDITION_OTHER;
}

calc_status calc_constraint_parse(calc_constraint *out, const char *text, calc_errors *errors)
{
    char name[WORD_SIZE];
    char value[WORD_SIZE];
    char shown[CALC_SHOW_SIZE];
    const char *at = text + strcspn(text, "<>=!");
    size_t which = 0;
    size_t count = sizeof relations / sizeof *relations;
    while (which < count &&
           strncmp(at, relations[which].text, strlen(relations[which].text)) != 0) {
        which++;
    }
    if (which == count || !copy_word(name, text, at) ||
        !copy_word(value, at + strlen(relations[which].text), text + strlen(text))) {
        return calc_errors_add(errors, CALC_ERR_TYPE, CALC_KIND_NONE, NULL,
                               "for example mem1 <= 60GiB", "\"%s\" is not a condition",
                               calc_show(shown, text));
    }
    calc_field_ref ref;
    bool known =
        calc_field_find(CALC_KIND_EXEC, name, &ref) == CALC_OK && calc_field_is_single(ref.field);
    const calc_field *field = known ? ref.field : find_statistic(name);
    if (!field) {
        return unknown_name(name, true, errors);
    }
    calc_constraint parsed = {.kind = known ? CALC_KIND_EXEC : CALC_KIND_STATS,
                              .field = field,
                              .offset = known ? ref.offset : field->offset,
                              .relation = relations[which].relation};
    bool word = parsed.field->choices || parsed.field->type == CALC_TYPE_BOOL;
    calc_status status =
        word ? parse_word(&parsed, value, errors) : parse_number(&parsed, value, errors);
    if (status == CALC_OK) {
        parsed.when = when_known(&parsed);
        *out = parsed;
    }
    return status;
}

double calc_constraint_value(const calc_constraint *constraint, const calc_exec *exec,
                             const calc_stats *stats)
{
    const void *of = constraint->kind == CALC_KIND_STATS ? (const void *)stats : exec;
    return number_at(constraint->field, (const char *)of + constraint->offset);
}

bool calc_constraint_met(const calc_constraint *constraint, const calc_exec *exec,
                         const calc_stats *stats)
{
    double value = calc_constraint_value(constraint, exec, stats);
    return calc_relation_met(constraint->relation, value, constraint->value);
}
