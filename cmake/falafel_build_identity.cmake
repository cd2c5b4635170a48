# Target falafel_build_identity: the header falafel_build_identity.h, which identifies the build.
# Every build updates it, because the revision changes without a new run of CMake.

set(header_directory "${PROJECT_BINARY_DIR}/build_identity")

add_custom_target(falafel_build_identity_header
  COMMAND "${CMAKE_COMMAND}"
    "-Dsource_directory=${PROJECT_SOURCE_DIR}"
    "-Dheader=${header_directory}/falafel_build_identity.h"
    "-Dversion=${PROJECT_VERSION}"
    "-Dcompiler=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
    "-Dbuild_type=${CMAKE_BUILD_TYPE}"
    "-Dsanitizer=${FALAFEL_SANITIZE}"
    -P "${PROJECT_SOURCE_DIR}/cmake/build_identity.cmake"
  BYPRODUCTS "${header_directory}/falafel_build_identity.h"
  COMMENT "Looking after falafel_build_identity.h"
  VERBATIM)

add_library(falafel_build_identity INTERFACE)
target_include_directories(falafel_build_identity INTERFACE "${header_directory}")
add_dependencies(falafel_build_identity falafel_build_identity_header)
