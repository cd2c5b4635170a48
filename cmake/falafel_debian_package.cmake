# The Debian package `falafel`: the program, its service, man pages and the completion of bash. The
# target falafel_debian_package builds it, which needs help2man, dpkg-dev and file.
set(packaging "${PROJECT_SOURCE_DIR}/packaging")
set(man_folder "${PROJECT_BINARY_DIR}/man")

# falafel_man_page(<name> <command>): made from what --help prints. The page of a command is called
# falafel-<command>.
function(falafel_man_page name command)
  set(page "${man_folder}/${name}.1")
  add_custom_command(
    OUTPUT "${page}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${man_folder}"
    COMMAND help2man --no-info "--version-string=${PROJECT_VERSION}"
      "--name=in-memory key-value store over one-sided RDMA" "--output=${page}"
      "$<TARGET_FILE:falafel>${command}"
    COMMAND sed --in-place "s/^falafel${command} .- /${name} - /" "${page}"
    DEPENDS falafel
    COMMENT "Writing the man page ${name}"
    VERBATIM)
  set_property(GLOBAL APPEND PROPERTY falafel_man_pages "${page}")
endfunction()

falafel_man_page(falafel "")
foreach(command IN ITEMS acceptance bench del dump get keys load members serve serve-memcached set stat top)
  falafel_man_page(falafel-${command} " ${command}")
endforeach()
get_property(man_pages GLOBAL PROPERTY falafel_man_pages)

# Only the package has this component: `cmake --install` alone must not write to /etc.
function(falafel_install_for_service file destination name)
  install(FILES "${file}" DESTINATION "${destination}" RENAME "${name}"
    COMPONENT service EXCLUDE_FROM_ALL)
endfunction()
falafel_install_for_service("${packaging}/falafel.service" lib/systemd/system falafel.service)
falafel_install_for_service("${packaging}/falafel.sysusers" lib/sysusers.d falafel.conf)
falafel_install_for_service("${packaging}/falafel.conf" /etc/falafel falafel.conf)
falafel_install_for_service("${packaging}/falafel.bash-completion"
  share/bash-completion/completions falafel)
falafel_install_for_service("${packaging}/grafana-dashboard.json"
  share/doc/falafel grafana-dashboard.json)
falafel_install_for_service("${PROJECT_SOURCE_DIR}/LICENSE" share/doc/falafel copyright)
install(FILES ${man_pages} DESTINATION share/man/man1 COMPONENT service EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME falafel)
set(CPACK_PACKAGE_CONTACT "Falafel <falafel@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL program service)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "systemd | systemd-standalone-sysusers")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "bash-completion, ibverbs-providers")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  "${packaging}/conffiles;${packaging}/postinst;${packaging}/prerm;${packaging}/postrm")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)

add_custom_target(falafel_debian_package
  COMMAND "${CMAKE_CPACK_COMMAND}" -G DEB --config "${PROJECT_BINARY_DIR}/CPackConfig.cmake"
  WORKING_DIRECTORY "${PROJECT_BINARY_DIR}"
  DEPENDS falafel ${man_pages}
  COMMENT "Building the Debian package"
  VERBATIM)
