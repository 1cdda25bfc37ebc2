// (x_ptr: Ptr[i32], y_ptr: Ptr[i32], out_ptr: Ptr[i32])
// rows = tl.arange(0, 16)
// columns = tl.arange(0, 32)
// x = tl.load(x_ptr + rows[:, None] * 32 + columns[None, :])
// tl.store(out_ptr, tl.xor_sum(x))
module {
  tt.func public @xor_sum_entry_point(%x_ptr: !tt.ptr<i32>, %y_ptr: !tt.ptr<i32>, %out_ptr: !tt.ptr<i32>) attributes {noinline = false} {
    %rows = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %columns = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %expand_dims = tt.expand_dims %rows {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %constant = arith.constant 32 : i32
    %splat = tt.splat %constant : i32 -> tensor<16x1xi32>
    %muli = arith.muli %expand_dims, %splat : tensor<16x1xi32>
    %splat_1 = tt.splat %x_ptr : !tt.ptr<i32> -> tensor<16x1x!tt.ptr<i32>>
    %addptr = tt.addptr %splat_1, %muli : tensor<16x1x!tt.ptr<i32>>, tensor<16x1xi32>
    %expand_dims_1 = tt.expand_dims %columns {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %broadcast = tt.broadcast %addptr : tensor<16x1x!tt.ptr<i32>> -> tensor<16x32x!tt.ptr<i32>>
    %broadcast_1 = tt.broadcast %expand_dims_1 : tensor<1x32xi32> -> tensor<16x32xi32>
    %addptr_1 = tt.addptr %broadcast, %broadcast_1 : tensor<16x32x!tt.ptr<i32>>, tensor<16x32xi32>
    %x = tt.load %addptr_1 : tensor<16x32x!tt.ptr<i32>>
    %reshape = tt.reshape %x allow_reorder : tensor<16x32xi32> -> tensor<512xi32>
    %reduce = "tt.reduce"(%reshape) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %xori = arith.xori %a, %b : i32
      tt.reduce.return %xori : i32
    }) : (tensor<512xi32>) -> i32
    tt.store %out_ptr, %reduce : !tt.ptr<i32>
    tt.return
  }
}
