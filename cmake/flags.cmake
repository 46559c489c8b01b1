# The target calc_flags: how every source of the project is compiled.
add_library(calc_flags INTERFACE)

# A fused multiply-add rounds once instead of twice: results would depend on compiler and processor.
target_compile_options(calc_flags INTERFACE -ffp-contract=off)

# gcc clears and copies structs of up to 8 KiB by `rep stos` and `rep movs`, which take dozens of
# cycles to start: a fifth of the time of an evaluation, and a third of that of a row of a sweep.
# Not in Debug, whose commands are read by clang's tools.
if(CMAKE_C_COMPILER_ID STREQUAL GNU AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    foreach(function memset memcpy)
        target_compile_options(calc_flags INTERFACE
            $<$<NOT:$<CONFIG:Debug>>:-m${function}-strategy=vector_loop:512:noalign,libcall:-1:noalign>)
    endforeach()
endif()

target_compile_definitions(calc_flags INTERFACE _XOPEN_SOURCE=700) # POSIX.1-2008 with realpath()
target_include_directories(calc_flags INTERFACE "${PROJECT_SOURCE_DIR}/src")

# The same sources give the same binary wherever they lie.
target_compile_options(calc_flags INTERFACE "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")

target_compile_options(calc_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
    -Wvla -Wundef
    $<$<BOOL:${CALC_WERROR}>:-Werror>)
