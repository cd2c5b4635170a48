# Installs the client library as one archive that contains all lower layers, so that its users need
# none of the project's other libraries.
set(parts falafel_client falafel_engine falafel_fabric falafel_fabric_realtime falafel_fabric_shm)
set(libraries isal sodium ssl crypto)
if(TARGET falafel_fabric_verbs)
  list(APPEND parts falafel_fabric_verbs)
  list(APPEND libraries ibverbs)
endif()
# The same objects make the shared library, where other libraries cannot replace their functions.
set_target_properties(${parts} PROPERTIES
  POSITION_INDEPENDENT_CODE ON
  CXX_VISIBILITY_PRESET hidden
  VISIBILITY_INLINES_HIDDEN ON)
list(TRANSFORM parts REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE part_objects)
add_library(falafel_library STATIC ${part_objects})
set_target_properties(falafel_library PROPERTIES
  OUTPUT_NAME falafel
  EXPORT_NAME falafel
  LINKER_LANGUAGE CXX)
target_include_directories(falafel_library INTERFACE
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/falafel>")
target_link_libraries(falafel_library INTERFACE
  fmt::fmt tl::expected Boost::context Threads::Threads ${libraries})
add_library(falafel_client_component INTERFACE)
set_target_properties(falafel_client_component PROPERTIES EXPORT_NAME client)
target_link_libraries(falafel_client_component INTERFACE falafel_library)

falafel_install_headers(
  engine/client/batch.h
  engine/client/client.h
  engine/client/client_options.h
  engine/client/key_and_value.h
  engine/client/operation_observer.h
  engine/client/rendezvous_hashing.h
  engine/client/condition.h
  engine/client/results.h
  engine/client/value_buffer.h
  engine/layout/entry.h
  engine/layout/geometry.h
  engine/layout/pinned.h
  engine/placement/placement.h
  engine/safeguards.h
  engine/time_bounds.h
  fabric/assert.h
  fabric/error.h
  fabric/fabric.h
  fabric/processor.h
  fabric/work_request.h)
# Its users write "falafel/store.h".
foreach(header IN ITEMS
    cluster.h etcd_access.h fabric_options.h falafel.h latency_histogram.h metrics.h open_error.h store.h)
  install(FILES "${PROJECT_SOURCE_DIR}/client/falafel/${header}"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/falafel/falafel" COMPONENT library)
endforeach()
install(TARGETS falafel_library falafel_client_component EXPORT falafel-client
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library)
falafel_install_component(client)
foreach(name IN ITEMS falafel falafel-client)
  falafel_install_pkg_config(client FILE ${name}
    DESCRIPTION "Client library of the key-value store Falafel"
    LIBRARIES falafel boost_context fmt ${libraries} stdc++ m pthread)
endforeach()
