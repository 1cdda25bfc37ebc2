// (x_ptr: Ptr[i8], out_ptr: Ptr[i32])
// rows = tl.arange(0, 16)
// columns = tl.arange(0, 32)
// x = tl.load(x_ptr + rows[:, None] * 32 + columns[None, :])
// tl.store(out_ptr, tl.sum(x))
// tl.store(out_ptr + rows[:, None], tl.sum(x, axis=-1, keep_dims=True))
module {
  tt.func public @sum_entry_point(%x_ptr: !tt.ptr<i8>, %out_ptr: !tt.ptr<i32>) attributes {noinline = false} {
    %rows = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %columns = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %expand_dims = tt.expand_dims %rows {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %constant = arith.constant 32 : i32
    %splat = tt.splat %constant : i32 -> tensor<16x1xi32>
    %muli = arith.muli %expand_dims, %splat : tensor<16x1xi32>
    %splat_1 = tt.splat %x_ptr : !tt.ptr<i8> -> tensor<16x1x!tt.ptr<i8>>
    %addptr = tt.addptr %splat_1, %muli : tensor<16x1x!tt.ptr<i8>>, tensor<16x1xi32>
    %expand_dims_1 = tt.expand_dims %columns {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %broadcast = tt.broadcast %addptr : tensor<16x1x!tt.ptr<i8>> -> tensor<16x32x!tt.ptr<i8>>
    %broadcast_1 = tt.broadcast %expand_dims_1 : tensor<1x32xi32> -> tensor<16x32xi32>
    %addptr_1 = tt.addptr %broadcast, %broadcast_1 : tensor<16x32x!tt.ptr<i8>>, tensor<16x32xi32>
    %x = tt.load %addptr_1 : tensor<16x32x!tt.ptr<i8>>
    %extsi = arith.extsi %x : tensor<16x32xi8> to tensor<16x32xi32>
    %reshape = tt.reshape %extsi allow_reorder : tensor<16x32xi32> -> tensor<512xi32>
    %reduce = "tt.reduce"(%reshape) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %addi = arith.addi %a, %b : i32
      tt.reduce.return %addi : i32
    }) : (tensor<512xi32>) -> i32
    tt.store %out_ptr, %reduce : !tt.ptr<i32>
    %expand_dims_2 = tt.expand_dims %rows {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %splat_2 = tt.splat %out_ptr : !tt.ptr<i32> -> tensor<16x1x!tt.ptr<i32>>
    %addptr_2 = tt.addptr %splat_2, %expand_dims_2 : tensor<16x1x!tt.ptr<i32>>, tensor<16x1xi32>
    %extsi_1 = arith.extsi %x : tensor<16x32xi8> to tensor<16x32xi32>
    %reduce_1 = "tt.reduce"(%extsi_1) <{axis = 1 : i32}> ({
    ^bb0(%a_1: i32, %b_1: i32):
      %addi_1 = arith.addi %a_1, %b_1 : i32
      tt.reduce.return %addi_1 : i32
    }) : (tensor<16x32xi32>) -> tensor<16xi32>
    %expand_dims_3 = tt.expand_dims %reduce_1 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    tt.store %addptr_2, %expand_dims_3 : tensor<16x1x!tt.ptr<i32>>
    tt.return
  }
}
