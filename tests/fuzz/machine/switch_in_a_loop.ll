; Seed 1180, reduced. A loop keeps a byte: case 0 falls into case 1, which takes the low byte of %word; any other value
; leaves it alone. main() goes through case 1 once, so it returns the 19 of %word. After LLVM 22's StructurizeCFG for
; AMDGPU it returns the 57 that was there before: %new costs nothing and is hoisted above the switch, the phi of the
; path "case 0 or 1" is then taken for one of "case 0" alone, and on the way through case 1 the old byte is kept
; although the new one is stored.
define i8 @keep(i32 %case, i16 %word, i8 %first, i32 %times, ptr %place) {
entry:
  br label %loop

loop:
  %k = phi i32 [ 0, %entry ], [ %next, %latch ]
  %old = phi i8 [ %first, %entry ], [ %kept, %latch ]
  switch i32 %case, label %other [
    i32 0, label %zero
    i32 1, label %one
  ]

zero:
  store i8 1, ptr %place
  br label %one

one:
  %new = trunc i16 %word to i8
  store i8 %new, ptr %place
  br label %latch

other:
  store i8 2, ptr %place
  br label %latch

latch:
  %kept = phi i8 [ %old, %other ], [ %new, %one ]
  %next = add i32 %k, 1
  %done = icmp eq i32 %next, %times
  br i1 %done, label %out, label %loop

out:
  ret i8 %kept
}

@place = global i8 0

define i32 @main() {
  %byte = call i8 @keep(i32 1, i16 19, i8 57, i32 1, ptr @place)
  %status = zext i8 %byte to i32
  ret i32 %status
}
