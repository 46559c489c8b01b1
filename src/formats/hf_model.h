/** @file hf_model.h  Turns the values of a Hugging Face configuration into a model. */
#ifndef CALC_FORMATS_HF_MODEL_H
#define CALC_FORMATS_HF_MODEL_H

#include <math.h>

#include "calc.h"
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

enum { CALC_HF_PRESETS = 8 /**< most presets of a family, including the end mark */ };

/** The value of a member that a published configuration leaves out. */
typedef struct calc_hf_preset {
    calc_hf_member member;
    int64_t value; /**< 0 ends the list */
} calc_hf_preset;

/** One kind of model. */
typedef struct calc_hf_family {
    const char *types; /**< values of "model_type", separated by blanks */
    const char *also;  /**< more values; or NULL */
    calc_ffn_type ffn; /**< with the usual activation; swiglu and geglu have a gate */
    calc_norm_type norm;
    calc_position_type position;
    bool bias;         /**< all matrices have one */
    bool attn_bias;    /**< queries, keys and values have a bias, other matrices need not; if the
                            file does not say */
    bool dropout;      /**< if the file does not say */
    bool tied;         /**< if the file does not say */
    bool qk_norm;      /**< if the file does not say */
    bool router_bias;  /**< if the file does not say */
    bool windowless;   /**< windows only with use_sliding_window */
    bool whole_norm;   /**< queries and keys are normalized over all heads together */
    bool sinks;        /**< attention has sinks */
    bool router_scale; /**< the router scales its input and the output of experts */
    bool shared_gate;  /**< the shared experts have one */
    bool beside;       /**< attention and a linear mixer stand side by side in all layers */
    bool twin;         /**< a layer of the file is two: experts stand beside the first dense one */
    bool lightning;    /**< linear attention is lightning attention */
    bool ssm_norm;     /**< the projections of Mamba-1 are normalized */
    calc_norm_place place;
    calc_output_gate gate;
    calc_residual_type residual;
    calc_hf_preset preset[CALC_HF_PRESETS];
    const char *note; /**< features of the model that calc does not express; or NULL */
} calc_hf_family;

/** The family of a "model_type"; NULL if it is not known. */
const calc_hf_family *calc_hf_family_find(const char *type);

/** What is assumed of a "model_type" that is not known: blocks in the style of Llama. */
const calc_hf_family *calc_hf_family_unknown(void);

/** Whether a key changes neither the shape nor the cost of a model. */
bool calc_hf_key_harmless(const char *key);

/** Whether a key names something that layers are made of. */
bool calc_hf_key_structural(const char *key);

/** Whether a value turns off what its key names. */
bool calc_hf_value_neutral(const char *value);

/** Whether `word` is one of `words`, which are separated by blanks. */
bool calc_hf_word_in(const char *words, const char *word, size_t length);

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
CALC_MUST_USE calc_status calc_hf_encoder_read(const calc_hf *hf, calc_app *app,
                                               calc_errors *errors);

#endif
