# find_package(Wavecast CONFIG) makes Wavecast::wavecast, the shared library, and Wavecast::wavecast_static.
get_filename_component(_wavecast_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_package(Threads REQUIRED)

if(NOT TARGET Wavecast::wavecast)
  add_library(Wavecast::wavecast SHARED IMPORTED)
  set_target_properties(Wavecast::wavecast PROPERTIES
    IMPORTED_LOCATION "${_wavecast_prefix}/lib/libwavecast_c.so"
    # The library has no SONAME: a linker that gets its path would write that path into programs.
    IMPORTED_NO_SONAME TRUE
    INTERFACE_INCLUDE_DIRECTORIES "${_wavecast_prefix}/include")
endif()

if(NOT TARGET Wavecast::wavecast_static)
  add_library(Wavecast::wavecast_static STATIC IMPORTED)
  set_target_properties(Wavecast::wavecast_static PROPERTIES
    IMPORTED_LOCATION "${_wavecast_prefix}/lib/libwavecast_c.a"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m"
    INTERFACE_INCLUDE_DIRECTORIES "${_wavecast_prefix}/include")
endif()

unset(_wavecast_prefix)
