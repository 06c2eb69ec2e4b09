// Decoding and printing.
//
// LLVM's generated decoder gives an opcode and operands; everything about the opcode (mnemonic, traits, implicit
// registers) is worked out the first time it is met and kept in a table, so that a kernel of 5,000 instructions asks a
// few hundred times, and decoded instructions are remembered by their words. What depends on the word (partial writes,
// the branch's distance) is read from the word.
#include "isa/codec.h"

#include "isa/assembler.h"
#include "isa/containment.h"
#include "isa/encoding.h"
#include "isa/machine_code.h"
#include "isa/registers.h"
#include "isa/reserved.h"
#include "isa/traits.h"

#include <cstring>
#include <llvm/MC/MCInst.h>
#include <llvm/Support/raw_ostream.h>
#include <unordered_map>

namespace asmevo::isa {
namespace {

/// What all instructions of one LLVM opcode have in common.
struct OpcodeFacts {
  uint16_t mnemonic = 0;
  Traits traits;
  bool accumulates = false;       // adds to its destination, whatever its modifiers
  bool keeps_destination = false; // writes a part of it, or only sometimes
  std::vector<RegisterRange> implicit_defs, implicit_uses;
};

/// "v_add_f32_e32 v0, v1, v2" -> "v_add_f32"
std::string_view mnemonic_of(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin);
  text = text.substr(0, text.find_first_of(" \t\n"));
  for (std::string_view suffix : {"_e64_dpp", "_e32", "_e64", "_sdwa", "_dpp"})
    if (text.ends_with(suffix)) return text.substr(0, text.size() - suffix.size());
  return text;
}

constexpr uint8_t longest_instruction = 16;
using Window = std::array<uint8_t, longest_instruction>;

/// The bytes of an instruction, with zeros where the section ends.
Window padded(std::span<const uint8_t> code) {
  Window window{};
  std::memcpy(window.data(), code.data(), std::min<size_t>(code.size(), longest_instruction));
  return window;
}

/// Decodes that are remembered: a kernel repeats most of its instructions, and LLVM tries table after table for each.
class Memory {
public:
  struct Key {
    uint64_t low, high; // the words
    bool operator==(const Key&) const = default;
  };

  const Instruction* find(const Key& key) const {
    auto known = instructions_.find(key);
    return known == instructions_.end() ? nullptr : &known->second;
  }
  const Instruction& keep(const Key& key, Instruction instruction) {
    if (instructions_.size() >= most) instructions_.clear();
    return instructions_.insert_or_assign(key, std::move(instruction)).first->second;
  }

private:
  static constexpr size_t most = 1 << 15; // some 200 bytes each

  struct Hash {
    size_t operator()(const Key& key) const {
      uint64_t hash = key.low * 0x9e3779b97f4a7c15ull;
      hash = (hash ^ hash >> 32 ^ key.high) * 0x9e3779b97f4a7c15ull;
      return hash ^ hash >> 32;
    }
  };
  std::unordered_map<Key, Instruction, Hash> instructions_;
};

bool reports(const std::vector<RegisterRange>& list, const RegisterRange& range) {
  return std::ranges::find(list, range) != list.end();
}

bool is_direct_branch(const Instruction& instruction) {
  return instruction.traits.branch && !instruction.traits.indirect;
}

} // namespace

struct Codec::Impl {
  Target target;
  std::unique_ptr<MachineCode> code;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
  const RegisterTable* registers = nullptr;
  std::vector<std::unique_ptr<const OpcodeFacts>> opcodes; // by LLVM opcode, filled when met
  Memory memory;

  Instruction decode(const Window& window);
  bool decode_operands(const Window& window, llvm::MCInst& inst, uint64_t& size) const;
  bool operands_fit(const llvm::MCInst& inst) const;

  std::string print(const llvm::MCInst& inst) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    printer->printInst(&inst, 0, "", *code->subtarget, stream);
    return text;
  }

  const OpcodeFacts& facts_of(const llvm::MCInst& inst, Encoding encoding);
  RegisterRange range_of(unsigned reg) const {
    return reg < registers->ranges.size() ? registers->ranges[reg] : RegisterRange{File::sgpr, 0, 0};
  }
  void list_registers(const llvm::MCInst& inst, const OpcodeFacts& known, Instruction& out) const;
};

