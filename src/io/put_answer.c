#include "io/put_answer.h"

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
