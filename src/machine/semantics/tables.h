// The tables of instruction semantics: one name a file. A file `NAME.cpp` of this directory defines
// `std::span<const InstructionRow> NAME()` in namespace asmevo::machine::ASMEVO_ISA and is compiled once an instruction
// set. The tables of ../scalar/ have no lane loops, are compiled once and live in asmevo::machine::scalar.
// clang-format off
#define ASMEVO_SEMANTICS(X)                                                                                            \
  X(moves)                                                                                                             \
  X(lds)                                                                                                               \
  X(lds_cross)                                                                                                         \
  X(flat)                                                                                                              \
  X(buffer)                                                                                                            \
  X(valu_integer)                                                                                                      \
  X(valu_compare)                                                                                                      \
  X(valu_float)                                                                                                        \
  X(valu_packed)                                                                                                       \
  X(valu_convert)                                                                                                      \
  X(valu_approximate)                                                                                                  \
  X(valu_division)                                                                                                     \
  X(mfma)                                                                                                              \
  X(valu_scale)                                                                                                        \
  X(valu_lanes)
#define ASMEVO_SCALAR_SEMANTICS(X) X(salu) X(control) X(smem) X(global_sync)
