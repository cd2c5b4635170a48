# falafel_wrap_functions(<target> <source>... OPTIONS <variable>): programs that link the target
# call __wrap_NAME in place of NAME, for each __wrap_NAME that one of these sources defines. There
# is no other list of them. Sets the variable to the options of the linker.
function(falafel_wrap_functions target)
  cmake_parse_arguments(PARSE_ARGV 1 wrap "" "OPTIONS" "")
  set(options "")
  foreach(source IN LISTS wrap_UNPARSED_ARGUMENTS)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    file(STRINGS "${source}" definitions REGEX "^[^ ].* [*]?__wrap_[A-Za-z0-9_]+[(]")
    foreach(definition IN LISTS definitions)
      string(REGEX MATCH "__wrap_([A-Za-z0-9_]+)[(]" matched "${definition}")
      list(APPEND options "-Wl,--wrap=${CMAKE_MATCH_1}")
    endforeach()
  endforeach()
  target_link_options(${target} INTERFACE ${options})
  set(${wrap_OPTIONS} "${options}" PARENT_SCOPE)
endfunction()
