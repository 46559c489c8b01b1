/** @file json_put.h  JSON written member by member: commas, line ends and indentation are the
 *  writer's, and assertions stop a program that leaves a bracket open or a key out. Keys are
 *  written as they are; numbers read back to the same bits. */
#ifndef CALC_IO_JSON_PUT_H
#define CALC_IO_JSON_PUT_H

#include "calc.h"
#include "io/output.h"

/** How the members of an object or array are separated. */
typedef enum calc_put_layout {
    CALC_PUT_LINE, /**< by ", ", in one line */
    CALC_PUT_LINES /**< each in a line of its own, indented */
} calc_put_layout;

enum { CALC_PUT_DEPTH = 32 /**< objects and arrays in one another */ };

/** Write `text` as a JSON string, quotes included, escaped; invalid UTF-8 becomes U+FFFD. */
void calc_json_string(calc_output *out, const char *text);

/** A text under way. Start with {.out = out}, or with `indent`, `step` and `brief` too. */
typedef struct calc_put {
    calc_output *out;
    int indent; /**< blanks before a line of the innermost object or array with lines */
    int step;   /**< blanks that a level adds */
    bool flat;  /**< all in one line, whatever the layouts are */
    bool brief; /**< a part of a struct that has no parts itself is one line */
    int depth;  /**< of objects and arrays that are open */
    struct {
        char end;
        bool lines, used;
    } level[CALC_PUT_DEPTH];
} calc_put;

/** A writer of one value, whose lines after the first are two blanks deeper for every level. */
calc_put calc_put_to(calc_output *out);

/** What comes before a value: comma, line end, and the key. For values that another function
 *  writes; the functions below do it themselves.
 *  @param key  NULL in an array, and for the value as a whole */
void calc_put_key(calc_put *put, const char *key);

/** Open an object or an array. Without members it stays in one line. */
void calc_put_object(calc_put *put, const char *key, calc_put_layout layout);
void calc_put_array(calc_put *put, const char *key, calc_put_layout layout);

/** Open the object of a whole document, with its member "format" (CALC_FORMAT). */
void calc_put_document(calc_put *put);

/** Close what was opened last. */
void calc_put_close(calc_put *put);

/** Close the value as a whole, which nothing but it may be open of, and end the line. */
void calc_put_end(calc_put *put);

/** A string; its bytes are escaped. */
void calc_put_text(calc_put *put, const char *key, const char *text);

/** A number in as few digits as read back to it; null if it is not finite. */
void calc_put_number(calc_put *put, const char *key, double value);

/** A number in so many significant digits; null if it is not finite. */
void calc_put_rounded(calc_put *put, const char *key, double value, int digits);

void calc_put_count(calc_put *put, const char *key, int64_t value);
void calc_put_flag(calc_put *put, const char *key, bool value);

/** Write several values, as JSON with printf()'s conversions: "{by: %s, n: %zu, fits?: %d}". `{`
 *  and `[` open an object or array, with "\n" behind them one with lines; commas and blanks between
 *  members say nothing. %s is a text; %g a number in as few digits as read back to it, %.4g in so
 *  many; %d, %zu and %jd (int64_t) are counts; with `?` behind the key %d is true or false. */
void calc_putf(calc_put *put, const char *fmt, ...) CALC_PRINTF(2, 3);

/** Write JSON that was made before. */
void calc_put_raw(calc_put *put, const char *key, const char *json);

/** Write the rows of a struct of numbers (STATS, LAYER, STAGE) as members of the open object. */
void calc_put_rows(calc_put *put, calc_kind kind, const void *object);

/* Structs to JSON text. Numbers read back to the same bits; NaN and infinity
 * are written as null. */

/** Write the struct of a kind as one object, in the order of its rows. Optional fields that hold
 *  their default and datatypes a system does not offer are left out, so that the text is a valid
 *  input again. STATS and LAYER have no "verdict" or "name" here. */
void calc_put_struct(calc_put *put, const char *key, calc_kind kind, const void *object);

/** Write the document of a serving engine. */
void calc_put_engine(calc_put *put, const calc_serving_engine *engine);

/** Write the struct of a kind as the document of a whole value, which stays open for its notes. */
void calc_put_open(calc_put *put, calc_kind kind, const void *object);

/** Write one member of a struct by its row; nothing for a NOTE. */
void calc_json_put_member(calc_put *put, const calc_field *field, const void *member);

/** A struct as a document of its own, without a newline at the end; lines after the first are
 * indented by `indent` spaces more. */
void calc_json_save(calc_output *out, calc_kind kind, const void *object, int indent);

/* Writes the allowed values of the fields of a kind, for programs that compose
 * documents. A JSON Schema (io/schema.h) says the same to programs that check them. */

/** "fields": an object with a member per field, by its path as --set takes it. Each has "type" and
 *  "description", and where they say something "choices", "minimum", "maximum" (in units of the
 *  files), "unit", "default", "also" (other names), "auto" and "more_is_better" (both true).
 *  docs/programs.md describes them. */
void calc_put_fields(calc_put *put, calc_kind kind);

/* Writes parts of the answer to a run, as members of the open JSON object, and
 * which ranks communicate. */

/** "reasons": verdict, text and hint of each. */
void calc_put_reasons(calc_put *put, const calc_reason *reason, size_t count);

/** "layers": the name and every statistic of each. */
void calc_put_layers(calc_put *put, const calc_layer_stats *layer, size_t count);

/** "stages": every statistic of each. */
void calc_put_stages(calc_put *put, const calc_stage_stats *stage, size_t count);

/** Write {"rank": {"tensor": [...], "pipeline": next, "data": [...]}, ...} for every rank.
 *  Rank = data * tensor_par * pipeline_par + stage * tensor_par + tensor. A group of one is left
 *  out; "pipeline" is the next stage, the first after the last. Same content as Calculon's. */
void calc_peers_save(calc_output *out, const calc_exec *exec);

/** The value that stands for an absent key, as JSON; NULL: there is none in one word.
 *  @param set  of a set that has no members */
const char *calc_json_absent_text(const calc_field *field, const char *set, char buffer[64]);

#endif
