# Installs the program and the client library. The library is one archive that contains all lower
# layers, so that users need none of the project's own targets.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(parts falafel_client falafel_engine falafel_fabric falafel_fabric_realtime falafel_fabric_shm)
set(optional_libraries "")
if(TARGET falafel_fabric_verbs)
  list(APPEND parts falafel_fabric_verbs)
  set(optional_libraries ibverbs)
endif()
list(TRANSFORM parts REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE part_objects)
add_library(falafel_library STATIC ${part_objects})
set_target_properties(falafel_library PROPERTIES
  OUTPUT_NAME falafel
  EXPORT_NAME falafel
  LINKER_LANGUAGE CXX)
target_include_directories(falafel_library INTERFACE
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/falafel>")
target_link_libraries(falafel_library INTERFACE
  fmt::fmt tl::expected Boost::context Threads::Threads isal sodium ${optional_libraries})
list(TRANSFORM optional_libraries PREPEND " -l" OUTPUT_VARIABLE optional_link_flags)

# Uses the same paths as within the project, below a separate folder.
set(public_headers
  engine/client/client.h
  engine/client/results.h
  engine/layout/geometry.h
  engine/safeguards.h
  fabric/assert.h
  fabric/error.h
  fabric/fabric.h
  fabric/work_request.h)
foreach(header IN LISTS public_headers)
  get_filename_component(folder "${header}" DIRECTORY)
  install(FILES "${PROJECT_SOURCE_DIR}/${header}"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/falafel/${folder}" COMPONENT library)
endforeach()
foreach(header IN ITEMS fabric_options.h falafel.h open_error.h store.h)
  install(FILES "${PROJECT_SOURCE_DIR}/client/falafel/${header}"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/falafel/falafel" COMPONENT library)
endforeach()

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/falafel")
install(TARGETS falafel_library EXPORT falafel
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library)
install(EXPORT falafel NAMESPACE falafel:: FILE falafel-targets.cmake
  DESTINATION "${package_folder}" COMPONENT library)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/falafel-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
# The package is relocatable: its prefix follows from the location of the .pc file.
file(RELATIVE_PATH relative_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file("${PROJECT_SOURCE_DIR}/cmake/falafel.pc.in" "${PROJECT_BINARY_DIR}/falafel.pc" @ONLY)
install(FILES
  "${PROJECT_SOURCE_DIR}/cmake/falafel-config.cmake"
  "${PROJECT_BINARY_DIR}/falafel-config-version.cmake"
  DESTINATION "${package_folder}" COMPONENT library)
install(FILES "${PROJECT_BINARY_DIR}/falafel.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT library)
