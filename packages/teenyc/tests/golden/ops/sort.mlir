// (x_ptr: Ptr[f32], out_ptr: Ptr[f32])
// o = tl.arange(0, 4)
// tl.store(out_ptr + o, tl.sort(tl.load(x_ptr + o)))
module {
  tt.func public @sort_entry_point(%x_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %o = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %splat = tt.splat %out_ptr : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
    %addptr = tt.addptr %splat, %o : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
    %splat_1 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
    %addptr_1 = tt.addptr %splat_1, %o : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
    %load = tt.load %addptr_1 : tensor<4x!tt.ptr<f32>>
    %bitcast = tt.bitcast %load : tensor<4xf32> -> tensor<4xi32>
    %constant = arith.constant 31 : i32
    %splat_2 = tt.splat %constant : i32 -> tensor<4xi32>
    %shrsi = arith.shrsi %bitcast, %splat_2 : tensor<4xi32>
    %constant_1 = arith.constant 2147483647 : i32
    %splat_3 = tt.splat %constant_1 : i32 -> tensor<4xi32>
    %andi = arith.andi %shrsi, %splat_3 : tensor<4xi32>
    %xori = arith.xori %bitcast, %andi : tensor<4xi32>
    %cmpf = arith.cmpf une, %load, %load : tensor<4xf32>
    %constant_2 = arith.constant 2147483647 : i32
    %splat_4 = tt.splat %constant_2 : i32 -> tensor<4xi32>
    %select = arith.select %cmpf, %splat_4, %xori : tensor<4xi1>, tensor<4xi32>
    %reshape = tt.reshape %select : tensor<4xi32> -> tensor<2x2xi32>
    %make_range = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %reshape_1 = tt.reshape %make_range : tensor<2xi32> -> tensor<2x1xi32>
    %reduce = "tt.reduce"(%reshape) <{axis = 1 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %xori_1 = arith.xori %a, %b : i32
      tt.reduce.return %xori_1 : i32
    }) : (tensor<2x2xi32>) -> tensor<2xi32>
    %expand_dims = tt.expand_dims %reduce {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
    %broadcast = tt.broadcast %expand_dims : tensor<2x1xi32> -> tensor<2x2xi32>
    %xori_2 = arith.xori %reshape, %broadcast : tensor<2x2xi32>
    %make_range_1 = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %reshape_2 = tt.reshape %make_range_1 : tensor<2xi32> -> tensor<1x2xi32>
    %broadcast_1 = tt.broadcast %reshape_1 : tensor<2x1xi32> -> tensor<2x2xi32>
    %broadcast_2 = tt.broadcast %reshape_2 : tensor<1x2xi32> -> tensor<2x2xi32>
    %xori_3 = arith.xori %broadcast_1, %broadcast_2 : tensor<2x2xi32>
    %constant_3 = arith.constant 0 : i32
    %splat_5 = tt.splat %constant_3 : i32 -> tensor<2x2xi32>
    %cmpi = arith.cmpi ne, %xori_3, %splat_5 : tensor<2x2xi32>
    %maxsi = arith.maxsi %reshape, %xori_2 : tensor<2x2xi32>
    %minsi = arith.minsi %reshape, %xori_2 : tensor<2x2xi32>
    %select_1 = arith.select %cmpi, %maxsi, %minsi : tensor<2x2xi1>, tensor<2x2xi32>
    %reduce_1 = "tt.reduce"(%select_1) <{axis = 0 : i32}> ({
    ^bb0(%a_1: i32, %b_1: i32):
      %xori_4 = arith.xori %a_1, %b_1 : i32
      tt.reduce.return %xori_4 : i32
    }) : (tensor<2x2xi32>) -> tensor<2xi32>
    %expand_dims_1 = tt.expand_dims %reduce_1 {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
    %broadcast_3 = tt.broadcast %expand_dims_1 : tensor<1x2xi32> -> tensor<2x2xi32>
    %xori_5 = arith.xori %select_1, %broadcast_3 : tensor<2x2xi32>
    %make_range_2 = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %reshape_3 = tt.reshape %make_range_2 : tensor<2xi32> -> tensor<2x1xi32>
    %constant_4 = arith.constant 0 : i32
    %splat_6 = tt.splat %constant_4 : i32 -> tensor<2x1xi32>
    %xori_6 = arith.xori %splat_6, %reshape_3 : tensor<2x1xi32>
    %constant_5 = arith.constant 0 : i32
    %splat_7 = tt.splat %constant_5 : i32 -> tensor<2x1xi32>
    %cmpi_1 = arith.cmpi ne, %xori_6, %splat_7 : tensor<2x1xi32>
    %maxsi_1 = arith.maxsi %select_1, %xori_5 : tensor<2x2xi32>
    %minsi_1 = arith.minsi %select_1, %xori_5 : tensor<2x2xi32>
    %broadcast_4 = tt.broadcast %cmpi_1 : tensor<2x1xi1> -> tensor<2x2xi1>
    %select_2 = arith.select %broadcast_4, %maxsi_1, %minsi_1 : tensor<2x2xi1>, tensor<2x2xi32>
    %reduce_2 = "tt.reduce"(%select_2) <{axis = 1 : i32}> ({
    ^bb0(%a_2: i32, %b_2: i32):
      %xori_7 = arith.xori %a_2, %b_2 : i32
      tt.reduce.return %xori_7 : i32
    }) : (tensor<2x2xi32>) -> tensor<2xi32>
    %expand_dims_2 = tt.expand_dims %reduce_2 {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
    %broadcast_5 = tt.broadcast %expand_dims_2 : tensor<2x1xi32> -> tensor<2x2xi32>
    %xori_8 = arith.xori %select_2, %broadcast_5 : tensor<2x2xi32>
    %make_range_3 = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %reshape_4 = tt.reshape %make_range_3 : tensor<2xi32> -> tensor<1x2xi32>
    %constant_6 = arith.constant 0 : i32
    %splat_8 = tt.splat %constant_6 : i32 -> tensor<1x2xi32>
    %xori_9 = arith.xori %splat_8, %reshape_4 : tensor<1x2xi32>
    %constant_7 = arith.constant 0 : i32
    %splat_9 = tt.splat %constant_7 : i32 -> tensor<1x2xi32>
    %cmpi_2 = arith.cmpi ne, %xori_9, %splat_9 : tensor<1x2xi32>
    %maxsi_2 = arith.maxsi %select_2, %xori_8 : tensor<2x2xi32>
    %minsi_2 = arith.minsi %select_2, %xori_8 : tensor<2x2xi32>
    %broadcast_6 = tt.broadcast %cmpi_2 : tensor<1x2xi1> -> tensor<2x2xi1>
    %select_3 = arith.select %broadcast_6, %maxsi_2, %minsi_2 : tensor<2x2xi1>, tensor<2x2xi32>
    %reshape_5 = tt.reshape %select_3 : tensor<2x2xi32> -> tensor<4xi32>
    %constant_8 = arith.constant 31 : i32
    %splat_10 = tt.splat %constant_8 : i32 -> tensor<4xi32>
    %shrsi_1 = arith.shrsi %reshape_5, %splat_10 : tensor<4xi32>
    %constant_9 = arith.constant 2147483647 : i32
    %splat_11 = tt.splat %constant_9 : i32 -> tensor<4xi32>
    %andi_1 = arith.andi %shrsi_1, %splat_11 : tensor<4xi32>
    %xori_10 = arith.xori %reshape_5, %andi_1 : tensor<4xi32>
    %bitcast_1 = tt.bitcast %xori_10 : tensor<4xi32> -> tensor<4xf32>
    tt.store %addptr, %bitcast_1 : tensor<4x!tt.ptr<f32>>
    tt.return
  }
}
