/** @file hf.h  Reads configurations of Hugging Face transformers (config.json) as models. The keys
 *  are those of transformers 4.57: hf.fields.h lists their names, and hf_families.c gives the
 *  values that a kind of model implies when they are missing. */
#ifndef CALC_FORMATS_HF_H
#define CALC_FORMATS_HF_H

#include "formats/settings.h"

/** The input. */
typedef struct calc_hf {
    const calc_settings *settings; /**< of calc_settings_from_text() */
    const char *name;              /**< the file's name in errors */
    const char *path;              /**< where it is: a hf_quant_config.json beside it is read, too;
                                        NULL: nowhere */
    int64_t seq_size;              /**< sequence length that overrides the file's; 0: the file's */
    /** Called with each remark, one line: keys that are not known, features that are not modelled,
     *  and the sequence length that was chosen; NULL: not called. */
    void (*tell)(void *context, const char *text);
    void *context;
} calc_hf;

enum {
    CALC_HF_SEQ_MAX = 8192, /**< tokens; longest sequence length taken from a file */
    CALC_HF_PATH_SIZE = 4096
};

/** Find whether a text is a JSON object that looks like such a configuration. Reports no errors.
 *  @return CALC_OK: it is one; CALC_ERR_NOMEM: that is not known; any other status: it is none */
CALC_MUST_USE calc_status calc_hf_is_text(const char *text, size_t length);

/** Reads the model, with its checkpoint's number formats. The sequence length is that before
 * positions were extended, or max_position_embeddings, at most CALC_HF_SEQ_MAX. Errors have their
 * place. */
CALC_MUST_USE calc_status calc_hf_read_text(const calc_hf *hf, const char *text, size_t length,
                                            calc_app *app, calc_errors *errors);

/* Number formats of published weights: "quantization_config" of a Hugging
 * Face configuration, and hf_quant_config.json beside it; without these the name of the model. */

enum { CALC_HF_FORMATS_TEXT = 400 };

/** What a published name says of its weights. */
typedef enum calc_hf_named {
    CALC_HF_NAMED_NOTHING,
    CALC_HF_NAMED_NARROW, /**< only that they are stored in some way of their own */
    CALC_HF_NAMED_FORMATS
} calc_hf_named;

/** Takes what words of a published name say: "Qwen2.5-72B-Instruct-AWQ", "...-FP8-KV".
 *  @param out   set where they say it
 *  @param text  filled with what is taken, behind "the model NAME, " */
calc_hf_named calc_hf_name_formats(const char *name, calc_checkpoint_formats *out,
                                   char text[CALC_HF_FORMATS_TEXT]);

/** The same for a model whose document, at `path`, has another name. */
void calc_hf_name_take(const char *name, const char *path, calc_app *app);

/** Whether a word of a name says how weights are stored: "AWQ", "w8a8". */
bool calc_hf_is_format(const char *word, size_t length);

#endif
