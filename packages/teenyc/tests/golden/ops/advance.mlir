// (x_ptr: Ptr[f32], n: i32)
// p = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (16,), (0,))
// total = tl.zeros((16,), f32)
// for i in range(0, n):
//     total += tl.load(p, boundary_check=(0,))
//     p = p.advance((16,))
// tl.store(tl.advance(p, (-16,)), total)
module {
  tt.func public @advance_entry_point(%x_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %extsi = arith.extsi %n : i32 to i64
    %constant = arith.constant 1 : i32
    %extsi_1 = arith.extsi %constant : i32 to i64
    %constant_1 = arith.constant 0 : i32
    %extsi_2 = arith.extsi %constant_1 : i32 to i64
    %constant_2 = arith.constant 0.0 : f32
    %total = tt.splat %constant_2 : f32 -> tensor<16xf32>
    %constant_3 = arith.constant 0 : i32
    %constant_4 = arith.constant 1 : i32
    %p_1:2 = scf.for %i = %constant_3 to %n step %constant_4 iter_args(%p = %extsi_2, %total_1 = %total) -> (i64, tensor<16xf32>) : i32 {
      %make_range = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
      %extsi_3 = arith.extsi %make_range : tensor<16xi32> to tensor<16xi64>
      %splat = tt.splat %p : i64 -> tensor<16xi64>
      %addi = arith.addi %splat, %extsi_3 : tensor<16xi64>
      %splat_1 = tt.splat %extsi_1 : i64 -> tensor<16xi64>
      %muli = arith.muli %addi, %splat_1 : tensor<16xi64>
      %splat_2 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
      %addptr = tt.addptr %splat_2, %muli : tensor<16x!tt.ptr<f32>>, tensor<16xi64>
      %constant_5 = arith.constant 0 : i64
      %splat_3 = tt.splat %constant_5 : i64 -> tensor<16xi64>
      %cmpi = arith.cmpi sge, %addi, %splat_3 : tensor<16xi64>
      %splat_4 = tt.splat %extsi : i64 -> tensor<16xi64>
      %cmpi_1 = arith.cmpi slt, %addi, %splat_4 : tensor<16xi64>
      %andi = arith.andi %cmpi, %cmpi_1 : tensor<16xi1>
      %load = tt.load %addptr, %andi : tensor<16x!tt.ptr<f32>>
      %total_3 = arith.addf %total_1, %load : tensor<16xf32>
      %constant_6 = arith.constant 16 : i32
      %extsi_4 = arith.extsi %constant_6 : i32 to i64
      %addi_1 = arith.addi %p, %extsi_4 : i64
      scf.yield %addi_1, %total_3 : i64, tensor<16xf32>
    }
    %constant_7 = arith.constant -16 : i32
    %extsi_5 = arith.extsi %constant_7 : i32 to i64
    %addi_2 = arith.addi %p_1#0, %extsi_5 : i64
    %make_range_1 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %extsi_6 = arith.extsi %make_range_1 : tensor<16xi32> to tensor<16xi64>
    %splat_5 = tt.splat %addi_2 : i64 -> tensor<16xi64>
    %addi_3 = arith.addi %splat_5, %extsi_6 : tensor<16xi64>
    %splat_6 = tt.splat %extsi_1 : i64 -> tensor<16xi64>
    %muli_1 = arith.muli %addi_3, %splat_6 : tensor<16xi64>
    %splat_7 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr_1 = tt.addptr %splat_7, %muli_1 : tensor<16x!tt.ptr<f32>>, tensor<16xi64>
    tt.store %addptr_1, %p_1#1 : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}
