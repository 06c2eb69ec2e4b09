// One assembly is one throw-away set of LLVM objects around the tables of the target. The source manager sees an empty
// file system, diagnostics go into a value, and sizes are checked after parsing and before anything is laid out,
// because a fill or an alignment of gigabytes is one short line.
#include "isa/assembler.h"

#include "isa/containment.h"
#include "isa/statements.h"

#include <llvm/MC/MCAsmBackend.h>
#include <llvm/MC/MCAssembler.h>
#include <llvm/MC/MCCodeEmitter.h>
#include <llvm/MC/MCELFStreamer.h>
#include <llvm/MC/MCExpr.h>
#include <llvm/MC/MCObjectFileInfo.h>
#include <llvm/MC/MCObjectWriter.h>
#include <llvm/MC/MCParser/AsmLexer.h>
#include <llvm/MC/MCParser/MCAsmParser.h>
#include <llvm/MC/MCParser/MCTargetAsmParser.h>
#include <llvm/MC/MCSection.h>
#include <llvm/MC/MCStreamer.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/VirtualFileSystem.h>

namespace asmevo::isa {
namespace {

constexpr uint64_t largest_result = uint64_t{64} << 20;

/// Keeps the first error; warnings and notes are dropped.
struct Diagnostics {
  std::optional<AssemblyError> first;

  void add(const llvm::SMDiagnostic& diagnostic) {
    if (diagnostic.getKind() != llvm::SourceMgr::DK_Error || first) return;
    first = AssemblyError{std::max(diagnostic.getLineNo(), 1), std::max(diagnostic.getColumnNo() + 1, 1),
                          diagnostic.getMessage().str()};
  }
};

void collect(const llvm::SMDiagnostic& diagnostic, void* into) { static_cast<Diagnostics*>(into)->add(diagnostic); }

/// Bytes that `fragment` will take, as far as they can be told before layout; more than any limit where they cannot.
uint64_t size_of(const llvm::MCFragment& fragment, const llvm::MCAssembler& assembler) {
  uint64_t size = fragment.getFixedSize();
  if (fragment.getKind() == llvm::MCFragment::FT_Align) return size + fragment.getAlignment().value();
  if (fragment.getKind() != llvm::MCFragment::FT_Fill) return size + fragment.getVarSize();
  const auto& fill = static_cast<const llvm::MCFillFragment&>(fragment);
  int64_t count = 0;
  if (!fill.getNumValues().evaluateAsAbsolute(count, assembler) || count < 0 ||
      static_cast<uint64_t>(count) > largest_result)
    return largest_result + 1;
  return size + static_cast<uint64_t>(count) * fill.getValueSize();
}

/// LLVM pads code with no-operations of four bytes and tries for ever where the gap is no multiple of that.
bool pads_for_ever(const llvm::MCSection& section, const llvm::MCAssembler& assembler) {
  uint64_t odd = 0; // bytes beyond the last whole word
  for (const llvm::MCFragment& fragment : section) {
    odd += fragment.getFixedSize();
    const bool aligns = fragment.getKind() == llvm::MCFragment::FT_Align;
    if (aligns && fragment.hasAlignEmitNops() && odd % 4 != 0) return true;
    odd = aligns ? (fragment.getAlignment().value() < 4 ? odd : 0)
                 : odd + size_of(fragment, assembler) - fragment.getFixedSize();
  }
  return false;
}

std::optional<AssemblyError> cannot_be_laid_out(llvm::MCAssembler& assembler) {
  uint64_t total = 0;
  for (llvm::MCSection& section : assembler) {
    if (section.getAlign().value() > largest_result) return AssemblyError{1, 1, "an alignment is beyond 64 MiB"};
    if (section.isBssSection()) continue;
    if (pads_for_ever(section, assembler))
      return AssemblyError{1, 1,
                           fmt::format("section {} is aligned behind a part of a word: fill it to 4 bytes before",
                                       std::string(section.getName()))};
    for (const llvm::MCFragment& fragment : section) total += size_of(fragment, assembler);
    if (total > largest_result)
      return AssemblyError{1, 1, fmt::format("section {} grows beyond 64 MiB", std::string(section.getName()))};
  }
  return std::nullopt;
}

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$' || c == '@';
}

AssemblyError at_offset(std::string_view text, size_t offset, std::string message) {
  const std::string_view before = text.substr(0, offset);
  return {1 + static_cast<int>(std::ranges::count(before, '\n')),
          static_cast<int>(offset - (before.rfind('\n') + 1)) + 1, std::move(message)};
}

/// Where `name` stands as a whole word.
AssemblyError undefined_label(std::string_view text, std::string_view name) {
  std::string message = fmt::format("label {} is not defined", name);
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at > 0 && is_name(text[at - 1])) || (end < text.size() && is_name(text[end]))) continue;
    return at_offset(text, at, std::move(message));
  }
  return {1, 1, std::move(message)};
}

