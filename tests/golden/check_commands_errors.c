/* With documents and words that are none. */
#include "commands.h"

COMMANDS("check_commands_errors.txt", false);
