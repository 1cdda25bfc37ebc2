// (x_ptr: Ptr[f32], i_ptr: Ptr[i32], n: i32)
// o = tl.arange(0, 16)
// old = tl.atomic_min(x_ptr + o, 1, mask=o < n)
// tl.atomic_min(i_ptr + o, old, sem="relaxed", scope="sys")
// tl.atomic_min(i_ptr, n)
module {
  tt.func public @atomic_min_entry_point(%x_ptr: !tt.ptr<f32>, %i_ptr: !tt.ptr<i32>, %n: i32) attributes {noinline = false} {
    %o = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %splat = tt.splat %n : i32 -> tensor<16xi32>
    %cmpi = arith.cmpi slt, %o, %splat : tensor<16xi32>
    %splat_1 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr = tt.addptr %splat_1, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %constant = arith.constant 1 : i32
    %splat_2 = tt.splat %constant : i32 -> tensor<16xi32>
    %sitofp = arith.sitofp %splat_2 : tensor<16xi32> to tensor<16xf32>
    %bitcast = tt.bitcast %sitofp : tensor<16xf32> -> tensor<16xi32>
    %bitcast_1 = tt.bitcast %addptr : tensor<16x!tt.ptr<f32>> -> tensor<16x!tt.ptr<i32>>
    %bitcast_2 = tt.bitcast %sitofp : tensor<16xf32> -> tensor<16xi32>
    %constant_1 = arith.constant 31 : i32
    %splat_3 = tt.splat %constant_1 : i32 -> tensor<16xi32>
    %shrui = arith.shrui %bitcast_2, %splat_3 : tensor<16xi32>
    %constant_2 = arith.constant 0 : i32
    %splat_4 = tt.splat %constant_2 : i32 -> tensor<16xi32>
    %cmpi_1 = arith.cmpi ne, %shrui, %splat_4 : tensor<16xi32>
    %constant_3 = arith.constant true
    %splat_5 = tt.splat %constant_3 : i1 -> tensor<16xi1>
    %xori = arith.xori %cmpi_1, %splat_5 : tensor<16xi1>
    %andi = arith.andi %cmpi, %xori : tensor<16xi1>
    %atomic_rmw = tt.atomic_rmw min, acq_rel, gpu, %bitcast_1, %bitcast, %andi : (tensor<16x!tt.ptr<i32>>, tensor<16xi32>, tensor<16xi1>) -> tensor<16xi32>
    %andi_1 = arith.andi %cmpi, %cmpi_1 : tensor<16xi1>
    %atomic_rmw_1 = tt.atomic_rmw umax, acq_rel, gpu, %bitcast_1, %bitcast, %andi_1 : (tensor<16x!tt.ptr<i32>>, tensor<16xi32>, tensor<16xi1>) -> tensor<16xi32>
    %select = arith.select %xori, %atomic_rmw, %atomic_rmw_1 : tensor<16xi1>, tensor<16xi32>
    %old = tt.bitcast %select : tensor<16xi32> -> tensor<16xf32>
    %splat_6 = tt.splat %i_ptr : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %addptr_1 = tt.addptr %splat_6, %o : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %fptosi = arith.fptosi %old : tensor<16xf32> to tensor<16xi32>
    %constant_4 = arith.constant true
    %splat_7 = tt.splat %constant_4 : i1 -> tensor<16xi1>
    %atomic_rmw_2 = tt.atomic_rmw min, relaxed, sys, %addptr_1, %fptosi, %splat_7 : (tensor<16x!tt.ptr<i32>>, tensor<16xi32>, tensor<16xi1>) -> tensor<16xi32>
    %constant_5 = arith.constant true
    %atomic_rmw_3 = tt.atomic_rmw min, acq_rel, gpu, %i_ptr, %n, %constant_5 : (!tt.ptr<i32>, i32, i1) -> i32
    tt.return
  }
}
