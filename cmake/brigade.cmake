# Functions of ../CMakeLists.txt.

# The C++ sources of rooms and of the folders below them, but their tests; those that match an expression are left out.
function(brigade_sources result)  # ROOM... [EXCLUDE EXPRESSION...]
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" EXCLUDE)
  list(TRANSFORM arg_UNPARSED_ARGUMENTS APPEND /*.cc)
  file(GLOB_RECURSE sources RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${arg_UNPARSED_ARGUMENTS})
  foreach(expression _test\\.cc$ /fuzz/ ${arg_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX ${expression})
  endforeach()
  set(${result} ${sources} PARENT_SCOPE)
endfunction()

# Sets `result` to `obstacle`, or to nothing if the variable named `found` is true.
function(brigade_obstacle result found obstacle)
  if(${found})
    set(obstacle "")
  endif()
  set(${result} "${obstacle}" PARENT_SCOPE)
endfunction()

# Declares the option BRIGADE_<name>, and sets with_<name>: ON if it is ON, or AUTO without an obstacle. ON with an
# obstacle is an error.
function(brigade_option name description obstacle)
  set(BRIGADE_${name} AUTO CACHE STRING "${description}: ON, OFF, or AUTO, which takes what is there")
  set_property(CACHE BRIGADE_${name} PROPERTY STRINGS AUTO ON OFF)
  string(TOUPPER "${BRIGADE_${name}}" value)
  if(NOT value MATCHES "^(AUTO|ON|OFF|YES|NO|Y|N|TRUE|FALSE|1|0)$")
    message(FATAL_ERROR "BRIGADE_${name} is '${BRIGADE_${name}}': must be AUTO, ON or OFF")
  endif()
  set(with OFF)
  set(reason)
  if(value STREQUAL AUTO AND obstacle)
    set(reason ", since ${obstacle}")
  elseif(value STREQUAL AUTO)
    set(with ON)
  elseif(value)
    set(with ON)
    if(obstacle)
      message(FATAL_ERROR "BRIGADE_${name} is ${BRIGADE_${name}}, but ${obstacle}")
    endif()
  endif()
  message(STATUS "BRIGADE_${name}: ${with}${reason} (${description})")
  set(with_${name} ${with} PARENT_SCOPE)
endfunction()

# The family of the MPI whose headers are in the folders, as the compiler sees them with its flags, sysroot and target.
function(brigade_mpi_family result)  # FOLDER...
  set(CMAKE_REQUIRED_INCLUDES ${ARGN})
  set(CMAKE_REQUIRED_QUIET ON)
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # nothing is linked
  unset(mpi_h CACHE)  # of an earlier run, with other folders
  check_include_file(mpi.h mpi_h)
  if(NOT mpi_h)
    message(FATAL_ERROR "mpi.h does not compile, with the folders '${ARGN}': see the logs in CMakeFiles")
  endif()
  set(macros_openmpi OPEN_MPI)
  set(macros_mpich MPICH_VERSION MPICH_NAME I_MPI_VERSION)
  foreach(family openmpi mpich)
    foreach(macro ${macros_${family}})
      unset(mpi_h_defines CACHE)
      check_symbol_exists(${macro} mpi.h mpi_h_defines)
      if(mpi_h_defines)
        set(${result} ${family} PARENT_SCOPE)
        return()
      endif()
    endforeach()
  endforeach()
  message(FATAL_ERROR "mpi.h in the folders '${ARGN}' is neither of Open MPI nor of MPICH or an MPI compatible with MPICH. "
    "Choose another MPI, or BRIGADE_MPI=OFF")
endfunction()

# The target includes mpi.h of the family: before folders of other libraries, which may have the mpi.h of another MPI.
function(brigade_includes_mpi target family)
  target_include_directories(${target} SYSTEM BEFORE PRIVATE ${includes_${family}})
  target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/mpi_check.c)
  target_compile_definitions(${target} PRIVATE BRIGADE_FOR_${family})
endfunction()

# A shared library that exports the names of a version script.
function(brigade_shared target exports)  # SOURCE...
  add_library(${target} SHARED ${ARGN})
  target_link_options(${target} PRIVATE -Wl,--version-script=${exports} -Wl,-z,nodelete)
  set_target_properties(${target} PROPERTIES
    VERSION ${version} SOVERSION ${soversion} LINK_DEPENDS ${exports}
    INSTALL_RPATH "${more_rpath}" BUILD_RPATH "${rpath_beside};${CMAKE_BUILD_RPATH}")
  install(TARGETS ${target} LIBRARY COMPONENT libraries NAMELINK_COMPONENT devel)
endfunction()

# lib<target>.so.1, which other libraries of ours open or load. It has no file of another name.
function(brigade_part target exports)  # SOURCE...
  brigade_shared(${target} ${exports} ${ARGN})
  set_target_properties(${target} PROPERTIES SUFFIX .so.${soversion})
  set_property(TARGET ${target} PROPERTY VERSION)
  set_property(TARGET ${target} PROPERTY SOVERSION)
endfunction()

# The library calls MPI, which the program brings, and libraries of ours that lie beside it.
function(brigade_calls_mpi target)  # LIBRARY...
  # Flags of a distribution must not demand the symbols of an MPI.
  target_link_options(${target} PRIVATE -Wl,-z,undefs)
  target_link_libraries(${target} PRIVATE ${ARGN})
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${rpath_beside}")
endfunction()

# packaging/<name>.in with its @names@ replaced, as by install.sh.
function(brigade_filled name file folder)
  configure_file(packaging/${name}.in ${folder}/${file} @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${folder}/${file} DESTINATION ${folder} COMPONENT devel)
endfunction()