/// The error that a relocation left in .text stands for.
AssemblyError unresolved(const llvm::object::ELF64LEFile& file, const llvm::object::ELF64LEFile::Elf_Shdr& relocations,
                         std::string_view text) {
  AssemblyError error{1, 1, "an operand depends on the address that the code is loaded at; use a difference of labels"};
  auto symbols = file.getSection(relocations.sh_link);
  auto entries = file.relas(relocations);
  if (!symbols || !entries || entries->empty()) {
    llvm::consumeError(symbols.takeError());
    llvm::consumeError(entries.takeError());
    return error;
  }
  auto symbol = file.getRelocationSymbol(entries->front(), *symbols);
  auto names = file.getStringTableForSymtab(**symbols);
  if (symbol && names && *symbol && (*symbol)->isUndefined()) {
    if (auto name = (*symbol)->getName(*names))
      return undefined_label(text, std::string_view(*name));
    else
      llvm::consumeError(name.takeError());
  }
  llvm::consumeError(symbol.takeError());
  llvm::consumeError(names.takeError());
  return error;
}

std::expected<Bytes, AssemblyError> text_section(std::span<const uint8_t> object, std::string_view text) {
  auto none = [](std::string message) { return std::unexpected(AssemblyError{1, 1, std::move(message)}); };
  const llvm::StringRef bytes(reinterpret_cast<const char*>(object.data()), object.size());
  auto file = llvm::object::ELF64LEFile::create(bytes);
  if (!file) return none(llvm::toString(file.takeError()));
  auto sections = file->sections();
  if (!sections) return none(llvm::toString(sections.takeError()));
  Bytes result;
  for (const auto& section : *sections) {
    if (section.sh_type == llvm::ELF::SHT_REL || section.sh_type == llvm::ELF::SHT_RELA)
      return std::unexpected(unresolved(*file, section, text));
    if (section.sh_type != llvm::ELF::SHT_PROGBITS || !(section.sh_flags & llvm::ELF::SHF_EXECINSTR)) continue;
    auto contents = file->getSectionContents(section);
    if (!contents) return none(llvm::toString(contents.takeError()));
    result.assign(contents->begin(), contents->end());
  }
  return result;
}

/// Where `directive` last begins a line at or before `offset`.
size_t last_line_of(std::string_view text, std::string_view directive, size_t offset) {
  for (size_t at = text.rfind(directive, offset); at != std::string_view::npos && at > 0;
       at = text.rfind(directive, at - 1)) {
    const size_t before = text.find_last_not_of(" \t", at - 1);
    if (before == std::string_view::npos || text[before] == '\n') return at;
  }
  return std::string_view::npos;
}

/// The metadata of a listing is YAML, which LLVM lexes as well but uses as it stands.
bool in_metadata(std::string_view text, size_t offset) {
  const size_t begin = last_line_of(text, ".amdgpu_metadata", offset);
  if (begin == std::string_view::npos) return false;
  const size_t end = last_line_of(text, ".end_amdgpu_metadata", offset);
  return end == std::string_view::npos || end < begin;
}

/// Whether the text consists of tokens. The parser of AMDGPU instructions may never return from one that is none.
std::optional<AssemblyError> first_invalid_token(const llvm::MCAsmInfo& syntax, std::string_view text, Scope scope) {
  llvm::AsmLexer lexer(syntax);
  lexer.setBuffer(llvm::StringRef(text.data(), text.size()));
  while (lexer.Lex().isNot(llvm::AsmToken::Eof)) {
    if (lexer.isNot(llvm::AsmToken::Error)) continue;
    const auto offset = static_cast<size_t>(lexer.getErrLoc().getPointer() - text.data());
    if (scope == Scope::region || !in_metadata(text, offset)) return at_offset(text, offset, lexer.getErr());
  }
  return std::nullopt;
}

/// Passes instructions on to the target's emitter and notes where they come from.
class NotingEmitter : public llvm::MCCodeEmitter {
public:
  NotingEmitter(std::unique_ptr<llvm::MCCodeEmitter> emitter, std::vector<const char*>& places)
      : emitter_(std::move(emitter)), places_(places) {}
  void watch(const llvm::MCStreamer& streamer) { streamer_ = &streamer; }
  /// The first instruction that would begin in the middle of a word, if any.
  const char* misaligned() const { return misaligned_; }

  void reset() override { emitter_->reset(); }
  void encodeInstruction(const llvm::MCInst& instruction, llvm::SmallVectorImpl<char>& bytes,
                         llvm::SmallVectorImpl<llvm::MCFixup>& fixups,
                         const llvm::MCSubtargetInfo& subtarget) const override {
    places_.push_back(instruction.getLoc().getPointer());
    const llvm::MCFragment* fragment = streamer_ ? streamer_->getCurrentFragment() : nullptr;
    if (fragment && fragment->getFixedSize() % 4 != 0 && !misaligned_) misaligned_ = places_.back();
    emitter_->encodeInstruction(instruction, bytes, fixups, subtarget);
  }

private:
  std::unique_ptr<llvm::MCCodeEmitter> emitter_;
  std::vector<const char*>& places_;
  const llvm::MCStreamer* streamer_ = nullptr;
  mutable const char* misaligned_ = nullptr;
};

