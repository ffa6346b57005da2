# ctest: the unit tests of the rooms, programs that use the libraries, and the examples with an installation.

set(environment OMP_NUM_THREADS=1 ${loader_path})
# Packages are often built by root, and on few processors: for Open MPI 4, and for 5.
list(APPEND environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
  PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
  PRTE_MCA_hwloc_default_binding_policy=none)
set(with_jobs OFF)
if(families AND MPIEXEC_EXECUTABLE)
  set(with_jobs ON)
elseif(families)
  message(WARNING "There is no mpiexec, so no test starts a job of MPI: set MPIEXEC_EXECUTABLE")
endif()
if(with_jobs)
  # FindMPI takes the default mpiexec beside an MPI_C_COMPILER that is not the default.
  execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE shown ERROR_VARIABLE shown)
  set(launcher)
  if(shown MATCHES "OpenRTE|Open MPI|PRRTE|prterun")
    set(launcher openmpi)
  elseif(shown MATCHES "HYDRA|Intel.R. MPI")
    set(launcher mpich)
  endif()
  if(launcher AND NOT launcher STREQUAL primary)
    message(WARNING "MPIEXEC_EXECUTABLE=${MPIEXEC_EXECUTABLE} is of ${launcher}, but MPI_C_COMPILER=${MPI_C_COMPILER} "
      "is of ${primary}. Tests with MPI will fail: set MPIEXEC_EXECUTABLE")
  endif()
endif()

function(brigade_test name)  # COMMAND...
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${environment}" TIMEOUT 900 PROCESSORS 2)
endfunction()

# The words that start a job of a program under MPI.
function(brigade_job result ranks)  # WORD-BEFORE-THE-PROGRAM... PROGRAM
  set(${result} ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS} ${ARGN} ${MPIEXEC_POSTFLAGS}
    PARENT_SCOPE)
endfunction()

# ---- Programs of C that are linked with a library

function(brigade_program name library source)
  add_executable(${name} ${source})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(${name} ${library} m)
  if(families)
    brigade_includes_mpi(${name} ${primary})
  endif()
endfunction()

function(brigade_program_of_ranks name library source ranks)  # ARGUMENT...
  brigade_program(${name} ${library} ${source})
  brigade_job(job ${ranks} $<TARGET_FILE:${name}>)
  brigade_test(${name} ${job} ${ARGN})
endfunction()

# Needs no MPI. An emulator runs targets.
brigade_program(first_call Brigade::brigade test/api/first_call.c)
brigade_test(first_call first_call)
if(with_jobs)
  set(parts_of_c_test block_calls.c call_forms.c completion_calls.c every_call.c every_group.c)
  brigade_program_of_ranks(brigade_c_test Brigade::brigade test/api/brigade_c_test.c 4)
  list(TRANSFORM parts_of_c_test PREPEND test/api/)
  target_sources(brigade_c_test PRIVATE ${parts_of_c_test})
  target_include_directories(brigade_c_test PRIVATE ${PROJECT_SOURCE_DIR})
  set_property(TEST brigade_c_test APPEND PROPERTY ENVIRONMENT TMPDIR=/tmp BRIGADE_IFCAE=eth0)  # Brigade warns of it
  brigade_program_of_ranks(window_c_test Brigade::brigade test/windows/window_c_test.c 3 auto)
  brigade_program_of_ranks(multiply_c_test Brigade::brigade test/windows/multiply_c_test.c 4 auto)
  brigade_program_of_ranks(blacs_c_test Brigade::blacs test/blacs/blacs_c_header_test.c 4)
  brigade_program_of_ranks(blacs64_c_test Brigade::blacs64 test/blacs/blacs_c_header_test.c 4)
  # A program that knows nothing of Brigade.
  brigade_program(preloaded MPI::MPI_C test/transport/one_mpi.c)
  foreach(pblas pblas pblas64)
    brigade_job(job 2 ${PROJECT_BINARY_DIR}/bin/brigade_run --${pblas} --rma --blacs $<TARGET_FILE:preloaded>)
    brigade_test(preloaded_${pblas} ${job})
  endforeach()
endif()

# ---- Unit tests: *_test.cc of a folder are a program

