// (x_ptr: Ptr[i16], out_ptr: Ptr[i16])
// x = tl.load(x_ptr + tl.arange(0, 8))
// tl.store(out_ptr + tl.arange(0, 2), tl.topk(x, 2))
module {
  tt.func public @topk_entry_point(%x_ptr: !tt.ptr<i16>, %out_ptr: !tt.ptr<i16>) attributes {noinline = false} {
    %make_range = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %splat = tt.splat %x_ptr : !tt.ptr<i16> -> tensor<8x!tt.ptr<i16>>
    %addptr = tt.addptr %splat, %make_range : tensor<8x!tt.ptr<i16>>, tensor<8xi32>
    %x = tt.load %addptr : tensor<8x!tt.ptr<i16>>
    %make_range_1 = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %splat_1 = tt.splat %out_ptr : !tt.ptr<i16> -> tensor<2x!tt.ptr<i16>>
    %addptr_1 = tt.addptr %splat_1, %make_range_1 : tensor<2x!tt.ptr<i16>>, tensor<2xi32>
    %reshape = tt.reshape %x : tensor<8xi16> -> tensor<2x2x2xi16>
    %make_range_2 = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %reshape_1 = tt.reshape %make_range_2 : tensor<2xi32> -> tensor<1x2x1xi32>
    %reduce = "tt.reduce"(%reshape) <{axis = 2 : i32}> ({
    ^bb0(%a: i16, %b: i16):
      %xori = arith.xori %a, %b : i16
      tt.reduce.return %xori : i16
    }) : (tensor<2x2x2xi16>) -> tensor<2x2xi16>
    %expand_dims = tt.expand_dims %reduce {axis = 2 : i32} : tensor<2x2xi16> -> tensor<2x2x1xi16>
    %broadcast = tt.broadcast %expand_dims : tensor<2x2x1xi16> -> tensor<2x2x2xi16>
    %xori_1 = arith.xori %reshape, %broadcast : tensor<2x2x2xi16>
    %make_range_3 = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %reshape_2 = tt.reshape %make_range_3 : tensor<2xi32> -> tensor<1x1x2xi32>
    %broadcast_1 = tt.broadcast %reshape_1 : tensor<1x2x1xi32> -> tensor<1x2x2xi32>
    %broadcast_2 = tt.broadcast %reshape_2 : tensor<1x1x2xi32> -> tensor<1x2x2xi32>
    %xori_2 = arith.xori %broadcast_1, %broadcast_2 : tensor<1x2x2xi32>
    %constant = arith.constant 0 : i32
    %splat_2 = tt.splat %constant : i32 -> tensor<1x2x2xi32>
    %cmpi = arith.cmpi ne, %xori_2, %splat_2 : tensor<1x2x2xi32>
    %maxsi = arith.maxsi %reshape, %xori_1 : tensor<2x2x2xi16>
    %minsi = arith.minsi %reshape, %xori_1 : tensor<2x2x2xi16>
    %broadcast_3 = tt.broadcast %cmpi : tensor<1x2x2xi1> -> tensor<2x2x2xi1>
    %select = arith.select %broadcast_3, %maxsi, %minsi : tensor<2x2x2xi1>, tensor<2x2x2xi16>
    %reduce_1 = "tt.reduce"(%select) <{axis = 1 : i32}> ({
    ^bb0(%x_1: i16, %y: i16):
      %maxsi_1 = arith.maxsi %x_1, %y : i16
      tt.reduce.return %maxsi_1 : i16
    }) : (tensor<2x2x2xi16>) -> tensor<2x2xi16>
    %make_range_4 = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %reshape_3 = tt.reshape %make_range_4 : tensor<2xi32> -> tensor<2x1xi32>
    %reduce_2 = "tt.reduce"(%reduce_1) <{axis = 1 : i32}> ({
    ^bb0(%a_1: i16, %b_1: i16):
      %xori_3 = arith.xori %a_1, %b_1 : i16
      tt.reduce.return %xori_3 : i16
    }) : (tensor<2x2xi16>) -> tensor<2xi16>
    %expand_dims_1 = tt.expand_dims %reduce_2 {axis = 1 : i32} : tensor<2xi16> -> tensor<2x1xi16>
    %broadcast_4 = tt.broadcast %expand_dims_1 : tensor<2x1xi16> -> tensor<2x2xi16>
    %xori_4 = arith.xori %reduce_1, %broadcast_4 : tensor<2x2xi16>
    %make_range_5 = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %reshape_4 = tt.reshape %make_range_5 : tensor<2xi32> -> tensor<1x2xi32>
    %broadcast_5 = tt.broadcast %reshape_3 : tensor<2x1xi32> -> tensor<2x2xi32>
    %broadcast_6 = tt.broadcast %reshape_4 : tensor<1x2xi32> -> tensor<2x2xi32>
    %xori_5 = arith.xori %broadcast_5, %broadcast_6 : tensor<2x2xi32>
    %constant_1 = arith.constant 0 : i32
    %splat_3 = tt.splat %constant_1 : i32 -> tensor<2x2xi32>
    %cmpi_1 = arith.cmpi ne, %xori_5, %splat_3 : tensor<2x2xi32>
    %maxsi_2 = arith.maxsi %reduce_1, %xori_4 : tensor<2x2xi16>
    %minsi_1 = arith.minsi %reduce_1, %xori_4 : tensor<2x2xi16>
    %select_1 = arith.select %cmpi_1, %maxsi_2, %minsi_1 : tensor<2x2xi1>, tensor<2x2xi16>
    %reduce_3 = "tt.reduce"(%select_1) <{axis = 0 : i32}> ({
    ^bb0(%x_2: i16, %y_1: i16):
      %maxsi_3 = arith.maxsi %x_2, %y_1 : i16
      tt.reduce.return %maxsi_3 : i16
    }) : (tensor<2x2xi16>) -> tensor<2xi16>
    %reduce_4 = "tt.reduce"(%reduce_3) <{axis = 0 : i32}> ({
    ^bb0(%a_2: i16, %b_2: i16):
      %xori_6 = arith.xori %a_2, %b_2 : i16
      tt.reduce.return %xori_6 : i16
    }) : (tensor<2xi16>) -> i16
    %splat_4 = tt.splat %reduce_4 : i16 -> tensor<1xi16>
    %broadcast_7 = tt.broadcast %splat_4 : tensor<1xi16> -> tensor<2xi16>
    %xori_7 = arith.xori %reduce_3, %broadcast_7 : tensor<2xi16>
    %make_range_6 = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %reshape_5 = tt.reshape %make_range_6 : tensor<2xi32> -> tensor<2xi32>
    %constant_2 = arith.constant 1 : i32
    %splat_5 = tt.splat %constant_2 : i32 -> tensor<2xi32>
    %xori_8 = arith.xori %splat_5, %reshape_5 : tensor<2xi32>
    %constant_3 = arith.constant 0 : i32
    %splat_6 = tt.splat %constant_3 : i32 -> tensor<2xi32>
    %cmpi_2 = arith.cmpi ne, %xori_8, %splat_6 : tensor<2xi32>
    %maxsi_4 = arith.maxsi %reduce_3, %xori_7 : tensor<2xi16>
    %minsi_2 = arith.minsi %reduce_3, %xori_7 : tensor<2xi16>
    %select_2 = arith.select %cmpi_2, %maxsi_4, %minsi_2 : tensor<2xi1>, tensor<2xi16>
    %reshape_6 = tt.reshape %select_2 : tensor<2xi16> -> tensor<2xi16>
    tt.store %addptr_1, %reshape_6 : tensor<2x!tt.ptr<i16>>
    tt.return
  }
}
