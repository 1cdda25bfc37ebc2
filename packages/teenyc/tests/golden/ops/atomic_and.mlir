// (i_ptr: Ptr[u32], l_ptr: Ptr[i64], n: i32)
// o = tl.arange(0, 16)
// old = tl.atomic_and(i_ptr + o, 1, mask=o < n, sem="release", scope="cta")
// tl.atomic_and(l_ptr + o, old)
module {
  tt.func public @atomic_and_entry_point(%i_ptr: !tt.ptr<i32>, %l_ptr: !tt.ptr<i64>, %n: i32) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %n : i32 -> tensor<16xi32>
    %cmpi = arith.cmpi slt, %o, %splat : tensor<16xi32>
    %splat_1 = tt.splat %i_ptr : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %addptr = tt.addptr %splat_1, %o : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %constant = arith.constant 1 : i32
    %splat_2 = tt.splat %constant : i32 -> tensor<16xi32>
    %old = tt.atomic_rmw and, release, cta, %addptr, %splat_2, %cmpi : (tensor<16x!tt.ptr<i32>>, tensor<16xi32>, tensor<16xi1>) -> tensor<16xi32>
    %splat_3 = tt.splat %l_ptr : !tt.ptr<i64> -> tensor<16x!tt.ptr<i64>>
    %addptr_1 = tt.addptr %splat_3, %o : tensor<16x!tt.ptr<i64>>, tensor<16xi32>
    %extui = arith.extui %old : tensor<16xi32> to tensor<16xi64>
    %constant_1 = arith.constant true
    %splat_4 = tt.splat %constant_1 : i1 -> tensor<16xi1>
    %atomic_rmw = tt.atomic_rmw and, acq_rel, gpu, %addptr_1, %extui, %splat_4 : (tensor<16x!tt.ptr<i64>>, tensor<16xi64>, tensor<16xi1>) -> tensor<16xi64>
    tt.return
  }
}
