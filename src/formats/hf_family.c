#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/decimal.h"
#include "base/error.h"
#include "formats/hf_model.h"
#include "formats/read.h"
#include "spec/field.h"

const calc_setting *calc_hf_row_next(const calc_hf_row *row, int link, const char *what, size_t *at,
                                     const char **key)
{
    size_t length = strlen(row->chain[link]);
    while (*at < row->rows->count) {
        const calc_setting *s = &row->rows->item[(*at)++];
        const char *behind = s->key + length;
        if (strncmp(s->key, row->chain[link], length) == 0 && *behind == '.' &&
            strncmp(behind + 1, what, strlen(what)) == 0) {
            const char *rest = behind + 1 + strlen(what);
            if (*rest == '.' || (*rest == '\0' && s->value[0])) { /* objects have no value */
                *key = *rest ? rest + 1 : rest;
                return s;
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
            (strcmp(row->key + own, ".also") == 0 && calc_word_in(row->value, type, length))) {
            return row->key;
        }
    }
    return NULL;
}

bool calc_hf_row_known(const calc_settings *rows, const char *type)
{
    return name_of(rows, type) != NULL;
}

void calc_hf_row_find(const calc_settings *rows, const char *type, const char *otherwise,
                      calc_hf_row *out)
{
    const char *key, *name = name_of(rows, type);
    *out = (calc_hf_row){.rows = rows};
    for (name = name ? name : name_of(rows, otherwise); name && out->links < CALC_HF_LINKS;) {
        char *link = out->chain[out->links++];
        size_t length = strcspn(name, "."), at = 0;
        memcpy(link, name, length < CALC_HF_TYPE_SIZE ? length : CALC_HF_TYPE_SIZE - 1);
        const calc_setting *like = calc_hf_row_next(out, out->links - 1, "like", &at, &key);
        name = like ? name_of(rows, like->value) : NULL;
    }
}

calc_hf_passes calc_hf_row_passes(const calc_hf_row *row, const char *key, const char *value)
{
    const calc_setting *s;
    const char *rest;
    size_t length = strlen(key), object = strcspn(key, ".");
    calc_hf_passes found = CALC_HF_PASSES_NOT;
    for (int link = 0; link < row->links; link++) {
        for (size_t at = 0; (s = calc_hf_row_next(row, link, "passes", &at, &rest));) {
            if (calc_word_in(s->value, key, object) || calc_word_in(s->value, key, length)) {
                return CALC_HF_PASSES;
            }
            const char *w = s->value;
            for (size_t whole; (whole = calc_next_word(&w, " ")) > 0;) {
                if (strncmp(w - whole, key, length) == 0 && (w - whole)[length] == '=') {
                    size_t end = whole - length - 1;
                    if (strlen(value) == end && strncasecmp(w - end, value, end) == 0) {
                        return CALC_HF_PASSES;
                    }
                    found = CALC_HF_PASSES_OTHERWISE;
                }
            }
        }
    }
    return found;
}

const calc_setting *calc_hf_row_fill(const calc_hf_row *row, const calc_table *table, void *object)
{
    const calc_setting *s, *wrong = NULL;
    const char *key;
    for (int link = row->links; link-- > 0;) {
        for (size_t at = 0; (s = calc_hf_row_next(row, link, "is", &at, &key));) {
            const calc_field *field = calc_table_find(table, key);
            char *end;
            double number = calc_decimal_at(s->value, &end);
            bool yes = strcmp(s->value, "true") == 0;
            int word = field && field->choices ? calc_choice_index(field->choices, s->value) : yes;
            if (field && (end != s->value || word > 0 || strcmp(s->value, "false") == 0)) {
                calc_member_set(field, (char *)object + field->offset,
                                end != s->value ? number : word);
            } else {
                wrong = s;
            }
        }
    }
    return wrong;
}

static bool set_layers(const char *words, calc_hf_family *f)
{
    const struct {
        const char *word;
        bool *flag;
    } flags[] = {{"windowless", &f->windowless}, {"beside", &f->beside},     {"twin", &f->twin},
                 {"lightning", &f->lightning},   {"ssm_norm", &f->ssm_norm}, {"alone", &f->alone},
                 {"halved", &f->halved}};
    bool any = false;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (calc_is_word(words, flags[i].word)) {
            any = *flags[i].flag = true;
        }
    }
    return any;
}

