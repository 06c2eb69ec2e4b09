// The hazard rules against LLVM's own recogniser: random instruction sequences, seeded, padded by llc. Nothing that
// LLVM pads may be missed, and nothing may be missing from what LLVM padded, other than the differences that
// docs/checks.md lists. ASMEVO_SEQUENCES says how many sequences a target; `make corpora` takes thousands.
#include "analysis/hazards.h"

#include "assemble.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <unistd.h>

namespace asmevo::analysis {
namespace {

using isa::Processor;

constexpr uint8_t everywhere = 0xff, gfx90a_on = 1, gfx950_only = 2;

struct Template {
  uint8_t where;
  std::string_view
      text; // machine IR; {v} {v2} {v4} ... a random register or tuple, {s} {s2} {s4} scalar, {a} {a4} AGPRs
};

/// Registers come from a small pool, so that instructions meet.
const std::vector<Template>& vocabulary() {
  static const std::vector<Template> all = {
      {everywhere, "{v} = V_MOV_B32_e32 0, implicit $exec"},
      {everywhere, "{v} = V_ADD_U32_e32 {v}, {v}, implicit $exec"},
      {everywhere, "{v} = V_ADD_U32_e32 {s}, {v}, implicit $exec"},
      {everywhere, "{v} = V_ADD_F32_e32 {v}, {v}, implicit $mode, implicit $exec"},
      {everywhere, "{s} = V_READFIRSTLANE_B32 {v}, implicit $exec"},
      {everywhere, "{s} = V_READLANE_B32 {v}, {s}, implicit $exec"},
      {everywhere, "{v:1} = V_WRITELANE_B32 0, {s}, {v:1}, implicit $exec"},
      {everywhere, "V_CMP_LT_F32_e32 {v}, {v}, implicit-def $vcc, implicit $mode, implicit $exec"},
      {everywhere, "V_CMPX_LT_F32_e32 {v}, {v}, implicit-def $exec, implicit-def $vcc, implicit $mode, implicit $exec"},
      {everywhere, "{s2} = V_CMP_LT_F32_e64 0, {v}, 0, {v}, 0, implicit $mode, implicit $exec"},
      {everywhere, "{v} = V_CNDMASK_B32_e32 {v}, {v}, implicit $vcc, implicit $exec"},
      {everywhere, "{v} = V_CNDMASK_B32_e64 0, {v}, 0, {v}, {s2}, implicit $exec"},
      {everywhere,
       "{v} = V_DIV_FMAS_F32_e64 0, {v}, 0, {v}, 0, {v}, 0, 0, implicit $mode, implicit $vcc, implicit $exec"},
      {everywhere, "{v:1} = V_MOV_B32_dpp {v:1}, {v}, 27, 15, 15, 0, implicit $exec"},
      {everywhere, "{v} = V_EXP_F32_e32 {v}, implicit $mode, implicit $exec"},
      {everywhere, "{v} = V_RCP_F32_e32 {v}, implicit $mode, implicit $exec"},
      {everywhere, "{v2} = V_FMA_F64_e64 0, {v2}, 0, {v2}, 0, {v2}, 0, 0, implicit $mode, implicit $exec"},
      {everywhere, "{v} = V_DOT2_F32_F16 8, {v}, 8, {v}, 8, {v}, 0, 0, 0, 0, 0, implicit $mode, implicit $exec"},
      {everywhere, "{v} = V_DOT4_I32_I8 8, {v}, 8, {v}, 8, {v}, 0, 0, 0, implicit $exec"},
      {everywhere, "{v:1} = V_MOV_B32_sdwa 0, {v}, 0, 5, 2, 6, implicit $exec, implicit {v:1}(tied-def 0)"},
      {everywhere, "$m0 = S_MOV_B32 {s}"},
      {everywhere, "S_SENDMSG 1, implicit $exec, implicit $m0"},
      {everywhere, "S_SETREG_B32 {s}, 6145, implicit-def $mode, implicit $mode"},
      {everywhere, "{s} = S_GETREG_B32 6145, implicit $mode"},
      {everywhere, "{s} = S_MOV_B32 0"},
      {everywhere, "{v} = BUFFER_LOAD_DWORD_OFFEN {v}, {s4}, {s}, 0, 0, 0, implicit $exec"},
      {everywhere, "BUFFER_STORE_DWORDX4_OFFEN {v4}, {v}, {s4}, 0, 0, 0, 0, implicit $exec"},
      {everywhere, "GLOBAL_STORE_DWORDX4 {v2}, {v4}, 0, 0, implicit $exec"},
      {everywhere, "GLOBAL_STORE_DWORD {v2}, {v}, 0, 0, implicit $exec"},
      {everywhere, "GLOBAL_STORE_DWORD_SADDR {v}, {v}, {s2}, 0, 0, implicit $exec"},
      {everywhere, "{v} = GLOBAL_LOAD_DWORD {v2}, 0, 0, implicit $exec"},
      {everywhere, "DS_WRITE_B32_gfx9 {v}, {v}, 0, 0, implicit $exec"},
      {everywhere, "{v} = DS_READ_B32_gfx9 {v}, 0, 0, implicit $exec"},
      {everywhere, "{v} = V_ACCVGPR_READ_B32_e64 {a}, implicit $exec"},
      {everywhere, "{a} = V_ACCVGPR_WRITE_B32_e64 {v}, implicit $exec"},
      {everywhere, "{a4:d} = V_MFMA_F32_4X4X4F16_e64 {v2}, {v2}, {a4:c}, 0, 0, 0, implicit $mode, implicit $exec"},
      {everywhere, "{a4:d} = V_MFMA_F32_16X16X16F16_e64 {v2}, {v2}, {a4:c}, 0, 0, 0, implicit $mode, implicit $exec"},
      {everywhere, "{a4:d} = V_MFMA_F32_16X16X4F32_e64 {v}, {v}, {a4:c}, 0, 0, 0, implicit $mode, implicit $exec"},
      {gfx90a_on,
       "{v4:d} = V_MFMA_F32_4X4X4F16_vgprcd_e64 {v2}, {v2}, {v4:c}, 0, 0, 0, implicit $mode, implicit $exec"},
      {gfx90a_on, "{v4:d} = V_MFMA_F32_4X4X1F32_vgprcd_e64 {v}, {v}, {v4:c}, 0, 0, 0, implicit $mode, implicit $exec"},
      {gfx90a_on,
       "{v4:d} = V_MFMA_F32_16X16X16F16_vgprcd_e64 {v2}, {v2}, {v4:c}, 0, 0, 0, implicit $mode, implicit $exec"},
      {gfx90a_on,
       "{v4:d} = V_MFMA_F32_16X16X4F32_vgprcd_e64 {v}, {v}, {v4:c}, 0, 0, 0, implicit $mode, implicit $exec"},
      {gfx90a_on, "{v4:d} = V_MFMA_F32_16X16X16F16_vgprcd_e64 {v2}, {v2}, 0, 0, 0, 0, implicit $mode, implicit $exec"},
      {gfx90a_on,
       "{v2:d} = V_MFMA_F64_4X4X4F64_vgprcd_e64 {v2}, {v2}, {v2:c}, 0, 0, 0, implicit $mode, implicit $exec"},
      {gfx90a_on,
       "{v8:d} = V_MFMA_F64_16X16X4F64_vgprcd_e64 {v2}, {v2}, {v8:c}, 0, 0, 0, implicit $mode, implicit $exec"},
      {gfx90a_on,
       "{w16:d} = V_MFMA_F32_32X32X8F16_vgprcd_e64 {v2}, {v2}, {w16:c}, 0, 0, 0, implicit $mode, implicit $exec"},
      {gfx950_only,
       "{v4:d} = V_MFMA_F32_16X16X32_F16_vgprcd_e64 {v4}, {v4}, {v4:c}, 0, 0, 0, implicit $mode, implicit $exec"},
  };
  return all;
}

class Generator {
public:
  Generator(Processor processor, uint64_t seed) : random_(seed) {
    for (const Template& t : vocabulary()) {
      const bool fits = t.where == everywhere || (t.where == gfx90a_on && processor >= Processor::gfx90a) ||
                        (t.where == gfx950_only && processor == Processor::gfx950);
      if (fits) templates_.push_back(t.text);
    }
  }

