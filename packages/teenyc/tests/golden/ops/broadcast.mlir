// (x_ptr: Ptr[f32], out_ptr: Ptr[f32])
// o = tl.arange(0, 16)
// a, b = tl.broadcast(o[:, None], o[None, :])
// tl.store(out_ptr + a * 16 + b, 0.0)
module {
  tt.func public @broadcast_entry_point(%x_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %expand_dims = tt.expand_dims %o {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %expand_dims_1 = tt.expand_dims %o {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %a = tt.broadcast %expand_dims : tensor<16x1xi32> -> tensor<16x16xi32>
    %b = tt.broadcast %expand_dims_1 : tensor<1x16xi32> -> tensor<16x16xi32>
    %constant = arith.constant 16 : i32
    %splat = tt.splat %constant : i32 -> tensor<16x16xi32>
    %muli = arith.muli %a, %splat : tensor<16x16xi32>
    %splat_1 = tt.splat %out_ptr : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
    %addptr = tt.addptr %splat_1, %muli : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    %addptr_1 = tt.addptr %addptr, %b : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    %constant_1 = arith.constant 0.0 : f32
    %splat_2 = tt.splat %constant_1 : f32 -> tensor<16x16xf32>
    tt.store %addptr_1, %splat_2 : tensor<16x16x!tt.ptr<f32>>
    tt.return
  }
}
