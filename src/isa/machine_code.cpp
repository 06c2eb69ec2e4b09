// LLVM registers its targets in global tables; that happens once, before the first Codec.
#include "isa/machine_code.h"

#include <llvm/Support/TargetSelect.h>
#include <mutex>

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmParser();
void LLVMInitializeAMDGPUDisassembler();
}

namespace asmevo::isa {
namespace {

void register_target_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmParser();
    LLVMInitializeAMDGPUDisassembler();
  });
}

/// "any" and "unsupported" leave LLVM's default for the processor, as its own driver does.
std::string feature_string(const Target& target) {
  std::string features;
  auto add = [&](Feature state, std::string_view name) {
    if (state != Feature::on && state != Feature::off) return;
    if (!features.empty()) features += ',';
    features += fmt::format("{}{}", state == Feature::on ? '+' : '-', name);
  };
  add(target.sramecc, "sramecc");
  add(target.xnack, "xnack");
  return features;
}

} // namespace

Result<std::unique_ptr<MachineCode>> MachineCode::create(const Target& target) {
  register_target_once();
  auto code = std::make_unique<MachineCode>();
  code->triple = llvm::Triple("amdgcn-amd-amdhsa");
  std::string error;
  code->llvm = llvm::TargetRegistry::lookupTarget(code->triple, error);
  if (!code->llvm) return fail("LLVM has no AMDGPU target: {}", error);
  code->registers.reset(code->llvm->createMCRegInfo(code->triple));
  code->syntax.reset(code->llvm->createMCAsmInfo(*code->registers, code->triple, code->options));
  code->instructions.reset(code->llvm->createMCInstrInfo());
  code->subtarget.reset(
      code->llvm->createMCSubtargetInfo(code->triple, assembler_processor(target), feature_string(target)));
  if (!code->registers || !code->syntax || !code->instructions || !code->subtarget)
    return fail("{}: LLVM cannot make its tables", target_id(target));
  return code;
}

} // namespace asmevo::isa
