# Script (cmake -P): writes the header with the build's identity if its content has changed.

# Without the ceiling, git would describe a repository that merely contains the project's folder.
get_filename_component(ENV{GIT_CEILING_DIRECTORIES} "${source_directory}" DIRECTORY)
execute_process(
  COMMAND git describe --always --dirty --tags
  WORKING_DIRECTORY "${source_directory}"
  RESULT_VARIABLE status
  OUTPUT_VARIABLE revision
  ERROR_QUIET
  OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT status EQUAL 0)
  # git archive replaces the format in this file (.gitattributes).
  file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/archived_revision.txt" revision)
  if(revision MATCHES "Format:")
    set(revision unknown)
  endif()
endif()

configure_file("${CMAKE_CURRENT_LIST_DIR}/falafel_build_identity.h.in" "${header}" @ONLY)