calc_status calc_hf_family_read(const calc_settings *rows, const char *type, calc_hf_family *out,
                                calc_errors *errors)
{
    const char *key;
    const calc_setting *s;
    memset(out, 0, sizeof *out);
    calc_hf_row_find(rows, type, "llama", &out->row);
    const calc_setting *wrong = calc_hf_row_fill(&out->row, calc_table_of(CALC_KIND_APP), &out->is);
    for (int link = out->row.links; link-- > 0;) {
        size_t at[3] = {0};
        while ((s = calc_hf_row_next(&out->row, link, "layers", &at[0], &key))) {
            wrong = set_layers(s->value, out) ? wrong : s;
        }
        s = calc_hf_row_next(&out->row, link, "note", &at[1], &key);
        out->note = s ? s->value : out->note;
        s = calc_hf_row_next(&out->row, link, "refused", &at[2], &key);
        out->refused = s ? s->value : out->refused;
    }
    return wrong ? calc_errors_at(errors, CALC_ERR_FIELD, "hf_families.json", wrong->line,
                                  wrong->column, NULL, "%.80s: %.80s", wrong->key, wrong->value)
                 : CALC_OK;
}

const char *calc_hf_family_key(const calc_hf_family *f, const char *key)
{
    const calc_setting *s;
    const char *own;
    for (int link = 0; link < f->row.links; link++) {
        for (size_t at = 0; (s = calc_hf_row_next(&f->row, link, "names", &at, &own));) {
            const char *k = key; /* a star stands for a number */
            while (*own && (*own == '*' ? strspn(k, "0123456789") > 0 : *own == *k)) {
                k += *own++ == '*' ? strspn(k, "0123456789") : 1;
            }
            if (!*own && !*k) {
                return s->value;
            }
        }
    }
    return key;
}

bool calc_hf_key_structural(const char *key)
{
    return calc_text_has("layer|head|expert|hidden|intermediate|_dim|_rank|mamba|ssm|attn|window|"
                         "block|ffn|mlp|moe|latent|mtp|stream|conv_|vocab|pattern|embed|altup|"
                         "memory|d_model|state_size|cross_attention|encoder_decoder|use_cla|"
                         "ut_steps|loop|recurren|kv_shar",
                         key, strlen(key));
}

bool calc_hf_value_neutral(const char *value)
{
    char *end;
    double number = calc_decimal_at(value, &end);
    return strcasecmp(value, "false") == 0 || (end != value && !*end && number <= 0);
}

/* ---- Which family a file is of --------------------------------------------------------------- */

size_t calc_hf_nest_length(const char *key)
{
    /* Names of objects that hold the text model of a multimodal model. */
    return calc_word_begins("thinker_config.text_config. text_config. llm_config. language_config.",
                            key);
}

const calc_setting *calc_hf_type_of(const calc_settings *settings, const calc_settings *rows,
                                    bool *nested)
{
    const calc_setting *type = NULL;
    *nested = false;
    for (size_t i = 0; i < settings->count; i++) {
        const calc_setting *setting = &settings->item[i];
        size_t above = calc_hf_nest_length(setting->key);
        *nested = *nested || above > 0;
        bool better =
            !type || (calc_hf_nest_length(type->key) == 0 && !calc_hf_row_known(rows, type->value));
        if (strcmp(setting->key + above, "model_type") == 0 && setting->value[0] && better &&
            (above == 0 || !type || calc_hf_row_known(rows, setting->value))) {
            type = setting;
        }
    }
    return type;
}

bool calc_hf_is(const calc_settings *settings)
{
    return calc_settings_last(settings, "model_type") ||
           calc_settings_last(settings, "architectures") ||
           (calc_settings_last(settings, "num_hidden_layers") &&
            calc_settings_last(settings, "hidden_size"));
}

/* Words for classes of transformers that score words. */
static const char heads[] =
    "CausalLM|LMHead|MaskedLM|ModelLM|Generation|PreTraining|Seq2SeqLM|DoubleHeads";

const calc_setting *calc_hf_headless(const calc_settings *settings)
{
    static const char map[] = "auto_map.", model[] = "Model";
    const calc_setting *none = NULL;
    for (size_t i = 0; i < settings->count; i++) {
        const calc_setting *s = &settings->item[i];
        const char *key = s->key + calc_hf_nest_length(s->key);
        bool class = strcmp(key, "architectures") == 0 && s->length > 0;
        if ((class || strncmp(key, map, strlen(map)) == 0) &&
            (calc_text_has(heads, s->value, s->length) || calc_text_has(heads, key, strlen(key)))) {
            return NULL;
        }
        bool ends =
            s->length >= strlen(model) && strcmp(s->value + s->length - strlen(model), model) == 0;
        none = class && (ends || strstr(s->value, "For")) ? s : none;
    }
    return none;
}
