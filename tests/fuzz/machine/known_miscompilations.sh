# The compiler's mistakes that fuzz_machine, its generator and its runtime know of, shown on this machine's processor or in the assembly
# that comes out. Where one is gone, its exception must go too.
for tool in opt-22 lli-22 llc-22; do
  command -v $tool >/dev/null || { echo "SKIPPED: $tool is not installed"; exit 77; }
done
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: $*"; exit 1; }

# Seed 1180: the status is what main() returns.
lli-22 "$here/switch_in_a_loop.ll"
[ $? -eq 19 ] || fail "switch_in_a_loop.ll does not return 19"
opt-22 -S -mtriple=amdgcn-amd-amdhsa -passes=lower-switch,structurizecfg "$here/switch_in_a_loop.ll" |
  grep -v '^target' >"$work/after.ll"
lli-22 "$work/after.ll"
[ $? -eq 57 ] || fail "StructurizeCFG is right about switch_in_a_loop.ll: cases may fall through in generator.cpp"

# Seed 1756: the same pass loses a value instead of keeping an old one. A poison may be anything: here it is made 57.
lli-22 "$here/switch_that_falls_through.ll"
[ $? -eq 19 ] || fail "switch_that_falls_through.ll does not return 19"
grep -q '^[^;]*poison' "$here/switch_that_falls_through.ll" && fail "switch_that_falls_through.ll has poison of its own"
opt-22 -S -mtriple=amdgcn-amd-amdhsa -passes=structurizecfg "$here/switch_that_falls_through.ll" |
  sed -e '/^target/d' -e '/ phi float /s/poison/5.7e1/g' >"$work/after.ll"
lli-22 "$work/after.ll"
[ $? -eq 57 ] || fail "StructurizeCFG is right about switch_that_falls_through.ll: cases may fall through in generator.cpp"

# A product that is rounded to half: fma(a, b, +0) is +0 where a * b is -0.
printf '%s\n' 'define half @product(float %a, float %b) {' '  %p = fmul float %a, %b' \
  '  %h = fptrunc float %p to half' '  ret half %h' '}' >"$work/product.ll"
llc-22 -mtriple=amdgcn-amd-amdhsa -mcpu=gfx90a "$work/product.ll" -o - | grep -q 'v_fma_mixlo_f16 v0, v0, v1, 0$' ||
  fail "products are rounded to half in another way: f32_to_f16 in runtime.h may be a plain conversion"

# A subtraction from zero: 0 - p is +0 where p is +0, and -p is -0.
printf '%s\n' 'define float @scaled(float %p, float %b) {' '  %n = fsub float 0.0, %p' \
  '  %r = fmul float %n, %b' '  ret float %r' '}' >"$work/negated.ll"
llc-22 -mtriple=amdgcn-amd-amdhsa -mcpu=gfx90a "$work/negated.ll" -o - | grep -q 'v_mul_f32_e64 v0, -v0, v1$' ||
  fail "0 - p is no longer taken for -p: ZERO in runtime.h may be a plain zero"

# A DPP move whose result is a shift's operand and half of a pair: the shift is merged with the move, and the pair is
# stored without the move's result. The compiler is right where it may not merge.
cat >"$work/moved.ll" <<'END'
define void @moved(i32 %a, ptr addrspace(1) %place) {
  %moved = call i32 @llvm.amdgcn.update.dpp.i32(i32 0, i32 %a, i32 321, i32 15, i32 15, i1 false)
  %by = and i32 %moved, 31
  %shifted = shl i32 %a, %by
  %half = insertelement <2 x i32> poison, i32 %moved, i64 0
  %pair = insertelement <2 x i32> %half, i32 %shifted, i64 1
  store <2 x i32> %pair, ptr addrspace(1) %place
  ret void
}
END
moves() { llc-22 -mtriple=amdgcn-amd-amdhsa -mcpu=gfx942 "$@" "$work/moved.ll" -o - | grep -c 'v_mov_b32_dpp .*row_half_mirror'; }
[ "$(moves -amdgpu-dpp-combine=0)" = 1 ] || fail "moved.ll has no DPP move to merge"
[ "$(moves)" = 0 ] || fail "a DPP move that is stored is no longer merged away: moves in runtime.h may have many uses"

