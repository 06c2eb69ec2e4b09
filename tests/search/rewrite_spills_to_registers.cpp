// What a kernel keeps in private memory, in registers: on every target, without a wave less, and the same results.
#include "search/drivers/rewrite/rules.h"

#include "rewrite_private.h"

using namespace asmevo;
using namespace asmevo::search::rewrite;
using namespace asmevo::search::rewrite::testing;

namespace {

constexpr std::array processors = {isa::Processor::gfx908, isa::Processor::gfx90a, isa::Processor::gfx942,
                                   isa::Processor::gfx950};
// v2 to v7 hold something from here on, and v1 until the sum.
const std::string zeros = "v_mov_b32_e32 v2, 0\nv_mov_b32_e32 v3, 0\nv_mov_b32_e32 v4, 0\nv_mov_b32_e32 v5, 0\n"
                          "v_mov_b32_e32 v6, 0\nv_mov_b32_e32 v7, 0\n";
const std::string sum = "v_add3_u32 v4, v4, v5, v6\nv_add3_u32 v3, v3, v4, v7\nv_add3_u32 v2, v1, v2, v3\n";
constexpr std::string_view end = "v_lshlrev_b32_e32 v1, 2, v0\nglobal_store_dword v1, v2, s[8:9]\ns_endpgm\n";

size_t ideas_of(const PrivateKernel& kernel, const std::string& body) {
  const recover::Program program = kernel.program(body);
  return spills_to_registers(kernel.facts(program)).size();
}

/// The program after the one idea, which does the same.
recover::Program changed(const PrivateKernel& kernel, const std::string& body) {
  const recover::Program program = kernel.program(body);
  const auto ideas = spills_to_registers(kernel.facts(program));
  EXPECT_EQ(ideas.size(), 1u) << body;
  if (ideas.size() != 1) return {};
  recover::Program after = kernel.changed(program, ideas.front());
  const auto before = kernel.results(program);
  EXPECT_TRUE(before) << body;
  EXPECT_EQ(kernel.results(after), before) << PrivateKernel::text(after);
  return after;
}

bool is_private(std::string_view line) {
  return line.starts_with("scratch_") || (line.starts_with("buffer_") && line.find("s[0:3]") != line.npos);
}
size_t accesses(const recover::Program& program) {
  return size_t(std::ranges::count_if(program.items, [](const auto& item) { return is_private(item.text); }));
}

/// Two values that come out of private memory in another order than they went in.
std::string two(const PrivateKernel& kernel) {
  return "v_mul_u32_u24_e32 v2, 7, v0\n" + kernel.store("v2", 0) + "v_add_u32_e32 v2, 5, v2\n" + kernel.store("v2", 3) +
         "v_mov_b32_e32 v2, 9\n" + kernel.load("v3", 0) + kernel.load("v4", 3) + "v_lshl_add_u32 v2, v3, 9, v4\n" +
         std::string(end);
}

/// `count` values in v8 and behind, which `use` adds up in v2.
std::string many(unsigned count) {
  std::string text;
  for (unsigned v = 0; v < count; ++v) text += fmt::format("v_mul_u32_u24_e32 v{}, {}, v0\n", 8 + v, 3 + v % 50);
  return text;
}
std::string use(unsigned count) {
  std::string text;
  for (unsigned v = 0; v < count; ++v) text += fmt::format("v_lshl_add_u32 v2, v2, 1, v{}\n", 8 + v);
  return text;
}

} // namespace

TEST(SpillsToRegisters, AllOfThemGoWhereThereIsRoom) {
  for (const isa::Processor processor : processors) {
    const PrivateKernel kernel{processor};
    EXPECT_EQ(accesses(changed(kernel, two(kernel))), 0u) << isa::processor_name(processor);
  }
}

TEST(SpillsToRegisters, ALoopKeepsWhatGoesRound) {
  for (const isa::Processor processor : processors) {
    const PrivateKernel kernel{processor};
    const auto after = changed(
        kernel, "v_mov_b32_e32 v2, v0\n" + kernel.store("v2", 1) + "s_mov_b32 s10, 5\nagain:\n" + kernel.load("v3", 1) +
                    "v_mul_u32_u24_e32 v3, 3, v3\nv_add_u32_e32 v3, 1, v3\n" + kernel.store("v3", 1) +
                    "v_add_u32_e32 v2, v2, v3\ns_sub_i32 s10, s10, 1\ns_cmp_lg_u32 s10, 0\ns_cbranch_scc1 again\n" +
                    kernel.load("v3", 1) + "v_xor_b32_e32 v2, v2, v3\n" + std::string(end));
    EXPECT_EQ(accesses(after), 0u);
  }
}

TEST(SpillsToRegisters, LanesThatAreSwitchedOffKeepWhatTheyStored) {
  for (const isa::Processor processor : processors) {
    const PrivateKernel kernel{processor};
    changed(kernel, kernel.store("v0", 0) +
                        "v_cmp_lt_u32_e32 vcc, 20, v0\n"
                        "s_and_saveexec_b64 s[10:11], vcc\n"
                        "v_mul_u32_u24_e32 v3, v0, v0\n" +
                        kernel.store("v3", 0) + "s_or_b64 exec, exec, s[10:11]\n" + kernel.load("v2", 0) +
                        std::string(end));
  }
}

