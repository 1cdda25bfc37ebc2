module {
  tt.func public @descriptor_copy_entry_point(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc("descriptor_copy.py":1:1), %o: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc("descriptor_copy.py":1:1), %n: i32 {tt.divisibility = 16 : i32} loc("descriptor_copy.py":1:1)) attributes {noinline = false} {
    %c0 = arith.constant 0 : i32 loc("descriptor_copy.py":2:1)
    %one = arith.constant 1 : i64 loc("descriptor_copy.py":2:1)
    %wide = arith.extsi %n : i32 to i64 loc("descriptor_copy.py":2:1)
    %row = tt.get_program_id x : i32 loc("descriptor_copy.py":2:1)
    %from = tt.make_tensor_descriptor %x, [%n, %n], [%wide, %one] : <f16>, <TILE> loc("descriptor_copy.py":3:1)
    %to = tt.make_tensor_descriptor %o, [%n, %n], [%wide, %one] : <f16>, <TILE> loc("descriptor_copy.py":4:1)
    %v = tt.descriptor_load %from[%row, %c0] : !tt.tensordesc<TILE> -> tensor<64x64xf16> loc("descriptor_copy.py":5:1)
    tt.descriptor_store %to[%row, %c0], %v : !tt.tensordesc<TILE>, tensor<64x64xf16> loc("descriptor_copy.py":6:1)
    tt.return loc("descriptor_copy.py":7:1)
  } loc("descriptor_copy.py":1:1)
} loc("descriptor_copy.py":1:1)
