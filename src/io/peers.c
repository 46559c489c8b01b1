#include "io/peers.h"

#include <inttypes.h>

/* ", "key": [first, first + stride, ...]" for a group of more than one. */
static bool save_group(calc_output *out, const char *key, int64_t first, int64_t stride,
                       int64_t count, bool comma)
{
    if (count == 1) {
        return comma;
    }
    calc_output_printf(out, "%s\"%s\": [", comma ? ", " : "", key);
    for (int64_t i = 0; i < count; i++) {
        calc_output_printf(out, "%s%" PRId64, i > 0 ? ", " : "", first + i * stride);
    }
    calc_output_text(out, "]");
    return true;
}

void calc_peers_save(calc_output *out, const calc_exec *exec)
{
    int64_t tensor_par = exec->tensor_par;
    int64_t replica = tensor_par * exec->pipeline_par; /* ranks of one replica */
    int64_t ranks = replica * exec->data_par;
    calc_output_text(out, "{");
    for (int64_t rank = 0; rank < ranks; rank++) {
        int64_t tensor = rank % tensor_par;
        int64_t in_replica = rank % replica;
        bool comma = false;
        calc_output_printf(out, "%s\n  \"%" PRId64 "\": {", rank > 0 ? "," : "", rank);
        comma = save_group(out, "tensor", rank - tensor, 1, tensor_par, comma);
        if (exec->pipeline_par > 1) {
            int64_t next = rank - in_replica + (in_replica + tensor_par) % replica;
            calc_output_printf(out, "%s\"pipeline\": %" PRId64, comma ? ", " : "", next);
            comma = true;
        }
        save_group(out, "data", in_replica, replica, exec->data_par, comma);
        calc_output_text(out, "}");
    }
    calc_output_text(out, "\n}\n");
}
