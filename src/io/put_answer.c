#include "io/put_answer.h"

#include <inttypes.h>
#include <stdio.h>

void calc_put_reasons(calc_put *put, const calc_reason *reason, size_t count)
{
    calc_put_array(put, "reasons", CALC_PUT_LINES);
    for (size_t i = 0; i < count; i++) {
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "verdict", calc_verdict_text(reason[i].verdict));
        calc_put_text(put, "text", reason[i].text);
        calc_put_text(put, "hint", reason[i].hint);
        calc_put_close(put);
    }
    calc_put_close(put);
}

void calc_put_layers(calc_put *put, const calc_layer_stats *layer, size_t count)
{
    calc_put_array(put, "layers", CALC_PUT_LINES);
    for (size_t i = 0; i < count; i++) {
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "name", layer[i].name);
        calc_put_rows(put, CALC_KIND_LAYER, &layer[i]);
        calc_put_close(put);
    }
    calc_put_close(put);
}

void calc_put_stages(calc_put *put, const calc_stage_stats *stage, size_t count)
{
    calc_put_array(put, "stages", CALC_PUT_LINES);
    for (size_t i = 0; i < count; i++) {
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_rows(put, CALC_KIND_STAGE, &stage[i]);
        calc_put_close(put);
    }
    calc_put_close(put);
}

/* "key": [first, first + stride, ...] for a group of more than one. */
static void put_group(calc_put *put, const char *key, int64_t first, int64_t stride, int64_t count)
{
    if (count == 1) {
        return;
    }
    calc_put_array(put, key, CALC_PUT_LINE);
    for (int64_t i = 0; i < count; i++) {
        calc_put_count(put, NULL, first + i * stride);
    }
    calc_put_close(put);
}

void calc_peers_save(calc_output *out, const calc_exec *exec)
{
    int64_t tensor_par = exec->strategy.tensor_par;
    int64_t replica = tensor_par * exec->pipeline_par; /* ranks of one replica */
    int64_t ranks = replica * exec->strategy.data_par;
    calc_put put = calc_put_to(out);
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    for (int64_t rank = 0; rank < ranks; rank++) {
        int64_t in_replica = rank % replica;
        char key[32];
        snprintf(key, sizeof key, "%" PRId64, rank);
        calc_put_object(&put, key, CALC_PUT_LINE);
        put_group(&put, "tensor", rank - rank % tensor_par, 1, tensor_par);
        if (exec->pipeline_par > 1) {
            calc_put_count(&put, "pipeline",
                           rank - in_replica + (in_replica + tensor_par) % replica);
        }
        put_group(&put, "data", in_replica, replica, exec->strategy.data_par);
        calc_put_close(&put);
    }
    calc_put_end(&put);
}
