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

# What limits the harm of a mistake with memory, at a cost of 0 to 3 % of the speed of a sweep (docs/reliability.md). FORTIFY_SOURCE needs
# optimization, and sanitizers replace it: not in Debug.
set(hardened "$<AND:$<NOT:$<CONFIG:Debug>>,$<NOT:$<BOOL:${APPLE}>>>")
target_compile_options(calc_flags INTERFACE
    "$<${hardened}:-fstack-protector-strong;-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
target_link_options(calc_flags INTERFACE "$<${hardened}:-Wl,-z,relro,-z,now>")

# What nobody has written is not zero by luck, on the stack neither (tests/README.md): of scripts/mutate, as of the preset asan.
target_compile_options(calc_flags INTERFACE "$<$<CONFIG:Mutate>:-ftrivial-auto-var-init=pattern>")

target_compile_definitions(calc_flags INTERFACE _XOPEN_SOURCE=700) # POSIX.1-2008 with realpath()
target_include_directories(calc_flags INTERFACE "${PROJECT_SOURCE_DIR}/src")

# The same sources give the same binary wherever they lie.
target_compile_options(calc_flags INTERFACE "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")

target_compile_options(calc_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
    -Wvla -Wundef
    $<$<BOOL:${CALC_WERROR}>:-Werror>)
