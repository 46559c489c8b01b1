/** @file hf_model.h  Turns the values of a Hugging Face configuration into a model. */
#ifndef CALC_FORMATS_HF_MODEL_H
#define CALC_FORMATS_HF_MODEL_H

#include <math.h>

#include "formats/hf.h"
#include "formats/hf_families.h"

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

#endif
