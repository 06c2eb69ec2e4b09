// Objects that no linker has seen run as linked ones do.
#include "kernel_fixture.h"
#include "wave_fixture.h"

#include <fstream>
#include <unistd.h>

using namespace asmevo;
using namespace asmevo::machine;

namespace {

// out[0] = 3 * table[1] + *pointer, the multiplication in another section; `pointer` leads to table[2].
constexpr const char* kernel = R"(
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.amdhsa_code_object_version 5
	.text
	.globl k
	.p2align 8
	.type k,@function
k:
	s_load_dwordx2 s[0:1], s[0:1], 0x0
	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, table@rel32@lo+4
	s_addc_u32 s5, s5, table@rel32@hi+12
	s_load_dword s6, s[4:5], 0x4
	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, pointer@rel32@lo+4
	s_addc_u32 s5, s5, pointer@rel32@hi+12
	s_load_dwordx2 s[4:5], s[4:5], 0x0
	s_waitcnt lgkmcnt(0)
	s_load_dword s7, s[4:5], 0x0
	s_getpc_b64 s[8:9]
	s_add_u32 s8, s8, triple@rel32@lo+4
	s_addc_u32 s9, s9, triple@rel32@hi+12
	s_swappc_b64 s[30:31], s[8:9]
	s_waitcnt lgkmcnt(0)
	s_add_u32 s6, s6, s7
	v_mov_b32_e32 v0, 0
	v_mov_b32_e32 v1, s6
	global_store_dword v0, v1, s[0:1]
	s_endpgm
	.section .text.triple,"ax",@progbits
	.p2align 2
	.type triple,@function
triple:
	s_mul_i32 s6, s6, 3
	s_setpc_b64 s[30:31]
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel k
	.amdhsa_next_free_vgpr 8
	.amdhsa_next_free_sgpr 32
	.amdhsa_accum_offset 8
	.amdhsa_user_sgpr_kernarg_segment_ptr 1
	.amdhsa_kernarg_size 8
	.end_amdhsa_kernel
	.p2align 2
table:
	.long 10, 11, 12, 13
	.data
	.p2align 3
pointer:
	.quad table+8
)";

} // namespace

TEST(Relocatable, ReferencesBetweenSectionsLeadWhereALinkerWouldPutThem) {
  auto bytes = codec_for(isa::Processor::gfx942).assemble_object(kernel);
  ASSERT_TRUE(bytes) << bytes.error().message;
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("asmevo-relocatable-{}.o", getpid())).string();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes->data()), std::ptrdiff_t(bytes->size()));
  KernelRun run(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(run.ready());
  const uint64_t out = run.buffer("out", std::vector<uint32_t>(1));
  run.dispatch.workgroup_size = {1, 1, 1};
  run.run(Arguments().add(out));
  EXPECT_EQ(run.read<uint32_t>(out)[0], 3u * 11 + 12);
}
