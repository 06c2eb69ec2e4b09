. "$(dirname "$0")/common.sh"
here=$ASMEVO_SOURCE/tests/behaviour
assemble "$here/pointers.s" pointers.hsaco
expect_exit 0 asmevo run pointers.hsaco --launch "$here/pointers.json" --capture kept --dump first
for key in '"target"' '"product"' '"queue"' '"index"'; do grep -qF "$key" kept/manifest.json || fail "no $key in the manifest"; done

# The capture alone gives the same memory: same addresses in tables and lists, same contents.
expect_exit 0 asmevo run pointers.hsaco --launch kept --dump second
expect_same first/default/out.npy second/captured/out.npy
expect_exit 0 asmevo verify pointers.hsaco pointers.hsaco --launch kept --seed 3
expect_text equivalent
expect_exit 0 asmevo time pointers.hsaco --launch kept
expect_exit 0 asmevo optimize pointers.hsaco --launch kept --budget 3 -o fast.hsaco
expect_exit 0 asmevo verify pointers.hsaco fast.hsaco --launch kept

# A candidate that stops after the first node is seen.
sed 's/s_cbranch_scc1 .Lnode/s_nop 0/' "$here/pointers.s" >short.s
assemble short.s short.hsaco
expect_exit 1 asmevo verify pointers.hsaco short.hsaco --launch kept --seed 3

# A region that changed is found by its hash.
hash=$(json kept/manifest.json "$.regions[2].sha256")
other=$(json kept/manifest.json "$.regions[5].sha256")
[ "$hash" != "$other" ] || fail "two regions with one content"
cp "kept/content/$other.zst" "kept/content/$hash.zst"
expect_exit 2 asmevo run pointers.hsaco --launch kept
expect_text "is damaged: its content has the hash $other"
