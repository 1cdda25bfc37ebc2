// (x_ptr: Ptr[f16], out_ptr: Ptr[f16])
// rows = tl.arange(0, 16)
// columns = tl.arange(0, 32)
// x = tl.load(x_ptr + rows[:, None] * 32 + columns[None, :])
// tl.store(out_ptr + columns, tl.max(x, axis=0))
module {
  tt.func public @max_entry_point(%x_ptr: !tt.ptr<f16>, %out_ptr: !tt.ptr<f16>) attributes {noinline = false} {
    %rows = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %columns = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %expand_dims = tt.expand_dims %rows {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %constant = arith.constant 32 : i32
    %splat = tt.splat %constant : i32 -> tensor<16x1xi32>
    %muli = arith.muli %expand_dims, %splat : tensor<16x1xi32>
    %splat_1 = tt.splat %x_ptr : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
    %addptr = tt.addptr %splat_1, %muli : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
    %expand_dims_1 = tt.expand_dims %columns {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %broadcast = tt.broadcast %addptr : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
    %broadcast_1 = tt.broadcast %expand_dims_1 : tensor<1x32xi32> -> tensor<16x32xi32>
    %addptr_1 = tt.addptr %broadcast, %broadcast_1 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    %x = tt.load %addptr_1 : tensor<16x32x!tt.ptr<f16>>
    %splat_2 = tt.splat %out_ptr : !tt.ptr<f16> -> tensor<32x!tt.ptr<f16>>
    %addptr_2 = tt.addptr %splat_2, %columns : tensor<32x!tt.ptr<f16>>, tensor<32xi32>
    %extf = arith.extf %x : tensor<16x32xf16> to tensor<16x32xf32>
    %reduce = "tt.reduce"(%extf) <{axis = 0 : i32}> ({
    ^bb0(%x_1: f32, %y: f32):
      %maxnumf = arith.maxnumf %x_1, %y : f32
      tt.reduce.return %maxnumf : f32
    }) : (tensor<16x32xf32>) -> tensor<32xf32>
    %truncf = arith.truncf %reduce : tensor<32xf32> to tensor<32xf16>
    tt.store %addptr_2, %truncf : tensor<32x!tt.ptr<f16>>
    tt.return
  }
}
