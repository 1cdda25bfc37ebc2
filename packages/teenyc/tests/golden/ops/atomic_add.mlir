// (x_ptr: Ptr[f32], i_ptr: Ptr[i32], n: i32)
// o = tl.arange(0, 16)
// old = tl.atomic_add(x_ptr + o, 1, mask=o < n)
// tl.atomic_add(i_ptr + o, old, sem="relaxed", scope="sys")
// tl.atomic_add(i_ptr, n)
module {
  tt.func public @atomic_add_entry_point(%x_ptr: !tt.ptr<f32>, %i_ptr: !tt.ptr<i32>, %n: i32) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %n : i32 -> tensor<16xi32>
    %cmpi = arith.cmpi slt, %o, %splat : tensor<16xi32>
    %splat_1 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr = tt.addptr %splat_1, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %constant = arith.constant 1 : i32
    %splat_2 = tt.splat %constant : i32 -> tensor<16xi32>
    %sitofp = arith.sitofp %splat_2 : tensor<16xi32> to tensor<16xf32>
    %old = tt.atomic_rmw fadd, acq_rel, gpu, %addptr, %sitofp, %cmpi : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>, tensor<16xi1>) -> tensor<16xf32>
    %splat_3 = tt.splat %i_ptr : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %addptr_1 = tt.addptr %splat_3, %o : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %fptosi = arith.fptosi %old : tensor<16xf32> to tensor<16xi32>
    %constant_1 = arith.constant true
    %splat_4 = tt.splat %constant_1 : i1 -> tensor<16xi1>
    %atomic_rmw = tt.atomic_rmw add, relaxed, sys, %addptr_1, %fptosi, %splat_4 : (tensor<16x!tt.ptr<i32>>, tensor<16xi32>, tensor<16xi1>) -> tensor<16xi32>
    %constant_2 = arith.constant true
    %atomic_rmw_1 = tt.atomic_rmw add, acq_rel, gpu, %i_ptr, %n, %constant_2 : (!tt.ptr<i32>, i32, i1) -> i32
    tt.return
  }
}