TEST(SpillsToRegisters, AWideAccessGoesAsAWhole) {
  const PrivateKernel kernel;
  const auto after = changed(kernel, "v_mul_u32_u24_e32 v2, 7, v0\n"
                                     "v_xor_b32_e32 v3, 5, v0\n"
                                     "scratch_store_dwordx2 off, v[2:3], off offset:8\n"
                                     "v_mov_b32_e32 v2, 0\n"
                                     "v_mov_b32_e32 v3, 0\n"
                                     "scratch_load_dwordx2 v[4:5], off, off offset:8\n"
                                     "scratch_load_dword v6, off, off offset:12\n"
                                     "s_waitcnt vmcnt(0)\n"
                                     "v_lshl_add_u32 v2, v4, 9, v5\n"
                                     "v_mad_u32_u24 v2, v2, 3, v6\n" +
                                         std::string(end));
  EXPECT_EQ(accesses(after), 0u);
}

TEST(SpillsToRegisters, WideAccessesMayTradeTheirRegisters) {
  const PrivateKernel kernel{.vgprs = 8};
  changed(kernel, "v_mul_u32_u24_e32 v2, 7, v0\n"
                  "v_xor_b32_e32 v3, 5, v0\n"
                  "scratch_store_dwordx2 off, v[2:3], off\n"
                  "scratch_load_dword v3, off, off\n"
                  "scratch_load_dword v2, off, off offset:4\n"
                  "s_waitcnt vmcnt(0)\n"
                  "scratch_store_dwordx2 off, v[2:3], off\n"
                  "scratch_load_dwordx2 v[4:5], off, off\n"
                  "s_waitcnt vmcnt(0)\n"
                  "v_lshl_add_u32 v2, v4, 9, v5\n" +
                      std::string(end));
}

TEST(SpillsToRegisters, AccumulationRegistersTakeWhatVectorRegistersCannot) {
  for (const isa::Processor processor : {isa::Processor::gfx908, isa::Processor::gfx90a, isa::Processor::gfx942}) {
    const PrivateKernel kernel{.processor = processor, .vgprs = 256, .agprs = 4};
    const auto after =
        changed(kernel, zeros + many(248) + kernel.store("v9", 2) + use(248) + "v_mov_b32_e32 v9, 1\n" + use(248) +
                            kernel.load("v9", 2) + use(248) +
                            "v_accvgpr_write_b32 a3, v2\nv_accvgpr_read_b32 v2, a3\n" + sum + std::string(end));
    EXPECT_EQ(accesses(after), 0u);
    EXPECT_NE(PrivateKernel::text(after).find("v_accvgpr_read_b32 v9"), std::string::npos)
        << PrivateKernel::text(after);
  }
}

TEST(SpillsToRegisters, AccumulationRegistersAreStoredAndLoadedTheSame) {
  const PrivateKernel kernel{.agprs = 4};
  const auto after =
      changed(kernel, "v_accvgpr_write_b32 a1, v0\n" + kernel.store("a1", 0) + "v_accvgpr_write_b32 a1, 0\n" +
                          kernel.load("a2", 0) + "v_accvgpr_read_b32 v2, a2\n" + std::string(end));
  EXPECT_EQ(accesses(after), 0u);
}

TEST(SpillsToRegisters, TheDeclarationGrowsWithThem) {
  const PrivateKernel kernel{.vgprs = 8};
  std::string body = "v_mov_b32_e32 v2, 1\nv_mov_b32_e32 v7, v0\n";
  for (unsigned slot = 0; slot < 12; ++slot)
    body += fmt::format("v_add_u32_e32 v2, {}, v2\n", slot) + kernel.store("v2", slot);
  for (unsigned slot = 0; slot < 12; ++slot) body += kernel.load("v3", slot) + "v_lshl_add_u32 v2, v2, 1, v3\n";
  const auto after = changed(kernel, body + "v_add_u32_e32 v2, v2, v7\n" + std::string(end));
  EXPECT_EQ(accesses(after), 0u);
  EXPECT_GT(after.declared.front().vgprs, 8u);
  EXPECT_EQ(after.declared.front().scratch_bytes, kernel.bytes);
}

TEST(SpillsToRegisters, NothingIsGivenForAWave) {
  // 64 VGPRs let eight waves run, 65 seven.
  const PrivateKernel kernel{.vgprs = 64};
  EXPECT_EQ(ideas_of(kernel, zeros + many(56) + kernel.store("v9", 2) + use(56) + "v_mov_b32_e32 v9, 1\n" + use(56) +
                                 kernel.load("v9", 2) + use(56) + sum + std::string(end)),
            0u);
  // A register that holds nothing meanwhile costs none.
  changed(kernel, zeros + many(56) + kernel.store("v9", 2) + "v_mov_b32_e32 v9, 1\nv_xor_b32_e32 v2, v2, v9\n" +
                      kernel.load("v9", 2) + "v_mov_b32_e32 v10, v0\n" + use(56) + sum + std::string(end));
}

