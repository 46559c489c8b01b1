#include "mindspeed/peak.h"

#include <math.h>

#include "mindspeed/memory.h"
#include "mindspeed/modelled.h"
#include "mindspeed/modules.h"

#define GIB 1073741824.0

/* Activations [GiB] of a layer of a probe: measured, or by calc's model. */
static double layer_gib(calc_mindspeed_peak *peak, int i, calc_notes *notes)
{
    const calc_mindspeed_study *s = peak->study;
    const calc_mindspeed_config *probe = &peak->probes.config[i];
    calc_mindspeed_profile profile = {.layer_gib = NAN};
    calc_errors errors = {0};
    if (s->profiles && calc_mindspeed_modules_read(&profile, s->profiles, &s->arguments->job,
                                                   s->generation, probe, &errors) == CALC_OK) {
        peak->measured[i] = isfinite(profile.layer_gib);
    }
    calc_notes_take(notes, &errors);
    if (peak->measured[i]) {
        return profile.layer_gib;
    }
    calc_mindspeed_modelled m = calc_mindspeed_modelled_of(&s->arguments->plan, s->system, probe);
    return isfinite(m.layer_bytes) ? m.layer_bytes / GIB : NAN;
}

static void fit(calc_mindspeed_peak *peak, calc_notes *notes)
{
    calc_mindspeed_measured measured[CALC_MINDSPEED_PROBES];
    int seen = 0;
    for (int i = 0; i < peak->probes.count; i++) {
        measured[i].config = peak->probes.config[i];
        measured[i].layer_gib = layer_gib(peak, i, notes);
        seen += peak->measured[i];
    }
    peak->regression =
        calc_mindspeed_regression_fit(&peak->fit, measured, (size_t)peak->probes.count);
    if (!peak->regression) {
        calc_notes_add(notes, "fewer than four probes have activations: memory is by the "
                              "second generation's formulas");
    } else if (seen < peak->probes.count) {
        calc_notes_add(notes, "activations of %d of %d probes are calc's, not measured",
                       peak->probes.count - seen, peak->probes.count);
    }
}

calc_status calc_mindspeed_peak_start(calc_mindspeed_peak *peak, const calc_mindspeed_study *study,
                                      const calc_mindspeed_space *space, calc_notes *notes)
{
    *peak = (calc_mindspeed_peak){.study = study};
    if (study->calc_memory || study->generation == CALC_MINDSPEED_GEN2) {
        return CALC_OK;
    }
    calc_status status = calc_mindspeed_probes_choose(space, &peak->probes);
    if (status != CALC_OK) {
        return status;
    }
    if (peak->probes.count > 0) {
        fit(peak, notes);
    } else if (peak->probes.empty > 0) {
        calc_notes_add(notes,
                       "the space has no probe of group %d: memory is by the second "
                       "generation's formulas",
                       peak->probes.empty);
    } else {
        calc_notes_add(notes, "no probes determine activations: memory is by the second "
                              "generation's formulas");
    }
    return CALC_OK;
}

double calc_mindspeed_peak_bytes(calc_mindspeed_peak *peak, const calc_mindspeed_config *config)
{
    const calc_mindspeed_study *s = peak->study;
    const calc_mindspeed_job *job = &s->arguments->job;
    if (s->calc_memory) {
        return calc_mindspeed_modelled_of(&s->arguments->plan, s->system, config).peak_bytes;
    }
    if (!peak->regression) {
        return calc_mindspeed_memory_of(job, config).peak_bytes;
    }
    double layer = calc_mindspeed_regression_layer_gib(&peak->fit, config);
    peak->negative += layer < 0;
    return calc_mindspeed_regression_peak_bytes(job, config, layer);
}

double calc_mindspeed_peak_prune(const calc_mindspeed_study *study)
{
    return study->calc_memory ? 1 : CALC_MINDSPEED_MEMORY_PRUNE;
}

double calc_mindspeed_peak_final(const calc_mindspeed_study *study)
{
    bool second = study->generation == CALC_MINDSPEED_GEN2;
    return study->calc_memory || !second ? 1 : CALC_MINDSPEED_MEMORY_FINAL;
}
