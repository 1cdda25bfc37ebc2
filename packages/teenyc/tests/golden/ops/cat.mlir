// (x_ptr: Ptr[i32], y_ptr: Ptr[i32], out_ptr: Ptr[i32])
// o = tl.arange(0, 16)
// tl.store(out_ptr + tl.cat(o, o + 16), 1)
// tl.store(out_ptr + tl.cat(o, o, can_reorder=True), 1)
module {
  tt.func public @cat_entry_point(%x_ptr: !tt.ptr<i32>, %y_ptr: !tt.ptr<i32>, %out_ptr: !tt.ptr<i32>) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %constant = arith.constant 16 : i32
    %splat = tt.splat %constant : i32 -> tensor<16xi32>
    %addi = arith.addi %o, %splat : tensor<16xi32>
    %join = tt.join %o, %addi : tensor<16xi32> -> tensor<16x2xi32>
    %trans = tt.trans %join {order = array<i32: 1, 0>} : tensor<16x2xi32> -> tensor<2x16xi32>
    %reshape = tt.reshape %trans : tensor<2x16xi32> -> tensor<32xi32>
    %splat_1 = tt.splat %out_ptr : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
    %addptr = tt.addptr %splat_1, %reshape : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
    %constant_1 = arith.constant 1 : i32
    %splat_2 = tt.splat %constant_1 : i32 -> tensor<32xi32>
    tt.store %addptr, %splat_2 : tensor<32x!tt.ptr<i32>>
    %cat = tt.cat %o, %o : tensor<16xi32> -> tensor<32xi32>
    %splat_3 = tt.splat %out_ptr : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
    %addptr_1 = tt.addptr %splat_3, %cat : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
    %constant_2 = arith.constant 1 : i32
    %splat_4 = tt.splat %constant_2 : i32 -> tensor<32xi32>
    tt.store %addptr_1, %splat_4 : tensor<32x!tt.ptr<i32>>
    tt.return
  }
}