TEST(SpillsToRegisters, ThoseInTheInnermostLoopComeFirst) {
  const PrivateKernel kernel{.vgprs = 63};
  const auto after = changed(kernel, zeros + many(55) + kernel.store("v9", 2) + kernel.store("v9", 3) +
                                         "s_mov_b32 s10, 3\nagain:\n" + kernel.load("v10", 3) + use(55) +
                                         "s_sub_i32 s10, s10, 1\ns_cmp_lg_u32 s10, 0\ns_cbranch_scc1 again\n" +
                                         kernel.load("v9", 2) + use(55) + sum + std::string(end));
  const std::string text = PrivateKernel::text(after);
  EXPECT_EQ(text.find("offset:12"), std::string::npos) << text;
  EXPECT_NE(text.find("offset:8"), std::string::npos) << text;
}

TEST(SpillsToRegisters, AConstantInAScalarRegisterIsAPlaceToo) {
  const auto after = changed({}, "s_movk_i32 s20, 16\nscratch_store_dword off, v0, s20 offset:4\n"
                                 "scratch_load_dword v2, off, off offset:20\ns_waitcnt vmcnt(0)\n" +
                                     std::string(end));
  EXPECT_EQ(accesses(after), 0u);
}

TEST(SpillsToRegisters, TheDescriptorIsFollowedThroughCopies) {
  const PrivateKernel kernel{isa::Processor::gfx90a};
  const auto after = changed(kernel, "s_mov_b64 s[20:21], s[0:1]\ns_mov_b32 s22, s2\ns_mov_b32 s23, s3\n"
                                     "s_mov_b64 s[0:1], 0\ns_mov_b64 s[2:3], 0\n"
                                     "buffer_store_dword v0, off, s[20:23], 0 offset:4\n"
                                     "buffer_load_dword v2, off, s[20:23], 0 offset:4\ns_waitcnt vmcnt(0)\n" +
                                         std::string(end));
  EXPECT_EQ(PrivateKernel::text(after).find("buffer_"), std::string::npos);
}

TEST(SpillsToRegisters, OtherBuffersStay) {
  const PrivateKernel kernel{isa::Processor::gfx90a};
  EXPECT_EQ(ideas_of(kernel, "s_mov_b64 s[0:1], s[8:9]\ns_movk_i32 s2, 0x400\ns_mov_b32 s3, 0x27000\n" + two(kernel)),
            0u);
}

TEST(SpillsToRegisters, AnAddressInARegisterStaysInTheWay) {
  const PrivateKernel scratch, buffer{isa::Processor::gfx90a};
  EXPECT_EQ(ideas_of(scratch, "scratch_store_dword v1, v0, off\n" + two(scratch)), 0u);
  EXPECT_EQ(ideas_of(scratch, "scratch_store_dword off, v0, s10\n" + two(scratch)), 0u);
  EXPECT_EQ(ideas_of(buffer, "buffer_store_dword v0, v1, s[0:3], 0 offen\n" + two(buffer)), 0u);
  EXPECT_EQ(ideas_of(buffer, "buffer_store_dword v0, off, s[0:3], s10\n" + two(buffer)), 0u);
}

TEST(SpillsToRegisters, ADescriptorThatGoesElsewhereStaysInTheWay) {
  const PrivateKernel kernel{isa::Processor::gfx90a};
  for (const char* escape : {"v_mov_b32_e32 v5, s1\n", "s_load_dword s10, s[0:1], 0x0\n",
                             "s_mov_b32 s21, s2\n"
                             "s_mov_b64 s[22:23], s[2:3]\nbuffer_load_dword v5, off, s[20:23], 0\n",
                             "s_add_u32 s0, s0, s6\n", "v_writelane_b32 v5, s0, 0\n"})
    EXPECT_EQ(ideas_of(kernel, escape + two(kernel)), 0u) << escape;
}

TEST(SpillsToRegisters, FlatAddressesAndCallsStayInTheWay) {
  for (const isa::Processor processor : processors) {
    const PrivateKernel kernel{processor};
    for (const char* reach : {"flat_load_dword v5, v[6:7]\n", "s_swappc_b64 s[30:31], s[12:13]\n",
                              "s_set_gpr_idx_on s10, gpr_idx(SRC0)\ns_set_gpr_idx_off\n", "s_mov_b64 exec, -1\n"})
      EXPECT_EQ(ideas_of(kernel, reach + two(kernel)), 0u) << reach;
  }
}

TEST(SpillsToRegisters, APlaceThatIsReadInPartsStays) {
  const PrivateKernel kernel;
  const auto after = changed(kernel, "scratch_load_ubyte v5, off, off offset:13\n" + two(kernel));
  EXPECT_EQ(accesses(after), 2u) << PrivateKernel::text(after); // the byte itself is wanted by nobody
}

TEST(SpillsToRegisters, NobodyHasAnythingToGainWithoutPrivateMemory) {
  EXPECT_EQ(ideas_of({}, "v_mov_b32_e32 v2, v0\n" + std::string(end)), 0u);
}