  std::string function(const std::string& name, size_t length) {
    std::string text = "---\nname: " + name + "\nbody: |\n  bb.0:\n";
    for (size_t i = 0; i < length; ++i) text += "    " + instruction() + "\n";
    return text + "    S_ENDPGM 0\n...\n";
  }

private:
  size_t below(size_t n) { return random_() % n; }

  static std::string tuple(std::string_view file, size_t first, size_t count) {
    std::string name;
    for (size_t r = 0; r < count; ++r) name += fmt::format("{}{}{}", r == 0 ? "$" : "_", file, first + r);
    return name;
  }
  std::string pick(std::string_view what) {
    if (what == "v") return tuple("vgpr", below(8), 1);
    if (what == "v2") return tuple("vgpr", 2 * below(5), 2);
    if (what == "v4") return tuple("vgpr", 2 * below(5), 4);
    if (what == "v8") return tuple("vgpr", 2 * below(8), 8);
    if (what == "w16") return tuple("vgpr", 2 * below(12), 16);
    if (what == "s") return tuple("sgpr", 4 + below(4), 1);
    if (what == "s2") return tuple("sgpr", 4 + 2 * below(2), 2);
    if (what == "s4") return tuple("sgpr", 4, 4);
    if (what == "a") return tuple("agpr", below(6), 1);
    if (what == "a4") return tuple("agpr", 2 * below(5), 4);
    ADD_FAILURE() << what;
    return "";
  }
  static bool meet(const std::string& a, const std::string& b) {
    std::istringstream parts(a);
    for (std::string part; std::getline(parts, part, '_');) {
      const std::string name = (part[0] == '$' ? "" : "$") + part;
      if ((b + "_").find(name + "_") != std::string::npos ||
          (b + "_").find("_" + name.substr(1) + "_") != std::string::npos)
        return true;
    }
    return false;
  }
  std::string instruction() {
    const std::string_view text = templates_[below(templates_.size())];
    std::string result;
    std::map<std::string, std::string> kept; // {v:1} is the same register wherever it stands
    for (size_t at = 0; at < text.size();) {
      if (text[at] != '{') {
        result += text[at++];
        continue;
      }
      const size_t end = text.find('}', at);
      const std::string what(text.substr(at + 1, end - at - 1));
      const size_t colon = what.find(':');
      if (colon == std::string::npos) {
        result += pick(what);
      } else {
        auto& name = kept[what.substr(colon + 1)];
        if (name.empty()) name = pick(what.substr(0, colon));
        result += name;
        // SrcC is the destination or has nothing to do with it.
        while (what.ends_with(":c") && name != kept["d"] && meet(name, kept["d"])) {
          result.resize(result.size() - name.size());
          name = pick(what.substr(0, colon));
          result += name;
        }
      }
      at = end + 1;
    }
    return result;
  }