namespace {

bool takes_literal(uint32_t source) { return source == fields::source_literal; }

/// v_madmk, v_madak, v_fmamk and v_fmaak.
bool has_constant(uint32_t vop2_opcode) {
  return vop2_opcode == 0x17 || vop2_opcode == 0x18 || vop2_opcode == 0x24 || vop2_opcode == 0x25;
}

/// Bytes from the first word on that the decoder must see. Where it sees more it tries longer instructions first, and
/// what it is not shown cannot change its answer.
size_t reach_of(uint32_t word) {
  const uint32_t low = fields::bits(word, 0, 8), high = fields::bits(word, 8, 8), source = fields::bits(word, 0, 9);
  const bool wide = takes_literal(source) || source == fields::source_sdwa || source == fields::source_dpp;
  switch (encoding_of(word)) {
  case Encoding::sopp:
  case Encoding::vintrp:
    return 4;
  case Encoding::sopk:
    return fields::bits(word, 23, 5) == 20 ? 8 : 4; // s_setreg_imm32_b32
  case Encoding::sop1:
    return takes_literal(low) ? 8 : 4;
  case Encoding::sop2:
  case Encoding::sopc:
    return takes_literal(low) || takes_literal(high) ? 8 : 4;
  case Encoding::vop1:
  case Encoding::vopc:
    return wide ? 8 : 4;
  case Encoding::vop2:
    return wide || has_constant(fields::bits(word, 25, 6)) ? 8 : 4;
  case Encoding::vop3p:
    return fields::bits(word, 16, 7) == encoding_detail::mfma_ld_scale ? longest_instruction : 8;
  default:
    return 8;
  }
}

/// v_madmk_f16 and v_madak_f16, whose literal LLVM's decoder takes for an operand code and dies when it is 255.
bool has_mistakable_literal(const fields::Words& words) {
  return encoding_of(words[0]) == Encoding::vop2 && (fields::vop2(words).op & ~1) == 0x24 &&
         fields::literal(words) == fields::source_literal;
}

constexpr uint32_t stand_in_literal = 254;

void restore_literal(llvm::MCInst& inst) {
  for (unsigned n = 0; n < inst.getNumOperands(); ++n)
    if (inst.getOperand(n).isImm() && inst.getOperand(n).getImm() == stand_in_literal)
      inst.getOperand(n).setImm(fields::source_literal);
}

} // namespace

bool Codec::Impl::decode_operands(const Window& window, llvm::MCInst& inst, uint64_t& size) const {
  Window bytes = window;
  fields::Words words;
  std::memcpy(words.data(), bytes.data(), sizeof words);
  const bool mistakable = has_mistakable_literal(words);
  if (mistakable) bytes[4] = stand_in_literal;
  bool ok = false;
  auto fatal = contained([&] {
    ok = disassembler->getInstruction(inst, size, llvm::ArrayRef(bytes.data(), reach_of(words[0])), 0, llvm::nulls()) ==
         llvm::MCDisassembler::Success;
  });
  if (mistakable) restore_literal(inst);
  return ok && !fatal && operands_fit(inst);
}

/// LLVM decodes a register of the wrong file or alignment, or a constant in its place, and leaves a remark in the text.
/// The chip has no such instruction.
bool Codec::Impl::operands_fit(const llvm::MCInst& inst) const {
  const llvm::MCInstrDesc& desc = code->instructions->get(inst.getOpcode());
  // LLVM describes the count of a global barrier as a register pair and decodes its first half.
  if (code->instructions->getName(inst.getOpcode()).starts_with("DS_GWS_"))
    return !target.unified_registers() || !inst.getOperand(0).isReg() ||
           range_of(inst.getOperand(0).getReg()).first % 2 == 0;
  const unsigned mode = code->subtarget->getHwMode(llvm::MCSubtargetInfo::HwMode_RegInfo);
  const unsigned count = std::min<unsigned>(inst.getNumOperands(), desc.getNumOperands());
  for (unsigned n = 0; n < count; ++n) {
    if (inst.getOperand(n).isImm() && desc.operands()[n].OperandType == llvm::MCOI::OPERAND_REGISTER) return false;
    if (!inst.getOperand(n).isReg()) continue;
    const int16_t wanted = code->instructions->getOpRegClassID(desc.operands()[n], mode);
    const uint16_t listed = registers->listed[inst.getOperand(n).getReg()];
    if (wanted >= 0 && listed && !code->registers->getRegClass(wanted).contains(listed)) return false;
  }
  return true;
}

