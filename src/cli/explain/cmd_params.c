#include <stdio.h>

#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "cli/shell/opt.h"
#include "io/json_put.h"

#define OPTIONS(X)                                                                                 \
    CALC_INPUTS_SET(X)                                                                             \
    X(JSON, "json", "FILE", .doc = "write the counts as JSON")

CALC_OPTIONS(OPTIONS);
static const calc_arg rows[] = {
    CALC_ARG_DOCUMENT("MODEL", CALC_KIND_APP, .repeated = true,
                      .doc = "a path, \"-\" for standard input, or a name in models/"),
    {0}};
static const char *const examples[] = {"calc show params gpt3-175B megatron-1T",
                                       "calc show params models/*.json --json params.json", NULL};

/* Loads one model and counts its parameters. */
static calc_status count_model(const calc_args *args, const char *argument,
                               calc_parameters *parameters, char *name, size_t size,
                               calc_errors *errors)
{
    calc_input input = {0};
    calc_app app;
    calc_status status = calc_input_load(&input, CALC_KIND_APP, &app, argument, errors);
    status = status == CALC_OK ? calc_inputs_set(args, OPT_SET, &app, NULL, NULL, errors) : status;
    if (status == CALC_OK) {
        calc_count_parameters(&app, parameters);
        snprintf(name, size, "%s", input.name);
    }
    calc_text_free(&input.text);
    return status;
}

/* Visits the models once, reporting and skipping invalid ones. @return the exit code of the first
 * invalid one */
static calc_exit write_models(const calc_args *args, calc_output *out, calc_put *json)
{
    calc_listing_column column[] = {CALC_COLUMN("model", .left = true),
                                    CALC_COLUMN("parameters"),
                                    CALC_COLUMN("active"),
                                    CALC_COLUMN("attention"),
                                    CALC_COLUMN("mlp"),
                                    CALC_COLUMN("experts"),
                                    CALC_COLUMN("norm", .order = 2),
                                    CALC_COLUMN("embedding", .order = 1)};
    calc_listing l = CALC_LISTING(column, 1);
    calc_exit result = CALC_EXIT_OK;
    for (size_t i = 0; i < args->argument_count; i++) {
        calc_errors errors = {0};
        calc_parameters parameters;
        char name[256];
        if (count_model(args, args->argument[i], &parameters, name, sizeof name, &errors) !=
            CALC_OK) {
            calc_exit failure = calc_complain_failure(&errors);
            result = result == CALC_EXIT_OK ? failure : result;
        } else if (json) {
            calc_putf(json,
                      "{name: %s, parameters: %g, active_parameters: %g, attention: %g, mlp: %g, "
                      "experts: %g, norm: %g, embedding: %g, mtp: %g, encoder: %g}",
                      name, parameters.total, parameters.active, parameters.attention,
                      parameters.mlp, parameters.experts, parameters.norm, parameters.embedding,
                      parameters.mtp, parameters.encoder);
        } else {
            const calc_parameters *p = &parameters;
            const double parts[] = {p->active,  p->attention, p->mlp,
                                    p->experts, p->norm,      p->embedding};
            calc_listing_add(&l, name);
            calc_listing_add(&l, calc_human_integer(p->total));
            for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
                calc_listing_add(&l, calc_human_count(parts[k]));
            }
        }
    }
    calc_listing_end(&l, out);
    return result;
}

static calc_exit run(const calc_args *args)
{
    const char *json = calc_opt_value(args, OPT_JSON);
    calc_errors errors = {0};
    calc_output *out = calc_write_to(json ? json : "-");
    calc_put put = calc_put_to(out);
    if (json) {
        calc_put_document(&put);
        calc_putf(&put, "version: %s, models: [\n", CALC_VERSION);
    }
    calc_exit result = write_models(args, out, json ? &put : NULL);
    if (json) {
        calc_put_close(&put);
        calc_put_end(&put);
    }
    if (json && result != CALC_EXIT_OK && !calc_opt_is_stdout(args, OPT_JSON)) {
        calc_output_discard(out); /* an old file stays rather than lose models */
        return result;
    }
    return calc_output_close(out, &errors) == CALC_OK ? result : calc_complain_failure(&errors);
}

const calc_command calc_cmd_params = {
    .name = "show params",
    .summary = "count the parameters of models",
    .detail = "Counts the trainable parameters of models and of their parts. A model that does not "
              "give its vocabulary counts as Calculon counts: 51,200 words, learned positions and "
              "biases. Blocks of multi-token prediction are not in the total. With --json nothing "
              "goes to standard "
              "output unless FILE is \"-\".",
    CALC_COMMAND_PARTS};
