. "$(dirname "$0")/common.sh"
need clang-22 gcc
bundles
expect_exit 0 asmevo extract plain.hipfb
expect_text "0.1      gfx90a:xnack-"
expect_text "0.2      gfx942"
expect_text "2 kernels: scale, shift"
expect_exit 0 asmevo extract packed.hipfb --json
expect_json out
[ "$(json out '$.code_objects[1].target')" = gfx942 ] || fail "not the second target"
# The same code object comes out of all three, and it is one that the other verbs take.
expect_exit 0 asmevo extract plain.hipfb --target gfx942 -o a.hsaco
expect_exit 0 asmevo extract packed.hipfb --target gfx942 --kernel shift -o b.hsaco
expect_exit 0 asmevo extract program --entry 1.2 -o c.hsaco
expect_same a.hsaco b.hsaco
expect_same a.hsaco c.hsaco
expect_exit 0 asmevo roundtrip a.hsaco
# All of them, by target and place.
expect_exit 0 asmevo extract program -d objects
[ "$(cd objects && echo */*)" = "gfx90a_xnack-/0.1.hsaco gfx90a_xnack-/1.1.hsaco gfx942/0.2.hsaco gfx942/1.2.hsaco" ] ||
  fail "objects: $(cd objects && echo */*)"
# What is not clear or not there is said, with what there is.
expect_exit 2 asmevo extract program --target gfx942 -o one.hsaco
expect_text "2 code objects are meant"
expect_exit 2 asmevo extract program --target gfx950
expect_one_line program
expect_exit 2 asmevo extract /bin/ls
expect_one_line /bin/ls
expect_text .hip_fatbin
expect_exit 2 asmevo inspect program
expect_text "asmevo extract program"
