/* Those of cli's cases and of documents, which show their texts: here a number made of all. */
#include "commands.h"

COMMANDS("check_commands_cases.txt", false);