# A scalar sum that lanes take with them out of a loop at different rounds: what is returned is copied from the scalar
# behind the loop, where it is the last round's for every lane, and no longer from each lane's own copy, which is stored.
cat >"$work/sum.ll" <<'END'
define i32 @sum(i32 inreg %first, i32 %times, i1 %some, ptr addrspace(1) %place) {
entry:
  %none = icmp eq i32 %times, 0
  br i1 %none, label %out, label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ %first, %entry ], [ %more, %loop ]
  %seen = phi i32 [ 0, %entry ], [ %mixed, %loop ]
  %more = add i32 %sum, %k
  %part = select i1 %some, i32 %more, i32 -10
  %mixed = xor i32 %seen, %part
  %next = add i32 %k, 1
  %done = icmp eq i32 %next, %times
  br i1 %done, label %leave, label %loop
leave:
  store i32 %more, ptr addrspace(1) %place
  store i32 %mixed, ptr addrspace(1) null
  br label %out
out:
  %result = phi i32 [ %first, %entry ], [ %more, %leave ]
  ret i32 %result
}
END
behind_loop() { llc-22 -mtriple=amdgcn-amd-amdhsa -mcpu=$1 "$work/sum.ll" -o - | sed '1,/s_cbranch_execnz/d'; }
behind_loop gfx908 | grep -q 'v_mov_b32_e32 v[0-9]*, s' && fail "sum.ll shows nothing: a scalar is copied on gfx908 too"
behind_loop gfx90a | grep -q 'v_mov_b32_e32 v[0-9]*, s' ||
  fail "a scalar that leaves a loop is copied inside it: docs/testing.md need not speak of it"

# Bytes and words at the same index of an array: the byte's load is taken for a part of the word's, four times as far in.
# main() returns byte 8, a nine, and byte 2, a three.
cat >"$work/places.ll" <<'END'
@array = addrspace(1) global [12 x i8] c"\01\02\03\04\05\06\07\08\09\0A\0B\0C"
define i32 @both(ptr addrspace(1) %in, i32 %index) {
  %low = and i32 %index, 255
  %k = zext nneg i32 %low to i64
  %word.place = getelementptr inbounds nuw i32, ptr addrspace(1) %in, i64 %k
  %word = load <4 x i8>, ptr addrspace(1) %word.place, align 4
  %byte.place = getelementptr inbounds nuw i8, ptr addrspace(1) %in, i64 %k
  %byte = load i8, ptr addrspace(1) %byte.place, align 1
  %first = extractelement <4 x i8> %word, i64 0
  %nine = zext i8 %first to i32
  %three = zext i8 %byte to i32
  %high = mul i32 %nine, 16
  %both = or i32 %high, %three
  ret i32 %both
}
define i32 @main() {
  %status = call i32 @both(ptr addrspace(1) @array, i32 2)
  ret i32 %status
}
END
lli-22 "$work/places.ll"
[ $? -eq $((0x93)) ] || fail "places.ll does not return 0x93"
opt-22 -S -mtriple=amdgcn-amd-amdhsa -passes=load-store-vectorizer "$work/places.ll" | grep -v '^target' >"$work/after.ll"
lli-22 "$work/after.ll"
[ $? -eq $((0x99)) ] || fail "LoadStoreVectorizer is right about places.ll: PLACE in runtime.h may be a plain index"

