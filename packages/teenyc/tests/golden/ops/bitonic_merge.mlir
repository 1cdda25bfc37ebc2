// (x_ptr: Ptr[i32], y_ptr: Ptr[i32], out_ptr: Ptr[i32])
// o = tl.arange(0, 4)
// tl.store(out_ptr + o, tl.bitonic_merge(tl.load(x_ptr + o)))
module {
  tt.func public @bitonic_merge_entry_point(%x_ptr: !tt.ptr<i32>, %y_ptr: !tt.ptr<i32>, %out_ptr: !tt.ptr<i32>) attributes {noinline = false} {
    %o = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %splat = tt.splat %out_ptr : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
    %addptr = tt.addptr %splat, %o : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
    %splat_1 = tt.splat %x_ptr : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
    %addptr_1 = tt.addptr %splat_1, %o : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
    %load = tt.load %addptr_1 : tensor<4x!tt.ptr<i32>>
    %reshape = tt.reshape %load : tensor<4xi32> -> tensor<2x2xi32>
    %reduce = "tt.reduce"(%reshape) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %xori = arith.xori %a, %b : i32
      tt.reduce.return %xori : i32
    }) : (tensor<2x2xi32>) -> tensor<2xi32>
    %expand_dims = tt.expand_dims %reduce {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
    %broadcast = tt.broadcast %expand_dims : tensor<1x2xi32> -> tensor<2x2xi32>
    %xori_1 = arith.xori %reshape, %broadcast : tensor<2x2xi32>
    %make_range = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %reshape_1 = tt.reshape %make_range : tensor<2xi32> -> tensor<2x1xi32>
    %constant = arith.constant 0 : i32
    %splat_2 = tt.splat %constant : i32 -> tensor<2x1xi32>
    %xori_2 = arith.xori %splat_2, %reshape_1 : tensor<2x1xi32>
    %constant_1 = arith.constant 0 : i32
    %splat_3 = tt.splat %constant_1 : i32 -> tensor<2x1xi32>
    %cmpi = arith.cmpi ne, %xori_2, %splat_3 : tensor<2x1xi32>
    %maxsi = arith.maxsi %reshape, %xori_1 : tensor<2x2xi32>
    %minsi = arith.minsi %reshape, %xori_1 : tensor<2x2xi32>
    %broadcast_1 = tt.broadcast %cmpi : tensor<2x1xi1> -> tensor<2x2xi1>
    %select = arith.select %broadcast_1, %maxsi, %minsi : tensor<2x2xi1>, tensor<2x2xi32>
    %reduce_1 = "tt.reduce"(%select) <{axis = 1 : i32}> ({
    ^bb0(%a_1: i32, %b_1: i32):
      %xori_3 = arith.xori %a_1, %b_1 : i32
      tt.reduce.return %xori_3 : i32
    }) : (tensor<2x2xi32>) -> tensor<2xi32>
    %expand_dims_1 = tt.expand_dims %reduce_1 {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
    %broadcast_2 = tt.broadcast %expand_dims_1 : tensor<2x1xi32> -> tensor<2x2xi32>
    %xori_4 = arith.xori %select, %broadcast_2 : tensor<2x2xi32>
    %make_range_1 = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %reshape_2 = tt.reshape %make_range_1 : tensor<2xi32> -> tensor<1x2xi32>
    %constant_2 = arith.constant 0 : i32
    %splat_4 = tt.splat %constant_2 : i32 -> tensor<1x2xi32>
    %xori_5 = arith.xori %splat_4, %reshape_2 : tensor<1x2xi32>
    %constant_3 = arith.constant 0 : i32
    %splat_5 = tt.splat %constant_3 : i32 -> tensor<1x2xi32>
    %cmpi_1 = arith.cmpi ne, %xori_5, %splat_5 : tensor<1x2xi32>
    %maxsi_1 = arith.maxsi %select, %xori_4 : tensor<2x2xi32>
    %minsi_1 = arith.minsi %select, %xori_4 : tensor<2x2xi32>
    %broadcast_3 = tt.broadcast %cmpi_1 : tensor<1x2xi1> -> tensor<2x2xi1>
    %select_1 = arith.select %broadcast_3, %maxsi_1, %minsi_1 : tensor<2x2xi1>, tensor<2x2xi32>
    %reshape_3 = tt.reshape %select_1 : tensor<2x2xi32> -> tensor<4xi32>
    tt.store %addptr, %reshape_3 : tensor<4x!tt.ptr<i32>>
    tt.return
  }
}
