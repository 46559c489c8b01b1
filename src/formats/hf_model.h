/** @file hf_model.h  Turns the values of a Hugging Face configuration into a model. */
#ifndef CALC_FORMATS_HF_MODEL_H
#define CALC_FORMATS_HF_MODEL_H

#include <math.h>

#include "calc.h"
#include "formats/framework.h"
#include "formats/hf.h"

/* Kinds of Hugging Face models: the properties of each that its configuration
 * does not state. */

/** The values of a configuration; the rows of hf.fields.h. */
typedef enum calc_hf_member {
#define CALC_HF(name, how, field, keys) CALC_HF_##name,
#include "formats/hf.fields.h"
#undef CALC_HF
    CALC_HF_COUNT
} calc_hf_member;

enum {
    CALC_HF_LINKS = 6,      /**< most rows that a family is made of */
    CALC_HF_TYPE_SIZE = 32, /**< most bytes of the name of a row, its end included */
};

/** hf_families.json, "families": kinds of models; hf_encoders.json: kinds of encoders of images. */
extern const calc_embedded calc_hf_list[];

/** A row of such a file with those that it is like. A row has: `also`, more types that it is of;
 *  `like`, the row it begins with; `is`, fields of the model or encoder that its configurations do
 *  not say, or may leave out; `passes`, keys that change neither the shape nor the cost, or do not
 *  with one value: "key=value". */
typedef struct calc_hf_row {
    const calc_settings *rows;
    char chain[CALC_HF_LINKS][CALC_HF_TYPE_SIZE]; /**< names of rows: its own first */
    int links;                                    /**< 0: there is no row of the type */
} calc_hf_row;

/** Whether a type has a row. */
bool calc_hf_row_known(const calc_settings *rows, const char *type);

/** Finds the row of a type, or of another one if it has none.
 *  @param rows       the settings of a file, which must outlive the row
 *  @param type       NULL: none
 *  @param otherwise  NULL: none */
void calc_hf_row_find(const calc_settings *rows, const char *type, const char *otherwise,
                      calc_hf_row *out);

/** The next entry "what" or "what.key" of the link-th name of a row; NULL: no more.
 *  @param at   where the search goes on, from 0
 *  @param key  set; "" if there is none behind `what` */
const calc_setting *calc_hf_row_next(const calc_hf_row *row, int link, const char *what, size_t *at,
                                     const char **key);

/** Sets the fields that a row `is`, its own last.
 *  @return an entry that names no field, or no value of it; NULL: all are set */
const calc_setting *calc_hf_row_fill(const calc_hf_row *row, const calc_table *table, void *object);

/** Whether a setting changes neither the shape nor the cost. */
typedef enum calc_hf_passes {
    CALC_HF_PASSES_NOT,       /**< not known */
    CALC_HF_PASSES_OTHERWISE, /**< only with another value */
    CALC_HF_PASSES
} calc_hf_passes;

calc_hf_passes calc_hf_row_passes(const calc_hf_row *row, const char *key, const char *value);

/** One kind of model. Beside what a row has: `absent`, what keys are worth that a configuration
 *  leaves out; `names`, keys that only this kind calls so, and what others call them; `layers`, the
 *  flags here; `note`, what calc does not express; `refused`, what it cannot go without. */
typedef struct calc_hf_family {
    calc_hf_row row;
    calc_app is;
    bool windowless; /**< windows only with use_sliding_window */
    bool beside;     /**< attention and a linear mixer stand side by side in all layers */
    bool twin;       /**< a layer of the file is two: experts stand beside the first dense one */
    bool lightning;  /**< linear attention is lightning attention */
    bool ssm_norm;   /**< the projections of Mamba-1 are normalized */
    bool halved;     /**< the width of a dense layer counts both matrices in front of its gate */
    bool alone;      /**< layers are linear mixers without a feed-forward part */
    const char *note, *refused; /**< or NULL */
} calc_hf_family;