# An integer of few bits beyond the range of halves is an infinity as a half, and stays one as a float.
cat >"$work/widened.ll" <<'END'
define float @widened(i32 %x) {
  %high = shl i32 %x, 24
  %half = uitofp i32 %high to half
  %float = fpext half %half to float
  ret float %float
}
define i32 @main() {
  %float = call float @widened(i32 1)
  %infinite = fcmp oeq float %float, 0x7FF0000000000000
  %status = select i1 %infinite, i32 19, i32 57
  ret i32 %status
}
END
lli-22 "$work/widened.ll"
[ $? -eq 19 ] || fail "widened.ll does not return 19"
opt-22 -S -passes=instcombine "$work/widened.ll" -o "$work/after.ll"
lli-22 "$work/after.ll"
[ $? -eq 57 ] || fail "InstCombine is right about widened.ll: INT_TO_F16 in runtime.h may be a plain conversion"

# A signed shift of 16 bits leaves zeros above them, the SDWA operand that takes its place leaves copies of the sign.
printf '%s\n' 'define float @shifted(i16 %x) {' '  %signed = ashr i16 %x, 8' \
  '  %r = uitofp i16 %signed to float' '  ret float %r' '}' >"$work/shifted.ll"
shifted() { llc-22 -mtriple=amdgcn-amd-amdhsa -mcpu=gfx942 "$@" "$work/shifted.ll" -o -; }
shifted -amdgpu-sdwa-peephole=0 | grep -q 'v_ashrrev_i16_e32 v0, 8, v0$' || fail "shifted.ll has no shift of 16 bits"
shifted | grep -q 'v_cvt_f32_u32_sdwa v0, sext(v0) .*src0_sel:BYTE_1$' ||
  fail "a shift of 16 bits is no longer taken for one of 32: SIGNED_TO_U16 in runtime.h may be a plain conversion"

# csmith's seed 6329: of x | ~(0 or 1), the upper half is all ones.
cat >"$work/ones.ll" <<'END'
define amdgpu_kernel void @ones(ptr addrspace(1) %b.place, ptr addrspace(1) %x.place) {
  %b = load i32, ptr addrspace(1) %b.place
  %x = load i64, ptr addrspace(1) %x.place
  %positive = icmp sgt i32 %b, 0
  %bit = zext i1 %positive to i64
  %not = xor i64 %bit, -1
  %or = or i64 %x, %not
  store i64 %or, ptr addrspace(1) %x.place
  ret void
}
END
llc-22 -mtriple=amdgcn-amd-amdhsa -mcpu=gfx942 "$work/ones.ll" -o - >"$work/ones.s"
grep -q 'global_store_dwordx2 v2, v\[0:1\]' "$work/ones.s" || fail "ones.ll stores other registers than v0 and v1"
grep -q 'v_mov_b32_e32 v1, s' "$work/ones.s" ||
  fail "SIFoldOperands is right about ones.ll: csmith's seed 6329 needs no exception"

# csmith's seed 41: of 17 FLAT loads the first is used when only vmcnt is known to be zero. Without the wait that a
# volatile load brings, lgkmcnt(0) is there.
flats() { # [volatile]
  echo 'define amdgpu_kernel void @flats(ptr %p) {'
  for k in $(seq 0 16); do
    echo "  %a$k = getelementptr i32, ptr %p, i64 $k"
    echo "  %l$k = load $1 i32, ptr %a$k"
  done
  for k in $(seq 0 16); do echo "  call void asm sideeffect \"; use of $k: \$0\", \"v\"(i32 %l$k)"; done
  echo '  ret void'
  echo '}'
}
before_first() { # PROCESSOR [volatile]: waits between the last load and the first use
  flats "$2" | llc-22 -mtriple=amdgcn-amd-amdhsa -mcpu="$1" -o - | sed -n '/flat_load/h; /s_waitcnt/H; /; use of 0:/{x; p}'
}
for processor in gfx908 gfx90a gfx942 gfx950; do
  before_first $processor "" | grep -q 'lgkmcnt(0)' || fail "17 FLAT loads are not waited for on $processor"
  before_first $processor volatile | grep -q 'vmcnt(0)$' ||
    fail "SIInsertWaitcnts is right about volatile FLAT loads on $processor: docs/testing.md need not speak of them"
done
