#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "formats/hf_model.h"
#include "formats/read.h"
#include "spec/field.h"

static const char file[] = "hf_families.json";

bool calc_hf_word_in(const char *words, const char *word, size_t length)
{
    for (const char *at = words; length > 0 && *at; at++) {
        if (strncmp(at, word, length) == 0 &&
            ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))) {
            return true;
        }
    }
    return false;
}

calc_status calc_hf_families_read(calc_settings *rows, calc_errors *errors)
{
    return calc_settings_from_json(rows, calc_hf_families.text, calc_hf_families.length, file,
                                   errors);
}

const calc_setting *calc_hf_family_next(const calc_hf_family *f, int link, const char *what,
                                        size_t *at, const char **key)
{
    size_t length = strlen(f->chain[link]);
    while (*at < f->rows->count) {
        const calc_setting *row = &f->rows->item[(*at)++];
        const char *behind = row->key + length;
        if (strncmp(row->key, f->chain[link], length) == 0 && *behind == '.' &&
            strncmp(behind + 1, what, strlen(what)) == 0) {
            const char *rest = behind + 1 + strlen(what);
            if (*rest == '.' || (*rest == '\0' && row->value[0])) { /* objects have no value */
                *key = *rest ? rest + 1 : rest;
                return row;
            }
        }
    }
    return NULL;
}

/* The name of the row of a type: the type itself, or the first that says it is also this. It ends
 * with its first dot. */
static const char *name_of(const calc_settings *rows, const char *type)
{
    size_t length = type ? strlen(type) : 0;
    for (size_t i = 0; i < rows->count && length > 0; i++) {
        const calc_setting *row = &rows->item[i];
        size_t own = strcspn(row->key, ".");
        if ((own == length && strncmp(row->key, type, length) == 0) ||
            (strcmp(row->key + own, ".also") == 0 && calc_hf_word_in(row->value, type, length))) {
            return row->key;
        }
    }
    return NULL;
}

bool calc_hf_family_known(const calc_settings *rows, const char *type)
{
    return name_of(rows, type) != NULL;
}

/* Sets a field of a model from a row. @return whether there is such a field and value */
static bool set_field(const calc_setting *row, const char *key, calc_app *app)
{
    const calc_field *field = calc_table_find(calc_table_of(CALC_KIND_APP), key);
    char *end;
    if (!field) {
        return false;
    }
    int word = field->choices ? calc_choice_index(field->choices, row->value)
                              : strcmp(row->value, "true") == 0;
    double number = strtod(row->value, &end);
    bool said = field->choices ? word >= 0 : end != row->value || word || row->value[0] == 'f';
    calc_member_set(field, (char *)app + field->offset, end != row->value ? number : word);
    return said;
}

static bool set_layers(const char *words, calc_hf_family *f)
{
    const struct {
        const char *word;
        bool *flag;
    } flags[] = {{"windowless", &f->windowless}, {"beside", &f->beside},     {"twin", &f->twin},
                 {"lightning", &f->lightning},   {"ssm_norm", &f->ssm_norm}, {"alone", &f->alone}};
    bool any = false;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (calc_hf_word_in(words, flags[i].word, strlen(flags[i].word))) {
            any = *flags[i].flag = true;
        }
    }
    return any;
}

calc_status calc_hf_family_read(const calc_settings *rows, const char *type, calc_hf_family *out,
                                calc_errors *errors)
{
    const char *key, *name = name_of(rows, type);
    const calc_setting *row, *wrong = NULL;
    *out = (calc_hf_family){.rows = rows};
    for (name = name ? name : name_of(rows, "llama"); name && out->links < CALC_HF_LINKS;) {
        char *link = out->chain[out->links++];
        size_t length = strcspn(name, "."), at = 0;
        memcpy(link, name, length < CALC_HF_TYPE_SIZE ? length : CALC_HF_TYPE_SIZE - 1);
        row = calc_hf_family_next(out, out->links - 1, "like", &at, &key);
        name = row ? name_of(rows, row->value) : NULL;
        wrong = row && !name ? row : wrong;
    }
    for (int link = out->links; link-- > 0;) {
        size_t at[4] = {0};
        while ((row = calc_hf_family_next(out, link, "is", &at[0], &key))) {
            wrong = set_field(row, key, &out->is) ? wrong : row;
        }
        while ((row = calc_hf_family_next(out, link, "layers", &at[1], &key))) {
            wrong = set_layers(row->value, out) ? wrong : row;
        }
        row = calc_hf_family_next(out, link, "note", &at[2], &key);
        out->note = row ? row->value : out->note;
        row = calc_hf_family_next(out, link, "refused", &at[3], &key);
        out->refused = row ? row->value : out->refused;
    }
    return wrong ? calc_errors_at(errors, CALC_ERR_FIELD, file, wrong->line, wrong->column, NULL,
                                  "%.80s: %.80s", wrong->key, wrong->value)
                 : CALC_OK;
}

const char *calc_hf_family_key(const calc_hf_family *f, const char *key)
{
    const calc_setting *row;
    const char *own;
    for (int link = 0; link < f->links; link++) {
        for (size_t at = 0; (row = calc_hf_family_next(f, link, "names", &at, &own));) {
            if (strcmp(own, key) == 0) {
                return row->value;
            }
        }
    }
    return key;
}

bool calc_hf_key_harmless(const calc_hf_family *f, const char *key)
{
    const calc_setting *row;
    const char *rest;
    for (int link = 0; link < f->links; link++) {
        for (size_t at = 0; (row = calc_hf_family_next(f, link, "passes", &at, &rest));) {
            if (calc_hf_word_in(row->value, key, strcspn(key, ".")) ||
                calc_hf_word_in(row->value, key, strlen(key))) {
                return true;
            }
        }
    }
    return false;
}

bool calc_hf_key_structural(const char *key)
{
    static const char *const parts[] = {"layer",
                                        "head",
                                        "expert",
                                        "hidden",
                                        "intermediate",
                                        "_dim",
                                        "_rank",
                                        "mamba",
                                        "ssm",
                                        "attn",
                                        "window",
                                        "block",
                                        "ffn",
                                        "mlp",
                                        "moe",
                                        "latent",
                                        "mtp",
                                        "stream",
                                        "conv_",
                                        "vocab",
                                        "pattern",
                                        "embed",
                                        "altup",
                                        "memory",
                                        "d_model",
                                        "state_size",
                                        "cross_attention",
                                        "encoder_decoder",
                                        "use_cla",
                                        "kv_shar"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strstr(key, parts[i])) {
            return true;
        }
    }
    return false;
}

bool calc_hf_value_neutral(const char *value)
{
    char *end;
    double number = strtod(value, &end);
    return strcasecmp(value, "false") == 0 || (end != value && !*end && number <= 0);
}