/// The line of each place in `text`; places are in its order but for code of several sections.
std::vector<uint32_t> lines_of(std::string_view text, const std::vector<const char*>& places) {
  std::vector<uint32_t> lines;
  const char* at = text.data();
  uint32_t line = 1;
  for (const char* place : places) {
    if (place < at) at = text.data(), line = 1;
    if (place >= text.data() && place < text.data() + text.size()) {
      line += static_cast<uint32_t>(std::count(at, place, '\n'));
      at = place;
    }
    lines.push_back(line);
  }
  return lines;
}

/// One run of the assembler.
class Assembly {
public:
  Assembly(const MachineCode& code, std::string_view text) : code_(code), text_(text) {}

  std::expected<Bytes, AssemblyError> run(Scope scope) {
    auto clean = screened(text_, scope);
    if (!clean) return std::unexpected(std::move(clean).error());
    text_ = std::move(*clean);
    if (auto error = first_invalid_token(*code_.syntax, text_, scope)) return std::unexpected(*std::move(error));
    auto fatal = contained([&] { assemble(); });
    if (fatal) return std::unexpected(AssemblyError{1, 1, *fatal});
    if (diagnostics_.first) return std::unexpected(*diagnostics_.first);
    return Bytes(result_.begin(), result_.end());
  }

  /// Without its comments.
  std::string_view text() const { return text_; }
  std::vector<uint32_t> lines() const { return lines_of(text_, places_); }

private:
  void fail_with(std::optional<AssemblyError> error) {
    if (error && !diagnostics_.first) diagnostics_.first = std::move(error);
  }

  void assemble() {
    llvm::SourceMgr sources;
    sources.setVirtualFileSystem(llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>());
    sources.setDiagHandler(collect, &diagnostics_);
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text_, "assembly"), llvm::SMLoc());

    llvm::MCContext context(code_.triple, code_.syntax.get(), code_.registers.get(), code_.subtarget.get(), &sources,
                            &code_.options);
    context.setDiagnosticHandler([this](const llvm::SMDiagnostic& diagnostic, bool, const llvm::SourceMgr&,
                                        std::vector<const llvm::MDNode*>&) { diagnostics_.add(diagnostic); });
    std::unique_ptr<llvm::MCObjectFileInfo> sections(code_.llvm->createMCObjectFileInfo(context, true));
    context.setObjectFileInfo(sections.get());

    std::unique_ptr<llvm::MCAsmBackend> backend(
        code_.llvm->createMCAsmBackend(*code_.subtarget, *code_.registers, code_.options));
    auto emitter = std::make_unique<NotingEmitter>(
        std::unique_ptr<llvm::MCCodeEmitter>(code_.llvm->createMCCodeEmitter(*code_.instructions, context)), places_);
    NotingEmitter& noting = *emitter;
    llvm::raw_svector_ostream stream(result_);
    auto writer = backend->createObjectWriter(stream);
    std::unique_ptr<llvm::MCStreamer> streamer(code_.llvm->createMCObjectStreamer(
        code_.triple, context, std::move(backend), std::move(writer), std::move(emitter), *code_.subtarget));
    noting.watch(*streamer);
    std::unique_ptr<llvm::MCAsmParser> parser(llvm::createMCAsmParser(sources, context, *streamer, *code_.syntax));
    std::unique_ptr<llvm::MCTargetAsmParser> target(
        code_.llvm->createMCAsmParser(*code_.subtarget, *parser, *code_.instructions, code_.options));
    parser->setTargetParser(*target);

    const bool failed = parser->Run(false, true);
    if (failed && !diagnostics_.first) fail_with(AssemblyError{1, 1, "the text does not assemble"});
    if (const char* place = noting.misaligned(); place && place >= text_.data() && place < text_.data() + text_.size())
      fail_with(at_offset(text_, static_cast<size_t>(place - text_.data()),
                          "the instruction begins in the middle of a word: align what is before it to 4 bytes"));
    if (diagnostics_.first) return;
    fail_with(cannot_be_laid_out(static_cast<llvm::MCObjectStreamer&>(*streamer).getAssembler()));
    if (diagnostics_.first) return;
    streamer->finish(llvm::SMLoc());
  }

  const MachineCode& code_;
  std::string text_;
  Diagnostics diagnostics_;
  llvm::SmallVector<char, 0> result_;
  std::vector<const char*> places_; // of instructions, in text_
};

} // namespace

std::expected<Bytes, AssemblyError> assemble_region(const MachineCode& code, std::string_view text) {
  Assembly assembly(code, text);
  auto object = assembly.run(Scope::region);
  if (!object) return object;
  return text_section(*object, assembly.text());
}

std::expected<AssembledListing, AssemblyError> assemble_listing(const MachineCode& code, std::string_view text) {
  Assembly assembly(code, text);
  auto object = assembly.run(Scope::listing);
  if (!object) return std::unexpected(std::move(object).error());
  return AssembledListing{std::move(*object), assembly.lines()};
}

} // namespace asmevo::isa
