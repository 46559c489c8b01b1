#include "cli/run/trace_out.h"

#include <math.h>

#include "spec/field.h"

int64_t calc_trace_ns(double seconds)
{
    return llround(seconds * 1e9);
}

/* Start a record. @return whether it is to be written */
static bool begin(calc_trace_out *t)
{
    if (t->out) {
        calc_output_text(t->out, t->count > 0 ? ",\n{" : "\n{");
    }
    t->count++;
    return t->out != NULL;
}

/* A time in the unit of the format [us]. */
static void write_us(calc_trace_out *t, const char *key, int64_t ns)
{
    calc_output_printf(t->out, ",\"%s\":%lld.%03lld", key, (long long)(ns / 1000),
                       (long long)(ns % 1000));
}

static void write_track(calc_trace_out *t, calc_trace_track track)
{
    calc_output_printf(t->out, ",\"pid\":%lld,\"tid\":%d", (long long)track.process, track.thread);
}

void calc_trace_process(calc_trace_out *t, int64_t process, const char *name)
{
    if (begin(t)) {
        calc_output_printf(t->out,
                           "\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%lld,\"args\":"
                           "{\"name\":\"%s\"}}",
                           (long long)process, name);
    }
    if (begin(t)) {
        calc_output_printf(t->out,
                           "\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%lld,\"args\":"
                           "{\"sort_index\":%lld}}",
                           (long long)process, (long long)process);
    }
}

void calc_trace_thread(calc_trace_out *t, calc_trace_track track, const char *name)
{
    if (begin(t)) {
        calc_output_text(t->out, "\"ph\":\"M\",\"name\":\"thread_name\"");
        write_track(t, track);
        calc_output_printf(t->out, ",\"args\":{\"name\":\"%s\"}}", name);
    }
}

void calc_trace_slice(calc_trace_out *t, calc_trace_track track, const char *name,
                      const char *category, double start_s, double end_s)
{
    int64_t start_ns = calc_trace_ns(start_s);
    int64_t end_ns = calc_trace_ns(end_s);
    if (end_ns > start_ns && begin(t)) {
        calc_output_printf(t->out, "\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"%s\"", name, category);
        write_track(t, track);
        write_us(t, "ts", start_ns);
        write_us(t, "dur", end_ns - start_ns);
        calc_output_text(t->out, "}");
    }
}

void calc_trace_counter(calc_trace_out *t, int64_t process, const char *name, const char *series,
                        double at_s, double value)
{
    char number[32];
    if (begin(t)) {
        calc_output_printf(t->out, "\"ph\":\"C\",\"name\":\"%s\",\"pid\":%lld", name,
                           (long long)process);
        write_us(t, "ts", calc_trace_ns(at_s));
        calc_output_printf(t->out, ",\"args\":{\"%s\":%s}}", series,
                           calc_number_text(value, 1, number));
    }
}

void calc_trace_arrow(calc_trace_out *t, calc_trace_track track, bool begins, int64_t id,
                      const char *name, int64_t at_ns)
{
    if (begin(t)) {
        calc_output_printf(t->out, "\"ph\":\"%s\",\"id\":%lld,\"name\":\"%s\",\"cat\":\"message\"",
                           begins ? "s" : "f\",\"bp\":\"e", (long long)id, name);
        write_track(t, track);
        write_us(t, "ts", at_ns);
        calc_output_text(t->out, "}");
    }
}
