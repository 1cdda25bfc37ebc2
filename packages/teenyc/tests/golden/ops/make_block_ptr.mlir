// (x_ptr: Ptr[f16], m: i32, n: i32, stride: i64)
// p = tl.make_block_ptr(x_ptr, (m, n), (stride, 1), (m, 0), (8, 16), order=(1, 0))
// x = tl.load(p, boundary_check=(0, 1), padding_option="zero")
// tl.store(p, x, boundary_check=(1,))
module {
  tt.func public @make_block_ptr_entry_point(%x_ptr: !tt.ptr<f16>, %m: i32, %n: i32, %stride: i64) attributes {noinline = false} {
    %extsi = arith.extsi %m : i32 to i64
    %extsi_1 = arith.extsi %n : i32 to i64
    %constant = arith.constant 1 : i32
    %extsi_2 = arith.extsi %constant : i32 to i64
    %extsi_3 = arith.extsi %m : i32 to i64
    %constant_1 = arith.constant 0 : i32
    %extsi_4 = arith.extsi %constant_1 : i32 to i64
    %make_range = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %extsi_5 = arith.extsi %make_range : tensor<8xi32> to tensor<8xi64>
    %splat = tt.splat %extsi_3 : i64 -> tensor<8xi64>
    %addi = arith.addi %splat, %extsi_5 : tensor<8xi64>
    %expand_dims = tt.expand_dims %addi {axis = 1 : i32} : tensor<8xi64> -> tensor<8x1xi64>
    %splat_1 = tt.splat %stride : i64 -> tensor<8x1xi64>
    %muli = arith.muli %expand_dims, %splat_1 : tensor<8x1xi64>
    %splat_2 = tt.splat %x_ptr : !tt.ptr<f16> -> tensor<8x1x!tt.ptr<f16>>
    %addptr = tt.addptr %splat_2, %muli : tensor<8x1x!tt.ptr<f16>>, tensor<8x1xi64>
    %constant_2 = arith.constant 0 : i64
    %splat_3 = tt.splat %constant_2 : i64 -> tensor<8x1xi64>
    %cmpi = arith.cmpi sge, %expand_dims, %splat_3 : tensor<8x1xi64>
    %splat_4 = tt.splat %extsi : i64 -> tensor<8x1xi64>
    %cmpi_1 = arith.cmpi slt, %expand_dims, %splat_4 : tensor<8x1xi64>
    %andi = arith.andi %cmpi, %cmpi_1 : tensor<8x1xi1>
    %make_range_1 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %extsi_6 = arith.extsi %make_range_1 : tensor<16xi32> to tensor<16xi64>
    %splat_5 = tt.splat %extsi_4 : i64 -> tensor<16xi64>
    %addi_1 = arith.addi %splat_5, %extsi_6 : tensor<16xi64>
    %expand_dims_1 = tt.expand_dims %addi_1 {axis = 0 : i32} : tensor<16xi64> -> tensor<1x16xi64>
    %splat_6 = tt.splat %extsi_2 : i64 -> tensor<1x16xi64>
    %muli_1 = arith.muli %expand_dims_1, %splat_6 : tensor<1x16xi64>
    %broadcast = tt.broadcast %addptr : tensor<8x1x!tt.ptr<f16>> -> tensor<8x16x!tt.ptr<f16>>
    %broadcast_1 = tt.broadcast %muli_1 : tensor<1x16xi64> -> tensor<8x16xi64>
    %addptr_1 = tt.addptr %broadcast, %broadcast_1 : tensor<8x16x!tt.ptr<f16>>, tensor<8x16xi64>
    %constant_3 = arith.constant 0 : i64
    %splat_7 = tt.splat %constant_3 : i64 -> tensor<1x16xi64>
    %cmpi_2 = arith.cmpi sge, %expand_dims_1, %splat_7 : tensor<1x16xi64>
    %splat_8 = tt.splat %extsi_1 : i64 -> tensor<1x16xi64>
    %cmpi_3 = arith.cmpi slt, %expand_dims_1, %splat_8 : tensor<1x16xi64>
    %andi_1 = arith.andi %cmpi_2, %cmpi_3 : tensor<1x16xi1>
    %broadcast_2 = tt.broadcast %andi : tensor<8x1xi1> -> tensor<8x16xi1>
    %broadcast_3 = tt.broadcast %andi_1 : tensor<1x16xi1> -> tensor<8x16xi1>
    %andi_2 = arith.andi %broadcast_2, %broadcast_3 : tensor<8x16xi1>
    %constant_4 = arith.constant 0 : i32
    %splat_9 = tt.splat %constant_4 : i32 -> tensor<8x16xi32>
    %sitofp = arith.sitofp %splat_9 : tensor<8x16xi32> to tensor<8x16xf16>
    %x = tt.load %addptr_1, %andi_2, %sitofp : tensor<8x16x!tt.ptr<f16>>
    %make_range_2 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %extsi_7 = arith.extsi %make_range_2 : tensor<8xi32> to tensor<8xi64>
    %splat_10 = tt.splat %extsi_3 : i64 -> tensor<8xi64>
    %addi_2 = arith.addi %splat_10, %extsi_7 : tensor<8xi64>
    %expand_dims_2 = tt.expand_dims %addi_2 {axis = 1 : i32} : tensor<8xi64> -> tensor<8x1xi64>
    %splat_11 = tt.splat %stride : i64 -> tensor<8x1xi64>
    %muli_2 = arith.muli %expand_dims_2, %splat_11 : tensor<8x1xi64>
    %splat_12 = tt.splat %x_ptr : !tt.ptr<f16> -> tensor<8x1x!tt.ptr<f16>>
    %addptr_2 = tt.addptr %splat_12, %muli_2 : tensor<8x1x!tt.ptr<f16>>, tensor<8x1xi64>
    %make_range_3 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %extsi_8 = arith.extsi %make_range_3 : tensor<16xi32> to tensor<16xi64>
    %splat_13 = tt.splat %extsi_4 : i64 -> tensor<16xi64>
    %addi_3 = arith.addi %splat_13, %extsi_8 : tensor<16xi64>
    %expand_dims_3 = tt.expand_dims %addi_3 {axis = 0 : i32} : tensor<16xi64> -> tensor<1x16xi64>
    %splat_14 = tt.splat %extsi_2 : i64 -> tensor<1x16xi64>
    %muli_3 = arith.muli %expand_dims_3, %splat_14 : tensor<1x16xi64>
    %broadcast_4 = tt.broadcast %addptr_2 : tensor<8x1x!tt.ptr<f16>> -> tensor<8x16x!tt.ptr<f16>>
    %broadcast_5 = tt.broadcast %muli_3 : tensor<1x16xi64> -> tensor<8x16xi64>
    %addptr_3 = tt.addptr %broadcast_4, %broadcast_5 : tensor<8x16x!tt.ptr<f16>>, tensor<8x16xi64>
    %constant_5 = arith.constant 0 : i64
    %splat_15 = tt.splat %constant_5 : i64 -> tensor<1x16xi64>
    %cmpi_4 = arith.cmpi sge, %expand_dims_3, %splat_15 : tensor<1x16xi64>
    %splat_16 = tt.splat %extsi_1 : i64 -> tensor<1x16xi64>
    %cmpi_5 = arith.cmpi slt, %expand_dims_3, %splat_16 : tensor<1x16xi64>
    %andi_3 = arith.andi %cmpi_4, %cmpi_5 : tensor<1x16xi1>
    %broadcast_6 = tt.broadcast %andi_3 : tensor<1x16xi1> -> tensor<8x16xi1>
    tt.store %addptr_3, %x, %broadcast_6 : tensor<8x16x!tt.ptr<f16>>
    tt.return
  }
}