const OpcodeFacts& Codec::Impl::facts_of(const llvm::MCInst& inst, Encoding encoding) {
  auto& slot = opcodes[inst.getOpcode()];
  if (slot) return *slot;
  OpcodeFacts facts;
  const llvm::MCInstrDesc& desc = code->instructions->get(inst.getOpcode());
  const std::string text = print(inst);
  const std::string_view name = mnemonic_of(text);
  facts.mnemonic = mnemonic_id(name);
  facts.traits = traits_of(encoding, name, desc.mayLoad(), desc.mayStore());
  facts.accumulates = accumulates(name);
  facts.keeps_destination = facts.accumulates || keeps_other_half(name) || keeps_scalar_destination(name);
  for (llvm::MCPhysReg reg : desc.implicit_defs())
    if (auto range = range_of(reg); range.count) facts.implicit_defs.push_back(range);
  for (llvm::MCPhysReg reg : desc.implicit_uses()) {
    const auto range = range_of(reg);
    const bool is_m0 = range == RegisterRange{File::sgpr, m0, 1};
    if (range.count && (!is_m0 || memory_reads_m0(encoding, name))) facts.implicit_uses.push_back(range);
  }
  slot = std::make_unique<const OpcodeFacts>(std::move(facts));
  return *slot;
}

namespace {

constexpr uint32_t sdwa_source = 249, dpp_source = 250;

/// SDWA writes part of a register and keeps the rest: dst_sel other than DWORD with dst_unused PRESERVE.
bool sdwa_preserves(const Instruction& i) {
  return i.suffix == Suffix::sdwa && i.encoding != Encoding::vopc && (i.words[1] >> 8 & 7) != 6 &&
         (i.words[1] >> 11 & 3) == 2;
}

/// DPP lanes whose source or row is masked off keep the old value, unless bound_ctrl makes them zero.
bool dpp_preserves(const Instruction& i) {
  return i.suffix == Suffix::dpp && ((i.words[1] >> 19 & 1) == 0 || i.words[1] >> 24 != 0xff);
}

Suffix suffix_of(const Instruction& i) {
  if (i.size != 8 || (i.encoding != Encoding::vop1 && i.encoding != Encoding::vop2 && i.encoding != Encoding::vopc))
    return Suffix::none;
  const uint32_t source = i.words[0] & 0x1ff;
  if (source == sdwa_source) return Suffix::sdwa;
  return source == dpp_source ? Suffix::dpp : Suffix::none;
}

/// What the second word of a memory instruction adds to the opcode's traits.
void refine_traits(Instruction& i) {
  if (i.encoding == Encoding::mubuf && (i.words[0] >> 16 & 1)) i.traits.lds = true;
  if (i.traits.atomic) i.traits.returns = i.explicit_defs > 0;
}

} // namespace

void Codec::Impl::list_registers(const llvm::MCInst& inst, const OpcodeFacts& known, Instruction& out) const {
  const llvm::MCInstrDesc& desc = code->instructions->get(inst.getOpcode());
  const unsigned defs = std::min(desc.getNumDefs(), inst.getNumOperands());
  for (unsigned n = 0; n < inst.getNumOperands(); ++n) {
    const llvm::MCOperand& operand = inst.getOperand(n);
    if (!operand.isReg()) continue;
    const RegisterRange range = range_of(operand.getReg());
    if (!range.count) continue;
    if (n < defs) {
      out.defs.push_back(range);
      continue;
    }
    // Operands beyond the description are copies of the destination that the decoder appends.
    const bool tied = n >= desc.getNumOperands() || desc.getOperandConstraint(n, llvm::MCOI::TIED_TO) != -1;
    // The old value of a DPP destination is tied although full masks and bound_ctrl leave nothing of it.
    if (tied && out.suffix == Suffix::dpp && !known.accumulates && !dpp_preserves(out)) continue;
    if (!tied || !reports(out.uses, range)) out.uses.push_back(range);
  }
  const bool partial = sdwa_preserves(out) || dpp_preserves(out) || known.keeps_destination;
  if (partial && !out.defs.empty() && !reports(out.uses, out.defs.front())) out.uses.push_back(out.defs.front());
  // LLVM lists the destination of s_movreld among the sources.
  if (known.traits.relative && out.defs.empty() && !out.uses.empty()) out.defs.push_back(out.uses.front());
  out.explicit_defs = static_cast<uint8_t>(out.defs.size());
  out.explicit_uses = static_cast<uint8_t>(out.uses.size());
  out.defs.insert(out.defs.end(), known.implicit_defs.begin(), known.implicit_defs.end());
  out.uses.insert(out.uses.end(), known.implicit_uses.begin(), known.implicit_uses.end());
}

