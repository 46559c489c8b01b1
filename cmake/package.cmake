# Packages: `scripts/package` makes a tarball that runs wherever it is unpacked, and packages of
# Debian: calc-llm (Debian has another calc), libcalc0.1, libcalc-dev.
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_NAME calc)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "calc maintainers <maintainers@calc.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_FILE_NAME "calc-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_SOURCE_DIR}/cmake/package_generator.cmake")
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/package_debian.cmake")

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 0calc1) # not a revision of Debian's own
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(soname "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME calc-llm)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMMAND_PACKAGE_CONFLICTS "calc, apcalc")
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS "libcalc${soname}, python3")
set(CPACK_COMPONENT_COMMAND_DESCRIPTION
    "Answers, from equations, how long a training step takes, how much memory it
needs and whether a layout runs at all, and searches all layouts for the
fastest. Comes with models, systems and layouts, and a Python module.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME "libcalc${soname}")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/cmake/triggers")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION
    "The shared library of calc: reads models, systems and layouts, checks them,
and evaluates them in about a microsecond. Other languages talk to it in JSON.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libcalc-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libcalc${soname} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}), libjansson-dev, libyaml-dev, zlib1g-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "What programs that use libcalc are built with: the header, the static
library, and the files by which pkg-config and CMake find them.")

include(CPack)
