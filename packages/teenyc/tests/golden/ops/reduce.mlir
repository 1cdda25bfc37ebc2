// (x_ptr: Ptr[f32], out_ptr: Ptr[f32])
// rows = tl.arange(0, 16)
// columns = tl.arange(0, 32)
// x = tl.load(x_ptr + rows[:, None] * 32 + columns[None, :])
// total, product = tl.reduce((x, x * 2), 1, lambda a, b, c, d: (a + c, b * d))
// tl.store(out_ptr + rows, total + product)
// tl.store(out_ptr + columns, tl.reduce(x, 0, tl.maximum, keep_dims=True).reshape(32))
module {
  tt.func public @reduce_entry_point(%x_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>) attributes {noinline = false} {
    %rows = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %columns = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %expand_dims = tt.expand_dims %rows {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %constant = arith.constant 32 : i32
    %splat = tt.splat %constant : i32 -> tensor<16x1xi32>
    %muli = arith.muli %expand_dims, %splat : tensor<16x1xi32>
    %splat_1 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %addptr = tt.addptr %splat_1, %muli : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %expand_dims_1 = tt.expand_dims %columns {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %broadcast = tt.broadcast %addptr : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %broadcast_1 = tt.broadcast %expand_dims_1 : tensor<1x32xi32> -> tensor<16x32xi32>
    %addptr_1 = tt.addptr %broadcast, %broadcast_1 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %x = tt.load %addptr_1 : tensor<16x32x!tt.ptr<f32>>
    %constant_1 = arith.constant 2.0 : f32
    %splat_2 = tt.splat %constant_1 : f32 -> tensor<16x32xf32>
    %mulf = arith.mulf %x, %splat_2 : tensor<16x32xf32>
    %total:2 = "tt.reduce"(%x, %mulf) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
      %addf = arith.addf %a, %c : f32
      %mulf_1 = arith.mulf %b, %d : f32
      tt.reduce.return %addf, %mulf_1 : f32, f32
    }) : (tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<16xf32>, tensor<16xf32>)
    %splat_3 = tt.splat %out_ptr : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %addptr_2 = tt.addptr %splat_3, %rows : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %addf_1 = arith.addf %total#0, %total#1 : tensor<16xf32>
    tt.store %addptr_2, %addf_1 : tensor<16x!tt.ptr<f32>>
    %splat_4 = tt.splat %out_ptr : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
    %addptr_3 = tt.addptr %splat_4, %columns : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
    %reduce = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%x_1: f32, %y: f32):
      %maxnumf = arith.maxnumf %x_1, %y : f32
      tt.reduce.return %maxnumf : f32
    }) : (tensor<16x32xf32>) -> tensor<32xf32>
    %expand_dims_2 = tt.expand_dims %reduce {axis = 0 : i32} : tensor<32xf32> -> tensor<1x32xf32>
    %reshape = tt.reshape %expand_dims_2 : tensor<1x32xf32> -> tensor<32xf32>
    tt.store %addptr_3, %reshape : tensor<32x!tt.ptr<f32>>
    tt.return
  }
}
