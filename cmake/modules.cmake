# One static library a module. What a module may include is what it links: DEPENDS lists the modules above it that it
# uses, LIBS the outside libraries, PRECOMPILED outside headers that most of its files include and that take long. tests/behaviour/includes_point_one_way.sh checks the includes themselves.

set(ASMEVO_LLVM_DIR /usr/lib/llvm-22 CACHE PATH "where LLVM 22 is installed")

add_library(asmevo_llvm INTERFACE)
target_include_directories(asmevo_llvm SYSTEM INTERFACE ${ASMEVO_LLVM_DIR}/include)
target_link_directories(asmevo_llvm INTERFACE ${ASMEVO_LLVM_DIR}/lib)
target_link_libraries(asmevo_llvm INTERFACE LLVM-22)

add_library(asmevo_lld INTERFACE)
target_link_libraries(asmevo_lld INTERFACE ${ASMEVO_LLVM_DIR}/lib/liblldELF.a ${ASMEVO_LLVM_DIR}/lib/liblldCommon.a
                                           asmevo_llvm z zstd)

function(asmevo_module name)
  cmake_parse_arguments(arg "" "" "DEPENDS;LIBS;PRECOMPILED" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "/${name}/semantics/")
  list(TRANSFORM arg_DEPENDS PREPEND asmevo_)
  if(NOT sources)
    add_library(asmevo_${name} INTERFACE)
    target_include_directories(asmevo_${name} INTERFACE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(asmevo_${name} INTERFACE ${arg_DEPENDS} ${arg_LIBS})
    return()
  endif()
  add_library(asmevo_${name} STATIC ${sources})
  target_include_directories(asmevo_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(asmevo_${name} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_LIBS})
  if(arg_PRECOMPILED)
    target_precompile_headers(asmevo_${name} PRIVATE ${arg_PRECOMPILED})
  endif()
  asmevo_semantics(${name} "${arg_DEPENDS}")
endfunction()

# Files in <module>/semantics/ hold loops over lanes: each is compiled for three instruction sets, in a namespace named
# by ASMEVO_ISA (v2, v3, v4), and the process picks one when it starts. Floating-point results are exactly as written:
# no contraction, no fast-math.
function(asmevo_semantics name depends)
  file(GLOB lane_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/semantics/*.cpp)
  if(NOT lane_sources)
    return()
  endif()
  foreach(level v2 v3 v4)
    # v2 is for processors that nobody searches on: it must be right, not fast.
    string(COMPARE EQUAL ${level} v2 plain)
    set(optimize $<IF:${plain},-O1,-O3>)
    # Each check is a branch in the loops: the compiler takes half an hour over them at -O3, and minutes over the wider
    # ones at -O1. The loops are the same at each level, so one is checked; `make sanitize` runs that one.
    if(ASMEVO_SANITIZE)
      set(optimize -O1 $<$<NOT:${plain}>:-fno-sanitize=all>)
    endif()
    add_library(asmevo_${name}_${level} OBJECT ${lane_sources})
    target_include_directories(asmevo_${name}_${level} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(asmevo_${name}_${level} PRIVATE ${depends})
    target_compile_definitions(asmevo_${name}_${level} PRIVATE ASMEVO_ISA=${level})
    target_compile_options(asmevo_${name}_${level} PRIVATE -march=x86-64-${level} ${optimize} -ffp-contract=off -fno-math-errno
                                                           -fno-trapping-math
                                                           -Wno-maybe-uninitialized -Wno-uninitialized # GCC 12 on its own intrinsics
                                                           $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>
                                                           $<$<CXX_COMPILER_ID:Clang>:-Wno-unknown-warning-option>)
    if(level STREQUAL v4)
      target_compile_options(asmevo_${name}_${level} PRIVATE -mprefer-vector-width=512)
    endif()
    target_sources(asmevo_${name} PRIVATE $<TARGET_OBJECTS:asmevo_${name}_${level}>)
  endforeach()
endfunction()

# One GoogleTest executable a module, from tests/<module>/*.cpp; `ninja test_<module>` builds just that one.
function(asmevo_unit_tests name)
  cmake_parse_arguments(arg "" "" "LIBS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(test_${name} ${sources})
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(test_${name} PRIVATE ASMEVO_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(test_${name} PRIVATE asmevo_${name} ${arg_LIBS} GTest::gtest_main fmt::fmt)
  # Most of a build would else go into optimising tests. GCC 12 sees string overflows at -O1 that are not there.
  target_compile_options(test_${name} PRIVATE -O1 $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overread>)
  target_precompile_headers(test_${name} REUSE_FROM asmevo_test_headers)
  add_dependencies(tests test_${name})
  add_test(NAME unit.${name} COMMAND test_${name})
endfunction()
