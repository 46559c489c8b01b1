/** @file hf.h  Configurations of Hugging Face transformers (config.json) as models. The keys are
 *  those of transformers 4.57; hf.fields.h has their names, hf_families.c what a kind of model
 *  means without them. */
#ifndef CALC_FORMATS_HF_H
#define CALC_FORMATS_HF_H

#include "formats/settings.h"

/** What is read. */
typedef struct calc_hf {
    const calc_settings *settings; /**< of calc_settings_from_json() */
    const char *name;              /**< what errors call the file */
    int64_t seq_size;              /**< sequence length, whatever the file says; 0: as it says */
    /** Called with each remark, one line: keys that are not known, what is not modelled, which
     *  sequence length was taken; NULL: not called. */
    void (*tell)(void *context, const char *text);
    void *context;
} calc_hf;

enum { CALC_HF_SEQ_MAX = 8192 /**< tokens of a sequence that the file does not bound lower */ };

/** Whether settings look like such a configuration: "model_type" or "architectures" at the top. */
bool calc_hf_is(const calc_settings *settings);

/** Whether a text is a JSON object that looks like one. Nothing is said of a text that is not. */
bool calc_hf_is_text(const char *text, size_t length);

/** Read the model. The sequence length is the one before positions were extended, or else
 *  max_position_embeddings, at most CALC_HF_SEQ_MAX.
 *  @return CALC_OK, or CALC_ERR_FIELD, CALC_ERR_RANGE or CALC_ERR_RULE with errors that name the
 *  key and its place */
CALC_MUST_USE calc_status calc_hf_read(const calc_hf *hf, calc_app *app, calc_errors *errors);

/** The same from a text. @return also CALC_ERR_SYNTAX or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_hf_read_text(const calc_hf *hf, const char *text, size_t length,
                                            calc_app *app, calc_errors *errors);

#endif
