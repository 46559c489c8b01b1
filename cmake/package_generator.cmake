# Read once per generator: a tarball has everything, packages of Debian have documents of their own.
if(CPACK_GENERATOR STREQUAL "DEB")
    set(CPACK_COMPONENTS_ALL command library development)
endif()
