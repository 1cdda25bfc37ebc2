// (x_ptr: Ptr[i32], y_ptr: Ptr[i32], out_ptr: Ptr[i32])
// o = tl.arange(0, 16)
// tl.store(out_ptr + tl.interleave(o, o + 16), 1)
module {
  tt.func public @interleave_entry_point(%x_ptr: !tt.ptr<i32>, %y_ptr: !tt.ptr<i32>, %out_ptr: !tt.ptr<i32>) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %constant = arith.constant 16 : i32
    %splat = tt.splat %constant : i32 -> tensor<16xi32>
    %addi = arith.addi %o, %splat : tensor<16xi32>
    %join = tt.join %o, %addi : tensor<16xi32> -> tensor<16x2xi32>
    %reshape = tt.reshape %join : tensor<16x2xi32> -> tensor<32xi32>
    %splat_1 = tt.splat %out_ptr : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
    %addptr = tt.addptr %splat_1, %reshape : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
    %constant_1 = arith.constant 1 : i32
    %splat_2 = tt.splat %constant_1 : i32 -> tensor<32xi32>
    tt.store %addptr, %splat_2 : tensor<32x!tt.ptr<i32>>
    tt.return
  }
}
