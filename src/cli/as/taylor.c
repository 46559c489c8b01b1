#include "cli/as/taylor.h"

#include <stdio.h>

#include "base/error.h"
#include "cli/shell/inputs.h"

calc_status calc_taylor_file_read(calc_taylor_file *out, const char *path, calc_errors *errors)
{
    calc_status status = calc_text_read(&out->text, path, errors);
    if (status == CALC_OK) {
        status =
            calc_taylor_config_parse(&out->config, out->text.data, out->text.length, path, errors);
        calc_taylor_place(errors, path);
    }
    return status;
}

calc_status calc_taylor_system_read(calc_system *out, const char *argument, calc_errors *errors)
{
    calc_input input = {.text = {0}};
    calc_status status = calc_input_load(&input, CALC_KIND_SYSTEM, out, argument, errors);
    calc_text_free(&input.text);
    return status;
}

void calc_taylor_place(calc_errors *errors, const char *path)
{
    for (int i = 0; i < errors->count; i++) {
        if (!errors->item[i].file[0]) {
            calc_error_place(&errors->item[i], path, 0, 0);
        }
    }
}

void calc_taylor_tell(const calc_taylor_config *config, const char *path)
{
    if (!config->says_memory) {
        fprintf(stderr, "%s: no context.max_device_memory: %g GB are taken\n", path,
                config->memory_mb / 1024);
    }
}