Codec::Codec(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Codec::Codec(Codec&&) noexcept = default;
Codec& Codec::operator=(Codec&&) noexcept = default;
Codec::~Codec() = default;

const Target& Codec::target() const { return impl_->target; }

Result<Codec> Codec::create(const Target& target) {
  auto impl = std::make_unique<Impl>();
  impl->target = target;
  AE_TRY(impl->code, MachineCode::create(target));
  MachineCode& code = *impl->code;
  impl->context =
      std::make_unique<llvm::MCContext>(code.triple, code.syntax.get(), code.registers.get(), code.subtarget.get());
  impl->disassembler.reset(code.llvm->createMCDisassembler(*code.subtarget, *impl->context));
  impl->printer.reset(
      code.llvm->createMCInstPrinter(code.triple, 0, *code.syntax, *code.instructions, *code.registers));
  if (!impl->disassembler || !impl->printer) return fail("{}: LLVM has no disassembler", target_id(target));
  impl->registers = &register_table(*code.registers);
  impl->opcodes.resize(code.instructions->getNumOpcodes());
  return Codec(std::move(impl));
}

Instruction Codec::Impl::decode(const Window& window) {
  Instruction out;
  std::memcpy(out.words.data(), window.data(), sizeof out.words);
  const Encoding encoding = encoding_of(out.words[0]);
  uint64_t size = 0;
  llvm::MCInst inst;
  const bool known =
      encoding != Encoding::unknown && !has_reserved_fields(out.words, encoding) && decode_operands(window, inst, size);
  if (!known) {
    out.size = 4;
    out.words = {out.words[0]};
    return out;
  }
  out.size = static_cast<uint8_t>(size);
  for (size_t word = size / 4; word < out.words.size(); ++word) out.words[word] = 0;
  const OpcodeFacts& facts = facts_of(inst, encoding);
  out.encoding = size == 16 ? Encoding::vop3px2 : encoding;
  out.suffix = suffix_of(out);
  out.has_literal = out.suffix == Suffix::none && size > base_size(out.encoding);
  out.llvm_opcode = inst.getOpcode();
  out.mnemonic = facts.mnemonic;
  out.traits = facts.traits;
  list_registers(inst, facts, out);
  refine_traits(out);
  return out;
}

Instruction Codec::decode(std::span<const uint8_t> bytes, uint64_t address) const {
  Instruction nothing;
  nothing.address = address;
  if (bytes.size() < 4) return nothing;
  Window window = padded(bytes);
  uint32_t first = 0;
  std::memcpy(&first, window.data(), sizeof first);
  const size_t reach = reach_of(first);
  std::memset(window.data() + reach, 0, window.size() - reach);
  Memory::Key key{};
  std::memcpy(&key, window.data(), sizeof key);
  const Instruction* known = impl_->memory.find(key);
  if (!known) known = &impl_->memory.keep(key, impl_->decode(window));
  if (known->size > bytes.size()) return nothing;
  Instruction out = *known;
  out.address = address;
  if (is_direct_branch(out))
    out.branch_target = static_cast<int64_t>(address + 4 + int64_t{static_cast<int16_t>(out.words[0] & 0xffff)} * 4);
  return out;
}

std::string Codec::print(const Instruction& instruction, std::string_view label) const {
  if (instruction.encoding == Encoding::unknown) return fmt::format(".long 0x{:x}", instruction.words[0]);
  Window window{};
  std::memcpy(window.data(), instruction.words.data(), sizeof instruction.words);
  llvm::MCInst inst;
  uint64_t size = 0;
  if (!impl_->decode_operands(window, inst, size)) return fmt::format(".long 0x{:x}", instruction.words[0]);
  std::string text = impl_->print(inst);
  text.erase(0, text.find_first_not_of(" \t"));
  std::ranges::replace(text, '\t', ' ');
  if (label.empty() || !is_direct_branch(instruction)) return text;
  text.erase(text.find_last_of(" ") + 1);
  return text.append(label);
}

std::expected<Bytes, AssemblyError> Codec::assemble(std::string_view text) const {
  return assemble_region(*impl_->code, text);
}

std::expected<Bytes, AssemblyError> Codec::assemble_object(std::string_view text) const {
  auto listing = assemble_listing(text);
  if (!listing) return std::unexpected(std::move(listing).error());
  return std::move(listing->object);
}

std::expected<AssembledListing, AssemblyError> Codec::assemble_listing(std::string_view text) const {
  return isa::assemble_listing(*impl_->code, text);
}

} // namespace asmevo::isa
