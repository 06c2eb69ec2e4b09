; Seed 1756, reduced, its switch already lowered to comparisons. Cases 2 and 3 meet in %three and take a float out of a
; vector, as the other cases from 4 up do; cases 0 and 1 give 57. main() is case 3, so it returns the 19 of the vector,
; and nothing in this file can be poison. LLVM 22's StructurizeCFG for AMDGPU hoists %element, which costs nothing,
; into %high and then hands it on from %two alone: on the way from %leaf to %three the result is poison.
define float @keep(i32 %case, <2 x float> %pair, i16 %word, ptr %place) {
entry:
  %below_two = icmp slt i32 %case, 2
  br i1 %below_two, label %low, label %high

low:
  br label %out

high:
  %below_three = icmp slt i32 %case, 3
  br i1 %below_three, label %two, label %leaf

leaf:
  %is_three = icmp eq i32 %case, 3
  br i1 %is_three, label %three, label %other

two:
  %negative = sub i16 0, %word
  br label %three

three:
  %either = phi i16 [ %negative, %two ], [ %word, %leaf ]
  %element = extractelement <2 x float> %pair, i64 1
  br label %out

other:
  %same = extractelement <2 x float> %pair, i64 1
  br label %out

out:
  %kept = phi float [ 5.7e1, %low ], [ %element, %three ], [ %same, %other ]
  %stored = phi i16 [ 0, %low ], [ %either, %three ], [ 7, %other ]
  store i16 %stored, ptr %place
  ret float %kept
}

@place = global i16 0

define i32 @main() {
  %kept = call float @keep(i32 3, <2 x float> <float 5.7e1, float 1.9e1>, i16 5, ptr @place)
  %status = fptoui float %kept to i32
  ret i32 %status
}
