#include "report/page_step.h"

#include "model/operators/processor.h"

enum { DIGITS = 7 };

static void put_spent(calc_put *put, const char *key, const double *spent_s)
{
    calc_put_array(put, key, CALC_PUT_LINE);
    for (int i = 0; i < CALC_TIMELINE_PARTS; i++) {
        calc_put_rounded(put, NULL, spent_s[i], DIGITS);
    }
    calc_put_close(put);
}

static void put_passes(calc_put *put, const calc_timeline *t, int64_t stage)
{
    calc_put_array(put, "passes", CALC_PUT_LINE);
    for (int64_t chunk = 0; chunk < calc_timeline_held(&t->shape); chunk++) {
        calc_timeline_spent spent;
        calc_timeline_spent_of(t, stage, chunk, &spent);
        calc_put_object(put, NULL, CALC_PUT_LINE);
        put_spent(put, "fw", spent.fw_s);
        put_spent(put, "bw", spent.bw_s);
        put_spent(put, "wgrad", spent.wgrad_s);
        calc_put_close(put);
    }
    calc_put_close(put);
}

/* @return end of the last phase [s] */
static double put_after(calc_put *put, const calc_timeline *t, int64_t stage, double pipeline_s)
{
    calc_timeline_slice slice[CALC_TIMELINE_AFTER];
    double end_s = pipeline_s;
    calc_timeline_after(t, stage, pipeline_s, pipeline_s * t->growth, slice);
    calc_put_array(put, "after", CALC_PUT_LINE);
    for (int i = 0; i < CALC_TIMELINE_AFTER; i++) {
        const calc_timeline_slice *s = &slice[i];
        if (s->end_s > s->start_s) {
            calc_put_object(put, NULL, CALC_PUT_LINE);
            calc_put_text(put, "name", s->name);
            calc_put_flag(put, "link", s->link);
            calc_put_number(put, "start", s->start_s);
            calc_put_number(put, "end", s->end_s);
            calc_put_close(put);
            end_s = calc_max(end_s, s->end_s);
        }
    }
    calc_put_close(put);
    return end_s;
}

void calc_page_step_put(calc_put *put, const calc_timeline *t, double pipeline_s)
{
    double end_s = 0;
    calc_put_object(put, "step", CALC_PUT_LINES);
    calc_put_array(put, "parts", CALC_PUT_LINE);
    for (int i = 0; i < CALC_TIMELINE_PARTS; i++) {
        calc_put_text(put, NULL, calc_timeline_part_text((calc_timeline_part)i));
    }
    calc_put_close(put);
    calc_put_array(put, "stages", CALC_PUT_LINES);
    for (int64_t stage = 0; stage < t->shape.stages; stage++) {
        calc_timeline_memory memory = calc_timeline_memory_of(t, stage);
        calc_put_object(put, NULL, CALC_PUT_LINE);
        put_passes(put, t, stage);
        end_s = calc_max(end_s, put_after(put, t, stage, pipeline_s));
        calc_put_number(put, "fixed", memory.fixed_bytes);
        calc_put_number(put, "flight", memory.flight_bytes);
        calc_put_close(put);
    }
    calc_put_close(put);
    calc_put_number(put, "overhead_s", t->overhead_s);
    calc_put_number(put, "end_s", end_s + t->overhead_s);
    calc_put_close(put);
}
