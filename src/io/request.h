/** @file request.h  Reads requests of other programs, as JSON: three documents, changes, and the
 *  numbers wanted; or a kind, whose fields' allowed values are wanted. docs/programs.md describes a
 *  request. */
#ifndef CALC_IO_REQUEST_H
#define CALC_IO_REQUEST_H

#include "calc.h"
#include "io/json_put.h"
#include "io/remark.h"
#include "io/space_load.h"

enum { CALC_REQUEST_STATS = 256 /**< statistics that one request may name */ };

/** Parts of the page of a sweep, which several programs can compute side by side. */
typedef enum calc_page_parts {
    CALC_PAGE_CLOUD = 1, /**< the cloud of layouts, and the splits, whose sizes it shows */
    CALC_PAGE_REST = 2,
    CALC_PAGE_WHOLE = CALC_PAGE_CLOUD | CALC_PAGE_REST
} calc_page_parts;

/** The documents of a run. */
typedef struct calc_request_documents {
    calc_app app;
    calc_system system;
    calc_exec exec;
    bool given[3];              /**< by calc_kind */
    calc_remark_facts facts[3]; /**< by calc_kind: of their texts */
    char name[3][64]; /**< by calc_kind, as they came, which may be cut; "": contents came */
    char machine[64]; /**< the system's, without folders and endings, likewise */
} calc_request_documents;

/** Get the document of a name.
 *  @param object  filled on CALC_OK: a calc_app, ... by kind
 *  @param facts   filled, too: of its text */
typedef calc_status calc_request_find(void *context, calc_kind kind, const char *name, void *object,
                                      calc_remark_facts *facts, calc_errors *errors);

/** Keep a copy of a document under a name, for calc_request_find(). */
typedef calc_status calc_request_keep(void *context, calc_kind kind, const char *name,
                                      const void *object, calc_remark_facts facts,
                                      calc_errors *errors);

/** The parts that do not change from request to request. */
typedef struct calc_request_reader {
    calc_request_find *find;
    calc_request_keep *keep;
    void *context;
    calc_request_documents last; /**< of the request before: missing ones are taken from it */
    char *partial; /**< facts of its execution. Owned: the caller frees it at the end */
} calc_request_reader;

/** One request. calc_request_each() frees what it owns. */
typedef struct calc_request {
    char *id;                    /**< what came as "id", as JSON; NULL: nothing. Owned */
    calc_request_documents used; /**< with the changes */
    char **change; /**< the changes as FIELD=VALUE, where the execution leaves required keys out.
                    *   Owned */
    size_t changes;
    calc_compat compat;
    bool all_stats; /**< none are named */
    size_t stat_count;
    const calc_field *stat[CALC_REQUEST_STATS]; /**< rows of calc_stats */
    bool inputs, layers, stages;                /**< other parts of the answer wanted */
    unsigned page;                              /**< and what a page draws: CALC_PAGE_PARTS */
    char *import; /**< a configuration of Hugging Face, as JSON, and nothing else. Owned; NULL: none
                   */
    char *export; /**< and its settings for this framework. Owned; NULL: none */
    calc_kind fields; /**< whose fields are asked for, and nothing else; CALC_KIND_NONE: a run */
    bool keeps;       /**< documents are kept, and nothing else */
    size_t kept;      /**< so many */
    bool sweeps;      /**< a sweep of model and machine, instead of a run */
    calc_space_option *option; /**< of the sweep, in the order given. Owned, with its texts */
    size_t options;
    char *space; /**< the space file of the sweep, as JSON; NULL: none. Owned */
} calc_request;

/** Handle one request. `errors` lists its mistakes; `request` is then incomplete. */
typedef void calc_request_handle(void *context, const calc_request *request,
                                 const calc_errors *errors);

/** Read a text with one request, or with an array of them, and have each handled in order.
 *  @param scratch   one request, which is overwritten
 *  @param is_array  set before the first is handled; an empty array has none */
void calc_request_each(calc_request_reader *reader, const char *text, size_t length,
                       calc_request *scratch, bool *is_array, calc_request_handle *handle,
                       void *context);

/** Write an error as a JSON object in one line. */
void calc_request_put_error(calc_put *put, const calc_error *error);

#endif