  std::mt19937_64 random_;
  std::vector<std::string_view> templates_;
};

std::string output_of(const std::string& command) {
  std::string text;
  if (FILE* pipe = popen(command.c_str(), "r")) {
    std::array<char, 65536> buffer;
    while (const size_t got = fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer.data(), got);
    pclose(pipe);
  }
  return text;
}

/// Function bodies of llc's assembly, padded.
std::vector<std::string> padded(const std::string& machine_code, Processor processor) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("asmevo_hazards_{}.mir", getpid());
  std::ofstream(path) << machine_code;
  const std::string text = output_of(fmt::format("llc-22 -mtriple=amdgcn-amd-amdhsa -mcpu={} -mattr=-xnack "
                                                 "-start-before=post-RA-hazard-rec -filetype=asm -o - {} 2>/dev/null",
                                                 isa::processor_name(processor), path.string()));
  std::filesystem::remove(path);
  std::vector<std::string> bodies;
  std::istringstream lines(text);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    line = trimmed(line);
    if (line.starts_with("f") && line.ends_with(":")) {
      bodies.emplace_back();
      inside = true;
    } else if (inside && !line.empty() && line[0] != '.' && !line.ends_with(':')) {
      bodies.back() += line + "\n";
      inside = line != "s_endpgm";
    }
  }
  return bodies;
}

bool meet(const std::vector<isa::RegisterRange>& a, const std::vector<isa::RegisterRange>& b) {
  return std::ranges::any_of(a, [&](const isa::RegisterRange& x) {
    return std::ranges::any_of(b, [&](const isa::RegisterRange& y) { return x.overlaps(y); });
  });
}

using isa::Instruction;

/// Whether an instruction of [first, last) satisfies `wanted`.
bool any_between(const recover::Program& program, size_t first, size_t last, auto wanted) {
  for (size_t i = first; i < last; ++i)
    if (wanted(i, program.items[i].instruction)) return true;
  return false;
}

bool is_matrix(size_t, const Instruction& i) { return i.traits.mfma; }

/// An instruction that keeps a part of a register in which a matrix result is on its way: a read that LLVM does not
/// see.
bool keeps_a_part_of_a_result(const recover::Program& program, size_t item) {
  const Instruction& here = program.items[item].instruction;
  return here.suffix == isa::Suffix::sdwa && any_between(program, 0, item, [&](size_t, const Instruction& i) {
           return i.traits.mfma && meet(i.defs, here.defs);
         });
}

