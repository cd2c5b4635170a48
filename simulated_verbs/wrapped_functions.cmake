# falafel_wrap_functions(<target> <source>...): programs that link the target call __wrap_NAME in
# place of NAME, for each __wrap_NAME that one of these sources defines. There is no other list of
# them.
function(falafel_wrap_functions target)
  foreach(source IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    file(STRINGS "${source}" definitions REGEX "^[^ ].* [*]?__wrap_[A-Za-z0-9_]+[(]")
    foreach(definition IN LISTS definitions)
      string(REGEX MATCH "__wrap_([A-Za-z0-9_]+)[(]" matched "${definition}")
      target_link_options(${target} INTERFACE "LINKER:--wrap=${CMAKE_MATCH_1}")
    endforeach()
  endforeach()
endfunction()
