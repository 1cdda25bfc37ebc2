// (i_ptr: Ptr[i32], x_ptr: Ptr[f32], n: i32)
// o = tl.arange(0, 16)
// tl.atomic_store(x_ptr + o, 1.0, mask=o < n)
// tl.atomic_store(i_ptr, n, sem="relaxed", scope="sys")
module {
  tt.func public @atomic_store_entry_point(%i_ptr: !tt.ptr<i32>, %x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %n : i32 -> tensor<16xi32>
    %cmpi = arith.cmpi slt, %o, %splat : tensor<16xi32>
    %splat_1 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr = tt.addptr %splat_1, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %constant = arith.constant 1.0 : f32
    %splat_2 = tt.splat %constant : f32 -> tensor<16xf32>
    %bitcast = tt.bitcast %addptr : tensor<16x!tt.ptr<f32>> -> tensor<16x!tt.ptr<i32>>
    %bitcast_1 = tt.bitcast %splat_2 : tensor<16xf32> -> tensor<16xi32>
    tt.atomic_store release, gpu, %bitcast, %bitcast_1, %cmpi : tensor<16x!tt.ptr<i32>>
    %constant_1 = arith.constant true
    tt.atomic_store relaxed, sys, %i_ptr, %n, %constant_1 : !tt.ptr<i32>
    tt.return
  }
}
