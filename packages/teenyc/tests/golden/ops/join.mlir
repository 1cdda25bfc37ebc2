// (x_ptr: Ptr[i32], y_ptr: Ptr[i32], out_ptr: Ptr[i32])
// o = tl.arange(0, 16)
// tl.store(out_ptr + tl.join(o, o + 16), 1)
// tl.store(out_ptr + tl.join(3, 4), 2)
module {
  tt.func public @join_entry_point(%x_ptr: !tt.ptr<i32>, %y_ptr: !tt.ptr<i32>, %out_ptr: !tt.ptr<i32>) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %constant = arith.constant 16 : i32
    %splat = tt.splat %constant : i32 -> tensor<16xi32>
    %addi = arith.addi %o, %splat : tensor<16xi32>
    %join = tt.join %o, %addi : tensor<16xi32> -> tensor<16x2xi32>
    %splat_1 = tt.splat %out_ptr : !tt.ptr<i32> -> tensor<16x2x!tt.ptr<i32>>
    %addptr = tt.addptr %splat_1, %join : tensor<16x2x!tt.ptr<i32>>, tensor<16x2xi32>
    %constant_1 = arith.constant 1 : i32
    %splat_2 = tt.splat %constant_1 : i32 -> tensor<16x2xi32>
    tt.store %addptr, %splat_2 : tensor<16x2x!tt.ptr<i32>>
    %constant_2 = arith.constant 3 : i32
    %constant_3 = arith.constant 4 : i32
    %splat_3 = tt.splat %constant_2 : i32 -> tensor<1xi32>
    %splat_4 = tt.splat %constant_3 : i32 -> tensor<1xi32>
    %join_1 = tt.join %splat_3, %splat_4 : tensor<1xi32> -> tensor<1x2xi32>
    %reshape = tt.reshape %join_1 : tensor<1x2xi32> -> tensor<2xi32>
    %splat_5 = tt.splat %out_ptr : !tt.ptr<i32> -> tensor<2x!tt.ptr<i32>>
    %addptr_1 = tt.addptr %splat_5, %reshape : tensor<2x!tt.ptr<i32>>, tensor<2xi32>
    %constant_4 = arith.constant 2 : i32
    %splat_6 = tt.splat %constant_4 : i32 -> tensor<2xi32>
    tt.store %addptr_1, %splat_6 : tensor<2x!tt.ptr<i32>>
    tt.return
  }
}
