#include "mindspeed/config.h"

#include <stdio.h>

char *calc_mindspeed_config_name(const calc_mindspeed_config *config,
                                 calc_mindspeed_generation generation,
                                 char text[CALC_MINDSPEED_NAME])
{
    int length = snprintf(text, CALC_MINDSPEED_NAME, "PP%d_TP%d_DP%d_CP%d_UP%d_MBS%d", config->pp,
                          config->tp, config->dp, config->cp, config->up, config->mbs);
    if (generation == CALC_MINDSPEED_GEN2) {
        snprintf(text + length, CALC_MINDSPEED_NAME - (size_t)length, "_VP%d_EP%d", config->vpp,
                 config->ep);
    }
    return text;
}
