. "$(dirname "$0")/common.sh"
{ kernel_text first; kernel_text second; } >two.s
assemble two.s two.hsaco
expect_exit 0 asmevo inspect two.hsaco
echo '{"workgroups": 1, "workgroup_size": 64, "buffers": {}, "arguments": []}' >launch.json
expect_exit 2 asmevo run two.hsaco --launch launch.json
expect_one_line two.hsaco
expect_text first
expect_text second
expect_exit 2 asmevo run two.hsaco --launch launch.json --kernel third
expect_one_line two.hsaco
expect_exit 0 asmevo run two.hsaco --launch launch.json --kernel second
