#include "validate/result_labels.h"

const char *calc_result_id(const calc_result *r)
{
    return r->serving ? r->serving->map.row->id : r->prediction->map.row->id;
}

const char *calc_result_source(const calc_result *r)
{
    return r->serving ? r->serving->map.row->source : r->prediction->map.row->source;
}

const char *calc_result_machine(const calc_result *r)
{
    return r->serving ? r->serving->map.row->sys : r->prediction->map.row->sys;
}

const char *calc_result_model(const calc_result *r)
{
    return r->serving ? r->serving->map.row->app : r->prediction->map.row->model;
}

const char *calc_result_confidence(const calc_result *r)
{
    return r->serving ? r->serving->map.row->confidence : r->prediction->map.row->confidence;
}

const char *calc_result_kind(const calc_result *r)
{
    return r->serving                               ? calc_serving_kind_word(r->serving->map.kind)
           : r->prediction->map.reason              ? "unknown"
           : r->prediction->map.app.num_experts > 0 ? "MoE"
                                                    : "dense";
}

const char *calc_result_engine(const calc_result *r)
{
    return r->serving && !r->serving->map.reason ? r->serving->map.exec.inference.engine.name
                                                 : NULL;
}

const char *calc_result_regime(const calc_result *r)
{
    return r->serving && !r->serving->map.reason ? calc_serving_regime_word(r->serving->map.regime)
                                                 : NULL;
}

const char *calc_result_period(const calc_result *r)
{
    int year = r->serving ? r->serving->map.year : 0;
    return year >= 2025 ? "2025 and later" : year > 0 ? "before 2025" : NULL;
}
