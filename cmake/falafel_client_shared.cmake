# Installs the C interface as a shared library for programs in C and for other languages. It exports
# only the functions that the version script names. falafel_client_archive.cmake sets part_objects
# and libraries.
set(version_script "${PROJECT_SOURCE_DIR}/client/falafel/exported_functions.map")
add_library(falafel_c SHARED ${part_objects})
set_target_properties(falafel_c PROPERTIES
  OUTPUT_NAME falafel-c
  EXPORT_NAME c
  VERSION "${PROJECT_VERSION}"
  SOVERSION "${PROJECT_VERSION_MAJOR}"
  LINKER_LANGUAGE CXX
  LINK_DEPENDS "${version_script}")
target_include_directories(falafel_c INTERFACE
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/falafel>"
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/client>")
target_link_libraries(falafel_c PRIVATE
  fmt::fmt Boost::context Threads::Threads ${libraries})
target_link_options(falafel_c PRIVATE "LINKER:--version-script=${version_script}")
# The sanitizers' own functions are in the program that loads the library.
if(NOT FALAFEL_SANITIZE)
  target_link_options(falafel_c PRIVATE "LINKER:--no-undefined")
endif()
add_library(falafel::c ALIAS falafel_c)

install(TARGETS falafel_c EXPORT falafel-c
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library)
falafel_install_component(c)
falafel_install_pkg_config(c
  DESCRIPTION "Client library of the key-value store Falafel, C interface"
  LIBRARIES falafel-c)