/** Reads the family of a "model_type"; one that is not known, or NULL, is as Llama.
 *  @param rows  must outlive the family
 *  @return CALC_ERR_FIELD, with the place, if a row says what does not exist */
CALC_MUST_USE calc_status calc_hf_family_read(const calc_settings *rows, const char *type,
                                              calc_hf_family *out, calc_errors *errors);

/** Length of a key's prefix before the text model's own keys; 0 at the top level. */
size_t calc_hf_nest_length(const char *key);

/** The setting "model_type"; the text model's, if it has its own.
 *  @param rows    of families
 *  @param nested  set: whether there is a text model inside */
const calc_setting *calc_hf_type_of(const calc_settings *settings, const calc_settings *rows,
                                    bool *nested);

/** Whether settings look like a configuration of Hugging Face. */
bool calc_hf_is(const calc_settings *settings);

/** The class without a head that a configuration is of: LlamaModel, or with a head of another kind,
 *  as LlamaForSequenceClassification. A class of which that is not known has one. NULL: it has one.
 */
const calc_setting *calc_hf_headless(const calc_settings *settings);

/** What other kinds of models call a key of this one. */
const char *calc_hf_family_key(const calc_hf_family *family, const char *key);

/** Whether a key names something that layers are made of. */
bool calc_hf_key_structural(const char *key);

/** Whether a value turns off what its key names. */
bool calc_hf_value_neutral(const char *value);

/** Values by member, with the settings they come from. */
typedef struct calc_hf_said {
    const calc_hf *hf;
    const calc_hf_family *family;
    const calc_setting *setting[CALC_HF_COUNT]; /**< NULL: the family's value, or not given */
    double value[CALC_HF_COUNT]; /**< counts, rates, 0 or 1, a calc_ffn_type; NaN: not given */
} calc_hf_said;

/** Passes a remark on. */
static inline void calc_hf_tell(const calc_hf *hf, const char *text)
{
    if (hf->tell) {
        hf->tell(hf->context, text);
    }
}

/** The value of a member, or `absent` if it is not given. */
static inline double calc_hf_get(const calc_hf_said *said, calc_hf_member member, double absent)
{
    return isnan(said->value[member]) ? absent : said->value[member];
}

/** Fills the model.
 *  @return CALC_OK, or CALC_ERR_FIELD or CALC_ERR_RULE with errors that name the missing or
 *  contradictory key */
CALC_MUST_USE calc_status calc_hf_model(const calc_hf_said *said, calc_app *app,
                                        calc_errors *errors);

/* Encoders of images in configurations of Hugging Face (vision_config): kinds
 * of towers are rows, with what their configurations do not say. */

/** Length of the prefix of keys about images, as "vision_config."; 0: the key is not of them. */
size_t calc_hf_encoder_prefix(const char *key);

/** Reads the encoder. A tower of a kind that is not known is left out, with a remark. Errors have
 *  their place. */
CALC_MUST_USE calc_status calc_hf_encoder_read(const calc_hf_said *said, calc_app *app,
                                               calc_errors *errors);

/** The end of the name of an object of number formats in a key, which is not that of an encoder; 0:
 *  none. */
size_t calc_hf_formats_key(const char *key);

/** Reads the number formats, with what the lists of modules that stay wide say of attention.
 * Formats that differ between layers are left open, with a remark; so are, narrowed here, the wide
 * parts that a layout cannot say.
 * @param app  the model, whose `checkpoint` is set
 * @return CALC_OK; CALC_ERR_UNSUPPORTED with an error that names the key of a method, an algorithm
 * or a width that calc does not know; CALC_ERR_SYNTAX, CALC_ERR_IO or CALC_ERR_NOMEM of the file
 * beside it */
CALC_MUST_USE calc_status calc_hf_formats_read(const calc_hf *hf, calc_app *app,
                                               calc_errors *errors);

#endif
