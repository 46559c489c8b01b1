#include "model/parameters.h"

/** Words of the vocabulary that Calculon assumes for every model (GPT-2's, padded). */
#define VOCABULARY 51200

void calc_count_parameters(const calc_app *app, calc_parameters *out)
{
    double hidden = (double)app->hidden;
    double feedforward = (double)app->feedforward;
    double width = (double)app->attn_heads * (double)app->attn_size;
    double blocks = (double)app->num_blocks;
    *out = (calc_parameters){
        .attention = blocks * (4 * hidden * width + 3 * width + hidden),
        .mlp = blocks * (2 * hidden * feedforward + hidden + feedforward),
        .norm = blocks * 2 * 2 * hidden,
        .embedding = (VOCABULARY + (double)app->seq_size) * hidden,
    };
    out->total = out->attention + out->mlp + out->norm + out->embedding;
    out->active = out->total;
}

double calc_parameters_token_flop(const calc_app *app, const calc_exec *exec)
{
    double hidden = (double)app->hidden;
    double width = (double)app->attn_heads * (double)app->attn_size;
    double key_value_width =
        exec->attention_type == CALC_ATTENTION_TYPE_MULTIQUERY ? (double)app->attn_size : width;
    double weights =
        2 * hidden * width + 2 * hidden * key_value_width + 2 * hidden * (double)app->feedforward;
    double forward = 2 * weights + 4 * (double)app->seq_size * width;
    return (double)app->num_blocks * forward * (exec->training ? 3 : 1);
}
