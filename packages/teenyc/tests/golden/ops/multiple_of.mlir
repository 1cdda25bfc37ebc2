// (x_ptr: Ptr[f32], n: i32)
// o = tl.multiple_of(tl.arange(0, 16) * n, 8)
// p = tl.multiple_of(x_ptr, 16)
// tl.store(tl.multiple_of(p + o, 4), 1.0)
// tl.store(x_ptr + tl.multiple_of(o[:, None] + o[None, :], (8, 4)), 2.0)
module {
  tt.func public @multiple_of_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %make_range = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %n : i32 -> tensor<16xi32>
    %o = arith.muli %make_range, %splat {tt.divisibility = dense<8> : tensor<1xi32>} : tensor<16xi32>
    %splat_1 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr = tt.addptr %splat_1, %o {tt.divisibility = dense<4> : tensor<1xi32>} : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %constant = arith.constant 1.0 : f32
    %splat_2 = tt.splat %constant : f32 -> tensor<16xf32>
    tt.store %addptr, %splat_2 : tensor<16x!tt.ptr<f32>>
    %expand_dims = tt.expand_dims %o {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %expand_dims_1 = tt.expand_dims %o {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %broadcast = tt.broadcast %expand_dims : tensor<16x1xi32> -> tensor<16x16xi32>
    %broadcast_1 = tt.broadcast %expand_dims_1 : tensor<1x16xi32> -> tensor<16x16xi32>
    %addi = arith.addi %broadcast, %broadcast_1 {tt.divisibility = dense<[8, 4]> : tensor<2xi32>} : tensor<16x16xi32>
    %splat_3 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
    %addptr_1 = tt.addptr %splat_3, %addi : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    %constant_1 = arith.constant 2.0 : f32
    %splat_4 = tt.splat %constant_1 : f32 -> tensor<16x16xf32>
    tt.store %addptr_1, %splat_4 : tensor<16x16x!tt.ptr<f32>>
    tt.return
  }
}
