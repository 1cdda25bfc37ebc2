// (i_ptr: Ptr[i32], x_ptr: Ptr[f32], n: i32)
// o = tl.arange(0, 16)
// x = tl.atomic_load(x_ptr + o, mask=o < n)
// tl.store(x_ptr + o, x + tl.atomic_load(i_ptr, sem="relaxed"))
module {
  tt.func public @atomic_load_entry_point(%i_ptr: !tt.ptr<i32>, %x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %n : i32 -> tensor<16xi32>
    %cmpi = arith.cmpi slt, %o, %splat : tensor<16xi32>
    %splat_1 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr = tt.addptr %splat_1, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %bitcast = tt.bitcast %addptr : tensor<16x!tt.ptr<f32>> -> tensor<16x!tt.ptr<i32>>
    %constant = arith.constant 0 : i32
    %splat_2 = tt.splat %constant : i32 -> tensor<16xi32>
    %atomic_load = tt.atomic_load acquire, gpu, %bitcast, %cmpi : (tensor<16x!tt.ptr<i32>>, tensor<16xi1>) -> tensor<16xi32>
    %x = tt.bitcast %atomic_load : tensor<16xi32> -> tensor<16xf32>
    %splat_3 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr_1 = tt.addptr %splat_3, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %constant_1 = arith.constant true
    %constant_2 = arith.constant 0 : i32
    %atomic_load_1 = tt.atomic_load relaxed, gpu, %i_ptr, %constant_1 : (!tt.ptr<i32>, i1) -> i32
    %sitofp = arith.sitofp %atomic_load_1 : i32 to f32
    %splat_4 = tt.splat %sitofp : f32 -> tensor<16xf32>
    %addf = arith.addf %x, %splat_4 : tensor<16xf32>
    tt.store %addptr_1, %addf : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}
