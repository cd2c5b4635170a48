# What is installed: libraries, headers, a CMake package with components, a pkg-config file for each
# component, falafel-new-program and the examples. All of it belongs to the installation component
# "library".
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(falafel_package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/falafel")
# The files find each other after the tree was moved.
file(RELATIVE_PATH falafel_relative_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")

# falafel_install_library(<target> <component> <name>): users link it as falafel::<name>, from the
# installed tree and from a project that contains this one.
function(falafel_install_library target component name)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  add_library(falafel::${name} ALIAS ${target})
  install(TARGETS ${target} EXPORT falafel-${component}
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library)
endfunction()

# falafel_install_headers(<path>... [EXCEPT <header>...]): with their paths within the project,
# below include/falafel. A path is a header, a folder, or a folder with its subfolders: `name/**`.
function(falafel_install_headers)
  cmake_parse_arguments(PARSE_ARGV 0 headers "" "" "EXCEPT")
  foreach(path IN LISTS headers_UNPARSED_ARGUMENTS)
    if(path MATCHES "^(.+)/[*][*]$")
      file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
        "${PROJECT_SOURCE_DIR}/${CMAKE_MATCH_1}/*.h")
    elseif(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/${path}")
      file(GLOB found CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
        "${PROJECT_SOURCE_DIR}/${path}/*.h")
    else()
      set(found "${path}")
    endif()
    list(REMOVE_ITEM found ${headers_EXCEPT})
    foreach(header IN LISTS found)
      get_filename_component(folder "${header}" DIRECTORY)
      install(FILES "${PROJECT_SOURCE_DIR}/${header}"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/falafel/${folder}" COMPONENT library)
    endforeach()
  endforeach()
endfunction()

# falafel_install_pkg_config(<component> DESCRIPTION <text> LIBRARIES <name>...
#                            [REQUIRES <pkg-config package>...] [FILE <name of the package>]
#                            [LINK_OPTIONS <option>...])
function(falafel_install_pkg_config component)
  cmake_parse_arguments(PARSE_ARGV 1 package "" "DESCRIPTION;FILE"
    "LIBRARIES;REQUIRES;LINK_OPTIONS")
  if(NOT package_FILE)
    set(package_FILE falafel-${component})
  endif()
  list(JOIN package_REQUIRES ", " package_REQUIRES)
  list(TRANSFORM package_LIBRARIES PREPEND " -l")
  list(JOIN package_LIBRARIES "" package_LIBRARIES)
  list(TRANSFORM package_LINK_OPTIONS APPEND " ")
  list(JOIN package_LINK_OPTIONS "" package_LINK_OPTIONS)
  set(file "${PROJECT_BINARY_DIR}/${package_FILE}.pc")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/falafel.pc.in" "${file}" @ONLY)
  install(FILES "${file}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT library)
endfunction()

# falafel_install_component(<component>): after its libraries.
function(falafel_install_component component)
  install(EXPORT falafel-${component} NAMESPACE falafel:: FILE falafel-${component}.cmake
    DESTINATION "${falafel_package_folder}" COMPONENT library)
endfunction()

# falafel_install_package(): the files that find_package(falafel) reads.
function(falafel_install_package)
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/falafel-config-version.cmake"
    COMPATIBILITY SameMinorVersion)
  install(FILES
    "${PROJECT_SOURCE_DIR}/cmake/falafel-config.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/falafel_dependencies.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/falafel_add_program.cmake"
    "${PROJECT_BINARY_DIR}/falafel-config-version.cmake"
    DESTINATION "${falafel_package_folder}" COMPONENT library)
  install(PROGRAMS "${PROJECT_SOURCE_DIR}/tools/new-program"
    DESTINATION "${CMAKE_INSTALL_BINDIR}" RENAME falafel-new-program COMPONENT library)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/tools/new_program"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/falafel" COMPONENT library)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/falafel" COMPONENT library)
endfunction()