find_package(GTest)
if(NOT GTest_FOUND AND EXISTS /usr/src/googletest/CMakeLists.txt)
  set(INSTALL_GTEST OFF)
  add_subdirectory(/usr/src/googletest ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
  set(GTest_FOUND ON)
endif()
if(NOT GTest_FOUND)
  message(WARNING "GoogleTest is missing, so CMake builds no unit tests")
else()
  # Code of rooms that only tests use, or whose libraries do not export it.
  brigade_sources(sources patterns/check transport/inproc transport/sim test/support EXCLUDE _main /two_hosts /without)
  add_library(brigade_testing STATIC EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(brigade_testing PUBLIC brigade_static GTest::gtest)
  if(families)
    foreach(room mpi_${primary} blacs_${primary} pblas_${primary} rma_${primary} bsp_objects li_objects)
      target_sources(brigade_testing PRIVATE $<TARGET_OBJECTS:${room}>)
    endforeach()
    target_link_libraries(brigade_testing PUBLIC MPI::MPI_C)
    brigade_includes_mpi(brigade_testing ${primary})
    add_library(brigade_mpi_main STATIC EXCLUDE_FROM_ALL test/support/gtest_mpi_main.cc test/support/two_hosts.cc)
    target_link_libraries(brigade_mpi_main PUBLIC brigade_testing)
    brigade_includes_mpi(brigade_mpi_main ${primary})
    set(rooms_of_mpi *_shim/*_test.cc)
  endif()

  file(GLOB_RECURSE tests RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
    membuf/*_test.cc transport/*_test.cc patterns/*_test.cc windows/*_test.cc test/support/*_test.cc ${rooms_of_mpi})
  if(NOT families)
    list(FILTER tests EXCLUDE REGEX ^transport/mpi_job/)
  endif()
  set(folders_of_jobs "^rma_shim/datatype|^li_shim/mpi")
  if(NOT with_jobs)
    list(FILTER tests EXCLUDE REGEX "(${folders_of_jobs})/[^/]*$")
  endif()
  if(NOT with_LIBSODIUM)  # these tests make keys
    list(FILTER tests EXCLUDE REGEX "^transport/(tcp|tcp/wire|bootstrap)/[^/]*$")
  endif()
  list(TRANSFORM tests REPLACE "/[^/]*$" "" OUTPUT_VARIABLE folders)
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    string(REPLACE / _ name ${folder}_test)
    set(sources ${tests})
    list(FILTER sources INCLUDE REGEX ^${folder}/[^/]*$)
    add_executable(${name} ${sources})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    if(families)
      brigade_includes_mpi(${name} ${primary})
    endif()
    if(folder MATCHES "(${folders_of_jobs})$")
      target_link_libraries(${name} brigade_mpi_main)
      brigade_job(job 1 $<TARGET_FILE:${name}>)
      brigade_test(${name} ${job})
    else()
      target_link_libraries(${name} brigade_testing GTest::gtest_main)
      brigade_test(${name} ${name})
    endif()
  endforeach()
endif()

# ---- The examples, as a project that finds an installation

if(with_jobs)
  set(stage ${PROJECT_BINARY_DIR}/stage)
  set(examples ${PROJECT_BINARY_DIR}/examples)
  find_library(SCALAPACK NAMES scalapack scalapack-${primary})
  if(NOT SCALAPACK)
    set(SCALAPACK OFF)
  endif()
  # DESTDIR may be set for the package.
  brigade_test(install ${CMAKE_COMMAND} -E env DESTDIR=${stage} ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR})
  brigade_test(examples ${CMAKE_CTEST_COMMAND} --build-and-test ${PROJECT_SOURCE_DIR}/examples ${examples}
    --build-generator ${CMAKE_GENERATOR} --build-options -DCMAKE_PREFIX_PATH=${stage}${CMAKE_INSTALL_PREFIX}
    -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
    -DMPI_EXECUTABLE_SUFFIX=${MPI_EXECUTABLE_SUFFIX} -DMPI_HOME=${MPI_HOME} -DMPI_C_COMPILER=${MPI_C_COMPILER}
    -DMPIEXEC_EXECUTABLE=${MPIEXEC_EXECUTABLE} -DSCALAPACK=${SCALAPACK})
  set_tests_properties(install PROPERTIES FIXTURES_SETUP installation)
  set_tests_properties(examples PROPERTIES FIXTURES_REQUIRED installation FIXTURES_SETUP examples)
  file(GLOB sources CONFIGURE_DEPENDS examples/*.c examples/*.cc examples/*.f90)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    if(name STREQUAL without_mpi)  # no job; test/installation_test.sh runs it
      continue()
    endif()
    brigade_job(job 4 ${examples}/${name})
    brigade_test(example_${name} test/support/prints.sh ${source} ${job})
    set_property(TEST example_${name} APPEND PROPERTY ENVIRONMENT BRIGADE_LOG=info)
    set_tests_properties(example_${name} PROPERTIES FIXTURES_REQUIRED examples)
  endforeach()
  brigade_job(job 4 ${PROJECT_BINARY_DIR}/bin/brigade_run --pblas ${examples}/solve)
  brigade_test(example_solve_pblas test/support/prints.sh examples/solve.f90 ${job})
  set_property(TEST example_solve_pblas APPEND PROPERTY ENVIRONMENT BRIGADE_LOG=info BRIGADE_PBLAS=on)
  set_tests_properties(example_solve_pblas PROPERTIES FIXTURES_REQUIRED examples)
  # They take a BLAS and ScaLAPACK.
  set_tests_properties(example_matrix_product example_solve example_solve_pblas PROPERTIES SKIP_RETURN_CODE 77)
endif()

# QEMU 7.2 in user mode lacks system calls that these tests need. Its madvise(MADV_REMOVE) reports success and leaves
# the memory as it was, and it has neither process_vm_readv nor process_vm_writev. windows_multiply_test needs a
# libblas.so.3 for aarch64.
if(CMAKE_CROSSCOMPILING_EMULATOR MATCHES qemu)
  foreach(name patterns_protocol transport_auto transport_edge transport_host_memory transport_shm windows_multiply)
    if(TEST ${name}_test)
      set_tests_properties(${name}_test PROPERTIES DISABLED TRUE)
    endif()
  endforeach()
endif()
