/** @file settings.h  Keys and values in the order of a file, in any syntax. */
#ifndef CALC_FORMATS_SETTINGS_H
#define CALC_FORMATS_SETTINGS_H

#include "calc.h"

/** Syntax of files. */
typedef enum calc_syntax {
    CALC_SYNTAX_SHELL, /**< options of a command: --key value */
    CALC_SYNTAX_YAML,
    CALC_SYNTAX_TOML,
    CALC_SYNTAX_JSON,
    CALC_SYNTAX_JSON_WHOLE, /**< with mappings in lists, as list.0.key */
    CALC_SYNTAX_YAML_WHOLE
} calc_syntax;

/** One key and its value, with its place for errors. */
typedef struct calc_setting {
    char *key;     /**< "--hidden-size", "model.hidden_size" */
    char *value;   /**< "" for an option without a value; items of lists are separated by blanks */
    size_t length; /**< of value */
    int line, column;                   /**< 1-based; 0: not from a file */
    int argument;                       /**< 1-based on a command line; 0: not from one */
    const char *file;                   /**< in which file it stands; NULL: the one at hand */
    bool conditional;                   /**< a branch of a script has it */
    const struct calc_setting_row *row; /**< that writes it, of its framework; NULL: not known */
    int unsure[2];     /**< lines of a script that set a variable of the value, of which it is not
                            known which holds; the second is 0 if the first cannot say the value;
                            both 0: there is no such variable */
    bool null;         /**< the value is the word null, not an empty one */
    uint64_t commands; /**< a bit for each command of a script that has it, also by a list */
    uint64_t list;     /**< that of the command, or of the list, in which it stands */
} calc_setting;

enum {
    CALC_COMMANDS_MAX = 64, /**< more are taken as one with the last */
    CALC_FILES_MAX = 16     /**< most files that one text and those files name */
};

/** A command of a script. */
typedef struct calc_script_command {
    int line;        /**< 0: a list of options, which commands have by its name */
    char words[200]; /**< its program, and what other words stand before its options */
} calc_script_command;

/** A list of settings; owns its texts. Start with {0}. */
typedef struct calc_settings {
    calc_setting *item;
    size_t count, capacity;
    calc_script_command *command; /**< of a script; else NULL */
    size_t commands;
    char *file[CALC_FILES_MAX]; /**< names of further files */
    size_t files;
} calc_settings;

/** Appends a copy of a key (`key_length` bytes) with the value "".
 *  @return the new item; NULL if there is no memory */
calc_setting *calc_settings_add(calc_settings *settings, const char *key, size_t key_length);

enum {
    CALC_SETTING_MAX = 65536,   /**< most bytes of a value; the rest is dropped */
    CALC_SETTINGS_MAX = 100000, /**< most keys: each is looked for in tables of a framework */
};

/** What a reader says of more. */
#define CALC_SETTINGS_TOO_MANY "more than 100000 keys"

/** Appends a copy of a key with a value. @return the new item; NULL if there is no memory */
calc_setting *calc_settings_put(calc_settings *settings, const char *key, const char *value);

/** Appends `length` bytes to the value of an item, after a blank if the item already has a value.
 *  @return false if there is no memory */
bool calc_setting_append(calc_setting *setting, const char *text, size_t length);

/** Frees the settings whose key is empty, and moves those behind them up. */
void calc_settings_drop(calc_settings *settings);

/** The last setting of a key; NULL if there is none. */
const calc_setting *calc_settings_last(const calc_settings *settings, const char *key);

/** Whether a key, or a key below it, exists. */
bool calc_settings_have(const calc_settings *settings, const char *key);

/** Calls `tell` with each key whose value differs, in the order of `from`, and then with those that
 *  only `to` has.
 *  @param a, b  both values, "" for an option without one; NULL: the key is absent */
void calc_settings_compare(const calc_settings *from, const calc_settings *to,
                           void (*tell)(void *context, const char *key, const char *a,
                                        const char *b),
                           void *context);

/** Frees the texts; {0} is allowed. */
void calc_settings_free(calc_settings *settings);

/** Whether a word is an option, --key or --key=value, or sets a nested key as Hydra does,
 *  outer.key=value. */
bool calc_settings_is_option(const char *word);

/** Whether a path is of a configuration in YAML or TOML. */
bool calc_settings_is_file(const char *path, size_t length);

/** Reads options from words: `--key value...`, `--key=value` or `outer.key=value`. Words before the
 * first option are skipped.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_settings_from_words(calc_settings *settings, const char *const *word,
                                                   size_t count);

/** Starts an option with a word of a command, or adds the word to the last one. What follows a
 *  configuration sets its keys, "steps=10".
 *  @param starts  no option is open: a command that serves begins like an option
 *  @return false: there is no memory */
bool calc_settings_take(calc_settings *settings, const char *word, bool starts, int argument,
                        int line, int column);

/** Whether a word is a command that serves what its next word names: serve, trtllm-serve. */
bool calc_word_serves(const char *word);

/** Whether a word is an image of a container that serves what its next word names. */
bool calc_word_is_image(const char *word);

/** A command of a script, or a list of options. */
typedef struct calc_script_group {
    const char *name; /**< of the list; NULL: it is a command */
    size_t name_length;
    uint64_t lists; /**< a bit for each that it has */
    bool options;   /**< it has some, and what stands before them is whole */
    calc_script_command command;
} calc_script_group;

/** Says of each setting which commands have it, by whatever lists.
 *  @return false: there is no memory */
bool calc_settings_of_commands(calc_settings *settings, const calc_script_group *group,
                               size_t groups);

#endif