/// Where docs/checks.md says that LLVM pads more: DPP behind a load; packed instructions, whose op_sel_hi LLVM takes
/// for a destination select; accumulator moves on gfx908, which LLVM lets wait for the longest matrix instruction it
/// passes on the way to the one that matters; and what stands behind a read that LLVM does not see.
bool llvm_pads_more(const recover::Program& program, size_t item) {
  const Instruction& here = program.items[item].instruction;
  if (here.suffix == isa::Suffix::dpp)
    for (size_t i = item, back = 0; i-- > 0 && back < 3; ++back)
      if (!program.items[i].instruction.traits.valu && meet(program.items[i].instruction.defs, here.uses)) return true;
  const bool passes_another = any_between(program, 0, item, [&](size_t i, const Instruction& first) {
    return first.traits.mfma && any_between(program, i + 1, item, is_matrix);
  });
  if (program.target.processor == Processor::gfx908 && name_of(here).starts_with("v_accvgpr_") && passes_another)
    return true;
  if (any_between(program, 0, item, [&](size_t i, const Instruction&) { return keeps_a_part_of_a_result(program, i); }))
    return true;
  if (item == 0) return false;
  const Instruction& before = program.items[item - 1].instruction;
  return before.encoding == isa::Encoding::vop3p && (before.words[1] >> 27 & 1) != 0 &&
         (meet(before.defs, here.uses) || meet(before.defs, here.defs));
}

/// Where it says that LLVM pads less: of two matrix instructions that read a register as SrcC, or that write parts of a
/// tuple, it sees the later one only; and it does not see that SDWA reads the part of a register that it keeps.
bool llvm_pads_less(const recover::Program& program, const Finding& finding) {
  const Instruction& here = program.items[finding.item].instruction;
  if (finding.rule == "H021" && keeps_a_part_of_a_result(program, finding.item)) return true;
  const bool result = finding.rule >= "H019" && finding.rule <= "H022";
  if (finding.rule != "H023" && !result) return false;
  return any_between(program, finding.cause + 1, finding.item, [&](size_t, const Instruction& i) {
    return i.traits.mfma && (!result || meet(i.defs, here.uses) || meet(i.defs, here.defs));
  });
}

unsigned compare(const std::string& body, Processor processor) {
  auto program = assemble(body, processor);
  program.target.xnack = isa::Feature::off;
  if (program.functions.empty()) return 0; // does not assemble: a failure already
  const auto& function = program.functions[0];
  for (const Finding& finding : verify_hazards(program, function, control_flow(program, function)))
    if (!llvm_pads_less(program, finding))
      ADD_FAILURE() << isa::processor_name(processor) << " LLVM pads less: " << finding.rule << " " << finding.message
                    << "\n"
                    << body;
  unsigned pads = 0;
  for (size_t first = 0; first < program.items.size(); ++first) {
    const auto is_nop = [&](size_t i) { return program.items[i].text.starts_with("s_nop"); };
    if (!is_nop(first) || (first > 0 && is_nop(first - 1))) continue;
    auto without = program;
    unsigned states = 0;
    size_t last = first;
    for (; is_nop(last); ++last) states += wait_states(program.items[last].instruction);
    without.items.erase(without.items.begin() + static_cast<std::ptrdiff_t>(first),
                        without.items.begin() + static_cast<std::ptrdiff_t>(last));
    without.functions[0].last = without.items.size();
    const Graph graph = control_flow(without, without.functions[0]);
    const auto needed = needed_nops(without, without.functions[0], graph, 0, without.items.size());
    ++pads;
    if (needed[first] < states && !llvm_pads_more(without, first))
      ADD_FAILURE() << isa::processor_name(processor) << " LLVM pads " << states << ", here " << int{needed[first]}
                    << " before " << without.items[first].text << "\n"
                    << body;
  }
  return pads;
}

class Recogniser : public testing::TestWithParam<Processor> {};

TEST_P(Recogniser, pads_nothing_that_is_missed_here_and_leaves_nothing_that_is_found_here) {
  if (output_of("llc-22 --version 2>/dev/null").empty()) GTEST_SKIP() << "no llc-22: install llvm-22";
  Generator generator(GetParam(), 2024);
  std::string machine_code;
  const char* wanted = std::getenv("ASMEVO_SEQUENCES");
  const size_t functions = wanted ? std::stoul(wanted) : 300;
  for (size_t f = 0; f < functions; ++f) machine_code += generator.function(fmt::format("f{}", f), 8);
  const auto bodies = padded(machine_code, GetParam());
  ASSERT_EQ(bodies.size(), functions);
  unsigned pads = 0;
  for (const std::string& body : bodies) pads += compare(body, GetParam());
  EXPECT_GT(pads, 120u);
}

INSTANTIATE_TEST_SUITE_P(Targets, Recogniser,
                         testing::Values(Processor::gfx908, Processor::gfx90a, Processor::gfx942, Processor::gfx950),
                         [](const auto& info) { return std::string(isa::processor_name(info.param)); });

} // namespace
} // namespace asmevo::analysis
